"""Compare estimators as text: as a table, or as a paragraph for each if formulas are long."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.analysis.expectations.moment import Estimate
from symgrad.printing.limits import COMPARED_CHARACTERS

WIDTH = 100
_DIGITS = 3

ComparisonRow = tuple[str, Sequence[tuple[str, Sequence[str]]]]
"""The name of an estimator, and its properties: label, and the lines of a formula."""


def comparison_text(
    head: str,
    rows: Sequence[ComparisonRow],
    numbers: tuple[str, Sequence[ComparisonRow]] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the properties of several estimators: a table with a line for each, or otherwise paragraphs.

    Args:
        head: the quantity that they estimate.
        rows: their symbolic properties.
        numbers: a heading, and the properties of the estimators at numbers.
        notes: conditions under which the properties hold.

    Example:
        >>> print(comparison_text("Two", [("a", [("bias", ["0"])]), ("bc", [("bias", ["x + 1"])])]))
        Two
        <BLANKLINE>
        estimator  bias
        a          0
        bc         x + 1
    """
    lines = [head, "", *_rows_text(rows)]
    if numbers is not None:
        lines += ["", numbers[0], *_rows_text(numbers[1])]
    for note in notes:
        lines += ["", *textwrap.wrap(note, WIDTH, subsequent_indent="  ", break_long_words=False)]
    return "\n".join(lines)


def _rows_text(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return rows as a table; list the first property above the table if that makes it narrow enough."""
    table = _table(rows)
    if table is not None:
        return table
    rest = _table([(name, properties[1:]) for name, properties in rows])
    if rest is None:
        return _paragraphs(rows)
    label = rows[0][1][0][0]
    return [*_paragraphs([(label, [(name, properties[0][1]) for name, properties in rows])]), "", *rest]


def _table(rows: Sequence[ComparisonRow]) -> list[str] | None:
    """Return a line of labels, and a line for each estimator; None if this is too wide."""
    if any(len(text) != 1 for _, properties in rows for _, text in properties):
        return None
    table = [["estimator", *(label for label, _ in rows[0][1])]]
    table += [[name, *(text[0] for _, text in properties)] for name, properties in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        return None
    return ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in table]


def _paragraphs(rows: Sequence[ComparisonRow]) -> list[str]:
    lines: list[str] = []
    for name, properties in rows:
        width = max(len(label) for label, _ in properties)
        lines += ["", name] if lines else [name]
        for label, (first, *further) in properties:
            lines += [f"  {label.ljust(width)}  {first}", *(" " * (width + 4) + t for t in further)]
    return lines


def formula_lines(text: str) -> list[str]:
    r"""Return the lines of a formula without its declarations; for a very long formula, only its length.

    Example:
        >>> formula_lines("x : real\nt1 = x**2\nt1 + t1**2")
        ['t1 = x**2', 't1 + t1**2']
    """
    lines = [line for line in text.splitlines() if not re.match(r"[\w, ]+ [:~] ", line)]
    length = sum(map(len, lines))
    return lines if length <= COMPARED_CHARACTERS else [f"a formula of {length} characters"]


def estimate_text(found: Estimate) -> str:
    """Return a moment with three digits; also its interval and its method, unless it is a closed form.

    Example:
        >>> estimate_text(Estimate(0.2512, 0.2487, 0.2537, "monte carlo"))
        '0.251 in [0.249, 0.254] (monte carlo)'
    """
    if found.how == "none":
        return f"none: {'; '.join(found.notes)}"
    if found.how != "closed form":
        value, low, high = _short(found.value), _short(found.low), _short(found.high)
        return f"{value} ({found.how})" if low == high else f"{value} in [{low}, {high}] ({found.how})"
    # A value is printed as 0 if all its computed digits are 0.
    zero = (np.asarray(found.low) <= 0) & (np.asarray(found.high) >= 0)
    return _short(np.where(zero, 0.0, found.value))


def _short(value: Any) -> str:
    if np.ndim(value) == 0:
        return f"{float(value) + 0:.{_DIGITS}g}"
    return np.array2string(np.asarray(value), formatter={"float_kind": _short}, threshold=6, edgeitems=2)
