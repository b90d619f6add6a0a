"""Kernels of array programs: NumPy's generalised ufuncs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, cast, final

import numpy as np

from symgrad.compiler.kernels.calls.guards import Position, check_filled, check_position, guards_of
from symgrad.compiler.kernels.calls.native import Native
from symgrad.compiler.kernels.calls.output_pool import OutputPool
from symgrad.compiler.kernels.calls.plain import (
    call_batch,
    copy_shared,
    refuse_masked,
    refuse_where,
)
from symgrad.compiler.kernels.calls.threads import in_pieces, targets, work_of, worthwhile
from symgrad.compiler.kernels.kernel import Kernel, KernelOptions, as_tuple
from symgrad.compiler.kernels.shapes import Fit, Shapes
from symgrad.compiler.kernels.signature import Signature, signature_of
from symgrad.compiler.kernels.ufunc import ufunc_of_arrays
from symgrad.compiler.llvm.arrays.cached_code import RunnableArrays
from symgrad.compiler.llvm.entries.entry_code import EntryCode
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.elementwise.schedule import Schedule
from symgrad.ir.bounds import LARGEST, check_arrays, check_lengths, check_products, out_of_memory
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.exchange import PLAIN
from symgrad.ir.values.inputs import check_domain, check_symmetric, in_order
from symgrad.support.errors import (
    ArrayTypeError,
    OutOfMemoryError,
    ShapeError,
    SymgradError,
)

_ARRAY = np.ndarray
_FLOAT64 = np.dtype(np.float64)
_MANY = 2**13
"""If an input has more elements than this, outputs may be so large that a pool of outputs pays."""


Compile = Callable[[Sequence[Node], Sequence[Node]], "ArrayKernel"]


@final
class ArrayKernel(Kernel):
    """The kernel of an array program.

    Attributes:
        signature: the shapes of its arguments in NumPy's notation, as ``(n,5),(5)->()``.
        sizes: the names of sizes, in order of appearance.
    """

    __slots__ = (
        "_code",
        "_compile",
        "_core",
        "_found",
        "_guards",
        "_indices",
        "_large",
        "_loop",
        "_shapes",
        "_spares",
        "_symmetric",
        "_unchecked",
        "signature",
        "sizes",
    )

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
        super().__init__(outputs, inputs, kinds, real, options, fusable)
        nin = len(inputs)
        found = signature_of(code.shapes[:nin], code.shapes[nin:])
        itemsizes = [kind.itemsize for kind in self.kinds]
        self.signature = found.text
        self._code = code
        self._core = found.sizes
        self._found = found
        self.sizes = code.names
        self._loop = code.loop_of(found.sizes, found.axes, itemsizes, nin)
        self._shapes = Shapes(inputs, outputs)
        self._guards = guards_of(outputs, inputs)
        self._symmetric = [(k, s) for k, s in enumerate(inputs) if s.declaration.symmetric]
        self._compile = compile_indices
        self._indices: ArrayKernel | None = None
        self._ufunc = ufunc_of_arrays(self._loop, found, kinds, self.name, self.inputs, self._loop)
        several = self.threads > 1 and self._ufunc
        checked = self._guards or self._symmetric or self.threads > 1
        self._unchecked = None if checked else self._ufunc
        self._large = worthwhile(work_of(outputs, inputs), len(kinds)) if several else math.inf
        self._spares = OutputPool(self.kinds[nin:])

    @property
    def code(self) -> RunnableArrays | EntryCode:
        """The code of the program, with the shapes of its arrays."""
        return self._code

    def plan(self, *, rolled: bool = True) -> Schedule | None:
        if not isinstance(self._code, EntryCode):
            return None
        from symgrad.compiler.lowering.entries.program import scalar_program  # most kernels are never written

        found = scalar_program(self.outputs, self.symbols, self.fusable)
        return None if found is None else found.plan(fast=self.fast, rolled=rolled)

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

    def scratch_bytes(self, /, **sizes: int) -> int:
        """Return the bytes of scratch memory of a call.

        Args:
            sizes: a value for every named size.

        Raises:
            OutOfMemoryError: for more than 2**63 bytes.
            ShapeError: for a name that is missing or unknown, and if an axis would have a negative length or an array
                too many entries.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("X : real[n, d]; w : real[d]; loss = sum(tanh(X@w)**2)")
            >>> k = sg.compile([p["loss"], sg.grad(p["loss"], p["w"])])
            >>> k.scratch_bytes(n=1000, d=10) < 3*8*1000
            True
        """
        if set(sizes) != set(self.sizes):
            raise ShapeError(
                f"sizes {', '.join(sizes) or 'none'} were given",
                expected=f"a value for {', '.join(self.sizes)}",
            )
        check_lengths((*self.sizes, *self._code.lengths), sizes)
        check_arrays(self._code.arrays, sizes)
        check_products(self._code.computed, sizes)
        found = self._code.scratch_bytes([sizes[name] for name in self.sizes])
        if found < 0:  # the total overflowed, although no array is too large
            raise out_of_memory(f"a call of kernel '{self.name}'", LARGEST)
        return found

    def __call__(self, /, *arrays: Any, out: Any = None, where: Any = True, **by_name: Any) -> Any:
        plain = out is None and where is True and not by_name and len(arrays) == len(self.inputs)
        if plain and self._unchecked is not None:
            for array, kind in zip(arrays, self.kinds, strict=False):
                if type(array) is not _ARRAY or array.dtype is not kind or array.size >= _MANY:
                    break
            else:
                # The checks below take as long as a call with few elements. An error is explained there. A context
                # manager in place of try would take a third of such a call.
                try:
                    return self._unchecked(*arrays)
                except (TypeError, ValueError, MemoryError):
                    pass
        if by_name or len(arrays) != len(self.inputs):
            arrays = in_order(self.inputs, arrays, by_name)
        try:
            for array, kind in zip(arrays, self.kinds, strict=False):
                if type(array) is np.ndarray or type(array) is self._scalar:
                    found = array.dtype
                else:
                    found = _FLOAT64 if type(array) is float else None
                if found is not kind:
                    if not PLAIN.issuperset(map(type, arrays)):
                        exchanged = self._exchanged(arrays, out, where)
                        if exchanged is not None:
                            return exchanged[0]
                    arrays = tuple(
                        [refuse_masked(self.inputs[k], self._admit(k, a)) for k, a in enumerate(arrays)]
                    )
                    break
            if self._guards:
                self._check_values(arrays)
            for k, symbol in self._symmetric:
                check_symmetric(symbol, arrays[k])
            refuse_where(where)
            if out is not None:
                arrays = copy_shared(arrays, as_tuple(out))
            if self.threads > 1:
                found = self._in_threads(arrays, out)
                if found is not None:
                    return found
            call = self._ufunc or self._call_plainly
            if out is None:
                outputs = self._outputs_from_pool(arrays)
                return call(*arrays) if outputs is None else _scalars(call(*arrays, out=outputs))
            return call(*arrays, out=out)
        except (TypeError, ValueError, MemoryError) as error:
            exchanged = None if out is None else self._exchanged(arrays, out, where)
            if exchanged is not None:
                return exchanged[0]
            raise self._explain(error, arrays, out) from error

    def native(self) -> Native:
        loop = self._loop
        return Native(
            loop.batch,
            loop.plan,
            told=True,
            stopped=loop.stopped,
            sizes=self._core,
            axes=self._found.axes,
            arrays=self._code.arrays,
            computed=self._code.computed,
            guards=self._guards,
            symmetric=tuple(k for k, _ in self._symmetric),
        )

    @property
    def _declared(self) -> Signature:
        return self._found

    # Checks

    def _check_values(self, arrays: Sequence[Any]) -> None:
        sizes = self._shapes.fit(arrays).sizes
        check_lengths(self._guards.lengths, sizes)
        check_filled(self._guards.filled, sizes)
        for k in self._guards.bounded:
            check_domain(self.symbols[k], arrays[k], sizes)
        values = dict(zip(self.symbols, arrays, strict=True))
        computed: list[Position] = []
        for position in self._guards.positions:
            if position.index.op is SYMBOL or position.index.is_number():
                check_position(position, values.get(position.index), sizes)
            else:
                computed.append(position)
        if not computed:
            return
        # Compiled code reads 0 at a position out of range; the check of that position comes before the checks of all
        # positions that are computed from it.
        if self._indices is None:
            distinct = list(dict.fromkeys(p.index for p in computed))
            self._indices = self._compile(distinct, symbols_for(distinct, self.symbols))
        kernel = self._indices
        call = kernel._ufunc or kernel._call_plainly
        found = as_tuple(call(*(values[s] for s in kernel.symbols)))
        values.update(zip(kernel.outputs, found, strict=True))
        for position in computed:
            check_position(position, values[position.index], sizes)

    def _explain(self, error: Exception, arrays: Sequence[Any], out: Any) -> SymgradError:
        """Translate an error of NumPy to one that names the inputs of the formula."""
        try:
            fit = self._shapes.fit(arrays)
            check_arrays(self._code.arrays, fit.sizes)
            check_arrays(self._shapes.of_outputs(fit), {})
            check_products(self._code.computed, fit.sizes)
        except ShapeError as found:
            return found
        if isinstance(error, MemoryError):
            return self._out_of_memory(fit, arrays)
        for k, target in enumerate(as_tuple(out)[: len(self.outputs)]):
            if not isinstance(target, np.ndarray):
                continue
            shape, wanted = np.shape(cast("Any", target)), self._shapes.of_outputs(fit)[k]
            core = wanted[len(fit.batch) :]
            if shape[max(len(shape) - len(core), 0) :] != core:
                return ShapeError(
                    f"out has shape {shape}, and output {k} has shape {wanted}",
                    expected="an array of the output's shape",
                )
        if isinstance(error, ValueError) and "read-only" not in str(error):
            return ShapeError(f"the kernel cannot be called with these arguments: {error}")
        kinds = ", ".join(str(kind) for kind in self.kinds[len(self.inputs) :])
        return ArrayTypeError(
            f"the kernel cannot be called with these arguments: {error}",
            expected=f"out: {len(self.outputs)} writable arrays ({kinds})",
        )

    def _out_of_memory(self, fit: Fit, arrays: Sequence[Any]) -> SymgradError:
        nodes, shapes = (*self.symbols, *self.outputs), [*fit.shapes, *self._shapes.of_outputs(fit)]
        needed = 0
        for k, (node, shape, kind) in enumerate(zip(nodes, shapes, self.kinds, strict=True)):
            if k >= len(arrays):
                needed += math.prod(shape) * kind.itemsize
            elif self._code.read[k] and not np.asarray(arrays[k]).flags.c_contiguous:
                # Every entry of the batch is copied.
                needed += math.prod(shape[len(shape) - len(node.shape) :]) * kind.itemsize
        try:
            return out_of_memory(f"a call of kernel '{self.name}'", needed + self.scratch_bytes(**fit.sizes))
        except OutOfMemoryError as found:
            return found

    def _outputs_from_pool(self, arrays: Sequence[Any]) -> tuple[np.ndarray, ...] | None:
        """Return arrays of the pool for large outputs of large inputs, else None."""
        if not any(type(a) is np.ndarray and a.size >= _MANY for a in arrays):
            return None
        if self._ufunc is None or not all(type(a) is np.ndarray or np.isscalar(a) for a in arrays):
            return None
        return self._spares.arrays(self._shapes.of_outputs(self._shapes.fit(arrays)))

    # Calls in threads, and without a ufunc

    def _in_threads(self, arrays: Sequence[Any], out: Any) -> Any:
        """Call the ufunc on pieces of a large batch; None if the whole call is better."""
        fit = self._shapes.fit(arrays)
        batch, shapes = fit.batch, self._shapes.of_outputs(fit)
        amount = max([*map(np.size, arrays), *map(math.prod, shapes)])
        if max(batch, default=1) == 1 or 0 in batch or amount < self._large:
            return None
        kinds = self.kinds[len(arrays) :]
        outs = (None,) * len(kinds) if out is None else as_tuple(out)
        results = targets(arrays, outs, shapes, kinds)
        if results is None:
            return None
        ranks = [len(node.shape) for node in (*self.symbols, *self.outputs)]
        assert self._ufunc is not None  # `_large` is infinite without a ufunc
        in_pieces(self._ufunc, arrays, results, batch, ranks, self.threads)
        return results[0] if len(results) == 1 else results

    def _call_plainly(self, *arrays: Any, out: Any = None) -> Any:
        nodes = (*self.symbols, *self.outputs)
        return call_batch(self._loop, self._shapes, self._core, nodes, self.kinds, arrays, out)


def _scalars(found: np.ndarray | tuple[np.ndarray, ...]) -> Any:
    """Return results as ufuncs do: a result without axes becomes a scalar."""
    if isinstance(found, tuple):
        return tuple([a if a.ndim else a[()] for a in found])
    return found if found.ndim else found[()]


def symbols_for(outputs: Sequence[Node], symbols: Sequence[Node]) -> list[Node]:
    """Return the symbols of the outputs: those that the outputs read, and arrays whose shapes give the sizes."""
    return [s for s in symbols if s.shape or s in set(symbols_of(outputs))]
