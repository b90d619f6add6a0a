"""Mistakes in the chain rule: lost paths, forgotten derivatives, constants and variables confused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from symgrad.ir.graph import NUMBER, SYMBOL, Node, as_node
from symgrad.ops.array.layout import full
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong, is_noise

__all__ = ["ROWS", "hold_fixed", "one_path"]

_LINEAR = frozenset({"add", "neg", "reshape", "broadcast_to", "slice", "concatenate"})


def _jump(s: Site, *, functions: bool) -> Iterator[Wrong]:
    """Take the cotangent of an argument for the derivative: in functions, or in sums, products and quotients."""
    is_function = (len(s.node.args) == 1 and s.node.op.name != "neg") or s.node.op.name == "pow"
    for i in s.moving if is_function == functions else ():
        arg, sent = s.node.args[i], s.right(i)
        if arg is not s.wrt and arg.shape == s.wrt.shape:
            yield Wrong(((arg, -sent), (None, sent)))


def _jump_from(s: Site) -> Iterator[Wrong]:
    """Take the cotangent of a value of the shape of the variable for the derivative."""
    if s.moving and s.wrt.shape and s.node.shape in (s.wrt.shape, ()):
        yield Wrong(((s.node, -s.bar), (None, full(s.bar, s.wrt.shape))))


def _skipped(s: Site) -> Iterator[Wrong]:
    """Pass a cotangent through a function as if its slope were 1."""
    if len(s.node.args) == 1 and s.moving and s.node.op.name not in _LINEAR:
        if s.node.args[0].shape == s.node.shape:
            yield s.sends({0: s.bar})
    elif s.node.op.name == "pow" and 0 in s.moving:
        yield s.sends({0: s.slope(0, 1)})


def _skipped_in_array(s: Site) -> Iterator[Wrong]:
    """Do the same for each entry of an array, where an entire factor is lost."""
    if s.node.shape and s.node.op.pointwise and len(s.node.args) == 1:
        yield from _skipped(s)


def hold_fixed(s: Site) -> Iterator[Wrong]:
    """Lose the contribution through one argument."""
    for i in s.moving:
        yield s.sends({i: as_node(0)}, held=s.node.args[i])


def one_path(s: Site) -> Iterator[Wrong]:
    """Keep the contribution through one argument alone."""
    for i in s.moving:
        yield Wrong(((s.node.args[i], s.right(i)),), alone=True, words={"held": s.node.args[i]})


def _is_other(s: Site, arg: Node, *, noise: bool = False) -> bool:
    """Tell whether an argument is another input that could be taken for the variable, random or not."""
    alike = arg.op is SYMBOL and arg.dtype == "real" and arg.shape == s.wrt.shape
    return alike and arg is not s.wrt and is_noise(arg) == noise


def _as_variable(s: Site, *, noise: bool) -> Iterator[Wrong]:
    for i, arg in enumerate(s.node.args):
        if _is_other(s, arg, noise=noise) and s.sent[i] is not None:
            yield Wrong(((None, s.right(i)),), words={"held": arg})


def _everywhere_variable(s: Site) -> Iterator[Wrong]:
    for arg, bar in zip(s.node.args, s.bars, strict=True):
        if _is_other(s, arg) and bar is not None:
            yield Wrong(((None, bar),), words={"held": arg})


def _minus(s: Site) -> Iterator[Wrong]:
    """Lose a written minus sign."""
    if s.moving:
        yield s.sends({0: -s.right(0)})


def _sign(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        yield s.sends({i: -s.right(i)}, held=s.node.args[i])


def _sign_of_arrays(s: Site) -> Iterator[Wrong]:
    """Get a sign wrong in a derivative of arrays; rules for numbers have sign rules of their own."""
    if s.y_of_arrays:
        yield from _sign(s)


def _twice(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        yield s.sends({i: 2 * s.right(i)}, held=s.node.args[i])
        yield s.sends({i: s.right(i) / 2}, held=s.node.args[i])


def _lose_factor(s: Site) -> Iterator[Wrong]:
    """Differentiate c*f as f."""
    name = s.node.op.name
    for i in s.moving:
        if name in ("mul", "div") and len(s.moving) == 1 and (name == "mul" or i == 0):
            other = s.node.args[1 - i]
            if other.op is not NUMBER or abs(other.value) not in (1, 2):
                yield s.sends({i: s.slope(i, 1)}, held=other)


def _lose_noise(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        if is_noise(s.node.args[1 - i]):
            yield s.sends({i: s.slope(i, 1)}, held=s.node.args[1 - i])


ROWS = (
    MalRule(
        kind="noise-treated-as-constant-one",
        says="this is what one gets by losing the noise {held} when {0} is differentiated, as if it were 1",
        ops=("mul", "div"),
        distort=_lose_noise,
        rank=15,
    ),
    MalRule(
        kind="forgot-inner-derivative",
        says="this is what one gets by forgetting the inner derivative of {0}",
        distort=partial(_jump, functions=True),
        rank=17,
    ),
    MalRule(
        kind="forgot-inner-derivative",
        says="this is what one gets by forgetting the inner derivative of {0}",
        distort=partial(_jump, functions=False),
        rank=27,
        paired=False,
    ),
    MalRule(
        kind="forgot-inner-derivative",
        says="this is what one gets by taking the derivative by {0} for the one that is asked",
        distort=_jump_from,
        rank=24,
        paired=False,
    ),
    MalRule(
        kind="forgot-inner-derivative",
        says="this is what one gets by forgetting the derivative of {0} itself",
        distort=_skipped,
        rank=25,
        paired=False,
    ),
    MalRule(
        kind="forgot-inner-derivative",
        says="this is what one gets by forgetting the derivative of {0} itself",
        distort=_skipped_in_array,
        rank=17.2,
    ),
    MalRule(
        kind="treated-variable-as-constant",
        says="this is what one gets by holding {held} fixed in {0}",
        distort=hold_fixed,
        rank=18,
    ),
    MalRule(
        kind="chain-through-one-path-only",
        says="this is what one gets by following one path alone, through {held} in {0}",
        distort=one_path,
        rank=18,
    ),
    MalRule(
        kind="treated-constant-as-variable",
        says="this is what one gets by differentiating {held} in {0} too, as if it were the variable",
        distort=partial(_as_variable, noise=False),
        rank=20,
    ),
    MalRule(
        kind="treated-constant-as-variable",
        says="this is what one gets by differentiating {held} too, as if it were the variable",
        distort=_everywhere_variable,
        rank=21,
        paired=False,
    ),
    MalRule(
        kind="noise-treated-as-variable",
        says="this is what one gets by differentiating the noise {held} in {0} too, as if it were the variable",
        distort=partial(_as_variable, noise=True),
        rank=20,
    ),
    MalRule(
        kind="lost-minus",
        says="this is what one gets by losing a minus sign at {0}",
        ops=("neg",),
        distort=_minus,
        rank=18,
    ),
    MalRule(
        kind="lost-minus",
        says="this is what one gets by a wrong sign of the derivative of {0} by {held}",
        distort=_sign_of_arrays,
        rank=18,
    ),
    MalRule(
        kind="lost-minus",
        says="this is what one gets by a wrong sign of the derivative of {0} by {held}",
        distort=_sign,
        rank=30,
    ),
    MalRule(
        kind="factor-2",
        says="this is what one gets by a factor of 2 too many or too few in the derivative of {0} by {held}",
        distort=_twice,
        rank=31,
    ),
    MalRule(
        kind="missing-term",
        says="this is what one gets by losing the factor {held} when {0} is differentiated",
        ops=("mul", "div"),
        distort=_lose_factor,
        rank=29,
    ),
)
