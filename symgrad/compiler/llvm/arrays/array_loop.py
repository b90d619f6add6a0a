"""The inner loop of one array kernel: the shared driver, the plan, and the arena of its calls."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Protocol

from symgrad.compiler.llvm.arrays.core_sizes import core_sizes_module
from symgrad.compiler.llvm.arrays.driver import FIELDS, PYTHON_FUNCTIONS, driver_text
from symgrad.compiler.llvm.arrays.symbol_names import STOPPED
from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.externals import add_symbol
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile
from symgrad.ir.bounds import machine_memory
from symgrad.ir.sizes import Size
from symgrad.ir.values.bound_sizes import size_sources


@locked_cache
def register_python_functions() -> None:
    """Register the functions of Python that drivers call."""
    for name in PYTHON_FUNCTIONS:  # a search of libraries does not find Python on every platform
        add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)


@locked_cache
def _driver() -> Engine:
    """Return the driver that all kernels share; it lives as long as the process."""
    register_python_functions()
    return load_or_compile(driver_text())


@locked_cache
def register_driver() -> None:
    """Register the function of the driver that the code of programs calls."""
    add_symbol(STOPPED, _driver().address(STOPPED))


class RunnableProgram(Protocol):
    """The part of the code of an array program that the loop needs."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def run(self) -> int: ...
    @property
    def scratch(self) -> int: ...
    @property
    def lengths(self) -> tuple[Size, ...]: ...
    @property
    def read(self) -> tuple[bool, ...]: ...
    @property
    def needs(self) -> tuple[str, ...]: ...


class ArrayLoop:
    """The loop of one kernel: NumPy's inner loop, its plan, and the arena that calls reuse.

    Args:
        code: the code of the program.
        sizes: the core dimensions: the distinct sizes of axes of all arguments.
        axes: the core dimension of each axis of every argument, inputs first.
        itemsizes: the size of an element of every argument, in bytes.
        nin: the number of inputs.

    Attributes:
        loop: the address of the inner loop.
        batch: the address of the same loop for callers without Python, which returns an error code.
        once: this loop as a function of ctypes.
        refusal: the message for the error code 2.
        stopped: the address of the function that returns whether Ctrl-C ended the loop; 0 if it never checks.
        plan: the address of the plan, the last argument of the loop.
        process: the address of the hook that fills in computed core dimensions, or 0.
    """

    __slots__ = (
        "__weakref__",
        "_arena",
        "_buffer",
        "_code",
        "_drop",
        "_hook",
        "_refusal",
        "batch",
        "loop",
        "once",
        "plan",
        "process",
        "refusal",
        "stopped",
    )

    def __init__(
        self,
        code: RunnableProgram,
        sizes: Sequence[Size],
        axes: Sequence[Sequence[int]],
        itemsizes: Sequence[int],
        nin: int,
    ) -> None:
        self._code = code
        sources = size_sources([tuple(sizes)])
        bound = [sources[name] for name in code.names]
        ranks = [len(a) for a in axes]
        if sizes:  # an input that is not read is never copied: its size counts as 0
            read = (*code.read, *[True] * (len(itemsizes) - len(code.read)))
            itemsizes = [size * known for size, known in zip(itemsizes, read, strict=True)]
        tables = {
            "names": [source.axis for source in bound],
            "factors": [source.factor for source in bound],
            "constants": [source.constant for source in bound],
            "itemsizes": itemsizes,
            "ranks": ranks,
            "offsets": [0, *accumulate(ranks)][:-1],
            "axes": [i for a in axes for i in a],
        }
        head = len(FIELDS) + 1
        buffer = (ctypes.c_int64 * (head + sum(map(len, tables.values()))))()
        start = ctypes.addressof(buffer)
        lengths = " or ".join(map(str, code.lengths))
        self.refusal = f"an axis of length {lengths} would be negative"
        self._refusal = ctypes.create_string_buffer(self.refusal.encode())
        plan = {
            "nargs": len(axes),
            "nin": nin,
            "count": len(bound),
            "rank.max": max(ranks),
            "private": not sizes,
            "run": code.run,
            "scratch.bytes": code.scratch,
            "most": machine_memory(),
            "refusal": ctypes.addressof(self._refusal),
            "ValueError": id(ValueError),
        }
        at = head
        for name, table in tables.items():
            plan[name] = start + 8 * at
            buffer[at : at + len(table)] = list(table)
            at += len(table)
        buffer[: len(FIELDS)] = [plan[name] for name, _ in FIELDS]
        self._buffer = buffer
        self._arena = start + 8 * len(FIELDS)
        shared = _driver()
        self.loop = shared.address("array.loop")
        self.batch = shared.address("array.batch")
        self.stopped = shared.address(STOPPED) if STOPPED in code.needs else 0
        self.plan = start
        self._drop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(shared.address("array.drop"))
        # PYFUNCTYPE: called with the GIL, which the function releases meanwhile, and checked for exceptions afterwards.
        self.once = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(shared.address("array.once"))
        text = core_sizes_module(sizes, {i for a in axes[:nin] for i in a})
        self._hook = Engine(text) if text else None
        self.process = self._hook.address("array.process") if self._hook else 0

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        drop = getattr(self, "_drop", None)
        if drop is not None and not ending():
            drop(self._arena)
