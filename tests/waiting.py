"""Waiting for what happens in another thread or process, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["until"]

_LONG = 120.0
"""Seconds after which what has not happened never will."""


def until(condition: Callable[[], object]) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: if it does not within two minutes.
    """
    end = time.monotonic() + _LONG
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.002)
