"""How much a piece of code does, by a count that is the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["Calls", "counting"]


class Calls:
    """How many functions were called, those of C among them."""

    def __init__(self) -> None:
        self.count = 0

    def _seen(self, _frame: object, event: str, _function: object) -> None:
        self.count += event in ("call", "c_call")


@contextmanager
def counting() -> Generator[Calls]:
    """Count the calls of functions in a block, in the thread that runs it.

    Example:
        >>> with counting() as calls:
        ...     found = [abs(k) for k in range(1000)]
        >>> 1000 <= calls.count < 1100
        True
    """
    calls, before = Calls(), sys.getprofile()
    sys.setprofile(calls._seen)
    try:
        yield calls
    finally:
        sys.setprofile(before)
