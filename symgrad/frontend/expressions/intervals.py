"""The brackets after a domain: ends of intervals, and parameters, which are numbers or formulas of sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeAlias

from symgrad.frontend.scope import INFINITIES, Scope
from symgrad.frontend.tokens.terms import Token
from symgrad.ir.sizes import Extent, Size, nonnegative, size_max, size_min, size_product, size_sum
from symgrad.ir.types import Domain, End, Number
from symgrad.support.errors import DeclarationError, RedefinitionError

_INFINITE = ("oo", "-oo")
_OPERATIONS: dict[str, tuple[Callable[[list[Size]], Size], Callable[[list[Number]], Number]]] = {
    "+": (size_sum, sum),
    "*": (size_product, prod),
    "max": (lambda sizes: size_max(*sizes), max),
    "min": (lambda sizes: size_min(*sizes), min),
}
"""How ends are computed: from sizes, and from numbers."""

_Value: TypeAlias = "Number | Size"


@dataclass(frozen=True, slots=True)
class IntervalEnd:
    """One end of an interval, or a parameter in the brackets.

    Args:
        value: a number, ``"oo"``, ``"-oo"``, or a formula of sizes.
        token: the token of this end or parameter.
        names: the names in the formula.
    """

    value: _Value
    token: Token
    names: tuple[Token, ...] = ()


class Intervals(Scope):
    """The rules for bounds, and for the domains that have bounds."""

    def interval(self, name: Token, domain: Domain, bounds: tuple[IntervalEnd, ...]) -> Domain:
        """Return a domain with two ends."""
        whole = domain.kind == "int"
        if not whole and _is_shape(bounds):
            self.wrong_token(
                DeclarationError,
                "the shape of an array stands in square brackets",
                name,
                expected="real[n, d] for an array, real(0, 1) for an interval",
                cure=f"write {name}[{', '.join(str(b.value) for b in bounds)}]",
            )
            return domain
        if domain.name not in ("real", "int") or len(bounds) != 2:
            several = domain.name in ("real", "int")
            self.wrong_token(
                DeclarationError,
                "an interval has two ends" if several else f"'{name}' takes no interval",
                name,
                expected="whole numbers from one end to the other, both included, such as int(0, 9) or int(0, k - 1)"
                if whole
                else "an interval such as real(0, 1), real(0, oo) or real(-oo, 1/2)",
                cure=f"write {name if several else 'real'}(low, high)",
            )
            return domain
        low, high = (self._end(b, sign, whole=whole) for b, sign in zip(bounds, _INFINITE[::-1], strict=True))
        if low is not None and high is not None and _is_empty(low, high, closed=whole):
            self.wrong_token(
                DeclarationError,
                "the interval is empty",
                name,
                expected="low <= high, because both ends are included" if whole else "low < high",
                cure="exchange the ends",
            )
            return domain
        if low is None and high is None:
            return domain
        return Domain(domain.name, domain.kind, low, high, closed=whole)

    def _end(self, bound: IntervalEnd, infinite: str, *, whole: bool) -> End | None:
        if bound.value == infinite:
            return None
        if not whole:
            return self.exact(bound, "write the end as a decimal or a fraction, such as 22/7") or 0
        if bound.value in _INFINITE:
            return self.exact(bound, "exchange the ends") or 0
        if isinstance(bound.value, Fraction):
            self.wrong_token(
                DeclarationError,
                f"the end {bound.value} of an interval of whole numbers is no whole number",
                bound.token,
                expected="a whole number, or one that is computed from sizes of axes, such as k - 1",
                cure=f"write {bound.value.__floor__()} or {bound.value.__ceil__()}",
            )
            return 0
        for token in bound.names:
            self.name_of_size(token)
        return bound.value

    def name_of_size(self, token: Token) -> None:
        """Record that a name is the size of an axis, or refuse the name."""
        if str(token) in self.defined or str(token) == "pi":
            self.wrong_token(
                RedefinitionError,
                f"'{token}' is a value, and so not the size of an array",
                token,
                expected="a whole number, or a name that nothing else has",
                cure=f"choose another name, such as {self.unused('size_' + token)}",
            )
        self.sizes.add(str(token))

    def exact(self, bound: IntervalEnd, cure: str) -> Number | None:
        """Return a bound that must be a number."""
        value = bound.value
        if isinstance(value, str | Extent):
            self.wrong_token(
                DeclarationError,
                f"'{value}' stands where an exact number is needed",
                bound.token,
                expected="a number such as 2, 0.5 or 1/3; oo or -oo as the end of an interval",
                cure=cure,
            )
            return None
        return value

    # ---------------------------------------------------------------------------------------------------- the rules

    def bounds(self, *bounds: IntervalEnd | None) -> tuple[IntervalEnd, ...]:
        return tuple(b for b in bounds if b is not None)

    def number_bound(self, token: Token, divisor: Token | None) -> IntervalEnd:
        value = Fraction(self.literal_value(token))
        if divisor is not None:
            if self.literal_value(divisor) == 0:
                self.wrong_token(DeclarationError, "a division by zero", divisor, cure="write oo for no end")
                return IntervalEnd(0, token)
            value /= self.literal_value(divisor)
        return IntervalEnd(_plain(value), token)

    def name_bound(self, token: Token) -> IntervalEnd:
        return (
            IntervalEnd("oo", token) if str(token) in INFINITIES else IntervalEnd(str(token), token, (token,))
        )

    def extreme_bound(self, name: Token, a: IntervalEnd, b: IntervalEnd) -> IntervalEnd:
        if str(name) not in ("max", "min"):
            self.wrong_token(
                DeclarationError,
                f"'{name}' has no place in a formula of sizes",
                name,
                expected="names of sizes with + - *, max(a, b) and min(a, b)",
                cure="write max or min",
            )
            return IntervalEnd(0, name)
        return self._computed(str(name), a, b)

    def positive_bound(self, _sign: Token, bound: IntervalEnd) -> IntervalEnd:
        return bound

    def negative_bound(self, _sign: Token, bound: IntervalEnd) -> IntervalEnd:
        if bound.value in _INFINITE:
            return IntervalEnd("-oo" if bound.value == "oo" else "oo", bound.token)
        return self._computed("*", IntervalEnd(-1, bound.token), bound)

    def add_bounds(self, a: IntervalEnd, b: IntervalEnd) -> IntervalEnd:
        return self._computed("+", a, b)

    def subtract_bounds(self, a: IntervalEnd, b: IntervalEnd) -> IntervalEnd:
        return self._computed("+", a, self._computed("*", IntervalEnd(-1, b.token), b))

    def multiply_bounds(self, a: IntervalEnd, b: IntervalEnd) -> IntervalEnd:
        return self._computed("*", a, b)

    def _computed(self, operation: str, a: IntervalEnd, b: IntervalEnd) -> IntervalEnd:
        of_sizes, of_numbers = _OPERATIONS[operation]
        names = (*a.names, *b.names)
        if isinstance(a.value, int | Fraction) and isinstance(b.value, int | Fraction):
            return IntervalEnd(_plain(Fraction(of_numbers([a.value, b.value]))), b.token, names)
        values: list[Size] = []
        for bound in (a, b):
            if isinstance(bound.value, Fraction) or bound.value in _INFINITE:
                self.wrong_token(
                    DeclarationError,
                    f"'{bound.value}' stands in a formula of sizes",
                    bound.token,
                    expected="whole numbers and names of sizes with + - *, such as 2*k - 1",
                    cure="write the end of the interval as one of these, or as a number alone",
                )
                return IntervalEnd(0, bound.token)
            values.append(bound.value)
        return IntervalEnd(of_sizes(values), b.token, names)


def _is_shape(bounds: tuple[IntervalEnd, ...]) -> bool:
    """Tell whether brackets look like the shape of an array: they contain names of sizes, and perhaps integers."""
    sizes = [b.value for b in bounds]
    named = [s for s in sizes if isinstance(s, str) and s not in (*_INFINITE, "pi", "e")]
    return bool(named) and len(named) + sum(isinstance(s, int) and s > 0 for s in sizes) == len(sizes)


def _plain(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value


def _is_empty(low: End, high: End, *, closed: bool) -> bool:
    """Tell whether no value lies between two ends, for all values of the sizes."""
    if isinstance(low, int | Fraction) and isinstance(high, int | Fraction):
        return low > high if closed else low >= high
    if isinstance(low, Fraction) or isinstance(high, Fraction):
        return False
    return nonnegative(size_sum([low, size_product([-1, high]), -1]))
