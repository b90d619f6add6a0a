"""The builder that lowerings write to, for LLVM IR: one method call is one instruction on a whole vector.

It writes text instead of llvmlite.ir objects, whose creation takes several times as long as LLVM's compilation.
Instructions on literals are folded with the arithmetic of the kernel's dtype, so a constant subgraph costs nothing at
run time and keeps its bits. Equal instructions of a function are emitted once (common subexpressions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from symgrad.compiler.llvm.engine.libm import call_c, lanes_name
from symgrad.compiler.llvm.engine.scipy_functions import PREFIX, SCIPY_FUNCTIONS, evaluate
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.maths import FUNCTIONS
from symgrad.compiler.llvm.maths.vectors.constant_folding import fold
from symgrad.compiler.llvm.text.fma_fusion import fuse_multiply_adds
from symgrad.compiler.llvm.text.instructions import Instruction, Line, LineGroup, Splat, flatten_lines
from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.types import FLOAT64, FloatType
from symgrad.ir.exact import CONSTANTS
from symgrad.support.errors import InternalError, NumberTooLargeError


class Value(NamedTuple):
    """A vector of numbers, or of booleans if ``mask``; ``literal`` is its value if it is a constant."""

    text: str
    mask: bool
    literal: Any  # np.float64 | np.float32 | bool | None


class VectorBuilder:
    """Builds the straight-line code of one function (implements ``symgrad.ir.op.Builder``).

    Args:
        real: the kernel's floating-point format.
        width: lanes in a vector.
        declarations: shared by all functions of the module.
    """

    def __init__(self, real: FloatType, width: int, declarations: Declarations) -> None:
        self.real = real
        self.width = width
        self.declarations = declarations
        self.lines: list[Line] = []
        self.fuses = False
        """Whether products and sums written now may be contracted to fused multiply-adds."""
        self.at = 0
        """The number of the debug location of instructions written now (`debug_locations.py`)."""
        self.vector = f"<{width} x {real.llvm}>"
        self.bits = f"<{width} x i1>"
        self.bytes = f"<{width} x i8>"
        self._suffix = f"v{width}f{real.bits}"
        self._seen: dict[tuple[str | bool, ...], Value] = {}
        self._negated: dict[str, Value] = {}
        # For calls of vector functions, by formula and arguments: the values computed so far, and the lines of the
        # call.
        self._parts: dict[str, dict[int | None, Value]] = {}
        self._calls: dict[str, tuple[LineGroup, Function]] = {}
        self._powers: dict[Value, tuple[Value, ...]] = {}  # base -> the arguments of its first power
        self._count = 0

    # instructions

    def emit(self, code: str, *operands: str, mask: bool = False, fuses: bool = False) -> Value:
        """Add an instruction without side effects, or return the value of an equal instruction.

        Args:
            code: as in `Instruction`.
            operands: the operands, at least those that are vectors.
            mask: whether its value is a mask.
            fuses: whether it may be contracted to a fused multiply-add.
        """
        key = (code, fuses, *operands)
        value = self._seen.get(key)
        if value is None:
            value = self._seen[key] = Value(self._name(), mask, None)
            self.lines.append(Instruction(value.text, code, operands, fuses, self.at))
        return value

    def fresh(self, code: str, *operands: str, mask: bool = False) -> Value:
        """Add an instruction that reads memory; it is never shared."""
        name = self._name()
        self.lines.append(Instruction(name, code, operands, False, self.at))
        return Value(name, mask, None)

    def do(self, code: str, *operands: str) -> None:
        """Add an instruction without a value."""
        self.lines.append(Instruction("", code, operands, False, self.at))

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count - 1}"

    def finished(self) -> list[str | Instruction]:
        """Return the code, with fused multiply-adds where they are allowed."""
        lines = flatten_lines(self.lines)
        if not self.fused or not any(isinstance(line, Instruction) and line.fuses for line in lines):
            return lines
        return fuse_multiply_adds(lines, self.vector, self._declared("fma", 3))

    def _declared(self, name: str, arity: int) -> str:
        return self.declarations.declare(f"llvm.{name}.{self._suffix}", self.vector, *[self.vector] * arity)

    def _intrinsic(self, name: str, *args: Value) -> Value:
        full = self._declared(name, len(args))
        return self.emit(Opcode.call(self.vector, full, *[self.vector] * len(args)), *[a.text for a in args])

    def _arith(self, code: str, fold: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
        if a.literal is not None and b.literal is not None:
            return self._literal(fold(a.literal, b.literal))
        return self.emit(Opcode.binary(code, self.vector), a.text, b.text, fuses=self.fuses)

    def _unary(self, name: str, fold: Callable[[Any], Any], a: Value) -> Value:
        if a.literal is not None:
            return self._literal(fold(a.literal))
        return self._intrinsic(name, a)

    def _compare(self, code: str, fold: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
        if a.literal is not None and b.literal is not None:
            return self.bool_const(bool(fold(a.literal, b.literal)))
        return self.emit(Opcode.compare("fcmp", code, self.vector), a.text, b.text, mask=True)

    def _logic(self, code: str, fold: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
        if a.literal is not None and b.literal is not None:
            return self.bool_const(bool(fold(a.literal, b.literal)))
        return self.emit(Opcode.binary(code, self.bits), a.text, b.text, mask=True)

    def _literal(self, value: Any) -> Value:
        value = self.real.scalar(value)
        return Value(Splat(self.real.llvm, self.real.literal(value)), False, value)

    # numbers

    def const(self, value: float | Fraction) -> Value:
        """Return a number, rounded once to the kernel's dtype."""
        return self.bool_const(value) if isinstance(value, bool) else self._literal(self.real.round(value))

    def const_named(self, name: str) -> Value:
        """Return an exact constant by name."""
        if name not in CONSTANTS:
            raise InternalError(f"the constant '{name}' has no value in symgrad/compiler/llvm/text/types.py")
        return self._literal(self.real.round(CONSTANTS[name]))

    def bool_const(self, value: bool) -> Value:
        return Value(Splat("i1", "true" if value else "false"), True, bool(value))

    # arithmetic

    def add(self, a: Value, b: Value) -> Value:
        return self._arith("fadd", np.add, a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self._arith("fsub", np.subtract, a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self._arith("fmul", np.multiply, a, b)

    def div(self, a: Value, b: Value) -> Value:
        return self._arith("fdiv", np.true_divide, a, b)

    def neg(self, a: Value) -> Value:
        if a.literal is not None:
            return self._literal(-a.literal)
        value = self.emit(Opcode.unary("fneg", self.vector), a.text)
        self._negated[value.text] = a
        return value

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        if None not in (a.literal, b.literal, c.literal):
            return self._literal(self._fused(a.literal, b.literal, c.literal))
        return self._intrinsic("fma", a, b, c)

    @property
    def fused(self) -> bool:
        return self.declarations.fused

    def knows(self, name: str) -> bool:
        return name in FUNCTIONS or name in SCIPY_FUNCTIONS

    def two_product(self, a: Value, b: Value) -> tuple[Value, Value]:
        # The product must not be contractable: a later sum with the rounding error would be fused with it.
        fuses, self.fuses = self.fuses, False
        product = self.mul(a, b)
        self.fuses = fuses
        return product, self.fma(a, b, self.neg(product))

    def _fused(self, a: Any, b: Any, c: Any) -> Any:
        if not (np.isfinite(a) and np.isfinite(b)):
            return a * b + c
        if not np.isfinite(c):
            return c  # a*b + c would be NaN if a*b overflows
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        if exact == 0:
            return a * b + c if a * b == 0 else self.real.scalar(0.0)
        try:
            return self.real.round(exact)
        except NumberTooLargeError:
            return self.real.scalar(np.inf if exact > 0 else -np.inf)

    def sqrt(self, a: Value) -> Value:
        if a.literal is None and self.fuses and self.declarations.estimates and self.real is FLOAT64:
            return self._sqrt_by_products(a)
        return self._unary("sqrt", np.sqrt, a)

    def _sqrt_by_products(self, x: Value) -> Value:
        """Compute sqrt(x) from an estimate of 1/sqrt(x), by Goldschmidt's iteration and a step with the exact residual.

        (Markstein, IBM Journal of Research and Development 34, 1990.) Nine products are faster than the instruction for
        a root, up to four times on some processors, and they run in parallel with divisions and other roots.
        """
        half = self.const(Fraction(1, 2))
        inverse = self._estimate(x)
        root, slope = self.mul(x, inverse), self.mul(half, inverse)
        for _ in range(2):
            wrong = self.fma(self.neg(root), slope, half)
            root, slope = self.fma(root, wrong, root), self.fma(slope, wrong, slope)
        root = self.fma(self.fma(self.neg(root), root, x), slope, root)
        ends = self.or_(self.eq(x, self.const(0)), self.eq(x, self.const(np.inf)))
        return self.select(ends, x, root)

    def _estimate(self, x: Value) -> Value:
        """Return 14 bits of 1/sqrt(x); the instruction has eight lanes, whatever the width."""
        eight = "<8 x double>"
        name = self.declarations.declare("llvm.x86.avx512.rsqrt14.pd.512", eight, eight, eight, "i8")
        made: list[str] = []
        for k in range(0, self.width, 8):
            lanes = ", ".join(f"i32 {min(k + j, self.width - 1)}" for j in range(8))
            part = self.emit(
                f"shufflevector {self.vector} %s, {self.vector} poison, <8 x i32> <{lanes}>", x.text
            )
            call = f"call {eight} {name}({eight} %s, {eight} zeroinitializer, i8 -1)"
            made.append(self.emit(call, part.text).text)
        while len(made) > 1:
            pairs = zip(made[::2], made[1::2], strict=True)
            count = 8 * (self.width // 8) // len(made)
            of, lanes = f"<{count} x double>", ", ".join(f"i32 {j}" for j in range(2 * count))
            code = f"shufflevector {of} %s, {of} %s, <{2 * count} x i32> <{lanes}>"
            made = [self.emit(code, a, b).text for a, b in pairs]
        if self.width < 8:
            lanes = ", ".join(f"i32 {j}" for j in range(self.width))
            code = f"shufflevector {eight} %s, {eight} poison, <{self.width} x i32> <{lanes}>"
            made = [self.emit(code, made[0]).text]
        return Value(made[0], False, None)

    def abs(self, a: Value) -> Value:
        return self._unary("fabs", np.abs, a)

    def floor(self, a: Value) -> Value:
        return self._unary("floor", np.floor, a)

    def ceil(self, a: Value) -> Value:
        return self._unary("ceil", np.ceil, a)

    def rint(self, a: Value) -> Value:
        # This is llvm.rint and not llvm.roundeven, because without a vector instruction the latter calls C23's
        # roundeven.
        return self._unary("rint", np.rint, a)

    def copysign(self, a: Value, b: Value) -> Value:
        if a.literal is not None and b.literal is not None:
            return self._literal(np.copysign(a.literal, b.literal))
        return self._intrinsic("copysign", a, b)

    def minimum(self, a: Value, b: Value) -> Value:
        return self.select(self.or_(self.lt(a, b), self.isnan(a)), a, b)

    def maximum(self, a: Value, b: Value) -> Value:
        return self.select(self.or_(self.gt(a, b), self.isnan(a)), a, b)

    # comparisons and masks

    def lt(self, a: Value, b: Value) -> Value:
        return self._compare("olt", np.less, a, b)

    def le(self, a: Value, b: Value) -> Value:
        return self._compare("ole", np.less_equal, a, b)

    def gt(self, a: Value, b: Value) -> Value:
        return self._compare("ogt", np.greater, a, b)

    def ge(self, a: Value, b: Value) -> Value:
        return self._compare("oge", np.greater_equal, a, b)

    def eq(self, a: Value, b: Value) -> Value:
        return self.not_(self.xor(a, b)) if a.mask else self._compare("oeq", np.equal, a, b)

    def ne(self, a: Value, b: Value) -> Value:
        return self.xor(a, b) if a.mask else self._compare("une", np.not_equal, a, b)

    def isnan(self, a: Value) -> Value:
        return self._compare("uno", lambda x, _: np.isnan(x), a, a)

    def and_(self, a: Value, b: Value) -> Value:
        return self._logic("and", np.logical_and, a, b)

    def or_(self, a: Value, b: Value) -> Value:
        return self._logic("or", np.logical_or, a, b)

    def xor(self, a: Value, b: Value) -> Value:
        return self._logic("xor", np.logical_xor, a, b)

    def not_(self, a: Value) -> Value:
        return self.xor(a, self.bool_const(True))

    def select(self, mask: Value, a: Value, b: Value) -> Value:
        if mask.literal is not None:
            return a if mask.literal else b
        kind = self.bits if a.mask else self.vector
        return self.emit(Opcode.select(self.bits, kind), mask.text, a.text, b.text, mask=a.mask)

    def call(self, name: str, *args: Value) -> Value:
        """Call a function by its C99 name for doubles: symgrad's vector code if there is any, else C lane by lane."""
        known = all(a.literal is not None for a in args)
        if name in FUNCTIONS:
            if known:
                numbers = tuple(float(a.literal) for a in args)
                return self._literal(fold(name, numbers, self.real, self.declarations.function_options))
            if name == "pow":
                self._powers.setdefault(args[0], args)
            elif name == "log" and self.fuses and args[0] in self._powers:
                # The power has already computed this logarithm, with more digits. It is used only if `fuses` is set: a
                # logarithm that the user wrote keeps its bits whether or not there is a power.
                return self._maths("log_of_base", self._powers[args[0]])
            return self._maths(name, args)
        if name in SCIPY_FUNCTIONS:
            if known:
                return self._literal(evaluate(name, tuple(float(a.literal) for a in args)))
            return self._scipy(name, args)
        symbol = name + self.real.libm_suffix
        if known:
            return self._literal(call_c(symbol, tuple(float(a.literal) for a in args), self.real.bits))
        self.declarations.libm[symbol] = (len(args), self.real)
        code = Opcode.call(self.vector, f"@{lanes_name(symbol, self.width)}", *[self.vector] * len(args))
        return self.emit(code, *[a.text for a in args])

    def _scipy(self, name: str, args: Sequence[Value]) -> Value:
        self.declarations.scipy[name] = None
        doubles = f"<{self.width} x double>"
        if self.real.bits != 64:
            args = [self.emit(Opcode.convert("fpext", self.vector, doubles), a.text) for a in args]
        code = Opcode.call(
            doubles, f"@{lanes_name(PREFIX + name + '.value', self.width)}", *[doubles] * len(args)
        )
        value = self.emit(code, *[a.text for a in args])
        if self.real.bits == 64:
            return value
        return self.emit(Opcode.convert("fptrunc", doubles, self.vector), value.text)

    def _maths(self, name: str, args: Sequence[Value]) -> Value:
        function = FUNCTIONS[name]
        part = function.output
        if function.mirror_output is not None and args[0].text in self._negated:
            part, args = function.mirror_output, [self._negated[args[0].text]]
        operands = tuple([a.text for a in args])
        place = f"{function.formula.__name__}({', '.join(operands)})"
        parts = self._parts.setdefault(place, {})
        value = parts.get(part)
        if value is not None:
            return value
        value = parts[part] = Value(self._name(), False, None)
        if len(parts) == 1:
            # Only this value of the formula is needed so far, so the code of the other values is left out.
            one = () if part is None else (part,)
            made = self.declarations.add_call(name, self.real, self.width, parts=one).function
            code = Opcode.call(made.returns, f"@{made.name}", *[self.vector] * len(args))
            call = LineGroup([Instruction(value.text, code, operands, at=self.at)])
            self.lines.append(call)
        else:
            call, before = self._calls[place]
            found = sorted((p or 0, v.text) for p, v in parts.items())
            order = tuple(p for p, _ in found)
            made = self.declarations.add_call(
                name, self.real, self.width, instead_of=before, parts=order
            ).function
            all_of = f"{value.text}.all"
            at = self.at
            code = Opcode.call(made.returns, f"@{made.name}", *[self.vector] * len(args))
            call[:] = [
                Instruction(all_of, code, operands, at=at),
                *(
                    Instruction(v, Opcode.extract_value(made.returns, k), (all_of,), at=at)
                    for k, (_, v) in enumerate(found)
                ),
            ]
        self._calls[place] = call, made
        return value
