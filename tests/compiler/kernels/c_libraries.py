"""C source and libraries of kernels, compiled and called."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.compiler.kernels.elementwise import ElementwiseKernel
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.llvm.arrays.array_code import array_module
from symgrad.compiler.llvm.arrays.c_entry import add_c_entry
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.elementwise.emit import emit
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.target import Target, host
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.elementwise.schedule import schedule
from symgrad.ir.sizes import evaluate_size
from tests.compiler.kernels.test_artefact import CC

STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")
FUSED = host().target.fused
HERE = ("-march=native",) if host().triple.startswith("x86_64") else ()
"""What makes a compiler use instructions of this machine, a*b + c among them."""

_SCALARS = {"d": ctypes.c_double, "f": ctypes.c_float, "?": ctypes.c_ubyte}


def library(kernel: Kernel, folder: Path, *options: str, name: str = "k") -> Any:
    """Save a kernel as C, compile that without a warning, and load it."""
    source, _ = kernel.save(folder / f"{name}.c", name=name)
    made = folder / f"{name}.so"
    command = [CC, *STRICT, *(options or ("-O2", *HERE)), "-shared", "-fPIC", source, "-o", made, "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(made))


def on_arrays(function: Any, kernel: Kernel, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Call the function on contiguous arrays."""
    n = len(arrays[0])
    nin = len(kernel.inputs)
    given = [np.ascontiguousarray(a, kind) for a, kind in zip(arrays, kernel.kinds[:nin], strict=True)]
    outputs = tuple(np.empty(n, kind) for kind in kernel.kinds[nin:])
    pointers = [[ctypes.c_void_p(a.ctypes.data) for a in group] for group in (given, outputs)]
    function(*pointers[0], ctypes.c_int64(n), *pointers[1])
    return outputs


def on_strided(
    function: Any, arrays: Sequence[np.ndarray], outputs: Sequence[np.ndarray], count: int
) -> None:
    """Call the function on arrays as they lie."""
    given: list[Any] = []
    for group in (arrays, outputs):
        for a in group:
            stride = a.strides[0] // a.itemsize if a.ndim else 0
            given += [ctypes.c_void_p(a.ctypes.data), ctypes.c_int64(stride)]
        if group is arrays:
            given.append(ctypes.c_int64(count))
    function(*given)


def on_a_point(function: Any, kernel: Kernel, values: Sequence[Any]) -> tuple[Any, ...]:
    """Call the function on numbers."""
    nin = len(kernel.inputs)
    kinds = [_SCALARS[kind.char] for kind in kernel.kinds]
    outputs = [kind() for kind in kinds[nin:]]
    function(
        *(k(v.item() if isinstance(v, np.generic) else v) for k, v in zip(kinds[:nin], values, strict=True)),
        *map(ctypes.byref, outputs),
    )
    return tuple(out.value for out in outputs)


def as_c_has_it(kernel: Kernel, *, fused: bool, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """What machine code gives that uses nothing C has not: no tables in registers, no estimates of roots."""
    assert isinstance(kernel, ElementwiseKernel)
    plan = schedule(kernel.outputs, kernel.symbols, fusable=kernel.fusable, fast=kernel.fast, rolled=False)
    target = Target(16, fused=fused)
    engine = Engine(emit(plan, float_type(kernel.dtype), target, entry=Entry.of("native")).ir)
    nargs = len(kernel.kinds)
    types = [ctypes.c_void_p] * len(kernel.inputs) + [ctypes.c_int64]
    types += [ctypes.c_void_p] * (nargs - len(kernel.inputs))
    return on_arrays(ctypes.CFUNCTYPE(None, *types)(engine.address("native")), kernel, arrays)


def on_sizes(
    function: Any, kernel: ArrayKernel, arrays: Sequence[Any], sizes: Mapping[str, int]
) -> tuple[np.ndarray, ...]:
    """Call the function of an array program."""
    nin = len(kernel.inputs)
    given = [
        np.array(a, kind, order="C", ndmin=0) for a, kind in zip(arrays, kernel.kinds[:nin], strict=True)
    ]
    shapes = [tuple(evaluate_size(s, sizes) for s in node.shape) for node in kernel.outputs]
    outputs = tuple(np.full(s, 7, kind) for s, kind in zip(shapes, kernel.kinds[nin:], strict=True))
    pointers = [[ctypes.c_void_p(a.ctypes.data) for a in group] for group in (given, outputs)]
    assert function(*pointers[0], *(ctypes.c_int64(sizes[n]) for n in kernel.sizes), *pointers[1]) == 0
    return outputs


def as_one_lane_has_it(
    kernel: ArrayKernel, arrays: Sequence[Any], sizes: Mapping[str, int], *, fused: bool
) -> tuple[np.ndarray, ...]:
    """Values of machine code for vectors of one lane, which has the order of C source."""
    real = float_type(kernel.dtype)
    target = Target(real.itemsize, fused)
    module = array_module(kernel.outputs, kernel.symbols, real, target, fast=kernel.fast).module
    counts = len(kernel.inputs), len(kernel.sizes), len(kernel.outputs)
    engine = Engine(str(add_c_entry(module, "native", *counts)))
    types = [ctypes.c_void_p] * counts[0] + [ctypes.c_int64] * counts[1] + [ctypes.c_void_p] * counts[2]
    return on_sizes(ctypes.CFUNCTYPE(ctypes.c_int, *types)(engine.address("native")), kernel, arrays, sizes)
