"""Forward values that a kernel of a value and its gradient computes once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.ir.graph import Node, symbol
from symgrad.ir.traverse import is_elementwise, substitute, topological
from symgrad.ir.types import REAL, Declaration

__all__ = ["residuals", "shareable"]

# What costs no more than reading its operands, beside what moves entries.
_CHEAP = frozenset({"add", "mul", "neg", "div", "where", "stop_gradient", "one_hot"})


def residuals(forward: Sequence[Node], derived: Sequence[Node]) -> tuple[dict[Node, Node], dict[Node, Node]]:
    """Return stand-ins for values of an array program that its derivatives read and its own outputs compute anyway.

    The canonical form of a derivative may write a matrix product or a tanh in another way than the user did, and the
    kernel would compute both. With a symbol in its place the forward value is computed once. Slopes of tanh and sigmoid
    are not read off their values: 1 - tanh(x)**2 has no correct digit where it is small, and a quotient by it may be a
    gradient's only term.

    Args:
        forward: the user's own expressions.
        derived: the derivatives.

    Returns:
        What to put in the derivatives before they are rewritten, and what to put back afterwards.
    """
    if is_elementwise([*forward, *derived]):
        return {}, {}
    computed = set(topological(forward))
    order = topological(derived)
    kept = {n for n in order if n in computed and n.args and n.dtype == "real" and _costs(n)}
    stand_ins: dict[Node, Node] = {}
    for node in topological(derived, until=kept):
        if node in kept:
            stand_ins[node] = symbol(Declaration(f"__value{len(stand_ins)}", REAL, node.shape))
    return stand_ins, {stand_in: node for node, stand_in in stand_ins.items()}


def shareable(stand_ins: Mapping[Node, Node]) -> tuple[Mapping[Node, Node], Mapping[Node, Node]]:
    """Return which stand-ins may be read, and which of these at once, before it is known that no digits are lost.

    The user's own values have lost digits where the formula does: they are read only where no other form would keep
    them. Sums of products are, as long as it is not what they sum up that loses digits; if it is, none may be read.

    Args:
        stand_ins: for values of the user's own.
    """
    from symgrad.rewrite.pipeline import stable  # for start-up time: values as written need no rules

    sums: Mapping[Node, Node] = {n: s for n, s in stand_ins.items() if n.op.name == "einsum"}
    summed = substitute([a for n in sums for a in n.args], sums)
    if any(a.args for a in summed) and stable(summed).nodes != summed:
        return {}, {}
    return stand_ins, sums


def _costs(node: Node) -> bool:
    if node.op.name == "einsum":
        labels, result = node.params
        return len(labels) > 1 or len(result) < len(labels[0])
    moves = node.op.structure is not None and node.op.structure.entries in ("moved", "placed")
    return not moves and node.op.name not in _CHEAP
