"""Guards that say nothing: of what has no value anyway, or is zero anyway."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symgrad.ir.graph import Node, apply
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.arith import div, mul, neg, pow
from symgrad.ops.elementary import sqrt
from symgrad.ops.logic import eq, ne, where
from symgrad.rewrite.condition import Conditions

__all__ = ["without_guards_of_zero", "without_idle_guards"]


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


def without_guards_of_zero(node: Node, known: Conditions) -> Node:
    """Return a node without the guards of products that are zero with what guards them, and have a value everywhere.

    `where(1 - b == 0, 0, (1 - b)*x**b)` is `(1 - b)*x**b` for a positive x.

    Example:
        >>> from symgrad.ir.graph import as_node, symbol
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x"))
        >>> without_guards_of_zero(where(eq(x, as_node(0)), as_node(0), 2 * x), Conditions()) is 2 * x
        True
    """
    found: dict[Node, Node] = {}
    for n in topological([node]):
        if n.op is where and n.args[0].op in (eq, ne) and n.args[0].args[1].is_number(0):
            zero, value = n.args[1:] if n.args[0].op is eq else n.args[:0:-1]
            guard = _factors(n.args[0].args[0])
            with_it = guard and set(guard) <= set(_factors(value))
            if zero.is_number(0) and with_it and value.shape == n.shape and known.defined(value) == "yes":
                found[n] = value
    return substitute([node], found)[0] if found else node


def _factors(node: Node) -> list[Node]:
    """Return what a product is zero with: its factors above but for numbers, and the bases of their powers."""
    found: list[Node] = []
    pending = [node]
    while pending:
        top = pending.pop()
        parts = top.args[:1] if top.op is div else _zero_with(top)
        pending += parts
        if not parts and not top.is_number():
            found.append(top)
    return found


def _zero_with(node: Node) -> Sequence[Node]:
    """Return the arguments that make a product, a root or a power zero where they are; of anything else none."""
    if node.op in (mul, neg):
        return node.args
    rooted = node.op is pow and node.args[1].is_number() and node.args[1].value > 0
    return node.args[:1] if rooted or node.op is sqrt else ()


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
            pending += _zero_with(divisor)
    return found
