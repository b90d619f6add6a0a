"""Values of generators in ball arithmetic: at a point, and of constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from symgrad.checker.balls.gamma import polygamma
from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS
from symgrad.checker.balls.scalar_ops import CONSTANTS, Value, ball
from symgrad.checker.extension_field.field import Element, Poly
from symgrad.checker.extension_field.generators import Generators
from symgrad.checker.limits import CONSTANT_TERMS
from symgrad.checker.numbers import arb, flint, fmpq

_BITS = 256


def sign_of_constant(k: Generators, h: Poly) -> int:
    """Return the sign of a polynomial that is a constant; 0 if it has a variable, or the sign is not certain."""
    positions = k.dependencies(p for p, d in enumerate(h.degrees()) if d > 0)
    if len(h) > CONSTANT_TERMS or any(k.meaning[p][0] == "symbol" for p in positions):
        return 0
    found = value_at(k, h, {})
    if found is None:
        return 0
    return 1 if found > 0 else -1 if found < 0 else 0


def value_at(k: Generators, h: Poly, point: Mapping[str, Any]) -> Value:
    """Return the value of a polynomial at a point.

    Args:
        k: the generators that the polynomial is written in.
        h: the polynomial.
        point: a Fraction or an int for each variable of the polynomial.

    Returns:
        The exact value or a ball that contains it; None if it is not certain to be a real number.
    """
    positions = k.dependencies(p for p, d in enumerate(h.degrees()) if d > 0)
    with flint.ctx.workprec(_BITS):
        values: dict[int, Value] = {}
        for p in sorted(positions, reverse=True):  # older generators have later positions
            values[p] = _generator_value(k, p, values, point)
        return _polynomial_value(h, values)


def _polynomial_value(h: Poly, values: Mapping[int, Value]) -> Value:
    total: Value = fmpq(0)
    for exponents, c in h.terms():
        term: Value = c
        for p, e in enumerate(exponents):
            if e:
                term = POINTWISE_OPS["mul"](term, POINTWISE_OPS["pow"](values[p], fmpq(int(e))))
        total = POINTWISE_OPS["add"](total, term)
    return total


def _element_value(k: Generators, a: Element, values: Mapping[int, Value]) -> Value:
    found = _polynomial_value(a.num, values)
    for i, e in a.den:
        found = POINTWISE_OPS["div"](
            found, POINTWISE_OPS["pow"](_polynomial_value(k.field.factors[i], values), fmpq(e))
        )
    return found


def _generator_value(
    k: Generators, position: int, values: Mapping[int, Value], point: Mapping[str, Any]
) -> Value:
    kind, place = k.meaning[position]
    name = k.field.names[k.field.capacity - 1 - position]
    args: Iterator[Value] = (_element_value(k, a, values) for a in k.operands_of(position))
    match kind:
        case "symbol":
            return fmpq(point[name].numerator, point[name].denominator) if name in point else None
        case "constant":
            return CONSTANTS[name]() if name in CONSTANTS else None
        case "turn":
            return POINTWISE_OPS["tan"](arb.pi() / int(name.removeprefix("tan(pi/").removesuffix(")")))
        case "exp" | "tan":
            return POINTWISE_OPS[kind](*args)
        case "log":
            return POINTWISE_OPS["log"](_abs(*args))
        case "root":
            root = k.atoms[place].root
            return None if root is None else POINTWISE_OPS["pow"](_abs(*args), fmpq(1, root[1]))
        case "power":
            base, exponent = args
            return POINTWISE_OPS["pow"](_abs(base), exponent)
        case "sign":
            (h,) = args
            if any(k.field.index(s) == position for s, _ in k.signs):
                return POINTWISE_OPS["sign"](h)
            return POINTWISE_OPS["pow"](fmpq(-1), h)
        case "function":
            what = k.functions[place][0]
            if what.startswith("polygamma "):
                return polygamma(int(what.removeprefix("polygamma ")), *args)
            return POINTWISE_OPS[what](*args) if what in POINTWISE_OPS else None
        case _:
            return None


def _abs(x: Value) -> Value:
    return None if x is None else abs(ball(x))
