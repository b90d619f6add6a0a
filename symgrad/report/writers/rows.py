"""Formulas on lines below each other, as one of LaTeX's environments."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.report.blocks import Maths

__all__ = ["aligned_latex"]


def aligned_latex(rows: Sequence[Maths]) -> str:
    r"""Return formulas as one: rows of an ``aligned`` environment, if there are several or one is to be aligned.

    Example:
        >>> print(aligned_latex([Maths("a = 1", "a &= 1"), Maths("b = 2", "b &= 2")]))
        \begin{aligned}
        a &= 1 \\
        b &= 2
        \end{aligned}
    """
    if len(rows) == 1 and not rows[0].latex.replace(r"\&", "").count("&"):
        return rows[0].latex
    if len(rows) == 1 and rows[0].latex.startswith(r"\begin{aligned}"):
        return rows[0].latex
    return "\\begin{aligned}\n" + " \\\\\n".join(row.latex for row in rows) + "\n\\end{aligned}"
