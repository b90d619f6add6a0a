"""Pause the cyclic garbage collector while a pass builds a graph."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

_building: dict[object, int] = {}  # the passes in progress, with their threads
_resume = False  # whether the last pass to end enables the collector again


@contextmanager
def gc_paused() -> Generator[None, None, None]:
    """Pause the cyclic garbage collector while a pass builds a large graph.

    Nodes form no cycles, so the collector finds nothing among them, but takes more than half of the time of a gradient
    with 100,000 equations. All threads share one collector, so it is enabled again after the last pass, unless the
    program had disabled it.
    """
    global _resume
    this = object()
    thread = threading.get_ident()
    try:
        # Ctrl-C may interrupt after each call here; the statements between calls are atomic.
        _building[this] = thread
        if gc.isenabled():
            _resume = True
            gc.disable()
        yield
    finally:
        del _building[this]
        if _resume and not _building:
            _resume = False
            gc.enable()


def _after_fork() -> None:
    """Remove the passes of other threads, which a forked child does not have."""
    global _resume
    for this in [p for p, thread in _building.items() if thread != threading.get_ident()]:
        del _building[this]
    if _resume and not _building:
        _resume = False
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
