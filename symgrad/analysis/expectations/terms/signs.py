"""Where sums are below zero: thresholds of random inputs, and what chooses by them."""

from __future__ import annotations

from fractions import Fraction

from symgrad.analysis.expectations.given import Undecided
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
from symgrad.rewrite.facts.inference import Conditions

__all__ = ["absolute", "choice", "negative_part", "other", "sign_of_sum"]

_0, _1 = as_node(0), as_node(1)


def negative_part(x: Expansion, terms: Terms) -> Terms:
    """Return the indicator of where a sum is below zero, but for sets of probability 0.

    Raises:
        Undecided: if no threshold of one random input says so.
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
        return {((below(u, simple(-c0 / c1)), _1),): _1}
    if x.positive(-c1):
        return {((above(u, simple(-c0 / c1)), _1),): _1}
    none = OPS["eq"](c1, _0)
    r = simple(-c0 / OPS["where"](none, _1, c1))
    found = {((below(u, r), _1),): _if(OPS["gt"](c1, _0)), ((above(u, r), _1),): _if(OPS["lt"](c1, _0))}
    return plus(found, {ONE: OPS["where"](none, _if(OPS["lt"](c0, _0)), _0)})


def _threshold(x: Expansion, terms: Terms, noisy: list[Monomial]) -> tuple[Node, Node, Node] | None:
    """Return u, c0 and c1 with the sign of c0 + c1*u that of a sum: u itself, or what increases with it."""
    if len(noisy) != 1 or len(noisy[0]) != 1:
        return None
    ((atom, e),) = noisy[0]
    c0, c1 = terms.get(ONE, _0), terms[noisy[0]]
    if e.is_number(1) and x.is_continuous(atom):
        return atom, c0, c1
    # The sign of c1*(r - f(u)) is that of c1*(f^-1(r) - u), for f that increases; r is where f takes values.
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
    """Where a product is below zero: where c > 0 and its noisy part is, or the other way round."""
    odd: list[Node] = []
    for atom, e in m:
        even = e.is_number() and isinstance(e.value, int) and e.value % 2 == 0
        if even or x.nonnegative(atom):
            continue
        if not e.is_number() or not isinstance(e.value, int):
            raise Undecided
        odd.append(atom)
    if len(odd) > 1:
        raise Undecided
    less = {ONE: _if(OPS["lt"](c, _0))}
    if not odd:
        return less
    if x.is_continuous(odd[0]):
        minus: Terms = {((below(odd[0], _0), _1),): _1}
    else:
        parts = x(odd[0])
        if ((odd[0], _1),) in parts or len(parts) == 1:
            raise Undecided
        minus = negative_part(x, parts)
    return plus(scaled(minus, _if(OPS["gt"](c, _0))), scaled(other(minus), less[ONE]))


def absolute(x: Expansion, terms: Terms) -> Terms:
    """Return the absolute value of a sum free of indicators."""
    if not terms:
        return {}
    if len(terms) == 1:
        ((m, c),) = terms.items()
        if all(x.nonnegative(a) or is_even(e) for a, e in m):
            return {m: _size(c)}
        size: Terms = {m: _size(c)}
        minus = _of_product(x, _1, m)
    else:
        size = terms
        minus = negative_part(x, terms)
    return product(size, _signs(minus), x.most)


def sign_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return the sign of a sum free of indicators, but for sets of probability 0."""
    if not terms:
        return {}
    if len(terms) == 1:
        ((m, c),) = terms.items()
        minus = _of_product(x, _1, m)
        return scaled(_signs(minus), OPS["sign"](c))
    affine = x.affine(terms)
    if affine is None or not (x.positive(affine[2]) or x.positive(-affine[2])):
        raise Undecided
    return _signs(negative_part(x, terms))


def choice(x: Expansion, condition: Node, a: Terms, b: Terms) -> Terms:
    """Return what holds where a condition holds, and elsewhere."""
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
    if name in {"gt", "ge", "lt", "le"}:
        left, right = condition.args if name in {"lt", "le"} else reversed(condition.args)
        if left.dtype == right.dtype == "int":  # the ends of a region have a probability of their own
            raise Undecided
        difference = plus(dict(x(left)), scaled(x(right), as_node(-1)))
        if any(is_indicator(atom) for m in difference for atom, _ in m):
            raise Undecided
        strict = name in {"lt", "gt"}
        yes = _less(x, difference, strict)
        no = other(yes)
        return plus(product(yes, a, x.most), product(no, b, x.most))
    raise Undecided


def _less(x: Expansion, difference: Terms, strict: bool) -> Terms:
    if strict:
        return negative_part(x, difference)
    return other(negative_part(x, scaled(difference, as_node(-1))))


def _if(condition: Node) -> Node:
    known = Conditions().holds(condition)
    return _1 if known == "yes" else _0 if known == "no" else OPS["where"](condition, _1, _0)


def _size(c: Node) -> Node:
    return as_node(abs(c.value)) if c.is_number() else OPS["abs"](c)


def other(region: Terms) -> Terms:
    """Return the indicator of where another one is 0."""
    if len(region) == 1:
        ((m, c),) = region.items()
        if len(m) == 1 and is_indicator(m[0][0]) and c.is_number(1):
            return {((opposite(m[0][0]), _1),): _1}
    return plus({ONE: _1}, scaled(region, as_node(-1)))


def _signs(minus: Terms) -> Terms:
    """Return 1, and -1 where an indicator is 1."""
    return plus(dict(other(minus)), scaled(minus, as_node(-1)))
