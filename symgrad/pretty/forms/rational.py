"""Rational forms: an expression with + - * / and powers, written as one quotient of polynomials in its other parts.

The parts become generators: `sqrt(u)` is a generator whose square is u, `exp(2*u)` is a power of the generator of
`exp(u)`, and `sigmoid(-u)` is 1 minus the generator of `sigmoid(u)`. Equal expressions then look alike, and common
factors cancel. So the quotient may have a value where a cancelled factor has none. The forms of the quotient are in
`quotients.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

from symgrad.ir.graph import Node, number
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp, sigmoid, sqrt
from symgrad.ops.scalar.hyperbolic import cosh, sech, sinh, tanh
from symgrad.ops.scalar.logic import where
from symgrad.ops.scalar.trig import cos, sin
from symgrad.pretty.forms.polynomials import LongError, Polynomial, Ring
from symgrad.pretty.forms.quotients import Quotient, Rational
from symgrad.pretty.limits import POLYNOMIAL_TERMS, RATIONAL_EXPONENT
from symgrad.support.traversal import walk

_SQUARES = {sin: (cos, 1, -1), cosh: (sinh, 1, 1), sech: (tanh, 1, -1)}
"""Functions whose square is a + b times the square of another function."""

_ARITHMETIC = frozenset((add, mul, div, neg))


def rational_of(root: Node, named: Mapping[Node, Node] = {}) -> Rational | None:
    """Return an expression as a quotient of polynomials; None if it is not arithmetic, or is too long.

    Args:
        root: the expression.
        named: values that have a name, each with the name that stands for it.
    """
    region = _region(root, named)
    if not any(n.op in _ARITHMETIC or n.op is pow for n in region):
        return None
    try:
        return _Opening(region, named).rational(root)
    except LongError:
        return None


def _is_arithmetic(node: Node) -> bool:
    if node.op is pow:
        return node.args[1].is_number() and abs(node.args[1].value) <= RATIONAL_EXPONENT
    return node.op in _ARITHMETIC or node.op is sqrt


def _region(root: Node, named: Mapping[Node, Node]) -> list[Node]:
    """Return the arithmetic nodes of an expression and its other parts, arguments first."""

    def is_part(node: Node) -> bool:
        return node in named or not _is_arithmetic(node)

    reached = walk([root], lambda node: () if is_part(node) else node.args)
    return topological([root], until=set(filter(is_part, reached)))


class _Opening:
    """The conversion of one expression."""

    def __init__(self, region: list[Node], named: Mapping[Node, Node]) -> None:
        self._named = named
        self._region = region
        self._ring = Ring()
        self._roots: dict[Node, int] = {}  # for each base, the root that the generator is
        # For each exponent without its number, the multiple that the exponent of the generator has.
        self._scales: dict[Node, Fraction] = {}
        self._values: dict[Node, Quotient] = {}
        self._plan()

    def _plan(self) -> None:
        """Choose the generators; those with relations come first."""
        parts = [n for n in self._region if n in self._named or not _is_arithmetic(n)]
        for n in self._region:
            base, exponent = _power(n)
            if base is not None and exponent.denominator != 1:
                self._roots[base] = lcm(self._roots.get(base, 1), exponent.denominator)
        for n in parts:
            if n.op is exp and n not in self._named:
                c, rest = _split(n.args[0])
                found = self._scales.get(rest)
                self._scales[rest] = abs(c) if found is None else _common(found, c)
        plain: list[Node] = []
        for base, root in self._roots.items():
            self._ring.part(_root_of(base, root))
        for n in parts:
            if (n.op in _SQUARES and n not in self._named and self._fellow(n, parts) is not None) or (
                n.op is where and _is_indicator(n)
            ):
                self._ring.part(n)
            else:
                plain.append(n)
        for n in plain:
            if n.is_number():
                continue
            if n in self._named:
                self._ring.part(self._named[n])
            elif n.op is exp:
                c, rest = _split(n.args[0])
                self._ring.part(self._exponential(rest))
            elif n.op is sigmoid:
                self._ring.part(self._upright(n)[0])
            else:
                self._ring.part(n)
        self._ring.close()
        for n in self._ring.nodes:
            self._relate(n)

    def _fellow(self, n: Node, parts: list[Node]) -> Node | None:
        fellow = _SQUARES[n.op][0](n.args[0])
        if fellow in self._named:
            return self._named[fellow]
        return fellow if fellow in parts else None

    def _exponential(self, rest: Node) -> Node:
        scale = self._scales[rest]
        one = exp(rest if scale == 1 else number(scale) * rest)
        return self._named.get(one, one)

    def _upright(self, n: Node) -> tuple[Node, bool]:
        """Return the generator of a sigmoid, and whether the sigmoid is 1 minus this generator."""
        other = sigmoid(-n.args[0])
        if other in self._named:
            return self._named[other], True
        negative = _split(n.args[0])[0] < 0
        return (other, True) if negative else (n, False)

    def _relate(self, n: Node) -> None:
        ring = self._ring
        k = ring.place[n]
        own = ring.gens[k]
        if n.op in _SQUARES:
            fellow, a, b = _SQUARES[n.op]
            g = fellow(n.args[0])
            g = self._named.get(g, g)
            if g in ring.place and ring.place[g] > k:
                ring.relations.append((k, 2, own**2 - ring.constant(a) - b * ring.gens[ring.place[g]] ** 2))
        elif n.op is where and _is_indicator(n):
            ring.relations.append((k, 2, own**2 - own))

    # -- values ----------------------------------------------------------------------------------------------

    def rational(self, root: Node) -> Rational:
        for n in self._region:
            self._values[n] = self._value(n)
            if self._roots.get(n, 1) > 1:
                self._relate_root(n)
        above, below = self._values[root]
        common = above.gcd(below)
        if not common.is_constant():
            above, below = above / common, below / common
        return Rational(self._ring, root, above, below, self._values[root])

    def _relate_root(self, base: Node) -> None:
        """The power of a root is its base, if the base is a polynomial in later generators."""
        root = self._roots[base]
        place = self._ring.place[_root_of(base, root)]
        above, below = self._values[base]
        if below.is_constant() and above.degrees()[place] == 0:
            own = self._ring.gens[place]
            # This holds only if the power of the generator leads: the parts of the base come later.
            if all(d == 0 for d in above.degrees()[:place]):
                self._ring.relations.append((place, root, own**root - above / below.leading_coefficient()))

    def _value(self, n: Node) -> Quotient:
        ring = self._ring
        one = ring.constant(1)
        if n in self._named:
            return ring.gens[ring.place[self._named[n]]], one
        if n.is_number():
            return ring.constant(n.value), one
        if n.op is exp:
            c, rest = _split(n.args[0])
            return _raised(ring.gens[ring.place[self._exponential(rest)]], one, int(c / self._scales[rest]))
        if n.op is sigmoid:
            g, left = self._upright(n)
            own = ring.gens[ring.place[g]]
            return (1 - own if left else own), one
        base, exponent = _power(n)
        if base is not None and exponent.denominator != 1:
            root = self._roots[base]
            own = ring.gens[ring.place[_root_of(base, root)]]
            return self._checked(*_raised(own, one, int(exponent * root)))
        if not _is_arithmetic(n):
            return ring.gens[ring.place[n]], one
        values = [self._values[a] for a in n.args]
        match n.op:
            case op if op is add:
                (a, b), (c, d) = values
                if b == d:
                    return self._checked(a + c, b)
                g = b.gcd(d)
                left, right = d / g, b / g
                return self._checked(self._times(a, left) + self._times(c, right), self._times(b, left))
            case op if op is neg:
                return -values[0][0], values[0][1]
            case op if op is mul:
                (a, b), (c, d) = values
                return self._checked(self._times(a, c), self._times(b, d))
            case op if op is div:
                (a, b), (c, d) = values
                if c.is_zero():
                    raise LongError
                return self._checked(self._times(a, d), self._times(b, c))
            case _:
                a, b = values[0]
                k = int(exponent)
                if k < 0:
                    if a.is_zero():
                        raise LongError
                    a, b, k = b, a, -k
                above, below = one, one
                for _ in range(k):
                    above, below = self._times(above, a), self._times(below, b)
                return self._checked(above, below)

    def _times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        if len(a) * len(b) > 4 * POLYNOMIAL_TERMS:
            raise LongError
        return a * b

    def _checked(self, a: Polynomial, b: Polynomial) -> Quotient:
        a, b = self._ring.reduced(a), self._ring.reduced(b)
        if b.is_zero() or max(len(a), len(b)) > POLYNOMIAL_TERMS:
            raise LongError
        return a, b


def _raised(base: Polynomial, one: Polynomial, k: int) -> Quotient:
    if abs(k) > RATIONAL_EXPONENT:
        raise LongError
    return (base**k, one) if k >= 0 else (one, base**-k)


def _power(n: Node) -> tuple[Node | None, Fraction]:
    if n.op is sqrt:
        return n.args[0], Fraction(1, 2)
    if n.op is pow and n.args[1].is_number():
        return n.args[0], Fraction(n.args[1].value)
    return None, Fraction(1)


def _root_of(base: Node, root: int) -> Node:
    return sqrt(base) if root == 2 else pow(base, number(Fraction(1, root)))


def _split(node: Node) -> tuple[Fraction, Node]:
    """Return a node as a number times the rest."""
    c = Fraction(1)
    while True:
        if node.op is neg:
            c, node = -c, node.args[0]
        elif node.op is mul and node.args[0].is_number() and node.args[0].value:
            c, node = c * node.args[0].value, node.args[1]
        elif node.op is div and node.args[1].is_number() and node.args[1].value:
            c, node = c / Fraction(node.args[1].value), node.args[0]
        elif node.op in (mul, div) and node.args[0].op is neg:
            c, node = -c, node.op(node.args[0].args[0], node.args[1])
        else:
            return c, node


def _common(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(
        gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
    )


def _is_indicator(n: Node) -> bool:
    return {0, 1} == {a.value if a.is_number() else None for a in n.args[1:]}
