"""`Loaded`: the base class of loaded kernels of elementwise and of array programs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from ctypes import CFUNCTYPE, c_int64
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from symgrad.compiler.kernels.points.scalar_calls import AtPoints
from symgrad.compiler.loader.arguments import KnownArgument
from symgrad.support.errors import ArrayTypeError, KernelError, ShapeError, SymgradError, UnsupportedError

if TYPE_CHECKING:

    class OwnedCode(Protocol):
        """Machine code, which stays in memory as long as this object lives."""

        def address(self, name: str) -> int:
            """Return the address of a function."""
            ...


_FLOAT64 = np.dtype(np.float64)


class Loaded(AtPoints):
    """A kernel from a file; made by `symgrad.load`.

    Args:
        code: owner of the machine code.
        note: the metadata of the file.

    Attributes:
        inputs: names of the inputs, in order.
        kinds: NumPy dtype of every argument, inputs then outputs.
        dtype: NumPy dtype of all numbers.
        name: the kernel's name.
        threads: always 1, since a loaded kernel runs in the thread that calls it.
    """

    __slots__ = (
        "__weakref__",
        "_addresses",
        "_code",
        "_ufunc",
        "dtype",
        "inputs",
        "kinds",
        "name",
        "output_names",
        "outputs",
        "symbols",
        "threads",
    )

    def __init__(self, code: OwnedCode, note: Mapping[str, Any]) -> None:
        self._code = code
        self.name: str = note["name"]
        arguments = [KnownArgument(plain) for plain in (*note["inputs"], *note["outputs"])]
        nin = len(note["inputs"])
        self.inputs: tuple[str, ...] = tuple(a.name for a in arguments[:nin])
        # Checks of inputs read only the attributes that these objects share with symbols.
        self.symbols = cast("Any", tuple(arguments[:nin]))
        self.outputs = cast("Any", tuple(arguments[nin:]))
        self.output_names = tuple([p["name"] for p in note["outputs"]])
        self.kinds: tuple[Any, ...] = tuple(np.dtype(p["kind"]) for p in (*note["inputs"], *note["outputs"]))
        self.dtype = np.dtype(note["dtype"])
        self.threads = 1
        self._ufunc: np.ufunc | None = None
        # The addresses of two internal functions: `symgrad/compiler/llvm/call_stubs/file_query.py`.
        about = CFUNCTYPE(c_int64, c_int64)(code.address(note["functions"]["about"]))
        self._addresses: tuple[int, int] = (about(0), about(1))

    @property
    def _known(self) -> tuple[Any, ...]:
        """The inputs as `KnownArgument`, for checks of symbols."""
        return self.symbols

    @property
    def ufunc(self) -> np.ufunc:
        """The NumPy ufunc itself; it stays valid after the kernel is freed.

        Raises:
            KernelError: if the kernel has no input, or more arguments than a ufunc can have.
        """
        if self._ufunc is None:
            raise KernelError(
                f"kernel '{self.name}' has {len(self.inputs)} inputs and {len(self.outputs)} outputs, and so is not a "
                "ufunc",
                cure="call the kernel itself, which takes any number",
            )
        return self._ufunc

    @property
    def __name__(self) -> str:
        """The kernel's name, as for a function."""
        return self.name.replace("-", "_")

    def __call__(self, /, *arrays: Any, out: Any = None, where: Any = True, **by_name: Any) -> Any:
        """Compute the outputs.

        Args:
            arrays: the inputs in order: numbers, arrays, or values that NumPy converts to arrays.
            out: an array for the only output, or a tuple with an array or None for each.
            where: boolean array, for elementwise programs: compute only there.
            by_name: inputs by their names.

        Returns:
            The output, or a tuple of the outputs if there are several, as the kernel that was saved returns them.

        Raises:
            ArrayTypeError: if an input is not numeric, or would lose precision.
            ComplexInputError: if an input is complex.
            DomainError: if a whole number is outside its declared domain.
            MissingInputError: if an input is missing, or there are too many.
            ShapeError: if shapes do not broadcast or are not the declared ones.
            UnsupportedError: for ``where`` with an array program.
        """
        if by_name or len(arrays) != len(self.inputs):
            from symgrad.ir.values.inputs import in_order  # for start-up time

            arrays = in_order(self.inputs, arrays, by_name)
        if not all(map(_fits, arrays, self.kinds)):
            found = self._exchanged(arrays, out, where)
            if found is not None:
                return found[0]
            arrays = self._admitted(arrays)
        try:
            return self._computed(arrays, out, where)
        except (TypeError, ValueError) as error:
            found = None if out is None else self._exchanged(arrays, out, where)
            if found is not None:
                return found[0]
            raise self._explained(error, arrays) from error

    def _exchanged(self, arrays: Sequence[Any], out: Any, where: Any) -> tuple[Any] | None:
        """Call with arrays of another library, and return the result in a tuple; None if there are no such arrays."""
        # for start-up time
        from symgrad.ir.values.exchange import DASK, as_array, called_with_arrays, library_of

        library = library_of((*arrays, *as_tuple(out)))
        if library is None or library is DASK:
            return None
        more: dict[str, Any] = {} if where is True else {"where": np.asarray(as_array("where", where))}
        return (called_with_arrays(lambda *a, **b: self(*a, **b, **more), library, self.inputs, arrays, out),)

    def _admitted(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        from symgrad.compiler.kernels.calls.input_dtypes import admitted  # for start-up time
        from symgrad.compiler.llvm.text.types import float_type

        real = float_type(self.dtype)
        arguments = zip(self.symbols, self.kinds, arrays, strict=False)
        return tuple([admitted(symbol, kind, real, value) for symbol, kind, value in arguments])

    def _explained(self, error: Exception, arrays: Sequence[Any]) -> SymgradError:
        """Translate an error of NumPy to one that names the declared inputs."""
        if isinstance(error, ValueError) and "read-only" not in str(error):
            named = zip(self.inputs, arrays, strict=True)
            shapes = ", ".join(f"{name} {np.shape(array)}" for name, array in named)
            declared = "; ".join(str(s) for s in self.symbols if s.shape)
            return ShapeError(
                f"the shapes do not fit: {shapes} ({error})",
                expected=declared or "shapes that broadcast as in NumPy",
            )
        kinds = ", ".join(map(str, self.kinds[len(self.inputs) :]))
        return ArrayTypeError(
            f"the kernel cannot be called with these arguments: {error}",
            expected=f"out: {len(self.outputs)} writable arrays ({kinds})",
        )

    @abstractmethod
    def _computed(self, arrays: Sequence[Any], out: Any, where: Any) -> Any:
        """Compute the outputs from values that convert to the dtypes of the inputs without loss."""

    def __copy__(self) -> Loaded:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Loaded:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        raise UnsupportedError(
            f"kernel '{self.name}' was loaded from a file, and machine code cannot be pickled",
            expected="a kernel that was compiled here, whose pickle holds the formulas",
            cure="load the file where the kernel is needed",
        )

    def __repr__(self) -> str:
        outputs = "1 output" if len(self.outputs) == 1 else f"{len(self.outputs)} outputs"
        return f"<Kernel {self.name}({', '.join(self.inputs)}) -> {outputs}, {self.dtype}, loaded>"


def as_tuple(out: Any) -> tuple[Any, ...]:
    """Return ``out=`` as a tuple with one entry for each output."""
    return cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)


def _fits(value: Any, kind: np.dtype[Any]) -> bool:
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return bool(cast("Any", value).dtype == kind)
    return type(value) is float and kind is _FLOAT64
