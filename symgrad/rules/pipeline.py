"""The phases in order. Today one: canonical."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.rewrite.condition import Conditions
from symgrad.rewrite.engine import Round, rewrite
from symgrad.rewrite.trace import Trace
from symgrad.rules.canonical import CANONICAL, DROP_STOPS
from symgrad.rules.matrices import in_matrix_notation
from symgrad.rules.normal import NormalForms
from symgrad.rules.order import Order
from symgrad.rules.products import spell_signs

__all__ = ["Canonical", "canonical"]


@dataclass(frozen=True, slots=True)
class Canonical:
    """Nodes in canonical form, and how they came about.

    Args:
        nodes: the canonical nodes, in the order of the inputs.
        trace: every application of a rule, and why the rewriting stopped.
    """

    nodes: list[Node]
    trace: Trace

    @property
    def notes(self) -> list[str]:
        """Sentences on where the result is defined and the input was not, each once."""
        from symgrad.ir.printer import expression_text

        found: dict[str, None] = {}
        for step in self.trace.widening:
            for note in step.notes:
                before, after = expression_text(step.before), expression_text(step.after)
                found[f"{before} -> {after}: {note.text.replace('{}', expression_text(note.node))}"] = None
        return list(found)


def canonical(outputs: Sequence[Node], *, drop_stops: bool = False) -> Canonical:
    """Bring nodes to canonical form: what a person would write, with the same value wherever the input has one.

    Args:
        outputs: nodes of any shapes; what they share is rewritten once and stays shared.
        drop_stops: read ``stop_gradient(e)`` as ``e``. Right for a formula that is only evaluated; wrong
            for one that is differentiated again, where the frozen copy matters, so the default keeps them.

    Returns:
        The nodes, the trace, and notes on domains that grew.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.arith import add, mul
        >>> x = symbol(Declaration("x"))
        >>> canonical([add(mul(x, x), mul(x, x))]).nodes[0] is 2 * x**2
        True
    """
    order = Order()
    rules = DROP_STOPS if drop_stops else CANONICAL
    known = Conditions()
    nodes, trace = rewrite(outputs, rules, lambda current: NormalForms(current, order), known=known)
    nodes = in_matrix_notation(nodes, NormalForms(Round(rules, known, 0), order))
    return Canonical(spell_signs(nodes), trace)
