"""Mistakes about sums, means, softmax, inverses and products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.array.contraction import contract, sum_over
from symgrad.ops.array.layout import full
from symgrad.support.errors import SymgradError
from symgrad.verification.mistakes.catalogue.paths import hold_fixed, one_path
from symgrad.verification.mistakes.limits import PASSED
from symgrad.verification.mistakes.numbers import entries
from symgrad.verification.mistakes.rule import MistakeTable, Site, Wrong

_REDUCTIONS = ("einsum", "mean", "div", "mul")

mistake: MistakeTable[Site, Wrong] = MistakeTable()


def _value_of(node: Node) -> Fraction | None:
    """Return the value of a node that only multiplies and divides numbers."""
    if node.is_number():
        return Fraction(node.value)
    if node.op.name in ("mul", "div") and node.args:
        a, b = map(_value_of, node.args)
        if a is not None and b is not None and (node.op.name == "mul" or b):
            return a * b if node.op.name == "mul" else a / b
    return None


@mistake("sum-instead-of-mean", ("mean", "div"), 14, "a sum in place of the mean at {0}")
def _mean_as_sum(s: Site) -> Iterator[Wrong]:
    if s.node.op.name == "mean" and s.moving:
        yield s.sends({0: s.right(0) * (entries(s.node.args[0].shape) // max(1, entries(s.node.shape)))})
    elif s.node.op.name == "div" and s.moving == [0]:
        divisor = _value_of(s.node.args[1])
        for n in {*s.counts.values()} if divisor is not None else ():
            if divisor and (divisor / n).denominator == 1:
                yield s.sends({0: s.right(0) * n})


@mistake(
    "factor-n",
    _REDUCTIONS,
    21,
    says="this is what one gets if the derivative of {0} by {held} is {by} {count}",
)
def _by_count(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        for text, n in s.counts.items():
            yield s.sends({i: s.right(i) * n}, count=text, by="times", held=s.node.args[i])
            yield s.sends({i: s.right(i) / n}, count=text, by="divided by", held=s.node.args[i])


def _softmax_input(node: Node) -> Node | None:
    """Return u if a node is exp(u)/sum(exp(u)) or softmax(u)."""
    if node.op.name == "softmax":
        return node.args[0]
    if node.op.name != "div" or node.args[0].op.name != "exp":
        return None
    total = node.args[1]
    while total.op.name in ("reshape", "broadcast_to"):
        total = total.args[0]
    summed = total.op.name == "einsum" and total.args == (node.args[0],)
    return node.args[0].args[0] if summed else None


@mistake(
    "diagonal-softmax-jacobian-only",
    ("div", "softmax"),
    12,
    "only the diagonal of the Jacobian of the softmax {0}",
)
def _diagonal(s: Site) -> Iterator[Wrong]:
    u = _softmax_input(s.node)
    if u is not None and s.moving:
        out = s.node
        parts = tuple((s.node.args[i], -s.right(i)) for i in s.moving)
        yield Wrong((*parts, (u, s.bar * out * (1 - out))))


@mistake("wrong-axis-sum", (), 21, "summing the derivative of {0} over the wrong axes", paired=False)
def _other_axes(s: Site) -> Iterator[Wrong]:
    """Sum over axes that are not the ones along which an argument was broadcast."""
    for i in s.moving:
        arg = s.node.args[i]
        if s.node.op.push is not None or arg.shape == s.node.shape or len(s.node.shape) < 2:
            continue
        partial = s.node.op.partials[i]
        assert partial is not None
        cotangent = full(s.bar * partial(s.node, *s.node.args), s.node.shape)
        rank = len(s.node.shape)
        everything = full(sum_over(cotangent, range(rank)), arg.shape)
        yield s.sends({i: everything})
        for axes in combinations(range(rank), rank - len(arg.shape)):
            found = sum_over(cotangent, axes)
            if found.shape == arg.shape:
                yield s.sends({i: found})


@mistake("inverse-sign", ("inv", "solve", "logdet", "det"), 14.9, "a wrong sign of the derivative of {0}")
def _inverse_sign(s: Site) -> Iterator[Wrong]:
    for i in s.moving:
        yield s.sends({i: -s.right(i)})


@mistake(
    "missing-transpose",
    ("einsum", "inv", "solve", "logdet", "det"),
    19,
    "a transpose too many or too few in the derivative of {0}",
)
def _square_transposed(s: Site) -> Iterator[Wrong]:
    """Transpose the cotangent of a square matrix."""
    for i in s.moving:
        sent = s.right(i)
        if len(sent.shape) == 2 and sent.shape[0] == sent.shape[1]:
            yield s.sends({i: contract([sent], [(0, 1)], (1, 0))})


@mistake("missing-transpose", ("einsum",), 19, "a transpose too many or too few in the derivative of {0}")
def _operand_transposed(s: Site) -> Iterator[Wrong]:
    """Transpose one of the matrices in the cotangent of an operand of a product."""
    for i in s.moving:
        sent = s.right(i)
        if sent.op.name != "einsum":
            continue
        labels, result = sent.params
        for k, own in enumerate(labels):
            if len(own) == 2 and own[0] != own[1]:
                turned = [own[::-1] if j == k else other for j, other in enumerate(labels)]
                try:
                    yield s.sends({i: contract(sent.args, turned, result)})
                except SymgradError:
                    continue


@mistake("factor-2", ("einsum", "mul"), 11.4, says="the derivative of {0} has lost its factor 2")
def _half(s: Site) -> Iterator[Wrong]:
    """Lose the 2 in the derivative of a product of a value with itself."""
    moving = s.moving
    if (
        len(s.wrt.shape) == 1 and len(moving) == 2
    ):  # for a matrix, K@S@K.T, each contribution is a term of its own
        yield s.sends({i: s.right(i) / 2 for i in moving})


@mistake("missing-term", (), 11.5, says="the term that goes through {held} in {0} is missing")
def _lose_path(s: Site) -> Iterator[Wrong]:
    """Lose the contribution through one argument: for arrays it is a term of the derivative."""
    if s.y_of_arrays:
        yield from hold_fixed(s)


@mistake(
    "missing-term", (), 11.6, says="all terms except the one that goes through {held} in {0} are missing"
)
def _keep_path(s: Site) -> Iterator[Wrong]:
    """Keep only the contribution through one argument."""
    if s.y_of_arrays:
        yield from one_path(s)


@mistake(
    "factor-2",
    ("einsum", "mul"),
    11.4,
    "a factor of 2 too many or too few in the derivative of {0}, a square",
)
def _square_form(s: Site) -> Iterator[Wrong]:
    """Differentiate c*x@x as c*x, as if one of the two equal terms were the whole derivative."""
    if len(s.moving) == 2 and len({_bare(a, s.wrt) for a in s.node.args}) == 1:
        yield s.sends({0: as_node(0)})
        yield s.sends({0: 3 * s.right(0)})


def _bare(node: Node, wrt: Node) -> Node:
    """Return a value without the factors that do not depend on the variable."""
    while node.op.name in ("mul", "div", "neg"):
        moving = [a for a in node.args if wrt in topological([a])]
        if len(moving) != 1:
            break
        (node,) = moving
    return node


@mistake("forgot-inner-derivative", (), 26, "forgetting the derivative of {0} by {held}", paired=False)
def _beyond(s: Site) -> Iterator[Wrong]:
    """Pass a cotangent unchanged through several functions, to a value of the same shape."""
    if s.y_of_arrays:
        yield from _past(s)


@mistake("forgot-inner-derivative", (), 29.5, "forgetting the derivative of {0} by {held}", paired=False)
def _beyond_numbers(s: Site) -> Iterator[Wrong]:
    if not s.y_of_arrays:
        yield from _past(s)


def _past(s: Site) -> Iterator[Wrong]:
    seen = {*s.node.args}
    level = [a for i in s.moving for a in s.node.args[i].args]
    for _ in range(PASSED):
        for arg in dict.fromkeys(level):
            if arg not in seen and arg.shape == s.node.shape and arg is not s.wrt:
                seen.add(arg)
                yield Wrong(((s.node, -s.bar), (arg, s.bar)), words={"held": arg})
        level = [a for arg in level for a in arg.args]
