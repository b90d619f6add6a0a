"""The names of the user's variables: what Python's local variables were bound to while a function was traced."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

__all__ = ["Named", "of_user", "watch_locals"]

T = TypeVar("T")
Named = dict[Any, str]
"""By a value that a variable was bound to, the name that it had first."""

_LIBRARIES = tuple(
    os.path.realpath(sysconfig.get_path(kind)) + os.sep
    for kind in ("stdlib", "platstdlib", "purelib", "platlib")
)
_INSTALLED = {"site-packages", "dist-packages"}
_OURS = str(Path(__file__).resolve().parents[2]) + os.sep


@cache
def of_user(file: str) -> bool:
    """Tell whether a file is neither of a library nor ours."""
    if file.startswith("<") or not _INSTALLED.isdisjoint(Path(file).parts):
        return False
    return not os.path.realpath(file).startswith((*_LIBRARIES, _OURS))


def watch_locals(
    call: Callable[[], T],
    file: str,
    value_of: Callable[[Any], Any],
    entered: Callable[[FrameType], object] | None = None,
) -> tuple[T, Named]:
    """Call a function, and look at the local variables of functions outside libraries after every line.

    Args:
        call: what to call.
        file: where the function is; code in no file counts only if it is there, such as in a doctest.
        value_of: of an object that a local variable is bound to, what the name is to be of, or None.
        entered: what is to see every function that is entered; None if nothing is.

    Returns:
        What the call returns, and the names; the first that a value had counts.
    """
    names: Named = {}
    known: dict[str, bool] = {file: True}

    def look(frame: FrameType) -> None:
        for name, bound in frame.f_locals.items():
            if name.isidentifier() and not name.startswith("_"):
                value = value_of(bound)
                if value is not None:
                    names.setdefault(value, name)

    def line(frame: FrameType, *_: Any) -> Any:
        look(frame)
        return line

    def enter(frame: FrameType, *_: Any) -> Any:
        if entered is not None:
            entered(frame)
        file = frame.f_code.co_filename
        if file not in known:
            known[file] = of_user(file)
        return line if known[file] else None

    before = sys.gettrace()
    # A debugger, or what measures coverage, keeps its place where names alone are looked for, and there are none.
    if before is not None and entered is None:
        return call(), names
    sys.settrace(enter)
    try:
        return call(), names
    finally:
        sys.settrace(before)
