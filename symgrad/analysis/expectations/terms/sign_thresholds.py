"""Indicators of negative sums, from thresholds of random inputs, and choices between sums."""

from __future__ import annotations

from fractions import Fraction

from symgrad.analysis.expectations.assumptions import Undecided
from symgrad.analysis.expectations.terms.expansion import Expansion, is_even, node_of_sum, simple
from symgrad.analysis.expectations.terms.monomials import (
    ONE,
    Monomial,
    Terms,
    above,
    below,
    is_indicator,
    opposite,
    plus,
    power_of,
    product,
    scaled,
)
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ops.scalar.logic import NEGATION
from symgrad.rewrite.facts.inference import Conditions

_0, _1 = as_node(0), as_node(1)


def negative_part(x: Expansion, terms: Terms) -> Terms:
    """Return the indicator of a sum being negative, up to sets of probability 0.

    Raises:
        Undecided: if the sign of the sum does not depend on a threshold of one random input.
    """
    node = node_of_sum(terms)
    if x.given.known.nonnegative(node) == "yes":
        return {}
    if x.given.known.negative(node) == "yes":
        return {ONE: _1}
    noisy = [m for m in terms if m]
    if not noisy:
        return {ONE: _if(OPS["lt"](simple(node), _0))}
    if len(noisy) == 1 and ONE not in terms:
        return _of_product(x, *x.factored(terms))
    affine = _threshold(x, terms, noisy)
    if affine is None:
        raise Undecided
    u, c0, c1 = affine
    if x.positive(c1):
        return _indicator(below(u, simple(-c0 / c1)))
    if x.positive(-c1):
        return _indicator(_beyond(x, u, simple(-c0 / c1)))
    none = OPS["eq"](c1, _0)
    r = simple(-c0 / OPS["where"](none, _1, c1))
    found = scaled(_indicator(below(u, r)), _if(OPS["gt"](c1, _0)))
    plus(found, scaled(_indicator(_beyond(x, u, r)), _if(OPS["lt"](c1, _0))))
    return plus(found, {ONE: OPS["where"](none, _if(OPS["lt"](c0, _0)), _0)})


def _indicator(atom: Node) -> Terms:
    return {((atom, _1),): _1}


def _beyond(x: Expansion, u: Node, r: Node) -> Node:
    """Return the indicator of u > r; for an integer u, the indicator of u >= floor(r) + 1."""
    return above(u, simple(OPS["floor"](r) + 1) if x.is_count(u) else r)


def _threshold(x: Expansion, terms: Terms, noisy: list[Monomial]) -> tuple[Node, Node, Node] | None:
    """Return u, c0 and c1 such that c0 + c1*u has the sign of a sum of u, or of an increasing function of u."""
    if len(noisy) != 1 or len(noisy[0]) != 1:
        return None
    ((atom, e),) = noisy[0]
    c0, c1 = terms.get(ONE, _0), terms[noisy[0]]
    if e.is_number(1) and (x.is_continuous(atom) or (x.is_count(atom) and atom not in x.listed)):
        return atom, c0, c1
    # For increasing f and r in its range, c1*(r - f(u)) has the sign of c1*(f^-1(r) - u).
    if not (x.positive(c1) or x.positive(-c1)):
        return None
    r = simple(-c0 / c1)
    if x.is_continuous(atom) and x.nonnegative(atom) and e.is_number() and e.value > 0:
        root = power_of(OPS["maximum"](r, _0), as_node(1 / Fraction(e.value)))
        return atom, -c1 * root, c1
    if not atom.args or not e.is_number(1) or not x.is_continuous(atom.args[0]):
        return None
    if atom.op.name == "log":
        return atom.args[0], -c1 * OPS["exp"](r), c1
    if atom.op.name == "exp" and x.positive(r):
        return atom.args[0], -c1 * OPS["log"](r), c1
    return None


def _of_product(x: Expansion, c: Node, m: Monomial) -> Terms:
    """Return the indicator of a negative product: c > 0 and the noisy part is negative, or c < 0 and it is positive."""
    found: Terms = {}
    for side, where in ((-1, "gt"), (1, "lt")):
        holds = _if(OPS[where](c, _0))
        if not holds.is_number(0):
            plus(found, scaled(_side(x, m, side), holds))
    return found


def _side(x: Expansion, m: Monomial, side: int, *, strict: bool = True) -> Terms:
    """Return the indicator of a product being negative (side -1) or positive (side 1).

    Args:
        x: the expansion.
        m: the product.
        side: -1 or 1.
        strict: whether the indicator must be 0 where the product is 0; otherwise any value is right there.
    """
    odd = _odd(x, m)
    if odd is None and side < 0:
        return {}
    found: Terms = {ONE: _1} if odd is None else _part(x, odd, side)
    for atom, e in m:
        if not strict or x.masses.nonzero(atom):
            continue
        if not e.is_number() or e.value < 0:  # this factor may be undefined
            raise Undecided
        if atom is odd:
            continue
        apart = _part(x, atom, 1)
        if not x.nonnegative(atom):
            apart = plus(dict(apart), _part(x, atom, -1))
        found = product(found, apart)
    return found


