"""Vectors of doubles, of 64-bit integers and of truth values, with Python's operators: one operator, one instruction.

The formulas of this package are written over `Lane`, once for every width. Nothing here folds: a function of literals
is compiled and called (`fold.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from symgrad.llvm.types import FLOAT64

__all__ = ["Doubled", "Lane", "Lanes", "Pair", "Series"]

Kind: TypeAlias = Literal["double", "i64", "i1"]

_ZERO = f"splat (double {FLOAT64.literal(FLOAT64.scalar(0))})"
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


@dataclass(
    slots=True
)  # not frozen: that takes three times as long, and functions are written anew in every process
class Lane:
    """A vector: ``kind`` says of what. Operators take numbers too; comparisons are false for NaN."""

    lanes: Lanes
    text: str
    kind: Kind

    @property
    def absent(self) -> bool:
        """Whether it is a literal zero, which stands for a term that is not there: adding it is no instruction."""
        return self.text == _ZERO

    def _with(self, code: str, other: Operand, kind: Kind | None = None) -> Lane:
        b = self.lanes.lift(other, self.kind)
        if code == "mul" and (self.absent or b.absent):
            return self if self.absent else b
        if code in {"add", "sub"} and b.absent:
            return self
        if code == "add" and self.absent:
            return b
        code = _FLOAT.get(code, code) if self.kind == "double" else code
        return self.lanes.emit(
            f"{code} {self.lanes.type(self.kind)} {self.text}, {b.text}", kind or self.kind
        )

    def __add__(self, other: Operand) -> Lane:
        return self._with("add", other)

    def __radd__(self, other: float) -> Lane:
        return self.lanes.lift(other, self.kind) + self

    def __sub__(self, other: Operand) -> Lane:
        return self._with("sub", other)

    def __rsub__(self, other: float) -> Lane:
        return self.lanes.lift(other, self.kind) - self

    def __mul__(self, other: Operand) -> Lane:
        return self._with("mul", other)

    def __rmul__(self, other: float) -> Lane:
        return self._with("mul", other)

    def __truediv__(self, other: Operand) -> Lane:
        return self._with("div", other)

    def __rtruediv__(self, other: float) -> Lane:
        return self.lanes.lift(other, self.kind) / self

    def __neg__(self) -> Lane:
        if self.absent:
            return self
        return self.lanes.emit(f"fneg {self.lanes.type(self.kind)} {self.text}", self.kind)

    def __and__(self, other: Operand) -> Lane:
        return self._with("and", other)

    def __or__(self, other: Operand) -> Lane:
        return self._with("or", other)

    def __xor__(self, other: Operand) -> Lane:
        return self._with("xor", other)

    def __lshift__(self, other: int) -> Lane:
        return self._with("shl", other)

    def __rshift__(self, other: int) -> Lane:
        """Zeros move in from the left."""
        return self._with("lshr", other)

    def __lt__(self, other: Operand) -> Lane:
        return self._with("fcmp olt", other, "i1")

    def __le__(self, other: Operand) -> Lane:
        return self._with("fcmp ole", other, "i1")

    def __gt__(self, other: Operand) -> Lane:
        return self._with("fcmp ogt", other, "i1")

    def __ge__(self, other: Operand) -> Lane:
        return self._with("fcmp oge", other, "i1")

    def equals(self, other: Operand) -> Lane:
        return self._with("icmp eq" if self.kind == "i64" else "fcmp oeq", other, "i1")

    def outside(self, least: float, most: float) -> Lane:
        """Whether it is less than the one, more than the other, or NaN."""
        return self._with("fcmp ult", least, "i1") | self._with("fcmp ugt", most, "i1")


Operand: TypeAlias = "Lane | float"
Pair: TypeAlias = tuple[Lane, Lane]
"""An unevaluated sum, the second term at most about an ulp of the first."""


class Series(NamedTuple):
    """Coefficients of a polynomial, the constant first: for results in double, and for results in single precision."""

    double: tuple[float, ...]
    single: tuple[float, ...]


class Doubled(NamedTuple):
    """Coefficients of a polynomial, the constant first: sums of two doubles, and doubles from there on."""

    leading: tuple[tuple[float, ...], ...]
    small: tuple[float, ...]


_MANY = 8
"""Coefficients of a polynomial from which on it is computed in two chains."""


class Lanes:
    """Writes the instructions of one function.

    Args:
        width: lanes in a vector.
        fused: whether the target has an instruction for a*b + c with one rounding.
        tables: whether it has the instructions for `tables.py`.
        single: whether the results are for single precision. All numbers are doubles, but then polynomials are
            shorter, and it is ``plain``.
        fast: whether results in double need only be within four units of the last place: it is ``plain`` too.

    Where it is ``plain``, what a sum of two doubles would add to the first is not computed.
    """

    def __init__(
        self, width: int, *, fused: bool, tables: bool = False, single: bool = False, fast: bool = False
    ) -> None:
        self.tables = tables
        self.looks_up = False  # whether the function has one of these
        self.single = single
        self.plain = single or fast
        self.width = width
        self.fused = fused
        self.lines: list[str] = []
        self.intrinsics: set[str] = set()
        self.libm: dict[str, int] = {}
        self._seen: dict[str, Lane] = {}
        self._count = 0
        self._block = "entry"
        self._types = {kind: f"<{width} x {kind}>" for kind in ("double", "i64", "i1")}

    SIGN = -(2**63)
    """The integer with the sign bit of a double alone."""

    # instructions

    def type(self, kind: Kind) -> str:
        return self._types[kind]

    def emit(self, instruction: str, kind: Kind) -> Lane:
        """Add an instruction, unless the same one is there."""
        found = self._seen.get(instruction)
        if found is None:
            found = self._seen[instruction] = Lane(self, self._define(instruction), kind)
        return found

    def _define(self, instruction: str) -> str:
        name = f"%v{self._count}"
        self._count += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def lift(self, x: Operand, kind: Kind) -> Lane:
        if isinstance(x, Lane):
            return x
        if kind == "double":
            return Lane(self, f"splat (double {FLOAT64.literal(x)})", kind)
        return Lane(self, f"splat ({kind} {int(x)})", kind)

    def const(self, x: float) -> Lane:
        return self.lift(x, "double")

    def sum_of(self, high: float, low: float) -> Pair:
        return self.const(high), self.const(0.0 if self.plain else low)

    def integer(self, x: int) -> Lane:
        return self.lift(x, "i64")

    def _cast(self, x: Lane, kind: Kind) -> Lane:
        return self.emit(f"bitcast {self.type(x.kind)} {x.text} to {self.type(kind)}", kind)

    def bits(self, x: Lane) -> Lane:
        """The integer with the same bits."""
        return self._cast(x, "i64")

    def real(self, x: Lane) -> Lane:
        """The double with the same bits."""
        return self._cast(x, "double")

    def select(self, mask: Lane, a: Operand, b: Operand) -> Lane:
        kind = a.kind if isinstance(a, Lane) else b.kind if isinstance(b, Lane) else "double"
        a, b = self.lift(a, kind), self.lift(b, kind)
        if a == b:
            return a
        of = self.type(kind)
        return self.emit(f"select {self.type('i1')} {mask.text}, {of} {a.text}, {of} {b.text}", kind)

    def not_(self, mask: Lane) -> Lane:
        return self.emit(f"xor {self.type('i1')} {mask.text}, splat (i1 true)", "i1")

    def at_most(self, x: Lane, limit: float) -> Lane:
        """min(x, limit), NaN for NaN: in this order one instruction on x86."""
        limit_lane = self.const(limit)
        return self.select(limit_lane < x, limit_lane, x)

    def at_least(self, x: Lane, limit: float) -> Lane:
        limit_lane = self.const(limit)
        return self.select(limit_lane > x, limit_lane, x)

    def larger(self, a: Lane, b: Lane) -> Lane:
        return self.select(a > b, a, b)

    def smaller(self, a: Lane, b: Lane) -> Lane:
        return self.select(a < b, a, b)

    def _intrinsic(self, name: str, *args: Lane) -> Lane:
        full, vector = f"@llvm.{name}.v{self.width}f64", self.type("double")
        self.intrinsics.add(f"declare {vector} {full}({', '.join([vector] * len(args))})")
        return self.emit(f"call {vector} {full}({', '.join(f'{vector} {a.text}' for a in args)})", "double")

    def sqrt(self, x: Lane) -> Lane:
        return self._intrinsic("sqrt", x)

    def abs(self, x: Lane) -> Lane:
        return self._intrinsic("fabs", x)

    def copysign(self, size: Operand, sign: Lane) -> Lane:
        return self._intrinsic("copysign", self.lift(size, "double"), sign)

    def in_single(self, x: Lane) -> Pair:
        """The nearest number of single precision, and what it lacks."""
        single = self.emit(f"fptrunc {self.type('double')} {x.text} to <{self.width} x float>", "double")
        rounded = self.emit(f"fpext <{self.width} x float> {single.text} to {self.type('double')}", "double")
        return rounded, x - rounded

    # arithmetic of several instructions

    ROUND = 1.5 * 2.0**52
    """Added to a small number, leaves its nearest integer in the last bits of the sum."""

    def nearest(self, x: Lane) -> Lane:
        """The nearest integer of |x| < 2**51: llvm.rint would be a call of C's rint on old processors."""
        return x + self.ROUND - self.ROUND

    def muladd(self, a: Operand, b: Operand, c: Operand) -> Lane:
        """a*b + c, rounded once where the target does that in one instruction, else twice."""
        a, b, c = self.lift(a, "double"), self.lift(b, "double"), self.lift(c, "double")
        if a.absent or b.absent or c.absent:
            return a * b + c
        if not self.fused:
            return a * b + c
        v, full = self._types["double"], f"@llvm.fma.v{self.width}f64"
        self.intrinsics.add(f"declare {v} {full}({v}, {v}, {v})")
        return self.emit(f"call {v} {full}({v} {a.text}, {v} {b.text}, {v} {c.text})", "double")

    def polynomial(self, x: Lane, series: Series, *, chains: int = 2) -> Lane:
        """Horner's scheme; in two chains, of the even and of the odd powers of x, where there are many.

        The processor fills the waits of short chains with the next points, but does not look so far ahead for others.
        Two sums of opposite sign cancel: where that counts, ask for one chain.
        """
        coefficients = series.single if self.single else series.double
        if len(coefficients) < _MANY or chains == 1:
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

    def rarely(
        self, mask: Lane, usual: Sequence[Lane], other: Callable[[], Sequence[Lane]]
    ) -> tuple[Lane, ...]:
        """``usual``, and in the lanes of the mask ``other``, whose code runs only if there is such a lane."""
        number = self._count
        word = self._define(f"bitcast {self.type('i1')} {mask.text} to i{self.width}")
        some = self._define(f"icmp ne i{self.width} {word}, 0")
        before = self._block
        self.lines += [f"  br i1 {some}, label %rare{number}, label %join{number}", f"rare{number}:"]
        seen = dict(self._seen)
        self._block = f"rare{number}"
        mixed = [self.select(mask, o, u) for o, u in zip(other(), usual, strict=True)]
        self._seen = seen  # what stands in the branch is not there after it
        after = self._block
        self.lines += [f"  br label %join{number}", f"join{number}:"]
        self._block = f"join{number}"
        joined: list[Lane] = []
        for u, m in zip(usual, mixed, strict=True):
            ways = f"[ {u.text}, %{before} ], [ {m.text}, %{after} ]"
            joined.append(Lane(self, self._define(f"phi {self.type(u.kind)} {ways}"), u.kind))
        return tuple(joined)

    def call_libm(self, name: str, *args: Lane) -> Lane:
        """The C function of doubles, lane by lane."""
        self.libm[name] = len(args)
        vector = self.type("double")
        return self.emit(
            f"call {vector} @lanes.{name}({', '.join(f'{vector} {a.text}' for a in args)})", "double"
        )
