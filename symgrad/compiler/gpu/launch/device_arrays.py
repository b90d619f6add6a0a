"""Arrays in GPU memory: read their layout, and allocate new ones with the same library. Imports no array library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from symgrad.compiler.lowering.arrays.index import strides as strides_of
from symgrad.ir.graph import Node
from symgrad.support.errors import ArrayTypeError


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """The layout of an array in GPU memory.

    Args:
        address: the address of its first element.
        shape: its shape, as in NumPy.
        steps: its strides, in elements.
        stream: the stream that writes it; None if unknown.
    """

    address: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    stream: int | None = None


def read_device_array(name: str, value: Any, kind: np.dtype[Any], *, written: bool = False) -> DeviceArray:
    """Return the layout of an array.

    Args:
        name: the name of the argument, for messages.
        value: an object with ``__cuda_array_interface__``.
        kind: the required dtype.
        written: whether the kernel writes to it.

    Raises:
        ArrayTypeError: if the value is not an array on a GPU, or has another dtype.
    """
    words = f"'{name}'" if written else f"input '{name}'"
    if getattr(value, "requires_grad", False) and cast("Any", sys.modules["torch"]).is_grad_enabled():
        raise ArrayTypeError(
            f"{words} is a tensor that requires grad, and a call gives torch no gradient",
            expected="a tensor that does not require grad",
            cure=f"pass {name}.detach()",
        )
    try:
        interface: Any = getattr(value, "__cuda_array_interface__", None)
    except Exception as error:  # noqa: BLE001 (libraries raise what they like here)
        raise ArrayTypeError(f"{words} cannot be read: {error}", expected="an array on a GPU") from None
    if interface is None:
        raise ArrayTypeError(
            f"{words} is a {_type_name(value)}, which is not in the memory of a GPU",
            expected=f"a {kind} array on the GPU" + ("" if written else ", or a number"),
            cure=f"pass cupy.asarray({name}), or torch.as_tensor({name}, device='cuda')",
        )
    found = np.dtype(interface["typestr"])
    if found != kind:
        raise ArrayTypeError(
            f"{words} is {found}, but the kernel computes in {kind}"
            if kind.kind == "f"
            else f"{words} is {found}, but it is bool",
            expected=f"a {kind} array",
            cure=f"convert it, or compile with dtype={found.name!r}"
            if found.name in ("float32", "float64")
            else "convert it",
        )
    if interface.get("mask") is not None:
        raise ArrayTypeError(f"{words} has a mask", expected="an array without missing values")
    address, read_only = interface["data"]
    if written and read_only:
        raise ArrayTypeError(f"{words} may only be read", expected="an array that may be written to")
    shape = tuple(int(n) for n in interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        steps = tuple(cast("list[int]", strides_of(shape)))
    else:
        if any(s % kind.itemsize for s in strides) or address % kind.itemsize:
            raise ArrayTypeError(
                f"{words} lies between elements", expected="whole elements apart", cure="pass a copy of it"
            )
        steps = tuple(int(s) // kind.itemsize for s in strides)
    return DeviceArray(int(address), shape, steps, interface.get("stream"))


@dataclass(frozen=True, slots=True)
class ArrayLibrary:
    """A library of GPU arrays.

    Args:
        name: the name of its module.
        empty: allocates an array of a shape and dtype on the device of a given array.
        stream: returns the current stream of the library on the device of a given array; None if it is unknown.
        synchronizes: whether the library cannot use other streams, so a call waits before and after.
    """

    name: str
    empty: Callable[[tuple[int, ...], np.dtype[Any], Any], Any]
    stream: Callable[[Any], int | None]
    synchronizes: bool = False


def _loaded_module(name: str) -> Any:
    return cast("Any", sys.modules[name])


def _empty_torch(shape: tuple[int, ...], kind: np.dtype[Any], like: Any) -> Any:
    torch = _loaded_module("torch")
    return torch.empty(shape, dtype=getattr(torch, kind.name), device=like.device)


def _empty_cupy(shape: tuple[int, ...], kind: np.dtype[Any], like: Any) -> Any:
    with like.device:
        return _loaded_module("cupy").empty(shape, kind)


def _empty_numba(shape: tuple[int, ...], kind: np.dtype[Any], _: Any) -> Any:
    return _loaded_module("numba.cuda").device_array(shape, kind)


def _empty_jax(shape: tuple[int, ...], kind: np.dtype[Any], like: Any) -> Any:
    """Allocate a new array: JAX's arrays are immutable, so only an array that no caller has yet may be written to."""
    made = _loaded_module("jax").numpy.zeros(shape, kind, device=like.device)
    if made.dtype != kind:
        raise ArrayTypeError(
            f"results are {kind}, which jax would round to {made.dtype}",
            expected="arrays that hold results as they are",
            cure='compile(..., dtype="float32"), or jax.config.update("jax_enable_x64", True)',
        )
    return made.block_until_ready()


_LIBRARIES = {
    "torch": ArrayLibrary(
        "torch", _empty_torch, lambda a: _loaded_module("torch").cuda.current_stream(a.device).cuda_stream
    ),
    "cupy": ArrayLibrary("cupy", _empty_cupy, lambda _: _loaded_module("cupy").cuda.get_current_stream().ptr),
    "numba": ArrayLibrary("numba", _empty_numba, lambda _: None),
    "jax": ArrayLibrary("jax", _empty_jax, lambda _: None, synchronizes=True),
}


def find_library(values: Sequence[Any]) -> tuple[ArrayLibrary | None, Any]:
    """Return the library of the arrays, which will also allocate the results, and one of its arrays.

    Raises:
        ArrayTypeError: for arrays of two libraries.
    """
    found: ArrayLibrary | None = None
    like: Any = None
    for value in values:
        root = type(value).__module__.partition(".")[0]
        maker = _LIBRARIES.get("jax" if root == "jaxlib" else root)
        if maker is None:
            continue
        if found is not None and maker is not found:
            raise ArrayTypeError(
                f"arrays of {found.name} and of {maker.name} in one call",
                expected="arrays of one library, to which results will belong, too",
            )
        found, like = maker, value
    return found, like


def current_stream(maker: ArrayLibrary | None, like: Any) -> int:
    """Return the current stream of a library; CUDA's default stream if it is unknown."""
    return (maker.stream(like) if maker is not None else None) or 0


def stream_handle(stream: Any) -> int:
    """Return the handle of a stream, which is given as a number or as an object of a library.

    Raises:
        ArrayTypeError: if the value is not a stream.
    """
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for field in ("cuda_stream", "ptr", "handle"):
        found = getattr(stream, field, None)
        if found is not None:
            value: Any = getattr(found, "value", found)
            return int(value or 0)
    raise ArrayTypeError(
        f"stream= is a {_type_name(stream)}",
        expected="a stream of torch, CuPy, numba or cuda.core, or its handle as a number",
    )


def number_bits(symbol: Node, value: Any, kind: np.dtype[Any]) -> int:
    """Return the bits of a number converted to the dtype of an input.

    Raises:
        ArrayTypeError: if the number has another kind than the input.
    """
    given: Any = np.asarray(value)
    if given.dtype.kind not in "buif" or (kind.kind == "b" and given.dtype.kind != "b"):
        raise ArrayTypeError(
            f"input '{symbol.name}' is {given.dtype}", expected=f"a {kind} array on the GPU, or a number"
        )
    return int.from_bytes(given.astype(kind).tobytes(), "little")


def _type_name(value: Any) -> str:
    kind = cast("type[Any]", type(value))
    return (
        f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        if kind.__module__ != "builtins"
        else kind.__name__
    )
