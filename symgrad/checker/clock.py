"""The time limit of a computation, for loops and for calls of a library that nothing can interrupt.

Example:
    >>> with until(time.monotonic() + 60):
    ...     tick(1.0)  # a second is left
    >>> with until(time.monotonic() + 60):
    ...     tick(100.0)  # a hundred are not: what takes so long is not begun
    Traceback (most recent call last):
        ...
    TimeoutError
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["tick", "until"]

_END: ContextVar[float] = ContextVar("_END", default=math.inf)


@contextmanager
def until(deadline: float | None) -> Generator[None]:
    """Let a block of code end at a deadline, on the clock of `time.monotonic`, or at an earlier one of its caller."""
    token = _END.set(min(_END.get(), math.inf if deadline is None else deadline))
    try:
        yield
    finally:
        _END.reset(token)


def tick(seconds: float = 0.0) -> None:
    """Look at the clock.

    Args:
        seconds: a rough bound on what is to be done before the next look.

    Raises:
        TimeoutError: if there is not as much time.
    """
    if time.monotonic() + seconds > _END.get():
        raise TimeoutError
