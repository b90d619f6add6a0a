"""Which of two forms of derivatives is computed: as the chain rule gave them, or in canonical form."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from symgrad.compiler.lowering.cost import own_cost
from symgrad.ir.graph import OPS, Node
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, div, mul, neg, pow

__all__ = ["SMALL", "cheaper", "cost", "evidently_fine"]

SMALL = 160
"""Equations up to which a person would see the difference, and all forms are looked at."""

_EVERYWHERE = frozenset((add, mul, neg, OPS["stop_gradient"]))
"""What has a value wherever its arguments have."""


def cost(nodes: Collection[Node]) -> int:
    """Return about how many simple operations these nodes take, each by itself."""
    return sum(map(own_cost, nodes))


def evidently_fine(direct: Sequence[Node], primal: Collection[Node]) -> bool:
    """Tell whether no other form has anything to offer beside derivatives as the chain rule gave them.

    So it is where they are products and sums of what the user's own expressions compute anyway, none of which may be
    infinite, and where no sum has a number among its terms, as those have that cancel (1 - tanh(x)**2): the Jacobian of
    a chain of rotations, say, whose canonical form takes ten times as long to find as to compile. Small ones are never.

    Args:
        direct: the derivatives.
        primal: what is computed beside them.
    """
    order = topological(direct)
    own = set(primal)
    for n in order:
        with_number = n.op is add and any(a.is_number() for a in n.args)
        if n.args and n not in own and (n.op not in _EVERYWHERE or with_number):
            return False
    return len(order) > SMALL and not any(map(_may_be_infinite, order))


def cheaper(nodes: Sequence[Node], direct: Sequence[Node], primal: Collection[Node]) -> Sequence[Node]:
    """Return derivatives as the chain rule gave them if they are cheaper so, and defined wherever they can be.

    What the chain rule reads, the user's own expressions compute anyway; a form that collects has it in other words.
    Small ones, in which a person would see the difference, are as they were chosen; and so are those that collect in an
    exponent, say, what the chain rule multiplies: exp(x - exp(x)) is zero where exp(-exp(x))*exp(x) is no number.

    Args:
        nodes: the derivatives in canonical form.
        direct: as the chain rule gave them.
        primal: what is computed beside them.
    """
    order, other = topological(direct), topological(nodes)
    if len(order) <= SMALL:
        return nodes
    known = {*primal, *other}
    everywhere = all(n in known or n.op in _EVERYWHERE or not n.args for n in order)
    less = everywhere and cost({*order, *primal}) < cost(known)
    return direct if less and _unbounded(order) == _unbounded(other) else nodes


def _unbounded(order: Sequence[Node]) -> set[Node]:
    """Return what of all these may be infinite where its arguments are not, in canonical form."""
    from symgrad.rewrite.pipeline import canonical  # for start-up time: values as written need no rules

    found = [*filter(_may_be_infinite, order)]
    if not found:
        return set()
    return {*filter(_may_be_infinite, topological(canonical(found, drop_stops=True).nodes))}


def _may_be_infinite(node: Node) -> bool:
    """Tell whether a node that is no product or sum may be infinite where its arguments are not."""
    if not node.args or node.op in _EVERYWHERE or "bounded-by-one" in node.op.facts:
        return False
    last = node.args[-1]
    if node.op is div:
        return not last.is_number()
    return not (node.op is pow and last.is_number() and last.dtype == "int" and last.value > 0)
