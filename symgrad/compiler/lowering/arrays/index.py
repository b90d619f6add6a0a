"""Indices of arrays in a loop nest: affine functions of loop counters, with sizes as coefficients.

Transposes, broadcasts, slices and diagonals only change these functions; they move no data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from symgrad.ir.sizes import Shape, Size, size_product, size_sum


@dataclass(frozen=True, slots=True)
class Index:
    """``offset + sum(coefficient * counter)``.

    Args:
        terms: the loops and the nonzero coefficients of their counters, in the order of the loops.
        offset: the constant.
    """

    terms: tuple[tuple[int, Size], ...] = ()
    offset: Size = 0

    def coefficient(self, loop: int) -> Size:
        """Return the coefficient of a loop."""
        return next((c for k, c in self.terms if k == loop), 0)

    def without(self, loop: int) -> Index:
        """Return the index at the start of a loop."""
        return Index(tuple(t for t in self.terms if t[0] != loop), self.offset)

    def renamed(self, names: Mapping[int, int]) -> Index:
        """Rename the loops."""
        return Index(tuple(sorted(((names[k], c) for k, c in self.terms), key=lambda t: t[0])), self.offset)


IndexTuple = tuple[Index, ...]
"""One index for each axis."""

ZERO = Index()


def loop(k: int) -> Index:
    """Return the index that is the counter of a loop."""
    return Index(((k, 1),))


def total(parts: Iterable[tuple[Index, Size]]) -> Index:
    """Return a sum of indices, each multiplied by a size.

    Example:
        >>> print(total([(loop(0), "n"), (loop(1), 1)]).terms)
        ((0, 'n'), (1, 1))
    """
    coefficients: dict[int, list[Size]] = {}
    offset: list[Size] = []
    for index, factor in parts:
        for k, c in index.terms:
            coefficients.setdefault(k, []).append(_times(c, factor))
        if index.offset != 0:
            offset.append(_times(index.offset, factor))
    terms = ((k, cs[0] if len(cs) == 1 else size_sum(cs)) for k, cs in sorted(coefficients.items()))
    return Index(tuple(t for t in terms if t[1] != 0), size_sum(offset) if offset else 0)


def _times(a: Size, b: Size) -> Size:
    return b if a == 1 else a if b == 1 else size_product([a, b])


def shifted(index: Index, start: Size, step: int) -> Index:
    """Return the index of element ``index`` of a slice: start + step*index."""
    if start == 0 and step == 1:
        return index
    return total([(index, step), (Index((), start), 1)])


def strides(shape: Shape) -> list[Size]:
    """Return the stride of each axis in C order, in elements."""
    return list(accumulate(shape[:0:-1], _times, initial=1))[::-1] if shape else []


def flat(place: Sequence[Index], shape: Shape) -> Index:
    """Return the memory position of a place in a contiguous array."""
    return total(zip(place, strides(shape), strict=True))
