"""Aligned formulas in an environment of LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.report.blocks import Maths


def aligned_latex(rows: Sequence[Maths]) -> str:
    r"""Join formulas into one ``aligned`` environment, if there are several or one has an alignment.

    Example:
        >>> print(aligned_latex([Maths("a = 1", "a &= 1"), Maths("b = 2", "b &= 2")]))
        \begin{aligned}
        a &= 1 \\
        b &= 2
        \end{aligned}
    """
    if len(rows) == 1:
        latex = rows[0].latex
        if "&" not in latex.replace(r"\&", "") or latex.startswith(r"\begin{aligned}"):
            return latex
    return "\\begin{aligned}\n" + " \\\\\n".join(row.latex for row in rows) + "\n\\end{aligned}"
