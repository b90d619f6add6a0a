"""Estimators side by side as text: a table, or a paragraph for each where formulas are long."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.analysis.expectations.moment import Estimate
from symgrad.printing.limits import COMPARED_CHARACTERS

__all__ = ["ComparisonRow", "comparison_text", "estimate_text", "formula_lines"]

WIDTH = 100
_DIGITS = 3

ComparisonRow = tuple[str, Sequence[tuple[str, Sequence[str]]]]
"""A name, and what is told of it: label, and the lines of a formula."""


def comparison_text(
    head: str,
    rows: Sequence[ComparisonRow],
    numbers: tuple[str, Sequence[ComparisonRow]] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return what is known of several estimators: a table of one line each, else a paragraph for each.

    Args:
        head: what they are estimators of.
        rows: of each its name, and label and text of what is told.
        numbers: what is told of them at numbers, and at which.
        notes: under which conditions that holds.

    Example:
        >>> print(comparison_text("Two", [("a", [("bias", ["0"])]), ("bc", [("bias", ["x + 1"])])]))
        Two
        <BLANKLINE>
        estimator  bias
        a          0
        bc         x + 1
    """
    lines = [head, "", *_told(rows)]
    if numbers is not None:
        lines += ["", numbers[0], *_told(numbers[1])]
    for note in notes:
        lines += ["", *textwrap.wrap(note, WIDTH, subsequent_indent="  ", break_long_words=False)]
    return "\n".join(lines)


def _told(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return rows as a table; with a list of what is told first beside it, where that alone is too wide."""
    table = _table(rows)
    if table is not None:
        return table
    rest = _table([(name, told[1:]) for name, told in rows])
    lists = [(told[0][0], [(name, told[0][1])]) for name, told in rows]
    if rest is None:
        return _paragraphs(rows)
    return [*_paragraphs([(lists[0][0], [t for _, each in lists for t in each])]), "", *rest]


def _table(rows: Sequence[ComparisonRow]) -> list[str] | None:
    """Return a line for each estimator below one of labels; None where that is too wide."""
    if any(len(text) != 1 for _, told in rows for _, text in told):
        return None
    table = [["estimator", *(label for label, _ in rows[0][1])]]
    table += [[name, *(text[0] for _, text in told)] for name, told in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        return None
    return ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in table]


def _paragraphs(rows: Sequence[ComparisonRow]) -> list[str]:
    lines: list[str] = []
    for name, told in rows:
        width = max(len(label) for label, _ in told)
        lines += ["", name] if lines else [name]
        for label, (first, *further) in told:
            lines += [f"  {label.ljust(width)}  {first}", *(" " * (width + 4) + t for t in further)]
    return lines


def formula_lines(text: str) -> list[str]:
    r"""Return the lines of a formula without the declarations above it; of one that nobody reads how long it is.

    Example:
        >>> formula_lines("x : real\nt1 = x**2\nt1 + t1**2")
        ['t1 = x**2', 't1 + t1**2']
    """
    lines = [line for line in text.splitlines() if not re.match(r"[\w, ]+ [:~] ", line)]
    return (
        lines
        if sum(map(len, lines)) <= COMPARED_CHARACTERS
        else [f"a formula of {sum(map(len, lines))} characters"]
    )


def estimate_text(found: Estimate) -> str:
    """Return a moment at numbers with three digits; one that is no closed form with its interval and its method.

    Example:
        >>> estimate_text(Estimate(0.2512, 0.2487, 0.2537, "monte carlo"))
        '0.251 in [0.249, 0.254] (monte carlo)'
    """
    if found.how == "none":
        return f"none: {'; '.join(found.notes)}"
    if found.how != "closed form":
        value, low, high = _short(found.value), _short(found.low), _short(found.high)
        return f"{value} ({found.how})" if low == high else f"{value} in [{low}, {high}] ({found.how})"
    # What is 0 up to the digits of the computation is 0.
    zero = (np.asarray(found.low) <= 0) & (np.asarray(found.high) >= 0)
    return _short(np.where(zero, 0.0, found.value))


def _short(value: Any) -> str:
    if np.ndim(value) == 0:
        return f"{float(value) + 0:.{_DIGITS}g}"
    return np.array2string(np.asarray(value), formatter={"float_kind": _short}, threshold=6, edgeitems=2)
