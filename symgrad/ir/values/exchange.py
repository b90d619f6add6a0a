"""Arrays of other libraries in calls: they are read without a copy, and results are arrays of the same library.

The library of an array is recognised by the protocol of the array (DLPack, the array interfaces, a namespace of the
array API), or by its class if the library is already imported. This module imports no library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, cast

import numpy as np

from symgrad.support.errors import ArrayTypeError, SymgradError

_PROTOCOLS = (
    "__dlpack__",
    "__array__",
    "__array_interface__",
    "__array_struct__",
    "__cuda_array_interface__",
)
PLAIN: frozenset[type[Any]] = frozenset(
    (np.ndarray, np.float64, np.float32, float, int, bool, list, tuple, type(None))
)
"""The classes of most values, which allow a fast path that excludes arrays of other libraries."""

_READABLE = (1, 3)  # kDLCPU, kDLCUDAHost: the memory of the host
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 13: "CUDA (managed)", 14: "oneAPI"}
_ALIGNED = 64  # bytes: with a smaller alignment TensorFlow's own code ends the process


@dataclass(frozen=True, slots=True)
class Library:
    """A library of arrays.

    Args:
        name: as in ``sg.to_<name>`` and in messages.
        give: a function that converts a NumPy array to an array of the library, without a copy if possible; its second
            argument is an array of the library.
    """

    name: str
    give: Callable[[np.ndarray, Any], Any]


def library_of(values: Sequence[Any]) -> Library | None:
    """Return the library of the results, which is the library of the arrays among the values; None for NumPy.

    NumPy's arrays, numbers, and arrays of storage formats (Arrow) combine with any library.

    Raises:
        ArrayTypeError: for arrays of two libraries.
    """
    found: Library | None = None
    if PLAIN.issuperset(map(type, values)):
        return None
    for value in values:
        library = _library(_class(value))
        if library is None or library is found:
            continue
        if library is _KERAS:
            library = _library(_class(_unwrapped(value)))
        if found is not None and library is not None and library is not found:
            raise ArrayTypeError(
                f"arrays of {found.name} and of {library.name} in one call",
                expected="arrays of one library, to which results will belong, too; also numbers and arrays of NumPy",
                cure="pass numpy.asarray(a) for one of them",
            )
        found = library or found
    return found


def called_with_arrays(
    call: Callable[..., Any], library: Library, names: Sequence[str], arrays: Sequence[Any], out: Any
) -> Any:
    """Make a call with NumPy views of a library's arrays, and return its results as arrays of the library.

    Args:
        call: a function that takes NumPy arrays, and ``out`` if that is not None.
        library: the library of the arrays.
        names: the names of the inputs.
        arrays: the values of the inputs.
        out: as in NumPy; the call returns its arrays.
    """
    views = [
        as_array(name, value) if _library(_class(value)) else value
        for name, value in zip(names, arrays, strict=True)
    ]
    outs = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
    if out is None:
        found = call(*views)
    else:
        targets = tuple(None if o is None else _target(o) for o in outs)
        found = call(*views, out=targets if isinstance(out, tuple) else targets[0])
    like = next(a for a in map(_unwrapped, (*arrays, *outs)) if _library(_class(a)) is library)
    results = cast("tuple[Any, ...]", found) if isinstance(found, tuple) else (found,)
    existing = outs if out is not None else (None,) * len(results)
    converted = [
        library.give(np.asarray(r), like) if o is None else o for r, o in zip(results, existing, strict=True)
    ]
    return tuple(converted) if isinstance(found, tuple) else converted[0]


def _target(out: Any) -> Any:
    if isinstance(out, np.ndarray):
        return cast("Any", out)
    array: Any = as_array("out", out)
    if not isinstance(array, np.ndarray) or not cast("Any", array).flags.writeable:
        raise ArrayTypeError(
            f"out= is {_described(out)}, which may only be read",
            expected="arrays that may be written to",
            cure="leave out= away: results are of the same library as the inputs",
        )
    return cast("Any", array)


def as_array(name: str, value: Any) -> Any:
    """Return a value as a NumPy array, without a copy of an array.

    Args:
        name: the name of the input, for messages.
        value: a number, a list, an array of NumPy or of another library.

    Raises:
        ArrayTypeError: for an array that is not in the memory of the host, an array whose gradient would be lost, or an
            array that NumPy cannot read.
    """
    if type(value) in PLAIN or not _is_array(_class(value)):
        return np.asarray(value)
    value = _unwrapped(value)
    library = _library(_class(value))
    if library is not None and library.name == "torch":
        value = _detached(name, value)
    _check_device(name, value, library)
    _check_contents(name, value)
    try:
        if library is not None or _has(value, "__array__", "__array_interface__", "__array_struct__"):
            array = np.asarray(value)
        else:
            array = np.from_dlpack(value)
    except SymgradError:
        raise
    except Exception as error:  # noqa: BLE001 (libraries may raise anything here)
        if library is not None and _traced(value, library):
            raise ArrayTypeError(
                f"input '{name}' is {_described(value)} in a function that {library.name} transforms: "
                "it has no values there",
                expected="an array with values",
                cure=f"make a function for {library.name} with sg.to_{library.name}",
            ) from None
        raise ArrayTypeError(
            f"input '{name}' is {_described(value)}, which NumPy cannot read: {_first_line(error)}",
            expected="an array of numbers in the memory of the host",
            cure=_cure(name, value, library),
        ) from None
    if array.dtype.kind == "V":
        raise ArrayTypeError(
            f"input '{name}' is {_described(value)}, which NumPy has no numbers of",
            expected="real numbers (a float, integer or bool dtype)",
            cure=_cure(name, value, library),
        )
    return array if array.ndim else array[()]


def _detached(name: str, value: Any) -> Any:
    if not value.requires_grad:
        return value
    if sys.modules["torch"].is_grad_enabled():
        raise ArrayTypeError(
            f"input '{name}' is {_described(value)} that requires grad, and a call gives torch no gradient",
            expected="a tensor that does not require grad",
            cure=f"make a differentiable function with sg.to_torch, or pass {name}.detach()",
        )
    return value.detach()


def _check_device(name: str, value: Any, library: Library | None) -> None:
    try:
        if hasattr(value, "__dlpack_device__"):
            number = int(value.__dlpack_device__()[0])
        else:
            number = 2 if hasattr(value, "__cuda_array_interface__") else 1
    except Exception as error:  # noqa: BLE001 (a device that DLPack has no number for, several at once)
        if _traced(value, library):
            return  # reading the array raises the error
        raise ArrayTypeError(
            f"input '{name}' is {_described(value)} on no device that can be read: {_first_line(error)}",
            expected="an array in the memory of the host",
            cure=_host(name, value),
        ) from None
    if number not in _READABLE:
        device = getattr(value, "device", None) or _DEVICES.get(number, f"a device of kind {number}")
        raise ArrayTypeError(
            f"input '{name}' is {_described(value)} on {device}, and symgrad computes on the CPU",
            expected="an array in the memory of the host",
            cure=_host(name, value),
        )


def _check_contents(name: str, value: Any) -> None:
    """Raise an error for values that NumPy would misread: Arrow's missing values, and bytes as numbers."""
    if not _is_arrow(_class(value)):
        return
    if getattr(value, "null_count", 0):
        raise ArrayTypeError(
            f"input '{name}' is {_described(value)} with {value.null_count} null(s)",
            expected="an array without nulls",
            cure=f"pass {name}.fill_null(value), or {name}.drop_null()",
        )
    if type(value).__name__.endswith("Buffer"):
        raise ArrayTypeError(
            f"input '{name}' is {_described(value)}: bytes, of no dtype",
            expected="an array of numbers",
            cure=f"pass numpy.frombuffer({name}, dtype=numpy.float64), which does not copy",
        )


