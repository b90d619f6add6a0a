"""Logarithmic differentiation: a derivative as the function times the derivative of its logarithm.

    (f*g**n/h)' = (f*g**n/h)*(f'/f + n*g'/g - h'/h)

Factors of like size meet in quotients, so nothing overflows that the derivative itself does not reach. The logarithmic
derivative of a sum is a mean of those of its terms, with weights of the form 1/(1 + ratios of the other terms to it);
these lie between 0 and 1 if the terms are positive: x**n/(1 + x**n) becomes 1/(1 + x**-n).
"""

from __future__ import annotations

from functools import cache

from symgrad.autodiff.products import (
    PRODUCTS,
    factors_of,
    is_sum,
    product_node,
    product_of,
    share,
    terms_of,
    total,
    with_weights,
)
from symgrad.ir.graph import OPS, Node, apply, number, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add, div
from symgrad.ops.scalar.elementary import log
from symgrad.ops.scalar.logic import where
from symgrad.rewrite.pipeline import canonical, stable

_ONE = number(1)


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
        return product_of(node, self._log_derivative(node))

    def _of(self, n: Node) -> Node | None:
        if n is self._variable:
            return _ONE
        if not n.args or n.dtype == "bool":
            return None
        if n.op is add:
            return total(self.derivative(a) for a in n.args)
        if n.op is log:
            return self._log_derivative(n.args[0])
        if n.op.name in PRODUCTS:
            return self._of_product(n)
        if n.op is where:
            yes, no = (self.derivative(a) for a in n.args[1:])
            return _choice(n.args[0], yes, no)
        return total(
            _guarded_product(partial(n, *n.args), self.derivative(a))
            for a, partial in zip(n.args, n.op.partials, strict=True)
            if partial is not None and self.derivative(a) is not None
        )

    def _of_product(self, n: Node) -> Node | None:
        product = with_weights(factors_of(n))
        outside: list[Node | None] = []
        inside = [None if product.exponent is None else self.derivative(product.exponent)]
        for base, e in product.powers.items():
            if e > 0 and not _has_log_derivative(base, self._variable):
                # The base may vanish, and its derivative may not.
                rest = product.times_power(base, -1)
                outside.append(product_of(number(e), product_node(rest), self.derivative(base)))
            else:
                inside.append(product_of(number(e), self._log_derivative(base)))
        slope = total(inside)
        if slope is not None:
            outside.append(product_of(product_node(product), slope))
        return total(outside)

    def _log_derivative(self, n: Node) -> Node | None:
        """Return the derivative of log(n)."""
        if n.is_number():
            return None
        if is_sum(n):
            terms = terms_of(n)
            return total(
                product_of(share(terms, k), self._log_derivative(t))
                for k, t in enumerate(terms)
                if not t.is_number()
            )
        product = with_weights(factors_of(n))
        parts = [None if product.exponent is None else self.derivative(product.exponent)]
        parts += [product_of(number(e), self._of_base(base)) for base, e in product.powers.items()]
        return total(parts)

    def _of_base(self, n: Node) -> Node | None:
        if n is self._variable:
            return div(_ONE, n)
        if is_sum(n):
            return self._log_derivative(n)
        slope = self.derivative(n)
        if slope is None:
            return None
        if len(n.args) == 1:
            return product_of(_log_slope(n.op.name, n.params, n.args[0]), self.derivative(n.args[0]))
        return product_of(slope, div(_ONE, n))


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


def _guarded_product(coefficient: Node, tangent: Node | None) -> Node | None:
    """Return a product; a coefficient that is zero under a condition makes it zero whatever the tangent is."""
    if tangent is not None and coefficient.op is where:
        condition, yes, no = coefficient.args
        return _choice(condition, _guarded_product(yes, tangent), _guarded_product(no, tangent))
    return product_of(coefficient, tangent)


def _choice(condition: Node, yes: Node | None, no: Node | None) -> Node | None:
    if yes is None and no is None:
        return None
    return where(condition, number(0) if yes is None else yes, number(0) if no is None else no)
