"""The time limit of a computation, in seconds of work: the same input gets the same answer on a slow or busy machine.

What is done is counted, each piece of work as the seconds that it takes on an ordinary machine, and all limits are on
this count. Real time is the limit of what nobody counts, and of a machine that is much slower: the count never falls
behind the real time since the last limit was set divided by `PATIENCE`. Every limit in seconds is read here.

Example:
    >>> with until(now() + 60):
    ...     tick(1.0)  # a second is left
    >>> with until(now() + 60):
    ...     tick(100.0)  # a hundred are not: what takes so long is not begun
    Traceback (most recent call last):
        ...
    TimeoutError
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["PATIENCE", "STEP", "Budget", "has_time", "is_late", "now", "stopwatch", "tick", "until"]

PATIENCE = 4.0
"""How many times as long as it is counted work may take; infinite for a count without real time, as tests have it."""

STEP = 6e-6
"""Seconds of a step that is done in Python, such as one operation on two balls of few bits."""

_real = time.monotonic
_END: ContextVar[float] = ContextVar("_END", default=math.inf)


class _Count(threading.local):
    """The count of one thread: what other threads do is no work of its."""

    def __init__(self) -> None:
        self.work = 0.0  # seconds
        self.ahead = 0.0  # how many of them real time may still take
        self.read = _real()

    def up_to_date(self) -> float:
        """Return the count, after real time has caught up with it."""
        if math.inf == PATIENCE:
            return self.work
        real = _real()
        self.ahead -= (real - self.read) / PATIENCE
        self.read = real
        if self.ahead < 0:
            self.work -= self.ahead
            self.ahead = 0.0
        return self.work

    def add(self, seconds: float) -> None:
        """Count work."""
        self.work += seconds
        self.ahead += seconds


_COUNT = _Count()


def now() -> float:
    """Return the count of this thread, from which a limit is set: ``now() + seconds``.

    Example:
        >>> begun = now()
        >>> tick(2.0)
        >>> now() - begun >= 2
        True
    """
    work = _COUNT.up_to_date()
    # A limit is about what comes: that earlier work took less time than it counts for gives no more of it.
    _COUNT.ahead = 0.0
    return work


@contextmanager
def until(end: float | None) -> Generator[None]:
    """Let a block of code end when the count is at a number, or at an earlier one of its caller."""
    token = _END.set(min(_END.get(), math.inf if end is None else end))
    try:
        yield
    finally:
        _END.reset(token)


def tick(seconds: float = STEP) -> None:
    """Count work that is to be done.

    Args:
        seconds: about how many it takes.

    Raises:
        TimeoutError: if there is not as much time; then nothing is counted.
    """
    if not has_time(_END.get(), seconds):
        raise TimeoutError


def has_time(end: float, seconds: float = STEP) -> bool:
    """Count work that is to be done, and tell whether there is as much time; if not, nothing is counted.

    Args:
        end: the count at which to stop.
        seconds: about how many it takes.

    Example:
        >>> end = now() + 10
        >>> has_time(end, 6.0), has_time(end, 6.0), has_time(end, 3.0)
        (True, False, True)
    """
    if _COUNT.up_to_date() + seconds > end:
        return False
    _COUNT.add(seconds)
    return True


def is_late(end: float, seconds: float = STEP) -> bool:
    """Count work that was done, and tell whether the count is beyond a number.

    Args:
        end: the count at which to stop.
        seconds: about how many it took.

    Example:
        >>> end = now() + 10
        >>> is_late(end, 6.0), is_late(end, 6.0), is_late(end)
        (False, True, True)
    """
    _COUNT.add(seconds)
    return _COUNT.up_to_date() > end


class Budget:
    """What a computation may cost: time, and an amount of work that it counts.

    Args:
        deadline: the count of seconds at which to stop.
        most: how much work there may be.
        of: what is counted, for the reason.
        ends: constructs the error that ends the computation, from the reason.

    Example:
        >>> budget = Budget(now() + 10, most=100, of="terms", ends=ValueError)
        >>> budget.allows(60, seconds=6.0), budget.allows(30, seconds=6.0)
        (True, False)
        >>> budget.spend(30)
        Traceback (most recent call last):
            ...
        ValueError: too many terms
    """

    __slots__ = ("_ends", "_of", "deadline", "left")

    def __init__(
        self,
        deadline: float = math.inf,
        *,
        most: float = math.inf,
        of: str = "steps",
        ends: Callable[[str], Exception] = TimeoutError,
    ) -> None:
        self.deadline, self.left = deadline, most
        self._of, self._ends = of, ends

    def allows(self, work: int = 0, *, seconds: float = 0.0) -> bool:
        """Count work that is to be done, and tell whether there is as much of it left, and as much time."""
        self.left -= work
        return self.left >= 0 and has_time(self.deadline, seconds)

    def spend(self, work: int = 0, *, seconds: float = 0.0) -> None:
        """Count work that is to be done; end the computation if there is not as much of it left, or not the time."""
        if not self.allows(work, seconds=seconds):
            raise self._ends("the time limit" if self.left >= 0 else f"too many {self._of}")


def stopwatch() -> Callable[[], float]:
    """Return a function that returns the real seconds since now: what is told of how long something took."""
    begun = _real()
    return lambda: _real() - begun
