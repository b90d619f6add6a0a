"""A row of the table of closed forms."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Row"]


class Row(NamedTuple):
    """A derivative as the literature has it.

    Args:
        title: what it is called, and the number of its formula.
        text: a program, whose last value is differentiated.
        wrt: by what.
        expected: what is printed.
    """

    title: str
    text: str
    wrt: str
    expected: str
