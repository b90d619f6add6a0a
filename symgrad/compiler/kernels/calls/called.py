"""`Called`: what all calls have in common, of kernels that are compiled here and of kernels from files.

A call first tries the shortcuts of its kind of program (`elementwise_calls.py`, `array_calls.py`). If they decline, its
arguments are converted and checked, NumPy's machinery computes, and errors name the inputs of the formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from symgrad.compiler.kernels.calls.input_dtypes import admitted
from symgrad.compiler.kernels.ufunc import MAX_ARGS, ufuncs_are_known
from symgrad.ir.values.exchange import DASK, PLAIN, as_array, called_with_arrays, library_of
from symgrad.ir.values.inputs import in_order
from symgrad.support.errors import ArrayTypeError, KernelError, SymgradError

if TYPE_CHECKING:
    from symgrad.compiler.llvm.text.types import FloatType
    from symgrad.ir.graph import Node

_FLOAT64 = np.dtype(np.float64)


class Called(ABC):
    """A callable with the inputs and outputs of a kernel.

    Args:
        name: its name.
        symbols: the inputs.
        kinds: the dtypes of the inputs, then of the outputs.
        real: the format of its numbers.
        threads: the number of threads of a call with large arrays.
    """

    __slots__ = (
        "__weakref__",
        "_real",
        "_scalar",
        "_ufunc",
        "dtype",
        "inputs",
        "kinds",
        "name",
        "symbols",
        "threads",
    )

    def __init__(
        self, name: str, symbols: Sequence[Node], kinds: Sequence[Any], real: FloatType, threads: int
    ) -> None:
        self.name, self.threads = name, threads
        self.symbols = tuple(symbols)
        self.inputs = tuple(node.name for node in symbols)
        self.kinds = tuple(np.dtype(kind) for kind in kinds)
        self._real = real
        self.dtype = np.dtype(real.numpy)
        self._scalar = self.dtype.type
        self._ufunc: np.ufunc | None = None

    @property
    def ufunc(self) -> np.ufunc:
        """The NumPy ufunc itself; it stays valid after the kernel is freed.

        Raises:
            KernelError: if the kernel has no input, or more arguments than a ufunc can have, or the layout of NumPy's
                ufuncs is unknown.
        """
        if self._ufunc is None:
            if not ufuncs_are_known(of_arrays=True):
                raise KernelError(
                    f"NumPy {np.__version__} has a layout of ufuncs that symgrad does not know",
                    cure="call the kernel itself, which gives the same",
                )
            raise KernelError(
                f"kernel '{self.name}' has {len(self.inputs)} inputs and {len(self.kinds) - len(self.inputs)} outputs, "
                "and so is not a ufunc",
                expected=f"at least one input, and at most {MAX_ARGS} arguments together (NumPy's limit)",
                cure="call the kernel itself, which takes any number, or compile fewer outputs",
            )
        return self._ufunc

    @property
    def __name__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] (that of the class)
        """The kernel's name as a function. Hyphens are replaced, because Dask splits names at them."""
        return self.name.replace("-", "_")

    @abstractmethod
    def __call__(self, /, *arrays: Any, out: Any = None, where: Any = True, **by_name: Any) -> Any:
        """Compute the outputs.

        Args:
            arrays: the inputs in order: numbers, arrays, or values that NumPy converts to arrays. Inputs of an
                elementwise program broadcast. Inputs of an array program have the declared shapes, after the axes of a
                batch. Arrays of other libraries in the memory of the host (DLPack, the array interfaces) are not
                copied.
            out: an array for the only output, or a tuple with an array or None for each; may be an input.
            where: boolean array, for elementwise programs: compute only there. Elsewhere ``out`` keeps its values,
                and new arrays have NaN (or False).
            by_name: inputs by their names.

        Returns:
            The output, or a tuple of the outputs if there are several. As in NumPy, an output is a scalar if all inputs
            are scalars. If one of the arrays is from torch, JAX or TensorFlow, all outputs are arrays of that library,
            scalars included.

        Raises:
            ArrayTypeError: if an input is not numeric, or would lose precision; if it is not in the memory of the
                host, requires grad, or there are arrays of two libraries.
            ComplexInputError: if an input is complex.
            DomainError: if a whole number is outside its declared domain.
            IndexRangeError: if a position is outside its axis.
            MissingInputError: if an input is missing, or there are too many.
            NumberTooLargeError: if a bare number is too large for the kernel's dtype.
            ShapeError: if shapes do not broadcast or are not the declared ones.
            UnsupportedError: for ``where`` with an array program.
        """

    def _call(self, arrays: tuple[Any, ...], out: Any, where: Any) -> Any:
        """Call with any arguments, after all conversions and checks."""
        if len(arrays) != len(self.inputs):
            arrays = in_order(self.inputs, arrays, {})
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
                    arrays = tuple([self._admit(k, a) for k, a in enumerate(arrays)])
                    break
            self._check(arrays, where)
            return self._compute(arrays, out, where)
        except (TypeError, ValueError, MemoryError) as error:
            exchanged = None if out is None else self._exchanged(arrays, out, where)
            if exchanged is not None:
                return exchanged[0]
            raise self._explain(error, arrays, out) from error

    def _admit(self, k: int, value: Any) -> Any:
        """Return input k as a value that the ufunc converts without loss; raise an error if there is none."""
        return admitted(self.symbols[k], self.kinds[k], self._real, value)

    @abstractmethod
    def _check(self, arrays: Sequence[Any], where: Any) -> None:
        """Check shapes and values."""

    @abstractmethod
    def _compute(self, arrays: tuple[Any, ...], out: Any, where: Any) -> Any:
        """Compute the outputs by NumPy's machinery, from values that convert to the dtypes without loss."""

    def _exchanged(self, arrays: Sequence[Any], out: Any, where: Any) -> tuple[Any] | None:
        """Call with arrays of another library, and return the result in a tuple; None if there are no such arrays."""
        library = library_of((*arrays, *as_tuple(out)))
        if library is None:
            return None
        if library is DASK:
            return self._blockwise(arrays) if out is None and where is True else None
        more = {} if where is True else {"where": np.asarray(as_array("where", where))}
        return (called_with_arrays(lambda *a, **b: self(*a, **b, **more), library, self.inputs, arrays, out),)

    def _blockwise(self, arrays: Sequence[Any]) -> tuple[Any] | None:
        """Return the Dask arrays of a call with Dask arrays in a tuple; None leaves them to NumPy."""
        del arrays
        return None

    def _explain(self, error: Exception, arrays: tuple[Any, ...], out: Any) -> SymgradError:
        """Translate an error of NumPy to one that names the inputs of the formula."""
        found = self._misfit(error, arrays, out)
        if found is not None:
            return found
        if any(isinstance(array, np.ndarray) and not array.flags.writeable for array in as_tuple(out)):
            return ArrayTypeError(
                "an array in out= may only be read",
                expected="arrays that may be written to",
                cure="pass a copy",
            )
        kinds = ", ".join(map(str, self.kinds[len(self.inputs) :]))
        return ArrayTypeError(
            f"the kernel cannot be called with these arguments: {error}",
            expected=f"out: {len(self.kinds) - len(self.inputs)} writable arrays ({kinds})",
        )

    @abstractmethod
    def _misfit(self, error: Exception, arrays: tuple[Any, ...], out: Any) -> SymgradError | None:
        """Return the error for shapes that do not fit or results that are too large; None if the shapes fit."""

    # A kernel is immutable, so a copy is itself.

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        count = len(self.kinds) - len(self.inputs)
        outputs = "1 output" if count == 1 else f"{count} outputs"
        return f"<Kernel {self.name}({', '.join(self.inputs)}) -> {outputs}, {self.dtype}{self._origin}>"

    _origin = ""
    """The end of the representation, for kernels that were not compiled here."""


def as_tuple(out: Any) -> tuple[Any, ...]:
    """Return ``out=`` as a tuple with one entry for each output."""
    return cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
