"""The catalogue of mistakes, a file for each family."""

from __future__ import annotations

from symgrad.mistakes.rows import arrays, paths, powers, quotients, stops, trigonometric
from symgrad.mistakes.rule import MalRule

__all__ = ["ROWS"]

ROWS: tuple[MalRule, ...] = (
    *stops.ROWS,
    *powers.ROWS,
    *quotients.ROWS,
    *trigonometric.ROWS,
    *paths.ROWS,
    *arrays.ROWS,
)
