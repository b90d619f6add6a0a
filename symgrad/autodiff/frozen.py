"""The semantics of stop_gradient, defined by frozen copies.

``stop_gradient(e)`` is ``e`` with every differentiable symbol x replaced by a frozen twin. A program is then a function
F(x, twin) with the value F(x, x); its k-th derivative is the k-th partial of F with respect to x at twin = x. The
backward pass does not use this definition; tests and verdicts compare the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.ir.graph import SYMBOL, Node, apply, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import substitute, symbols_of, topological


def frozen_copy(outputs: Sequence[Node], *, flat: bool = False) -> tuple[list[Node], dict[Node, Node]]:
    """Return F(x, twin) for each output, without stop_gradient, and the twin of each symbol that has one.

    Random inputs are data and have no twin: u inside and outside of stop_gradient is the same draw.

    Args:
        outputs: a program.
        flat: whether ops without derivatives (floor, argmax, conditions) also read frozen copies. This changes F, but
            none of its partials with respect to x at twin = x.
    """
    names = {s.name for s in symbols_of(outputs)}
    twins: dict[Node, Node] = {}
    stops = [n for n in topological(outputs) if "stops" in n.op.facts or (flat and _is_flat(n))]
    for s in symbols_of(stops):
        if s.dtype == "real" and s.declaration.distribution is None:
            name = free_name(f"{s.name}_frozen", names)
            twins[s] = symbol(replace(s.declaration, name=name))
    # Every node has two copies: one outside of stops, and one inside a stop, where all symbols are frozen.
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
    """Return the outputs on the diagonal twin = x."""
    return substitute(list(outputs), {twin: s for s, twin in twins.items()})
