"""Expressions and programs as formulas of a report, in program notation and LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.inputs import number_texts
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import symbols_of, topological
from symgrad.pretty.forms.numbers import Literals
from symgrad.printing.latex.definitions import recurrence_maths
from symgrad.printing.latex.expressions import latex
from symgrad.printing.latex.pieces import latex_name
from symgrad.report.blocks import Block, Items, Literal, MathLines, Maths, Paragraph, prose

_LINES = 60
_CHARACTERS = 400


def expression(e: Expr) -> Maths:
    """Return an expression as a formula; a derivative is written in the names of its program."""
    return Maths(e.text(), e.latex())


def listing_of(exprs: Sequence[Expr]) -> Listing | None:
    """Return the program of expressions; if there are several programs, the first."""
    return next((listing for e in exprs for listing in e.listings), None)


def input_items(nodes: Sequence[Node]) -> list[Block]:
    """Return the declarations of all inputs of formulas."""
    found = [prose(Literal(str(s.declaration))) for s in symbols_of(nodes)]
    return [Items(tuple(found))] if found else []


def program_blocks(
    listing: Listing | None, outputs: Sequence[Expr], more: Sequence[Maths] = ()
) -> list[Block]:
    """Return the inputs of a program, and its lines that lead to outputs.

    Args:
        listing: the program, or None.
        outputs: the outputs of the program.
        more: formulas to append.
    """
    nodes = [e.node for e in outputs]
    below = set(topological(nodes))
    names: dict[Node, str] = {}
    assigned: dict[str, Node] = {}
    if listing is not None:
        names = {n: s for n, s in listing.name_of().items() if n in below}
        assigned = {s: n for s, n in listing.assignments.items() if n in below and n.op is not SYMBOL}
    spelled = number_texts(outputs)
    in_formulas = _names_in_formulas(names, listing)
    loops = recurrence_maths(nodes, {**spelled, **in_formulas}, listing)
    rows: list[Maths] = []
    for name, node in list(assigned.items())[:_LINES]:
        line = loops.get(loop_of(node) or node) or _line(name, node, in_formulas, spelled)
        if line not in rows:  # a recurrence has several names
            rows.append(line)
    rows += [Maths(_text(n, spelled), f"& {latex(n, spelled)}") for n in nodes if n not in names]
    rows += more
    blocks = input_items(nodes)
    if rows:
        blocks.append(MathLines(tuple(rows), "the program"))
    if len(assigned) > _LINES:
        blocks.append(Paragraph(prose(f"{len(assigned) - _LINES} more lines are not shown."), soft=True))
    return blocks


def _names_in_formulas(names: Mapping[Node, str], listing: Listing | None) -> dict[Node, str]:
    """Return the names that replace their values in formulas: all names except those of short numbers such as 2."""
    if listing is None:
        return {}
    literals = Literals.of(listing)
    return {n: s for n, s in names.items() if not n.is_number() or literals.is_long(n)}


def _line(name: str, node: Node, names: Mapping[Node, str], spelled: Mapping[Node, str]) -> Maths:
    others = {**spelled, **{n: s for n, s in names.items() if n is not node and n.op is not SYMBOL}}
    return Maths(f"{name} = {_text(node, others)}", f"{latex_name(name)} &= {latex(node, others)}")


def _text(node: Node, names: Mapping[Node, str]) -> str:
    text = expression_text(node, names)
    return text if len(text) <= _CHARACTERS else f"a formula of {len(text)} characters"
