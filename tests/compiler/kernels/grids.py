"""Code for a grid of threads, run on this machine: one thread after the other, in any order."""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.compiler.gpu.codegen.grid import Axis, Grid
from symgrad.compiler.gpu.codegen.grid_module import write_grid_module
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.text.module import Function, FunctionDeclaration, Global, Item, Module
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.elementwise.schedule import schedule

_AXES = [
    Axis(*(f"grid.{what}.{letter}" for what in ("thread", "threads", "block", "blocks"))) for letter in "xy"
]
_FUNCTIONS = [f for axis in _AXES for f in axis.functions]
EMULATED = Grid(along=_AXES[0], across=_AXES[1])
"""As a GPU, but in this machine's memory."""


class Emulated:
    """The code that a GPU would get, but for the addresses and the registers that say where a thread stands."""

    def __init__(self, kernel: Kernel, *, neighbours: int = 1, chunk: int | None = None) -> None:
        self._kernel = kernel
        plan = schedule(
            kernel.outputs,
            kernel.symbols,
            fusable=kernel.fusable,
            fast=kernel.fast,
            rolled=False,
            chunk=chunk,
        )
        real = float_type(kernel.dtype)
        code = write_grid_module(
            plan, real, EMULATED, Entry.of("k"), fused=True, neighbours=neighbours, aligned=True
        )
        declared = [item for item in code.module.items if isinstance(item, FunctionDeclaration)]
        assert all(d.name.startswith("llvm.") or d.name in _FUNCTIONS for d in declared)
        items: list[Item] = [
            i for i in code.module.items if not (isinstance(i, FunctionDeclaration) and i.name in _FUNCTIONS)
        ]
        items.append(Global("grid", "[8 x i32]", "zeroinitializer", "external", variable=True))
        for k, name in enumerate(_FUNCTIONS):
            lines = [
                f"  %p = getelementptr i32, ptr @grid, i64 {k}",
                "  %v = load volatile i32, ptr %p",
                "  ret i32 %v",
            ]
            items.append(Function(name, "i32", (), lines))
        self._engine = Engine(str(Module(items)))
        self._values = (ctypes.c_int32 * 8).from_address(self._engine.address("grid"))

    def launch(self, name: str, blocks: tuple[int, int], threads: int, given: Sequence[Any]) -> None:
        function = ctypes.CFUNCTYPE(None, *map(type, given))(self._engine.address(name))
        places = list(itertools.product(range(blocks[1]), range(blocks[0]), range(threads)))
        random.Random(len(places)).shuffle(places)
        for row, block, thread in places:
            self._values[:] = [thread, threads, block, blocks[0], 0, 1, row, blocks[1]]
            function(*given)

    def whole(
        self, arrays: Sequence[np.ndarray], blocks: int, threads: int, name: str = "k"
    ) -> tuple[np.ndarray, ...]:
        """On contiguous arrays; new outputs, with a number in front of and behind them that nobody may change."""
        kernel = self._kernel
        n, nin = len(arrays[0]), len(kernel.inputs)
        given = [_aligned(np.asarray(a, kind)) for a, kind in zip(arrays, kernel.kinds[:nin], strict=True)]
        outputs = [_aligned(np.ones(n + 1, kind)) for kind in kernel.kinds[nin:]]
        pointers = [[ctypes.c_void_p(a.ctypes.data) for a in group] for group in (given, outputs)]
        self.launch(name, (blocks, 1), threads, [*pointers[0], ctypes.c_int64(n), *pointers[1]])
        assert all(out[n] == 1 for out in outputs)
        return tuple(out[:n] for out in outputs)

    def strided(
        self,
        inputs: Sequence[np.ndarray | float],
        outputs: Sequence[np.ndarray],
        blocks: tuple[int, int],
        threads: int,
    ) -> None:
        """On arrays with two axes as they lie; numbers by their bits."""
        rows, n = outputs[0].shape
        given: list[Any] = []
        for kind, a in zip(self._kernel.kinds, inputs, strict=False):
            if not isinstance(a, np.ndarray):
                raw = np.array(a, kind).tobytes().ljust(8, b"\0")
                given += [ctypes.c_void_p(0), ctypes.c_int64(int.from_bytes(raw, "little", signed=True))]
                given.append(ctypes.c_int64(0))
            else:
                given += _placed(a)
        given += [ctypes.c_int64(n), ctypes.c_int64(rows)]
        for a in outputs:
            given += _placed(a)
        self.launch("k_strided", blocks, threads, given)


def _placed(a: np.ndarray) -> list[Any]:
    assert a.ndim == 2
    row, along = (s // a.itemsize for s in a.strides)
    return [ctypes.c_void_p(a.ctypes.data), ctypes.c_int64(along), ctypes.c_int64(row)]


def _aligned(a: np.ndarray) -> np.ndarray:
    """A copy that begins at a multiple of 16 bytes."""
    room = np.empty(a.nbytes + 16, np.uint8)
    begin = -room.ctypes.data % 16
    found = room[begin : begin + a.nbytes].view(a.dtype)
    found[:] = a
    return found
