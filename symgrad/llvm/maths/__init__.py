"""Mathematical functions of our own, as vector code: no lane of a vector knows of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from symgrad.llvm.maths import exponential, logarithm
from symgrad.llvm.maths.lanes import Lane, Lanes
from symgrad.llvm.types import FloatType

__all__ = ["FUNCTIONS", "Definition", "define"]

Formula = Callable[..., "Lane | tuple[Lane, ...]"]

FUNCTIONS: dict[str, tuple[Formula, int]] = {
    # C99 name -> formula, number of arguments
    "exp": (exponential.exp, 1),
    "exp2": (exponential.exp2, 1),
    "expm1": (exponential.expm1, 1),
    "sinh": (exponential.sinh, 1),
    "cosh": (exponential.cosh, 1),
    "tanh": (exponential.tanh, 1),
    "log": (logarithm.log, 1),
    "log1p": (logarithm.log1p, 1),
    "log2": (logarithm.log2, 1),
    "log10": (logarithm.log10, 1),
}


@dataclass(frozen=True, slots=True)
class Definition:
    """A function of vectors as LLVM text, and what it uses."""

    symbol: str
    text: str
    intrinsics: frozenset[str]
    libm: dict[str, int]


@cache
def define(name: str, real: FloatType, width: int, *, fused: bool) -> Definition:
    """Write a function of vectors.

    In float32 it computes in doubles: what is right to one ulp there is rounded correctly here but for one case in
    2**28, and the ends of the range and the numbers below the normal ones are where the last rounding finds them.
    """
    formula, arity = FUNCTIONS[name]
    lanes = Lanes(width, fused=fused)
    vector, wide = f"<{width} x {real.llvm}>", lanes.type("double")
    given = [f"%x{k}" for k in range(arity)]
    if real.bits == 64:
        args = [Lane(lanes, x, "double") for x in given]
    else:
        args = [lanes.emit(f"fpext {vector} {x} to {wide}", "double") for x in given]
    value = formula(lanes, *args)
    assert isinstance(value, Lane)
    if real.bits != 64:
        value = lanes.emit(f"fptrunc {wide} {value.text} to {vector}", "double")
    symbol = f"@maths.{name}"
    head = f"define internal {vector} {symbol}({', '.join(f'{vector} {x}' for x in given)}) #0 {{"
    text = "\n".join([head, "entry:", *lanes.lines, f"  ret {vector} {value.text}", "}"])
    return Definition(symbol, text, frozenset(lanes.intrinsics), lanes.libm)
