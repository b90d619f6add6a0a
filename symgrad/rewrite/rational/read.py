"""Read formulas with + - * / and powers as quotients of polynomials in their other parts.

The parts become generators: `sqrt(u)` is a generator whose square is u, `exp(2*u)` is a power of the generator of
`exp(u)`, and `sigmoid(-u)` is 1 minus the generator of `sigmoid(u)`. Equal expressions then look alike, and common
factors cancel. So the quotient may have a value where a cancelled factor has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from symgrad.ir.exact import POLYNOMIAL_EQUATIONS, POLYNOMIAL_TERMS, RATIONAL_EXPONENT
from symgrad.ir.graph import Node, Op, number
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp, sigmoid, sqrt
from symgrad.ops.scalar.hyperbolic import cosh, sech, sinh, tanh
from symgrad.ops.scalar.logic import where
from symgrad.ops.scalar.trig import cos, sin
from symgrad.rewrite.rational.quotient import Rational
from symgrad.rewrite.rational.ring import LongError, Quotient, Ring
from symgrad.support.traversal import postorder

_SQUARES = {sin: (cos, 1, -1), cosh: (sinh, 1, 1), sech: (tanh, 1, -1)}
"""Functions whose square is a + b times the square of another function."""

_CHECKED = 4  # products between two tests of their size, which take as long as a product
_ONE = Fraction(1)
_ARITHMETIC = frozenset((add, mul, div, neg))


class Reading(NamedTuple):
    """The parts of a formula that are not generators by themselves.

    Args:
        laws: the functions whose values depend on those of other generators by a law of powers; others are parts.
        divides: whether quotients by formulas are read; otherwise they are parts.
        exponent: the largest exponent of powers that are read.
        terms: the most terms of a polynomial.
    """

    laws: frozenset[Op] = frozenset((*_SQUARES, sqrt, exp, sigmoid, where))
    divides: bool = True
    exponent: int = RATIONAL_EXPONENT
    terms: int = POLYNOMIAL_TERMS

    def opens(self, node: Node) -> bool:
        """Tell whether a node is read as arithmetic with its arguments."""
        if node.op is pow and node.args[1].is_number():
            e = Fraction(node.args[1].value)
            if e.denominator != 1 and (sqrt not in self.laws or e.denominator > RATIONAL_EXPONENT):
                return False
            return -self.exponent * self.divides <= e <= self.exponent
        if node.op is div and not self.divides:
            return node.args[1].is_number() and not node.args[1].is_number(0)
        return node.op in _ARITHMETIC or (node.op is sqrt and sqrt in self.laws)


LAWS = Reading()
"""Reads functions by their laws of powers."""

PLAIN = Reading(laws=frozenset())
"""Reads all functions as generators."""


def rational_of(root: Node, named: Mapping[Node, Node] = {}, reading: Reading = LAWS) -> Rational | None:
    """Return an expression as a quotient of polynomials; None if it is not arithmetic, or is too long.

    Args:
        root: the expression.
        named: values that have a name, each with the name that stands for it.
        reading: which parts of the expression are variables of the polynomials.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> x, y = symbol(Declaration("x")), symbol(Declaration("y"))
        >>> rational_of((x**2 - y**2) / (x - y)).node() is x + y
        True
    """
    region = postorder([root], lambda n: n.args if n not in named and reading.opens(n) else ())
    if len(region) > POLYNOMIAL_EQUATIONS or not any(n.op in _ARITHMETIC or n.op is pow for n in region):
        return None
    try:
        return _Opening(region, named, reading).rational(root)
    except LongError:
        return None


class _Opening:
    """The conversion of one expression."""

    def __init__(self, region: list[Node], named: Mapping[Node, Node], reading: Reading) -> None:
        self._named = named
        self._region = region
        self._reading = reading
        self._ring = Ring(reading.terms)
        self._roots: dict[Node, int] = {}  # for each base, the root that the generator is
        # For each exponent without its number, the multiple that the exponent of the generator has.
        self._scales: dict[Node, Fraction] = {}
        self._values: dict[Node, Quotient] = {}
        self._parts = dict.fromkeys(n for n in region if n in named or not reading.opens(n))
        self._plan()

    def _has_law(self, n: Node, *ops: Op) -> bool:
        return n.op in ops and n.op in self._reading.laws and n not in self._named

    def _plan(self) -> None:
        """Choose the generators; those with relations come first."""
        parts = self._parts
        for n in self._region:
            if n.op in (pow, sqrt) and n not in parts:
                base, exponent = power_of(n)
                if exponent.denominator != 1:
                    self._roots[base] = lcm(self._roots.get(base, 1), exponent.denominator)
            if self._has_law(n, exp):
                c, rest = _split(n.args[0])
                self._scales[rest] = _common(self._scales.get(rest, c), c)
        leading = [_root_of(base, root) for base, root in self._roots.items()]
        for n in parts:
            fellow = _SQUARES[n.op][0](n.args[0]) if self._has_law(n, *_SQUARES) else None
            if fellow in self._named or fellow in parts or (self._has_law(n, where) and _is_indicator(n)):
                leading.append(n)
        for generator in (*leading, *(self._generator(n)[0] for n in parts if not n.is_number())):
            self._ring.part(generator)
        self._ring.close()
        for n in self._ring.nodes:
            self._relate(n)

    def _generator(self, n: Node) -> tuple[Node, int]:
        """Return the generator of a part, and its power; 0 if the part is 1 minus the generator."""
        if self._has_law(n, exp):
            c, rest = _split(n.args[0])
            scale = self._scales[rest]
            one = exp(rest if scale == 1 else number(scale) * rest)
            return self._named.get(one, one), int(c / scale)
        if self._has_law(n, sigmoid):
            other = sigmoid(-n.args[0])
            if other in self._named or _split(n.args[0])[0] < 0:
                return self._named.get(other, other), 0
        return self._named.get(n, n), 1

    def _relate(self, n: Node) -> None:
        ring = self._ring
        k, own = ring.place[n], ring.of(n)
        if self._has_law(n, *_SQUARES):
            fellow, a, b = _SQUARES[n.op]
            g = fellow(n.args[0])
            g = self._named.get(g, g)
            if ring.place.get(g, k) > k:
                ring.relations.append((k, 2, own**2 - ring.constant(a) - b * ring.of(g) ** 2))
        elif self._has_law(n, where) and _is_indicator(n):
            ring.relations.append((k, 2, own**2 - own))

    def rational(self, root: Node) -> Rational:
        for k, n in enumerate(self._region):
            self._values[n] = self._of_part(n) if n in self._parts else self._value(n)
            if n.op is pow or k % _CHECKED == 0:
                self._ring.check(self._values[n])
            if n in self._roots:
                self._relate_root(n)
        given = self._values[root]
        return Rational(self._ring, *self._ring.lowest(*given), given)

    def _relate_root(self, base: Node) -> None:
        """The power of a root is its base, if the base is a polynomial in later generators."""
        root = self._roots[base]
        generator = _root_of(base, root)
        place, own = self._ring.place[generator], self._ring.of(generator)
        above, below = self._values[base]
        # This holds only if the power of the generator leads: the parts of the base come later.
        if below.is_constant() and all(d == 0 for d in above.degrees()[: place + 1]):
            self._ring.relations.append((place, root, own**root - above / below.leading_coefficient()))

    def _of_part(self, n: Node) -> Quotient:
        one = self._ring.constant(1)
        if n.is_number() and n not in self._named:
            return self._ring.constant(n.value), one
        generator, power = self._generator(n)
        own = self._ring.of(generator)
        return self._raised((own, one), power) if power else (1 - own, one)

    def _value(self, n: Node) -> Quotient:
        ring = self._ring
        a, b = self._values[n.args[0]]
        if n.op is neg:
            return -a, b
        if n.op in (pow, sqrt):
            base, exponent = power_of(n)
            root = self._roots[base] if exponent.denominator != 1 else 1
            own = (a, b) if root == 1 else (ring.of(_root_of(base, root)), ring.constant(1))
            return self._raised(own, int(exponent * root))
        c, d = self._values[n.args[1]]
        if n.op is add:
            if b == d:
                return ring.quotient(a + c, b)
            g = b.gcd(d)
            left, right = d / g, b / g
            return ring.quotient(ring.product(a, left) + ring.product(c, right), ring.product(b, left))
        if n.op is div:
            c, d = d, c
        return ring.quotient(ring.product(a, c), ring.product(b, d))

    def _raised(self, quotient: Quotient, k: int) -> Quotient:
        if abs(k) > RATIONAL_EXPONENT:
            raise LongError
        if k == 0:
            return self._ring.constant(1), self._ring.constant(1)
        above, below = quotient
        for _ in range(abs(k) - 1):
            above, below = self._ring.product(above, quotient[0]), self._ring.product(below, quotient[1])
        return self._ring.quotient(*((above, below) if k > 0 else (below, above)))


def power_of(n: Node) -> tuple[Node, Fraction]:
    """Return a node as the power of a base; a node that is none has the exponent 1."""
    if n.op is sqrt:
        return n.args[0], Fraction(1, 2)
    if n.op is pow and n.args[1].is_number():
        return n.args[0], Fraction(n.args[1].value)
    return n, _ONE


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
    """Return the largest number of which both are multiples."""
    return Fraction(
        gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
    )


def _is_indicator(n: Node) -> bool:
    return {0, 1} == {a.value if a.is_number() else None for a in n.args[1:]}