def _cure(name: str, value: Any, library: Library | None) -> str:
    if "float8" in _dtype(value) or "bfloat16" in _dtype(value):
        widened = {"torch": f"{name}.float()", "tensorflow": f"tf.cast({name}, tf.float32)"}
        return f"pass {widened.get(library.name if library else '', f'{name}.astype(numpy.float32)')}"
    if library is not None and library.name == "torch":
        dense = value.layout is cast("Any", sys.modules["torch"]).strided
        return f"pass {name}.resolve_conj().resolve_neg()" if dense else f"pass {name}.to_dense()"
    return f"pass numpy.asarray({name}, dtype=float)"


def _host(name: str, value: Any) -> str:
    if str(getattr(value, "device", "")) == "meta":
        return f"give {name} values: on this device it has a shape only"
    copies = {"torch": f"{name}.cpu()", "jax": f"jax.device_get({name})", "cupy": f"{name}.get()"}
    return f"pass {copies.get(_root(_class(value)), f'a copy of {name} in the memory of the host')}"


def _described(value: Any) -> str:
    kind, dtype = _class(value), _dtype(value)
    name = kind.__name__.removesuffix("Impl")  # jax.Array is an interface
    return f"a {_root(kind)}.{name}{f' of dtype {dtype}' if dtype else ''}"


