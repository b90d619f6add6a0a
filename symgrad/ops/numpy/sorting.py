"""Positions in sorted arrays, and interpolation between points, on nodes, as in NumPy; NaN is the largest number."""

from __future__ import annotations

from symgrad.ir.graph import Node, as_node, size_node
from symgrad.ops.array.contraction import sum_over
from symgrad.ops.array.layout import expand
from symgrad.ops.numpy.subscripts import index, take
from symgrad.ops.scalar.arith import div
from symgrad.ops.scalar.logic import and_, eq, gt, lt, ne, not_, or_, where
from symgrad.ops.scalar.rounding import maximum, minimum
from symgrad.support.errors import ShapeError, UsageError

_ZERO, _ONE = as_node(0), as_node(1)


def _smaller(a: Node, b: Node) -> Node:
    """Tell whether a is before b in sorted order, where NaN is last."""
    if a.dtype == b.dtype == "int":
        return lt(a, b)
    return or_(lt(a, b), and_(ne(b, b), eq(a, a)))


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
