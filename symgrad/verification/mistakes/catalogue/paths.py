"""Mistakes in the chain rule: lost paths, forgotten derivatives, constants and variables confused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from symgrad.ir.graph import NUMBER, SYMBOL, Node, as_node
from symgrad.ops.array.layout import full
from symgrad.verification.mistakes.rule import MistakeTable, Site, Wrong, is_noise

_LINEAR = frozenset({"add", "neg", "reshape", "broadcast_to", "slice", "concatenate"})

mistake: MistakeTable[Site, Wrong] = MistakeTable()


@mistake(
    "noise-treated-as-constant-one",
    ("mul", "div"),
    15,
    "losing the noise {held} when {0} is differentiated, as if it were 1",
)
def _lose_noise(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        if is_noise(s.node.args[1 - i]):
            yield s.sends({i: s.slope(i, 1)}, held=s.node.args[1 - i])


def _jump(s: Site, *, functions: bool) -> Iterator[Wrong]:
    """Take the cotangent of an argument as the derivative: in functions, or in sums, products and quotients."""
    is_function = (len(s.node.args) == 1 and s.node.op.name != "neg") or s.node.op.name == "pow"
    for i in s.moving if is_function == functions else ():
        arg, sent = s.node.args[i], s.right(i)
        if arg is not s.wrt and arg.shape == s.wrt.shape:
            yield Wrong(((arg, -sent), (None, sent)))


mistake("forgot-inner-derivative", (), 17, "forgetting the inner derivative of {0}")(
    partial(_jump, functions=True)
)

mistake("forgot-inner-derivative", (), 27, "forgetting the inner derivative of {0}", paired=False)(
    partial(_jump, functions=False)
)


@mistake(
    "forgot-inner-derivative",
    (),
    24,
    "taking the derivative with respect to {0} instead of the requested one",
    paired=False,
)
def _jump_from(s: Site) -> Iterator[Wrong]:
    """Take the cotangent of a value as the derivative, if the value has the shape of the variable."""
    if s.moving and s.wrt.shape and s.node.shape in (s.wrt.shape, ()):
        yield Wrong(((s.node, -s.bar), (None, full(s.bar, s.wrt.shape))))


@mistake("forgot-inner-derivative", (), 25, "forgetting the derivative of {0} itself", paired=False)
def _skipped(s: Site) -> Iterator[Wrong]:
    """Pass a cotangent through a function as if its slope were 1."""
    if len(s.node.args) == 1 and s.moving and s.node.op.name not in _LINEAR:
        if s.node.args[0].shape == s.node.shape:
            yield s.sends({0: s.bar})
    elif s.node.op.name == "pow" and 0 in s.moving:
        yield s.sends({0: s.slope(0, 1)})


@mistake("forgot-inner-derivative", (), 17.2, "forgetting the derivative of {0} itself")
def _skipped_in_array(s: Site) -> Iterator[Wrong]:
    """Ignore the slope of a function of arrays, so that an entire factor is lost at each entry."""
    if s.node.shape and s.node.op.pointwise and len(s.node.args) == 1:
        yield from _skipped(s)


@mistake("treated-variable-as-constant", (), 18, "holding {held} fixed in {0}")
def hold_fixed(s: Site) -> Iterator[Wrong]:
    """Lose the contribution through one argument."""
    for i in s.moving:
        yield s.sends({i: as_node(0)}, held=s.node.args[i])


@mistake("chain-through-one-path-only", (), 18, "following one path alone, through {held} in {0}")
def one_path(s: Site) -> Iterator[Wrong]:
    """Keep only the contribution through one argument."""
    for i in s.moving:
        yield Wrong(((s.node.args[i], s.right(i)),), alone=True, words={"held": s.node.args[i]})


def _is_other(s: Site, arg: Node, *, noise: bool = False) -> bool:
    """Tell whether an argument is another input that could be mistaken for the variable; it may be random."""
    alike = arg.op is SYMBOL and arg.dtype == "real" and arg.shape == s.wrt.shape
    return alike and arg is not s.wrt and is_noise(arg) == noise


def _as_variable(s: Site, *, noise: bool) -> Iterator[Wrong]:
    for i, arg in enumerate(s.node.args):
        if _is_other(s, arg, noise=noise) and s.sent[i] is not None:
            yield Wrong(((None, s.right(i)),), words={"held": arg})


mistake(
    "treated-constant-as-variable", (), 20, "differentiating {held} in {0} too, as if it were the variable"
)(partial(_as_variable, noise=False))


@mistake(
    "treated-constant-as-variable",
    (),
    21,
    "differentiating {held} too, as if it were the variable",
    paired=False,
)
def _everywhere_variable(s: Site) -> Iterator[Wrong]:
    for arg, bar in zip(s.node.args, s.bars, strict=True):
        if _is_other(s, arg) and bar is not None:
            yield Wrong(((None, bar),), words={"held": arg})


mistake(
    "noise-treated-as-variable",
    (),
    20,
    "differentiating the noise {held} in {0} too, as if it were the variable",
)(partial(_as_variable, noise=True))


@mistake("lost-minus", ("neg",), 18, "losing a minus sign at {0}")
def _minus(s: Site) -> Iterator[Wrong]:
    """Lose a minus sign that the program has."""
    if s.moving:
        yield s.sends({0: -s.right(0)})


@mistake("lost-minus", (), 18, "a wrong sign of the derivative of {0} by {held}")
def _sign_of_arrays(s: Site) -> Iterator[Wrong]:
    """Get a sign wrong in a derivative of arrays; for numbers there are separate rules about signs."""
    if s.y_of_arrays:
        yield from _sign(s)


@mistake("lost-minus", (), 30, "a wrong sign of the derivative of {0} by {held}")
def _sign(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        yield s.sends({i: -s.right(i)}, held=s.node.args[i])


@mistake("factor-2", (), 31, "a factor of 2 too many or too few in the derivative of {0} by {held}")
def _twice(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        yield s.sends({i: 2 * s.right(i)}, held=s.node.args[i])
        yield s.sends({i: s.right(i) / 2}, held=s.node.args[i])


@mistake("missing-term", ("mul", "div"), 29, "losing the factor {held} when {0} is differentiated")
def _lose_factor(s: Site) -> Iterator[Wrong]:
    """Differentiate c*f as f."""
    name = s.node.op.name
    for i in s.moving:
        if name in ("mul", "div") and len(s.moving) == 1 and (name == "mul" or i == 0):
            other = s.node.args[1 - i]
            if other.op is not NUMBER or abs(other.value) not in (1, 2):
                yield s.sends({i: s.slope(i, 1)}, held=other)
