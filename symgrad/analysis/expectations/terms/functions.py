"""Powers, exponentials, logarithms, cosines and sines of sums, as products where identities allow it."""

from __future__ import annotations

from symgrad.analysis.expectations.assumptions import Undecided
from symgrad.analysis.expectations.terms.expansion import Expansion, is_even, simple
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
from symgrad.ir.graph import OPS, Node, as_node

_1 = as_node(1)
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
