"""Products of powers of noisy atoms, and sums of such products with noise-free coefficients.

Terms    ::= {Monomial: coefficient}          -- a sum; coefficients are nodes without a random input
Monomial ::= ((atom, exponent)*)              -- a product; exponents are nodes without a random input
atom     ::= u                                -- a random input
           | exp(m) | log(m) | cos(c*m) | sin(c*m) | s**u
           | abs(u) | c0 + u | c0 - u
           | where(u < c, 1, 0) | where(u >= c, 1, 0)        -- also for integers u
           | any other node, without known properties
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from symgrad.analysis.expectations.assumptions import Undecided
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import digest
from symgrad.rewrite.facts.point_masses import may_be_zero

Monomial = tuple[tuple[Node, Node], ...]
Terms = dict[Monomial, Node]

ONE: Monomial = ()
_0, _1 = as_node(0), as_node(1)
_TERMS = 256  # number of terms of a product


def below(u: Node, c: Node) -> Node:
    """Return 1 where u < c, and 0 elsewhere."""
    return OPS["where"](OPS["lt"](u, c), _1, _0)


def above(u: Node, c: Node) -> Node:
    """Return 1 where u >= c, and 0 elsewhere."""
    return OPS["where"](OPS["ge"](u, c), _1, _0)


def is_indicator(atom: Node) -> bool:
    """Tell whether an atom is an indicator that `below` or `above` returned."""
    return atom.op.name == "where" and atom.args[1] is _1 and atom.args[2] is _0


def opposite(atom: Node) -> Node:
    """Return the complementary indicator."""
    u, c = atom.args[0].args
    return above(u, c) if atom.args[0].op.name == "lt" else below(u, c)


def power_of(base: Node, exponent: Node) -> Node:
    """Return a power: a number if base and exponent are numbers, a square root if the exponent is 1/2."""
    if base.is_number(1):
        return base
    if exponent.is_number() and exponent.value == exponent.value.__class__(1) / 2:
        return OPS["sqrt"](base)
    return base**exponent


def node_of(monomial: Monomial) -> Node:
    """Return a monomial as one node."""
    found = _1
    for atom, exponent in monomial:
        found = found * power_of(atom, exponent)
    return found


def times(a: Monomial, b: Monomial) -> Monomial | None:
    """Return the product of two monomials; None if it is zero because their regions are disjoint.

    Raises:
        Undecided: if a factor cancels that may be 0 with positive probability.
    """
    if not a or not b:
        return a or b
    exponents = dict(a)
    for atom, exponent in b:
        if is_indicator(atom):
            if opposite(atom) in exponents:
                return None
            exponents[atom] = _1
        elif atom in exponents:
            if _may_cancel(exponents[atom], exponent) and may_be_zero(atom):
                raise Undecided  # 0/0 is undefined
            exponents[atom] = exponents[atom] + exponent
        else:
            exponents[atom] = exponent
    return ordered((n, e) for n, e in exponents.items() if not e.is_number(0))


def _may_cancel(a: Node, b: Node) -> bool:
    """Tell whether two exponents may differ in sign."""
    return not (a.is_number() and b.is_number()) or (a.value < 0) != (b.value < 0)


def ordered(factors: Iterable[tuple[Node, Node]]) -> Monomial:
    """Sort factors into a monomial; the order depends only on their structure."""
    return tuple(sorted(factors, key=lambda f: digest(f[0])))


def raised(monomial: Monomial, exponent: Node) -> Monomial:
    """Return a power of a monomial without indicators."""
    return tuple((atom, e * exponent) for atom, e in monomial)


def plus(total: Terms, more: Terms) -> Terms:
    """Add terms to a sum."""
    for monomial, c in more.items():
        known = total.get(monomial)
        total[monomial] = c if known is None else known + c
    return total


def product(a: Terms, b: Terms) -> Terms:
    """Return the expanded product of two sums.

    Raises:
        Undecided: if the product has more than 256 terms.
    """
    if len(a) * len(b) > _TERMS and min(len(a), len(b)) > 1:
        raise Undecided
    found: Terms = {}
    for m, c in a.items():
        for n, d in b.items():
            both = times(m, n)
            if both is not None:
                plus(found, {both: c * d})
    return found


def scaled(terms: Terms, c: Node) -> Terms:
    """Return a sum times a coefficient."""
    return {} if c.is_number(0) else {m: d * c for m, d in terms.items()}


def power(terms: Terms, n: int) -> Terms:
    """Return the expanded integer power of a sum."""
    if len(terms) > 1 and math.comb(len(terms) + n - 1, n) > _TERMS:
        raise Undecided
    found: Terms = {ONE: _1}
    for _ in range(n):
        found = product(found, terms)
    return found
