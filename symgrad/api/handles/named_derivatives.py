"""Express derivatives in the names of their program, for all printers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symgrad.api.handles.base import Handle
from symgrad.api.handles.inputs import listings_of, number_texts
from symgrad.ir.body import Body, StepNotation
from symgrad.ir.graph import Node
from symgrad.ir.notation.lags import lags_of
from symgrad.ir.notation.recurrences import has_recurrences, recurrence_of
from symgrad.rewrite.memo import keeping

if TYPE_CHECKING:
    from symgrad.ir.listing import Listing
    from symgrad.pretty.forms.calls import Notation
    from symgrad.pretty.named_formulas import NamedFormula, NamedFormulas

# What is imported in functions here would slow down `import symgrad`: the printers.


def readable(expr: Handle) -> Node:
    """Return the printed form in terms of the inputs: canonical for a derivative, else the node itself."""
    if not expr.derived:
        return expr.node
    from symgrad.rewrite.pipeline import canonical

    with keeping(expr.answers):
        return canonical([expr.node]).nodes[0]


def expanded(expr: Handle) -> tuple[Node, Notation]:
    """Return the printed form in terms of the inputs, in which long decimals stay as they are, and its notation."""
    from symgrad.pretty.forms.calls import Notation
    from symgrad.pretty.forms.numbers import Literals

    if expr.derived:
        literals = Literals.of(*expr.listings)
        with keeping(expr.answers):
            form = literals.canonical(expr.node)
        if form is not None:
            return form, Notation(literals.meaning, {}, literals.spellings)
    return readable(expr), Notation({}, {}, number_texts([expr]))


def expanded_text(expr: Handle) -> str:
    """Return the text in terms of the inputs: one line if it is short, else a program that ends with the expression."""
    from symgrad.ir.notation.printer import str_text

    node, spelling = expanded(expr)
    written = spelling.numbers, *recurrence_notation(expr)
    text = str_text(node, *written)
    return str_text(readable(expr), *written) if spelling.literals and "\n" in text else text


def recurrence_notation(expr: Handle) -> tuple[dict[Node, str], dict[Body, StepNotation]]:
    """Return the names that programs give to the values of recurrences, and how they write the steps."""
    names = {
        node: name
        for listing in expr.listings
        for name, node in listing.assignments.items()
        if recurrence_of(node) is not None or lags_of(node) is not None
    }
    return names, {body: notation for listing in expr.listings for body, notation in listing.steps.items()}


def _named_listings(exprs: Sequence[Handle]) -> list[Listing]:
    """Return the programs of expressions that name values."""
    return [each for each in listings_of(exprs) if each.assignments or each.result is not None]


def named_together(exprs: Sequence[Handle]) -> NamedFormulas | None:
    """Return the derivatives among expressions in the names of their program; None if that is not shorter."""
    slopes = [(e.slope, e) for e in exprs if e.slope is not None]
    listings = _named_listings(exprs)
    if not slopes or len(listings) != 1:
        return None
    from symgrad.pretty.named_derivatives import name_derivatives

    parts = {node: part for _, e in slopes for node, part in e.parts.items()}
    found = name_derivatives(listings[0], [slope for slope, _ in slopes], parts)
    # Without the names of the program, values of its recurrences have no names.
    if found is None or not found.lines or has_recurrences(found.meaning):
        return found
    return None if len(found) > sum(len(expanded_text(e)) for _, e in slopes) else found


def name_derivative(expr: Handle) -> NamedFormula | None:
    """Return a derivative in the names of its program, in one formula; None if that is not shorter."""
    listings = _named_listings([expr])
    if not expr.in_names or len(listings) != 1:
        return None
    if expr.slope is not None and has_recurrences([expr.node]):  # its steps are lines of `named_together`
        return None
    from symgrad.pretty.named_derivatives import in_names
    from symgrad.rewrite.pipeline import canonical

    with keeping(expr.answers):
        nodes = canonical([expr.node]).nodes[0], expr.node
        return in_names(listings[0], nodes, None if expr.in_names is True else expr.in_names)
