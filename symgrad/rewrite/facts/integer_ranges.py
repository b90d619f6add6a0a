"""Bound integers by sizes: positions along an axis, labels of classes.

    ends(t - 1)                 is  0, k - 1      for t : int(1, k)
    ends(clip(t, 0, k - 1))     is  min(0, k - 1), k - 1

Both ends belong to the interval. `symgrad.rewrite.facts.intervals` has intervals with numbers as ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TypeAlias

from symgrad.ir.graph import NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.size_substitution import size_with
from symgrad.ir.sizes import Extent, Size, nonnegative, size_max, size_min, size_product, size_sum
from symgrad.ir.traverse import fold

Ends: TypeAlias = "tuple[Size | None, Size | None]"
"""The least and the largest value; None if unknown."""

_ANY: Ends = (None, None)


def ends_of(node: Node) -> Ends:
    """Return sizes that bound every value of a node, for all values of the sizes.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration, Domain
        >>> import symgrad.ops
        >>> t = symbol(Declaration("t", Domain("int", "int", 1, "k", closed=True), ("n",)))
        >>> ends_of(t - 1)
        (0, k - 1)
    """
    if node.dtype != "int":
        return _ANY
    return fold([node], _ends)[node]


def is_position(index: Node, size: Size, *, some: bool = False) -> bool:
    """Tell whether integers are provably positions along an axis, counted from its beginning.

    Args:
        index: the integers.
        size: the length of the axis.
        some: whether the axis is known to have an entry; a named size is then at least 1.
    """
    low, high = ends_of(index)
    if low is None or high is None:
        return False
    room = size_sum([size, size_product([-1, high]), -1])
    if some and isinstance(size, str):
        low, room = (size_with(s, {size: size_sum([size, 1])}) for s in (low, room))
    return nonnegative(low) and nonnegative(room)


def _ends(node: Node, parts: list[Ends]) -> Ends:
    if node.dtype != "int":
        return _ANY
    if node.op is NUMBER:
        return (node.value, node.value) if isinstance(node.value, int) else _ANY
    if node.op is SIZE:
        return node.params[0], node.params[0]
    if node.op is SYMBOL:
        return _declared(node)
    name = node.op.name
    if not node.op.pointwise and node.op.array.entries in ("moved", "picked"):
        return _any_of([p for i, p in enumerate(parts) if node.op.kind_of(i) == "number"])
    if name == "iota":
        return 0, _before(node.params[0])
    if name in ("argmax", "argmin"):
        axis: int | None = node.params[0]
        shape = node.args[0].shape
        return 0, _before(size_product(shape) if axis is None else shape[axis])
    if name == "one_hot":
        return 0, 1
    if name == "einsum":
        labels, result = node.params
        return parts[0] if len(labels) == 1 and set(labels[0]) <= set(result) else _ANY
    rule = _RULES.get(name)
    return _ANY if rule is None else rule(parts)


def _declared(symbol: Node) -> Ends:
    declared = symbol.declaration
    domain = declared.values
    if not domain.closed:
        return _ANY
    low, high = (e if isinstance(e, int | str | Extent) else None for e in (domain.low, domain.high))
    return low, high


def _before(size: Size) -> Size:
    return size_sum([size, -1])


def _sum(parts: list[Ends]) -> Ends:
    low, high = zip(*parts, strict=True)
    return None if None in low else size_sum(low), None if None in high else size_sum(high)


def _negative(parts: list[Ends]) -> Ends:
    ((low, high),) = parts
    low, high = (None if end is None else size_product([-1, end]) for end in (high, low))
    return low, high


def _combined(
    ends: tuple[Size | None, ...], combine: Callable[[Size, Size], Size], *, all_of: bool
) -> Size | None:
    """Combine the known ends; None if there are none, or if `all_of` is set and an end is unknown."""
    found = [e for e in ends if e is not None]
    return None if not found or (all_of and len(found) < len(ends)) else reduce(combine, found)


def _larger(parts: list[Ends]) -> Ends:
    low, high = zip(*parts, strict=True)
    return _combined(low, size_max, all_of=False), _combined(high, size_max, all_of=True)


def _smaller(parts: list[Ends]) -> Ends:
    low, high = zip(*parts, strict=True)
    return _combined(low, size_min, all_of=True), _combined(high, size_min, all_of=False)


def _any_of(parts: list[Ends]) -> Ends:
    low, high = zip(*parts, strict=True)
    return _combined(low, size_min, all_of=True), _combined(high, size_max, all_of=True)


_RULES: Mapping[str, Callable[[list[Ends]], Ends]] = {
    "add": _sum,
    "neg": _negative,
    "maximum": _larger,
    "minimum": _smaller,
    "clip": lambda parts: _smaller([_larger(parts[:2]), parts[2]]),
    "where": lambda parts: _any_of(parts[1:]),
    "stop_gradient": lambda parts: parts[0],
}
