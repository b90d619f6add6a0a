"""Arithmetic of several instructions (error-free transformations, polynomials), and the slow path of rare lanes.

The formulas of this package are written over `Lane`, once for all widths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from symgrad.compiler.llvm.maths.vectors.instructions import Instructions, Lane, Operand
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.opcodes import Label, Opcode

__all__ = ["Coefficients", "FunctionOptions", "Lane", "LaneWriter", "Pair", "PairCoefficients"]

Pair: TypeAlias = tuple[Lane, Lane]
"""A double-double number: an unevaluated sum whose second term is at most about an ulp of the first."""


class Coefficients(NamedTuple):
    """Coefficients of a polynomial, with the constant first, for results in double and in single precision."""

    double: tuple[float, ...]
    single: tuple[float, ...]


class PairCoefficients(NamedTuple):
    """Coefficients of a polynomial, with the constant first: the first ones are pairs, and the small ones doubles."""

    leading: tuple[tuple[float, ...], ...]
    small: tuple[float, ...]


_TWO_CHAINS_FROM = 8
"""A polynomial with at least so many coefficients is evaluated in two chains."""


class FunctionOptions(NamedTuple):
    """The options that decide the code of vector functions and their bits.

    Attributes:
        fused: whether the target has a fused multiply-add instruction.
        tables: whether the target has AVX-512's permutations, for table lookup in registers.
        fast: whether an error of four units in the last place of a double is acceptable.
        freestanding: whether there is no C library to call.
    """

    fused: bool
    tables: bool = False
    fast: bool = False
    freestanding: bool = False


class LaneWriter(Instructions):
    """Writes the instructions of one function.

    Args:
        width: lanes in a vector.
        single: whether the results are rounded to single precision. The arithmetic is still in doubles, but polynomials
            are shorter, and the function is ``plain``.
        options: the options of the function; with ``fast`` it is ``plain``, too.

        With ``plain`` the second terms of pairs are not computed.
    """

    def __init__(self, width: int, single: bool, options: FunctionOptions) -> None:
        super().__init__(width)
        self.fused, self.tables, fast, self.freestanding = options
        self.uses_tables = False  # whether the function has a table lookup
        self.single = single
        self.plain = single or fast
        self._block = "entry"

    def constant_pair(self, high: float, low: float) -> Pair:
        """Return a constant with more bits than a double."""
        return self.const(high), self.const(0.0 if self.plain else low)

    def round_to_single(self, x: Lane) -> Pair:
        """Return the nearest number of single precision, and the rounding error."""
        wide, narrow = self.type("double"), f"<{self.width} x float>"
        single = self.emit(Opcode.convert("fptrunc", wide, narrow), x.text)
        rounded = self.emit(Opcode.convert("fpext", narrow, wide), single.text)
        return rounded, x - rounded

    ROUND = 1.5 * 2.0**52
    """The last bits of the sum of this and a small number are the nearest integer of the number."""

    def nearest(self, x: Lane) -> Lane:
        """Return the nearest integer for |x| < 2**51; on old processors llvm.rint would call C's rint."""
        return x + self.ROUND - self.ROUND

    def muladd(self, a: Operand, b: Operand, c: Operand) -> Lane:
        """a*b + c, rounded once with fused multiply-add, else twice."""
        a, b, c = self.lift(a, "double"), self.lift(b, "double"), self.lift(c, "double")
        if a.is_zero_literal or b.is_zero_literal or c.is_zero_literal:
            return a * b + c
        if not self.fused:
            return a * b + c
        return self._intrinsic("fma", a, b, c)

    def polynomial(self, x: Lane, series: Coefficients, *, chains: int = 2) -> Lane:
        """Evaluate a polynomial by Horner's scheme; a long one in two chains, of the even and the odd powers of x.

        Out-of-order execution computes the next points while a short chain waits for its results, but this does not
        hide the latency of a long chain. Two sums of opposite sign cancel; if that matters, use one chain.
        """
        coefficients = series.single if self.single else series.double
        if len(coefficients) < _TWO_CHAINS_FROM or chains == 1:
            return self.horner(x, coefficients)
        square = x * x
        odd, even = (self.horner(square, coefficients[i::2]) for i in (1, 0))
        return self.muladd(odd, x, even)

    def horner(self, x: Lane, coefficients: Sequence[float]) -> Lane:
        value = self.const(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = self.muladd(value, x, c)
        return value

    def fast_two_sum(self, a: Lane, b: Lane) -> Pair:
        """Return a + b exactly, for |a| >= |b| or a = 0 (Dekker 1971)."""
        total = a + b
        return total, self.const(0) if self.plain else b - (total - a)

    def two_sum(self, a: Lane, b: Lane) -> Pair:
        """Return a + b exactly (Knuth, The Art of Computer Programming 2, 4.2.2)."""
        total = a + b
        if self.plain:
            return total, self.const(0)
        other = total - a
        return total, (a - (total - other)) + (b - other)

    def _split(self, a: Lane) -> Pair:
        """Split a number into two halves of 26 bits (Veltkamp; Dekker 1971)."""
        scaled = a * 134217729.0
        high = scaled - (scaled - a)
        return high, a - high

    def product_error(self, a: Lane, b: Lane, product: Lane) -> Lane:
        """a*b - product exactly, where product is a*b rounded (Dekker 1971 without fused multiply-add)."""
        if self.plain:
            return self.const(0)
        if self.fused:
            return self._intrinsic("fma", a, b, -product)
        (a1, a2), (b1, b2) = self._split(a), self._split(b)
        return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2

    def two_product(self, a: Lane, b: Lane) -> Pair:
        """Return a*b exactly as a pair."""
        product = a * b
        return product, self.product_error(a, b, product)

    def muladd_pair(self, a: Operand, b: Operand, c: Lane, *, exact: bool = False) -> Pair:
        """Return a*b + c as a pair, for |c| >= |a*b| or c = 0.

        ``exact`` means that the rounding error of a*b is zero or negligible.
        """
        a, b = self.lift(a, "double"), self.lift(b, "double")
        total = self.muladd(a, b, c)
        if self.plain:
            return total, self.const(0)
        if self.fused:
            return total, self._intrinsic("fma", a, b, c - total)
        product = a * b
        error = product - (total - c)
        return total, error if exact else error + self.product_error(a, b, product)

    def quotient(self, a: Pair, b: Pair) -> Pair:
        """a/b as a pair with about 100 correct bits: a rounded quotient and a correction of first order."""
        if self.plain:
            return a[0] / b[0], self.const(0)
        inverse = 1.0 / b[0]
        q = a[0] * inverse
        return q, self._remainder(q, a, b) * inverse

    def ratio(self, a: Pair, b: Pair) -> Lane:
        """a/b, rounded to a double."""
        if self.plain:
            return a[0] / b[0]
        inverse = 1.0 / b[0]
        q = a[0] * inverse
        return self.muladd(self._remainder(q, a, b), inverse, q)

    def division_error(self, q: Lane, a: Lane, b: Lane) -> Lane:
        """Return a - q*b, exactly where q is a/b rounded."""
        if self.plain:
            return self.const(0)
        if self.fused:
            return self._intrinsic("fma", -q, b, a)
        product, error = self.two_product(q, b)
        return (a - product) - error

    def _remainder(self, q: Lane, a: Pair, b: Pair) -> Lane:
        return self.muladd(-q, b[1], self.division_error(q, a[0], b[0])) + a[1]

    # rare lanes

    def with_slow_path(
        self,
        mask: Lane,
        usual: Sequence[Lane],
        other: Callable[[], Sequence[Lane]],
        nan: Callable[[], Lane] | None = None,
    ) -> tuple[Lane, ...]:
        """Return ``usual``, and ``other`` in the lanes of the mask.

        The code of ``other`` is skipped if no lane needs it.

        ``nan`` marks lanes where all values are NaN, which do not need ``other``: arrays with missing values are
        common, and this keeps them fast.
        """
        number = self._count
        rare, work, join = (f"{block}{number}" for block in ("rare", "work", "join"))
        ways = [(self._block, usual)]
        seen = dict(self._seen)
        self._branch(mask, rare, join)
        if nan is not None:
            gaps = nan()
            usual = [self.select(mask, math.nan, u) for u in usual]
            ways.append((rare, usual))
            mask = mask & self.not_(gaps)
            self._branch(mask, work, join)
        mixed = [self.select(mask, o, u) for o, u in zip(other(), usual, strict=True)]
        ways.append((self._block, mixed))
        self._seen = seen  # values computed in the branch are not available after it
        self.lines += [Instruction("", Opcode.jump(join)), Label(join)]
        self._block = join
        joined: list[Lane] = []
        for values in zip(*(v for _, v in ways), strict=True):
            code = Opcode.phi(self.type(values[0].kind), [block for block, _ in ways])
            phi = self._define(code, *[v.text for v in values])
            joined.append(Lane(self, phi, values[0].kind))
        return tuple(joined)

    def _branch(self, mask: Lane, some: str, none: str) -> None:
        """Continue in the block ``some`` if any lane is set, else jump to ``none``."""
        bits = f"i{self.width}"
        word = self._define(Opcode.convert("bitcast", self.type("i1"), bits), mask.text)
        any_of = self._define(Opcode.compare("icmp", "ne", bits), word, "0")
        self.lines += [Instruction("", Opcode.branch(some, none), (any_of,)), Label(some)]
        self._block = some
