"""Subscripts such as x[1:, None, ids], and the ends of slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.frontend.scope import Scope
from symgrad.frontend.tokens.terms import Dots, Item, ItemList, NoneLiteral, Section, Term
from symgrad.ir.graph import Node, size_node
from symgrad.ir.sizes import Extent, Size, nonnegative, size_product, size_sum
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.numpy.subscripts import index
from symgrad.ops.scalar.arith import add
from symgrad.support.errors import DomainError, SymgradError, UnsupportedError


def subscript(scope: Scope, x: Term, items: Sequence[Item | Section | Dots], end: int) -> Term:
    """Return the term of x[items]."""
    if len(items) == 1 and isinstance(items[0], ItemList) and not items[0].square:
        items = items[0].values
    try:
        key = tuple(_key(scope, item) for item in items)
        if x.node in scope.later and key:
            values, first = scope.later[x.node]
            key = _moved(key[0], first), *key[1:]
            x = Term(values, x.start, x.end)
    except SymgradError as error:
        return scope.keep(error, x.start, end)
    return scope.build(index, [x], x.start, end, key)


def _moved(key: Any, first: Size) -> Any:
    """Return a subscript for an array whose first entry has a position.

    Raises:
        DomainError: if it may be another position.
    """
    back = size_product([-1, first])
    if isinstance(key, Node):
        at = None if key.shape else as_size(key)
        if at is None and not key.shape:
            return add(key, size_node(back))
        place = None if at is None else size_sum([at, back])
        if place is not None and nonnegative(place):
            return size_node(place)
    elif getattr(key, "start", None) is not None:  # a slice
        ends = [part if part is None else size_sum([part, back]) for part in (key.start, key.stop)]
        if all(part is None or nonnegative(part) for part in ends):
            return slice(ends[0], ends[1], key.step)
    raise DomainError(
        f"there are no values before the position {first}",
        expected=f"positions from {first} on",
        cure="read it at the positions that the steps compute",
    )


def _key(scope: Scope, item: Item | Section | Dots) -> Any:
    match item:
        case Term():
            return item.node
        case Section():
            return slice(*section_ends(scope, item.first, item.last, item.step))
        case Dots():
            return Ellipsis
        case NoneLiteral():
            return None
        case ItemList() if item.square and item.values and all(isinstance(v, Term) for v in item.values):
            return build.stack([v.node for v in item.values if isinstance(v, Term)])
        case _:
            raise UnsupportedError(
                "a subscript that is a tuple, a text or a list of lists",
                at=scope.location(item.start, item.end),
                expected="a number, a slice, None, ... or an array of ints",
                cure="write x[i, j], or a list of whole numbers: x[[0, 2]]",
            )


def section_ends(scope: Scope, *parts: Item | None) -> tuple[Size | None, Size | None, int]:
    """Return the start, stop and step of a slice.

    Raises:
        DomainError: if an end is not a size, or the step is not a literal number.
    """
    found: list[Any] = []
    for i, part in enumerate(parts):
        if part is None or isinstance(part, NoneLiteral):
            found.append(None)
            continue
        size = scope.size_of(part.node) if isinstance(part, Term) else None
        if size is None or (i == 2 and (isinstance(size, str | Extent) or size == 0)):
            raise DomainError(
                "the step of a slice is no literal whole number"
                if i == 2
                else "the end of a slice is no size",
                at=scope.location(part.start, part.end),
                expected="a whole number, not 0"
                if i == 2
                else "whole numbers and names of sizes: x[1:n - 1]",
                cure="write x[::2] or x[::-1]"
                if i == 2
                else "write where(condition, x, 0) for what depends on values",
            )
        found.append(size)
    return (found[0], found[1], 1 if found[2] is None else found[2])
