"""A noise audit as a report: the gradient, and how each random input affects it.

For each random input the report tells whether it enters the gradient, and the moments of the gradient over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symgrad.api.derivatives.effective import resolve_formulas
from symgrad.api.explaining.explain import joined_listing
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formatting import leibniz_of, title
from symgrad.api.handles.inputs import number_texts
from symgrad.api.reports.maths import program_blocks
from symgrad.ir.graph import Node
from symgrad.printing.latex.expressions import latex
from symgrad.printing.reports.steps import cut_blocks, noise_blocks, steps_block
from symgrad.printing.texts.audit import AGAINST
from symgrad.printing.texts.derivation import derivation_svg, title_text
from symgrad.report.blocks import (
    Banner,
    Block,
    Column,
    Figure,
    Heading,
    Items,
    Maths,
    Paragraph,
    Prose,
    Table,
    prose,
)
from symgrad.report.report import Report

if TYPE_CHECKING:
    from symgrad.api.noise.audit import Audit
    from symgrad.api.noise.question import AuditQuestion


def audit_report(audit: Audit) -> Report:
    """Return an audit as a report."""
    d, question = audit.derivation, audit.question
    y, wrt = question.y, list(question.wrt)
    gradients = _resolved(y, question.gradients, question.gradient_texts())
    rows = [
        Maths(f"{title(y, [w])} = {g.text}", f"{leibniz_of(y, [w])} &= {g.latex}")
        for w, g in zip(wrt, gradients, strict=True)
    ]
    blocks: list[Block] = [*program_blocks(joined_listing(y.listings), [y], rows)]
    blocks += cut_blocks(d)
    if not audit:
        blocks.append(Banner("No random input", "good", prose("The gradient has neither bias nor variance.")))
    for name, each in audit.items():
        blocks.append(Heading(f"The random input {name}"))
        blocks += noise_blocks(each.verdict)
        blocks += _moments(each.question, each.notes, f"Moments of the gradient over {name}")
    if len(audit) > 1:
        blocks.append(Heading("All random inputs together"))
        blocks += _moments(question, audit.notes, "Moments of the gradient over all of them")
    if audit:
        bias = f"Bias is the mean less the reference, which is {AGAINST[question.reference]}."
        blocks.append(Paragraph(prose(bias), soft=True))
    verdicts = " ".join(f"{v}." for v in d.noise.values()) or "No random input."
    blocks += [
        Heading("Graph"),
        Figure(derivation_svg(d, by_dot=True), f"The graph of {title_text(d)}", verdicts),
    ]
    if d.steps:
        blocks += [Heading("Steps, from the output back"), steps_block(d, folded=True)]
    return Report(f"Noise audit of {title_text(d)}", tuple(blocks))


def _resolved(y: Expr, formulas: Sequence[Node], texts: Sequence[str]) -> list[Maths]:
    """Remove stop_gradient from formulas, and return them in the names of a program, each with its printed text."""
    found = resolve_formulas(y, formulas)
    spelled = number_texts([y])
    return [Maths(text, latex(node, spelled)) for text, (node, _) in zip(texts, found, strict=True)]


def _moments(question: AuditQuestion, notes: Sequence[str], caption: str) -> Iterator[Block]:
    several = len(question.wrt) > 1
    rows: list[tuple[Prose, ...]] = []
    for (label, texts), (_, moments) in zip(question.texts(), question.rows, strict=True):
        for w, text, moment in zip(question.wrt, texts, moments, strict=True):
            shown = prose(text)
            if moment.formula is not None:
                ((node, short),) = resolve_formulas(question.y, [moment.formula])
                # After a formula that contains only numbers, its decimals are shown.
                short = short if short is not None and text.startswith(f"{short}, ") else text
                shown = prose(Maths(short, latex(node, number_texts([question.y]))), text[len(short) :])
            rows.append((prose(f"{label} by {w}" if several else label), shown, prose(moment.how)))
    yield Table(caption, (Column("moment"), Column("formula"), Column("known by")), tuple(rows))
    if notes:
        yield Items(tuple(prose(n) for n in notes))
