"""Separate variables: write a formula as powers of its inputs times functions of one input or product of them.

Planck's law 2*h*nu**3/c**2/(exp(h*nu/(k*T)) - 1) is nu**3 times a function of u = h*nu/(k*T), and so is each of its
derivatives, as dimensional analysis requires. A function of u alone has forms that can be compared everywhere.

Every node is a sum of terms, each a product of powers times a function of u: T is h*nu/k times 1/u. Terms with equal
powers are added, as functions of u. A node of another kind, sin(T) or a divisor of two terms, counts as an input.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from symgrad.autodiff.products import UNIT, PowerProduct, factors_of, scaled
from symgrad.ir.graph import NUMBER, Node, number
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.scalar.arith import add, div, mul, pow
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import NumberTooLargeError

_TERMS = 4
"""The most terms of a node; one with more counts as an input."""

_POWERS = 3
"""The highest power of a sum of several terms that is written out."""

_ONE = number(1)


class SeparatedTerm(NamedTuple):
    """A product of powers of inputs, times a function of one variable."""

    product: PowerProduct
    function: Node

    def times(self, other: SeparatedTerm, power: int = 1) -> SeparatedTerm:
        """Return this term times a power of another."""
        mine, its = self.function, other.function
        if its is not _ONE:
            raised = its if power in (1, -1) else pow(its, number(abs(power)))
            mine = div(mine, raised) if power < 0 else raised if mine is _ONE else mul(mine, raised)
        return SeparatedTerm(self.product.times(other.product, power), mine)

    @property
    def is_function(self) -> bool:
        """Whether the powers are of nothing."""
        return not self.product.powers and self.product.exponent is None


_Terms: TypeAlias = "Sequence[SeparatedTerm]"


def separated(node: Node, variable: Node, argument: Node) -> _Terms | None:
    """Return a formula as terms, each a product of powers times a function of one product of inputs.

    Args:
        node: the formula.
        variable: an input, or the product of several.
        argument: the symbol that stands for it in the functions.

    Returns:
        None if the formula is not of this kind.

    Example:
        >>> from symgrad.autodiff.products import product_node
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.elementary import exp
        >>> a, t, u = (symbol(Declaration(name)) for name in "atu")
        >>> (term,) = separated(a*t*exp(a*t) + a**2*t**2 - 3*a/(1/t), a*t, u)
        >>> expression_text(term.function)
        'u**2 + u*exp(u) - 3*u'
        >>> (term,) = separated(t*exp(a*t)/a, a*t, u)
        >>> expression_text(product_node(term.product)), expression_text(term.function)
        ('t**2', 'exp(u)/u')
    """
    product = factors_of(variable)
    if product.exponent is not None:
        return None
    found: list[_Terms] = []
    for base, e in product.powers.items():
        if abs(e) == 1:
            rest = product.times_power(base, -e)
            solved = SeparatedTerm(UNIT.times(rest, int(-e)), argument if e == 1 else div(_ONE, argument))
            try:
                found.append(_TermReader(base, solved).terms(node))
            except NumberTooLargeError:
                return None
    if not found:
        return None
    best = min(found, key=len)
    if all(t.function is _ONE for t in best):
        return None
    return [SeparatedTerm(t.product, canonical([t.function]).nodes[0]) for t in best]


class _TermReader:
    """Reads formulas as terms.

    Args:
        base: the input that is replaced.
        solved: what it is in terms of the variable and the others.
    """

    def __init__(self, base: Node, solved: SeparatedTerm) -> None:
        self._base = base
        self._terms: dict[Node, _Terms] = {base: [solved]}  # none of a condition on other inputs

    def terms(self, node: Node) -> _Terms:
        for n in topological([node], until=self._terms):
            if n not in self._terms:
                found = self._read(n) if any(self._is_read(a) for a in n.args) else None
                self._terms[n] = _as_input(n) if found is None or len(found) > _TERMS else found
        return self._terms[node]

    def _is_read(self, n: Node) -> bool:
        """Tell whether a node depends on the variable through terms."""
        return any(t.function is not _ONE for t in self._terms[n]) or n is self._base

    def _read(self, n: Node) -> _Terms | None:
        """Return an operation on terms as terms; None if it is none."""
        args = [self._terms[a] for a in n.args]
        name = n.op.name
        if not all(args):
            return None
        if name == "neg":
            return [SeparatedTerm(_scaled(t.product, -1), t.function) for t in args[0]]
        if name == "add":
            return _sum([*args[0], *args[1]])
        if name == "mul":
            return _sum([s.times(t) for s in args[0] for t in args[1]])
        if name == "div":
            return [s.times(args[1][0], -1) for s in args[0]] if len(args[1]) == 1 else None
        if name == "pow" and n.args[1].is_number() and Fraction(n.args[1].value).denominator == 1:
            return _raised(args[0], int(n.args[1].value))
        if not n.op.pointwise or not all(len(a) == 1 and a[0].is_function for a in args):
            return None
        functions = [
            t.function if t.function.dtype == "bool" else scaled(t.product.coefficient, t.function)
            for (t,) in args
        ]
        return [SeparatedTerm(UNIT, with_args(n, functions))]


def _as_input(n: Node) -> _Terms:
    """Return a node as an input, or as the product that it is."""
    if n.dtype == "bool" or n.is_number(0):
        return [SeparatedTerm(UNIT, n)] if not n.args and n.op is NUMBER else []
    return [SeparatedTerm(factors_of(n), _ONE)]


def _scaled(product: PowerProduct, by: Fraction | int) -> PowerProduct:
    return product._replace(coefficient=product.coefficient * by)


def _sum(terms: Sequence[SeparatedTerm]) -> _Terms:
    """Add the terms with equal powers."""
    found: dict[tuple[frozenset[tuple[Node, Fraction]], Node | None], SeparatedTerm] = {}
    for t in terms:
        key = frozenset(t.product.powers.items()), t.product.exponent
        first = found.get(key)
        if first is None:
            found[key] = t
            continue
        ratio = t.product.coefficient / first.product.coefficient
        found[key] = SeparatedTerm(first.product, add(first.function, scaled(ratio, t.function)))
    return list(found.values())


def _raised(terms: _Terms, power: int) -> _Terms | None:
    if len(terms) == 1:
        return [SeparatedTerm(UNIT, _ONE).times(terms[0], power)]
    if not 0 < power <= _POWERS:
        return None
    found = terms
    for _ in range(power - 1):
        found = _sum([s.times(t) for s in found for t in terms])
    return found
