"""Show progress: bars on a terminal, or in a notebook."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from symgrad.support.progress import AFTER_S, VARIABLE, Watcher, Work, watch_usually


def progress_text(works: Sequence[Work]) -> tuple[str, float | None, str]:
    """Describe the work of a thread: a text, the finished share of the innermost countable part, and the time.

    Args:
        works: the work and its nested parts, from the outermost to the innermost.

    Example:
        >>> work = Work("differentiating", 2000)
        >>> work.done = 500
        >>> progress_text([Work("compiling"), work])
        ('compiling: differentiating 500 of 2,000', 0.25, '0 s')
    """
    work = _countable(works)
    done, total = work.counted
    of = f" {done:,} of {total:,}" if total else ""
    what = work.what if work is works[0] else f"{works[0].what}: {work.what}"
    note = f", {work.note()}" if work.note is not None else ""
    time = _time(works[0].seconds)
    if work.left is not None and work.seconds >= AFTER_S:
        time += f", about {_time(work.left)} left" + ("" if work is works[0] else " of this")
    return f"{what}{of}{note}", work.share, time


def _countable(works: Sequence[Work]) -> Work:
    """Return the innermost work that counts its steps; if none does, the innermost work."""
    return next((w for w in reversed(works) if w.share is not None), works[-1])


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Display(Watcher):
    """Draw work on standard error if that is a terminal, or below the cell of a notebook; otherwise do not draw it.

    Args:
        after: the seconds after which work is drawn.
    """

    def __init__(self, after: float = AFTER_S) -> None:
        super().__init__(after)
        self._drawing: _Terminal | _Notebook | None = None

    def wants(self) -> bool:
        return _in_notebook() or _on_terminal()

    def show(self, works: Sequence[Sequence[Work]]) -> None:
        if self._drawing is None:
            self._drawing = _Notebook() if _in_notebook() else _Terminal()
        self._drawing.draw([progress_text(stack) for stack in works])

    def gone(self) -> None:
        drawing, self._drawing = self._drawing, None
        if drawing is not None:
            drawing.clear()


class Callback(Watcher):
    """Let the watching thread call a function about work.

    Args:
        callback: a function of a `Work`: the innermost part that counts its steps, or otherwise the innermost part. If
            several threads work, their work is reported one after the other.
        after: the seconds after which work is reported.

    Attributes:
        error: the first exception that the callback raises; after it the callback is not called again.
    """

    def __init__(self, callback: Callable[[Work], object], after: float = AFTER_S) -> None:
        super().__init__(after)
        self._callback = callback
        self.error: Exception | None = None

    def show(self, works: Sequence[Sequence[Work]]) -> None:
        for stack in works:
            if self.error is not None:
                return
            try:
                self._callback(_countable(stack))
            except Exception as error:  # noqa: BLE001  (raised in the calling thread, when its block ends)
                self.error = error

    def gone(self) -> None:
        return


def show_usually(*, command: bool = False) -> None:
    """Draw long work from now on: at the command line, and in interactive sessions of Python.

    Args:
        command: whether this is the command line. The environment variable SYMGRAD_PROGRESS overrides this rule: 0 for
            never, 1 for always.
    """
    setting = os.environ.get(VARIABLE, "auto").strip().lower()
    wanted = setting in ("1", "on", "true", "yes") or (
        setting not in ("0", "off", "false", "no") and (command or hasattr(sys, "ps1"))
    )
    watch_usually(Display if wanted else None)


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # there is no console


def _in_notebook() -> bool:
    """Tell whether the current process is the kernel of a notebook, which has no terminal."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None


class _Terminal:
    """Bars that rich draws, in lines that disappear at the end."""

    def __init__(self) -> None:
        from rich.console import Console  # a late import: most work ends before anything is drawn
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(24),
            TextColumn("{task.fields[time]}"),
        )
        # Output of the program is not redirected.
        self._progress = Progress(
            *columns,
            console=Console(file=sys.stderr),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._tasks: list[Any] = []

    def draw(self, lines: Sequence[tuple[str, float | None, str]]) -> None:
        progress = self._progress
        while len(self._tasks) < len(lines):
            self._tasks.append(progress.add_task("", total=1.0, time=""))
        while len(self._tasks) > len(lines):
            progress.remove_task(self._tasks.pop())
        for task, (text, share, time) in zip(self._tasks, lines, strict=True):
            progress.update(
                task,
                description=text,
                total=None if share is None else 1.0,
                completed=share or 0.0,
                time=time,
            )
        progress.start()  # this may be called more than once
        progress.refresh()

    def clear(self) -> None:
        self._progress.stop()


def _value(share: float | None) -> str:
    return "" if share is None else f" value='{share:.3f}'"


class _Notebook:
    """HTML elements below the cell, updated and finally emptied."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, lines: Sequence[tuple[str, float | None, str]]) -> None:
        rows = [
            f"<div><code>{html.escape(text)}</code> <progress max='1'{_value(share)}></progress> "
            f"{html.escape(time)}</div>"
            for text, share, time in lines
        ]
        plain = "\n".join(f"{text}, {time}" for text, _, time in lines)
        self._put({"text/html": "".join(rows), "text/plain": plain})

    def clear(self) -> None:
        self._put({"text/html": "", "text/plain": ""})

    def _put(self, data: dict[str, str]) -> None:
        display = cast("Any", sys.modules["IPython"]).display.display
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
