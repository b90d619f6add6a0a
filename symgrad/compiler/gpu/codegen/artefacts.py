"""Write a kernel as PTX, with its interface in a comment at the head, or as an object file of WebAssembly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from symgrad.compiler.c.abi import Abi
from symgrad.compiler.gpu.codegen.entry_functions import aligned_name
from symgrad.compiler.gpu.codegen.nvptx import emit_ptx, ptx_module
from symgrad.compiler.gpu.codegen.wasm import emit_wasm, wasm_module
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.elementwise.schedule import Schedule, schedule
from symgrad.ir.graph import Node
from symgrad.ir.traverse import is_elementwise
from symgrad.support.errors import UnsupportedError


class KernelFormulas(Protocol):
    """The formulas and options of a kernel."""

    @property
    def name(self) -> str: ...
    @property
    def outputs(self) -> Sequence[Node]: ...
    @property
    def symbols(self) -> Sequence[Node]: ...
    @property
    def fusable(self) -> frozenset[Node]: ...
    @property
    def fast(self) -> bool: ...
    @property
    def dtype(self) -> np.dtype[np.floating]: ...


def ptx_text(kernel: KernelFormulas, abi: Abi, cpu: str) -> tuple[str, tuple[str, ...]]:
    """Return a kernel as PTX, and the names of its launched functions.

    The last of them is the function for any strides.

    Args:
        kernel: a kernel of an elementwise program.
        abi: the names of the functions and their arguments.
        cpu: LLVM's name of the oldest supported processors; ``host`` and ``baseline`` for all that drivers support.

    Raises:
        UnsupportedError: for an array program, for functions that symgrad has no code for, and for too many arrays.
        UsageError: if LLVM does not know the processor.
    """
    plan = _schedule(kernel, "PTX")
    real = float_type(kernel.dtype)
    code = ptx_module(plan, real, _entry(abi))
    text = emit_ptx(code, len(abi.types), cpu)
    # Before the first directive LLVM writes comments about itself.
    aligned = aligned_name(_entry(abi))
    head = _interface_comment(abi, aligned if aligned in code.names else None)
    return head + text[text.index(".version") :], code.names


def wasm_bytes(kernel: KernelFormulas, abi: Abi, cpu: str) -> bytes:
    """Return a kernel as an object file of WebAssembly with the three functions of its header.

    Args:
        kernel: a kernel of an elementwise program.
        abi: the names of the functions and their arguments.
        cpu: LLVM's name of a version of WebAssembly; ``host`` and ``baseline`` for the version of current browsers.

    Raises:
        UnsupportedError, UsageError: as in `ptx_text`.
    """
    code = wasm_module(_schedule(kernel, "WebAssembly"), float_type(kernel.dtype), _entry(abi))
    return emit_wasm(code, cpu)


def _schedule(kernel: KernelFormulas, what: str) -> Schedule:
    if not is_elementwise(kernel.outputs):
        raise UnsupportedError(
            f"there is no {what} of '{kernel.name}', which computes with arrays as wholes",
            expected="a kernel whose equations are elementwise",
            cure="write an object and its header (.o), which C calls",
        )
    return schedule(kernel.outputs, kernel.symbols, fusable=kernel.fusable, fast=kernel.fast, rolled=False)


def _entry(abi: Abi) -> Entry:
    return Entry(abi.contiguous, abi.strided, abi.point)


def _interface_comment(abi: Abi, aligned: str | None) -> str:
    """Return the comment at the head: the interface as declarations of CUDA C++."""
    nin = len(abi.inputs)
    ins = list(zip(abi.types[:nin], abi.inputs, strict=True))
    outs = list(zip(abi.types[nin:], abi.outputs, strict=True))
    n, name = abi.length, abi.contiguous
    whole = ", ".join([*(f"const {t} *{x}" for t, x in ins), f"int64_t {n}", *(f"{t} *{y}" for t, y in outs)])
    strides = "int64_t {0}_stride, int64_t {0}_row"
    strided = ", ".join(
        [
            *(f"const {t} *{x}, {strides.format(x)}" for t, x in ins),
            f"int64_t {n}, int64_t rows",
            *(f"{t} *{y}, {strides.format(y)}" for t, y in outs),
        ]
    )
    lines = [
        f"{name}({', '.join(abi.inputs)}): {len(abi.outputs)} output(s), elementwise, in one pass.",
        "Launch with any grid and blocks along x: each thread takes every (gridDim.x*blockDim.x)-th point.",
        "Addresses are of the device's memory, aligned to elements. An output may be an input array.",
        "Nothing else is read or written: no shared memory, no state, no other functions.",
        "",
        f'extern "C" __global__ void {name}({whole});',
        f"    Arrays are contiguous, of {n} elements.",
    ]
    if aligned is not None:
        lines += [
            f'extern "C" __global__ void {aligned}({whole});',
            "    The same, if all arrays begin at multiples of 16 bytes: a thread takes several neighbours at once.",
        ]
    lines += [
        f'extern "C" __global__ void {abi.strided}({strided});',
        f"    Element i of row j is array[i*stride + j*row], counted in elements, for i < {n} and j < rows; rows are",
        "    shared along y. A stride of 0 repeats an input. An input with a null address is a number, whose bits",
        "    are the stride.",
    ]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines) + "\n"
