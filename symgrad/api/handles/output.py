"""What the compiler is told of an expression: its node, and of a derivative its origin and how it is printed."""

from __future__ import annotations

from symgrad.api.handles.base import Handle
from symgrad.compiler.forms.output import Output
from symgrad.ir.graph import Node


def output_of(expr: Handle) -> Output:
    """Return an expression as an output of a kernel."""
    return Output(expr.node, expr.origins, expr.traces, expr.slope, _simplified)


def _simplified(node: Node) -> Node:
    from symgrad.pretty.simplify import simplified  # a late import: only formulas that lose digits need it

    return simplified(node).node
