"""Vector code of elementary and special functions: a value does not depend on the other lanes.

`write_function` writes any function of `FUNCTIONS`; each module has the formulas of one family. The vector arithmetic
is in `vectors/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from symgrad.compiler.llvm.maths import (
    digamma,
    error_function,
    exponential,
    gamma,
    inverse_hyperbolic,
    inverse_trigonometric,
    logarithm,
    logistic,
    power,
    trigonometric,
)
from symgrad.compiler.llvm.maths.vectors.lanes import FunctionOptions, Lane, LaneWriter
from symgrad.compiler.llvm.text.instructions import Instruction, eliminate_dead_code
from symgrad.compiler.llvm.text.module import Function, FunctionDeclaration
from symgrad.compiler.llvm.text.opcodes import Label, Opcode
from symgrad.compiler.llvm.text.types import FloatType

Formula: TypeAlias = "Callable[..., Lane] | Callable[..., Sequence[Lane]]"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to write a C99 function: a formula, which may compute several functions, and the index of this function."""

    formula: Formula
    arity: int = 1
    output: int | None = None
    mirror_output: int | None = None
    """The index of the value of the formula that is this function at -x, if there is one."""
    needs_pairs: bool = False
    """Whether it needs double-double arithmetic even for an accuracy of four units in the last place."""


FUNCTIONS: dict[str, Recipe] = {
    "exp": Recipe(exponential.exp),
    "exp2": Recipe(exponential.exp2),
    "expm1": Recipe(exponential.expm1),
    "sinh": Recipe(exponential.sinhcosh, output=0),
    "cosh": Recipe(exponential.sinhcosh, output=1),
    "tanh": Recipe(exponential.tanhsech, output=0),
    "sech": Recipe(exponential.tanhsech, output=1),
    "log": Recipe(logarithm.log),
    "log1p": Recipe(logarithm.log1p),
    "log2": Recipe(logarithm.log2),
    "log10": Recipe(logarithm.log10),
    "sigmoid": Recipe(logistic.logistic, output=0, mirror_output=1),
    "softplus": Recipe(logistic.logistic, output=2, mirror_output=3),
    "sin": Recipe(trigonometric.sincos, output=0),
    "cos": Recipe(trigonometric.sincos, output=1),
    "tan": Recipe(trigonometric.tan),
    "asin": Recipe(inverse_trigonometric.asin),
    "acos": Recipe(inverse_trigonometric.acos),
    "atan": Recipe(inverse_trigonometric.atan),
    "atan2": Recipe(inverse_trigonometric.atan2, arity=2),
    "asinh": Recipe(inverse_hyperbolic.asinh),
    "acosh": Recipe(inverse_hyperbolic.acosh),
    "atanh": Recipe(inverse_hyperbolic.atanh),
    "pow": Recipe(power.pow, arity=2, output=0, needs_pairs=True),
    "log_of_base": Recipe(power.pow, arity=2, output=1, needs_pairs=True),
    "cbrt": Recipe(power.cbrt, output=0, needs_pairs=True),
    "cbrt_low": Recipe(power.cbrt, output=1, needs_pairs=True),
    "hypot": Recipe(power.hypot, arity=2),
    "erf": Recipe(error_function.erf, needs_pairs=True),
    "erfc": Recipe(error_function.erfc, needs_pairs=True),
    "lgamma": Recipe(gamma.lgamma, needs_pairs=True),
    "digamma": Recipe(digamma.digamma, needs_pairs=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class VectorFunction:
    """A function of vectors, and the functions that it calls.

    Args:
        function: the function, which returns a vector or a structure of vectors. Its name is unique: it encodes format,
            width, target and accuracy.
        intrinsics: LLVM's intrinsics that it calls.
        libm: the C functions of doubles that it calls lane by lane, with their arity.
    """

    function: Function
    intrinsics: Sequence[FunctionDeclaration]
    libm: Mapping[str, int]


def write_function(
    name: str,
    real: FloatType,
    width: int,
    options: FunctionOptions,
    parts: tuple[int, ...] = (),
) -> VectorFunction:
    """Write a function of vectors.

    For float32 the function computes in doubles: a result with an error of one ulp in double becomes a correctly
    rounded float except in one case in 2**28, and the final rounding handles overflow and subnormal results.

    Args:
        name: the name of the function.
        real: the format of its arguments and values.
        width: the number of lanes.
        options: the options for the processor and the accuracy.
        parts: the indices of the values of the formula to return; by default the value of this function. The choice
            does not change the bits.
    """
    function = FUNCTIONS[name]
    plainly = options.fast and not function.needs_pairs and real.bits == 64
    if not parts and function.output is not None:
        parts = (function.output,)
    options = options._replace(fast=plainly)
    return _write_function(function.formula, function.arity, real, width, options, parts)


_PARAMETERS = ("%x0", "%x1")


@cache
def _write_function(
    formula: Formula,
    arity: int,
    real: FloatType,
    width: int,
    options: FunctionOptions,
    parts: tuple[int, ...],
) -> VectorFunction:
    written, found = _write_formula(formula, arity, real, width, options)
    lanes = written.fork()
    vector, wide = f"<{width} x {real.llvm}>", lanes.type("double")
    values = [v.text for v in ([found[k] for k in parts] or found)]
    if vector != wide:
        values = [lanes.emit(Opcode.convert("fptrunc", wide, vector), v).text for v in values]
    gives, value = vector, values[0]
    if len(values) > 1:
        gives, value = f"{{ {', '.join([vector] * len(values))} }}", "poison"
        for k, v in enumerate(values):
            value = lanes.emit(Opcode.insert_value(gives, k), value, v).text
    fused, _, fast, alone = options
    how = f"{'alone.' * alone}{'fast.' * fast}{'unfused.' * (not fused)}{'tables.' * lanes.uses_tables}"
    kind = f"{how}{formula.__name__}.{width}x{real.bits}"
    name = ".".join([f"maths.{kind}", *map(str, parts)])
    lines = [Label("entry"), *lanes.lines, Instruction("", Opcode.ret(gives), (value,))]
    if parts:
        lines = eliminate_dead_code(lines)
    codes = {line.code for line in lines if isinstance(line, Instruction)}
    intrinsics = {declared for code, declared in lanes.intrinsics.items() if code in codes}
    libm = dict(called for code, called in lanes.libm.items() if code in codes)
    function = Function(name, gives, [f"{vector} {x}" for x in _PARAMETERS[:arity]], lines)
    return VectorFunction(function, sorted(intrinsics, key=str), libm)


@cache
def _write_formula(
    formula: Formula,
    arity: int,
    real: FloatType,
    width: int,
    options: FunctionOptions,
) -> tuple[LaneWriter, Sequence[Lane]]:
    """Return the code of a formula with all its values, cached for the functions that select some of them."""
    lanes = LaneWriter(width, real.bits == 32, options)
    vector, wide = f"<{width} x {real.llvm}>", lanes.type("double")
    args = [
        Lane(lanes, x, "double") if vector == wide else lanes.emit(Opcode.convert("fpext", vector, wide), x)
        for x in _PARAMETERS[:arity]
    ]
    result = formula(lanes, *args)
    return lanes, [result] if isinstance(result, Lane) else list(result)
