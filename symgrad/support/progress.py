"""Progress of long work: passes count steps, and watchers poll them.

A pass is a loop `for node in steps("backward", "differentiating", nodes)`, or a block `with reports_progress(...)` if
it has no items. Without a watcher both cost almost nothing: `steps` returns its items. A watcher (`Watcher`) has a
thread that polls the work ten times a second, so a pass only counts. `symgrad/printing/progress.py` displays it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import length_hint
from typing import TypeVar, final
from weakref import WeakSet

from symgrad.support.logs import debug, debugging

VARIABLE = "SYMGRAD_PROGRESS"
"""The environment variable that switches the display of progress: 0, 1 or auto."""

AFTER_S = 1.0
"""Work that takes more seconds than this is long."""

_EVERY_S = 0.1

T = TypeVar("T")


@final
class Work:
    """Work in progress.

    Attributes:
        what: a few words, such as ``differentiating``.
        total: the number of steps; None if unknown. It is never less than ``done``.
        done: the number of steps that are done.
        expected: the estimated time in seconds, if the time is known better than the number of steps.
        outer: the work of which this work is a part; None if there is none.
        note: a function that returns a few words on the current state, such as the loss of a training; None for no
            words.

    Example:
        >>> work = Work("differentiating", 200)
        >>> work.done = 50
        >>> work.share
        0.25
    """

    __slots__ = ("_begun", "_count", "_done", "_total", "expected", "note", "outer", "what")

    def __init__(
        self,
        what: str,
        total: int | Callable[[], int] | None = None,
        *,
        expected: float | None = None,
        count: Callable[[], int] | None = None,
    ) -> None:
        self.what = what
        self._total = total
        self.expected = expected
        self._done = 0
        self.outer: Work | None = None
        self.note: Callable[[], str] | None = None
        self._count = count
        self._begun = time.monotonic()

    @property
    def seconds(self) -> float:
        """The elapsed time."""
        return time.monotonic() - self._begun

    @property
    def done(self) -> int:
        """The number of steps that are done."""
        return self._done if self._count is None else self._count()

    @done.setter
    def done(self, steps: int) -> None:
        self._done = steps

    @property
    def total(self) -> int | None:
        """The number of steps, None if unknown."""
        return self.counted[1]

    @property
    def counted(self) -> tuple[int, int | None]:
        """The number of steps that are done, and of all steps; the two are consistent while another thread works."""
        done = self.done  # this is read first, since workers add to the total before they do a step
        total = self._total() if callable(self._total) else self._total
        # A total below the count is wrong, and so is useless as an estimate.
        return done, None if not total or done > total else total

    @property
    def share(self) -> float | None:
        """The share that is done, from 0 to 1; None if unknown."""
        done, total = self.counted
        if total is not None:
            return done / total
        seconds = self.seconds
        return seconds / self.expected if self.expected and seconds <= self.expected else None

    @property
    def left(self) -> float | None:
        """The estimated remaining seconds at the rate so far; None if unknown."""
        seconds, share = self.seconds, self.share
        if share and self.total is None and self.expected is not None:
            return max(0.0, self.expected - seconds)
        return seconds * (1 - share) / share if share else None

    def advance(self, note: Callable[[], str] | None = None) -> None:
        """Count a step.

        Args:
            note: a function that returns a few words on the current state; it is called when a watcher polls.
        """
        self._done += 1
        self.note = note

    def __repr__(self) -> str:
        done, total = self.counted
        of = "" if total is None else f", {done:,} of {total:,}"
        return f"Work({self.what}{of}, {self.seconds:.1f} s)"


_all: WeakSet[Watcher] = WeakSet()


class Watcher:
    """Polls long work from a thread that lives while there is work.

    Args:
        after: seconds after which work is long.
    """

    def __init__(self, after: float = AFTER_S) -> None:
        self._after = after
        self._open: dict[int, list[Work]] = {}
        self._lock = threading.Lock()
        self._over: threading.Event | None = None
        self._thread: threading.Thread | None = None
        self._forked = False
        _all.add(self)

    def wants(self) -> bool:
        """Tell whether there is a place for a display."""
        return True

    def show(self, works: Sequence[Sequence[Work]]) -> None:
        """Display the work in progress: for each thread its nested works, outermost first."""
        raise NotImplementedError

    def gone(self) -> None:
        """Remove the display after all work is done."""
        raise NotImplementedError

    def forget(self) -> None:
        """Stop watching in a forked process, which has the work of its parent, but not the thread."""
        self._forked = True

    def begin(self, work: Work) -> None:
        """Add work as a part of the current work of its thread."""
        if self._forked:
            return
        with self._lock:
            stack = self._open.setdefault(threading.get_ident(), [])
            work.outer = stack[-1] if stack else None
            stack.append(work)
            if self._over is None and self.wants():
                over = self._over = threading.Event()
                self._thread = threading.Thread(
                    target=self._look, args=(over,), name="symgrad progress", daemon=True
                )
                self._thread.start()

    def end(self, work: Work) -> None:
        """Remove work, with any parts of it that an exception has left."""
        if self._forked:
            return
        thread = None
        with self._lock:
            stack = self._open.get(threading.get_ident(), [])
            if work in stack:
                del stack[stack.index(work) :]
            if not stack:
                self._open.pop(threading.get_ident(), None)
            if not self._open and self._over is not None:
                self._over.set()
                thread, self._over, self._thread = self._thread, None, None
        if thread is not None and thread.ident is not None:
            thread.join()  # no display may follow the next print

    def _look(self, over: threading.Event) -> None:
        if over.wait(self._after):
            return
        try:
            while True:
                works = [list(stack) for stack in list(self._open.values())]
                long = [stack for stack in works if stack and stack[0].seconds >= self._after]
                if long:
                    self.show(long)
                if over.wait(_EVERY_S):
                    return
        finally:
            self.gone()


_watching: ContextVar[Watcher | bool] = ContextVar(
    "_watching", default=True
)  # True: the usual watcher, False: none
_usual: Callable[[], Watcher] | None = None
_usual_watcher: Watcher | None = None


def watch_usually(make: Callable[[], Watcher] | None) -> None:
    """Set the watcher outside blocks of `watching`.

    Args:
        make: a function that creates the watcher when there is work; None for no watcher.
    """
    global _usual, _usual_watcher
    _usual, _usual_watcher = make, None


@contextmanager
def watching(watcher: Watcher | None) -> Generator[None]:
    """Set the watcher of this thread for a block.

    Args:
        watcher: the watcher; None for no watcher.
    """
    token = _watching.set(False if watcher is None else watcher)
    try:
        yield
    finally:
        _watching.reset(token)


def _watcher() -> Watcher | None:
    global _usual_watcher
    found = _watching.get()
    if found is not True:
        return found or None
    if _usual is None:
        return None
    if _usual_watcher is None:
        _usual_watcher = _usual()
    return _usual_watcher


def steps(room: str, what: str, items: Iterable[T]) -> Iterable[T]:
    """Iterate over items with progress.

    Args:
        room: the package.
        what: the work in a few words.
        items: the items, with a length if possible.

    Example:
        >>> list(steps("ir", "counting", range(3)))
        [0, 1, 2]
    """
    watcher = _watcher()
    return items if watcher is None and not debugging(room) else _counted(watcher, room, what, items)


def _counted(watcher: Watcher | None, room: str, what: str, items: Iterable[T]) -> Iterator[T]:
    with _watch(watcher, room, Work(what, length_hint(items) or None)) as work:
        for item in items:
            yield item
            work.advance()


@contextmanager
def reports_progress(
    room: str,
    what: str,
    total: int | Callable[[], int] | None = None,
    *,
    expected: float | None = None,
    count: Callable[[], int] | None = None,
) -> Generator[Work]:
    """Report the progress of a block.

    Args:
        room: the package.
        what: the work in a few words.
        total: the number of steps, if known; `Work.advance` counts one step. For work that grows it is a function,
            which any thread may call, and whose value must never decrease.
        expected: the estimated time in seconds, if the time is known better than the number of steps.
        count: a function that returns the number of steps that are done, for a loop that counts them anyway; any thread
            may call it.

    Example:
        >>> with reports_progress("ir", "counting", 3) as work:
        ...     for _ in range(3):
        ...         work.advance()
        >>> work.done
        3
    """
    work = Work(what, total, expected=expected, count=count)
    watcher = _watcher()
    if watcher is None and not debugging(room):
        yield work
        return
    with _watch(watcher, room, work):
        yield work


@contextmanager
def _watch(watcher: Watcher | None, room: str, work: Work) -> Generator[Work]:
    try:
        # Ctrl-C may also interrupt `begin`.
        if watcher is not None:
            watcher.begin(work)
        yield work
    finally:
        if watcher is not None:
            watcher.end(work)
        if debugging(room):
            total = work.total
            count = "" if total is None else f", {total:,} steps"
            debug(room, "%s: %.3f s%s", work.what, work.seconds, count)


def _after_fork() -> None:
    for watcher in list(_all):
        watcher.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
