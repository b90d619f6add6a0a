"""The operators of nodes (`a + b`, `2*a`) for symgrad's own formulas: they fold exact numbers.

They drop structural zeros and ones, and move numbers to the front. They are never applied to formulas of users, because
a step such as `0/y -> 0` enlarges the domain. Each step is an identity of the real numbers wherever both sides are
defined; `0*y -> 0` is the strong zero (a structurally zero cotangent stays zero in every product). `a - b` is `add(a,
neg(b))`, as everywhere in symgrad.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from symgrad.ir.exact import FOLDED, fits, power

if TYPE_CHECKING:
    from typing import Self

A = TypeVar("A", bound="Arithmetic")
Number = int | Fraction


class Arithmetic:
    """The operators of nodes; a subclass constructs nodes from ops and from numbers."""

    __slots__ = ()

    op: Any
    args: Any  # a tuple of Self, but the type of a variable that is overridden may not contain Self
    shape: tuple[Any, ...]

    @property
    @abstractmethod
    def value(self) -> int | Fraction | bool:
        """The value of a number."""

    @abstractmethod
    def is_number(self, value: Number | None = None) -> bool:
        """Tell whether the node is a number, and equal to ``value`` if that is set."""

    @classmethod
    @abstractmethod
    def of(cls, value: Self | Number) -> Self:
        """Return a node unchanged, and a number as a node."""

    @classmethod
    @abstractmethod
    def applied(cls, name: str, *args: Self) -> Self:
        """Return the op with this name applied to arguments, unsimplified."""

    def __add__(self, other: Self | Number) -> Self:
        return _add(self, self.of(other))

    def __radd__(self, other: Number) -> Self:
        return _add(self.of(other), self)

    def __sub__(self, other: Self | Number) -> Self:
        return _add(self, _neg(self.of(other)))

    def __rsub__(self, other: Number) -> Self:
        return _add(self.of(other), _neg(self))

    def __mul__(self, other: Self | Number) -> Self:
        return _mul(self, self.of(other))

    def __rmul__(self, other: Number) -> Self:
        return _mul(self.of(other), self)

    def __truediv__(self, other: Self | Number) -> Self:
        return _div(self, self.of(other))

    def __rtruediv__(self, other: Number) -> Self:
        return _div(self.of(other), self)

    def __pow__(self, other: Self | Number) -> Self:
        return _pow(self, self.of(other))

    def __rpow__(self, other: Number) -> Self:
        return _pow(self.of(other), self)

    def __neg__(self) -> Self:
        return _neg(self)


def _add(a: A, b: A) -> A:
    if a.is_number():
        if a.value == 0 and not a.shape:
            return b
        if b.is_number() and fits(total := a.value + b.value):
            return a.of(total)
    elif b.is_number(0):
        return a
    return a.applied("add", a, b)


def _neg(a: A) -> A:
    if a.is_number():
        return a.of(-a.value)
    if a.op.name == "neg":
        return a.args[0]
    if a.op.name == "mul" and a.args[0].is_number():
        return _mul(a.of(-a.args[0].value), a.args[1])
    return a.applied("neg", a)


def _mul(a: A, b: A) -> A:
    if b.is_number() and not a.is_number():
        a, b = b, a
    if a.is_number():
        if a.value == 0:
            return a
        if a.value == 1:
            return b
        if b.is_number():
            return a.of(scale) if fits(scale := a.value * b.value) else a.applied("mul", a, b)
        if a.value == -1:
            return _neg(b)
        if b.op.name == "neg":
            return _mul(a.of(-a.value), b.args[0])
        if b.op.name == "mul" and b.args[0].is_number() and fits(scale := a.value * b.args[0].value):
            return _mul(a.of(scale), b.args[1])
        return a.applied("mul", a, b)
    if a.op.name == "neg":
        return _neg(_mul(a.args[0], b))
    if b.op.name == "neg":
        return _neg(_mul(a, b.args[0]))
    return a.applied("mul", a, b)


def _div(a: A, b: A) -> A:
    if a.is_number(0) or b.is_number(1):
        return a
    if b.is_number() and b.value != 0:
        if not a.is_number():
            return _mul(a.of(1 / Fraction(b.value)), a)
        if fits(quotient := Fraction(a.value) / b.value):
            return a.of(quotient)
    if a.op.name == "neg":
        return _neg(_div(a.args[0], b))
    if b.op.name == "neg":
        return _neg(_div(a, b.args[0]))
    return a.applied("div", a, b)


def _pow(a: A, b: A) -> A:
    if b.is_number(1):
        return a
    if b.is_number(0):
        return a.of(1)
    folded = fold_power(a, b)
    return folded if folded is not None else a.applied("pow", a, b)


def fold_power(base: A, exponent: A) -> A | None:
    """Return the exact value of a number to an integer power, or None if it is not rational or too long."""
    if not (base.is_number() and exponent.is_number()) or not isinstance(exponent.value, int):
        return None
    value = power(base.value, exponent.value, FOLDED)
    return None if value is None else base.of(value)
