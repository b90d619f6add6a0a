"""Where a formula has a value although what it stands for has none: said in the names of the program.

    undefined(f) ::= some op of f outside its domain        -- the record of the op states that domain
    gained(f, g) ::= what makes f undefined, and not g

Conditions are compared as factors: a product is zero where one of its factors is. What is known to hold is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from symgrad.ir.graph import Node, as_node
from symgrad.ir.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ops.logic import gt, ne
from symgrad.rewrite.condition import Conditions
from symgrad.rules.pipeline import canonical

__all__ = ["gained"]

_ZERO = as_node(0)
_MOST = 60
"""Conditions of a formula that are compared."""

_OPPOSITE = {"gt": "<=", "ge": "<", "lt": ">=", "le": ">", "eq": "is not", "ne": "="}


def gained(before: Sequence[Node], after: Sequence[Node], spoken: Callable[[Node], Node]) -> list[str]:
    """Return where nodes have values that those that they stand for have not, a phrase each.

    Args:
        before: derivatives as they were built, over declared symbols.
        after: what is shown for them, over declared symbols.
        spoken: puts a node into the names of the program.

    Returns:
        Phrases such as ``also defined at x + y = 0``.
    """
    known = Conditions()
    lost_always, lost_sometimes = _conditions(before, known)
    kept_always, kept_sometimes = _conditions(after, known)
    found = [c for c in lost_always if c not in kept_always]
    found += [c for c in lost_sometimes if c not in kept_always and c not in kept_sometimes]
    return list(dict.fromkeys(_phrase(c, spoken) for c in found))


def _conditions(nodes: Sequence[Node], known: Conditions) -> tuple[dict[Node, None], dict[Node, None]]:
    """Return what has to hold for values everywhere, and what only where a choice takes its branch."""
    every = topological(nodes)
    outside = _outside_of_choices(nodes)
    always: dict[Node, None] = {}
    sometimes: dict[Node, None] = {}
    for n in every:
        if n.op.pointwise and (n.op.domain is not None or n.op.name == "pow"):
            for condition in _of(n, known):
                (always if n in outside else sometimes).setdefault(condition)
                if len(always) + len(sometimes) > _MOST:
                    return always, sometimes
    return always, {c: None for c in sometimes if c not in always}


def _outside_of_choices(nodes: Sequence[Node]) -> set[Node]:
    seen = set(nodes)
    pending = list(nodes)
    while pending:
        n = pending.pop()
        fresh = [a for a in (n.args[:1] if n.op.name == "where" else n.args) if a not in seen]
        seen.update(fresh)
        pending += fresh
    return seen


def _of(node: Node, known: Conditions) -> Iterator[Node]:
    """Yield the conditions under which an op has a value, for those arguments, but for what is known to hold."""
    if node.op.name == "pow" and node.args[1].is_number():
        base, exponent = node.args[0], node.args[1].value
        whole = exponent.denominator == 1
        if not whole and known.nonnegative(base) != "yes":
            yield _ordered(gt(base, _ZERO) if exponent < 0 else node.op.domain(*node.args))
        elif exponent < 0:
            yield from _nonzero(base, known)
        return
    condition = node.op.domain(*node.args)
    if condition.op is ne and condition.args[1].is_number(0):
        yield from _nonzero(condition.args[0], known)
    elif known.holds(condition) != "yes":
        yield _ordered(condition)


def _ordered(condition: Node) -> Node:
    return canonical([condition]).nodes[0]


def _nonzero(node: Node, known: Conditions) -> Iterator[Node]:
    """Yield the factors of a node that may be zero, each in the form in which factors are compared."""
    pending = [canonical([node]).nodes[0]]
    while pending:
        n = pending.pop()
        if known.nonzero(n) == "yes":
            continue
        name = n.op.name
        if name in ("mul", "div"):
            pending += n.args if name == "mul" else n.args[:1]
        elif name in ("neg", "broadcast_to", "reshape", "abs", "sqrt") or (name == "pow" and n.args[1].is_number()):
            pending.append(n.args[0])
        else:
            other = canonical([-n]).nodes[0]
            yield ne(min(n, other, key=lambda x: (len(t := expression_text(x)), t)), _ZERO)


def _phrase(condition: Node, spoken: Callable[[Node], Node]) -> str:
    if condition.op.name in _OPPOSITE and condition.op.name != "eq":
        left, right = (expression_text(spoken(a)) for a in condition.args)
        where = "at" if condition.op is ne else "where"
        return f"also defined {where} {left} {_OPPOSITE[condition.op.name]} {right}"
    return f"also defined where {expression_text(spoken(condition))} is not so"
