"""Complex numbers with nodes as parts: a cosine is the real part of an exponential function.

A complex number is always the left operand of an operator, because nodes do not know complex numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.graph import OPS, Node, as_node


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number with nodes as parts.

    Args:
        re: the real part.
        im: the imaginary part.
    """

    re: Node
    im: Node

    def __add__(self, other: Value | int) -> Complex:
        o = _as_complex(other)
        return Complex(self.re + o.re, self.im + o.im)

    __radd__ = __add__

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)

    def __sub__(self, other: Value | int) -> Complex:
        return self + -_as_complex(other)

    def __rsub__(self, other: Value | int) -> Complex:
        return -self + other

    def __mul__(self, other: Value | int) -> Complex:
        o = _as_complex(other)
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    __rmul__ = __mul__

    def __truediv__(self, other: Value | int) -> Complex:
        o = _as_complex(other)
        size = o.re**2 + o.im**2
        found = self * Complex(o.re, -o.im)
        return Complex(found.re / size, found.im / size)

    def __rtruediv__(self, other: Value | int) -> Complex:
        return _as_complex(other) / self

    def __pow__(self, n: int) -> Complex:
        found = Complex(as_node(1), as_node(0))
        for _ in range(n):
            found = found * self
        return found


Value = Node | Complex


def _as_complex(value: Value | int) -> Complex:
    return value if isinstance(value, Complex) else Complex(as_node(value), as_node(0))


def exp(z: Value) -> Value:
    """Return the exponential function."""
    if isinstance(z, Node):
        return as_node(1) if z.is_number(0) else OPS["exp"](z)
    size = exp(z.re)
    assert isinstance(size, Node)
    return Complex(size * OPS["cos"](z.im), size * OPS["sin"](z.im))


def power(z: Value, e: Node | int) -> Value:
    """Return the principal branch of z**e, where z has a positive real part."""
    e = as_node(e)
    if isinstance(z, Node):
        return z**e
    if e.is_number() and isinstance(e.value, int) and abs(e.value) <= 4:
        return z**e.value if e.value >= 0 else 1 / z**-e.value
    size = (z.re**2 + z.im**2) ** (e / 2)
    angle = e * OPS["atan2"](z.im, z.re)
    return Complex(size * OPS["cos"](angle), size * OPS["sin"](angle))
