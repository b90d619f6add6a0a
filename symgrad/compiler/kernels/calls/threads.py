"""Call a kernel in pieces in several threads; NumPy releases the GIL in each.

Every element of the results depends only on its own inputs, and its bits do not depend on its position, so cutting a
call into pieces does not change the results.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.lib.array_utils import byte_bounds

from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_WORTHWHILE, _WORTHWHILE_EACH = 300_000.0, 20_000.0
"""A call is cut in Python if it has more nanoseconds of work than the first number plus the second for each argument:
ten times the overhead of a piece and of cutting an argument."""

_PIECE = 15_000.0
"""Nanoseconds of work of the smallest piece of a team. Passing a piece on takes half a microsecond. The estimate below
is for results in memory; it is up to six times the real time of light kernels whose results are in the caches."""


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_threads(threads: object) -> int:
    """Check and return a number of threads.

    Raises:
        UsageError: if the value is not an integer between 1 and the number of processors.
    """
    most = cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= most:
        raise UsageError(
            f"threads={threads!r}",
            expected=f"an integer between 1 and {most}, the number of processors that this process may use",
            cure="pass threads=1" if most == 1 else f"pass threads={most} to use them all",
        )
    return threads


def worthwhile(work: float, arguments: int) -> float:
    """Return the number of elements above which a call is cut in Python, from the work for one element."""
    return (_WORTHWHILE + _WORTHWHILE_EACH * arguments) / work


def piece(work: float) -> int:
    """Return the smallest number of elements of a piece of a team, from the work for one element."""
    return math.ceil(_PIECE / work)


def in_threads(
    call: Any,
    arrays: Sequence[Any],
    out: Any,
    batch: tuple[int, ...],
    kinds: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
    threads: int,
    *,
    ranks: Sequence[int] = (),
    where: Any = True,
) -> Any:
    """Call a ufunc on pieces of its arguments; return its result, or None if the call cannot be cut.

    Args:
        call: a ufunc or gufunc.
        arrays: its inputs.
        out: as for the ufunc.
        batch: the shape to which the inputs broadcast, without core dimensions; not of size 0.
        kinds: the dtypes of the inputs, then of the outputs.
        shapes: the shapes of the outputs.
        threads: the number of pieces.
        ranks: the number of core dimensions of every argument; by default none.
        where: as for the ufunc; cut like an input without core dimensions.
    """
    kinds = kinds[len(arrays) :]
    outs = (None,) * len(kinds) if out is None else as_tuple(out)
    large = [] if ranks else [a for a in arrays if np.ndim(a) > 1]
    order = "F" if large and all(np.asarray(a).flags.fnc for a in large) else "C"
    made = targets((*arrays, where), outs, shapes, kinds, order=order, new=where is True)
    if made is None:
        return None
    in_pieces(call, arrays, made, batch, ranks or [0] * (len(arrays) + len(kinds)), threads, where)
    return made[0] if len(made) == 1 else made


def in_pieces(
    call: Callable[..., Any],
    arrays: Sequence[Any],
    outs: Sequence[Any],
    shape: Sequence[int],
    cores_of: Sequence[int],
    threads: int,
    where: Any = True,
) -> None:
    """Call a ufunc on pieces of its arguments, one for each thread; see `in_threads`."""
    axis = max(range(len(shape)), key=lambda k: shape[k])
    from_end = axis - len(shape)
    pieces = min(threads, shape[axis])
    ends = [shape[axis] * k // pieces for k in range(pieces + 1)]

    def run(first: int, last: int) -> None:
        def cut(value: Any, core: int) -> Any:
            place = from_end - core
            if np.ndim(value) < -place or np.shape(value)[place] == 1:
                return value
            return value[(..., slice(first, last), *[slice(None)] * (-1 - place))]

        parts = [cut(a, c) for a, c in zip([*arrays, *outs], cores_of, strict=True)]
        more = {} if where is True else {"where": cut(where, 0)}
        # The state of floating-point errors is local to the thread.
        with np.errstate(all="ignore"):
            call(*parts[: len(arrays)], out=tuple(parts[len(arrays) :]), **more)

    todo = deque(pairwise(ends))
    failures: list[BaseException] = []

    def work() -> None:
        while True:
            try:
                first, last = todo.popleft()
            except IndexError:
                return
            try:
                run(first, last)
            except BaseException as error:  # noqa: BLE001 (Ctrl-C, too, is raised when all have ended)
                failures.append(error)

    helpers: list[Future[None]] = []
    try:
        # At the end of the process, or if no further threads are possible, this thread does all the work.
        with suppress(RuntimeError):
            helpers.extend(_pool().submit(work) for _ in range(pieces - 1))
        work()
    except KeyboardInterrupt as error:
        failures.append(error)
    while not _ended(helpers, failures):
        pass
    if failures:
        raise failures[0]


def _ended(helpers: Sequence[Future[None]], failures: list[BaseException]) -> bool:
    """Wait until all writes have ended; return False after Ctrl-C, which is recorded as a failure."""
    try:
        for helper in helpers:
            if not helper.cancel():  # a helper that has not begun has no work left
                helper.exception()
    except KeyboardInterrupt as error:
        failures.append(error)
        return False
    return True


def targets(
    arrays: Sequence[Any],
    outs: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
    kinds: Sequence[Any],
    *,
    order: Literal["C", "F"],
    new: bool,
) -> tuple[Any, ...] | None:
    """Return arrays for the results of pieces: the arrays of ``out=``, or new ones if ``new`` allows it.

    Return None if the call cannot be cut: other array types, ``out=`` for some outputs only, casts, or memory that is
    not read and written element by element.
    """
    if len(outs) != len(kinds) or not all(type(a) is np.ndarray or np.isscalar(a) for a in arrays):
        return None
    if new and all(o is None for o in outs):
        return tuple(np.empty(shape, kind, order) for shape, kind in zip(shapes, kinds, strict=True))
    fits = all(
        type(o) is np.ndarray and o.shape == shape and o.dtype == kind and o.flags.writeable
        for o, shape, kind in zip(outs, shapes, kinds, strict=True)
    )
    return tuple(outs) if fits and not _share(arrays, outs) else None


def _share(arrays: Sequence[Any], outs: Sequence[Any]) -> bool:
    """Tell whether an output shares memory with another argument in any other way than element by element."""
    inputs = [cast("np.ndarray", a) for a in arrays if isinstance(a, np.ndarray)]
    # Sorting by the beginnings avoids a comparison of all pairs.
    everything = (*inputs, *outs)
    spans = [(*byte_bounds(a), k) for k, a in enumerate(everything)]
    open_: list[tuple[int, int]] = []
    for start, end, k in sorted(spans):
        open_ = [(other_end, j) for other_end, j in open_ if other_end > start]
        for _, j in open_:
            a, b = everything[j], everything[k]
            if max(j, k) >= len(inputs) and np.may_share_memory(a, b) and not _same_place(a, b):
                return True
        open_.append((end, k))
    return False


def _same_place(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.strides == b.strides and a.ctypes.data == b.ctypes.data


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the threads of this process, started on first use."""
    from concurrent.futures import ThreadPoolExecutor  # for start-up time

    return ThreadPoolExecutor(cores(), thread_name_prefix="symgrad")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
