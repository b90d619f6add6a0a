"""Arithmetic of several instructions, and the branch for rare lanes.

The formulas of this package are written over `Lane`, once for every width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from symgrad.compiler.llvm.maths.vectors.instructions import Instructions, Lane, Operand
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.opcodes import Label, Opcode

__all__ = ["PairCoefficients", "Lane", "LaneWriter", "Pair", "Coefficients"]

Pair: TypeAlias = tuple[Lane, Lane]
"""An unevaluated sum, the second term at most about an ulp of the first."""


class Coefficients(NamedTuple):
    """Coefficients of a polynomial, the constant first: for results in double, and for results in single precision."""

    double: tuple[float, ...]
    single: tuple[float, ...]


class PairCoefficients(NamedTuple):
    """Coefficients of a polynomial, the constant first: sums of two doubles, and doubles from there on."""

    leading: tuple[tuple[float, ...], ...]
    small: tuple[float, ...]


_TWO_CHAINS_FROM = 8
"""Coefficients of a polynomial from which on it is computed in two chains."""


class LaneWriter(Instructions):
    """Writes the instructions of one function.

    Args:
        width: lanes in a vector.
        fused: whether the target has an instruction for a*b + c with one rounding.
        tables: whether it has the instructions for `tables.py`.
        single: whether the results are for single precision. All numbers are doubles, but then polynomials are
            shorter, and it is ``plain``.
        fast: whether results in double need only be within four units of the last place: it is ``plain`` too.
        freestanding: whether there is no C library to call.

    Where it is ``plain``, what a sum of two doubles would add to the first is not computed.
    """

    def __init__(
        self, width: int, *, fused: bool, tables: bool, single: bool, fast: bool, freestanding: bool = False
    ) -> None:
        super().__init__(width)
        self.freestanding = freestanding
        self.tables = tables
        self.uses_tables = False  # whether the function has one of these
        self.single = single
        self.plain = single or fast
        self.fused = fused
        self._block = "entry"

    def constant_pair(self, high: float, low: float) -> Pair:
        """A constant with more bits than a double has."""
        return self.const(high), self.const(0.0 if self.plain else low)

    def round_to_single(self, x: Lane) -> Pair:
        """The nearest number of single precision, and what it lacks."""
        wide, narrow = self.type("double"), f"<{self.width} x float>"
        single = self.emit(Opcode.convert("fptrunc", wide, narrow), x.text)
        rounded = self.emit(Opcode.convert("fpext", narrow, wide), single.text)
        return rounded, x - rounded

    ROUND = 1.5 * 2.0**52
    """Added to a small number, leaves its nearest integer in the last bits of the sum."""

    def nearest(self, x: Lane) -> Lane:
        """The nearest integer of |x| < 2**51: llvm.rint would be a call of C's rint on old processors."""
        return x + self.ROUND - self.ROUND

    def muladd(self, a: Operand, b: Operand, c: Operand) -> Lane:
        """a*b + c, rounded once where the target does that in one instruction, else twice."""
        a, b, c = self.lift(a, "double"), self.lift(b, "double"), self.lift(c, "double")
        if a.is_zero_literal or b.is_zero_literal or c.is_zero_literal:
            return a * b + c
        if not self.fused:
            return a * b + c
        return self._intrinsic("fma", a, b, c)

    def polynomial(self, x: Lane, series: Coefficients, *, chains: int = 2) -> Lane:
        """Horner's scheme; in two chains, of the even and of the odd powers of x, where there are many.

        The processor fills the waits of short chains with the next points, but does not look so far ahead for others.
        Two sums of opposite sign cancel: where that counts, ask for one chain.
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
        """Two halves of 26 bits (Veltkamp; Dekker 1971)."""
        scaled = a * 134217729.0
        high = scaled - (scaled - a)
        return high, a - high

    def product_error(self, a: Lane, b: Lane, product: Lane) -> Lane:
        """a*b - product exactly, where product is a*b rounded (Dekker 1971 where nothing is fused)."""
        if self.plain:
            return self.const(0)
        if self.fused:
            return self._intrinsic("fma", a, b, -product)
        (a1, a2), (b1, b2) = self._split(a), self._split(b)
        return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2

    def two_product(self, a: Lane, b: Lane) -> Pair:
        """a*b exactly."""
        product = a * b
        return product, self.product_error(a, b, product)

    def muladd_pair(self, a: Operand, b: Operand, c: Lane, *, exact: bool = False) -> Pair:
        """a*b + c and its error, for |c| >= |a*b| or c = 0.

        ``exact`` says that a*b has no error, or one too small to count.
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
        """a/b with about 100 correct bits: a rounded quotient and what it lacks, to first order."""
        if self.plain:
            return a[0] / b[0], self.const(0)
        inverse = 1.0 / b[0]
        q = a[0] * inverse
        return q, self._remainder(q, a, b) * inverse

    def ratio(self, a: Pair, b: Pair) -> Lane:
        """a/b rounded."""
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
        """``usual``, and in the lanes of the mask ``other``, whose code runs only if there is such a lane.

        ``nan`` tells in which of them all values are NaN: it does not run for these. An array with gaps is as usual as
        one without.
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
        self._seen = seen  # what stands in the branch is not there after it
        self.lines += [Instruction("", Opcode.jump(join)), Label(join)]
        self._block = join
        joined: list[Lane] = []
        for values in zip(*(v for _, v in ways), strict=True):
            code = Opcode.phi(self.type(values[0].kind), [block for block, _ in ways])
            phi = self._define(code, *[v.text for v in values])
            joined.append(Lane(self, phi, values[0].kind))
        return tuple(joined)

    def _branch(self, mask: Lane, some: str, none: str) -> None:
        """Go on in the block ``some`` if a lane is set."""
        bits = f"i{self.width}"
        word = self._define(Opcode.convert("bitcast", self.type("i1"), bits), mask.text)
        any_of = self._define(Opcode.compare("icmp", "ne", bits), word, "0")
        self.lines += [Instruction("", Opcode.branch(some, none), (any_of,)), Label(some)]
        self._block = some
