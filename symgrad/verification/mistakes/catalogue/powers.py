"""Mistakes about powers, roots, exponentials, logarithms and absolute values."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symgrad.ir.graph import OPS, Node, as_node
from symgrad.verification.mistakes.rule import MistakeTable, Site, Wrong

_BASES = {"log2": 2, "log10": 10, "exp2": 2, "exp10": 10}

mistake: MistakeTable[Site, Wrong] = MistakeTable()


def _log(x: Node | int) -> Node:
    return OPS["log"](as_node(x))


@mistake(
    "power-kept-exponent", ("pow",), 20, "keeping the exponent in the derivative of {0}: it is one less there"
)
def _keep_exponent(s: Site) -> Iterator[Wrong]:
    _, exponent = s.node.args
    if 0 in s.moving:
        yield s.sends({0: s.slope(0, exponent * s.node)})


@mistake(
    "power-lost-factor", ("pow",), 20, "losing the factor that the exponent becomes in the derivative of {0}"
)
def _lose_factor(s: Site) -> Iterator[Wrong]:
    base, exponent = s.node.args
    if 0 in s.moving:
        yield s.sends({0: s.slope(0, base ** (exponent - 1))})


@mistake("power-raised-exponent", ("pow",), 45, "raising the exponent of {0}, as for an integral")
def _raised_exponent(s: Site) -> Iterator[Wrong]:
    base, exponent = s.node.args
    if 0 in s.moving:
        yield s.sends({0: s.slope(0, exponent * base ** (exponent + 1))})
        yield s.sends({0: s.slope(0, base ** (exponent + 1) / (exponent + 1))})


@mistake(
    "sqrt-derivative-factor", ("sqrt",), 20, "losing the 2 in the derivative of {0}, which is 1/(2*sqrt(...))"
)
def _root(s: Site) -> Iterator[Wrong]:
    yield s.sends({0: s.slope(0, 1 / s.node)})


@mistake("sqrt-derivative-wrong", ("sqrt",), 45, "a wrong derivative of {0}, which is 1/(2*sqrt(...))")
def _wrong_root(s: Site) -> Iterator[Wrong]:
    half = as_node(Fraction(1, 2))
    yield s.sends({0: s.slope(0, half * s.node)})
    yield s.sends({0: s.slope(0, half / s.node.args[0])})
    yield s.sends({0: s.slope(0, 2 / s.node)})


@mistake(
    "exp-by-power-rule",
    ("exp", "exp2", "exp10", "pow"),
    20,
    "the power rule for {0}, although its exponent depends on the variable",
)
def _exp_as_power(s: Site) -> Iterator[Wrong]:
    if s.node.op.name == "pow":
        base, exponent = s.node.args
        if 1 in s.moving and 0 not in s.moving:
            yield s.sends({1: s.slope(1, exponent * base ** (exponent - 1))})
        return
    exponent = s.node.args[0]
    yield s.sends({0: s.slope(0, exponent * s.node.op(exponent - 1))})


@mistake(
    "log-base",
    ("log", "log2", "log10", "exp2", "exp10", "pow"),
    22,
    "a wrong factor, the logarithm of {base}, in the derivative of {0}",
)
def _without_base(s: Site) -> Iterator[Wrong]:
    name = s.node.op.name
    if name == "pow":
        base, _ = s.node.args
        if 1 in s.moving:
            yield s.sends({1: s.slope(1, s.node)}, base=base)
            yield s.sends({1: s.slope(1, s.node / _log(base))}, base=base)
        return
    base = as_node(_BASES.get(name, 10))
    (x,) = s.node.args
    if name.startswith("exp"):
        yield s.sends({0: s.slope(0, s.node)}, base=base)
        yield s.sends({0: s.slope(0, s.node / _log(base))}, base=base)
    elif name == "log":
        yield s.sends({0: s.slope(0, 1 / (x * _log(10)))}, base=as_node(10))
        yield s.sends({0: s.slope(0, 1 / (x * _log(2)))}, base=as_node(2))
    else:
        yield s.sends({0: s.slope(0, 1 / x)}, base=base)
        yield s.sends({0: s.slope(0, _log(base) / x)}, base=base)


@mistake("abs-derivative", ("abs",), 16, "a derivative of {0} that is not the sign")
def _abs(s: Site) -> Iterator[Wrong]:
    yield s.sends({0: s.slope(0, 1)})
    yield s.sends({0: s.slope(0, s.node)})
    yield s.sends({0: s.slope(0, s.node.args[0])})
