"""Constant folding of functions: a kernel's code is compiled for two lanes and called, so the bits are the same."""

from __future__ import annotations

import ctypes
from functools import cache

from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.libm import c_declaration, lane_by_lane
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile
from symgrad.compiler.llvm.maths import FUNCTIONS, write_function
from symgrad.compiler.llvm.maths.vectors.lanes import FunctionOptions
from symgrad.compiler.llvm.text.module import Function, Item, Module
from symgrad.compiler.llvm.text.types import FLOAT64, FloatType

_WIDTH = 2


@cache
def _formula_outputs(name: str) -> tuple[str, tuple[int, ...]]:
    """Return the first function with the same formula, and the indices of the values that are functions."""
    formula = FUNCTIONS[name].formula
    names = [n for n, function in FUNCTIONS.items() if function.formula is formula]
    return names[0], tuple(sorted({part for n in names if (part := FUNCTIONS[n].output) is not None}))


@locked_cache
def _engine(name: str, real: FloatType, options: FunctionOptions) -> Engine:
    """Return code for a function and the other functions of its formula, which are often needed together."""
    _, parts = _formula_outputs(name)
    made = write_function(name, real, _WIDTH, options, parts)
    vector = f"<{_WIDTH} x {real.llvm}>"
    function = FUNCTIONS[name]
    lines: list[str] = []
    for k in range(function.arity):
        lines += [
            f"  %p{k} = getelementptr {vector}, ptr %from, i64 {k}",
            f"  %a{k} = load {vector}, ptr %p{k}, align 1",
        ]
    given = ", ".join(f"{vector} %a{k}" for k in range(function.arity))
    lines.append(f"  %made = call {made.function.returns} @{made.function.name}({given})")
    if len(parts) < 2:
        lines.append(f"  store {vector} %made, ptr %to, align 1")
    else:
        for k in range(len(parts)):
            lines += [
                f"  %value{k} = extractvalue {made.function.returns} %made, {k}",
                f"  %at{k} = getelementptr {vector}, ptr %to, i64 {k}",
                f"  store {vector} %value{k}, ptr %at{k}, align 1",
            ]
    lines.append("  ret void")
    caller = Function("fold", "void", ("ptr %from", "ptr %to"), lines, linkage="external")
    libm: list[Item] = []
    for f, n in made.libm.items():
        libm += [lane_by_lane(f, n, _WIDTH, FLOAT64), c_declaration(f, n, FLOAT64)]
    return load_or_compile(str(Module([caller, made.function, *libm, *made.intrinsics])), quick=True)


def fold(name: str, args: tuple[float, ...], real: FloatType, options: FunctionOptions) -> float:
    """Return the value of a function with the bits of a kernel of any width."""
    kind = ctypes.c_double if real.bits == 64 else ctypes.c_float
    given = (kind * (_WIDTH * len(args)))(*(a for a in args for _ in range(_WIDTH)))
    first, parts = _formula_outputs(name)
    found = (kind * (_WIDTH * max(1, len(parts))))()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(_engine(first, real, options).address("fold"))(
        given, found
    )
    part = FUNCTIONS[name].output
    return float(found[0 if part is None else _WIDTH * parts.index(part)])
