"""The compiled code of a schedule in memory, which the kernel calls: quick code first, and better code when it pays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from symgrad.compiler.llvm.elementwise import loop
from symgrad.compiler.llvm.elementwise.emit import Emitted, emit
from symgrad.compiler.llvm.engine import scipy_functions
from symgrad.compiler.llvm.engine.jit import Effort, Engine, ObjectCode, object_code
from symgrad.compiler.llvm.engine.shared_functions import address, register_functions
from symgrad.compiler.llvm.engine.target import Target, host
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.limits import better_pays_from
from symgrad.compiler.lowering.elementwise.schedule import Schedule

if TYPE_CHECKING:
    from symgrad.compiler.llvm.call_stubs.point_functions import PointFunctions

_Words = ctypes.c_int64 * 2  # kept here, since ctypes frees an unreferenced type and creates it again


class ElementwiseCode:
    """Machine code for a schedule; it stays in memory as long as this object lives.

    Quick code takes a third of the time to compile and up to twice the time to run. The results of both have the same
    bits, so better code may replace quick code between two calls, even while other threads are calling.

    Args:
        plan: the schedule to compute.
        real: the format of all numbers.
        target: the features of this machine that the code may use; by default all.
        effort: ``auto`` for quick code first, ``high`` for better code at once, ``low`` for quick code alone.
        keep: a function that is called with the better code once it is compiled, to cache it for `of`.

    Attributes:
        bools, real: as in `Emitted`.
        loop: address of the inner loop.
        cell: address of the cell, the last argument of the loop: the address of the plan, and the count of elements
            computed so far.
        quick: whether the code is still quick code, which better code will replace.
    """

    __slots__ = (
        "__weakref__",
        "_engines",
        "_keep",
        "_module",
        "_pays_from",
        "_plan",
        "_point",
        "_sizes",
        "_target",
        "_words",
        "bools",
        "cell",
        "loop",
        "quick",
        "real",
    )

    def __init__(
        self,
        plan: Schedule,
        real: FloatType,
        target: Target | None = None,
        *,
        effort: Effort = "high",
        keep: Callable[[bytes], None] | None = None,
    ) -> None:
        self._plan: Schedule | Callable[[], Schedule] = plan
        self._keep = keep
        self._target = target or host().target
        self.real = real
        pays_from = better_pays_from(plan) if effort == "auto" else 0
        self.quick = pays_from > 0
        quick = self.quick or effort == "low"
        self._pays_from = pays_from if self.quick else math.inf
        self._module: Emitted | None = None
        self._point: PointFunctions | None = None
        module = emit(plan, real, self._target, quick=True) if quick else self.module
        self.bools = module.bools
        # Hardly any time is spent in the inner loop, so all kernels begin with the version that is compiled fastest.
        self._sizes = sizes = frozenset(module.itemsizes)
        inner = loop.driver_name(sizes)
        register_functions({inner: loop.driver(sizes), **module.shared})
        self._engines = [Engine(module.ir, quick=True) if quick else self._better()]
        engine = self._engines[0]
        self._words = _Words(engine.address(loop.PLAN), 0)
        self.cell = ctypes.addressof(self._words)
        self.loop = address(inner)

    @classmethod
    def of(cls, kept: bytes, real: FloatType, plan: Callable[[], Schedule]) -> ElementwiseCode:
        """Load code that `keep` cached.

        Args:
            kept: the argument with which `keep` was called.
            real: the format of all numbers.
            plan: a function that returns the schedule; it is called only if more than running the code is needed.

        Raises:
            KernelError: if the C library lacks a function that it calls.
            ValueError: if ``kept`` is not such code.
        """
        self = cls.__new__(cls)
        head, _, code = kept.partition(b"\n")
        self._plan, self._target, self._keep = plan, host().target, None
        self.real = real
        self.quick, self._pays_from = False, math.inf
        self._module = self._point = None
        self.bools = tuple(b == ord("b") for b in head)
        self._sizes = sizes = frozenset(1 if b else real.itemsize for b in self.bools)
        found = ObjectCode.from_bytes(code)
        scipy_functions.register_symbols(found.needs)
        engine = Engine.of(found)
        self._engines = [engine]
        self._words = _Words(engine.address(loop.PLAN), 0)
        self.cell = ctypes.addressof(self._words)
        self.loop = engine.address(loop.driver_name(sizes))
        return self

    def _better(self) -> Engine:
        """Compile the better code, and pass it to `keep`."""
        if self._keep is None:
            return Engine(self.module.ir)
        # The loop is included. Another process would have to write the text of the loop to find its code in the cache,
        # which takes longer than loading everything.
        code = object_code(self.module.ir, loop.driver(self._sizes))
        engine = Engine.of(code)
        bools = bytes(b"-b"[b] for b in self.bools)
        self._keep(b"%b\n%b" % (bools, code.to_bytes()))
        return engine

    @property
    def _planned(self) -> Schedule:
        if callable(self._plan):
            self._plan = self._plan()
        return self._plan

    @property
    def module(self) -> Emitted:
        """The LLVM module of the better code."""
        if self._module is None:
            self._module = emit(self._planned, self.real, self._target)
        return self._module

    @property
    def left(self) -> float:
        """The number of elements still to be computed until better code pays; infinite once the code is better code."""
        return self._pays_from - self._words[1]

    def point(self) -> PointFunctions:
        """Return the code for one point, compiled on first use."""
        if self._point is None:
            # Most kernels are called with arrays.
            from symgrad.compiler.llvm.call_stubs.point_functions import POINT, PointFunctions
            from symgrad.compiler.llvm.elementwise.emit import emit_point

            engine = Engine(emit_point(self._planned, self.real, self._target))
            kinds = ["bool" if b else self.real.numpy for b in self.bools]
            known = {POINT: engine.address(POINT)}
            self._point = PointFunctions(known, kinds, len(self._planned.inputs), engine)
        return self._point

    def improve(self) -> None:
        """Compile the better code; all calls from now on run it."""
        engine = self._better()
        self._engines.append(engine)  # the first stays, since other threads may be running its code
        self._words[0] = engine.address(loop.PLAN)
        self._pays_from = math.inf
        self.quick = False
