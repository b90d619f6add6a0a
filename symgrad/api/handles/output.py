"""The forms in which expressions are computed: kernels, calls, stable forms and source all have them from here."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.handles.base import Handle
from symgrad.compiler.forms.output import Arrangement, Output
from symgrad.compiler.forms.pipeline import arrange
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ops.control import stop_gradient, with_slope
from symgrad.rewrite.memo import Answers, keeping, remembered


def outputs_of(exprs: Sequence[Handle]) -> list[Output]:
    """Return expressions as outputs of a kernel: of a derivative its origin, and how it is printed."""
    return [Output(e.node, e.origins, e.traces, e.slope, _simplified) for e in exprs]


def _simplified(node: Node) -> Node:
    from symgrad.pretty.simplify import simplified  # a late import: only formulas that lose digits need it

    return simplified(node).node


def arrange_nodes(exprs: Sequence[Handle], *, fast: bool = False, low: bool = False) -> Arrangement:
    """Return the forms in which expressions are computed together, each choice made once.

    Args:
        exprs: the expressions; those that are no derivatives stay as they are written.
        fast: whether formulas of the user may be rearranged like derivatives.
        low: whether long derivatives stay as the chain rule gives them.
    """
    no_answers: Answers = {}
    derivatives = tuple([(e.origins, e.slope) for e in exprs])
    with keeping(next((e.answers for e in exprs if e.derived), no_answers)):
        return remembered(
            [e.node for e in exprs],
            ("computed", fast, low, derivatives),
            lambda: arrange(outputs_of(exprs), fast=fast, low=low),
        )


def has_stops(exprs: Sequence[Handle]) -> bool:
    """Tell whether expressions contain ops that only matter to derivatives, which a form for values does not keep."""
    return any(n.op is stop_gradient or n.op is with_slope for n in topological([e.node for e in exprs]))
