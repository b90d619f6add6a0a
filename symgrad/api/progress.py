"""`progress`: show the progress of long work in a block."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from symgrad.printing.progress import Callback, Display
from symgrad.support.errors import UsageError
from symgrad.support.progress import AFTER_S, Work, watching

__all__ = ["progress"]


@contextmanager
def progress(callback: Callable[[Work], object] | bool = True, *, after: float = AFTER_S) -> Generator[None]:
    """Show, or tell, how far long work is that is done within a block.

    Args:
        callback: a function that is called about ten times a second, from a thread of its own, with the `Work` that is
            being done: ``what``, ``done`` of ``total`` steps (None where nobody knows), ``share`` (from 0 to 1),
            ``seconds`` so far, ``left`` (seconds, about), and ``outer``, what it is a part of. True to draw it on the
            terminal or in the notebook; False for nothing.
        after: seconds after which work is long.

    Raises:
        UsageError: if the callback cannot be called.
        Exception: what the callback raised, when the block ends; it is not called again after that.

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
