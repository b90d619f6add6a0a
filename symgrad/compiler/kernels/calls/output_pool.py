"""Result arrays that nobody refers to any more, for the next call.

New memory of some size comes from the system page by page, each fetched by a fault and filled with zeros first: for a
formula with its derivatives at 100,000 points that takes several times as long as computing them. So a kernel remembers
its last results, and writes to those that have been dropped since.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import cache
from itertools import repeat
from typing import Any
from weakref import getweakrefcount

import numpy as np

from symgrad.compiler.kernels.calls.safety import refusal

__all__ = ["OutputPool", "new_result"]

_LEAST, _LARGEST = 2**17, 2**26
"""Bytes of all results of a call: less is in the allocator's own lists, more is not for a kernel to keep."""

_REMEMBERED = 2
"""Calls whose results are: one may be an input of the call that computes the next."""

_PAGE, _LINE = 4096, 64
_SPREAD = 2**14
"""Bytes from which on an array is placed: smaller ones are too short to begin anywhere else than by chance."""


class _Memory(np.ndarray):
    """What results lie in: of another type than they are, or their views would refer to it, and not be counted."""


def new_result(shape: tuple[int, ...], kind: np.dtype[Any], k: int) -> np.ndarray:
    """Return a new array, contiguous with any content, for output k of a call.

    It begins with a cache line, and each output at another line of a page. What the system gives for large arrays
    begins at the same place of a page every time: then a loop that writes two dozen of them finds all in one set of a
    first-level cache, which has room for eight or twelve, and takes up to twice as long.
    """
    size = math.prod(shape) * kind.itemsize
    if size < _SPREAD:
        return np.ndarray(shape, kind, _Memory(max(size, 1), np.uint8))
    memory = _Memory(size + _PAGE, np.uint8)
    start = (_LINE * 5 * (k + 1) - memory.__array_interface__["data"][0]) % _PAGE
    return np.ndarray(shape, kind, memory, start)


def _references(arrays: list[Any]) -> list[int]:
    # Views, memoryviews and other libraries' tensors refer to an array as well.
    return [*map(sys.getrefcount, arrays)]


def _round(results: list[np.ndarray]) -> list[Any]:
    """Return results of a call with the memory that each lies in, which anyone can have from it."""
    return [*results, *[result.base for result in results]]


@cache
def _alone() -> tuple[int, int]:
    """Return what is counted of a result to which its round alone refers, and of the memory that it lies in."""
    result, memory = _references(_round([new_result((1,), np.dtype(np.uint8), 0)]))
    return result, memory


class OutputPool:
    """The results of earlier calls of one kernel; they go with it.

    Args:
        kinds: the dtypes of its outputs.
    """

    __slots__ = ("_alone", "_kinds", "_rounds", "_shapes", "_width")

    def __init__(self, kinds: Sequence[np.dtype[Any]]) -> None:
        self._kinds = tuple(kinds)
        self._width = sum(kind.itemsize for kind in kinds)
        self._alone: list[int] = []  # the counts of a round that nobody else has
        self._shapes: object = None
        self._rounds: list[list[Any]] = []  # the oldest first

    def alike(self, shape: tuple[int, ...], size: int) -> tuple[np.ndarray, ...]:
        """Return an array for each output, all of one shape, with any content.

        They are contiguous, unless someone changed an earlier result itself before dropping it (its shape, say):
        whoever writes to them must look, and `clear` if they are not as they should be.

        Args:
            shape: of all of them.
            size: the number of elements.
        """
        amount = size * self._width
        if amount < _LEAST:
            return tuple(map(np.empty, repeat(shape), self._kinds))
        if amount > _LARGEST or refusal() is not None:
            return tuple([new_result(shape, kind, k) for k, kind in enumerate(self._kinds)])
        return self._take(shape, (shape,) * len(self._kinds))

    def arrays(self, shapes: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, ...] | None:
        """Return an array for each output, of these shapes; None if what the allocator gives is as good."""
        amount = sum(math.prod(s) * kind.itemsize for s, kind in zip(shapes, self._kinds, strict=True))
        if not _LEAST <= amount <= _LARGEST or refusal() is not None:
            return None
        shapes = tuple(shapes)
        found = self._take(shapes, shapes)
        for a, s, kind in zip(found, shapes, self._kinds, strict=True):
            if a.shape != s or a.dtype is not kind or not a.flags.carray:
                self.clear()
                return None
        return found

    def clear(self) -> None:
        """Forget what there is."""
        self._rounds.clear()

    def _take(self, key: object, shapes: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, ...]:
        if key != self._shapes:
            self.clear()
            self._alone = [n for n in _alone() for _ in self._kinds]
            self._shapes = key
        found: list[Any] | None = None
        held: tuple[list[Any], list[int]] | None = None  # the oldest results of which someone has some
        for _ in range(len(self._rounds)):
            try:  # taken out before it is looked at: no other thread looks meanwhile
                arrays = self._rounds.pop(0)
            except IndexError:
                break
            counts = _references(arrays)
            # Who has a weak reference may ask for the array again.
            if counts == self._alone and not any(map(getweakrefcount, arrays)):
                found = arrays
                break
            if held is None:
                held = arrays, counts
            else:
                self._rounds.append(arrays)
        count = len(shapes)
        if found is None:
            results: list[np.ndarray | None] = [None] * count
            if held is not None and len(self._rounds) >= _REMEMBERED - 1:
                weak = map(getweakrefcount, held[0])
                free = [n == a and not w for n, a, w in zip(held[1], self._alone, weak, strict=True)]
                results = [held[0][k] if free[k] and free[count + k] else None for k in range(count)]
            elif held is not None:
                self._rounds.append(held[0])
            made = [
                new_result(shapes[k], self._kinds[k], k) if r is None else r for k, r in enumerate(results)
            ]
            found = _round(made)
        elif held is not None:
            self._rounds.append(held[0])
        taken = tuple(found[:count])
        self._rounds.append(found)
        del self._rounds[:-_REMEMBERED]
        return taken
