"""Convolution, correlation, differences and powers of sequences on nodes, as in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from symgrad.ir.graph import Node, as_node, size_node
from symgrad.ir.sizes import Size, size_sum
from symgrad.ops.array.contraction import sum_over
from symgrad.ops.array.indexing import iota
from symgrad.ops.array.layout import WHOLE, expand, full, shape_text, slice_axes
from symgrad.ops.array.reductions import mean
from symgrad.ops.numpy.calls import axes_of, flip, join, permute, stack
from symgrad.ops.numpy.padding import pad
from symgrad.ops.numpy.products import diag, matmul
from symgrad.ops.numpy.subscripts import index, take
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.ops.scalar.elementary import sqrt
from symgrad.support.errors import ShapeError, UsageError

_TAPS = 64
"""The largest number of entries of the shorter sequence whose products are written out: loops over shifted sequences
are faster than products with windows, up to large formulas."""


def convolve(a: Node, v: Node, mode: str = "full") -> Node:
    """``numpy.convolve``.

    Raises:
        ShapeError: for arrays other than vectors with entries; for a mode other than full, if their lengths are names.
        UsageError: for another mode.
    """
    longer, shorter = (v, a) if _is_shorter(a, v) else (a, v)
    m = shorter.shape[0]
    return _part(_products(longer, shorter), longer.shape[0], m, mode)


def correlate(a: Node, v: Node, mode: str = "valid") -> Node:
    """``numpy.correlate``: the sums of products of one vector with the shifted other; raises as `convolve`."""
    if not _is_shorter(a, v):
        return convolve(a, flip(v), mode)
    return _part(_products(flip(v), a), v.shape[0], a.shape[0], mode, turned=True)


def _is_shorter(a: Node, v: Node) -> bool:
    for x in (a, v):
        if len(x.shape) != 1 or x.shape[0] == 0:
            raise ShapeError(
                f"a convolution of an array of shape {shape_text(x.shape)}",
                expected="vectors that are not empty",
            )
    n, m = a.shape[0], v.shape[0]
    return isinstance(n, int) and (not isinstance(m, int) or n < m)


def _products(longer: Node, shorter: Node) -> Node:
    """Return all sums of products of a full convolution."""
    n, m = longer.shape[0], shorter.shape[0]
    if isinstance(m, int) and m <= _TAPS:
        shifted = [mul(pad(longer, (k, m - 1 - k)), index(shorter, k)) for k in range(m)]
        return reduce(add, shifted)
    # One zero more than necessary before the entries: m zeros are provably not a negative number of zeros.
    sums = iota(params=(size_sum([n, m, -1]),)) + 1
    windows = take(pad(longer, (m, m)), add(expand(sums, [1]), expand(iota(params=(m,)), [0])))
    return matmul(windows, flip(shorter))


def _part(every: Node, n: Size, m: Size, mode: str, *, turned: bool = False) -> Node:
    """Return the sums of a mode: all, as many as the longer vector has entries, or those without zeros around it.

    Of as many sums, the correlation of a shorter with a longer vector is turned around: it may begin one sum later.
    """
    if mode not in ("full", "same", "valid"):
        raise UsageError(
            f"mode {mode!r} of a convolution", expected="full, same or valid", cure="mode='same'"
        )
    if mode == "full":
        return every
    if not isinstance(n, int) or not isinstance(m, int):
        raise ShapeError(
            f"mode {mode} of a convolution of vectors with the lengths {n} and {m}",
            expected="numbers: it depends on which vector is longer",
            cure="declare numbers for the lengths",
        )
    start = m - 1 if mode == "valid" else (m - 1 + turned) // 2
    return slice_axes(every, [(start, start + (n - m + 1 if mode == "valid" else n), 1)])


# --------------------------------------------------------------------------------------------------------- statistics


def cov(
    m: Node, y: Node | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None
) -> Node:
    """``numpy.cov``: the covariances of the rows, or with ``rowvar=False`` of the columns."""
    if any(len(x.shape) not in (1, 2) for x in (m, y) if x is not None):
        raise ShapeError("covariances of a scalar, or of more than 2 axes", expected="a matrix or a vector")
    rows = [x if rowvar or len(x.shape) < 2 else permute(x) for x in (m, y) if x is not None]
    if len(rows) > 1:
        rows = [join([x if len(x.shape) == 2 else expand(x, [0]) for x in rows])]
    (x,) = rows
    axis = len(x.shape) - 1
    centred = add(x, neg(expand(mean(x, params=((axis,),)), [axis])))
    count = size_node(x.shape[axis]) - (int(not bias) if ddof is None else ddof)
    if not axis:
        return div(sum_over(mul(centred, centred), [0]), count)
    return div(matmul(centred, permute(centred)), count)


def corrcoef(x: Node, y: Node | None = None, rowvar: bool = True) -> Node:
    """``numpy.corrcoef``: the covariances of the rows, divided by their standard deviations."""
    found = cov(x, y, rowvar)
    if not found.shape:
        return div(found, found)
    spread = sqrt(diag(found))
    return div(div(found, expand(spread, [1])), expand(spread, [0]))


# ---------------------------------------------------------------------------------------------- differences and powers


def gradient(f: Node, spacings: Sequence[Node], axis: Any = None, edge_order: int = 1) -> list[Node]:
    """``numpy.gradient``: second-order differences along each axis, one-sided at its ends.

    Raises:
        ShapeError: for an axis with too few entries, or of a length that is a name.
        UsageError: for other numbers of spacings than none, one, or one for each axis.
    """
    if not f.shape:
        raise ShapeError(
            "the differences of a scalar", expected="an array", cure="sg.grad(y, x) is the derivative"
        )
    axes = axes_of(axis, len(f.shape))
    if len(spacings) not in (0, 1, len(axes)) or (len(spacings) == 1 < len(axes) and spacings[0].shape):
        raise UsageError(
            f"{len(spacings)} distances for {len(axes)} axes",
            expected="one number, or a number or a vector for each axis",
            cure="np.gradient(f, 0.5)",
        )
    if edge_order not in (1, 2):
        raise UsageError(f"edge_order {edge_order!r}", expected="1 or 2", cure="edge_order=1")
    steps = list(spacings) or [as_node(1)]
    steps = steps * len(axes) if len(steps) == 1 else steps
    return [_differences(f, a, h, edge_order) for a, h in zip(axes, steps, strict=True)]


def _differences(f: Node, axis: int, spacing: Node, order: int) -> Node:
    n = f.shape[axis]
    if not isinstance(n, int) or n <= order:
        raise ShapeError(
            f"gradient along an axis of length {n}",
            expected=f"a number of at least {order + 1}",
            cure=None if isinstance(n, int) else "declare a number for this size",
        )
    if spacing.shape not in ((), (n,)):
        raise ShapeError(
            f"places of shape {shape_text(spacing.shape)} for {n} entries", expected=f"{n} places"
        )

    def part(start: int, stop: int) -> Node:
        return slice_axes(f, [(start, stop, 1) if a == axis else WHOLE for a in range(len(f.shape))])

    def step(start: int, stop: int) -> Node:
        if not spacing.shape:
            return spacing
        found = add(_cut(spacing, start + 1, stop + 1), neg(_cut(spacing, start, stop)))
        return expand(found, range(1, len(f.shape) - axis))

    def slope(start: int, stop: int) -> Node:
        """Return the slopes of the lines between neighbours."""
        rise = add(part(start + 1, stop + 1), neg(part(start, stop)))
        return rise if spacing.is_number(1) else div(rise, step(start, stop))

    def edge(near: int, far: int) -> Node:
        """Return the derivative at an end, of the line to the next entry, or of the parabola through two more."""
        line = slope(near, near + 1)
        if order == 1:
            return line
        h, g = step(near, near + 1), step(far, far + 1)
        return line + div(h, h + g) * (line - slope(far, far + 1))

    ends = [edge(0, 1), edge(n - 2, n - 3)]
    if n == 2:
        return join(ends, axis)
    if spacing.shape:
        h, g = step(0, n - 2), step(1, n - 1)
        inner = div(h * slope(1, n - 1) + g * slope(0, n - 2), h + g)
    else:
        inner = div(add(part(2, n), neg(part(0, n - 2))), 2 * spacing)
    return join([ends[0], inner, ends[1]], axis)


def _cut(x: Node, start: int, stop: int) -> Node:
    return slice_axes(x, [(start, stop, 1)])


def vander(x: Node, N: int | None = None, increasing: bool = False) -> Node:
    """``numpy.vander``: the powers of the entries of a vector, one in each column."""
    count = x.shape[0] if N is None and len(x.shape) == 1 else N
    if len(x.shape) != 1 or not isinstance(count, int) or count < 1:
        raise ShapeError(
            f"vander of an array of shape {shape_text(x.shape)} with {count} columns",
            expected="a vector, and a number of columns",
            cure="np.vander(x, 3)",
        )
    powers = [full(as_node(1), x.shape), *(x**k for k in range(1, count))]
    return stack(powers if increasing else powers[::-1], 1)
