"""The rules that expand each op into sums of products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from symgrad.analysis.expectations.assumptions import Undecided
from symgrad.analysis.expectations.terms.expansion import Expansion, is_integer
from symgrad.analysis.expectations.terms.floors import ceil_of_sum, floor_of_sum, round_of_sum
from symgrad.analysis.expectations.terms.functions import exp_of_sum, log_of_sum, power_of_sum, wave_of_sum
from symgrad.analysis.expectations.terms.monomials import ONE, Terms, plus, power_of, product, scaled
from symgrad.analysis.expectations.terms.sign_thresholds import (
    absolute,
    choice,
    negative_part,
    other,
    sign_of_sum,
)
from symgrad.ir.graph import OPS, Node, as_node

_0, _1 = as_node(0), as_node(1)
_HALF = as_node(Fraction(1, 2))


def _add(x: Expansion, node: Node) -> Terms:
    return plus(dict(x(node.args[0])), x(node.args[1]))


def _mul(x: Expansion, node: Node) -> Terms:
    return product(x(node.args[0]), x(node.args[1]))


def _div(x: Expansion, node: Node) -> Terms:
    if not x.mask(node.args[1]):
        return {m: c / node.args[1] for m, c in x(node.args[0]).items()}
    return product(x(node.args[0]), _integer_power(x, node.args[1], -1))


def _integer_power(x: Expansion, node: Node, exponent: int) -> Terms:
    """Return a power of a product as the product of the powers of its factors; divisors are not expanded."""
    found: Terms = {ONE: _1}
    pending = [(node, exponent)]
    while pending:
        n, e = pending.pop()
        name, args = n.op.name, n.args
        if not x.mask(n):
            found = scaled(found, power_of(n, as_node(e)))
        elif name == "mul":
            pending += [(a, e) for a in args]
        elif name == "div":
            pending += [(args[0], e), (args[1], -e)]
        elif name in {"neg", "stop_gradient"}:
            found = scaled(found, as_node((-1) ** e)) if name == "neg" else found
            pending.append((args[0], e))
        elif name == "pow" and is_integer(args[1]):
            pending.append((args[0], e * int(args[1].value)))
        else:
            of_region = _powers(x, as_node(e))
            found = product(found, x.by_region(x(n), of_region))
    return found


def _powers(x: Expansion, exponent: Node) -> Callable[[Terms], Terms]:
    return lambda terms: power_of_sum(x, terms, exponent)


def _pow(x: Expansion, node: Node) -> Terms:
    base, exponent = node.args
    if is_integer(exponent):
        return _integer_power(x, base, int(exponent.value))
    if not x.mask(exponent):
        return x.by_region(x(base), _powers(x, exponent))
    if x.mask(base):
        raise Undecided
    if x.positive(base):
        return x.by_region(scaled(x(exponent), OPS["log"](base)), exp_of_sum)
    terms = x(exponent)
    noisy = [m for m in terms if m]
    if len(noisy) != 1 or noisy[0] != ((exponent, _1),):
        raise Undecided
    return {((node, _1),): _1}


def _unary(method: Callable[[Expansion, Terms], Terms]) -> Callable[[Expansion, Node], Terms]:
    return lambda x, node: x.by_region(x(node.args[0]), lambda t: method(x, t))


def _defined(make: Callable[[Node], Node]) -> Callable[[Expansion, Node], Terms]:
    """Return the rule for a function that is defined by other functions."""
    return lambda x, node: dict(x(make(node)))


def _where(x: Expansion, node: Node) -> Terms:
    condition, a, b = node.args
    return choice(x, condition, x(a), x(b))


def _maximum(x: Expansion, node: Node) -> Terms:
    a, b = (x(arg) for arg in node.args)
    difference = plus(dict(a), scaled(b, as_node(-1)))
    if len(difference) == 1 and ONE not in difference:
        # relu(x*u) is (x*u + abs(x)*abs(u))/2, for either sign of x.
        half = as_node(Fraction(1 if node.op.name == "maximum" else -1, 2))
        size = scaled(x.by_region(difference, lambda t: absolute(x, t)), half)
        return plus(plus(scaled(a, _HALF), scaled(b, _HALF)), size)
    minus = x.by_region(difference, lambda t: negative_part(x, t))
    if node.op.name == "minimum":
        a, b = b, a
    return plus(product(minus, b), product(other(minus), a))


def _exp(u: Node) -> Node:
    return OPS["exp"](u)


def _log(u: Node) -> Node:
    return OPS["log"](u)


_LOG2, _LOG10 = _log(as_node(2)), _log(as_node(10))

RULES: Mapping[str, Callable[[Expansion, Node], Terms]] = {
    "add": _add,
    "neg": lambda x, node: scaled(x(node.args[0]), as_node(-1)),
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "sqrt": _unary(lambda x, t: power_of_sum(x, t, _HALF)),
    "exp": _unary(lambda _, t: exp_of_sum(t)),
    "log": _unary(log_of_sum),
    "cos": _unary(lambda _, t: wave_of_sum(t, "cos")),
    "sin": _unary(lambda _, t: wave_of_sum(t, "sin")),
    "abs": _unary(absolute),
    "floor": _unary(floor_of_sum),
    "ceil": _unary(ceil_of_sum),
    "round": _unary(round_of_sum),
    "sign": _unary(sign_of_sum),
    "where": _where,
    "maximum": _maximum,
    "minimum": _maximum,
    "stop_gradient": lambda x, node: dict(x(node.args[0])),
    "exp2": _defined(lambda n: _exp(_LOG2 * n.args[0])),
    "expm1": _defined(lambda n: _exp(n.args[0]) - 1),
    "log1p": _defined(lambda n: _log(1 + n.args[0])),
    "log2": _defined(lambda n: _log(n.args[0]) / _LOG2),
    "log10": _defined(lambda n: _log(n.args[0]) / _LOG10),
    "sinh": _defined(lambda n: (_exp(n.args[0]) - _exp(-n.args[0])) / 2),
    "cosh": _defined(lambda n: (_exp(n.args[0]) + _exp(-n.args[0])) / 2),
    "relu": _defined(lambda n: OPS["maximum"](n.args[0], _0)),
    "clip": _defined(lambda n: OPS["minimum"](OPS["maximum"](n.args[0], n.args[1]), n.args[2])),
}
