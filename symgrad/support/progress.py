"""Long work shows itself: passes say what they do and how far they are, and whoever watches looks from time to time.

A pass says `for node in steps("backward", "differentiating", nodes)`, or `with working(...)` where nothing is counted.
Where nobody watches both cost next to nothing: `steps` returns what it was given. Watchers (`Watcher`) have a thread
that looks at the work there is ten times a second, so a pass does no more than count. How work is drawn is not known
here: `symgrad/printing/progress.py`.
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

__all__ = ["VARIABLE", "Watcher", "Work", "steps", "watch_usually", "watching", "reports_progress"]

VARIABLE = "SYMGRAD_PROGRESS"
"""The environment variable that says whether long work is shown: 0, 1 or auto."""

AFTER_S = 1.0
"""Seconds after which work is long."""

_EVERY_S = 0.1

T = TypeVar("T")


@final
class Work:
    """Something that is being done.

    Attributes:
        what: in a few words, as ``differentiating``.
        total: how many steps there are, None where nobody knows; never fewer than are done.
        done: how many of them are done.
        expected: about how many seconds it takes, where that is known better than the steps.
        outer: what this is a part of, None for the whole.
        note: makes a few words on where it is, such as the loss of a training; None for none.

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
        """How long it has taken so far."""
        return time.monotonic() - self._begun

    @property
    def done(self) -> int:
        """How many steps are done."""
        return self._done if self._count is None else self._count()

    @done.setter
    def done(self, steps: int) -> None:
        self._done = steps

    @property
    def total(self) -> int | None:
        """How many steps there are; None where nobody knows."""
        return self.counted[1]

    @property
    def counted(self) -> tuple[int, int | None]:
        """How many steps are done, and of how many: both at one time, while another thread works."""
        done = self.done  # first: what counts both adds to the total before it does a step
        total = self._total() if callable(self._total) else self._total
        # A number that was passed was wrong, and says nothing of what is left.
        return done, None if not total or done > total else total

    @property
    def share(self) -> float | None:
        """How much of it is done, from 0 to 1; None where nobody knows."""
        done, total = self.counted
        if total is not None:
            return done / total
        seconds = self.seconds
        return seconds / self.expected if self.expected and seconds <= self.expected else None

    @property
    def left(self) -> float | None:
        """About how many seconds are left, if it goes on as it went; None where nobody knows."""
        seconds, share = self.seconds, self.share
        if share and self.total is None and self.expected is not None:
            return max(0.0, self.expected - seconds)
        return seconds * (1 - share) / share if share else None

    def advance(self, note: Callable[[], str] | None = None) -> None:
        """Count a step.

        Args:
            note: makes a few words on where it is, when somebody looks.
        """
        self._done += 1
        self.note = note

    def __repr__(self) -> str:
        done, total = self.counted
        of = "" if total is None else f", {done:,} of {total:,}"
        return f"Work({self.what}{of}, {self.seconds:.1f} s)"


_all: WeakSet[Watcher] = WeakSet()


class Watcher:
    """Looks at work that takes longer than a second, from a thread of its own that lives while there is work.

    Args:
        after: seconds after which work is looked at.
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
        """Tell whether there is a place to show anything."""
        return True

    def show(self, works: Sequence[Sequence[Work]]) -> None:
        """Show what is being done: of each thread that works the whole, what it does of it now, and so on inwards."""
        raise NotImplementedError

    def gone(self) -> None:
        """Take away what was shown: all is done."""
        raise NotImplementedError

    def forget(self) -> None:
        """Look no more: a process that was forked has the work of its parent, and not the thread."""
        self._forked = True

    def begin(self, work: Work) -> None:
        """Add work, as a part of what its thread does already."""
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
        """Take work away, with whatever part of it an exception left behind."""
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
            thread.join()  # nothing is drawn over what is printed next

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


_watching: ContextVar[Watcher | bool] = ContextVar("_watching", default=True)  # True: as usual, False: nobody
_usual: Callable[[], Watcher] | None = None
_usual_watcher: Watcher | None = None


def watch_usually(make: Callable[[], Watcher] | None) -> None:
    """Say who watches where `watching` says nothing.

    Args:
        make: makes the watcher when there is something to watch; None for nobody.
    """
    global _usual, _usual_watcher
    _usual, _usual_watcher = make, None


@contextmanager
def watching(watcher: Watcher | None) -> Generator[None]:
    """Let somebody watch what this thread does in a block.

    Args:
        watcher: who; None for nobody.
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
    """Go through items, and let it show how far that is.

    Args:
        room: the package that does it.
        what: what is done, in a few words.
        items: as many as they are, if they can tell.

    Example:
        >>> list(steps("ir", "counting", range(3)))
        [0, 1, 2]
    """
    watcher = _watcher()
    return items if watcher is None and not debugging(room) else _counted(watcher, room, what, items)


def _counted(watcher: Watcher | None, room: str, what: str, items: Iterable[T]) -> Iterator[T]:
    with _shown(watcher, room, Work(what, length_hint(items) or None)) as work:
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
    """Let a block show that it goes on.

    Args:
        room: the package that does it.
        what: what is done, in a few words.
        total: how many steps there are, if that is known; `Work.advance` counts one. A function for work that finds
            more to do while it goes on; any thread may call it, and it never returns less than before.
        expected: about how many seconds it takes, if that is known better.
        count: tells how many steps are done, for a loop that counts them anyway; any thread may ask.

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
    with _shown(watcher, room, work):
        yield work


@contextmanager
def _shown(watcher: Watcher | None, room: str, work: Work) -> Generator[Work]:
    try:
        # Ctrl-C may come while it begins, too.
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


def _alone() -> None:
    for watcher in list(_all):
        watcher.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
