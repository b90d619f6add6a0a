"""What the processes of a batch are asked to do in its tests; processes import it by name."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def act(row: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Sleep, wait for another, take memory, die or answer, as the row says."""
    time.sleep(row.get("sleep", 0))
    if "meet" in row:  # ends when two processes are here at once
        here = Path(row["meet"])
        (here / str(os.getpid())).touch()
        while len(list(here.iterdir())) < 2:
            time.sleep(0.01)
    if "mebibytes" in row:
        bytearray(row["mebibytes"] * 2**20)
    if "exit" in row:
        os._exit(row["exit"])
    if row.get("abort"):
        os.abort()
    return {"status": "proved", "why": f"{seconds:g} s", "process": os.getpid()}


if os.environ.get("SYMGRAD_TEST_NO_START"):
    raise SystemExit(3)
