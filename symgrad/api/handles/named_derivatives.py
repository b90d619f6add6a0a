"""Express derivatives in the names of their program, for all printers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symgrad.api.handles.base import Handle
from symgrad.api.handles.inputs import listings_of
from symgrad.ir.graph import Node
from symgrad.rewrite.memo import keeping

if TYPE_CHECKING:
    from symgrad.pretty.named_formulas import NamedFormula, NamedFormulas

# What is imported in functions here would slow down `import symgrad`: the printers.


def readable(expr: Handle) -> Node:
    """Return the printed form in terms of the inputs: canonical for a derivative, else the node itself."""
    if not expr.derived:
        return expr.node
    from symgrad.rewrite.pipeline import canonical

    with keeping(expr.answers):
        return canonical([expr.node]).nodes[0]


def named_together(exprs: Sequence[Handle]) -> NamedFormulas | None:
    """Return the derivatives among expressions in the names of their program; None if that is not shorter."""
    slopes = [(e.slope, e) for e in exprs if e.slope is not None]
    listings = listings_of(exprs)
    if not slopes or len(listings) != 1:
        return None
    from symgrad.ir.notation.printer import str_text
    from symgrad.pretty.named_derivatives import name_derivatives

    parts = {node: part for _, e in slopes for node, part in e.parts.items()}
    found = name_derivatives(listings[0], [slope for slope, _ in slopes], parts)
    longer = (
        found is not None and found.lines and len(found) > sum(len(str_text(readable(e))) for _, e in slopes)
    )
    return None if longer else found


def name_derivative(expr: Handle) -> NamedFormula | None:
    """Return a derivative without a slope, such as a Jacobian, in the names of its program."""
    if not expr.in_names or expr.slope is not None or len(expr.listings) != 1:
        return None
    from symgrad.pretty.named_derivatives import in_names
    from symgrad.rewrite.pipeline import canonical

    with keeping(expr.answers):
        nodes = canonical([expr.node]).nodes[0], expr.node
        return in_names(expr.listings[0], nodes, None if expr.in_names is True else expr.in_names)