def _odd(x: Expansion, m: Monomial) -> Node | None:
    """Return the single factor that has the sign of a product; None if the product is never negative."""
    odd: list[Node] = []
    for atom, e in m:
        if is_even(e) or x.nonnegative(atom):
            continue
        if not e.is_number() or not isinstance(e.value, int):
            raise Undecided
        odd.append(atom)
    if len(odd) > 1:
        raise Undecided
    return odd[0] if odd else None


def _part(x: Expansion, atom: Node, side: int) -> Terms:
    """Return the indicator of a factor being negative (side -1) or positive (side 1)."""
    if x.is_continuous(atom):
        return _indicator(below(atom, _0) if side < 0 else above(atom, _0))
    if x.is_count(atom):
        return _indicator(below(atom, _0) if side < 0 else above(atom, _1))
    parts = x(atom)
    if ((atom, _1),) in parts or len(parts) == 1:
        raise Undecided
    return x.by_region(scaled(parts, as_node(-side)), lambda t: negative_part(x, t))


def absolute(x: Expansion, terms: Terms) -> Terms:
    """Return the absolute value of a sum without indicators."""
    if not terms:
        return {}
    if len(terms) == 1:
        ((m, c),) = terms.items()
        size: Terms = {m: _size(c)}
        if all(x.nonnegative(a) or is_even(e) for a, e in m):
            return size
        minus = _side(x, m, -1, strict=False)
    else:
        size = terms
        minus = negative_part(x, terms)
    return product(size, plus(dict(other(minus)), scaled(minus, as_node(-1))))


def sign_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return the sign of a sum without indicators, up to sets of probability 0."""
    if not terms:
        return {}
    if len(terms) == 1:
        ((m, c),) = terms.items()
        minus = _side(x, m, -1)
        return scaled(plus(dict(_side(x, m, 1)), scaled(minus, as_node(-1))), OPS["sign"](c))
    affine = x.affine(terms)
    if affine is None or not (x.positive(affine[2]) or x.positive(-affine[2])):
        raise Undecided
    minus = negative_part(x, terms)
    return plus(dict(negative_part(x, scaled(terms, as_node(-1)))), scaled(minus, as_node(-1)))


def choice(x: Expansion, condition: Node, a: Terms, b: Terms) -> Terms:
    """Return a where a condition holds, and b elsewhere."""
    name = condition.op.name
    if not x.mask(condition):
        found = {m: OPS["where"](condition, c, _0) for m, c in a.items()}
        return plus(found, {m: OPS["where"](condition, _0, c) for m, c in b.items()})
    if name == "not_":
        return choice(x, condition.args[0], b, a)
    if name in {"and_", "or_"}:
        first, second = condition.args
        inner = choice(x, second, a, b)
        return choice(x, first, inner, b) if name == "and_" else choice(x, first, a, inner)
    if name not in NEGATION or any(arg.dtype == "bool" for arg in condition.args):
        raise Undecided
    if x.of(condition) in x.listed:  # the values of this input are enumerated instead
        raise Undecided
    left, right = reversed(condition.args) if name in {"gt", "ge"} else condition.args
    difference = plus(dict(x(left)), scaled(x(right), as_node(-1)))
    if name in {"lt", "gt"}:
        yes = _below(x, difference)
    else:
        more = _below(x, scaled(difference, as_node(-1)))
        yes = other(more if name in {"le", "ge"} else _either(_below(x, difference), more))
    no = other(yes)
    if name == "ne":
        yes, no = no, yes
    return plus(product(yes, a), product(no, b))


def _below(x: Expansion, terms: Terms) -> Terms:
    """Return the indicator of a sum being negative; the sum may have indicators."""
    return x.by_region(terms, lambda t: negative_part(x, t))


def _either(a: Terms, b: Terms) -> Terms:
    """Return the union of two disjoint indicators."""
    return {ONE: _1} if b == other(a) else plus(dict(a), b)


def _if(condition: Node) -> Node:
    known = Conditions().holds(condition)
    return _1 if known == "yes" else _0 if known == "no" else OPS["where"](condition, _1, _0)


def _size(c: Node) -> Node:
    return as_node(abs(c.value)) if c.is_number() else OPS["abs"](c)


def other(region: Terms) -> Terms:
    """Return the complement of an indicator."""
    if len(region) == 1:
        ((m, c),) = region.items()
        if len(m) == 1 and is_indicator(m[0][0]) and c.is_number(1):
            return {((opposite(m[0][0]), _1),): _1}
    return plus({ONE: _1}, scaled(region, as_node(-1)))
