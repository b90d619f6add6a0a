"""The table of formulas: what each means in the program notation, or words of the message that refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Row", "rows"]

_BETWEEN = "==>"


class Row(NamedTuple):
    """A formula, what is declared before it, and what it means: ⏎ is the end of a line."""

    latex: str
    declarations: str | None
    meaning: str


def rows(topic: str) -> list[Row]:
    """Return the rows of a file."""
    return list(_rows((Path(__file__).parent / f"{topic}.txt").read_text(encoding="utf-8")))


def _rows(text: str) -> Iterator[Row]:
    declared: str | None = None
    for line in text.splitlines():
        if line.startswith("declare "):
            declared = line.removeprefix("declare ")
            declared = None if declared == "nothing" else declared
        elif _BETWEEN in line:
            latex, meaning = (part.strip().replace("⏎", "\n") for part in line.split(_BETWEEN))
            yield Row(latex, declared, meaning)
