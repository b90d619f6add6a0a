"""Kernels of elementwise programs: NumPy ufuncs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple, final

import numpy as np

from symgrad.compiler.kernels.calls.elementwise_calls import ElementwiseCalls
from symgrad.compiler.kernels.calls.guards import has_ends
from symgrad.compiler.kernels.calls.native import Native
from symgrad.compiler.kernels.calls.threads import piece, worthwhile
from symgrad.compiler.kernels.kernel import Forms, Kernel, KernelOptions
from symgrad.compiler.kernels.signature import Signature, signature_of
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.lowering.cost import work_of
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.support.logs import info
from symgrad.support.progress import reports_progress


class Amount(NamedTuple):
    """How much a program computes. It is stored with cached code, so that it is also known without the program.

    Args:
        work: a low estimate of the nanoseconds for one element.
        equations: the number of equations.
    """

    work: float
    equations: int


def measured(outputs: Sequence[Node], inputs: Sequence[Node], order: Sequence[Node] | None = None) -> Amount:
    """Return how much a program computes; `order` is the result of `topological` for it, if available."""
    order = topological(outputs) if order is None else order
    return Amount(work_of(outputs, inputs, order), len(order))


@final
class ElementwiseKernel(ElementwiseCalls, Kernel):
    """The kernel of an elementwise program: each element of the results depends only on the same element of the inputs.

    Attributes:
        measure: how much the program computes.
    """

    __slots__ = (*ElementwiseCalls._STATE, "measure")

    def __init__(
        self,
        code: ElementwiseCode,
        outputs: Sequence[Node] | Forms,
        inputs: Sequence[Node],
        options: KernelOptions,
        *,
        fusable: Collection[Node] = (),
        measure: Amount | None = None,
    ) -> None:
        kinds = ["bool" if b else code.real.numpy for b in code.bools]
        Kernel.__init__(self, outputs, inputs, kinds, code.real, options, fusable)
        self.measure = measure or measured(self.outputs, inputs)
        work, equations = self.measure
        several = self.threads > 1
        self._prepare(
            code,
            [k for k, s in enumerate(inputs) if s.dtype == "int" and has_ends(s)],
            equations,
            piece=piece(work) if several else math.inf,
            large=worthwhile(work, len(kinds)) if several else math.inf,
        )

    @property
    def llvm_ir(self) -> str:
        return self._code.module.ir

    @property
    def needs(self) -> tuple[str, ...]:
        return self._code.module.needs

    @property
    def _declared(self) -> Signature:  # pyright: ignore[reportIncompatibleVariableOverride] (few kernels need it)
        return signature_of([()] * len(self.inputs), [()] * (len(self.kinds) - len(self.inputs)))

    def native(self) -> Native:
        if self._quick:
            self._improve()
        axes = ((),) * len(self.kinds)
        return Native(self._code.loop, self._code.cell, told=False, stopped=0, sizes=(), axes=axes)

    @property
    def ufunc(self) -> np.ufunc:
        # Calls of the bare ufunc bypass this object, which then cannot switch to better code; so it switches now.
        if self._ufunc is not None and self._quick:
            self._improve()
        return super().ufunc

    @property
    def quick(self) -> bool:
        return self._quick

    def _improve(self) -> None:
        with reports_progress("kernel", "compiling better code"):
            super()._improve()
        info("kernel", "'%s' has optimised code from now on: enough elements pay for it", self.__name__)
