"""Format several formulas together: in the names of their program, with one set of new names."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.named_derivatives import named_together

__all__ = ["latex_many", "leibniz_of", "title", "format_many"]

# What is imported in functions here is for start-up time: most programs write no LaTeX.


def format_many(
    exprs: Sequence[Expr], *, expand: bool = False
) -> tuple[list[str], list[str], list[Sequence[str]]]:
    """Return the texts of expressions, the lines below that say what new names stand for, and notes on each.

    Derivatives of one program are in its names where that is shorter; what else there is stands as it does by itself.
    """
    found = None if expand else named_together(exprs)
    derived = [] if found is None else [e for e in exprs if e.slope is not None]
    written = [] if found is None else found.text([""] * len(derived)).split("\n")
    about: list[list[str]] = []
    if found is not None:
        domains = found.notes([e.node for e in derived])
        about = [[*d, *r] for d, r in zip(domains, found.readings(), strict=True)]
    told = iter(zip(written, about, strict=False))
    texts: list[str] = []
    notes: list[Sequence[str]] = []
    for e in exprs:
        named = found is not None and e.slope is not None
        text, noted = next(told) if named else (e.text(expand=True), e.expanded_notes)
        texts.append(text)
        notes.append(noted)
    return texts, written[len(derived) :], notes


def latex_many(exprs: Sequence[Expr], titles: Sequence[str], *, expand: bool = False) -> str:
    """Return expressions as LaTeX behind titles such as ``f_{x} = ``, in one set of names as `format_many` has it.

    Rows of an ``aligned`` environment, if there are several.
    """
    from symgrad.printing.texts.named_formulas import formula_rows, latex_rows

    found = None if expand else named_together(exprs)
    told = iter(() if found is None else formula_rows(found))
    rows = [
        f"{title} &= {e.latex(expand=True) if found is None or e.slope is None else next(told)}"
        for title, e in zip(titles, exprs, strict=True)
    ]
    rows += told
    return latex_rows(rows) if len(rows) > 1 else rows[0].replace(" &= ", " = ", 1)


def title(y: Expr, by: Sequence[Expr]) -> str:
    """Return the name of a derivative, such as ``d2y/dx dt``; ``y`` for a value."""
    name = y.name or ""
    power = f"{len(by)}" if len(by) > 1 else ""
    return f"d{power}{name}/" + " ".join(f"d{w.name or f'({w})'}" for w in by) if by else name or "value"


def leibniz_of(y: Expr, by: Sequence[Expr]) -> str:
    """Return what a derivative is called as LaTeX."""
    from symgrad.printing.latex.expressions import latex_name
    from symgrad.printing.texts.named_formulas import leibniz

    def name(e: Expr) -> str:
        return latex_name(e.name) if e.name else rf"\left({e.latex(expand=True)}\right)"

    return leibniz(name(y) if y.name else "", [name(w) for w in by]) if by else name(y)
