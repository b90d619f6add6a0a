"""Format several formulas together, in the names of their program and one set of new names."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.inputs import program_names
from symgrad.api.handles.named_derivatives import named_together

# What is imported in functions here would slow down `import symgrad`: the LaTeX printer.


def format_many(
    exprs: Sequence[Expr], *, expand: bool = False
) -> tuple[list[str], list[str], list[Sequence[str]]]:
    """Return the texts of expressions, the lines that define new names, and notes on each.

    Derivatives of one program are written in its names if that is shorter. Other expressions are written in terms of
    the inputs.
    """
    found = None if expand else named_together(exprs)
    if found is None:
        return [e.text(expand=True) for e in exprs], [], [e.expanded_notes for e in exprs]
    derived = [e for e in exprs if e.slope is not None]
    lines = found.text([""] * len(derived)).split("\n")
    domains = found.notes([e.node for e in derived])
    notes = [[*d, *r] for d, r in zip(domains, found.readings(), strict=True)]
    named = iter(zip(lines, notes, strict=False))
    pairs: list[tuple[str, Sequence[str]]] = [
        (e.text(expand=True), e.expanded_notes) if e.slope is None else next(named) for e in exprs
    ]
    return [text for text, _ in pairs], lines[len(derived) :], [noted for _, noted in pairs]


def latex_many(exprs: Sequence[Expr], titles: Sequence[str], *, expand: bool = False) -> str:
    """Return expressions as LaTeX after titles such as ``f_{x} = ``, in one set of names as in `format_many`.

    Several expressions are rows of an ``aligned`` environment.
    """
    from symgrad.printing.texts.named_formulas import formula_rows, latex_rows

    found = None if expand else named_together(exprs)
    named = iter(() if found is None else formula_rows(found, program_names(exprs)))
    rows = [
        f"{title} &= {e.latex(expand=True) if found is None or e.slope is None else next(named)}"
        for title, e in zip(titles, exprs, strict=True)
    ]
    rows += named
    return latex_rows(rows) if len(rows) > 1 else rows[0].replace(" &= ", " = ", 1)


def title(y: Expr, by: Sequence[Expr]) -> str:
    """Return the name of a derivative, such as ``d2y/dx dt``; ``y`` for a value."""
    name = y.name or ""
    power = f"{len(by)}" if len(by) > 1 else ""
    return f"d{power}{name}/" + " ".join(f"d{w.name or f'({w})'}" for w in by) if by else name or "value"


def leibniz_of(y: Expr, by: Sequence[Expr]) -> str:
    """Return the title of a derivative as LaTeX."""
    from symgrad.printing.texts.named_formulas import leibniz, program_name

    def name(e: Expr) -> str:
        return (
            program_name(e.name, next(iter(e.listings), None))
            if e.name
            else rf"\left({e.latex(expand=True)}\right)"
        )

    return leibniz(name(y) if y.name else "", [name(w) for w in by]) if by else name(y)
