"""Programs with the same value, in which derivatives pass the equations that block them."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.analysis.stop_gradient.edges import Edges, derivative_edges
from symgrad.ir.graph import Node
from symgrad.ir.traverse import fold, topological, with_args
from symgrad.ops.control import straight_through


def _rounds(n: Node) -> bool:
    """Tell whether an equation rounds to a nearby number: floor, ceil and round do, sign and argmax do not."""
    facts = n.op.facts
    if not {"piecewise-constant", "integral", "idempotent"} <= facts or "bounded-by-one" in facts:
        return False
    return n.op.pointwise and len(n.args) == 1 and n.dtype == "real" and n.args[0].dtype == "real"


def passed_on(y: Node, wrt: Sequence[Node], steps: bool) -> tuple[Node, list[Node]]:
    """Return a program whose derivatives pass blocking equations on the way to inputs, and these equations.

    The value is the same to the bit: a stop_gradient is removed, and a step f of g becomes
    ``stop_gradient(f) - (stop_gradient(g) - g)``, which is f where g is finite.

    Args:
        y: the program.
        wrt: the inputs, or intermediate values.
        steps: whether derivatives should pass steps that round, as if these were the identity, instead of
            stop_gradients.
    """
    order = topological([y])
    ends = {n for n in order if (_rounds(n) if steps else "stops" in n.op.facts and n.dtype == "real")}
    edges = Edges(y, wrt, ends)
    through = [n for n in order if n in ends and edges.passes(n)]
    chosen = set(through)

    def opened(n: Node, args: list[Node]) -> Node:
        if n not in chosen:
            return with_args(n, args)
        return straight_through(n, args[0]) if steps else args[0]

    return fold([y], opened)[y], through


def led_to(y: Node, through: Sequence[Node]) -> set[Node]:
    """Return all nodes that derivatives reach through blocking equations, once these let derivatives pass."""
    ends = set(through)
    found = set(ends)
    for n in reversed(topological([y])):
        if n in found:
            found.update(n.args if n in ends else derivative_edges(n))
    return found
