"""Concatenate sums of arrays in which each array is zero outside some rows.

unslice(broadcast_to(g, (1, k)), 0:1) + unslice(broadcast_to(h, (1, k)), 1:2)   is   stack((g, h))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

from symgrad.ir.graph import NUMBER, Node, as_node
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.array.indexing import one_hot
from symgrad.ops.array.layout import broadcast_to, concatenate, expand, full, reshape, squeeze, unslice
from symgrad.ops.numpy.calls import join, stack
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.pretty.forms.factor_out import factors_of, quotient_of, terms_of

_WHOLE = (None, None, 1)


class _Rows(NamedTuple):
    """The rows of a term, along an axis, that are not zero."""

    axis: int
    start: int
    stop: int
    values: Node


def concat_rows(node: Node) -> Node:
    """Replace the terms of a sum whose nonzero rows partition an axis by one concatenated array.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import REAL, Declaration
        >>> from symgrad.ops.array.layout import expand
        >>> g, h = (symbol(Declaration(name, REAL, ("k",))) for name in "gh")
        >>> parts = [(g, (None, 1, 1)), (h, (1, None, 1))]
        >>> terms = [unslice(expand(v, [0]), params=((at, (None, None, 1)), (2, "k"))) for v, at in parts]
        >>> concat_rows(terms[1] + terms[0]) is stack((g, h))
        True
    """
    order = topological([node])
    if not any(n.op is unslice or n.op is one_hot for n in order):
        return node
    done: dict[Node, Node] = {}
    for n in order:
        made = with_args(n, [done[a] for a in n.args])
        done[n] = (_stacked(made) or _merged(made) or made) if n.op is add else made
    return done[node]


def _stacked(total: Node) -> Node | None:
    terms = terms_of(total)
    rows = [_rows(t) for t in terms]
    axis = next((r.axis for r in rows if r is not None), None)
    found: dict[tuple[int, int], list[Node]] = {}
    for r in rows:
        if r is not None and r.axis == axis:
            found.setdefault((r.start, r.stop), []).append(r.values)
    places = sorted(found)
    ends = [0, *(stop for _, stop in places)]
    if axis is None or [start for start, _ in places] != ends[:-1] or ends[-1] != total.shape[axis]:
        return None
    parts = [reduce(add, found[place]) for place in places]
    if len(total.shape) == 1 and len(places) == ends[-1]:  # array([g, h])
        made = concatenate(*(full(_one(p, axis), (1,)) for p in parts), params=(0,))
    elif len(places) == ends[-1]:
        made = stack([_one(p, axis) for p in parts], axis)
    else:
        made = join(parts, axis)
    rest = [t for t, r in zip(terms, rows, strict=True) if r is None or r.axis != axis]
    return reduce(add, [*rest, made]) if made.shape == total.shape else None


def _merged(total: Node) -> Node | None:
    """Return a sum with one array of zeros around values for all those with zeros at the same places."""
    terms = terms_of(total)
    found: dict[Any, list[Node]] = {}
    for term in terms:
        inside, f = _scaled(term)
        if inside.op is unslice:
            found.setdefault(inside.params, []).append(f(inside.args[0]))
    if all(len(values) == 1 for values in found.values()):
        return None
    rest = [t for t in terms if _scaled(t)[0].op is not unslice]
    return reduce(add, [*(unslice(reduce(add, v), params=p) for p, v in found.items()), *rest])


def _scaled(term: Node) -> tuple[Node, Callable[[Node], Node]]:
    """Return the array that a term is times a number, and a function that multiplies another array by it."""
    if term.op is neg or (term.op is div and not term.args[1].shape):
        inside, f = _scaled(term.args[0])
        return inside, lambda x: _negative(f(x)) if term.op is neg else f(x) / term.args[1]
    if term.op is mul and not all(a.shape for a in term.args):
        scalar, array = sorted(term.args, key=lambda a: len(a.shape))
        inside, f = _scaled(array)
        first = scalar is term.args[0]
        return inside, lambda x: _times(scalar, f(x), first=first)
    return term, lambda x: x


def _times(scalar: Node, x: Node, *, first: bool) -> Node:
    if scalar.is_number() and scalar.value < 0:
        return _negative(_times(as_node(-scalar.value), x, first=first))
    return scalar if x.is_number(1) else scalar * x if first else x * scalar


def _rows(whole: Node) -> _Rows | None:
    term, f = _scaled(whole)
    found = _rows_of(term)
    return found and _mapped(found, f)


def _rows_of(term: Node) -> _Rows | None:
    if term.op is one_hot and term.args[0].op is NUMBER and isinstance(term.params[0], int):
        start = int(term.args[0].value)
        return _Rows(0, start, start + 1, expand(as_node(1), [0])) if 0 <= start < term.params[0] else None
    if term.op is not unslice:
        return None
    triples, shape = term.params
    moved = [a for a, triple in enumerate(triples) if tuple(triple) != _WHOLE]
    if len(moved) != 1 or not isinstance(shape[moved[0]], int):
        return None
    (axis,) = moved
    start, stop, step = triples[axis]
    start, stop = start or 0, shape[axis] if stop is None else stop
    whole = step == 1 and isinstance(start, int) and isinstance(stop, int)
    return _Rows(axis, start, stop, term.args[0]) if whole and 0 <= start < stop <= shape[axis] else None


def _negative(x: Node) -> Node:
    sign, above, below = factors_of(x)
    return quotient_of(-sign, above, below)


def _row(values: Node, axis: int) -> Node | None:
    """Return the row of which values are an array with one row; None for other values."""
    row = (*values.shape[:axis], *values.shape[axis + 1 :])
    added = values.op in (broadcast_to, reshape) and values.args[0].shape == row and values.shape[axis] == 1
    return values.args[0] if added else None


def _one(values: Node, axis: int) -> Node:
    """Remove the axis of a term that has a single row."""
    row = _row(values, axis)
    return squeeze(values, (axis,)) if row is None else row


def _mapped(rows: _Rows, f: Callable[[Node], Node]) -> _Rows:
    row = _row(rows.values, rows.axis)
    return rows._replace(values=f(rows.values) if row is None else expand(f(row), [rows.axis]))
