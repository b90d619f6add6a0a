"""Compile a module for a grid to PTX, the assembly of NVIDIA's GPUs, which the driver or ptxas translates further.

Every sum and product has an explicit rounding mode (``.rn``), so no later compiler may contract them.
"""

from __future__ import annotations

from symgrad.compiler.gpu.codegen.grid import CUDA
from symgrad.compiler.gpu.codegen.grid_module import GridModule, write_grid_module
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.engine.jit import emit_assembly
from symgrad.compiler.llvm.engine.platforms import initialize_targets, processors, suggest_similar
from symgrad.compiler.llvm.engine.target import Platform, Target, target_lines
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.limits import limited_by_memory
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.support.errors import UnsupportedError, UsageError

TRIPLE = "nvptx64-nvidia-cuda"

OLDEST_PROCESSOR = "sm_75"
"""The oldest processors that current drivers support; newer ones run the same code."""

_VECTOR_BYTES = 16
"""The longest vector load or store of a thread, in bytes."""

_PARAMETER_SIZE, _OLD_PARAMETER_LIMIT, _PARAMETER_LIMIT = 8, 4096, 32764
"""The bytes of a parameter; the bytes of all parameters that every driver allows; and those allowed since PTX 8.1."""


def processor_name(cpu: str) -> str:
    """Return LLVM's name of the target processors; ``host`` and ``baseline`` stand for `OLDEST_PROCESSOR`.

    Raises:
        UsageError: for a name that LLVM does not know.

    Example:
        >>> processor_name("host"), processor_name("sm_90")
        ('sm_75', 'sm_90')
    """
    if cpu in ("host", "baseline"):
        return OLDEST_PROCESSOR
    if cpu not in processors(TRIPLE):
        raise UsageError(
            f"there is no PTX for '{cpu}'",
            expected=f"the name of an NVIDIA processor, as sm_80{suggest_similar(cpu, processors(TRIPLE))}",
            cure=f"leave cpu out: code for {OLDEST_PROCESSOR} runs on all that are newer",
        )
    return cpu


def ptx_module(plan: Schedule, real: FloatType, names: Entry) -> GridModule:
    """Return the module of a schedule for NVIDIA's GPUs.

    A schedule that is limited by memory bandwidth also gets a function with vector loads.
    """
    return write_grid_module(
        plan,
        real,
        CUDA,
        names,
        fused=True,
        neighbours=_VECTOR_BYTES // real.itemsize if limited_by_memory(plan) else 1,
        aligned=True,
    )


def emit_ptx(code: GridModule, arguments: int, cpu: str) -> str:
    """Compile a module to PTX.

    Args:
        code: the module.
        arguments: the number of arrays that its functions take.
        cpu: as in `processor_name`.

    Raises:
        UnsupportedError: for more arrays than a launch can pass.
        UsageError: for a name that LLVM does not know.
    """
    parameters = _PARAMETER_SIZE * (3 * arguments + 2)
    if parameters > _PARAMETER_LIMIT:
        most = (_PARAMETER_LIMIT // _PARAMETER_SIZE - 2) // 3
        raise UnsupportedError(
            f"{arguments} arrays are more than a function on a GPU is launched with",
            expected=f"at most {most} inputs and outputs",
            cure="compile fewer outputs, or several kernels",
        )
    initialize_targets()
    there = Platform(
        TRIPLE,
        processor_name(cpu),
        "+ptx81" if parameters > _OLD_PARAMETER_LIMIT else "",
        Target(_VECTOR_BYTES, fused=True),
    )
    return emit_assembly(target_lines(there) + str(code.module), there)
