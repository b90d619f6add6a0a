"""Differences in which something cancels: expressions as polynomials in their parts, opened only to be shortened.

Polynomial ::= {Monomial: rational coefficient}
Monomial   ::= ((atom, exponent), ...)      -- atoms: what is no sum, product or whole power; in one order
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from symgrad.ir.exact import FOLDED, HIGHEST, MONOMIALS, is_longer
from symgrad.ir.graph import Node, as_node, number
from symgrad.ir.traverse import digest, topological
from symgrad.rewrite.facts.inference import Conditions

__all__ = ["common_denominator", "keeps_domain", "shortened"]

Monomial: TypeAlias = "tuple[tuple[Node, int], ...]"
Polynomial: TypeAlias = "dict[Monomial, Fraction]"

_ONE: Monomial = ()
_OPENED = 40  # nodes


def shortened(node: Node) -> Node:
    """Return a sum, product or quotient by a number with its like terms cancelled, or the node where none are.

    Whether what vanishes has a value everywhere is for the caller to ask: it may stand elsewhere in what is written.

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
    return node if len(found) >= terms else _written(found)


def common_denominator(terms: Iterable[Node], known: Conditions) -> Node | None:
    """Return a sum as one quotient if its numerator is then no longer: `1/(x + 1) - 1/x` is `-1/((x + 1)*x)`."""
    parts = list(terms)
    quotients = [_quotient(t) for t in parts]
    below = dict.fromkeys(q for _, q in quotients if q is not None)
    if len(below) < 2 or len(topological(parts)) > _OPENED:
        return None
    numerator: Node = as_node(0)
    for above, own in quotients:
        for other in below:
            if other is not own:
                above = above * other
        numerator = numerator + above
    opened = _opened(topological([numerator]), numerator)
    if opened is None or len(opened[0]) > len(parts):
        return None
    made = _written(opened[0])
    if not keeps_domain((above for above, _ in quotients), [made, *below], known):
        return None
    denominator: Node | None = None
    for other in below:
        denominator = other if denominator is None else denominator * other
    return made / denominator if denominator is not None else None


def keeps_domain(before: Iterable[Node], after: Iterable[Node], known: Conditions) -> bool:
    """Tell whether what vanishes has a value wherever its arguments have one.

    What stands behind a choice may vanish with it: it does not count as kept.
    """
    kept: set[Node] = set()
    stack = list(after)
    while stack:
        n = stack.pop()
        if n not in kept:
            kept.add(n)
            stack += n.args[:1] if n.op.name == "where" else n.args
    return all(n in kept or known.total(n) for n in topological(before))


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
    """A polynomial has too many terms, or too high exponents or long coefficients."""


def _opened(order: list[Node], node: Node) -> tuple[Polynomial, int] | None:
    """Return a node as a polynomial, and how many terms it is written with; None if it grows too large."""
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
    if len(total) > MONOMIALS**2:  # some may cancel yet
        raise _TooLarge
    return {m: c for m, c in total.items() if c}


def _product(a: Polynomial, b: Polynomial, values: dict[Node, tuple[Polynomial, int]]) -> Polynomial:
    total: Polynomial = {}
    for m, c in a.items():
        for p, d in b.items():
            both, extra = _times(m, p)
            # A square of a root is what it is the root of, which comes before it in the order of nodes.
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


def _written(polynomial: Polynomial) -> Node:
    total: Node | None = None
    # What is added comes first, so that no sum opens with a minus sign that it need not have.
    for m, c in sorted(polynomial.items(), key=lambda item: item[1] < 0):
        product: Node | None = None
        for atom, e in m:
            power = atom if e == 1 else atom ** number(e)
            product = power if product is None else product * power
        term = number(abs(c)) if product is None else product if abs(c) == 1 else _scaled(product, abs(c))
        signed = -term if c < 0 else term
        total = signed if total is None else total + signed
    return as_node(0) if total is None else total


def _scaled(product: Node, c: Fraction) -> Node:
    if c.numerator == 1:
        return product / number(c.denominator)
    scaled = number(c.numerator) * product
    return scaled if c.denominator == 1 else scaled / number(c.denominator)