def _dtype(value: Any) -> str:
    dtype: Any = getattr(value, "dtype", None)
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.") if dtype is not None else ""


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _has(value: Any, *names: str) -> bool:
    return any(hasattr(value, name) for name in names)


# The library of a class


def _class(value: Any) -> type[Any]:
    return cast("type[Any]", type(value))


@lru_cache(512)
def _is_array(kind: type[Any]) -> bool:
    if issubclass(kind, np.ndarray | np.generic):
        return False
    return _is_arrow(kind) or any(hasattr(kind, name) for name in _PROTOCOLS)


@lru_cache(512)
def _library(kind: type[Any]) -> Library | None:
    """Return the library of arrays of a class; None for NumPy's class, and for classes that convert to NumPy.

    A class that handles NumPy's calls (``__array_ufunc__``) converts results itself.
    """
    if not _is_array(kind):
        return None
    dask = sys.modules.get("dask.array")
    if dask is not None and issubclass(kind, cast("Any", dask).Array):
        return DASK
    if hasattr(kind, "__array_ufunc__"):
        return None
    for module, classes, library in _BY_CLASS:
        there = sys.modules.get(module)
        if there is not None and issubclass(kind, tuple(getattr(there, c) for c in classes)):
            return library
    return _namespaced(_root(kind)) if hasattr(kind, "__array_namespace__") else None


@lru_cache(512)
def _root(kind: type[Any]) -> str:
    root = kind.__module__.partition(".")[0]
    return "jax" if root == "jaxlib" else root


def _unwrapped(value: Any) -> Any:
    """Return the array of a variable of Keras; any other value is unchanged."""
    return value.value if _library(_class(value)) is _KERAS else value


def _is_arrow(kind: type[Any]) -> bool:
    return kind.__module__.startswith("pyarrow")


def _traced(value: Any, library: Library | None) -> bool:
    """Tell whether a value is a tracer, in whose place a framework later computes with arrays."""
    name = library.name if library is not None else ""
    there = cast("Any", sys.modules.get(name))
    if name == "jax":
        return there is not None and isinstance(value, there.core.Tracer)
    if name == "tensorflow":
        return not there.executing_eagerly()
    if name != "torch" or value.layout is not there.strided or value.device.type == "meta":
        return False
    try:
        value.data_ptr()
    except RuntimeError:
        return True
    return False


def _to_torch(array: np.ndarray, _: Any) -> Any:
    return cast("Any", sys.modules["torch"]).from_numpy(array)


def _to_tensorflow(array: np.ndarray, _: Any) -> Any:
    tf = cast("Any", sys.modules["tensorflow"])
    if array.size and array.ctypes.data % _ALIGNED == 0 and array.flags.c_contiguous:
        return tf.experimental.dlpack.from_dlpack(array.__dlpack__())
    return tf.constant(array)


def _to_namespace(array: np.ndarray, like: Any) -> Any:
    there = like.__array_namespace__()
    found = there.from_dlpack(array if array.flags.forc else np.ascontiguousarray(array))
    if found.dtype == array.dtype or (array.dtype.kind != "f" and np.array_equal(np.asarray(found), array)):
        return found
    name, more = _root(_class(like)), ', jax.config.update("jax_enable_x64", True)'
    raise ArrayTypeError(
        f"results are {array.dtype}, which {name} would round to {found.dtype}",
        expected="arrays that hold results as they are",
        cure=f'compile(..., dtype="float32"){more if name == "jax" else ""}, or pass numpy.asarray(x)',
    )


@cache
def _namespaced(name: str) -> Library:
    return Library(name, _to_namespace)


_KERAS = Library("keras", lambda array, _: array)
"""The library of variables of Keras, which contain arrays of their backend."""

DASK = Library("dask", lambda array, _: array)
"""The library of lazy arrays in blocks (Dask); for such arrays kernels return lazy arrays."""

_BY_CLASS = (
    ("torch", ("Tensor",), Library("torch", _to_torch)),
    ("tensorflow", ("Tensor", "Variable"), Library("tensorflow", _to_tensorflow)),
    ("keras", ("Variable",), _KERAS),
)
