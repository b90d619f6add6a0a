"""Sorting, quantiles and positions in sorted arrays on nodes, as in NumPy; interpolation between points.

There is no op that sorts. The rank of an entry is the number of entries before it, a sum of comparisons; the positions
that sort are the inverse permutation of the ranks, and the sorted array is a gather, with the derivative of a gather.
Equal entries keep their order, and NaN counts as the largest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symgrad.ir.graph import Node, as_node, size_node
from symgrad.ir.sizes import Size, size_product
from symgrad.ops.array.contraction import sum_over, transpose
from symgrad.ops.array.indexing import iota, scatter_add
from symgrad.ops.array.layout import broadcast_to, expand, move_up
from symgrad.ops.numpy.calls import axes_of, flattened, moveaxis
from symgrad.ops.numpy.subscripts import index, take, take_along_axis
from symgrad.ops.scalar.arith import div
from symgrad.ops.scalar.logic import and_, eq, gt, lt, ne, not_, or_, where
from symgrad.ops.scalar.rounding import maximum, minimum
from symgrad.support.errors import DomainError, ShapeError, UnsupportedError, UsageError

_ZERO, _ONE = as_node(0), as_node(1)
_ENTRIES = 4096
"""The largest number of entries that are compared with each other."""


def _smaller(a: Node, b: Node) -> Node:
    """Tell whether a is before b in sorted order, where NaN is last."""
    if a.dtype == b.dtype == "int":
        return lt(a, b)
    return or_(lt(a, b), and_(ne(b, b), eq(a, a)))


def argsort(x: Node, axis: Any = -1, descending: bool = False) -> Node:
    """``numpy.argsort`` with ``kind="stable"``; with ``descending``, equal entries keep their order, too.

    Raises:
        UnsupportedError: if the axis has very many entries.
    """
    x, at = flattened(x, axis)
    rank, n = len(x.shape), x.shape[at]
    if isinstance(n, int) and n > _ENTRIES:
        raise UnsupportedError(
            f"sorting {n:,} entries, each of which is compared with each",
            expected=f"at most {_ENTRIES:,}",
            cure="pass the positions that sort as an argument",
        )
    along = moveaxis(x, at, rank - 1)
    one, other, numbers = expand(along, [rank]), expand(along, [rank - 1]), iota(params=(n,))
    less, more = _smaller(other, one), _smaller(one, other)
    less, more = (more, less) if descending else (less, more)
    before = or_(less, and_(not_(more), lt(expand(numbers, [0]), expand(numbers, [1]))))
    ranks = sum_over(where(before, _ONE, _ZERO), [rank])
    key = [
        iota(params=(size,))
        if rank == 1
        else expand(iota(params=(size,)), [j for j in range(rank) if j != i])
        for i, size in enumerate(along.shape[:-1])
    ]
    places = broadcast_to(numbers, params=(along.shape,))
    found = scatter_add(places, *key, ranks, params=(tuple(range(rank)), along.shape))
    return moveaxis(found, rank - 1, at)


def sort(x: Node, axis: Any = -1, descending: bool = False) -> Node:
    """``numpy.sort``."""
    x, at = flattened(x, axis)
    return take_along_axis(x, argsort(x, at, descending), at)


def _sorted_rows(x: Node, axes: Sequence[int]) -> Node:
    """Return the entries over some axes in ascending order along a first axis."""
    kept = [a for a in range(len(x.shape)) if a not in axes]
    size = size_product(x.shape[a] for a in axes)
    if size == 0:
        raise ShapeError("the median or a quantile of no elements", expected="axes that are not empty")
    moved = transpose(x, [*axes, *kept]) if axes and list(axes) != list(range(len(axes))) else x
    return sort(move_up(moved, (size, *(x.shape[a] for a in kept))), 0)


def _without_nan(found: Node, rows: Node, x: Node, axes: Sequence[int], keepdims: bool) -> Node:
    """Return a result of sorted rows with NaN where a row has one, and with its axes, if they are kept."""
    top = index(rows, -1)
    found = where(ne(top, top), top, found)
    lead = found.shape[: len(found.shape) - len(top.shape)]
    kept = [1 if a in axes else size for a, size in enumerate(x.shape)]
    return move_up(found, (*lead, *kept)) if keepdims else found


def quantile(x: Node, q: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """``numpy.quantile`` by linear interpolation; the axes of q come first. It is NaN if an entry is NaN.

    Raises:
        DomainError: if q is a number that is not from 0 to 1.
    """
    axes = axes_of(axis, len(x.shape))
    rows = _sorted_rows(x, axes)
    if q.is_number() and not 0 <= q.value <= 1:
        raise DomainError(f"the quantile {q.value}", expected="a number from 0 to 1", cure="quantile(x, 1/2)")
    last = size_node(rows.shape[0]) - 1
    known = q.is_number() and last.is_number()
    at = as_node(Fraction(q.value) * int(last.value)) if known else q * last
    low = _rounded_down(at, rows.shape[0])
    share = (
        as_node(at.value % 1)
        if known
        else expand(at - low, range(len(q.shape), len(q.shape) + len(rows.shape) - 1))
    )
    found = take(rows, low, 0)
    if not share.is_number(0):
        found = found + share * (take(rows, minimum(low + 1, last), 0) - found)
    return _without_nan(found, rows, x, axes, keepdims)


def median(x: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """``numpy.median``: the middle entry, or the mean of the two middle ones. It is NaN if an entry is NaN."""
    axes = axes_of(axis, len(x.shape))
    rows = _sorted_rows(x, axes)
    size = rows.shape[0]
    ends = [_rounded_down(div(size_node(size) + k, as_node(2)), size) for k in (-1, 0)]
    low, high = (take(rows, at, 0) for at in ends)
    return _without_nan(low if low is high else div(low + high, as_node(2)), rows, x, axes, keepdims)


def _rounded_down(at: Node, size: Size) -> Node:
    """Return a number from 0 to size, but less than size, rounded down to a position."""
    if at.is_number():
        return as_node(int(at.value))
    return maximum(searchsorted(iota(params=(size,)), at, "right") - 1, _ZERO)


def searchsorted(a: Node, v: Node, side: str = "left") -> Node:
    """``numpy.searchsorted``: the number of entries of a before v, on the left or on the right of equal ones."""
    if side not in ("left", "right"):
        raise UsageError(f"side {side!r} of equal entries", expected="left or right", cure="side='left'")
    if len(a.shape) != 1:
        raise ShapeError(f"searchsorted in an array with {len(a.shape)} axes", expected="one axis")
    entry = expand(v, [len(v.shape)])
    before = _smaller(a, entry) if side == "left" else not_(_smaller(entry, a))
    return sum_over(where(before, _ONE, _ZERO), [len(v.shape)])


def interp(x: Node, xp: Node, fp: Node, left: Node | None = None, right: Node | None = None) -> Node:
    """``numpy.interp``: the value at x of the lines through points, whose places xp ascend; constant outside.

    At a point the slope is that of the line to its right, and at the last point that of the line to its left.
    """
    if len(xp.shape) != 1 or xp.shape != fp.shape:
        raise ShapeError(
            "interp between points whose places and values have other shapes", expected="as many"
        )
    if xp.shape[0] == 0:
        raise ShapeError("interp between no points", expected="at least one")
    last = size_node(xp.shape[0]) - 1
    high = minimum(searchsorted(xp, x, "right"), last)
    low = maximum(high - 1, _ZERO)
    start, below = take(xp, low), take(fp, low)
    width = take(xp, high) - start
    slope = div(take(fp, high) - below, where(eq(width, _ZERO), _ONE, width))
    inside = below + slope * (x - start)
    first, end = index(fp, 0) if left is None else left, index(fp, -1) if right is None else right
    return where(lt(x, index(xp, 0)), first, where(gt(x, index(xp, -1)), end, inside))
