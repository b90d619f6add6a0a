"""Compile a module for one thread to an object file of WebAssembly, to be linked with others."""

from __future__ import annotations

from symgrad.compiler.gpu.codegen.grid import SINGLE_THREAD
from symgrad.compiler.gpu.codegen.grid_module import GridModule, write_grid_module
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.engine.jit import emit_object
from symgrad.compiler.llvm.engine.platforms import initialize_targets, processors, suggest_similar
from symgrad.compiler.llvm.engine.target import Platform, Target, target_lines
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.support.errors import UsageError

TRIPLE = "wasm32-unknown-unknown"

_VECTOR_BYTES = 16
"""Size of a vector register, in bytes."""

_SCALAR_VERSION = "mvp"
"""LLVM's name of the first version of WebAssembly, which has no vectors."""


def wasm_module(plan: Schedule, real: FloatType, names: Entry) -> GridModule:
    """Return the module of a schedule; WebAssembly has no fused multiply-add."""
    return write_grid_module(
        plan, real, SINGLE_THREAD, names, fused=False, neighbours=_VECTOR_BYTES // real.itemsize
    )


def emit_wasm(code: GridModule, cpu: str) -> bytes:
    """Compile a module to an object file.

    Args:
        code: the module.
        cpu: ``host`` or ``baseline`` for the features of every current browser, which include vectors; or LLVM's name
            of a version: ``mvp`` is the first one, without vectors.

    Raises:
        UsageError: for a name that LLVM does not know.
    """
    known = processors(TRIPLE)
    if cpu not in ("host", "baseline", *known):
        raise UsageError(
            f"there is no WebAssembly '{cpu}'",
            expected=f"one of {', '.join(known)}{suggest_similar(cpu, known)}",
            cure="leave cpu out",
        )
    initialize_targets()
    given = "" if cpu in ("host", "baseline") else cpu
    there = Platform(
        TRIPLE, given, "" if given == _SCALAR_VERSION else "+simd128", Target(_VECTOR_BYTES, fused=False)
    )
    return emit_object(target_lines(there) + str(code.module), there)
