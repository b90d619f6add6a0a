"""The functions of programs as elements of an extension field: one rule for each op.

With T = tan(B), the sine and cosine of multiples of 2*B are rational functions of T, so they need no relation. All
rules are identities of real functions, valid where the function is defined and no divisor is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from types import MappingProxyType
from typing import TypeAlias

from symgrad.checker.extension_field.extension import TooCoarse
from symgrad.checker.extension_field.field import Element, GiveUp, Poly
from symgrad.checker.extension_field.powers import Powers
from symgrad.checker.limits import FUNCTION_ORDER, GAMMA_SHIFTS, ORDER_SHIFTS
from symgrad.checker.numbers import flint

_ODD = {"atan", "asin", "erf", "erfi", "erfinv", "Si", "fresnels", "fresnelc"}


@dataclass(slots=True)
class Functions(Powers):
    """An extension field with the functions of programs."""

    turn: Element | None = None

    # opaque functions

    def opaque(self, name: str, *args: Element) -> Element:
        """Return an opaque function: equal arguments give equal values.

        If it is odd, opposite arguments give opposite ones.
        """
        F = self.field
        for known, its, value in self.functions:
            if known != name or len(its) != len(args):
                continue
            if all(F.equal(a, b) for a, b in zip(args, its, strict=True)):
                return value
            if name in _ODD and F.equal(args[0], F.neg(its[0])):
                return F.neg(value)
        text = ", ".join(F.fraction_text(a) for a in args)
        value = self.new(f"{name}({text})", "function", len(self.functions))
        self.functions.append((name, args, value))
        return value

    def opaque_odd(self, name: str, u: Element) -> Element:
        return self.field.constant(0) if self.field.is_zero(u) else self.opaque(name, u)

    def small_integer(self, u: Element) -> int | None:
        """Return the integer that an element equals, if a recurrence may take so many steps, otherwise None."""
        n = self.field.integer(u)
        return n if n is not None and abs(n) <= ORDER_SHIFTS else None

    def by_recurrence(
        self, name: str, u: Element, part: Callable[[Element], Element], *, product: bool
    ) -> Element:
        """Return f(u) from a known f(u + n) by the recurrence f(u + 1) = f(u)*part(u) or f(u) + part(u).

        Here n is an integer.
        """
        F = self.field
        join, undo = (F.mul, self.div) if product else (F.add, F.sub)
        for known, its, value in list(self.functions):
            distance = F.integer(F.sub(u, its[0])) if known == name else None
            if distance is None or abs(distance) > GAMMA_SHIFTS:
                continue
            for k in range(abs(distance)):
                step = F.add(its[0], F.constant(k if distance > 0 else -1 - k))
                value = (join if distance > 0 else undo)(value, part(step))
            return value
        return self.opaque(name, u)

    # angles

    def scaled_cos_sin(self, u: Element, *, normalized: bool) -> tuple[Element, Element]:
        """Return the cosine and sine of an angle; if not ``normalized``, both multiplied by the same nonzero number."""
        F = self.field
        self._inverse_angles(u)
        basis = [b for b, _ in self.angles]
        pi = self.pi()
        parts = self.verified_combination(u, [*basis, pi])
        if parts is None:
            place = len(self.angles)
            scale = self.oracle.scale("tan", place) * (2 if normalized else 1)
            # The tangent of a shifted angle has its poles at other points.
            shift = Fraction(1, 4) if self.oracle.scale("turned", 0) > 1 else Fraction(0)
            b = F.sub(F.scaled(u, Fraction(1, scale)), F.scaled(pi, shift))
            self.angles.append((b, self.new(f"tan({F.fraction_text(b)})", "tan", place)))
            self.poles.append(f"cos({F.fraction_text(b)}) = 0")
            parts = [*[Fraction(0)] * place, Fraction(scale), scale * shift]
        z = self._cos_sin_of_pi(parts[-1])
        for i, (n, (_, t)) in enumerate(zip(parts, self.angles, strict=False)):
            fine = (n / 2 if normalized else n).denominator
            if fine != 1:
                raise TooCoarse(("tan", i), fine)
            count = abs(n.numerator)
            if count > 64:
                raise GiveUp("a large multiple of an angle")
            t = t if n >= 0 else F.neg(t)
            size = self.inverse(F.add(F.constant(1), F.mul(t, t))) if normalized and count else None
            for k in range(count):
                z = F.sub(z[0], F.mul(z[1], t)), F.add(z[1], F.mul(z[0], t))
                if size is not None and k % 2:
                    z = F.mul(z[0], size), F.mul(z[1], size)
        return z

    def pi(self) -> Element:
        for position, (kind, _) in self.meaning.items():
            if kind == "constant" and self.field.names[self.field.capacity - 1 - position] == "pi":
                return Element(self.field.ring.gen(position))
        return self.constant("pi")

    def _cos_sin_of_pi(self, r: Fraction) -> tuple[Element, Element]:
        """Return the cosine and sine of r*pi: in radicals for multiples of pi/12."""
        F = self.field
        k = r * 12
        if k.denominator != 1:
            return self._cos_sin_by_algebraic_tangent(r)
        half = F.constant(Fraction(1, 2))
        # k/12 = k/3 - k/4
        third = half, F.mul(half, self.power(F.constant(3), half))
        fourth = self.power(half, half)
        z = F.constant(1), F.constant(0)
        for _ in range(k.numerator % 24):
            z = self._complex_product(self._complex_product(z, third), (fourth, F.neg(fourth)))
        return z

    def _complex_product(
        self, z: tuple[Element, Element], w: tuple[Element, Element]
    ) -> tuple[Element, Element]:
        """Return the product of two complex numbers."""
        F, (a, b), (c, s) = self.field, z, w
        return F.sub(F.mul(a, c), F.mul(b, s)), F.add(F.mul(a, s), F.mul(b, c))

    def _cos_sin_by_algebraic_tangent(self, r: Fraction) -> tuple[Element, Element]:
        """Return the cosine and sine of r*pi as rational functions of the algebraic number tan(pi/n)."""
        F, order = self.field, self.oracle.scale("turn", 0)
        if order % r.denominator:
            raise TooCoarse(("turn", 0), r.denominator // math.gcd(r.denominator, order))
        if self.turn is None:
            self.turn = self._tan_of_pi_over(2 * order)
        t, z = self.turn, (F.constant(1), F.constant(0))
        size = self.inverse(F.add(F.constant(1), F.mul(t, t)))
        turn = F.mul(F.sub(F.constant(1), F.mul(t, t)), size), F.mul(F.scaled(t, Fraction(2)), size)
        for _ in range(r.numerator * (order // r.denominator) % (2 * order)):
            z = self._complex_product(z, turn)
        return z

    def _tan_of_pi_over(self, n: int) -> Element:
        """Return T = tan(pi/n); its relation is the factor of the imaginary part of (1 + i*t)**n that vanishes at T."""
        if n > 200:
            raise GiveUp(f"the tangent of pi/{n}")
        F = self.field
        t = self.new(f"tan(pi/{n})", "turn", 0, positive=True)
        real, imaginary = F.ring.constant(1), F.ring.constant(0)
        for _ in range(n):
            real, imaginary = real - imaginary * t.num, imaginary + real * t.num
        at = flint.arb.pi() / n
        at = at.tan()
        zero: list[Poly] = []
        for f, _ in self.split(imaginary)[1]:
            value = flint.arb(0)
            for exponents, c in f.terms():
                value += flint.arb(c) * at ** int(sum(exponents))
            if value.contains(0):
                zero.append(f)
        if len(zero) != 1:
            raise GiveUp(f"the tangent of pi/{n}")
        F.add_relation(t.num, int(zero[0].total_degree()), zero[0])
        return t

    def _inverse_angles(self, u: Element) -> None:
        """Add the inverse functions in an angle to the basis of angles, with the tangents of half their values."""
        F = self.field
        degrees = u.num.degrees()
        for name, args, value in list(self.functions):
            if name not in {"atan", "asin"} or not degrees[F.index(value.num)]:
                continue
            b = F.scaled(value, Fraction(1, 2))
            if any(F.is_zero(F.sub(known, b)) for known, _ in self.angles):
                continue
            w, one = args[0], F.constant(1)
            square = F.mul(w, w)
            root = self.sqrt(F.add(one, square) if name == "atan" else F.sub(one, square))
            self.angles.append((b, self.div(w, F.add(one, root))))

    def sqrt(self, u: Element) -> Element:
        return u if self.field.is_zero(u) else self.power(u, self.field.constant(Fraction(1, 2)))

    def cos_sin(self, u: Element) -> tuple[Element, Element]:
        F = self.field
        for name, args, value in self.functions:
            if name not in {"asin", "atan"}:
                continue
            sign = 1 if F.equal(u, value) else -1 if F.equal(u, F.neg(value)) else 0
            if sign:
                w, one = args[0], F.constant(1)
                square = F.mul(w, w)
                if name == "asin":
                    return self.sqrt(F.sub(one, square)), F.scaled(w, Fraction(sign))
                cosine = self.inverse(self.sqrt(F.add(one, square)))
                return cosine, F.scaled(F.mul(w, cosine), Fraction(sign))
        return self.scaled_cos_sin(u, normalized=True)

    def tan(self, u: Element) -> Element:
        c, s = self.scaled_cos_sin(u, normalized=False)
        return self.div(s, c)

    # functions composed of these

    def half(self, u: Element) -> Element:
        return self.field.scaled(u, Fraction(1, 2))

    def plus(self, u: Element, n: int) -> Element:
        return self.field.add(u, self.field.constant(n))

    def sinh_cosh(self, u: Element) -> tuple[Element, Element]:
        F, up = self.field, self.exp(u)
        down = self.inverse(up)
        return self.half(F.sub(up, down)), self.half(F.add(up, down))

    def asinh(self, u: Element) -> Element:
        F = self.field
        return F.constant(0) if F.is_zero(u) else self.log(F.add(u, self.sqrt(self.plus(F.mul(u, u), 1))))

    def acosh(self, u: Element) -> Element:
        F = self.field
        root = F.mul(self.sqrt(self.plus(u, 1)), self.sqrt(self.plus(u, -1)))
        return self.log(F.add(u, root))

    def atanh(self, u: Element) -> Element:
        F = self.field
        upper, lower = self.plus(u, 1), F.sub(F.constant(1), u)
        return self.half(self.log(self.div(upper, lower)))

    def asin(self, u: Element) -> Element:
        number = self.field.number(u)
        if number is not None and abs(number) == 1:
            return self.field.scaled(self.pi(), Fraction(int(number.p), 2))
        return self.opaque_odd("asin", u)

    def acos(self, u: Element) -> Element:
        return self.field.sub(self.half(self.pi()), self.asin(u))

    def atan(self, u: Element) -> Element:
        number = self.field.number(u)
        if number is not None and abs(number) == 1:
            return self.field.scaled(self.pi(), Fraction(int(number.p), 4))
        return self.opaque_odd("atan", u)

    def acot(self, u: Element) -> Element:
        return self.atan(self.inverse(u))

    def signum(self, u: Element) -> Element:
        """Return the sign of u as programs define it: its zeros are excluded, or else the sign is opaque."""
        return self.sign(u) if self.try_exclude_zeros(u) else self.opaque("sign", u)

    def absolute(self, u: Element) -> Element:
        return self.field.mul(self.sign(u), u)

    def maximum(self, u: Element, v: Element) -> Element:
        F = self.field
        return self.half(F.add(F.add(u, v), self.absolute(F.sub(u, v))))

    def minimum(self, u: Element, v: Element) -> Element:
        F = self.field
        return self.half(F.sub(F.add(u, v), self.absolute(F.sub(u, v))))

    def floor(self, u: Element) -> Element:
        """Return the floor: it is exact for numbers, and integer summands are moved out of it."""
        F = self.field
        number = F.number(u)
        if number is not None:
            return F.constant(math.floor(Fraction(int(number.p), int(number.q))))
        return self.by_recurrence("floor", u, lambda _: F.constant(1), product=False)

    def round(self, u: Element) -> Element:
        number = self.field.number(u)
        if number is not None:
            return self.field.constant(round(Fraction(int(number.p), int(number.q))))
        return self.opaque("round", u)

    def gamma(self, u: Element) -> Element:
        F = self.field
        number = F.number(u)
        if number is not None and number.q == 1 and 0 < number <= 64:
            return F.constant(factorial(int(number.p) - 1))
        if number is not None and number.q == 2 and abs(number) <= 64:
            # gamma(1/2 + n) = (1/2)*(3/2)*...*(n - 1/2)*sqrt(pi), and gamma(1/2 - n) = pi*(-1)**n/gamma(1/2 + n)
            n, root = int(number.p - 1) // 2, self.sqrt(self.pi())
            part = math.prod(Fraction(2 * i + 1, 2) for i in range(abs(n)))
            return F.scaled(root, part if n >= 0 else Fraction((-1) ** n) / part)
        value = self.by_recurrence("gamma", u, lambda v: v, product=True)
        position = F.index(value.num) if self.generator(value.num)[0] == "function" else None
        if position is not None and not value.den and not u.den and self.sign_by_bounds(u.num) == 1:
            self.bounds[position] = Fraction(0), None
        return value

    def lgamma(self, u: Element) -> Element:
        """Return log|gamma(u)|."""
        return self.log(self.absolute(self.gamma(u)))

    def polygamma(self, n: int, u: Element) -> Element:
        if n > FUNCTION_ORDER:
            return self.opaque(f"polygamma {n}", u)
        jump = self.field.constant((-1) ** n * factorial(n))
        return self.by_recurrence(
            f"polygamma {n}", u, lambda v: self.div(jump, self.integer_power(v, n + 1)), product=False
        )


def _of_reciprocal(
    function: Callable[[Functions, Element], Element],
) -> Callable[[Functions, Element], Element]:
    """Return a function at the reciprocal of its argument."""
    return lambda k, u: function(k, k.inverse(u))


def _log_base(base: int) -> Callable[[Functions, Element], Element]:
    return lambda k, u: k.div(k.log(u), k.log(k.field.constant(base)))


def _hyperbolic(part: int, *, inverse: bool = False) -> Callable[[Functions, Element], Element]:
    def row(k: Functions, u: Element) -> Element:
        value = k.sinh_cosh(u)[part]
        return k.inverse(value) if inverse else value

    return row


def _hyperbolic_ratio(part: int) -> Callable[[Functions, Element], Element]:
    def row(k: Functions, u: Element) -> Element:
        pair = k.sinh_cosh(u)
        return k.div(pair[part], pair[1 - part])

    return row


Unary: TypeAlias = "Callable[[Functions, Element], Element]"
Binary: TypeAlias = "Callable[[Functions, Element, Element], Element]"

_UNARY: dict[str, Unary] = {
    "neg": lambda k, u: k.field.neg(u),
    "sqrt": Functions.sqrt,
    "cbrt": lambda k, u: k.real_root(u, 3),
    "exp": Functions.exp,
    "exp2": lambda k, u: k.power(k.field.constant(2), u),
    "expm1": lambda k, u: k.plus(k.exp(u), -1),
    "log": Functions.log,
    "log2": _log_base(2),
    "log10": _log_base(10),
    "log1p": lambda k, u: k.log(k.plus(u, 1)),
    "sigmoid": lambda k, u: k.inverse(k.plus(k.exp(k.field.neg(u)), 1)),
    "softplus": lambda k, u: k.log(k.plus(k.exp(u), 1)),
    "abs": Functions.absolute,
    "sign": Functions.signum,
    "relu": lambda k, u: k.half(k.field.add(u, k.absolute(u))),
    "stop_gradient": lambda _, u: u,
    "sin": lambda k, u: k.cos_sin(u)[1],
    "cos": lambda k, u: k.cos_sin(u)[0],
    "tan": Functions.tan,
    "sec": lambda k, u: k.inverse(k.cos_sin(u)[0]),
    "csc": lambda k, u: k.inverse(k.cos_sin(u)[1]),
    "cot": lambda k, u: k.inverse(k.tan(u)),
    "sinh": _hyperbolic(0),
    "cosh": _hyperbolic(1),
    "tanh": _hyperbolic_ratio(0),
    "sech": _hyperbolic(1, inverse=True),
    "csch": _hyperbolic(0, inverse=True),
    "coth": _hyperbolic_ratio(1),
    "asin": Functions.asin,
    "acos": Functions.acos,
    "atan": Functions.atan,
    "asec": _of_reciprocal(Functions.acos),
    "acsc": _of_reciprocal(Functions.asin),
    "acot": Functions.acot,
    "asinh": Functions.asinh,
    "acosh": Functions.acosh,
    "atanh": Functions.atanh,
    "asech": _of_reciprocal(Functions.acosh),
    "acsch": _of_reciprocal(Functions.asinh),
    "acoth": _of_reciprocal(Functions.atanh),
    "gamma": Functions.gamma,
    "lgamma": Functions.lgamma,
    "digamma": lambda k, u: k.polygamma(0, u),
    "floor": Functions.floor,
    "ceil": lambda k, u: k.field.neg(k.floor(k.field.neg(u))),
    "round": Functions.round,
}
_BINARY: dict[str, Binary] = {
    "add": lambda k, u, v: k.field.add(u, v),
    "mul": lambda k, u, v: k.field.mul(u, v),
    "div": Functions.div,
    "hypot": lambda k, u, v: k.sqrt(k.field.add(k.field.mul(u, u), k.field.mul(v, v))),
    "maximum": Functions.maximum,
    "minimum": Functions.minimum,
    # An opaque angle: atan2(c*y, c*x) = atan2(y, x) holds only for positive c.
    "atan2": lambda k, y, x: k.opaque("atan2", y, x),
}


def _clip(k: Functions, u: Element, low: Element, high: Element) -> Element:
    return k.minimum(k.maximum(u, low), high)


FUNCTION_OPS: Mapping[str, Callable[..., Element]] = MappingProxyType({**_UNARY, **_BINARY, "clip": _clip})
"""For each op, the function that maps the elements of its arguments to the element of its result."""
