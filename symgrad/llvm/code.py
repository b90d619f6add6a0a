"""Compiled code of a schedule, in memory: what the kernel calls."""

from __future__ import annotations

from symgrad.llvm import loop
from symgrad.llvm.emit import Module, emit
from symgrad.llvm.jit import Engine, Target, host, made_once
from symgrad.llvm.types import FloatType
from symgrad.lower.schedule import Schedule

__all__ = ["Code"]


@made_once
def _driver() -> Engine:
    """The inner loop that all kernels share; it lives as long as the process.

    Hardly any time is spent in it, and `copies.py` is written so that it need not be optimised.
    """
    return Engine(loop.driver(), once=True)


class Code:
    """Machine code for a schedule; it is in memory as long as this object lives.

    Args:
        plan: what to compute.
        real: the format of all numbers.
        target: what the code may use of this machine, by default all.

    Attributes:
        module: the LLVM module it was made from.
        loop: address of the inner loop.
        plan: address of what the loop must be passed as its last argument.
    """

    __slots__ = ("__weakref__", "_engine", "loop", "module", "plan")

    def __init__(self, plan: Schedule, real: FloatType, target: Target | None = None) -> None:
        self.module: Module = emit(plan, real, target or host().target)
        self._engine = Engine(self.module.ir)
        self.loop = _driver().address(loop.LOOP)
        self.plan = self._engine.address(loop.PLAN)
