"""The meaning of stop_gradient, as plain algebra: the frozen copy.

``stop_gradient(e)`` is ``e`` with every differentiable symbol x replaced by a frozen twin. A program is then
an ordinary function F(x, twin), its value F(x, x), and its k-th derivative the k-th partial of F by x alone,
taken at twin = x. The backward pass does not use this; tests and verdicts hold the two together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.ir.graph import SYMBOL, Node, apply, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import substitute, symbols_of, topological

__all__ = ["frozen_copy", "unfreeze"]


def frozen_copy(outputs: Sequence[Node], *, flat: bool = False) -> tuple[list[Node], dict[Node, Node]]:
    """Return F(x, twin) for each output, free of stop_gradient, and the twin of every symbol that has one.

    Random inputs are data and keep no twin: a stopped and a running u are the same draw.

    Args:
        outputs: a program.
        flat: whether what has no derivative anyway (floor, argmax, conditions) is of frozen copies too: then F is not
            the function that it is without it, but all its partials by x are the same, where twin = x.
    """
    names = {s.name for s in symbols_of(outputs)}
    twins: dict[Node, Node] = {}
    stops = [n for n in topological(outputs) if "stops" in n.op.facts or (flat and _is_flat(n))]
    for s in symbols_of(stops):
        if s.dtype == "real" and s.declaration.distribution is None:
            name = free_name(f"{s.name}_frozen", names)
            twins[s] = symbol(replace(s.declaration, name=name))
    # Two copies of every node: as it is, and inside a stop (all its symbols frozen).
    running: dict[Node, Node] = {}
    frozen: dict[Node, Node] = {}
    for node in topological(outputs):
        if node.op is SYMBOL:
            running[node], frozen[node] = node, twins.get(node, node)
        elif not node.args:
            running[node] = frozen[node] = node
        elif "stops" in node.op.facts:
            running[node] = frozen[node] = frozen[node.args[0]]
        elif flat and _is_flat(node):
            frozen[node] = apply(node.op, tuple(frozen[a] for a in node.args), node.params)
            running[node] = frozen[node]
        else:
            running[node] = apply(node.op, tuple(running[a] for a in node.args), node.params)
            frozen[node] = apply(node.op, tuple(frozen[a] for a in node.args), node.params)
    return [running[o] for o in outputs], twins


def _is_flat(node: Node) -> bool:
    return bool(node.args) and (node.dtype != "real" or "piecewise-constant" in node.op.facts)


def unfreeze(outputs: Sequence[Node], twins: Mapping[Node, Node]) -> list[Node]:
    """Return the outputs on the diagonal, twin = x."""
    return substitute(list(outputs), {twin: s for s, twin in twins.items()})
