"""Record the names of the user's variables: the values of local variables while a function is traced."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from symgrad.support.user_code import of_user

T = TypeVar("T")
Named = dict[Any, str]
"""For each value to which a variable was bound, the first name that it had."""


def watch_locals(
    call: Callable[[], T],
    file: str,
    value_of: Callable[[Any], Any],
    entered: Callable[[FrameType], object] | None = None,
) -> tuple[T, Named]:
    """Call a function, and inspect the local variables of functions outside libraries after every line.

    Args:
        call: the function.
        file: the file of the function; if its code has no file, such as a doctest, its functions count only under this
            name.
        value_of: a function that returns, for the value of a local variable, the value to name, or None.
        entered: an optional function that is called for every function that is entered.

    Returns:
        The result of the call, and the first name of each value.
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
    # A debugger or a coverage tool has precedence: if one is active, there are no names.
    if before is not None and entered is None:
        return call(), names
    sys.settrace(enter)
    try:
        return call(), names
    finally:
        sys.settrace(before)
