"""Forward values that a kernel of a value and its gradient computes once."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.inputs import array_program
from symgrad.ir.graph import Node, symbol
from symgrad.ir.op import OPS
from symgrad.ir.traverse import topological
from symgrad.ir.types import REAL, Declaration

__all__ = ["residuals"]

# What costs no more than reading its operands.
_CHEAP = frozenset(
    {"add", "mul", "neg", "div", "where", "stop_gradient", "one_hot", "gather"}
    | {"reshape", "broadcast_to", "slice", "unslice", "concatenate"}
)


def residuals(forward: Sequence[Node], derived: Sequence[Node]) -> tuple[dict[Node, Node], dict[Node, Node]]:
    """Return stand-ins for values of an array program that its derivatives read and its own outputs compute anyway.

    The canonical form of a derivative may write a matrix product or a tanh in another way than the user did, and the
    kernel would compute both. With a symbol in its place the forward value is computed once. The derivatives of tanh
    and sigmoid are read off their values, so that what they were taken of need not be kept: their error is then an ulp
    of one, not of themselves.

    Args:
        forward: the user's own expressions.
        derived: the derivatives.

    Returns:
        What to put in the derivatives before they are rewritten, and what to put back afterwards.
    """
    if not array_program([*forward, *derived]):
        return {}, {}
    computed = set(topological(forward))
    order = topological(derived)
    primals = {n: value for n in order if (value := _primal(n)) is not None and value in computed}
    kept = {n for n in order if n in computed and n.args and n.dtype == "real" and _costs(n)}
    kept |= {*primals.values()}
    stand_ins: dict[Node, Node] = {}
    for node in topological([*derived, *primals.values()], until=kept):
        if node in kept:
            stand_ins[node] = symbol(Declaration(f"__value{len(stand_ins)}", REAL, node.shape))
    slopes = {
        n: 1 - (stand_ins[value] ** 2 if value.op.name == "tanh" else stand_ins[value])
        for n, value in primals.items()
    }
    return {**stand_ins, **slopes}, {stand_in: node for node, stand_in in stand_ins.items()}


def _primal(node: Node) -> Node | None:
    """Return tanh(x) for sech(x)**2, and sigmoid(x) for sigmoid(-x)."""
    if node.op.name == "sigmoid":
        return OPS["sigmoid"](-node.args[0])
    if node.op.name == "pow" and node.args[0].op.name == "sech" and node.args[1].is_number(2):
        return OPS["tanh"](node.args[0].args[0])
    return None


def _costs(node: Node) -> bool:
    if node.op.name == "einsum":
        labels, result = node.params
        return len(labels) > 1 or len(result) < len(labels[0])
    return node.op.name not in _CHEAP
