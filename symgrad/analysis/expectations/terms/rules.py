"""The rules that expand each op into sums of products."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from symgrad.analysis.expectations.assumptions import Undecided
from symgrad.analysis.expectations.terms.expansion import Expansion, is_even, is_integer, simple
from symgrad.analysis.expectations.terms.monomials import (
    ONE,
    Terms,
    node_of,
    ordered,
    plus,
    power,
    power_of,
    product,
    raised,
    scaled,
)
from symgrad.analysis.expectations.terms.sign_thresholds import (
    absolute,
    choice,
    negative_part,
    other,
    sign_of_sum,
)
from symgrad.ir.graph import OPS, Node, as_node

_HIGHEST = 12  # the largest expanded power of a sum
_WAVES = 4  # number of terms of an angle in addition theorems


def power_of_sum(x: Expansion, terms: Terms, exponent: Node) -> Terms:
    """Return a power of a sum without indicators; the exponent is free of noise."""
    n = exponent.value if exponent.is_number() else None
    if isinstance(n, int) and 0 <= n <= _HIGHEST:
        return power(terms, n)
    c, m = x.factored(terms)
    if isinstance(n, int):
        return {raised(m, exponent): power_of(c, exponent)}
    out: list[tuple[Node, Node]] = []
    rest: list[tuple[Node, Node]] = []
    for atom, e in m:
        if x.nonnegative(atom):
            out.append((atom, e * exponent))
        elif is_even(e):
            out.append((OPS["abs"](atom), e * exponent))
        else:
            rest.append((atom, e))
    if rest and not x.positive(c):
        return {ordered([*out, (simple(c * node_of(tuple(rest))), exponent)]): _1}
    if rest:
        out.append((simple(node_of(tuple(rest))), exponent))
    return {ordered(out): power_of(c, exponent)}


def exp_of_sum(terms: Terms) -> Terms:
    """Return exp of a sum without indicators, as a product."""
    factors: list[tuple[Node, Node]] = []
    c = _1
    for m, k in terms.items():
        if not m:
            c = OPS["exp"](k)
        elif len(m) == 1 and m[0][0].op.name == "log" and m[0][1].is_number(1):
            factors.append((m[0][0].args[0], k))
        else:
            factors.append((OPS["exp"](node_of(m)), k))
    found: Terms = {ONE: c}
    for factor in factors:
        found = product(found, {(factor,): _1})
    return found


def log_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return log of a sum without indicators."""
    c, m = x.factored(terms)
    found: Terms = {} if c.is_number(1) else {ONE: OPS["log"](c)}
    for atom, e in m:
        if atom.op.name == "exp":
            plus(found, scaled(x(atom.args[0]), e))
        elif x.nonnegative(atom):
            plus(found, {((OPS["log"](atom), _1),): e})
        else:
            raise Undecided
    return found


def wave_of_sum(terms: Terms, name: str) -> Terms:
    """Return the cosine or sine of a sum without indicators, with the addition theorems."""
    if len(terms) > _WAVES:
        raise Undecided
    cosine: Terms = {ONE: _1}
    sine: Terms = {}
    for m, c in terms.items():
        if m:
            angle = c * node_of(m)
            ca: Terms = {((OPS["cos"](angle), _1),): _1}
            sa: Terms = {((OPS["sin"](angle), _1),): _1}
        else:
            ca, sa = {ONE: OPS["cos"](c)}, {ONE: OPS["sin"](c)}
        cosine, sine = (
            plus(product(cosine, ca), scaled(product(sine, sa), as_node(-1))),
            plus(product(sine, ca), product(cosine, sa)),
        )
    return cosine if name == "cos" else sine


_STEPS = 8


def floor_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return floor(c0 + c1*u): its value at the lower end, plus 1 for each integer up to the upper end.

    Raises:
        Undecided: if the sum is not affine, c1 or an end of u is not a number, or there are too many steps.
    """
    if terms.keys() <= {ONE}:
        return {ONE: OPS["floor"](simple(terms.get(ONE, _0)))}
    affine = x.affine(terms)
    if affine is None or not x.is_continuous(affine[0]) or not affine[2].is_number():
        raise Undecided
    u, c0, c1 = affine
    ends = x.given.known.facts(u)
    if isinstance(ends.low, float) or isinstance(ends.high, float):
        raise Undecided
    scale = Fraction(c1.value)
    steps = math.ceil(abs(scale) * (ends.high - ends.low))
    if steps > _STEPS:
        raise Undecided
    first = OPS["floor"](simple(c0 + min(scale * ends.low, scale * ends.high)))
    found: Terms = {ONE: first}
    for j in range(1, steps + 1):
        above = {**terms, ONE: simple(c0 - first - j)}
        plus(found, other(negative_part(x, above)))
    return found


def ceil_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return ceil(c0 + c1*u), which is -floor(-c0 - c1*u)."""
    return scaled(floor_of_sum(x, scaled(terms, as_node(-1))), as_node(-1))


def round_of_sum(x: Expansion, terms: Terms) -> Terms:
    """Return round(c0 + c1*u) as floor(1/2 + c0 + c1*u); they differ with probability 0 because u is continuous."""
    if terms.keys() <= {ONE}:
        return {ONE: OPS["round"](simple(terms.get(ONE, _0)))}
    half = {ONE: as_node(Fraction(1, 2))}
    return floor_of_sum(x, plus(half, terms))


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
