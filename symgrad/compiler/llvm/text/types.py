"""Floating-point formats: the types of lanes, and the rounding of exact numbers to them."""

from __future__ import annotations

import math
import struct
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from symgrad.support.errors import NumberTooLargeError, UsageError


@dataclass(frozen=True, slots=True)
class FloatType:
    """A binary floating-point format: its name in LLVM, in NumPy and in C, and its rounding.

    Example:
        >>> from fractions import Fraction
        >>> FLOAT32.literal(FLOAT32.round(Fraction(1, 10)))
        '0x3FB99999A0000000'
    """

    llvm: str
    numpy: str
    c: str
    bits: int
    precision: int
    min_exponent: int
    max_exponent: int
    libm_suffix: str

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    @property
    def scalar(self) -> type[np.floating]:
        return np.float64 if self.bits == 64 else np.float32

    def round(self, number: float | Fraction) -> np.floating:
        """Round an exact number once, to nearest, ties to even.

        Raises:
            NumberTooLargeError: if a finite number is beyond the largest number of the format.
        """
        if isinstance(number, float) and not math.isfinite(number):
            return self.scalar(number)
        if number == 0:
            return self.scalar(number)  # a float zero keeps its sign
        exact = Fraction(number)
        if self is FLOAT64:
            with suppress(OverflowError):
                return np.float64(exact.numerator / exact.denominator)  # Python rounds this quotient once
        # 2**exponent is the weight of the last bit; Python's round(Fraction) rounds half to even. Going
        # through float first would round twice for float32.
        size = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
        exponent = size - self.precision
        if abs(exact) >= Fraction(2) ** size:
            exponent += 1
        exponent = max(exponent, self.min_exponent)
        kept = round(exact / Fraction(2) ** exponent)
        if abs(kept).bit_length() + exponent > self.max_exponent:
            raise NumberTooLargeError(
                f"a number is too large for {self.numpy} (about 10**{_decimal_exponent(exact)})",
                expected=f"numbers up to {np.finfo(self.scalar).max}",
                cure='compile with dtype="float64"' if self.bits == 32 else "rescale it",
            )
        return self.scalar(math.copysign(math.ldexp(kept, exponent), exact))

    def literal(self, value: float | np.floating) -> str:
        """Return the value in LLVM's hexadecimal notation; LLVM writes the bits of a double even for a float."""
        return f"0x{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}"


FLOAT64 = FloatType("double", "float64", "double", 64, 53, -1074, 1024, "")
FLOAT32 = FloatType("float", "float32", "float", 32, 24, -149, 128, "f")


def float_type(dtype: object) -> FloatType:
    """Return the format of a dtype.

    Raises:
        UsageError: for any dtype other than float64 and float32.
    """
    try:
        name = np.dtype(dtype).name  # type: ignore[arg-type]  (users may pass anything)
    except TypeError:
        name = str(dtype)
    for candidate in (FLOAT64, FLOAT32):
        if name == candidate.numpy:
            return candidate
    raise UsageError(
        f"kernels cannot compute in {name}",
        expected='dtype "float64" or "float32"',
        cure='leave dtype out, which means "float64"',
    )


def _decimal_exponent(exact: Fraction) -> int:
    bits = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    return round(bits * math.log10(2))
