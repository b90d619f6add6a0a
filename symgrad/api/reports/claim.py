"""The claim of a verdict as the subject of a report, with its formulas."""

from __future__ import annotations

from collections.abc import Mapping

from symgrad.api.handles.equation_sides import SideLike
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formatting import leibniz_of, title
from symgrad.api.handles.formula_arguments import formula, names_in, parse_closed
from symgrad.api.handles.inputs import number_texts
from symgrad.api.reports.maths import listing_of, program_blocks
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.types import Declaration
from symgrad.printing.latex.expressions import latex
from symgrad.report.about import Subject
from symgrad.report.blocks import Block, Code, MathLines, Maths
from symgrad.support.errors import SymgradError

_CHARACTERS = 120  # most characters of a claim in a title


def claimed_derivative(value: Expr, target: Expr, claim: Expr | str) -> Subject:
    """Return the subject of a claim about a derivative."""
    left = title(value, [target]) if value.name else f"the derivative of {_brief(str(value))} by {target}"
    text = claim if isinstance(claim, str) else str(claim)
    right = _claim_latex(claim, value, target)
    formula = Maths(f"{left} = {text}", rf"{leibniz_of(value, [target])} &\overset{{?}}{{=}} {right}")
    blocks = program_blocks(listing_of([value]), [value], [] if right is None else [formula])
    if right is None:
        blocks.append(Code(f"{left} = {text}", "symgrad", "The claim"))
    return Subject(f"Is {left} = {_brief(text)}?", tuple(blocks), ("the derivative", "the claim"))


def claimed_equality(a: SideLike, b: SideLike) -> Subject:
    """Return the subject of a claim that two formulas are equal."""
    texts = [side if isinstance(side, str) else str(side) for side in (a, b)]
    found = [_side(side, other) for side, other in ((a, b), (b, a))]
    blocks: list[Block] = []
    if None in found:
        blocks += [Code(text, "symgrad") for text in texts]
    else:
        left, right = (f.latex for f in found if f is not None)
        text = " = ".join(f.text for f in found if f is not None)
        blocks.append(MathLines((Maths(text, rf"{left} &\overset{{?}}{{=}} {right}"),), "the claim"))
    names = [_brief(f.text if f is not None else text) for f, text in zip(found, texts, strict=True)]
    return Subject(f"Is {names[0]} = {names[1]}?", tuple(blocks))


def _brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"


def _claim_latex(claim: Expr | str, value: Expr, target: Expr) -> str | None:
    """Return a claim as LaTeX, in the names of the program; None if it cannot be read."""
    known = {**names_in(target), **names_in(value)}
    if not isinstance(claim, str):
        named = {n: name for name, n in known.items() if n.args}
        return latex(claim.node, {**number_texts([claim, value, target]), **named})
    # Symbols in place of named values keep the text of the claim: names stay names, and formulas stay formulas.
    names = {
        name: symbol(Declaration(name, shape=n.shape))
        if (n.args or n.is_number()) and n.dtype == "real"
        else n
        for name, n in known.items()
    }
    try:
        return latex(*_read(claim, names))
    except SymgradError:
        return None


def _side(side: SideLike, other: SideLike) -> Maths | None:
    try:
        if isinstance(side, str) and parse_closed(side) is None:
            node, spelled = _read(side, names_in(formula(other)))
        else:
            e = formula(side)
            node, spelled = e.node, number_texts([e])
    except SymgradError:
        return None
    return Maths(expression_text(node, spelled), latex(node, spelled))


def _read(text: str, names: Mapping[str, Node]) -> tuple[Node, Mapping[Node, str]]:
    """Return an expression over names, and the spellings of its numbers."""
    node = parse_expression(text, names, "the claim")
    return node, parse_program(text, "the claim", names).spellings
