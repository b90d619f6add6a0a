"""Logarithmic differentiation: a derivative as the function times the derivative of its logarithm.

    (f*g**n/h)' = (f*g**n/h)*(f'/f + n*g'/g - h'/h)

Factors of like size meet in quotients, so nothing overflows that the derivative itself does not reach. The logarithmic
derivative of a sum is a mean of those of its terms, with weights of the form 1/(1 + ratios of the other terms to it);
these lie between 0 and 1 if the terms are positive: x**n/(1 + x**n) becomes 1/(1 + x**-n).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from symgrad.ir.exact import FOLDED
from symgrad.ir.exact import power as exact_power
from symgrad.ir.graph import OPS, Node, apply, number, symbol
from symgrad.ir.traverse import substitute, topological, with_args
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp, log, sqrt
from symgrad.ops.scalar.logic import where
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.support.errors import NumberTooLargeError

_ONE = number(1)
_HALF = Fraction(1, 2)
_POWERS = 8
"""The most powers of one sum from which a term is taken out."""

_EXPONENT = 10
"""The size of an exponential among the factors of a product, in powers."""

_PRODUCTS = frozenset(("neg", "mul", "div", "pow", "sqrt", "exp", "sech"))


class _Product(NamedTuple):
    """A product: a number, powers of nodes, and the exponential of a node."""

    coefficient: Fraction
    powers: Mapping[Node, Fraction]
    exponent: Node | None

    def times(self, other: _Product, power: Fraction | int = 1) -> _Product:
        """Return this product times a power of another, whose coefficient is 1 if the power is no integer."""
        powers = dict(self.powers)
        for base, e in other.powers.items():
            powers[base] = powers.get(base, Fraction(0)) + e * power
            if not powers[base]:
                del powers[base]
        exponent = self.exponent
        if other.exponent is not None:
            more = other.exponent if power == 1 else _times(Fraction(power), other.exponent)
            exponent = more if exponent is None else _simple(add(exponent, more))
        coefficient = self.coefficient
        if other.coefficient != 1:
            coefficient *= _raised(other.coefficient, int(power))
        return _Product(coefficient, powers, exponent)

    @property
    def size(self) -> Fraction | int:
        """How much the product may leave the range of floats before its value does."""
        return sum(abs(e) for b, e in self.powers.items() if not _is_sum(b)) + _EXPONENT * (
            self.exponent is not None
        )


def _raised(base: Fraction, exponent: int) -> Fraction:
    found = exact_power(base, exponent, FOLDED)
    if found is None:
        raise NumberTooLargeError(f"a power with the exponent {exponent:.3g} is too long to be written out")
    return Fraction(found)


_UNIT = _Product(Fraction(1), {}, None)


class LogarithmicDifferentiation:
    """Differentiates formulas of scalars by one variable, with factors kept together.

    Args:
        variable: the symbol.

    Example:
        >>> from symgrad.ir.notation.printer import expression_text
        >>> x = symbol(Declaration("x"))
        >>> d = LogarithmicDifferentiation(x)
        >>> expression_text(d.derivative(x**400/(1 + x**400)))
        '400*(1/x/(1 + x**400)/(1 + (1/x)**400))'
    """

    def __init__(self, variable: Node) -> None:
        self._variable = variable
        self._derivatives: dict[Node, Node | None] = {}

    def derivative(self, node: Node) -> Node | None:
        """Return the derivative of a formula; None for zero."""
        for n in topological([node], until=self._derivatives):
            if n not in self._derivatives:
                self._derivatives[n] = self._of(n)
        return self._derivatives[node]

    def by_logarithm(self, node: Node) -> Node | None:
        """Return the derivative of a formula as the formula times the derivative of its logarithm; None for zero."""
        return _product(node, self._log_derivative(node))

    def reassociate(self, node: Node) -> Node:
        """Return a formula with the factors of each product together, and weights in place of quotients of sums."""
        done: dict[Node, Node] = {}
        for n in topological([node]):
            rebuilt = with_args(n, [done[a] for a in n.args])
            if rebuilt.op.name in _PRODUCTS and not any(a.is_number(0) for a in rebuilt.args):
                rebuilt = self._as_node(_factors(rebuilt))
            done[n] = rebuilt
        return done[node]

    def _of(self, n: Node) -> Node | None:
        if n is self._variable:
            return _ONE
        if not n.args or n.dtype == "bool":
            return None
        if n.op is add:
            return _total(self.derivative(a) for a in n.args)
        if n.op is log:
            return self._log_derivative(n.args[0])
        if n.op.name in _PRODUCTS:
            return self._of_product(n)
        if n.op is where:
            yes, no = (self.derivative(a) for a in n.args[1:])
            return _choice(n.args[0], yes, no)
        return _total(
            _guarded_product(partial(n, *n.args), self.derivative(a))
            for a, partial in zip(n.args, n.op.partials, strict=True)
            if partial is not None and self.derivative(a) is not None
        )

    def _of_product(self, n: Node) -> Node | None:
        product = _with_weights(_factors(n))
        outside: list[Node | None] = []
        inside = [None if product.exponent is None else self.derivative(product.exponent)]
        for base, e in product.powers.items():
            if e > 0 and not _has_log_derivative(base, self._variable):
                # The base may vanish, and its derivative may not.
                rest = product.times(_Product(Fraction(1), {base: Fraction(1)}, None), -1)
                outside.append(_product(number(e), _as_node(rest), self.derivative(base)))
            else:
                inside.append(_product(number(e), self._log_derivative(base)))
        slope = _total(inside)
        if slope is not None:
            outside.append(_product(_as_node(product), slope))
        return _total(outside)

    def _log_derivative(self, n: Node) -> Node | None:
        """Return the derivative of log(n)."""
        if n.is_number():
            return None
        if _is_sum(n):
            terms = _terms(n)
            return _total(
                _product(_share(terms, k), self._log_derivative(t))
                for k, t in enumerate(terms)
                if not t.is_number()
            )
        product = _with_weights(_factors(n))
        parts = [None if product.exponent is None else self.derivative(product.exponent)]
        parts += [_product(number(e), self._of_base(base)) for base, e in product.powers.items()]
        return _total(parts)

    def _of_base(self, n: Node) -> Node | None:
        if n is self._variable:
            return div(_ONE, n)
        if _is_sum(n):
            return self._log_derivative(n)
        slope = self.derivative(n)
        if slope is None:
            return None
        if len(n.args) == 1:
            return _product(_log_slope(n.op.name, n.params, n.args[0]), self.derivative(n.args[0]))
        return _product(slope, div(_ONE, n))

    def _as_node(self, product: _Product) -> Node:
        return _as_node(_with_weights(product))


def _has_log_derivative(base: Node, variable: Node) -> bool:
    """Tell whether the logarithmic derivative of a base is as good as its derivative, and exists where that does."""
    return base is variable or base.op.name in ("gamma", "sinh", "cosh", "sigmoid")


@cache
def _log_slope_row(name: str, params: tuple[object, ...]) -> tuple[Node, Node]:
    x = symbol(Declaration("__argument"))
    value = apply(OPS[name], (x,), params)
    (partial,) = OPS[name].partials
    if partial is None:
        raise ValueError(f"{name} has no derivative")
    slope, inverse = (
        canonical([q]).nodes[0] for q in (div(partial(value, x), value), div(value, partial(value, x)))
    )
    if len(topological([inverse])) + 1 < len(topological([slope])):  # 1/tanh(x) for cosh(x)/sinh(x)
        slope = div(_ONE, inverse)
    return x, stable([slope]).nodes[0]


def _log_slope(name: str, params: tuple[object, ...], argument: Node) -> Node:
    """Return f'(u)/f(u) for a function of one argument."""
    x, slope = _log_slope_row(name, params)
    return substitute([slope], {x: argument})[0]


