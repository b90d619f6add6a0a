"""Derivatives, programs, formulas, effective programs, placements and estimators as reports."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from symgrad.api.derivatives.targets import as_list
from symgrad.api.explaining.explain import joined_listing
from symgrad.api.handles.expr import Expr, handle
from symgrad.api.handles.formatting import format_many, leibniz_of, title
from symgrad.api.handles.inputs import listings_of
from symgrad.api.reports.maths import expression, program_blocks
from symgrad.printing.pictures.numeric import accuracy_figure, sole_variable
from symgrad.printing.pictures.spreads import Spread, spreads_svg
from symgrad.report.blocks import (
    Banner,
    Block,
    Code,
    Column,
    Figure,
    Heading,
    Items,
    Literal,
    MathLines,
    Maths,
    Paragraph,
    Prose,
    Table,
    Tone,
    prose,
)
from symgrad.report.report import Report
from symgrad.support.errors import SymgradError
from symgrad.verification.reporting.report import verdict_blocks

if TYPE_CHECKING:
    from symgrad.api.derivatives.derivative_table import DerivativeTable
    from symgrad.api.derivatives.effective import Effective
    from symgrad.api.handles.program import Program
    from symgrad.api.noise.estimators import Comparison
    from symgrad.api.noise.placement import Placement


def derivatives_report(found: DerivativeTable) -> Report:
    """Return derivatives as a report: the program, the formulas, where they are defined, and which are zero."""
    rows = found.rows()
    texts, below, notes = format_many([row.expr for row in rows])
    shown = [
        Maths(
            f"{row.title} = {text}" if row.title else text,
            ("" if row.y is None else f"{leibniz_of(row.y, row.by)} ") + f"&= {row.expr.latex()}",
        )
        for row, text in zip(rows, texts, strict=True)
    ]
    values = list({row.y.node: row.y for row in rows if row.y is not None}.values())
    blocks: list[Block] = program_blocks(joined_listing(listings_of([row.expr for row in rows])), values)
    blocks += [Heading("Derivatives"), MathLines(tuple(shown), "the derivatives")]
    if below:
        blocks.append(Code("\n".join(below), "symgrad", "In program notation, new names stand for"))
    items = [
        prose(Literal(row.title), f": {note}") for row, each in zip(rows, notes, strict=True) for note in each
    ]
    items += [
        prose(Literal(row.title), f" is {row.expr.nothing}") for row in rows if row.expr.nothing is not None
    ]
    if items:
        blocks.append(Items(tuple(items)))
    of = ", ".join(y.name or str(y) for y in values)
    by = ", ".join(dict.fromkeys(str(w) for row in rows for w in row.by))
    return Report("Derivatives" + f" of {of}" * bool(of) + f" by {by}" * bool(by), tuple(blocks))


def program_report(program: Program, *, text: bool = True) -> Report:
    """Return a program as a report: its inputs, its lines as formulas, its text.

    Args:
        program: the program.
        text: whether to include the text of the program, which a notebook already shows.
    """
    outputs = [*program.outputs.values(), *([] if program.result is None else [program.result])]
    blocks: list[Block] = program_blocks(program.listing, outputs)
    if text:
        blocks += [Heading("In program notation"), Code(str(program), "symgrad")]
    return Report(f"Program of {', '.join(program.outputs) or 'a formula'}", tuple(blocks))


def formula_report(e: Expr) -> Report:
    """Return a formula as a report; a derivative is written in the names of its program."""
    name = e.name
    shown = expression(e)
    blocks: list[Block] = []
    if e.has_derivatives:
        blocks.append(MathLines((shown,), "the formula"))
        notes = [*e.domain_notes, *e.form_notes, *e.digit_notes]
        if notes:
            blocks.append(Items(tuple(prose(n) for n in notes)))
        if e.nothing is not None:
            blocks.append(Paragraph(prose(f"It is {e.nothing}.")))
    else:
        blocks += program_blocks(joined_listing(e.listings), [e])
        if e.digit_notes:
            blocks.append(Items(tuple(map(prose, e.digit_notes))))
    blocks += _accuracy(e)
    return Report(name or ("A derivative" if e.derived else "A formula"), tuple(blocks))


def _accuracy(e: Expr) -> list[Block]:
    """Return a figure of the wrong bits of a formula and of its stable form, if the stable form is different."""
    x = sole_variable([e.node])
    if x is None:
        return []
    naive, stable = handle(e.canonical().node if e.derived else e.node), e.stable()
    if stable.node is naive.node:
        return []
    figure = accuracy_figure(
        e.node,
        {"as it stands": lambda at: naive(**{x.name: at}), "stable form": lambda at: stable(**{x.name: at})},
    )
    if figure is None:
        return []
    formula = Maths(stable.text(), stable.latex())
    return [
        Heading("In floating point"),
        Paragraph(prose("The form that loses fewer digits is ", formula, ".")),
        figure,
    ]


def effective_report(found: Effective) -> Report:
    """Return the formulas of a program without stop_gradients, forward and backward, as a report."""
    y, wrt = found.of, found.backward.wrt
    blocks: list[Block] = program_blocks(joined_listing(y.listings), [y])
    if y.shape and found.order == 1:
        lefts = [
            ("", leibniz_of(y, [])),
            *((w.name or str(w), rf"\\overline{{{w.latex(expand=True)}}}") for w in wrt),
        ]
        exprs = [found.value, *as_list(found.backward())]
    else:
        named = {str(w.name or w): w for w in wrt}
        lefts = [
            (title(y, [named[n] for n in key]), leibniz_of(y, [named[n] for n in key]))
            for key in found.derivatives
        ]
        exprs = list(found.derivatives.values())
    rows = [
        Maths(f"{text or y.name or 'value'} = {e.text(expand=True)}", f"{left} &= {e.latex(expand=True)}")
        for (text, left), e in zip(lefts, exprs, strict=True)
    ]
    blocks += [Heading("What it computes"), MathLines(tuple(rows), "value and derivatives")]
    blocks.append(Paragraph(prose("Every stop_gradient is resolved: these are plain formulas."), soft=True))
    return Report(f"What {y.name or 'the program'} computes, forward and backward", tuple(blocks))


def placement_report(found: Placement) -> Report:
    """Return the places of stop_gradients, or the reason why there are none, as a report."""
    tone: Tone = "good" if found.possible else "bad" if found.possible is False else "open"
    head, *rest = str(found).split("\n")
    blocks: list[Block] = [Banner(head.rstrip(":"), tone, prose(f"{found.reason}.") if found.reason else ())]
    if found.lines:
        blocks.append(Code("\n".join(found.lines), "symgrad", "The lines that change"))
    if found.edges:
        rows = tuple(
            (prose(Literal(e.argument)), prose(Literal(e.equation or "the result"))) for e in found.edges
        )
        blocks.append(Table("Where they stand", (Column("on"), Column("in")), rows))
    remarks = [line for line in rest if not line.startswith("  ")]
    if remarks:
        blocks.append(Items(tuple(prose(line) for line in remarks)))
    if found.verdict is not None:
        blocks += [
            Heading("The verdict on it"),
            *verdict_blocks(found.verdict, ("the gradient", "the reference")),
        ]
    return Report("Where stop_gradients belong", tuple(blocks))


def comparison_report(found: Comparison) -> Report:
    """Return estimators of one gradient side by side as a report."""
    head, rows, numbers, notes = found.table()
    first, *lines = head.split("\n")
    blocks: list[Block] = [Code("\n".join(line.strip() for line in lines), "symgrad")] if lines else []
    blocks.append(_compared("Bias, variance and cost of each", rows))
    drawn = _spreads_figure(found)
    if drawn is not None:
        blocks += [Heading("Mean and spread"), drawn]
    if numbers is not None:
        blocks += [Heading("At numbers"), _compared(numbers[0], numbers[1])]
    if notes:
        blocks.append(Items(tuple(prose(n) for n in notes)))
    return Report(first, tuple(blocks))


def _spreads_figure(found: Comparison) -> Figure | None:
    """Return a figure of the mean and standard deviation of each estimator; None without finite numbers."""
    try:
        known = found.spreads()
    except SymgradError:  # a formula has no value at the numbers
        return None
    if known is None or not all(map(isfinite, (known[0], *(v for _, *pair in known[2] for v in pair)))):
        return None
    truth, values, rows = known
    where = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    title = f"Mean and standard deviation where {where}" if where else "Mean and standard deviation"
    intervals = "; ".join(f"{name}: {mean:.4g} ± {spread:.4g}" for name, mean, spread in rows)
    svg = spreads_svg([Spread(*row) for row in rows], truth, title, "the gradient of the mean")
    return Figure(svg, title, f"The gradient of the mean is {truth:.4g}; {intervals}.")


def _compared(caption: str, rows: Sequence[tuple[str, Sequence[tuple[str, Sequence[str]]]]]) -> Table:
    columns = [Column("estimator"), *(Column(label, number=label == "operations") for label, _ in rows[0][1])]
    cells: list[tuple[Prose, ...]] = [
        (prose(name), *(prose(Literal("; ".join(text))) for _, text in row)) for name, row in rows
    ]
    return Table(caption, tuple(columns), tuple(cells))
