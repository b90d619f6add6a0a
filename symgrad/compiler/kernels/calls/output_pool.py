"""A pool of result arrays: reuse the results of earlier calls that are no longer referenced.

The system allocates large arrays page by page, with a page fault and zeros for each. For a formula and its derivatives
at 100,000 points this takes several times as long as the computation. So a kernel remembers the results of its last
calls, and writes to those that the caller has dropped, as their reference counts show. The results of one call are a
*round*.
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

_LEAST, _LARGEST = 2**17, 2**26
"""The least and the most bytes of the results of a call that are pooled. The allocator itself reuses smaller arrays,
and a pool of larger ones would waste memory."""

_REMEMBERED = 2
"""The number of calls whose results are remembered; it is more than one, since results of one call may be inputs of the
next."""


_ALIGNMENT, _SMALL = 64, 2**14
"""JAX and TensorFlow take results at multiples of so many bytes without a copy; smaller results are copied at once."""


class _Memory(np.ndarray):
    """The memory of a result.

    Since it has its own type, views refer to the result and not to this array, so reference counts are right.
    """


def new_result(shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray:
    """Return a new contiguous array, uninitialised; a large one is aligned."""
    size = math.prod(shape) * kind.itemsize
    if size < _SMALL:
        return np.ndarray(shape, kind, _Memory(max(size, 1), np.uint8))
    memory = _Memory(size + _ALIGNMENT, np.uint8)
    return np.ndarray(shape, kind, memory, -memory.__array_interface__["data"][0] % _ALIGNMENT)


def _references(arrays: list[Any]) -> list[int]:
    """Return the reference counts: views, memoryviews and tensors of other libraries count too."""
    return [*map(sys.getrefcount, arrays)]


def _with_memory(results: list[np.ndarray]) -> list[Any]:
    """Return the results of a call, then the memory of each, to which callers may also refer."""
    return [*results, *[result.base for result in results]]


@cache
def _free_counts() -> tuple[int, int]:
    """Return the reference counts of a result and of its memory without references from outside the pool."""
    result, memory = _references(_with_memory([new_result((1,), np.dtype(np.uint8))]))
    return result, memory


class OutputPool:
    """The results of earlier calls of one kernel.

    Args:
        kinds: the dtypes of its outputs.
    """

    __slots__ = ("_free", "_kinds", "_rounds", "_shapes", "_width")

    def __init__(self, kinds: Sequence[np.dtype[Any]]) -> None:
        self._kinds = tuple(kinds)
        self._width = sum(kind.itemsize for kind in kinds)
        self._free: list[int] = []  # the reference counts of a round that no caller refers to
        self._shapes: object = None
        self._rounds: list[list[Any]] = []  # the results of each call with their memory, the oldest first

    def alike(self, shape: tuple[int, ...], size: int) -> tuple[np.ndarray, ...]:
        """Return an uninitialised array for each output, all of the same shape.

        The arrays are contiguous, unless a caller changed an earlier result in place (its shape, say) before dropping
        it. The caller of this method must check that, and call `clear` if they are not.

        Args:
            shape: the shape of all outputs.
            size: the number of elements.
        """
        amount = size * self._width
        if not _LEAST <= amount <= _LARGEST or refusal() is not None:
            return tuple(map(np.empty, repeat(shape), self._kinds))
        return self._take(shape, (shape,) * len(self._kinds))

    def arrays(self, shapes: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, ...] | None:
        """Return an array for each output, of these shapes; None if a pool would be no faster than the allocator."""
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
        """Forget all results."""
        self._rounds.clear()

    def _take(self, key: object, shapes: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, ...]:
        """Return the results of an earlier call if all of them are free.

        Otherwise return the free results of the oldest call, and new arrays for the rest.
        """
        if key != self._shapes:
            self.clear()
            self._free = [n for n in _free_counts() for _ in self._kinds]
            self._shapes = key
        found: list[Any] | None = None
        oldest: tuple[list[Any], list[int]] | None = None  # the oldest round in use, and its reference counts
        for _ in range(len(self._rounds)):
            try:  # removed before its counts are read, so that no other thread reads them
                arrays = self._rounds.pop(0)
            except IndexError:
                break
            counts = _references(arrays)
            # The owner of a weak reference may revive the array.
            if counts == self._free and not any(map(getweakrefcount, arrays)):
                found = arrays
                break
            if oldest is None:
                oldest = arrays, counts
            else:
                self._rounds.append(arrays)
        count = len(shapes)
        if found is None:
            results: list[np.ndarray | None] = [None] * count
            if oldest is not None and len(self._rounds) >= _REMEMBERED - 1:
                weak = map(getweakrefcount, oldest[0])
                free = [n == f and not w for n, f, w in zip(oldest[1], self._free, weak, strict=True)]
                results = [oldest[0][k] if free[k] and free[count + k] else None for k in range(count)]
            elif oldest is not None:
                self._rounds.append(oldest[0])
            found = _with_memory(
                [new_result(shapes[k], self._kinds[k]) if r is None else r for k, r in enumerate(results)]
            )
        elif oldest is not None:
            self._rounds.append(oldest[0])
        taken = tuple(found[:count])
        self._rounds.append(found)
        del self._rounds[:-_REMEMBERED]
        return taken
