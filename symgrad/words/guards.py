"""Guards that say nothing: where a divisor outside is zero there is no value anyway, whatever a choice inside gives."""

from __future__ import annotations

from collections.abc import Iterable

from symgrad.ir.graph import Node, apply
from symgrad.ir.traverse import topological
from symgrad.ops.arith import div, mul, neg, pow
from symgrad.ops.elementary import sqrt
from symgrad.ops.logic import ne, where

__all__ = ["without_idle_guards"]


def without_idle_guards(node: Node) -> Node:
    """Return a node without the guards of choices that divisors beside them make idle.

    `(y - where(u != 0, x/u, 0))/u` is `(y - x/u)/u`: neither has a value where u is zero.

    Example:
        >>> from symgrad.ir.graph import as_node, symbol
        >>> from symgrad.ir.types import Declaration
        >>> import symgrad.ops
        >>> u, x, y = (symbol(Declaration(name)) for name in "uxy")
        >>> without_idle_guards((y - where(ne(u, as_node(0)), x / u, as_node(0))) / u) is (y - x / u) / u
        True
    """
    inside = _always(node)
    asked = _asked(inside)
    if not asked:
        return node
    done: dict[Node, Node] = {}
    for n in topological([node]):
        if n not in inside:
            continue
        if n.op is where:
            value = n.args[1]
            done[n] = value if _guarded(n) in asked and value.shape == n.shape else n
        elif _needs_all(n):
            args = tuple(done[a] for a in n.args)
            done[n] = n if args == n.args else apply(n.op, args, n.params)
        else:
            done[n] = n
    return done[node]


def _guarded(choice: Node) -> Node | None:
    condition, _, other = choice.args
    says = condition.op is ne and condition.args[1].is_number(0) and other.is_number(0)
    return condition.args[0] if says else None


def _always(node: Node) -> set[Node]:
    """Return the parts without whose values the node has none, entry by entry: down to choices and other ops."""
    found: set[Node] = set()
    pending = [node]
    while pending:
        top = pending.pop()
        if top in found:
            continue
        found.add(top)
        if _needs_all(top):
            pending += top.args
    return found


def _needs_all(node: Node) -> bool:
    """Tell whether an entry has a value only where the same entry of each operand has one."""
    return node.op is not where and (node.op.pointwise or not any(a.shape for a in node.args))


def _asked(parts: Iterable[Node]) -> set[Node]:
    found: set[Node] = set()
    for n in parts:
        pending = [n.args[1]] if n.op is div else []
        while pending:
            divisor = pending.pop()
            found.add(divisor)
            if divisor.op in (mul, neg):
                pending += divisor.args
            elif divisor.op is sqrt or (
                divisor.op is pow and divisor.args[1].is_number() and divisor.args[1].value > 0
            ):
                pending.append(divisor.args[0])
    return found
