"""Formulas as products: a number, powers of nodes, and an exponential; and back, with factors of like size together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from symgrad.ir.exact import FOLDED
from symgrad.ir.exact import power as exact_power
from symgrad.ir.graph import OPS, Node, number
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp, log, sqrt
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import NumberTooLargeError

_ONE = number(1)
_HALF = Fraction(1, 2)
_POWERS = 8
"""The most powers of one sum from which a term is taken out."""

_EXPONENT = 10
"""The size of an exponential among the factors of a product, in powers."""

PRODUCTS = frozenset(("neg", "mul", "div", "pow", "sqrt", "exp", "sech"))
"""The ops that are read as products."""


class PowerProduct(NamedTuple):
    """A product: a number, powers of nodes, and the exponential of a node."""

    coefficient: Fraction
    powers: Mapping[Node, Fraction]
    exponent: Node | None

    def times(self, other: PowerProduct, power: Fraction | int = 1) -> PowerProduct:
        """Return this product times a power of another, whose coefficient is 1 if the power is no integer."""
        powers = self.powers
        for base, e in other.powers.items():
            powers = _with_power(powers, base, e * power)
        exponent = self.exponent
        if other.exponent is not None:
            more = scaled(Fraction(power), other.exponent)
            exponent = _simple(more if exponent is None else add(exponent, more))
        coefficient = self.coefficient
        if other.coefficient != 1:
            coefficient *= _raised(other.coefficient, int(power))
        return PowerProduct(coefficient, powers, exponent)

    def times_power(self, base: Node, e: Fraction | int) -> PowerProduct:
        """Return this product times a power of a node."""
        return self._replace(powers=_with_power(self.powers, base, e))

    @property
    def size(self) -> Fraction | int:
        """How much the product may leave the range of floats before its value does."""
        found = sum(abs(e) for b, e in self.powers.items() if not is_sum(b))
        if self.exponent is None:
            return found
        return found + _EXPONENT * sum(abs(factors_of(t).coefficient) for t in terms_of(self.exponent))


def _with_power(powers: Mapping[Node, Fraction], base: Node, e: Fraction | int) -> dict[Node, Fraction]:
    found = {**powers, base: powers.get(base, Fraction(0)) + e}
    if not found[base]:
        del found[base]
    return found


def _raised(base: Fraction, exponent: int) -> Fraction:
    found = exact_power(base, exponent, FOLDED)
    if found is None:
        raise NumberTooLargeError(f"a power with the exponent {exponent:.3g} is too long to be written out")
    return Fraction(found)


UNIT = PowerProduct(Fraction(1), {}, None)


def factors_of(n: Node) -> PowerProduct:
    """Read a formula as a product."""
    name = n.op.name
    if n.is_number() and n.value:
        return PowerProduct(Fraction(n.value), {}, None)
    if name == "neg":
        inner = factors_of(n.args[0])
        return inner._replace(coefficient=-inner.coefficient)
    if name == "mul":
        return factors_of(n.args[0]).times(factors_of(n.args[1]))
    if name == "div":
        return factors_of(n.args[0]).times(factors_of(n.args[1]), -1)
    if name == "exp":
        return UNIT._replace(exponent=n.args[0])
    if name == "sqrt":
        return UNIT.times_power(n.args[0], _HALF)
    if name == "sech":
        return UNIT.times_power(OPS["cosh"](n.args[0]), -1)
    if name == "pow" and n.args[1].is_number():
        power = Fraction(n.args[1].value)
        if power.denominator == 1:
            return UNIT.times(factors_of(n.args[0]), power)
        return UNIT.times_power(n.args[0], power)
    if name == "pow":
        return UNIT._replace(exponent=mul(n.args[1], log(n.args[0])))
    return UNIT.times_power(n, 1)


def is_sum(n: Node) -> bool:
    """Tell whether a formula is a sum of terms."""
    return n.op is add or n.op.name == "expm1"


def terms_of(n: Node) -> list[Node]:
    """Return the terms of a sum; of anything else, itself."""
    if n.op is add:
        return [t for a in n.args for t in terms_of(a)]
    if n.op is neg and n.args[0].op is add:
        return [neg(t) for t in terms_of(n.args[0])]
    if n.op.name == "expm1":
        return [exp(n.args[0]), number(-1)]
    return [n]


def share(terms: Sequence[Node], k: int) -> Node:
    """Return a term over the sum of all terms, as 1/(1 + ratios of the others to it)."""
    mine = factors_of(terms[k])
    ratios = [
        product_node(with_weights(factors_of(t).times(mine, -1))) for i, t in enumerate(terms) if i != k
    ]
    found = total([_ONE, *ratios])
    return _ONE if found is None else div(_ONE, found)


def with_weights(product: PowerProduct) -> PowerProduct:
    """Return a product with a term taken out of each sum that it contains, if that leaves less beside it."""
    for base in [b for b in product.powers if b.op is absolute]:
        e = product.powers.get(base.args[0])
        if e is not None and e.denominator == 1 and e % 2 == 0:  # x**2/abs(x) is abs(x)
            product = product.times_power(base.args[0], -e).times_power(base, e)
    for base, e in list(product.powers.items()):
        if e >= 0 or not is_sum(base):
            continue
        whole = e.denominator == 1
        for _ in range(min(int(-e), _POWERS) if whole else 1):
            best = min(
                [product, *_factor_out(product, base, Fraction(-1) if whole else e)], key=lambda p: p.size
            )
            if best is product:
                break
            product = best
    for base in [b for b, e in product.powers.items() if e == 1 and b.op is add]:
        best = product
        for form in _factor_out(product, base, Fraction(1)):
            for other, e in list(form.powers.items()):
                if e <= -1 and e.denominator == 1 and is_sum(other):
                    best = min([best, *_factor_out(form, other, Fraction(-1))], key=lambda p: p.size)
        product = best
    return product


def _factor_out(product: PowerProduct, base: Node, power: Fraction) -> Iterator[PowerProduct]:
    """Yield forms of a product with base**power as a power of a term of the base, times what the others are to it."""
    terms = terms_of(base)
    without = product.times_power(base, -power)
    for k, term in enumerate(terms):
        mine = factors_of(term)
        if not mine.powers and mine.exponent is None:
            continue
        if abs(power) != 1 and (mine.coefficient != 1 or mine.powers):
            continue
        ratios = [product_node(factors_of(t).times(mine, -1)) for i, t in enumerate(terms) if i != k]
        rest = total([_ONE, *ratios])
        if rest is not None:
            yield without.times(mine, power).times_power(rest, power)


def product_node(product: PowerProduct) -> Node:
    """Return a product as a node: equal powers are powers of one quotient, in which factors of like size meet."""
    groups: dict[Fraction, tuple[list[Node], list[Node]]] = {}
    for base, e in product.powers.items():
        groups.setdefault(abs(e), ([], []))[e < 0].append(base)
    if product.exponent is not None:
        top = max(groups, default=Fraction(1))
        top = top if top.denominator == 1 else Fraction(1)
        exponent = product.exponent if top == 1 else div(product.exponent, number(top))
        groups.setdefault(top, ([], []))[0].append(exp(exponent))
    found: Node | None = None
    for e, (above, below) in sorted(groups.items(), key=lambda g: g[0]):
        part = _power(_quotient(above, below), e)
        found = part if found is None else mul(found, part)
    if found is None:
        return number(product.coefficient)
    return scaled(product.coefficient, found)


def _quotient(above: list[Node], below: list[Node]) -> Node:
    found = above.pop() if above else _ONE
    while above or below:
        found = div(found, below.pop()) if below else mul(found, above.pop())
    return found


def _power(base: Node, e: Fraction) -> Node:
    return base if e == 1 else sqrt(base) if e == _HALF else pow(base, number(e))


def scaled(c: Fraction, n: Node) -> Node:
    """Return a number times a formula."""
    if c == 1:
        return n
    if c == -1:
        return n.args[0] if n.op is neg else neg(n)
    return mul(number(c), n)


def product_of(*nodes: Node | None) -> Node | None:
    """Return the product of formulas; None for zero, as an argument too."""
    found = UNIT
    for n in nodes:
        if n is None:
            return None
        if n.is_number(0):
            return None
        found = found.times(factors_of(n))
    return product_node(with_weights(found))


def total(nodes: Sequence[Node | None] | Iterator[Node | None]) -> Node | None:
    """Return the sum of formulas; None for zero, as a term too."""
    found: Node | None = None
    for n in nodes:
        if n is not None and not n.is_number(0):
            found = n if found is None else add(found, n)
    return found


def reassociate(node: Node) -> Node:
    """Return a formula with the factors of each product together, and weights in place of quotients of sums."""
    done: dict[Node, Node] = {}
    for n in topological([node]):
        rebuilt = with_args(n, [done[a] for a in n.args])
        if rebuilt.op.name in PRODUCTS and not any(a.is_number(0) for a in rebuilt.args):
            rebuilt = product_node(with_weights(factors_of(rebuilt)))
        done[n] = rebuilt
    return done[node]


def _simple(n: Node) -> Node | None:
    found = canonical([n]).nodes[0]
    return None if found.is_number(0) else found
