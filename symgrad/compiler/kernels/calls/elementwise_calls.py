"""Calls of elementwise programs: the shortcuts past NumPy, then the ufunc, in one thread or in several.

A kernel has three shortcuts; each declines (returns None) what it does not know, without an effect:

- numbers: a native function reads numbers and returns numbers (`numbers.py`); after many calls it gets code for one
  point;
- arrays: a native function reads arrays of the same shape (`direct.py`), in a team of threads if there are several
  (`team.py`);
- the results of such a call are arrays of earlier calls that nothing refers to (`output_pool.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.compiler.kernels.calls.called import Called, as_tuple
from symgrad.compiler.kernels.calls.output_pool import OutputPool
from symgrad.compiler.kernels.calls.plain import call_plainly, common_shape, fresh_outputs, loop_function
from symgrad.compiler.kernels.ufunc import make_ufunc
from symgrad.ir.bounds import check_arrays, out_of_memory
from symgrad.ir.values.inputs import check_domain, check_shapes, check_whole, in_order
from symgrad.support.errors import ShapeError, SymgradError

if TYPE_CHECKING:
    from symgrad.compiler.llvm.call_stubs.point_functions import PointFunctions
    from symgrad.compiler.llvm.elementwise.code import ElementwiseCode

_ARRAY = np.ndarray
_FLOAT64 = np.dtype(np.float64)
_OF_NUMBERS = frozenset((_FLOAT64, np.dtype(bool)))
_ASK_EVERY = 16
"""Whether better code pays is checked once in this many calls of quick code, since a check takes a tenth of the time of
a small call."""

_EQUATION_S = 0.2e-3
"""Seconds that one equation takes to compile (`python -m benchmarks.run --only chain` measures it)."""

_NUMBER_S = 0.2e-6
"""Seconds that a call with numbers saves if it runs code for one point."""


def _plain(value: Any, kind: np.dtype[Any], shape: tuple[int, ...]) -> bool:
    """Tell whether a value may be an input of a direct call."""
    if type(value) is np.ndarray:
        placed = value.flags.c_contiguous or value.ndim == 1
        return placed and value.dtype is kind and value.shape == shape and value.flags.aligned
    return kind is _FLOAT64 and (type(value) is float or type(value) is np.float64)


class ElementwiseCalls(Called):
    """The calls of a kernel of an elementwise program."""

    __slots__ = ()

    _STATE = (
        "_bounded",
        "_called",
        "_code",
        "_declined",
        "_direct",
        "_equations",
        "_integers",
        "_large",
        "_left",
        "_numbers",
        "_numbers_left",
        "_piece",
        "_plain",
        "_quick",
        "_shaped",
        "_spares",
        "_unasked",
    )
    """The slots of a class of such kernels."""

    _code: ElementwiseCode

    def _prepare(
        self, code: ElementwiseCode, bounded: Sequence[int], equations: int, *, piece: float, large: float
    ) -> None:
        """Make the ufunc, and the state of calls.

        Args:
            code: the machine code.
            bounded: the indices of the inputs whose domains calls check.
            equations: the number of equations; 0 if code for one point exists.
            piece: the least number of elements that a thread of a team takes.
            large: the number of elements from which a call of the ufunc is cut for threads.
        """
        nin = len(self.inputs)
        self._code = code
        self._ufunc = make_ufunc(self.name, self.inputs, self.kinds, code.loop, code.cell, code)
        self._shaped = any(node.shape for node in self.symbols)
        integers = [node if node.dtype == "int" else None for node in self.symbols]
        self._integers = tuple(integers) if any(integers) else ()
        self._bounded = bounded
        self._large = large if self._ufunc else math.inf
        # Direct calls: whether they are possible, whether there was a first call, and the function for arrays.
        self._plain = bool(nin) and not self._shaped and not self._integers
        self._called = False
        self._direct: Callable[..., Any] | None = None
        self._declined = False
        self._piece = piece
        self._spares = OutputPool(self.kinds[nin:])
        # Calls with numbers first go through a wrapper of the inner loop; after many calls they get code for one point.
        self._equations = equations
        self._numbers: Callable[..., Any] | None = None
        self._numbers_left = 0
        self._quick, self._left, self._unasked = code.quick, math.inf, 0

    def __call__(self, /, *arrays: Any, out: Any = None, where: Any = True, **by_name: Any) -> Any:
        try:
            if by_name:
                arrays = in_order(self.inputs, arrays, by_name)
            if where is True:  # these ways have few checks: each check takes a tenth of a call with numbers
                numbers = self._numbers
                if numbers is not None and out is None and arrays and type(arrays[0]) is not _ARRAY:
                    if self._numbers_left:
                        self._count()
                    found = numbers(*arrays)
                    if found is not None:
                        return found
                if self._quick and self._pays(arrays):
                    self._improve()
                if self._direct is not None:
                    found = self._into_new(arrays) if out is None else self._direct(arrays, out)
                    if found is not None:
                        return found
                elif self._plain:
                    found = self._first_calls(arrays, out)
                    if found is not None:
                        return found
            elif self._quick and self._pays(arrays):
                self._improve()
        except MemoryError as error:
            raise self._explain(error, arrays, out) from error
        return self._call(arrays, out, where)

    __call__.__doc__ = Called.__call__.__doc__

    # The shortcuts

    def _first_calls(self, arrays: tuple[Any, ...], out: Any) -> Any:
        """Make the function that calls like this one go through; a first call, perhaps the only one, does not wait."""
        if not self._called:
            self._called = True
            return None
        if out is None and not any(type(array) is _ARRAY and array.ndim for array in arrays):
            return self._of_numbers(arrays)
        direct = self._direct_function()
        if direct is None:
            return None
        return self._into_new(arrays) if out is None else direct(arrays, out)

    def _direct_function(self) -> Callable[..., Any] | None:
        """Return the function for direct calls, made on first use; None if there are none."""
        if self._direct is None and self._plain:
            code, nin = self._code, len(self.inputs)
            # A first call, perhaps the only one, does not wait for this module; and so below.
            from symgrad.compiler.kernels.calls.team import call_directly

            self._direct = call_directly(
                code.loop, code.cell, self.kinds, nin, threads=self.threads, piece=self._piece
            )
            self._plain = self._direct is not None
        return self._direct

    def _into_new(self, arrays: tuple[Any, ...]) -> Any:
        """Make a direct call with new outputs."""
        for array in arrays:
            if type(array) is _ARRAY and array.ndim:
                if self._declined and not all(map(_plain, arrays, self.kinds, repeat(array.shape))):
                    return None
                assert self._direct is not None
                found = self._direct(arrays, self._spares.alike(array.shape, array.size), True)
                if found is None:
                    # An input is not plain, or a caller changed the shape or layout of an earlier result before
                    # dropping it.
                    self._declined = True
                    self._spares.clear()
                return found
        return self._of_numbers(arrays)

    def _of_numbers(self, arrays: tuple[Any, ...]) -> Any:
        """Call with numbers. The first call also makes the function for them, a wrapper of the current inner loop."""
        if self._numbers is None and not self._numbers_left:
            self._numbers_left = math.ceil(self._equations * _EQUATION_S / _NUMBER_S)
            self._numbers = self._numbers_by(self._code.loop, self._code.cell)
        return None if self._numbers is None else self._numbers(*arrays)

    def _count(self) -> None:
        """Count a call with numbers; after many, make code for one point, which such calls run from then on."""
        self._numbers_left -= 1
        if not self._numbers_left:
            from symgrad.compiler.llvm.call_stubs.point_functions import POINT  # for start-up time

            self._numbers = self._numbers_by(self._code.point().address(POINT), 0)

    def _numbers_by(self, loop: int, passed: int) -> Callable[..., Any] | None:
        if not self._plain or not _OF_NUMBERS.issuperset(self.kinds):
            return None
        from symgrad.compiler.kernels.calls.numbers import number_call  # for start-up time

        nin, code = len(self.inputs), self._code
        return number_call(loop, passed, self.kinds, nin, name=self.name, code=code, result=np.float64)

    def _point(self) -> PointFunctions:
        return self._code.point()

    # Quick code and better code

    def _pays(self, arrays: tuple[Any, ...]) -> bool:
        """Tell whether to switch to better code: the kernel has computed so many elements, or this call has so many."""
        self._unasked -= 1
        if self._unasked <= 0:
            self._unasked, self._left = _ASK_EVERY, self._code.left
        for array in arrays:
            if type(array) is np.ndarray:
                return array.size >= self._left
        return self._left <= 0

    def _improve(self) -> None:
        self._code.improve()
        self._quick = False

    # Calls through NumPy

    def _check(self, arrays: Sequence[Any], where: Any) -> None:
        del where
        for node, array in zip(self._integers, arrays, strict=True) if self._integers else ():
            if node is not None:
                check_whole(node, array)
        sizes = check_shapes(self.symbols, arrays) if self._shaped else {}
        for k in self._bounded:
            check_domain(self.symbols[k], arrays[k], sizes)

    def _compute(self, arrays: tuple[Any, ...], out: Any, where: Any) -> Any:
        # Code without branches computes both sides of a `where`, so the floating-point flags that NumPy would report
        # say nothing about the result.
        with np.errstate(all="ignore"):
            if out is None and where is not True:
                out = fresh_outputs(self.kinds, arrays, where)
            if self.threads > 1:
                found = self._in_threads(arrays, out, where)
                if found is not None:
                    return found
            call = self._ufunc or self._call_plainly
            return call(*arrays) if out is None else call(*arrays, out=out, where=where)

    def _in_threads(self, arrays: tuple[Any, ...], out: Any, where: Any) -> Any:
        """Call the ufunc on pieces of large arrays; return None if the ufunc should be called on whole arrays."""
        shape = common_shape((*arrays, where))
        if math.prod(shape) < self._large:
            return None
        from symgrad.compiler.kernels.calls.threads import in_threads  # few kernels have threads

        shapes = [shape] * (len(self.kinds) - len(arrays))
        return in_threads(self._ufunc, arrays, out, shape, self.kinds, shapes, self.threads, where=where)

    def _call_plainly(self, *arrays: Any, out: Any = None, where: Any = True) -> Any:
        shape, code = common_shape(arrays), self._code
        return call_plainly(
            loop_function(code.loop), code.cell, self.kinds, arrays, shape, out=out, where=where
        )

    def _misfit(self, error: Exception, arrays: tuple[Any, ...], out: Any) -> SymgradError | None:
        outs: list[Any] = [array for array in as_tuple(out) if isinstance(array, np.ndarray)]
        try:
            shape = common_shape(arrays)
            check_arrays([shape], {})
        except ShapeError as found:
            return found
        except ValueError:
            pass
        else:
            if isinstance(error, MemoryError):
                kinds = self.kinds[len(arrays) :]
                needed = math.prod(shape) * sum(kind.itemsize for kind in kinds)
                return out_of_memory(f"{len(kinds)} results of shape {shape}", needed)
        if not isinstance(error, ValueError) or not all(array.flags.writeable for array in outs):
            return None
        named = [*zip(self.inputs, arrays, strict=True), *(("out", array) for array in outs)]
        return ShapeError(
            f"the shapes do not broadcast: {', '.join(f'{name} {np.shape(array)}' for name, array in named)}",
            expected="shapes that broadcast as in NumPy",
            cure="give arrays of one shape, or a number for each input that is the same everywhere",
        )
