"""Bars on a terminal, for what takes more than a second.

One is for LLVM, which compiles a large graph in one step: an estimate against the clock. The other counts steps.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["EQUATION_S", "QUICK_S", "bar", "counter", "waiting"]

# What is imported in functions here is for start-up time: most waits are over before anything is shown.

EQUATION_S = 0.2e-3
"""Seconds that one equation of a large graph takes to compile (`python -m benchmarks.run --only chain` measures it)."""

QUICK_S = 0.06e-3
"""The same for quick code."""

_PATIENCE_S = 1.0


@contextmanager
def bar(what: str, seconds: float) -> Generator[None]:
    """Show a bar on a terminal while the body runs, if it is expected to take more than a second.

    Args:
        what: what is done, in a few words.
        seconds: how long it is expected to take; the bar waits at its end if it takes longer.
    """
    if seconds < _PATIENCE_S or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[of]}"),
    )
    progress = Progress(*columns, console=Console(file=sys.stderr), transient=True)
    task = progress.add_task(what, total=seconds, of=f"of about {seconds:.0f} s")
    begun, done = time.monotonic(), threading.Event()

    def advance() -> None:
        while not done.wait(0.1):
            progress.update(task, completed=min(time.monotonic() - begun, seconds))

    ticking = threading.Thread(target=advance, name="symgrad progress", daemon=True)
    try:
        # Ctrl-C may come while these begin, too: then what has begun must end.
        progress.start()
        ticking.start()
        yield
    finally:
        done.set()
        progress.stop()
        if ticking.is_alive():
            ticking.join()


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Show on a terminal that something is being done, once it has taken more than a second; nobody knows how long.

    Args:
        what: what is done, in a few words.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()

    def show() -> None:
        if done.wait(_PATIENCE_S):
            return
        from rich.console import Console

        with Console(file=sys.stderr).status(what):
            done.wait()

    showing = threading.Thread(target=show, name="symgrad progress", daemon=True)
    try:
        showing.start()
        yield
    finally:
        done.set()
        if showing.is_alive():
            showing.join()


@contextmanager
def counter(what: str, total: int) -> Generator[Callable[[int, Callable[[], str]], None]]:
    """Show a bar on a terminal while the body runs, once it has taken more than a second.

    Args:
        what: what is done, in a few words.
        total: how many steps there are.

    Yields:
        What to call after a step, with how many are done and what makes a note for behind the bar; it is quick.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, note: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    progress = Progress(*columns, console=Console(file=sys.stderr), transient=True)
    task = progress.add_task(what, total=total, note="")
    due = time.monotonic() + _PATIENCE_S

    def show(done: int, note: Callable[[], str]) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + 0.1
            progress.start()  # does nothing from the second time on
            progress.update(task, completed=done, note=note())

    try:
        yield show
    finally:
        progress.stop()
