"""The value of a function at numbers known now: the kernel's own code, compiled for two lanes and called."""

from __future__ import annotations

import ctypes

from symgrad.llvm.engine.binding import made_once
from symgrad.llvm.engine.jit import Engine
from symgrad.llvm.engine.libm import lane_by_lane, of_c
from symgrad.llvm.engine.shared import load_or_compile
from symgrad.llvm.maths import FUNCTIONS, define
from symgrad.llvm.text.module import Function, Item, Module
from symgrad.llvm.text.types import FLOAT64, FloatType

__all__ = ["fold"]

_WIDTH = 2


@made_once
def _engine(name: str, real: FloatType, fused: bool, tables: bool, fast: bool, alone: bool) -> Engine:
    made = define(name, real, _WIDTH, fused=fused, tables=tables, fast=fast, alone=alone)
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
    lines += [f"  store {vector} %made, ptr %to, align 1", "  ret void"]
    caller = Function("fold", "void", ("ptr %from", "ptr %to"), lines, linkage="external")
    libm: list[Item] = []
    for f, n in made.libm.items():
        libm += [lane_by_lane(f, n, _WIDTH, FLOAT64), of_c(f, n, FLOAT64)]
    return load_or_compile(str(Module([caller, made.function, *libm, *made.intrinsics])), quick=True)


def fold(
    name: str,
    args: tuple[float, ...],
    real: FloatType,
    *,
    fused: bool,
    tables: bool = False,
    fast: bool = False,
    alone: bool = False,
) -> float:
    """Return the bits that a kernel gives, whatever its width."""
    kind = ctypes.c_double if real.bits == 64 else ctypes.c_float
    given = (kind * (_WIDTH * len(args)))(*(a for a in args for _ in range(_WIDTH)))
    found = (kind * _WIDTH)()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
        _engine(name, real, fused, tables, fast, alone).address("fold")
    )(given, found)
    return float(found[0])
