"""Compiled code of a schedule at one point, for callers that have numbers: Python's, C's, SciPy's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symgrad.compiler.llvm.call_stubs.point_functions import FILTER, INTEGRAND, NUMBERS, POINT
from symgrad.compiler.llvm.elementwise.emit import emit_point
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Schedule

__all__ = ["PointCode"]


class PointCode:
    """Machine code that computes one point with the bits of the kernel; it is in memory as long as this object lives.

    Attributes:
        functions: as in `PointFunctions`.
    """

    __slots__ = ("__weakref__", "_engine", "functions")

    def __init__(self, ir: str, names: Sequence[str]) -> None:
        self._engine = Engine(ir)
        self.functions: Mapping[str, int] = {name: self._engine.address(name) for name in names}

    @classmethod
    def of(cls, plan: Schedule, real: FloatType) -> PointCode | None:
        """Compile a schedule; None where its values do not fit on a stack."""
        kinds = ["i8" if node.dtype == "bool" else real.llvm for node in (*plan.inputs, *plan.outputs)]
        entries = list(_entries(kinds, len(plan.inputs)))
        ir = emit_point(plan, real, host().target, entries)
        return None if ir is None else cls(ir, [POINT, *(entry.name for entry in entries)])


def _entries(kinds: Sequence[str], nin: int) -> Iterator[Function]:
    count = len(kinds)
    ins, outs = range(nin), range(nin, count)
    numbers = [*(f"{kinds[k]} %x{k}" for k in ins), *(f"ptr %a{k}" for k in outs)]
    placed = [
        line for k in ins for line in (f"  %a{k} = alloca {kinds[k]}", f"  store {kinds[k]} %x{k}, ptr %a{k}")
    ]
    yield Function(NUMBERS, "void", numbers, [*placed, *_called(count), "  ret void"], linkage="external")
    if set(kinds) != {"double"} or count == nin:
        return
    at_inputs = [f"  %a{k} = getelementptr double, ptr %x, i64 {k}" for k in ins]
    unused = [f"  %a{k} = alloca double" for k in outs[1:]]
    yield Function(
        INTEGRAND,
        "double",
        ("i32 %n", "ptr %x", "ptr %data"),
        [
            f"  %all = icmp eq i32 %n, {nin}",
            "  br i1 %all, label %compute, label %refuse",
            "compute:",
            *at_inputs,
            f"  %a{nin} = alloca double",
            *unused,
            *_called(count),
            f"  %y = load double, ptr %a{nin}",
            "  ret double %y",
            "refuse:",
            "  ret double 0x7FF8000000000000",
        ],
        linkage="external",
    )
    yield Function(
        FILTER,
        "i32",
        ("ptr %x", "i64 %n", f"ptr %a{nin}", "ptr %data"),
        [
            f"  %all = icmp eq i64 %n, {nin}",
            "  br i1 %all, label %compute, label %refuse",
            "compute:",
            *at_inputs,
            *unused,
            *_called(count),
            "  ret i32 1",
            "refuse:",
            "  ret i32 0",
        ],
        linkage="external",
    )


def _called(count: int) -> Iterator[str]:
    """The lines that call the point with arguments at ``%a0``, ``%a1``, ..."""
    yield f"  %args = alloca [{count} x ptr]"
    for k in range(count):
        yield f"  %p{k} = getelementptr ptr, ptr %args, i64 {k}"
        yield f"  store ptr %a{k}, ptr %p{k}"
    yield f"  call void @{POINT}(ptr %args, ptr null, ptr null, ptr null)"
