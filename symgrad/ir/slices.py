"""Sizes of slices of an axis, as NumPy counts them, for lengths that have names too."""

from __future__ import annotations

from typing import TypeAlias, cast

from symgrad.ir.sizes import Extent, Size, SizeAtom, size_ceildiv, size_max, size_min, size_product, size_sum

__all__ = ["Triple", "padded", "slice_length", "slice_start"]

Triple: TypeAlias = "tuple[Size | None, Size | None, int]"
"""Start, stop and step of a slice of one axis."""


def slice_start(size: Size, triple: Triple) -> Size:
    """Return where a slice of an axis starts, if it has any element."""
    start, _, step = triple
    if step > 0:
        if start is None:
            return 0
        return size_max(size_sum([size, start]), 0) if isinstance(start, int) and start < 0 else start
    if start is None:
        return size_sum([size, -1])
    if isinstance(start, int) and start < 0:
        return size_sum([size, start])
    return size_min(start, size_sum([size, -1]))


def slice_length(size: Size, triple: Triple) -> Size:
    """Return how many elements NumPy's slice of an axis has.

    Example:
        >>> print(slice_length("n", (1, None, 1)), slice_length("n", (-2, None, 1)))
        max(n - 1, 0) min(2, n)
    """
    start, stop, step = triple
    if isinstance(size, int) and all(isinstance(v, int) or v is None for v in (start, stop)):
        low, high, _ = slice(cast("int | None", start), cast("int | None", stop), step).indices(size)
        return max(0, -((low - high) // step))  # len(range(...)) stops at the largest C integer
    if step > 0 and stop == size:
        stop = None
    first = slice_start(size, triple)
    if step > 0:
        if start is not None and isinstance(start, int) and start < 0 and stop is None:
            return size_ceildiv(size_min(-start, size), step)
        if stop is None:
            end: Size = size
        elif isinstance(stop, int) and stop < 0:
            end = size_sum([size, stop])
        else:
            end = size_min(stop, size)
        return size_ceildiv(size_max(size_sum([end, size_product([-1, first])]), 0), step)
    if stop is None:
        end = -1
    elif isinstance(stop, int) and stop < 0:
        end = size_max(size_sum([size, stop]), -1)
    else:
        end = stop
    return size_ceildiv(size_max(size_sum([first, size_product([-1, end])]), 0), -step)


def padded(size: Size, before: Size, after: Size) -> tuple[Triple, Size]:
    """Return the slice that an axis of some size is of one that is longer on both sides, and the size of that.

    Args:
        size: how many elements the slice has. Where these are known to be ``maximum(n - k, 0)``, because it leaves k
            out, the axis has n of them.
        before: how many stand before it, not negative.
        after: how many stand after it, not negative.

    Example:
        >>> padded(slice_length("n", (1, -2, 1)), 1, 2), padded(3, "k", 0)[0]
        (((1, -2, 1), 'n'), ('k', None, 1))
    """
    stop = -after or None if isinstance(after, int) else size_sum([before, size])
    triple: Triple = before or None, stop, 1
    more = size_sum([before, after])
    if isinstance(size, Extent) and len(size.terms) == 1 and size.terms[0][1] == 1:
        (monomial, _) = size.terms[0]
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, SizeAtom):
            whole = size_sum([atom.a, more])
            if slice_length(whole, triple) == size:
                return triple, whole
    return triple, size_sum([size, more])
