"""Where in an array a loop nest is: affine functions of loop counters, with sizes as coefficients.

Transposes, broadcasts, slices and diagonals only change these functions, so that they move no data: whatever reads
through them loads from another place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from symgrad.ir.sizes import Shape, Size, size_product, size_sum

__all__ = ["ZERO", "Index", "IndexTuple", "flat", "loop", "shifted", "strides", "total"]


@dataclass(frozen=True, slots=True)
class Index:
    """``offset + sum(coefficient * counter)``.

    Args:
        terms: loops and the coefficients of their counters, none of which is 0, in the order of the loops.
        offset: the constant.
    """

    terms: tuple[tuple[int, Size], ...] = ()
    offset: Size = 0

    def coefficient(self, loop: int) -> Size:
        """Return how far one step of a loop moves."""
        return next((c for k, c in self.terms if k == loop), 0)

    def without(self, loop: int) -> Index:
        """Return the place where a loop starts."""
        return Index(tuple(t for t in self.terms if t[0] != loop), self.offset)

    def renamed(self, names: Mapping[int, int]) -> Index:
        """Return the same place among other names of the loops."""
        return Index(tuple(sorted(((names[k], c) for k, c in self.terms), key=lambda t: t[0])), self.offset)


IndexTuple = tuple[Index, ...]
"""One index an axis."""

ZERO = Index()


def loop(k: int) -> Index:
    """Return the counter of a loop itself."""
    return Index(((k, 1),))


def total(parts: Iterable[tuple[Index, Size]]) -> Index:
    """Return the sum of indices, each times a size.

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
    """Return where element ``index`` of a slice is."""
    if start == 0 and step == 1:
        return index
    return total([(index, step), (Index((), start), 1)])


def strides(shape: Shape) -> list[Size]:
    """Return how many elements one step along each axis is, in C order."""
    found: list[Size] = [1]
    for size in reversed(shape[1:]):
        found.insert(0, _times(found[0], size))
    return found if shape else []


def flat(place: Sequence[Index], shape: Shape) -> Index:
    """Return the position in memory of a place in a contiguous array."""
    return total(zip(place, strides(shape), strict=True))
