"""Result arrays that nobody refers to any more, for the next call.

New memory of some size comes from the system page by page, each fetched by a fault and filled with zeros first: for a
formula with its derivatives at 100,000 points that takes several times as long as computing them. So a kernel remembers
its last results, and writes to those that have been dropped since.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Spares", "spread"]

_LEAST, _MOST = 2**17, 2**26
"""Bytes of all results of a call: less is in the allocator's own lists, more is not for a kernel to keep."""

_REMEMBERED = 2
"""Results for each output: one may be an input of the call that computes the next."""


_PAGE, _LINE = 4096, 64
_SPREAD = 2**14
"""Bytes from which on an array is placed: smaller ones are too short to begin anywhere else than by chance."""


class _Memory(np.ndarray):
    """What results lie in: of another type than they are, or their views would refer to it, and not be counted."""


def spread(shape: tuple[int, ...], kind: np.dtype[Any], k: int) -> np.ndarray:
    """Return a new array, contiguous with any content, for output k of a call.

    It begins with a cache line, and each output at another line of a page. What the system gives for large arrays
    begins at the same place of a page every time: then a loop that writes two dozen of them finds all in one set of a
    first-level cache, which has room for eight or twelve, and takes up to twice as long.
    """
    size = math.prod(shape) * kind.itemsize
    if size < _SPREAD:
        return np.empty(shape, kind)
    memory = _Memory(size + _PAGE, np.uint8)
    start = (_LINE * 5 * (k + 1) - memory.__array_interface__["data"][0]) % _PAGE
    return np.ndarray(shape, kind, memory, start)


def _counted() -> int:
    """Return what `sys.getrefcount` says of an array that a local variable alone refers to."""
    arrays = [np.empty(1)]
    array = arrays.pop(0)
    return sys.getrefcount(array)


_ALONE = _counted()
# Without the interpreter's lock a count may change while it is read.
_RELIABLE = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()


class Spares:
    """The results of earlier calls of one kernel; they go with it.

    Args:
        kinds: the dtypes of its outputs.
    """

    __slots__ = ("_kept", "_kinds", "_width")

    def __init__(self, kinds: Sequence[np.dtype[Any]]) -> None:
        self._kinds = tuple(kinds)
        self._width = sum(kind.itemsize for kind in kinds)
        self._kept: list[list[np.ndarray]] = [[] for _ in kinds]

    def alike(self, shape: tuple[int, ...], size: int) -> tuple[np.ndarray, ...]:
        """Return an array for each output, all of one shape: contiguous, with any content.

        Args:
            shape: of all of them.
            size: the number of elements.
        """
        if not (_LEAST <= size * self._width <= _MOST and _RELIABLE):
            if size * self._width < _LEAST:
                return tuple([np.empty(shape, kind) for kind in self._kinds])
            return tuple([spread(shape, kind, k) for k, kind in enumerate(self._kinds)])
        return tuple([self._array(k, shape) for k in range(len(self._kinds))])

    def arrays(self, shapes: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, ...] | None:
        """Return an array for each output, of these shapes; None if what the allocator gives is as good."""
        size = sum(math.prod(s) * kind.itemsize for s, kind in zip(shapes, self._kinds, strict=True))
        if not (_LEAST <= size <= _MOST and _RELIABLE):
            return None
        return tuple([self._array(k, shape) for k, shape in enumerate(shapes)])

    def _array(self, k: int, shape: tuple[int, ...]) -> np.ndarray:
        kept, kind = self._kept[k], self._kinds[k]
        for _ in range(len(kept)):
            try:
                array = kept.pop(0)
            except IndexError:  # another thread was quicker
                break
            if array.shape != shape or array.dtype is not kind:
                continue
            # Views, memoryviews and other libraries' tensors refer to it as well.
            free = sys.getrefcount(array) == _ALONE
            kept.append(array)
            if free and array.flags.carray:
                return array
        made = spread(shape, kind, k)
        kept.append(made)
        del kept[:-_REMEMBERED]
        return made
