"""Powers with small rational exponents as products and roots, rounded once.

    x**5 = (x**2)**2*x    x**(3/2) = sqrt(x)*x    x**(4/3) = cbrt(x)*x    x**(-5/3) = (1/cbrt(x))**5

Every intermediate value is a pair of a number and its rounding error, so that the result is as accurate as that of a
power function, in a fraction of the time. Powers of the same base share their root. With a fused multiply-add, the
product of two pairs takes four instructions (Dekker, Numerische Mathematik 18, 1971).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from symgrad.ir.graph import Node
from symgrad.ir.op import Builder, Lane
from symgrad.support.powers import integer_power

_SHORT = 4
"""The largest exponent for plain squaring without pairs, which loses at most two ulp."""

_LONGEST = 64
"""The largest numerator; for larger ones a power function is as fast."""

_INFINITY = float("inf")

_Pair: TypeAlias = tuple[Lane, "Lane | None"]
"""A number and its rounding error, which is None for zero. The error is meaningless if the number is zero, infinite or
NaN."""


def lower_power(b: Builder, node: Node, x: Lane, y: Lane) -> Lane:
    """Return the code of x**y."""
    exponent = node.args[1]
    if not exponent.is_number():
        return b.call("pow", x, y)
    n = Fraction(exponent.value)
    if n in _ROUNDED_ONCE:
        return _ROUNDED_ONCE[n](b, x)
    if b.fused and n.denominator <= 3 and abs(n.numerator) <= _LONGEST:
        return _by_roots(b, x, n)
    if n.denominator == 1 and abs(n) <= _SHORT:
        square = b.mul(x, x)
        power = {2: square, 3: b.mul(square, x), 4: b.mul(square, square)}[abs(int(n))]
        return b.div(b.const(1), power) if n < 0 else power
    return b.call("pow", x, y)


_ROUNDED_ONCE: dict[Fraction, Callable[[Builder, Lane], Lane]] = {
    Fraction(0): lambda b, _: b.const(1),
    Fraction(1): lambda _, x: x,
    Fraction(2): lambda b, x: b.mul(x, x),
    Fraction(-1): lambda b, x: b.div(b.const(1), x),
    Fraction(1, 2): lambda b, x: b.sqrt(x),
}


def _by_roots(b: Builder, x: Lane, n: Fraction) -> Lane:
    root, times = _root(b, x, n.denominator), partial(_product, b)
    if n < 0:
        # The reciprocal is taken first: its powers overflow only if the result does, but powers of the root overflow
        # earlier.
        value = integer_power(_reciprocal(b, root), -n.numerator, times)
    else:
        whole, rest = divmod(n.numerator, n.denominator)
        value = integer_power(root, rest, times) if rest else None
        if whole:
            power = integer_power((x, None), whole, times)
            value = power if value is None else times(value, power)
        assert value is not None
    high, low = value
    if low is None:
        return high
    size = b.abs(high)
    ordinary = b.and_(b.gt(size, b.const(0)), b.lt(size, b.const(_INFINITY)))
    if n.denominator == 1:
        return b.select(ordinary, b.add(high, low), high)
    # A root of -0 and its products may be -0, but the power is 0.
    power = b.select(ordinary, b.add(high, low), b.add(high, b.const(0)))
    return power if n.denominator == 2 else b.select(b.lt(x, b.const(0)), b.const(float("nan")), power)


def _root(b: Builder, x: Lane, degree: int) -> _Pair:
    if degree == 1:
        return x, None
    if degree == 3:
        return b.add(b.call("cbrt", x), b.const(0)), b.call("cbrt_low", x)
    root = b.add(b.sqrt(x), b.const(0))
    square, error = b.two_product(root, root)
    return root, b.mul(b.sub(b.sub(x, square), error), b.div(b.const(Fraction(1, 2)), root))


def _reciprocal(b: Builder, x: _Pair) -> _Pair:
    high, low = x
    inverse = b.div(b.const(1), high)
    product, error = b.two_product(high, inverse)
    wrong = b.sub(b.sub(b.const(1), product), error)
    if low is not None:
        wrong = b.sub(wrong, b.mul(low, inverse))
    return inverse, b.mul(inverse, wrong)


def _product(b: Builder, x: _Pair, y: _Pair) -> _Pair:
    high, low = b.two_product(x[0], y[0])
    if x[1] is not None:
        low = b.fma(x[1], y[0], low)
    if y[1] is not None:
        low = b.fma(x[0], y[1], low)
    return high, low
