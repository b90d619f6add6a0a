"""Share forward values in a kernel that computes a value and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.ir.graph import Node, symbol
from symgrad.ir.traverse import is_elementwise, substitute, topological
from symgrad.ir.types import REAL, Declaration

# Ops that cost no more than reading their operands; ops that move entries are also cheap.
_CHEAP = frozenset({"add", "mul", "neg", "div", "where", "stop_gradient", "one_hot"})


def residuals(forward: Sequence[Node], derived: Sequence[Node]) -> tuple[dict[Node, Node], dict[Node, Node]]:
    """Return stand-ins for values of an array program that its derivatives and its outputs both compute.

    The canonical form of a derivative may write a matrix product or a tanh differently from the user's program, and the
    kernel would compute both. If a symbol stands for the forward value, it is computed once. Derivatives of tanh and
    sigmoid are not computed from the values of tanh and sigmoid: 1 - tanh(x)**2 has no correct digit where it is small,
    and a quotient by it may be the only term of a gradient.

    Args:
        forward: the user's own expressions.
        derived: the derivatives.

    Returns:
        The substitution before the derivatives are rewritten, and its inverse for afterwards.
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
    """Return the stand-ins that may be used if no digits are lost, and stand-ins that may be used in any case.

    The user's own values have lost digits where the formula loses them, so they are used only if no other form keeps
    the digits. Sums of products are used at once, unless their operands lose digits; in that case no stand-in is used.

    Args:
        stand_ins: the symbols that stand for the user's own values.
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
