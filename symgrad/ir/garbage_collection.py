"""When the cyclic garbage collector runs: not while a pass builds a graph."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["gc_paused"]

_building: dict[object, int] = {}  # passes that build a graph now, and their threads
_resume = False  # whether the last of them switches the collector on again


@contextmanager
def gc_paused() -> Generator[None, None, None]:
    """Pause the cyclic garbage collector while a pass builds a large graph.

    Nodes form no cycles, so the collector finds nothing among them, and looking takes longer than building:
    more than half the time of a gradient of 100,000 equations. The collector is one for all threads: it runs again
    when the last pass is done, and a program that switched it off itself finds it off.
    """
    global _resume
    this = object()
    thread = threading.get_ident()
    try:
        # Ctrl-C may end each call here as it returns; what stands between calls happens altogether or not at all.
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


def _alone() -> None:
    """Forget the passes of other threads, which a forked child does not have."""
    global _resume
    for this in [p for p, thread in _building.items() if thread != threading.get_ident()]:
        del _building[this]
    if _resume and not _building:
        _resume = False
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
