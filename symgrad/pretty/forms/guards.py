"""Remove `where` guards that have no effect: the guarded value is undefined without them, too, or zero anyway."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from symgrad.ir.graph import Node, apply
from symgrad.ir.traverse import substitute, topological, with_args
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import div, mul, neg, pow
from symgrad.ops.scalar.elementary import sqrt
from symgrad.ops.scalar.logic import eq, ne, where
from symgrad.rewrite.facts.inference import Conditions
from symgrad.support.traversal import leaves, walk


def without_idle_guards(node: Node, known: Conditions | None = None) -> Node:
    """Return a node without those guards that have no effect because a divisor elsewhere is zero at the same points.

    `(y - where(u != 0, x/u, 0))/u` is `(y - x/u)/u`: neither has a value where u is zero. For the same reason
    `where(c != 0, c/u, 0) - x/u` is `c/u - x/u`: where c is zero, c/u is zero, or the formula has no value.

    Args:
        node: a formula.
        known: facts about its parts.

    Example:
        >>> from symgrad.ir.graph import as_node, symbol
        >>> from symgrad.ir.types import Declaration
        >>> import symgrad.ops
        >>> u, x, y = (symbol(Declaration(name)) for name in "uxy")
        >>> without_idle_guards((y - where(ne(u, as_node(0)), x / u, as_node(0))) / u) is (y - x / u) / u
        True
    """
    if not any(n.op is where for n in topological([node])):
        return node
    inside = _always(node)
    asked = _asked(inside)
    if not asked:
        return node
    # Where a number that divides every entry is zero, nothing has a value, whatever is chosen in other entries.
    everywhere = {
        n: n.args[1]
        for n in topological([node])
        if n.op is where and n not in inside and n.args[1].shape == n.shape
        if (guard := _guarded(n)) in asked and not guard.shape
    }
    facts = known or Conditions()
    done: dict[Node, Node] = {}
    for n in topological([node]):
        if n not in inside:
            continue
        if n.op is where:
            done[n] = n.args[1] if _is_idle(n, asked, facts) else n
        elif _needs_all(n):
            done[n] = with_args(n, [done[a] for a in n.args])
        else:
            done[n] = n
    return substitute([done[node]], everywhere)[0] if everywhere else done[node]


def _is_idle(choice: Node, asked: Collection[Node], known: Conditions) -> bool:
    """Tell whether the value of a guard says the same, where all of some nodes are not zero."""
    guard, value = _guarded(choice), choice.args[1]
    if guard is None or value.shape != choice.shape:
        return False
    if guard in asked:
        return True
    # The sum of an array needs its entries at other places, too.
    same, numbers = _always(value), {n for n in asked if not n.shape}
    parts = topological([value])
    return guard in _factors(value) and all(
        _has_value(n, asked if n in same else numbers, known) for n in parts
    )


def _has_value(node: Node, asked: Collection[Node], known: Conditions) -> bool:
    """Tell whether a part has a value for all values of its arguments, where all of some nodes are not zero."""

    def nonzero(divisor: Node) -> bool:
        parts = leaves(divisor, lambda top: () if top in asked else _zero_with(top) or None)
        return all(known.nonzero(part) == "yes" for part in parts)

    if node.op is div:
        return nonzero(node.args[1])
    if node.op is pow and node.args[1].is_number():
        base, exponent = node.args[0], node.args[1].value
        return (exponent >= 0 or nonzero(base)) and (
            isinstance(exponent, int) or exponent.denominator == 1 or known.nonnegative(base) == "yes"
        )
    if node.op.pointwise:
        return node.op.domain is None or known.holds(node.op.domain(*node.args)) == "yes"
    return node.op.array.total == "always"


def without_guards_of_zero(node: Node, known: Conditions) -> Node:
    """Return a node without guards of products that are zero where the guard is zero, and that have a value everywhere.

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


def hoist_conditions(node: Node) -> Node:
    """Return a node in which no choice repeats a condition that surrounds it: `where(c, where(c, a, 0), 0)`."""
    for choice in [n for n in topological([node]) if n.op is where]:
        condition, yes, no = choice.args
        inner = _where_it_holds(yes, condition)
        if inner is not yes:
            node = substitute([node], {choice: where(condition, full(inner, yes.shape), no)})[0]
    return node


def _where_it_holds(node: Node, condition: Node) -> Node:
    """Return a node with the branches that a condition takes, entry by entry; ops that mix entries stay as they are."""
    inside = set(walk([node], lambda top: top.args if top.op.pointwise else ()))
    done: dict[Node, Node] = {}
    for n in topological([node]):
        if n not in inside or not n.op.pointwise or not n.args:
            done[n] = n
        elif n.op is where and n.args[0] is condition:
            done[n] = full(done[n.args[1]], n.shape)
        else:
            args = tuple(done[a] for a in n.args)
            if args == n.args:
                done[n] = n
            elif n.op is mul and args[0].is_number(1) and args[1].shape == n.shape:
                done[n] = args[1]
            else:
                done[n] = apply(n.op, args, n.params)
    return done[node]


def _factors(node: Node) -> list[Node]:
    """Return nodes such that a product is zero where one of them is: factors of its numerator, and bases of powers."""
    parts = leaves(node, lambda top: (top.args[:1] if top.op is div else _zero_with(top)) or None)
    return [part for part in parts if not part.is_number()]


def _zero_with(node: Node) -> Sequence[Node]:
    """Return the arguments such that a product, a root or a power is zero where one of them is.

    The result is empty for other nodes.
    """
    if node.op in (mul, neg):
        return node.args
    rooted = node.op is pow and node.args[1].is_number() and node.args[1].value > 0
    return node.args[:1] if rooted or node.op is sqrt else ()


def _guarded(choice: Node) -> Node | None:
    condition, _, other = choice.args
    says = condition.op is ne and condition.args[1].is_number(0) and other.is_number(0)
    return condition.args[0] if says else None


def _always(node: Node) -> set[Node]:
    """Return the parts that must have a value, entry by entry, for a node to have one.

    Stop at choices and other ops.
    """
    return set(walk([node], lambda top: top.args if _needs_all(top) else ()))


def _needs_all(node: Node) -> bool:
    """Tell whether an entry has a value only where the same entry of each operand has one."""
    return node.op is not where and (node.op.pointwise or not any(a.shape for a in node.args))


def _asked(parts: Iterable[Node]) -> set[Node]:
    return set(walk([n.args[1] for n in parts if n.op is div], _zero_with))
