"""Functions of libm: called lane by lane in kernels, and once at compile time for constant arguments."""

from __future__ import annotations

import ctypes

from symgrad.compiler.llvm.engine.externals import resolve
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration
from symgrad.compiler.llvm.text.types import FloatType


def c_declaration(name: str, arity: int, real: FloatType) -> FunctionDeclaration:
    """Return the declaration of a C function of numbers."""
    return FunctionDeclaration(name, real.llvm, [real.llvm] * arity, Attributes.USUAL)


def lanes_name(name: str, width: int) -> str:
    """Return the name of the function that calls a C function for each lane of vectors of a width."""
    return f"lanes.{width}.{name}"


def c_name(name: str) -> str | None:
    """Return the C function that a function of `lanes_name` calls; None for other functions."""
    prefix, _, rest = name.partition(".")
    return rest.partition(".")[2] if prefix == "lanes" else None


def lane_by_lane(name: str, arity: int, width: int, real: FloatType) -> Function:
    """Return a function that calls the C function ``name`` for each lane of its vectors.

    The lanes go through memory: to extract and insert each lane would take many times the code.
    """
    vector, scalar = f"<{width} x {real.llvm}>", real.llvm
    names = [f"%x{k}" for k in range(arity)]
    lines = ["entry:"]
    for x in names:
        lines.append(f"  {x}.at = alloca {vector}")
        lines.append(f"  store {vector} {x}, ptr {x}.at")
    lines += ["  %y.at = alloca " + vector, "  br label %lane", "lane:"]
    lines.append("  %j = phi i64 [ 0, %entry ], [ %j.next, %lane ]")
    for x in names:
        lines.append(f"  {x}.p = getelementptr {scalar}, ptr {x}.at, i64 %j")
        lines.append(f"  {x}.v = load {scalar}, ptr {x}.p")
    lines += [
        f"  %y.v = call {scalar} @{name}({', '.join(f'{scalar} {x}.v' for x in names)})",
        f"  %y.p = getelementptr {scalar}, ptr %y.at, i64 %j",
        f"  store {scalar} %y.v, ptr %y.p",
        "  %j.next = add i64 %j, 1",
        f"  %more = icmp slt i64 %j.next, {width}",
        "  br i1 %more, label %lane, label %done",
        "done:",
        f"  %y = load {vector}, ptr %y.at",
        f"  ret {vector} %y",
    ]
    given = [f"{vector} {x}" for x in names]
    return Function(lanes_name(name, width), vector, given, lines, attributes=Attributes.AS_WRITTEN)


def call_c(name: str, values: tuple[float, ...], bits: int) -> float:
    """Call a libm function as a kernel would, so that a folded constant has the kernel's bits."""
    kind = ctypes.c_double if bits == 64 else ctypes.c_float
    function = ctypes.CFUNCTYPE(kind, *[kind] * len(values))(resolve(name))
    return float(function(*values))
