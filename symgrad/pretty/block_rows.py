"""Concatenate sums of arrays in which each array is zero outside some rows.

unslice(broadcast_to(g, (1, k)), 0:1) + unslice(broadcast_to(h, (1, k)), 1:2)   is   stack((g, h))
"""

from __future__ import annotations

from typing import NamedTuple

from symgrad.ir.graph import Node, apply
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.array.layout import broadcast_to, reshape, squeeze, unslice
from symgrad.ops.numpy.calls import join, stack
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.pretty.forms.factor_out import terms_of

_WHOLE = (None, None, 1)


class _Rows(NamedTuple):
    """The rows of a term, along an axis, that are not zero."""

    axis: int
    start: int
    stop: int
    values: Node


def concat_rows(node: Node) -> Node:
    """Replace a sum of arrays whose nonzero rows partition an axis by one concatenated array.

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
    if not any(n.op is unslice for n in order):
        return node
    done: dict[Node, Node] = {}
    for n in order:
        made = with_args(n, [done[a] for a in n.args])
        done[n] = (_stacked(made) or made) if n.op is add else made
    return done[node]


def _stacked(total: Node) -> Node | None:
    parts = [_rows(t) for t in terms_of(total)]
    found = [p for p in parts if p is not None and p.axis == (parts[0].axis if parts[0] else -1)]
    if len(found) < len(parts):
        return None
    found.sort(key=lambda p: p.start)
    axis, size = found[0].axis, total.shape[found[0].axis]
    ends = [0, *(p.stop for p in found)]
    if [p.start for p in found] != ends[:-1] or ends[-1] != size:
        return None
    if all(p.stop - p.start == 1 for p in found):
        made = stack([_one(p.values, axis) for p in found], axis)
    else:
        made = join([p.values for p in found], axis)
    return made if made.shape == total.shape else None


def _rows(term: Node) -> _Rows | None:
    if term.op is neg or (term.op is div and not term.args[1].shape):
        inner = _rows(term.args[0])
        return inner and inner._replace(values=apply(term.op, (inner.values, *term.args[1:])))
    if term.op is mul:
        scalar, array = sorted(term.args, key=lambda a: len(a.shape))
        inner = None if scalar.shape else _rows(array)
        return inner and inner._replace(values=scalar * inner.values)
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


def _one(values: Node, axis: int) -> Node:
    """Remove the axis of a term that has a single row."""
    row = (*values.shape[:axis], *values.shape[axis + 1 :])
    added = values.op in (broadcast_to, reshape) and values.args[0].shape == row
    return values.args[0] if added else squeeze(values, (axis,))
