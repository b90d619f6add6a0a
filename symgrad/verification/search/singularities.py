"""Simplify the zero sets that a proof excludes: cos(x) = 0 for tan(x/2) = 1 or tan(x/2) = -1.

    tan(u) = 1 or tan(u) = -1     ::= cos(2*u) = 0
    tan(u) = 0 or cos(u) = 0      ::= sin(2*u) = 0
    tan(u) = 0                    ::= sin(u) = 0
    exp(u) = 1                    ::= u = 0
    a = 0 or (a = 0 and b = 0)    ::= a = 0

Both sides of a rule are the same set of points. Contradictory conjunctions are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.traverse import substitute
from symgrad.ops.scalar.arith import mul
from symgrad.ops.scalar.trig import cos, sin
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical

ZeroSet: TypeAlias = "tuple[Node, ...]"
"""Nodes that are all zero."""


def simpler(places: Sequence[ZeroSet], factors: Callable[[Node], Iterable[Node]]) -> list[ZeroSet]:
    """Describe a union of zero sets by shorter conditions.

    Args:
        places: the zero sets.
        factors: maps a node to nodes one of which is zero wherever it is zero; to none if it is never zero.
    """
    single = {p[0]: None for p in places if len(p) == 1}
    plain = list(_of_angles(single))
    found: dict[ZeroSet, None] = {(n,): None for n in plain}
    covered = {f for n in plain for f in factors(n)}
    for place in places:
        if len(place) == 1 or any(covered.issuperset(factors(n)) for n in place) or not _can_be(place):
            continue
        found[place] = None
    return list(found)


def _of_angles(zeros: Iterable[Node]) -> Iterator[Node]:
    """Merge zeros of tangents of half angles into zeros of functions of whole angles."""
    pending = dict.fromkeys(zeros)
    for n in list(pending):
        if n not in pending:
            continue
        base, number = _shifted(n)
        name, u = base.op.name, base.args[0] if base.args else base
        if name == "tan" and abs(number) == 1:
            other = next((m for m in pending if _shifted(m) == (base, -number)), None)
            if other is not None:
                del pending[n], pending[other]
                yield _short(cos(mul(as_node(2), u)))
        elif name == "tan" and number == 0:
            del pending[n]
            pole = next((m for m in pending if m.op is cos and m.args[0] is u), None)
            if pole is not None:
                del pending[pole]
            yield _short(sin(u if pole is None else mul(as_node(2), u)))
        elif name == "exp" and number == -1:
            del pending[n]
            yield u
    yield from pending


def _shifted(n: Node) -> tuple[Node, int]:
    """Match +-(u + c) for an integer c; return u and c (0 if there is no integer)."""
    if n.op.name == "add":
        for u, c in (n.args, n.args[::-1]):
            if c.is_number() and c.value.denominator == 1:
                return (u.args[0], -int(c.value)) if u.op.name == "neg" else (u, int(c.value))
    return n, 0


def _can_be(place: ZeroSet) -> bool:
    """Tell whether all nodes may be zero together; the inputs among them are set to 0."""
    table = {n: as_node(0) for n in place if n.op is SYMBOL}
    known = Conditions()
    return all(
        known.nonzero(_short(n)) != "yes" for n in substitute([n for n in place if n not in table], table)
    )


def _short(n: Node) -> Node:
    return canonical([n]).nodes[0]
