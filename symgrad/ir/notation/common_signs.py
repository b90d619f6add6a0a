"""Sums that are each other's negative, a - b and b - a, are written with one of them, so that it can have a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from symgrad.ir.graph import OPS, Node, number
from symgrad.ir.traverse import fold, signed_terms, topological, uses, with_args

_LINEAR = frozenset(("mul", "einsum", "div"))
_OPERATIONS = 4
"""The least operations of a sum that may be worth a name."""


def with_common_signs(nodes: Sequence[Node]) -> list[Node]:
    """Return formulas in which no sum is the negative of another one: it is the other one with a minus.

    Args:
        nodes: the formulas; the sums that are formulas, and then those that are read more often, stay as they are.

    Example:
        >>> import symgrad as sg
        >>> from symgrad.ir.notation.printer import expression_text
        >>> p = sg.parse("a, b, x : real; u = sin(a)**2 - exp(b); y = -2*(exp(b) - sin(a)**2)*x; z = exp(u)/u")
        >>> for n in with_common_signs([p["y"].node, p["z"].node]):
        ...     print(expression_text(n))
        2*(sin(a)**2 - exp(b))*x
        exp(sin(a)**2 - exp(b))/(sin(a)**2 - exp(b))
    """
    count = uses(list(nodes))
    sums = {n: Counter(signed_terms(n)) for n in count if _is_long(n)}
    by_terms = {frozenset(terms.items()): n for n, terms in reversed(sums.items())}
    opposite: dict[Node, Node] = {}
    for n, terms in sums.items():
        other = by_terms.get(frozenset(((-sign, t), k) for (sign, t), k in terms.items()))
        if other is not None and not {n, other} & {*opposite, *opposite.values()}:
            ranks = [(x in nodes, count[x]) for x in (n, other)]
            opposite.update({n: other} if ranks[1] > ranks[0] else {other: n})
    if not opposite:
        return list(nodes)
    neg = OPS["neg"]
    kept: dict[Node, Node] = {}

    def rebuilt(node: Node, args: list[Node]) -> Node:
        minus = [a.op is neg for a in args]
        if node in opposite:
            other = opposite[node]
            if other not in kept:
                kept[other] = fold([other], rebuilt)[other]
            return neg(kept[other])
        if node.op is neg and minus[0] and node.args[0].op is not neg:
            return args[0].args[0]
        changed = [m and a is not old for m, a, old in zip(minus, args, node.args, strict=True)]
        if node.op.name in _LINEAR and any(changed):
            plain = with_args(node, [a.args[0] if c else a for a, c in zip(args, changed, strict=True)])
            return neg(plain) if sum(changed) % 2 else plain
        return with_args(node, args)

    found = fold(nodes, rebuilt)
    return [_with_sign_first(found[n]) if found[n] is not n else n for n in nodes]


def _is_long(node: Node) -> bool:
    if node.op.name != "add" or node.dtype != "real":
        return False
    return sum(bool(n.args) and n.op.name != "neg" for n in topological([node])) >= _OPERATIONS


def _with_sign_first(node: Node) -> Node:
    """Return -(a*b) as (-a)*b, which is written without parentheses."""
    if node.op.name != "neg":
        return node
    if node.args[0].is_number():
        return number(-node.args[0].value)
    if node.args[0].op.name not in ("mul", "div"):
        return node
    first, *others = node.args[0].args
    return with_args(node.args[0], [_with_sign_first(OPS["neg"](first)), *others])
