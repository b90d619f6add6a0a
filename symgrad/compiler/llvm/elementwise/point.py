"""The compiled code of a schedule for one point, for callers with numbers: Python, C and SciPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.compiler.llvm.call_stubs.point_functions import (
    FILTER,
    INTEGRAND,
    NUMBERS,
    POINT,
    scipy_callbacks,
)
from symgrad.compiler.llvm.elementwise.emit import emit_point
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.llvm.text.module import Function, Item
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Schedule

__all__ = ["PointCode"]


class PointCode:
    """Machine code that computes one point with the same bits as the kernel.

    It stays in memory as long as this object lives.

    Attributes:
        functions: as in `PointFunctions`.
    """

    __slots__ = ("__weakref__", "_engine", "functions")

    def __init__(self, ir: str, names: Sequence[str]) -> None:
        self._engine = Engine(ir)
        self.functions: Mapping[str, int] = {name: self._engine.address(name) for name in names}

    @classmethod
    def of(cls, plan: Schedule, real: FloatType) -> PointCode | None:
        """Compile a schedule; return None if its values do not fit on a stack."""
        kinds = ["i8" if node.dtype == "bool" else real.llvm for node in (*plan.inputs, *plan.outputs)]
        nin, nout = len(plan.inputs), len(plan.outputs)
        names, entries = [POINT, NUMBERS], list[Item]([_numbers_function(kinds, nin)])
        if set(kinds) == {"double"} and nout:
            names += [INTEGRAND, FILTER]
            entries.append(scipy_callbacks(f"@{NUMBERS}", nin, nout))
        ir = emit_point(plan, real, host().target, entries)
        return None if ir is None else cls(ir, names)


def _numbers_function(kinds: Sequence[str], nin: int) -> Function:
    ins, every = range(nin), range(len(kinds))
    parameters = [*(f"{kinds[k]} %x{k}" for k in ins), *(f"ptr %a{k}" for k in every[nin:])]
    lines: list[str] = []
    for k in ins:
        lines += [f"  %a{k} = alloca {kinds[k]}", f"  store {kinds[k]} %x{k}, ptr %a{k}"]
    lines.append(f"  %args = alloca [{len(kinds)} x ptr]")
    for k in every:
        lines += [f"  %p{k} = getelementptr ptr, ptr %args, i64 {k}", f"  store ptr %a{k}, ptr %p{k}"]
    lines += [f"  call void @{POINT}(ptr %args, ptr null, ptr null, ptr null)", "  ret void"]
    return Function(NUMBERS, "void", parameters, lines, linkage="external")
