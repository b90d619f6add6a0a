"""The time limit of a computation, in seconds of work: the same input gets the same answer on a slow or busy machine.

Each piece of work is counted as the seconds that it takes on an ordinary machine. Every limit in seconds is a limit on
this count. Real time is a second limit, for work that is not counted and for much slower machines: after a limit is
set, the count grows by at least the real time divided by `PATIENCE`.

Example:
    >>> with until(now() + 60):
    ...     tick(1.0)  # there is time for this
    >>> with until(now() + 60):
    ...     tick(100.0)  # there is no time for so much work, so it must not begin
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

PATIENCE = 4.0
"""Work may take this many times the seconds it is counted for. Tests set infinity: then real time has no effect."""

STEP = 6e-6
"""Seconds of a step that is done in Python, such as one operation on two balls of few bits."""

_real = time.monotonic
_END: ContextVar[float] = ContextVar("_END", default=math.inf)


class _Count(threading.local):
    """The count of one thread: the work of other threads is not in it."""

    def __init__(self) -> None:
        self.work = 0.0  # seconds
        self.ahead = 0.0  # counted seconds that real time has not reached yet
        self.read = _real()

    def up_to_date(self) -> float:
        """Return the count, after it is increased if real time has overtaken it."""
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
    # A limit is for the work to come: time that earlier work saved is not carried over.
    _COUNT.ahead = 0.0
    return work


@contextmanager
def until(end: float | None) -> Generator[None]:
    """Stop a block of code when the count reaches ``end``, or an earlier end that a caller has set."""
    token = _END.set(min(_END.get(), math.inf if end is None else end))
    try:
        yield
    finally:
        _END.reset(token)


def tick(seconds: float = STEP) -> None:
    """Count work that is to be done.

    Args:
        seconds: about how many seconds the work takes.

    Raises:
        TimeoutError: if there is not enough time; then nothing is counted.
    """
    if not has_time(_END.get(), seconds):
        raise TimeoutError


def has_time(end: float, seconds: float = STEP) -> bool:
    """Count work that is to be done, and tell whether there is enough time for it; if not, nothing is counted.

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
        most: the allowed amount of work.
        of: the unit of work, as the error message names it.
        ends: constructs, from the reason, the error that ends the computation.

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
        """Count work that is to be done, and tell whether the allowed work and the time are enough for it."""
        self.left -= work
        return self.left >= 0 and has_time(self.deadline, seconds)

    def spend(self, work: int = 0, *, seconds: float = 0.0) -> None:
        """Count work that is to be done; raise an error if the allowed work or the time is not enough for it."""
        if not self.allows(work, seconds=seconds):
            raise self._ends("the time limit" if self.left >= 0 else f"too many {self._of}")


def stopwatch() -> Callable[[], float]:
    """Return a function that returns the real seconds since this call; they are for messages, never for a limit."""
    begun = _real()
    return lambda: _real() - begun