# ------------------------------------------------------------------------------------------------------------- products


def _factors(n: Node) -> _Product:
    """Read a formula as a product."""
    name = n.op.name
    if n.is_number() and n.value:
        return _Product(Fraction(n.value), {}, None)
    if name == "neg":
        inner = _factors(n.args[0])
        return inner._replace(coefficient=-inner.coefficient)
    if name == "mul":
        return _factors(n.args[0]).times(_factors(n.args[1]))
    if name == "div":
        return _factors(n.args[0]).times(_factors(n.args[1]), -1)
    if name == "exp":
        return _Product(Fraction(1), {}, n.args[0])
    if name == "sqrt":
        return _Product(Fraction(1), {n.args[0]: _HALF}, None)
    if name == "sech":
        return _Product(Fraction(1), {OPS["cosh"](n.args[0]): Fraction(-1)}, None)
    if name == "pow" and n.args[1].is_number():
        power = Fraction(n.args[1].value)
        if power.denominator == 1:
            return _UNIT.times(_factors(n.args[0]), power)
        return _Product(Fraction(1), {n.args[0]: power}, None)
    if name == "pow":
        return _Product(Fraction(1), {}, mul(n.args[1], log(n.args[0])))
    return _Product(Fraction(1), {n: Fraction(1)}, None)


