"""The inner loop of a program of small arrays: the driver of entries, and the record of one kernel."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import cast

from symgrad.compiler.llvm.arrays.array_loop import register_python_functions
from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.llvm.entries.entry_driver import RECORD, driver_text
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.ir.sizes import Shape

_BATCH = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)


@locked_cache
def _driver(real: FloatType) -> Engine:
    register_python_functions()
    return load_or_compile(driver_text(real, max(host().target.vector_bytes // real.itemsize, 2)))


class EntryLoop:
    """The inner loop of a program of small arrays, as `ArrayLoop` is that of others.

    Args:
        cell: the address of the cell of the equations.
        shapes: the shapes of all arguments.
        nin: how many arguments are inputs.
        real: the format of all numbers.
        code: the owner of the machine code; the loop keeps it alive.

    Attributes:
        loop, batch, once, refusal, plan, stopped, process: as in `ArrayLoop`.
    """

    __slots__ = ("__weakref__", "_code", "_record", "_tables", "batch", "loop", "once", "plan")

    stopped = 0
    process = 0
    refusal = ""

    def __init__(self, cell: int, shapes: Sequence[Shape], nin: int, real: FloatType, code: object) -> None:
        self._code = code
        known = [cast("tuple[int, ...]", shape) for shape in shapes]
        numbers = [
            [math.prod(shape) for shape in known],
            list(map(len, known)),
            [n for shape in known for n in shape],
        ]
        self._tables = [(ctypes.c_int64 * max(len(table), 1))(*table) for table in numbers]
        fields = (cell, len(shapes), nin, *map(ctypes.addressof, self._tables))
        self._record = (ctypes.c_int64 * len(RECORD))(*fields)
        self.plan = ctypes.addressof(self._record)
        shared = _driver(real)
        self.loop = shared.address("entries.loop")
        self.batch = shared.address("entries.batch")
        self.once = _BATCH(self.batch)
