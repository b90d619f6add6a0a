"""``numpy.pad`` with zeros, which the pullback of a slice is: `unslice` spelled by what stands around it."""

from __future__ import annotations

from typing import Any, cast

from symgrad.errors import ShapeError
from symgrad.ir.graph import Node
from symgrad.ir.slices import padded_size
from symgrad.ops.array.layout import unslice

__all__ = ["pad"]


def pad(x: Node, pad_width: Any) -> Node:
    """``numpy.pad`` with zeros; `padded_size` tells how long an axis of named size becomes.

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
    triples = tuple((before or None, -after or None, 1) for before, after in widths)
    shape = tuple(padded_size(size, t) for size, t in zip(x.shape, triples, strict=True))
    return unslice(x, params=(triples, shape))


def _widths(given: Any, rank: int) -> list[tuple[int, int]]:
    rows: tuple[Any, ...] = cast("Any", given) if isinstance(given, tuple) else (given, given)
    if not rows or not isinstance(rows[0], tuple):
        rows = (rows,) * rank
    if len(rows) != rank or not all(map(_is_width, rows)):
        raise ShapeError(
            f"widths {given} to pad an array with {rank} axes",
            expected="how many zeros stand before and after, along each axis: ((0, 0), (1, 0)) for a matrix",
        )
    return [(int(before), int(after)) for before, after in rows]


def _is_width(row: Any) -> bool:
    if not isinstance(row, tuple) or len(cast("tuple[Any, ...]", row)) != 2:
        return False
    return all(
        isinstance(w, int) and not isinstance(w, bool) and w >= 0 for w in cast("tuple[Any, ...]", row)
    )