def _is_sum(n: Node) -> bool:
    return n.op is add or n.op.name == "expm1"


def _terms(n: Node) -> list[Node]:
    if n.op is add:
        return [t for a in n.args for t in _terms(a)]
    if n.op is neg and n.args[0].op is add:
        return [neg(t) for t in _terms(n.args[0])]
    if n.op.name == "expm1":
        return [exp(n.args[0]), number(-1)]
    return [n]


def _share(terms: Sequence[Node], k: int) -> Node:
    """Return a term over the sum of all terms, as 1/(1 + ratios of the others to it)."""
    mine = _factors(terms[k])
    ratios = [_as_node(_with_weights(_factors(t).times(mine, -1))) for i, t in enumerate(terms) if i != k]
    total = _total([_ONE, *ratios])
    return _ONE if total is None else div(_ONE, total)


def _with_weights(product: _Product) -> _Product:
    """Return a product with a term taken out of each sum that it contains, if that leaves less beside it."""
    for base in [b for b in product.powers if b.op is absolute]:
        e = product.powers.get(base.args[0])
        if e is not None and e.denominator == 1 and e % 2 == 0:  # x**2/abs(x) is abs(x)
            product = product.times(
                _Product(Fraction(1), {base.args[0]: Fraction(-1), base: Fraction(1)}, None), e
            )
    for base, e in list(product.powers.items()):
        if e >= 0 or not _is_sum(base):
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
                if e <= -1 and e.denominator == 1 and _is_sum(other):
                    best = min([best, *_factor_out(form, other, Fraction(-1))], key=lambda p: p.size)
        product = best
    return product


def _factor_out(product: _Product, base: Node, power: Fraction) -> Iterator[_Product]:
    """Yield forms of a product with base**power as a power of a term of the base, times what the others are to it."""
    terms = _terms(base)
    without = product.times(_Product(Fraction(1), {base: Fraction(1)}, None), -power)
    for k, term in enumerate(terms):
        mine = _factors(term)
        if not mine.powers and mine.exponent is None:
            continue
        if abs(power) != 1 and (mine.coefficient != 1 or mine.powers):
            continue
        ratios = [_as_node(_factors(t).times(mine, -1)) for i, t in enumerate(terms) if i != k]
        rest = _total([_ONE, *ratios])
        if rest is not None:
            yield without.times(mine, power).times(_Product(Fraction(1), {rest: Fraction(1)}, None), power)


def _as_node(product: _Product) -> Node:
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
    return _times(product.coefficient, found)


def _quotient(above: list[Node], below: list[Node]) -> Node:
    found = above.pop() if above else _ONE
    while above or below:
        found = div(found, below.pop()) if below else mul(found, above.pop())
    return found


def _power(base: Node, e: Fraction) -> Node:
    return base if e == 1 else sqrt(base) if e == _HALF else pow(base, number(e))


def _times(c: Fraction, n: Node) -> Node:
    if c == 1:
        return n
    if c == -1:
        return n.args[0] if n.op is neg else neg(n)
    return mul(number(c), n)


def _product(*nodes: Node | None) -> Node | None:
    found = _UNIT
    for n in nodes:
        if n is None:
            return None
        if n.is_number(0):
            return None
        found = found.times(_factors(n))
    return _as_node(_with_weights(found))


def _guarded_product(coefficient: Node, tangent: Node | None) -> Node | None:
    """Return a product; a coefficient that is zero under a condition makes it zero whatever the tangent is."""
    if tangent is not None and coefficient.op is where:
        condition, yes, no = coefficient.args
        return _choice(condition, _guarded_product(yes, tangent), _guarded_product(no, tangent))
    return _product(coefficient, tangent)


def _choice(condition: Node, yes: Node | None, no: Node | None) -> Node | None:
    if yes is None and no is None:
        return None
    return where(condition, number(0) if yes is None else yes, number(0) if no is None else no)


def _total(nodes: Sequence[Node | None] | Iterator[Node | None]) -> Node | None:
    found: Node | None = None
    for n in nodes:
        if n is not None and not n.is_number(0):
            found = n if found is None else add(found, n)
    return found


def _simple(n: Node) -> Node | None:
    found = canonical([n]).nodes[0]
    return None if found.is_number(0) else found
