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

__all__ = ["Spares"]

_LEAST, _MOST = 2**17, 2**26
"""Bytes of all results of a call: less is in the allocator's own lists, more is not for a kernel to keep."""

_REMEMBERED = 2
"""Results for each output: one may be an input of the call that computes the next."""


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
            return tuple([np.empty(shape, kind) for kind in self._kinds])
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
        made = np.empty(shape, kind)
        kept.append(made)
        del kept[:-_REMEMBERED]
        return made
