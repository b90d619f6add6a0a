"""WebAssembly: a module for one thread as an object that is linked with others."""

from __future__ import annotations

from symgrad.compiler.gpu.code.grid import ALONE
from symgrad.compiler.gpu.code.grid_code import GridCode, grid_module
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.engine.jit import emit_object
from symgrad.compiler.llvm.engine.platforms import all_targets, near, processors
from symgrad.compiler.llvm.engine.target import Host, Target, target_lines
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.support.errors import UsageError

__all__ = ["TRIPLE", "wasm_code", "wasm_object"]

TRIPLE = "wasm32-unknown-unknown"

_VECTOR = 16
"""Bytes of its vectors."""

_SCALAR = "mvp"
"""The first version of WebAssembly, which has no vectors."""


def wasm_code(plan: Schedule, real: FloatType, names: Entry) -> GridCode:
    """Return the module of a schedule: no instruction of WebAssembly rounds a*b + c once."""
    return grid_module(plan, real, ALONE, names, fused=False, neighbours=_VECTOR // real.itemsize)


def wasm_object(code: GridCode, cpu: str) -> bytes:
    """Return a module as an object.

    Args:
        code: the module.
        cpu: ``host`` or ``baseline`` for what every browser of today has, vectors among it; or LLVM's name of a
            version: ``mvp`` is the first one, without vectors.

    Raises:
        UsageError: for a name that LLVM does not know.
    """
    known = processors(TRIPLE)
    if cpu not in ("host", "baseline", *known):
        raise UsageError(
            f"there is no WebAssembly '{cpu}'",
            expected=f"one of {', '.join(known)}{near(cpu, known)}",
            cure="leave cpu out",
        )
    all_targets()
    given = "" if cpu in ("host", "baseline") else cpu
    there = Host(TRIPLE, given, "" if given == _SCALAR else "+simd128", Target(_VECTOR, fused=False))
    return emit_object(target_lines(there) + str(code.module), there)
