"""Identities of trigonometric and hyperbolic functions with a wrong sign or factor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import signed_terms
from symgrad.verification.mistakes.rewriting import Swap, signed, total
from symgrad.verification.mistakes.rule import MistakeTable

_SIN, _COS, _SINH, _COSH = OPS["sin"], OPS["cos"], OPS["sinh"], OPS["cosh"]

# The coefficients m, n and the function g in f(u)**2 = m + n*g(u)**2.
_SQUARES: dict[str, tuple[int, int, Callable[[Node], Node]]] = {
    "sin": (1, -1, _COS),
    "cos": (1, -1, _SIN),
    "sinh": (-1, 1, _COSH),
    "cosh": (1, 1, _SINH),
    "tan": (-1, 1, lambda u: 1 / OPS["cos"](u)),
    "tanh": (1, -1, lambda u: 1 / OPS["cosh"](u)),
}

mistake: MistakeTable[Node, Swap] = MistakeTable()


@mistake("trig-identity-sign", ("pow",), 10, "a wrong sign in the identity for {0}")
def _square(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    if not exponent.is_number(2) or base.op.name not in _SQUARES:
        return
    one, other, partner = _SQUARES[base.op.name]
    square = partner(base.args[0]) ** 2
    right = signed(one, as_node(1)) + signed(other, square)
    for s, t in ((one, -other), (-one, other), (-one, -other)):
        yield Swap(signed(s, as_node(1)) + signed(t, square), right)


@mistake("trig-identity-sign", ("cos",), 10.5, "a wrong formula for the double angle at {0}")
def _double_angle(node: Node) -> Iterator[Swap]:
    half = node.args[0] / 2
    s, c = _SIN(half), _COS(half)
    right = c**2 - s**2
    for other in (c**2 + s**2, s**2 - c**2, 1 - s**2, 2 * s**2 - 1, 1 - 2 * c**2, 2 * c**2, c**2 - 1):
        yield Swap(other, right)


@mistake("factor-2", ("sin",), 10.5, "losing the 2 in the formula for the double angle at {0}")
def _double_angle_of_sine(node: Node) -> Iterator[Swap]:
    half = node.args[0] / 2
    right = 2 * _SIN(half) * _COS(half)
    yield Swap(_SIN(half) * _COS(half), right)


@mistake(
    "trig-identity-sign", ("sin", "cos", "sinh", "cosh"), 10, "a wrong sign in the addition formula at {0}"
)
def _addition(node: Node) -> Iterator[Swap]:
    terms = signed_terms(node.args[0])
    if len(terms) < 2:
        return
    a, b = signed(*terms[0]), total(signed(s, t) for s, t in terms[1:])
    circular = node.op.name in ("sin", "cos")
    sin, cos = (_SIN, _COS) if circular else (_SINH, _COSH)
    mixed, like = (sin(a) * cos(b), cos(a) * sin(b)), (cos(a) * cos(b), sin(a) * sin(b))
    sums = {
        "sin": (mixed[0] + mixed[1], mixed[0] - mixed[1], like[0] - like[1], like[0] + like[1]),
        "cos": (like[0] - like[1], like[0] + like[1], mixed[0] + mixed[1], mixed[0] - mixed[1]),
        "sinh": (mixed[0] + mixed[1], mixed[0] - mixed[1], like[0] + like[1]),
        "cosh": (like[0] + like[1], like[0] - like[1], mixed[0] + mixed[1]),
    }
    right, *wrong = sums[node.op.name]
    for other in wrong:
        yield Swap(other, right)
