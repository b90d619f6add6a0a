"""The inner loop of one array kernel: code, plan, and the memory that its calls use again."""

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

__all__ = ["ArrayLoop", "RunnableProgram", "register_driver"]


@locked_cache
def _driver() -> Engine:
    """The loop that all kernels share; it lives as long as the process."""
    for name in PYTHON_FUNCTIONS:  # no search of libraries finds Python everywhere
        add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
    return load_or_compile(driver_text())


@locked_cache
def register_driver() -> None:
    """Make known to LLVM what the code of programs calls of the driver."""
    add_symbol(STOPPED, _driver().address(STOPPED))


class RunnableProgram(Protocol):
    """What the loop must know of the code of an array program."""

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
    """The loop for one kernel: NumPy's inner loop, its plan, and the memory that calls use again.

    Args:
        code: the code of the program.
        sizes: the core dimensions: the different sizes of axes in all arguments.
        axes: for every argument, inputs first, the core dimension of each axis.
        itemsizes: bytes of an element of every argument.
        nin: how many arguments are inputs.

    Attributes:
        loop: address of the inner loop.
        batch: address of the same loop for callers without Python, which returns what failed.
        stopped: address of what tells whether Ctrl-C ended it early, or 0 if it never asks.
        plan: address of what the loop must be passed as its last argument.
        process: address of the function by which NumPy has computed sizes filled in and checked, or 0.
    """

    __slots__ = (
        "__weakref__",
        "_arena",
        "_buffer",
        "_code",
        "_drop",
        "_hook",
        "_once",
        "_refusal",
        "batch",
        "loop",
        "plan",
        "process",
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
        names = [sizes.index(name) for name in code.names]
        ranks = [len(a) for a in axes]
        if sizes:  # what is not read has no bytes that would have to be brought together
            read = (*code.read, *[True] * (len(itemsizes) - len(code.read)))
            itemsizes = [size * known for size, known in zip(itemsizes, read, strict=True)]
        tables = {
            "names": names,
            "itemsizes": itemsizes,
            "ranks": ranks,
            "offsets": [0, *accumulate(ranks)][:-1],
            "axes": [i for a in axes for i in a],
        }
        head = len(FIELDS) + 1
        buffer = (ctypes.c_int64 * (head + sum(map(len, tables.values()))))()
        start = ctypes.addressof(buffer)
        said = " or ".join(map(str, code.lengths))
        self._refusal = ctypes.create_string_buffer(f"an axis of length {said} would be negative".encode())
        plan = {
            "nargs": len(axes),
            "nin": nin,
            "count": len(names),
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
        # Called with the interpreter's lock, which it gives back meanwhile, and looked at for exceptions.
        self._once = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(shared.address("array.once"))
        text = core_sizes_module(sizes)
        self._hook = Engine(text) if text else None
        self.process = self._hook.address("array.process") if self._hook else 0

    def call(self, addresses: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> None:
        """Run the code once, as the loop would.

        Args:
            addresses: where the first element of every argument is.
            sizes: the length of every core dimension.
            strides: the strides of all axes of all arguments, in bytes.

        Raises:
            MemoryError: if there is none left.
            ValueError: if a computed length of an axis is negative.
        """
        nargs = len(addresses)
        failed = self._once(
            (ctypes.c_void_p * nargs)(*addresses),
            (ctypes.c_int64 * (1 + len(sizes)))(1, *sizes),
            (ctypes.c_int64 * (nargs + len(strides)))(*[0] * nargs, *strides),
            self.plan,
        )
        if failed:
            raise ValueError(self._refusal.value.decode()) if failed == 2 else MemoryError

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        drop = getattr(self, "_drop", None)
        if drop is not None and not ending():
            drop(self._arena)
