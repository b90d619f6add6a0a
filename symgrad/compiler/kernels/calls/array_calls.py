"""Calls of array programs: generalised ufuncs, after checks of sizes and positions.

There is one shortcut: if nothing is to be checked, arrays of the kernel's dtypes go straight to the ufunc. The checks
would take as long as a call with few elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.kernels.calls.called import Called, as_tuple
from symgrad.compiler.kernels.calls.guards import Guards, Position, check_filled, check_position
from symgrad.compiler.kernels.calls.output_pool import OutputPool
from symgrad.compiler.kernels.calls.plain import call_plainly, copy_shared, refuse_masked, refuse_where
from symgrad.compiler.kernels.shapes import Fit, Shapes
from symgrad.compiler.kernels.signature import signature_of
from symgrad.compiler.kernels.ufunc import Core, make_ufunc
from symgrad.compiler.llvm.arrays.cached_code import RunnableArrays
from symgrad.compiler.llvm.entries.entry_code import EntryCode
from symgrad.ir.bounds import LARGEST, check_arrays, check_lengths, check_products, out_of_memory
from symgrad.ir.graph import Node
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.values.inputs import check_domain, check_symmetric, in_order
from symgrad.support.errors import OutOfMemoryError, ShapeError, SymgradError

_ARRAY = np.ndarray
_MANY = 2**13
"""If an input has more elements than this, outputs may be so large that a pool of outputs pays."""


class ArrayCalls(Called):
    """The calls of a kernel of an array program.

    Attributes:
        signature: the shapes of its arguments in NumPy's notation, such as ``(n,5),(5)->()``.
        sizes: the names of sizes, in order of appearance.
    """

    __slots__ = ()

    _STATE = (
        "_code",
        "_declared",
        "_guards",
        "_large",
        "_loop",
        "_shapes",
        "_spares",
        "_symmetric",
        "_unchecked",
        "signature",
        "sizes",
    )
    """The slots of a class of such kernels."""

    def _prepare(
        self, code: RunnableArrays | EntryCode, nodes: Sequence[Node], guards: Guards, large: float
    ) -> None:
        """Make the ufunc, and the state of calls.

        Args:
            code: the machine code.
            nodes: the inputs, then the outputs.
            guards: the checks of every call.
            large: the number of elements from which a call is cut for threads.
        """
        nin = len(self.inputs)
        shapes = [node.shape for node in nodes]
        found = self._declared = signature_of(shapes[:nin], shapes[nin:])
        self._code, self._guards = code, guards
        self.signature, self.sizes = found.text, code.names
        self._loop = code.loop_of(found.sizes, found.axes, [kind.itemsize for kind in self.kinds], nin)
        self._shapes = Shapes(nodes[:nin], nodes[nin:])
        self._symmetric = [(k, s) for k, s in enumerate(self.symbols) if s.declaration.symmetric]
        loop = self._loop
        core = Core(found, loop.process)
        self._ufunc = make_ufunc(self.name, self.inputs, self.kinds, loop.loop, loop.plan, loop, core)
        self._large = large if self._ufunc else math.inf
        checked = guards or self._symmetric or self.threads > 1
        self._unchecked: Callable[..., Any] | None = None if checked else self._ufunc
        self._spares = OutputPool(self.kinds[nin:])

    def __call__(self, /, *arrays: Any, out: Any = None, where: Any = True, **by_name: Any) -> Any:
        plain = out is None and where is True and not by_name and len(arrays) == len(self.inputs)
        if plain and self._unchecked is not None:
            for array, kind in zip(arrays, self.kinds, strict=False):
                if type(array) is not _ARRAY or array.dtype is not kind or array.size >= _MANY:
                    break
            else:
                # An error is explained below. A context manager in place of try would take a third of such a call.
                try:
                    return self._unchecked(*arrays)
                except (TypeError, ValueError, MemoryError):
                    pass
        if by_name:
            arrays = in_order(self.inputs, arrays, by_name)
        return self._call(arrays, out, where)

    __call__.__doc__ = Called.__call__.__doc__

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

    # Checks

    def _admit(self, k: int, value: Any) -> Any:
        return refuse_masked(self.inputs[k], super()._admit(k, value))

    def _check(self, arrays: Sequence[Any], where: Any) -> None:
        if self._guards:
            sizes = self._shapes.fit(arrays).sizes
            check_lengths(self._guards.lengths, sizes)
            check_filled(self._guards.filled, sizes)
            for k in self._guards.bounded:
                check_domain(self.symbols[k], arrays[k], sizes)
            values = dict(zip(self.symbols, arrays, strict=True))
            computed: list[Position] = []
            for position in self._guards.positions:
                if position.index in values or position.index.is_number():
                    check_position(position, values.get(position.index), sizes)
                else:
                    computed.append(position)
            # Compiled code reads 0 at a position out of range; the check of that position comes before the checks of
            # all positions that are computed from it.
            found = (
                self._positions(list(dict.fromkeys(p.index for p in computed)), values) if computed else {}
            )
            for position in computed:
                check_position(position, found[position.index], sizes)
        for k, symbol in self._symmetric:
            check_symmetric(symbol, arrays[k])
        refuse_where(where)

    def _positions(self, indices: Sequence[Node], values: dict[Node, Any]) -> dict[Node, Any]:
        """Return the values of positions that are computed from inputs; without formulas there are none."""
        del indices, values
        return {}

    def _misfit(self, error: Exception, arrays: tuple[Any, ...], out: Any) -> SymgradError | None:
        try:
            fit = self._shapes.fit(arrays)
            shapes = self._shapes.of_outputs(fit)
            check_arrays(self._code.arrays, fit.sizes)
            check_arrays(shapes, {})
            check_products(self._code.computed, fit.sizes)
        except ShapeError as found:
            return found
        if isinstance(error, MemoryError):
            return self._out_of_memory(fit, arrays)
        target: Any
        for k, (target, wanted) in enumerate(zip(as_tuple(out), shapes, strict=False)):
            if type(target) is not _ARRAY:
                continue
            shape, core = target.shape, wanted[len(fit.batch) :]
            if shape[max(len(shape) - len(core), 0) :] != core:
                return ShapeError(
                    f"out has shape {shape}, and output {k} has shape {wanted}",
                    expected="an array of the output's shape",
                )
        if isinstance(error, ValueError) and "read-only" not in str(error):
            return ShapeError(f"the kernel cannot be called with these arguments: {error}")
        return None

    def _out_of_memory(self, fit: Fit, arrays: Sequence[Any]) -> SymgradError:
        needed, nin = 0, len(arrays)
        for k, (shape, kind) in enumerate(
            zip((*fit.shapes, *self._shapes.of_outputs(fit)), self.kinds, strict=True)
        ):
            if k >= nin:
                needed += math.prod(shape) * kind.itemsize
            elif self._code.read[k] and not np.asarray(arrays[k]).flags.c_contiguous:
                # Every entry of the batch is copied.
                needed += math.prod(shape[len(shape) - len(self.symbols[k].shape) :]) * kind.itemsize
        try:
            return out_of_memory(f"a call of kernel '{self.name}'", needed + self.scratch_bytes(**fit.sizes))
        except OutOfMemoryError as found:
            return found

    # Calls through NumPy, and without a ufunc

    def _compute(self, arrays: tuple[Any, ...], out: Any, where: Any) -> Any:
        del where  # it is True
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

    def _outputs_from_pool(self, arrays: Sequence[Any]) -> tuple[np.ndarray, ...] | None:
        """Return arrays of the pool for large outputs of large inputs, else None."""
        if not any(type(a) is np.ndarray and a.size >= _MANY for a in arrays):
            return None
        if self._ufunc is None or not all(type(a) is np.ndarray or np.isscalar(a) for a in arrays):
            return None
        return self._spares.arrays(self._shapes.of_outputs(self._shapes.fit(arrays)))

    def _in_threads(self, arrays: Sequence[Any], out: Any) -> Any:
        """Call the ufunc on pieces of a large batch; None if the whole call is better."""
        from symgrad.compiler.kernels.calls.threads import in_threads  # few kernels have threads

        fit = self._shapes.fit(arrays)
        batch, shapes = fit.batch, self._shapes.of_outputs(fit)
        amount = max([*map(np.size, arrays), *map(math.prod, shapes)])
        if max(batch, default=1) == 1 or 0 in batch or amount < self._large:
            return None
        ranks = list(map(len, self._declared.axes))
        return in_threads(self._ufunc, arrays, out, batch, self.kinds, shapes, self.threads, ranks=ranks)

    def _call_plainly(self, *arrays: Any, out: Any = None) -> Any:
        fit, loop = self._shapes.fit(arrays), self._loop
        core = [evaluate_size(size, fit.sizes) for size in self._declared.sizes]
        shapes = [tuple(core[axis] for axis in axes) for axes in self._declared.axes]
        return call_plainly(
            loop.once, loop.plan, self.kinds, arrays, fit.batch, shapes, core, out=out, refusal=loop.refusal
        )


def _scalars(found: np.ndarray | tuple[np.ndarray, ...]) -> Any:
    """Return results as ufuncs do: a result without axes becomes a scalar."""
    if isinstance(found, tuple):
        return tuple([a if a.ndim else a[()] for a in found])
    return found if found.ndim else found[()]
