"""No circle of imports, counted with all imports: for types alone, and inside functions."""

from __future__ import annotations

import runpy
from pathlib import Path


def test_no_circle() -> None:
    house = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "house.py"))
    assert len(house["imports"]()) > 500
    assert house["circle"]() == []
