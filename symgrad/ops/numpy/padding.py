"""``numpy.pad`` with zeros: the op `unslice`, which is the transpose of a slice."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard, cast

from symgrad.ir.graph import Node
from symgrad.ir.shapes import padded
from symgrad.ir.sizes import Extent, Size, nonnegative
from symgrad.ops.array.layout import unslice
from symgrad.support.errors import ShapeError

_Pair: TypeAlias = tuple[Size, Size]


def pad(x: Node, pad_width: Any) -> Node:
    """``numpy.pad`` with zeros, also for axes with named sizes, whose new size `symgrad.ir.shapes.padded` computes.

    Args:
        x: an array.
        pad_width: a pair of sizes for each axis; or one pair, or one size, for all axes.

    Raises:
        ShapeError: for widths that do not fit the axes of x.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import REAL, Declaration
        >>> pad(symbol(Declaration("x", REAL, ("n", 3))), ((0, 0), (1, 2))).shape
        ('n', 6)
    """
    widths = _widths(pad_width, len(x.shape))
    if all(width == (0, 0) for width in widths):
        return x
    axes = [padded(size, *width) for size, width in zip(x.shape, widths, strict=True)]
    return unslice(x, params=(tuple(triple for triple, _ in axes), tuple(size for _, size in axes)))


def _widths(pad_width: Any, rank: int) -> tuple[_Pair, ...]:
    rows: tuple[Any, ...] = cast("Any", pad_width) if isinstance(pad_width, tuple) else (pad_width, pad_width)
    if not any(isinstance(row, tuple) for row in rows):
        rows = (rows,) * rank
    if len(rows) == rank and _are_pairs(rows):
        return rows
    raise ShapeError(
        f"widths {_text(pad_width)} do not fit an array with {rank} axes",
        expected="the numbers of zeros before and after, along each axis: ((0, 0), (1, 0)) for a matrix",
    )


def _are_pairs(rows: tuple[Any, ...]) -> TypeGuard[tuple[_Pair, ...]]:
    return all(isinstance(row, tuple) and [*map(_is_width, cast("Any", row))] == [True, True] for row in rows)


def _is_width(value: Any) -> bool:
    """Tell whether a value is a provably nonnegative size, such as n, but not n - 3."""
    return isinstance(value, int | str | Extent) and not isinstance(value, bool) and nonnegative(value)


def _text(widths: Any) -> str:
    if isinstance(widths, tuple):
        return f"({', '.join(map(_text, cast('tuple[Any, ...]', widths)))})"
    return str(widths)
