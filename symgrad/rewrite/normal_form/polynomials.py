"""Expand expressions as polynomials in their parts, to cancel terms; use the expansion only if it is shorter.

Polynomial ::= {Monomial: rational coefficient}
Monomial   ::= ((atom, exponent), ...)      -- sorted atoms; no atom is a sum, product or integer power
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import TypeAlias

from symgrad.ir.exact import FOLDED, HIGHEST, MONOMIALS, is_longer
from symgrad.ir.graph import Node, as_node, number
from symgrad.ir.traverse import digest, topological
from symgrad.rewrite.facts.inference import Conditions
from symgrad.support.traversal import walk

Monomial: TypeAlias = "tuple[tuple[Node, int], ...]"
Polynomial: TypeAlias = "dict[Monomial, Fraction]"

_ONE: Monomial = ()
_OPENED = 40  # largest number of nodes of an expression


def shortened(node: Node) -> Node:
    """Return a sum, product or quotient by a number with like terms cancelled, or the node itself if none cancel.

    The caller checks with `keeps_domain` that the cancelled terms have a value everywhere.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> import symgrad.ops
        >>> x, y = symbol(Declaration("x")), symbol(Declaration("y"))
        >>> shortened((x + y) - x) is y
        True
    """
    order = topological([node])
    if len(order) > _OPENED:
        return node
    opened = _opened(order, node)
    if opened is None:
        return node
    found, terms = opened
    return node if len(found) >= terms else _node_of(found)


def common_denominator(terms: Iterable[Node], known: Conditions) -> Node | None:
    """Return a sum as one quotient if that adds no terms: `1/(x + 1) - 1/x` is `-1/((x + 1)*x)`.

    Otherwise return None.
    """
    parts = list(terms)
    quotients = [_quotient(t) for t in parts]
    below = dict.fromkeys(q for _, q in quotients if q is not None)
    if not below or len(topological(parts)) > _OPENED:
        return None
    total: Node = as_node(0)
    for above, own in quotients:
        total = total + reduce(mul, [other for other in below if other is not own], above)
    opened = _opened(topological([total]), total)
    if opened is None or len(opened[0]) > len(parts):
        return None
    numerator = _node_of(opened[0])
    if not keeps_domain((above for above, _ in quotients), [numerator, *below], known):
        return None
    return numerator / reduce(mul, below)


def keeps_domain(before: Iterable[Node], after: Iterable[Node], known: Conditions) -> bool:
    """Tell whether the nodes that a rewrite removes have a value wherever their arguments have one.

    If a choice is removed, its branches may be removed too, so they do not count as kept.
    """
    preserved = set(walk(after, lambda n: n.args[:1] if n.op.name == "where" else n.args))
    return all(n in preserved or known.total(n) for n in topological(before))


def _quotient(term: Node) -> tuple[Node, Node | None]:
    if term.op.name == "neg":
        above, below = _quotient(term.args[0])
        return -above, below
    if term.op.name == "div" and not term.args[1].is_number():
        return term.args[0], term.args[1]
    if term.op.name == "mul" and term.args[0].is_number():
        above, below = _quotient(term.args[1])
        return term.args[0] * above, below
    return term, None


class _TooLarge(Exception):
    """A polynomial has too many terms, too high exponents or too long coefficients."""


def _opened(order: list[Node], node: Node) -> tuple[Polynomial, int] | None:
    """Return a node as a polynomial, and the number of terms in its spelling; None if it grows too large."""
    values: dict[Node, tuple[Polynomial, int]] = {}
    try:
        for n in order:
            values[n] = _one(n, values)
            if len(values[n][0]) > MONOMIALS:
                return None
    except _TooLarge:
        return None
    return values[node]


def _one(n: Node, values: dict[Node, tuple[Polynomial, int]]) -> tuple[Polynomial, int]:
    name = n.op.name
    if n.is_number():
        value = Fraction(n.value)
        return ({_ONE: value} if value else {}, 1)
    if name == "add":
        (a, k), (b, m) = (values[arg] for arg in n.args)
        return _sum(a, b), k + m
    if name == "neg":
        a, k = values[n.args[0]]
        return {m: -c for m, c in a.items()}, k
    if name == "mul":
        (a, k), (b, m) = (values[arg] for arg in n.args)
        return _product(a, b, values), max(k, m)
    if name == "div" and n.args[1].is_number() and n.args[1].value:
        a, k = values[n.args[0]]
        return _product(a, {_ONE: 1 / Fraction(n.args[1].value)}, values), k
    if name == "pow" and n.args[1].is_number():
        exponent = Fraction(n.args[1].value)
        if exponent in (2, 3):
            a, k = values[n.args[0]]
            square = _product(a, a, values)
            return (square if exponent == 2 else _product(square, a, values)), k
    return {((n, 1),): Fraction(1)}, 1


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, Fraction(0)) + c
        if is_longer(total[m], FOLDED):
            raise _TooLarge
    if len(total) > MONOMIALS**2:  # some terms may still cancel
        raise _TooLarge
    return {m: c for m, c in total.items() if c}


def _product(a: Polynomial, b: Polynomial, values: dict[Node, tuple[Polynomial, int]]) -> Polynomial:
    total: Polynomial = {}
    for m, c in a.items():
        for p, d in b.items():
            both, extra = _times(m, p)
            # The square of a root is its radicand, which comes first in topological order.
            piece: Polynomial = {both: c * d}
            for radicand, k in extra:
                for _ in range(k):
                    piece = _product(piece, values[radicand][0], values)
            total = _sum(total, piece)
    return total


def _times(m: Monomial, p: Monomial) -> tuple[Monomial, list[tuple[Node, int]]]:
    powers = dict(m)
    for atom, e in p:
        powers[atom] = powers.get(atom, 0) + e
    if any(e > HIGHEST for e in powers.values()):
        raise _TooLarge
    extra: list[tuple[Node, int]] = []
    for atom, e in list(powers.items()):
        if atom.op.name == "sqrt" and e >= 2:
            extra.append((atom.args[0], e // 2))
            if e % 2:
                powers[atom] = 1
            else:
                del powers[atom]
    return tuple(sorted(powers.items(), key=lambda item: _place(item[0]))), extra


def _place(atom: Node) -> tuple[str, str]:
    return (atom.name if atom.op.name == "symbol" else "", digest(atom).hex())


def _node_of(polynomial: Polynomial) -> Node:
    total: Node | None = None
    # Positive terms come first, so that no sum opens with an avoidable minus sign.
    for m, c in sorted(polynomial.items(), key=lambda item: item[1] < 0):
        powers = [atom if e == 1 else atom ** number(e) for atom, e in m]
        term = _scaled(reduce(mul, powers), abs(c)) if powers else number(abs(c))
        signed = -term if c < 0 else term
        total = signed if total is None else total + signed
    return as_node(0) if total is None else total


def _scaled(product: Node, c: Fraction) -> Node:
    scaled = product if c.numerator == 1 else number(c.numerator) * product
    return scaled if c.denominator == 1 else scaled / number(c.denominator)
