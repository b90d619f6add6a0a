"""Derivatives made anew of stable forms of what was differentiated: digits are kept more easily than found."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.arrange.output import Output
from symgrad.backward.vjp import pull_back
from symgrad.ir.graph import SYMBOL, Node

__all__ = ["rederived"]


def rederived(outputs: Sequence[Output]) -> list[Node]:
    """Return derivatives pulled back from stable forms.

    Only where pulling back once more what the trace says gives the same derivative: nothing was held constant then.

    Args:
        outputs: the derivatives; one of which no backward pass is known stays as it is.
    """
    from symgrad.rules.pipeline import stable  # for start-up time: values as written need no rules

    found: list[Node] = []
    forms: dict[Node, Node] = {}
    for o in outputs:
        found.append(o.node)
        for trace in o.traces:
            if len(trace.outputs) != 1 or o.node not in trace.gradients:
                continue
            ((primal, seed),) = trace.outputs
            wrt = trace.wrt[trace.gradients.index(o.node)]
            form = forms.get(primal)
            if form is None:
                form = forms[primal] = stable([primal]).nodes[0]
            if form is not primal and wrt.op is SYMBOL:
                again, other = (pull_back([f], [seed], [wrt]).gradients[0] for f in (primal, form))
                found[-1] = other if again is o.node else o.node
            break
    return found
