"""Kernels as numbers: what each generator of a proof stands for at a point, by mpmath."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath

from symgrad.checker.complex.extension_field import ComplexExtensionField
from symgrad.checker.extension_field.field import Element, FractionField, Poly
from symgrad.checker.extension_field.functions import Functions
from symgrad.ir.graph import OPS

MP = mpmath.MPContext()
MP.dps = 50

CONSTANTS = {"pi": MP.pi, "E": MP.e, "EulerGamma": MP.euler, "Catalan": MP.catalan, "GoldenRatio": MP.phi}


def close(found: Any, wanted: Any, size: Any = 0) -> bool:
    """Whether two numbers are the same but for rounding; ``size``: of what one of them is a difference of."""
    return abs(found - wanted) <= MP.mpf(10) ** -18 * (1 + abs(wanted) + size)


def exact(v: Fraction) -> Any:
    return MP.mpf(v.numerator) / v.denominator


def exponential(u: Any) -> Any:
    if abs(u) > 1000:
        raise ValueError("mpmath takes all digits of it")
    return MP.exp(u)


class Numbers:
    """Evaluates polynomials and fractions of the generators of a field.

    Args:
        field: the fractions.
        known: numbers by the position of a generator.
    """

    def __init__(self, field: FractionField, known: Mapping[int, Any]) -> None:
        self.field, self.known = field, dict(known)

    def poly(self, h: Poly) -> Any:
        return self.sized(h)[0]

    def sized(self, h: Poly) -> tuple[Any, Any]:
        """The value of a polynomial, and the sum of the sizes of its terms."""
        total, size = MP.mpf(0), MP.mpf(0)
        for exponents, c in h.terms():
            term = MP.mpf(int(c.p)) / int(c.q)
            for position, e in enumerate(exponents):
                if e:
                    term *= self.known[position] ** int(e)
            total, size = total + term, size + abs(term)
        return total, size

    def element(self, a: Element) -> Any:
        value = self.poly(a.num)
        for i, e in a.den:
            value /= self.poly(self.field.factors[i]) ** e
        return value


def of_reals(k: Functions, point: Mapping[str, Any]) -> Numbers:
    """The generators of real kernels at a point, the oldest first.

    Raises:
        ZeroDivisionError, ValueError: if one of them has no value there.
    """
    F = k.field
    numbers = Numbers(F, {})
    for place, name in enumerate(F.names):
        position = F.capacity - 1 - place
        numbers.known[position] = _real(k, numbers, position, name, point)
    return numbers


def _real(k: Functions, at: Numbers, position: int, name: str, point: Mapping[str, Any]) -> Any:
    kind, place = k.meaning[position]
    match kind:
        case "symbol":
            return point[name]
        case "constant":
            return +CONSTANTS[name]
        case "turn":
            return MP.tan(MP.pi / int(name.removeprefix("tan(pi/").removesuffix(")")))
        case "exp":
            return exponential(at.element(k.exps[place][0]))
        case "tan":
            return MP.tan(at.element(k.angles[place][0]))
        case "log":
            return MP.log(abs(at.element(k.atoms[place].value)))
        case "root":
            return MP.root(abs(at.element(k.atoms[place].value)), _order(k, place, position))
        case "power":
            base, which = divmod(place, 1000)
            return abs(at.element(k.atoms[base].value)) ** at.element(k.atoms[base].powers[which][0])
        case "sign":
            for s, h in k.signs:
                if k.field.index(s) == position:
                    return MP.sign(at.poly(h))
            (term,) = (t for t, made in k.parities if k.field.index(made.num) == position)
            return MP.mpf(-1) ** int(at.poly(term))
        case _:
            what, args, _ = k.functions[place]
            op, *params = what.split()
            return OPS[op].reference(MP, *map(int, params), *(at.element(a) for a in args))


def _order(k: Functions, place: int, position: int) -> int:
    root = k.atoms[place].root
    if root is not None and k.field.index(root[0].num) == position:
        return root[1]
    return next(degree for p, degree, _ in k.field.relations if p == position)


def of_complex(k: ComplexExtensionField, point: Mapping[str, Any]) -> Numbers:
    """The generators of complex kernels at a point, the oldest first.

    Raises:
        ZeroDivisionError, ValueError: if one of them has no value there.
    """
    F = k.field
    numbers = Numbers(F, {})
    for place in range(len(F.names)):
        position = F.capacity - 1 - place
        numbers.known[position] = _complex(k, numbers, position, point)
    return numbers


def _complex(k: ComplexExtensionField, at: Numbers, position: int, point: Mapping[str, Any]) -> Any:
    def mine(made: Element | None) -> bool:
        return made is not None and made.num == k.field.ring.gen(position)

    if mine(k.omega):
        return MP.exp(2j * MP.pi / k.turns)
    for names, values in ((k.symbols, point), (k.constants, CONSTANTS)):
        for name, made in names.items():
            if mine(made):
                return +values[name]
    for a, made in k.exps:
        if mine(made):
            return exponential(at.element(a))
    for base in k.bases:
        if mine(base.log):
            return principal_log(at.element(base.value))
        if base.root is not None and mine(base.root[0]):
            root = MP.exp(principal_log(at.element(base.value)) / base.root[1])
            return root * at.poly(k.field.denominator(base.value))
    for what, args, made in k.functions:
        if mine(made):
            op, *params = what.split()
            return OPS[op].reference(MP, *map(int, params), *(at.element(a) for a in args))
    if position in k.positive:  # the root of a prime number, which is a sum of roots of unity
        base, r = k.positive[position]
        return MP.exp(principal_log(at.element(k.bases[base].value)) * exact(r))
    raise AssertionError(k.field.names[k.field.capacity - 1 - position])


def principal_log(z: Any) -> Any:
    """The logarithm; of what is a negative number but for rounding that of the number."""
    z = MP.mpc(z)
    return MP.log(z.real if abs(z.imag) < MP.mpf(10) ** -20 * abs(z.real) else z)
