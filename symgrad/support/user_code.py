"""Tell the files of the user from those of libraries, and find the user's line in a traceback."""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path
from types import TracebackType

from symgrad.support.source import Place

_LIBRARIES = tuple(
    os.path.realpath(sysconfig.get_path(kind)) + os.sep
    for kind in ("stdlib", "platstdlib", "purelib", "platlib")
)
_INSTALLED = {"site-packages", "dist-packages"}
_OURS = str(Path(__file__).resolve().parents[1]) + os.sep


@cache
def of_user(file: str) -> bool:
    """Tell whether a file belongs neither to a library nor to symgrad."""
    if file.startswith("<") or not _INSTALLED.isdisjoint(Path(file).parts):
        return False
    return not os.path.realpath(file).startswith((*_LIBRARIES, _OURS))


def last_user_place(file: str, traceback: TracebackType | None) -> Place | None:
    """Return the innermost place in the user's code of a traceback; None if there is none."""
    found: Place | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == file or of_user(code.co_filename):
            spots = list(code.co_positions())
            line, last, start, end = (
                spots[traceback.tb_lasti // 2] if traceback.tb_lasti >= 0 else (None,) * 4
            )
            line = line or traceback.tb_lineno
            found = Place.of(code.co_filename, line, start, end if last == line else None)
        traceback = traceback.tb_next
    return found
