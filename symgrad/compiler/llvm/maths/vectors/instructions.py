"""Vectors of doubles, 64-bit integers and booleans, with Python's operators: one operator, one instruction.

Nothing is folded here: a function of literals is compiled and called (`constant_folding.py`).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from symgrad.compiler.llvm.engine.libm import lanes_name
from symgrad.compiler.llvm.text.instructions import Instruction, Splat
from symgrad.compiler.llvm.text.module import FunctionDeclaration
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.types import FLOAT64

Kind: TypeAlias = Literal["double", "i64", "i1"]

_ZERO = Splat("double", FLOAT64.literal(0))
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


@dataclass(
    slots=True
)  # not frozen, because creation would take three times as long, and every process writes functions anew
class Lane:
    """A vector with elements of type ``kind``. Operators accept numbers too; comparisons are false for NaN."""

    lanes: Instructions
    text: str
    kind: Kind

    @property
    def is_zero_literal(self) -> bool:
        """Whether the vector is a literal zero, which stands for an absent term: adding it emits no instruction."""
        return self.text == _ZERO

    def _with(self, code: str, other: Operand) -> Lane:
        b = self.lanes.lift(other, self.kind)
        if code == "mul" and (self.is_zero_literal or b.is_zero_literal):
            return self if self.is_zero_literal else b
        if code in {"add", "sub"} and b.is_zero_literal:
            return self
        if code == "add" and self.is_zero_literal:
            return b
        op = _FLOAT.get(code, code) if self.kind == "double" else code
        return self.lanes.emit(
            Opcode.binary(op, self.lanes.type(self.kind)), self.text, b.text, kind=self.kind
        )

    def _compared(self, how: str, other: Operand) -> Lane:
        b = self.lanes.lift(other, self.kind)
        op = "icmp" if self.kind == "i64" else "fcmp"
        return self.lanes.emit(
            Opcode.compare(op, how, self.lanes.type(self.kind)), self.text, b.text, kind="i1"
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
        if self.is_zero_literal:
            return self
        return self.lanes.emit(Opcode.unary("fneg", self.lanes.type(self.kind)), self.text, kind=self.kind)

    def __and__(self, other: Operand) -> Lane:
        return self._with("and", other)

    def __or__(self, other: Operand) -> Lane:
        return self._with("or", other)

    def __xor__(self, other: Operand) -> Lane:
        return self._with("xor", other)

    def __lshift__(self, other: Operand) -> Lane:
        return self._with("shl", other)

    def __rshift__(self, other: Operand) -> Lane:
        """Logical shift."""
        return self._with("lshr", other)

    def __lt__(self, other: Operand) -> Lane:
        return self._compared("olt", other)

    def __le__(self, other: Operand) -> Lane:
        return self._compared("ole", other)

    def __gt__(self, other: Operand) -> Lane:
        return self._compared("ogt", other)

    def __ge__(self, other: Operand) -> Lane:
        return self._compared("oge", other)

    def unordered(self, other: Operand) -> Lane:
        """Whether one of the two numbers is NaN."""
        return self._compared("uno", other)

    def is_nan(self) -> Lane:
        return self.unordered(self)

    def equals(self, other: Operand) -> Lane:
        return self._compared("eq" if self.kind == "i64" else "oeq", other)

    def outside(self, least: float, most: float) -> Lane:
        """Whether the number is less than ``least``, greater than ``most``, or NaN."""
        return self._compared("ult", least) | self._compared("ugt", most)


Operand: TypeAlias = "Lane | float"


class Instructions:
    """Writes instructions on vectors of ``width`` lanes; equal instructions are shared."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str | Instruction] = []
        self.intrinsics: dict[str, FunctionDeclaration] = {}  # by the code of the calling instruction
        self.libm: dict[
            str, tuple[str, int]
        ] = {}  # the name and arity of each C function, by the code of the calling instruction
        self._seen: dict[tuple[str, ...], Lane] = {}
        self._count = 0
        self._types = {kind: f"<{width} x {kind}>" for kind in ("double", "i64", "i1")}

    SIGN = -(2**63)
    """The integer with only the sign bit of a double set."""

    def fork(self) -> Self:
        """Return an independent copy that can be continued."""
        other = copy(self)
        other.lines, other._seen = [*self.lines], {**self._seen}
        other.intrinsics, other.libm = {**self.intrinsics}, {**self.libm}
        return other

    def type(self, kind: Kind) -> str:
        return self._types[kind]

    def emit(self, code: str, *operands: str, kind: Kind = "double") -> Lane:
        """Add an instruction (`text/instructions.py`), or return the value of an equal one."""
        key = (code, *operands)
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = Lane(self, self._define(code, *operands), kind)
        return found

    def _define(self, code: str, *operands: str) -> str:
        name = f"%v{self._count}"
        self._count += 1
        self.lines.append(Instruction(name, code, operands))
        return name

    def lift(self, x: Operand, kind: Kind) -> Lane:
        if isinstance(x, Lane):
            return x
        if kind == "double":
            return Lane(self, Splat("double", FLOAT64.literal(x)), kind)
        return Lane(self, Splat(kind, str(int(x))), kind)

    def const(self, x: float) -> Lane:
        return self.lift(x, "double")

    def integer(self, x: int) -> Lane:
        return self.lift(x, "i64")

    def _cast(self, x: Lane, kind: Kind) -> Lane:
        return self.emit(Opcode.convert("bitcast", self.type(x.kind), self.type(kind)), x.text, kind=kind)

    def bits(self, x: Lane) -> Lane:
        """The integer with the same bits."""
        return self._cast(x, "i64")

    def real(self, x: Lane) -> Lane:
        """The double with the same bits."""
        return self._cast(x, "double")

    def select(self, mask: Lane, a: Operand, b: Operand) -> Lane:
        """Return a where the mask is set, b elsewhere; a number a is a double."""
        kind = a.kind if isinstance(a, Lane) else "double"
        a, b = self.lift(a, kind), self.lift(b, kind)
        if a == b:
            return a
        return self.emit(
            Opcode.select(self.type("i1"), self.type(kind)), mask.text, a.text, b.text, kind=kind
        )

    def not_(self, mask: Lane) -> Lane:
        return self.emit(Opcode.binary("xor", self.type("i1")), mask.text, Splat("i1", "true"), kind="i1")

    def at_most(self, x: Lane, limit: float) -> Lane:
        """min(x, limit), and NaN for NaN; in this order it is one instruction on x86."""
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
        full, vector = f"llvm.{name}.v{self.width}f64", self.type("double")
        code = Opcode.call(vector, f"@{full}", *[vector] * len(args))
        self.intrinsics[code] = FunctionDeclaration(full, vector, (vector,) * len(args))
        return self.emit(code, *[a.text for a in args])

    def sqrt(self, x: Lane) -> Lane:
        return self._intrinsic("sqrt", x)

    def abs(self, x: Lane) -> Lane:
        return self._intrinsic("fabs", x)

    def copysign(self, size: Operand, sign: Lane) -> Lane:
        return self._intrinsic("copysign", self.lift(size, "double"), sign)

    def call_libm(self, name: str, *args: Lane) -> Lane:
        """Call a C function of doubles, lane by lane."""
        vector = self.type("double")
        code = Opcode.call(vector, f"@{lanes_name(name, self.width)}", *[vector] * len(args))
        self.libm[code] = name, len(args)
        return self.emit(code, *[a.text for a in args])
