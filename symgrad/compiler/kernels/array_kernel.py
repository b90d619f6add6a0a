"""Kernels of array programs: NumPy's generalised ufuncs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, final

from symgrad.compiler.kernels.calls.array_calls import ArrayCalls
from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.compiler.kernels.calls.guards import guards_of
from symgrad.compiler.kernels.calls.native import Native
from symgrad.compiler.kernels.calls.threads import worthwhile
from symgrad.compiler.kernels.kernel import Kernel, KernelOptions
from symgrad.compiler.llvm.arrays.cached_code import RunnableArrays
from symgrad.compiler.llvm.entries.entry_code import EntryCode
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.cost import work_of
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of

Compile = Callable[[Sequence[Node], Sequence[Node]], "ArrayKernel"]


@final
class ArrayKernel(ArrayCalls, Kernel):
    """The kernel of an array program.

    Attributes:
        signature: the shapes of its arguments in NumPy's notation, as ``(n,5),(5)->()``.
        sizes: the names of sizes, in order of appearance.
    """

    __slots__ = (*ArrayCalls._STATE, "_compile", "_indices")

    def __init__(
        self,
        code: RunnableArrays | EntryCode,
        outputs: Sequence[Node],
        inputs: Sequence[Node],
        real: FloatType,
        options: KernelOptions,
        compile_indices: Compile,
        *,
        fusable: Collection[Node] = (),
    ) -> None:
        kinds = [{"real": real.numpy, "int": "int64", "bool": "bool"}[kind] for kind in code.kinds]
        Kernel.__init__(self, outputs, inputs, kinds, real, options, fusable)
        large = worthwhile(work_of(outputs, inputs), len(kinds)) if self.threads > 1 else math.inf
        self._prepare(code, (*inputs, *outputs), guards_of(outputs, inputs), large)
        self._compile = compile_indices
        self._indices: ArrayKernel | None = None

    @property
    def code(self) -> RunnableArrays | EntryCode:
        """The code of the program, with the shapes of its arrays."""
        return self._code

    def plan(self, *, rolled: bool = True) -> Schedule | None:
        if not isinstance(self._code, EntryCode):
            return None
        # Late imports: most kernels are never written.
        from symgrad.compiler.lowering.entries.entry_schedule import schedule_entries
        from symgrad.compiler.lowering.entries.program import scalar_program

        found = scalar_program(self.outputs, self.symbols, self.fusable)
        return None if found is None else schedule_entries(found, fast=self.fast, rolled=rolled)

    @property
    def way(self) -> str:
        """How the kernel computes arrays: entry by entry, or with loops, and why, as a sentence for reports."""
        from symgrad.compiler.lowering.entries.program import reason_for_loops  # most kernels have no report

        if isinstance(self._code, EntryCode):
            return "The entries of its arrays are computed as scalars, for several points of a batch at once."
        reason = reason_for_loops(self.outputs, self.symbols, self.fusable)
        return f"Loops over arrays compute it: {reason}."

    @property
    def llvm_ir(self) -> str:
        return self._code.llvm_ir

    @property
    def needs(self) -> tuple[str, ...]:
        return self._code.needs

    def native(self) -> Native:
        loop, declared = self._loop, self._declared
        return Native(
            loop.batch,
            loop.plan,
            told=True,
            stopped=loop.stopped,
            sizes=declared.sizes,
            axes=declared.axes,
            arrays=self._code.arrays,
            computed=self._code.computed,
            guards=self._guards,
            symmetric=tuple(k for k, _ in self._symmetric),
        )

    def _positions(self, indices: Sequence[Node], values: dict[Node, Any]) -> dict[Node, Any]:
        kernel = self._indices
        if kernel is None:
            kernel = self._indices = self._compile(indices, symbols_for(indices, self.symbols))
        call = kernel._ufunc or kernel._call_plainly
        found = as_tuple(call(*(values[s] for s in kernel.symbols)))
        return dict(zip(kernel.outputs, found, strict=True))


def symbols_for(outputs: Sequence[Node], symbols: Sequence[Node]) -> list[Node]:
    """Return the symbols of the outputs: those that the outputs read, and arrays whose shapes give the sizes."""
    return [s for s in symbols if s.shape or s in set(symbols_of(outputs))]
