"""Jacobians: unit tangents pushed forward or unit cotangents pulled back, all in one pass."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.autodiff.batch import batch, units
from symgrad.autodiff.distribution_params import refuse_distribution_params
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.linearise import GuardedTangent
from symgrad.autodiff.trace import placeholder
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.sizes import Extent, Size, size_product, size_sum
from symgrad.ir.traverse import topological
from symgrad.ir.types import BOOL, Declaration
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.logic import ne

_PUSHED_ENTRIES = 8
"""The largest number of variables for which a forward pass each is made, if the variables have fewer entries than y."""


def jacobian_blocks(ys: Sequence[Node], xs: Sequence[Node]) -> list[list[Node | None]]:
    """Return the Jacobian of each y with respect to each x, of shape y.shape + x.shape; None if it is zero.

    A forward pass gives the Jacobians of all ys with respect to one x; a backward pass gives those of one y with
    respect to all xs. A pair is computed forwards if x has no more entries than y, all such xs together have no more
    entries than all ys, and few passes are needed.
    """
    largest = max(map(_magnitude, ys), default=(0, 0))
    real = [x for x in xs if x.dtype == "real"]
    small = [x for x in real if _magnitude(x) <= largest]
    fewer, passes = _entries(small) < _entries(ys), len(ys)
    few = _entries(small) <= _entries(ys) and len(small) <= (
        max(passes, _PUSHED_ENTRIES) if fewer else passes
    )
    found: dict[tuple[Node, Node], Node | None] = {}
    for x in real:
        above = [y for y in ys if few and _magnitude(x) <= _magnitude(y)]
        found |= {(y, x): J for y, J in zip(above, forwards(above, x), strict=True)}
    for y in ys:
        below = [x for x in real if (y, x) not in found]
        found |= {(y, x): J for x, J in zip(below, backwards(y, below), strict=True)}
    return [[found.get((y, x)) for x in xs] for y in ys]


def _entries(nodes: Sequence[Node]) -> tuple[int, int]:
    return _highest(size_sum(size_product(n.shape) for n in nodes))


def _magnitude(node: Node) -> tuple[int, int]:
    """Return the number of entries of a node as the highest power of named sizes (which are large) and its factor."""
    return _highest(size_product(node.shape))


def _highest(size: Size) -> tuple[int, int]:
    if isinstance(size, Extent):
        return max((len(monomial), factor) for monomial, factor in size.terms)
    return (0, size) if isinstance(size, int) else (1, 1)


def unit_seeds(node: Node, stack: Node) -> tuple[GuardedTangent, dict[Node, Node]]:
    """Return a symbol for a tangent or cotangent of a node, and the values of the symbol and its guard in the stack.

    The guard marks the zeros of a unit array as strong zeros, because a plain zero times the infinite partial of
    another entry (such as sqrt at 0) would be NaN.
    """
    one = placeholder(node)
    if stack.shape == node.shape or not node.shape:
        return GuardedTangent(None, one), {one: stack}
    here = symbol(Declaration("__unit", BOOL, node.shape))
    return GuardedTangent(here, one, settled=True), {one: stack, here: ne(stack, as_node(0))}


def forwards(ys: Sequence[Node], x: Node) -> list[Node | None]:
    """Return the Jacobians of several ys: push all unit tangents of x forward in one pass."""
    if not ys:
        return []
    tangent, stack = unit_seeds(x, units(x.shape))
    k = len(x.shape)
    pushed = dict(zip(ys, push_forward(ys, {x: tangent}), strict=True))
    moving = [y for y in pushed if not pushed[y].is_number(0)]
    found: dict[Node, Node] = {}
    for y, stacked in zip(moving, batch([pushed[y] for y in moving], stack, x.shape), strict=True):
        order = [*range(k, k + len(y.shape)), *range(k)]
        found[y] = transpose(stacked, order) if k and y.shape else stacked
    return [found.get(y) for y in ys]


def backwards(y: Node, xs: Sequence[Node]) -> list[Node | None]:
    """Return the Jacobians with respect to several xs: pull all unit cotangents of y back in one pass."""
    if not xs:
        return []
    cotangent, stack = unit_seeds(y, units(y.shape))
    trace = pull_back([y], [cotangent], xs)
    found: list[Node | None] = list(batch(trace.gradients, stack, y.shape))
    return [None if nothing is not None else J for J, nothing in zip(found, trace.nothing, strict=True)]


def derivative_of(y: Node, x: Node) -> Node:
    r"""Return the derivative of a node by an input or intermediate value, of shape ``y.shape + x.shape``.

    Raises:
        RandomParameterError: if y reads a random input whose distribution depends on x.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import expression_text
        >>> p = parse_program("x : real\ny = sin(x)")
        >>> expression_text(derivative_of(p["y"], p["x"]))
        'cos(x)'
    """
    refuse_distribution_params([y], [x])
    if x not in topological([y]):
        return full(as_node(0), (*y.shape, *x.shape))
    if not y.shape:
        return full(pull_back([y], [as_node(1)], [x]).gradients[0], x.shape)
    found = jacobian_blocks([y], [x])[0][0]
    return full(as_node(0) if found is None else found, (*y.shape, *x.shape))
