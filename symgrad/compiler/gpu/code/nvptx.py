"""A module for a grid as PTX, the code of NVIDIA's GPUs before their driver or ptxas makes machine code of it.

Every sum and product says how it is rounded (``.rn``), so nothing that reads PTX may round two of them once.
"""

from __future__ import annotations

from symgrad.compiler.gpu.code.grid import CUDA
from symgrad.compiler.gpu.code.grid_code import GridCode, grid_module
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.engine.jit import emit_assembly
from symgrad.compiler.llvm.engine.platforms import all_targets, near, processors
from symgrad.compiler.llvm.engine.target import Host, Target, target_lines
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.limits import limited_by_memory
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.support.errors import UnsupportedError, UsageError

__all__ = ["LEAST", "TRIPLE", "device_code", "ptx_of", "sm"]

TRIPLE = "nvptx64-nvidia-cuda"

LEAST = "sm_75"
"""The oldest processors that drivers of today still know; newer ones run their code, too."""

_VECTOR = 16
"""Bytes that a thread reads or writes at once, at most."""

_WORD, _FEW, _PARAMETER_BYTES = 8, 4096, 32764
"""Bytes of a parameter, of all that every driver takes, and of all that PTX 8.1 has."""


def sm(cpu: str) -> str:
    """Return the processors that PTX is for, by LLVM's name; ``host`` and ``baseline`` are `LEAST`.

    Raises:
        UsageError: for a name that LLVM does not know.

    Example:
        >>> sm("host"), sm("sm_90")
        ('sm_75', 'sm_90')
    """
    if cpu in ("host", "baseline"):
        return LEAST
    if cpu not in processors(TRIPLE):
        raise UsageError(
            f"there is no PTX for '{cpu}'",
            expected=f"the name of an NVIDIA processor, as sm_80{near(cpu, processors(TRIPLE))}",
            cure=f"leave cpu out: code for {LEAST} runs on all that are newer",
        )
    return cpu


def device_code(plan: Schedule, real: FloatType, names: Entry) -> GridCode:
    """Return the module of a schedule for NVIDIA's GPUs.

    Where memory is what takes the time there is code for several neighbours at a time, too.
    """
    return grid_module(
        plan,
        real,
        CUDA,
        names,
        fused=True,
        neighbours=_VECTOR // real.itemsize if limited_by_memory(plan) else 1,
        aligned=True,
    )


def ptx_of(code: GridCode, arguments: int, cpu: str) -> str:
    """Return a module as PTX.

    Args:
        code: the module.
        arguments: how many arrays its functions take.
        cpu: as in `sm`.

    Raises:
        UnsupportedError: for more arrays than a launch can be given.
        UsageError: for a name that LLVM does not know.
    """
    parameters = _WORD * (3 * arguments + 2)
    if parameters > _PARAMETER_BYTES:
        most = (_PARAMETER_BYTES // _WORD - 2) // 3
        raise UnsupportedError(
            f"{arguments} arrays are more than a function on a GPU is launched with",
            expected=f"at most {most} inputs and outputs",
            cure="compile fewer outputs, or several kernels",
        )
    all_targets()
    there = Host(TRIPLE, sm(cpu), "+ptx81" if parameters > _FEW else "", Target(_VECTOR, fused=True))
    return emit_assembly(target_lines(there) + str(code.module), there)
