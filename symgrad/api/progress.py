"""`progress`: show the progress of long work in a block."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from symgrad.printing.progress import Callback, Display
from symgrad.support.errors import UsageError
from symgrad.support.progress import AFTER_S, Work, watching


@contextmanager
def progress(callback: Callable[[Work], object] | bool = True, *, after: float = AFTER_S) -> Generator[None]:
    """Show the progress of long work within a block, or report it to a function.

    Args:
        callback: a function that is called about ten times a second, in a separate thread, with the current `Work`:
            ``what``, ``done`` of ``total`` steps (None if unknown), ``share`` (from 0 to 1), ``seconds`` so far,
            ``left`` (estimated seconds), and ``outer``, the work of which this work is a part. True draws the progress
            on the terminal or in the notebook; False does nothing.
        after: the seconds after which progress is shown.

    Raises:
        UsageError: if the callback cannot be called.
        Exception: an exception of the callback is raised again when the block ends; the callback is not called after
            it.

    Example:
        >>> import symgrad as sg
        >>> told = []
        >>> with sg.progress(lambda work: told.append(work.what), after=0.0):
        ...     p = sg.parse("x : real; y = sin(x)**2")
        ...     print(sg.grad(p["y"], "x"))
        2*cos(x)*sin(x)
    """
    if callback is False:
        with watching(None):
            yield
    elif callback is True:
        with watching(Display(after)):
            yield
    elif callable(callback):
        watcher = Callback(callback, after)
        with watching(watcher):
            yield
        if watcher.error is not None:
            raise watcher.error
    else:
        raise UsageError(
            f"progress cannot call {callback!r}",
            expected="a function of one argument, True or False",
            cure="with sg.progress(lambda work: print(work.what, work.share)): ...",
        )
