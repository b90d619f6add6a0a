"""Kernels of elementwise programs: NumPy ufuncs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from itertools import repeat
from typing import Any, NamedTuple, final

import numpy as np

from symgrad.compiler.kernels.calls.direct import direct_call
from symgrad.compiler.kernels.calls.guards import has_ends
from symgrad.compiler.kernels.calls.native import Native
from symgrad.compiler.kernels.calls.numbers import number_call
from symgrad.compiler.kernels.calls.output_pool import OutputPool
from symgrad.compiler.kernels.calls.plain import call_elements, fresh_outputs, loop_call
from symgrad.compiler.kernels.calls.team import call_in_team
from symgrad.compiler.kernels.calls.threads import (
    common_shape,
    in_pieces,
    piece,
    targets,
    work_of,
    worthwhile,
)
from symgrad.compiler.kernels.kernel import Forms, Kernel, KernelOptions, as_tuple
from symgrad.compiler.kernels.signature import Signature, signature_of
from symgrad.compiler.kernels.ufunc import MAX_ARGS, ufunc_from_loop
from symgrad.compiler.llvm.call_stubs.point_functions import POINT, PointFunctions
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.ir.bounds import check_arrays, out_of_memory
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ir.values.exchange import PLAIN
from symgrad.ir.values.inputs import check_domain, check_shapes, check_whole, in_order
from symgrad.support.errors import ArrayTypeError, ShapeError, SymgradError
from symgrad.support.logs import info
from symgrad.support.progress import reports_progress

_FLOAT64 = np.dtype(np.float64)
_OF_NUMBERS = frozenset((_FLOAT64, np.dtype(bool)))
_ARRAY = np.ndarray
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
class ElementwiseKernel(Kernel):
    """The kernel of an elementwise program: each element of the results depends only on the same element of the inputs.

    Attributes:
        measure: how much the program computes.
    """

    __slots__ = (
        "_bounded",
        "_called",
        "_code",
        "_cut",
        "_cut_from",
        "_declined",
        "_direct",
        "_integers",
        "_large",
        "_left",
        "_numbers",
        "_numbers_left",
        "_plain",
        "_quick",
        "_settled",
        "_shaped",
        "_spares",
        "_unasked",
        "measure",
    )

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
        super().__init__(outputs, inputs, kinds, code.real, options, fusable)
        name, threads = self.name, self.threads
        self._shaped = any(node.shape for node in inputs)
        integers = [node if node.dtype == "int" else None for node in inputs]
        self._integers = tuple(integers) if any(integers) else ()
        self._bounded = [k for k, s in enumerate(inputs) if s.dtype == "int" and has_ends(s)]
        self._code = code
        # NumPy makes no ufunc without inputs, and none with more than MAX_ARGS arguments.
        if inputs and len(self.kinds) <= MAX_ARGS:
            doc = f"{name}({', '.join(self.inputs)})"
            self._ufunc = ufunc_from_loop(
                code.loop, code.cell, kinds, len(inputs), name=name, doc=doc, code=code
            )
        self.measure = measure or measured(self.outputs, inputs)
        work = self.measure.work
        self._large = worthwhile(work, len(kinds)) if threads > 1 and self._ufunc else math.inf
        # Store no bound method in an attribute: the reference cycle would keep the machine code in memory until the
        # garbage collector runs.
        self._plain = bool(inputs) and not self._shaped and not self._integers
        self._direct: Callable[..., Any] | None = None
        self._cut: Callable[..., Any] | None = None
        self._cut_from = 2 * piece(work) if threads > 1 else math.inf
        self._settled: Callable[..., Any] | None = None
        self._called = self._declined = False
        # Calls with numbers first go through a wrapper of the inner loop; after many calls they get code for one point.
        self._numbers: Callable[..., Any] | None = None
        self._numbers_left = 0
        self._quick, self._left, self._unasked = code.quick, code.left, _ASK_EVERY
        self._spares = OutputPool(self.kinds[len(inputs) :])

    @property
    def llvm_ir(self) -> str:
        return self._code.module.ir

    @property
    def needs(self) -> tuple[str, ...]:
        return self._code.module.needs

    def __call__(self, /, *arrays: Any, out: Any = None, where: Any = True, **by_name: Any) -> Any:
        try:
            if by_name:
                arrays = in_order(self.inputs, arrays, by_name)
            numbers = self._numbers  # this path has few checks: each check takes a tenth of the call
            if (
                numbers is not None
                and out is None
                and where is True
                and arrays
                and type(arrays[0]) is not _ARRAY
            ):
                if self._numbers_left:
                    self._count()
                found = numbers(*arrays)
                if found is not None:
                    return found
            settled = self._settled if where is True else None
            if settled is not None:
                found = self._into_new(settled, arrays) if out is None else settled(arrays, out)
                if found is not None:
                    return found
            if len(arrays) != len(self.inputs):
                arrays = in_order(self.inputs, arrays, by_name)
            if self._quick and self._pays(arrays):
                self._improve()
            if self._plain and settled is None and where is True:
                found = self._directly(arrays, out)
                if found is not None:
                    return found
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
                    arrays = tuple([self._admit(k, a) for k, a in enumerate(arrays)])
                    break
            for node, array in zip(self._integers, arrays, strict=True) if self._integers else ():
                if node is not None:
                    check_whole(node, array)
            sizes = check_shapes(self.symbols, arrays) if self._shaped else {}
            for k in self._bounded:
                check_domain(self.symbols[k], arrays[k], sizes)
            try:
                # Code without branches computes both sides of a `where`, so the floating-point flags that NumPy
                # would report say nothing about the result.
                with np.errstate(all="ignore"):
                    if out is None and where is not True:
                        out = fresh_outputs(self.kinds, arrays, where)
                    if self.threads > 1:
                        found = self._in_threads(arrays, out, where)
                        if found is not None:
                            return found
                    call = self._ufunc or self._call_plainly
                    return call(*arrays) if out is None else call(*arrays, out=out, where=where)
            except (TypeError, ValueError) as error:
                exchanged = None if out is None else self._exchanged(arrays, out, where)
                if exchanged is not None:
                    return exchanged[0]
                raise self._explain(error, arrays, out) from error
        except MemoryError as error:
            raise self._explain(error, arrays, out) from error

    @property
    def _declared(self) -> Signature:
        return signature_of([()] * len(self.inputs), [()] * (len(self.kinds) - len(self.inputs)))

    def _explain(self, error: Exception, arrays: tuple[Any, ...], out: Any) -> SymgradError:
        """Translate an error of NumPy to one that names the inputs of the formula."""
        large = self._too_large(arrays, memory=isinstance(error, MemoryError))
        if large is not None:
            return large
        outs = as_tuple(out)
        named = list(zip(self.inputs, arrays, strict=True))
        named += [("out", array) for array in outs if isinstance(array, np.ndarray)]
        text = ", ".join(f"{name} {np.shape(array)}" for name, array in named)
        if any(isinstance(array, np.ndarray) and not array.flags.writeable for array in outs):
            return ArrayTypeError(
                "an array in out= may only be read",
                expected="arrays that may be written to",
                cure="pass a copy",
            )
        if isinstance(error, ValueError):
            return ShapeError(
                f"the shapes do not broadcast: {text}",
                expected="shapes that broadcast as in NumPy",
                cure="give arrays of one shape, or a number for each input that is the same everywhere",
            )
        kinds = ", ".join(str(kind) for kind in self.kinds[len(self.inputs) :])
        return ArrayTypeError(
            f"the kernel cannot be called with these arguments: {error}",
            expected=f"out: {len(self.kinds) - len(arrays)} arrays ({kinds})",
        )

    def _too_large(self, arrays: tuple[Any, ...], *, memory: bool) -> SymgradError | None:
        """Return the error for results that are too large, or larger than the free memory."""
        try:
            shape = common_shape(arrays)
            check_arrays([shape], {})
        except ShapeError as found:
            return found
        except ValueError:
            return None
        kinds = self.kinds[len(arrays) :]
        needed = math.prod(shape) * sum(kind.itemsize for kind in kinds)
        return out_of_memory(f"{len(kinds)} results of shape {shape}", needed) if memory else None

    def native(self) -> Native:
        if self._quick:
            self._improve()
        return Native(
            self._code.loop,
            self._code.cell,
            told=False,
            stopped=0,
            sizes=(),
            axes=((),) * len(self.kinds),
        )

    # Quick code and better code

    @property
    def ufunc(self) -> np.ufunc:
        # Calls of the bare ufunc bypass this object, which then cannot switch to better code; so it switches now.
        if self._ufunc is not None and self._quick:
            self._improve()
        return super().ufunc

    @property
    def quick(self) -> bool:
        return self._quick

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
        with reports_progress("kernel", "compiling better code"):
            self._code.improve()
        info("kernel", "'%s' has optimised code from now on: enough elements pay for it", self.__name__)
        self._quick = False
        self._settle()

    # Direct calls (without the ufunc), calls in several threads, and calls of kernels that have no ufunc

    def _directly(self, arrays: tuple[Any, ...], out: Any) -> Any:
        """Call without the ufunc, with whole arrays of the same shape.

        Return None if the arguments are not of this kind.
        """
        if self.threads > 1 and self._much(arrays):
            call = self._cut or self._first_cut
        elif self._called:
            call = self._direct or self._first
        else:  # a first call, perhaps the only one, does not wait for the code of direct calls
            self._called = True
            return None
        return self._into_new(call, arrays) if out is None else call(arrays, out)

    def _into_new(self, call: Callable[..., Any], arrays: tuple[Any, ...]) -> Any:
        """Make a direct call with new outputs."""
        for array in arrays:
            if type(array) is np.ndarray and array.ndim:
                if self._declined and not all(map(_plain, arrays, self.kinds, repeat(array.shape))):
                    return None
                found = call(arrays, self._spares.alike(array.shape, array.size), True)
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
            self._numbers_left = math.ceil(self.measure.equations * _EQUATION_S / _NUMBER_S)
            self._numbers = self._numbers_by(self._code.loop, self._code.cell)
        return None if self._numbers is None else self._numbers(*arrays)

    def _count(self) -> None:
        """Count a call with numbers; after many, make code for one point, which such calls run from then on."""
        self._numbers_left -= 1
        if not self._numbers_left:
            self._numbers = self._numbers_by(self._code.point().address(POINT), 0)

    def _numbers_by(self, loop: int, passed: int) -> Callable[..., Any] | None:
        if not self._plain or not _OF_NUMBERS.issuperset(self.kinds):
            return None
        nin, code = len(self.inputs), self._code
        return number_call(loop, passed, self.kinds, nin, name=self.name, code=code, result=np.float64)

    def _point(self) -> PointFunctions:
        return self._code.point()

    def _first(self, arrays: tuple[Any, ...], *outs: Any) -> Any:
        """Call directly for the first time, with the function that is made for it."""
        made = self._direct_function()
        self._plain = made is not None
        return None if made is None else made(arrays, *outs)

    def _direct_function(self) -> Callable[..., Any] | None:
        """Return the function for direct calls, made at the first of them."""
        if self._direct is None:
            code, nin = self._code, len(self.inputs)
            self._direct = direct_call(code.loop, code.cell, self.kinds, nin)
            self._settle()
        return self._direct

    def _settle(self) -> None:
        """As soon as nothing is left to decide, let `__call__` use the function for direct calls immediately."""
        decided = self._called and not self._quick and self.threads == 1
        self._settled = self._direct if decided else None

    def _first_cut(self, arrays: tuple[Any, ...], *outs: Any) -> Any:
        """Build the function for direct calls in several threads, store it, and call it."""
        least = int(self._cut_from) // 2
        made = call_in_team(
            self._code.loop, self._code.cell, self.kinds, len(arrays), least=least, threads=self.threads
        )
        if made is None:
            self._plain = False
            return None
        self._cut = made
        return made(arrays, *outs)

    def _much(self, arrays: tuple[Any, ...]) -> bool:
        """Tell whether a call is worth cutting, by its first array: in a direct call all arrays have the same shape."""
        for array in arrays:
            if type(array) is np.ndarray:
                return array.size >= self._cut_from
        return False

    def _in_threads(self, arrays: tuple[Any, ...], out: Any, where: Any) -> Any:
        """Call the ufunc on pieces of large arrays; return None if the ufunc should be called on whole arrays."""
        shape = common_shape((*arrays, where))
        if math.prod(shape) < self._large:
            return None
        kinds = self.kinds[len(arrays) :]
        outs = (None,) * len(kinds) if out is None else as_tuple(out)
        large = [a for a in arrays if np.ndim(a) > 1]
        order = "F" if all(np.asarray(a).flags.fnc for a in large) else "C"
        shapes = [shape] * len(kinds)
        made = targets((*arrays, where), outs, shapes, kinds, order=order, new=where is True)
        if made is None:
            return None
        assert self._ufunc is not None  # without a ufunc `_large` is infinite
        in_pieces(self._ufunc, arrays, made, shape, [0] * len(self.kinds), self.threads, where)
        return made[0] if len(made) == 1 else made

    def _call_plainly(self, *arrays: Any, out: Any = None, where: Any = True) -> Any:
        call = self._direct_function() or loop_call(self._code.loop, self._code.cell)
        return call_elements(call, self.kinds, arrays, out, where)
