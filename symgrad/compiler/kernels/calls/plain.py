"""Check the arguments of kernels, and call kernels without a ufunc.

Such calls may have any number of arguments, and write to new arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from operator import add, mul
from typing import Any, cast

import numpy as np

from symgrad.compiler.lowering.strides import loop_axes
from symgrad.support.errors import ArrayTypeError, UnsupportedError

_LOOP_TYPE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def fresh_outputs(kinds: Sequence[Any], arrays: Sequence[Any], where: Any) -> tuple[np.ndarray, ...]:
    """Return outputs for a call with ``where``, filled with NaN (or False)."""
    shape = np.broadcast_shapes(*map(np.shape, arrays), np.shape(where))
    return tuple(np.full(shape, np.nan if k.kind == "f" else False, k) for k in kinds[len(arrays) :])


def common_shape(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape to which arrays broadcast, with a fast path for equal shapes and numbers."""
    shapes = {np.shape(a) for a in arrays}
    shapes.discard(())
    if len(shapes) > 1:
        return np.broadcast_shapes(*shapes)
    return shapes.pop() if shapes else ()


def loop_function(address: int) -> Callable[..., Any]:
    """Return an inner loop without an error code as a function, for `call_plainly`."""
    return _LOOP_TYPE(address)


def call_plainly(
    once: Callable[..., int | None],
    data: int,
    kinds: Sequence[Any],
    arrays: Sequence[Any],
    batch: tuple[int, ...],
    cores: Sequence[tuple[int, ...]] = (),
    dimensions: Sequence[int] = (),
    *,
    out: Any = None,
    where: Any = True,
    refusal: str = "",
) -> Any:
    """Call a kernel like its ufunc, but through ctypes: its inner loop along one axis, for each index of the others.

    Args:
        once: the inner loop, which returns 1 if memory is exhausted, and 2 if an axis would have a negative length.
        data: the last argument of the loop.
        kinds: dtype of every argument, inputs then outputs.
        arrays: the inputs, as for the ufunc.
        batch: the shape to which they broadcast, without core axes.
        cores: the core axes of every argument; by default none.
        dimensions: the lengths of the core dimensions.
        out: as for the ufunc.
        where: as for the ufunc.
        refusal: the message about a negative length.

    Raises:
        MemoryError: if memory is exhausted.
        ValueError: if a computed length of an axis is negative.
    """
    cores = cores or [()] * len(kinds)
    inputs = [np.require(a, kind, ["ALIGNED"]) for a, kind in zip(arrays, kinds, strict=False)]
    new = [np.empty(batch + core, kind) for core, kind in zip(cores, kinds, strict=True)][len(inputs) :]
    everything = [np.broadcast_to(a, batch + core) for a, core in zip(inputs, cores, strict=False)] + new
    (length, steps), outer = loop_axes(batch, [a.strides[: len(batch)] for a in everything])
    strides = [*steps, *(step for a in everything for step in a.strides[len(batch) :])]
    addresses = [a.ctypes.data for a in everything]
    lengths = (ctypes.c_int64 * (1 + len(dimensions)))(length, *dimensions)
    table = (ctypes.c_int64 * len(strides))(*strides)
    for place in np.ndindex(tuple(n for n, _ in outer) if length else (0,)):
        shifts = [sum(map(mul, place, way)) for way in zip(*(way for _, way in outer), strict=True)]
        places = list(map(add, addresses, shifts)) if shifts else addresses
        failed = once((ctypes.c_void_p * len(places))(*places), lengths, table, data)
        if failed:
            raise ValueError(refusal) if failed == 2 else MemoryError
    return _return_results(new, out, where)


def refuse_masked(name: str, value: Any) -> Any:
    """Return the value of an input, which must not be a masked array, since a mask has no meaning in reductions.

    Raises:
        ArrayTypeError: if the value is a masked array.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ArrayTypeError(
            f"input '{name}' is a masked array",
            expected="an array without a mask",
            cure=f"pass {name}.filled(value), with the value that masked entries should have",
        )
    return value


def refuse_where(where: Any) -> None:
    """Raise an error for ``where=`` in a call of an array program.

    Raises:
        UnsupportedError: if ``where`` is not True.
    """
    if where is not True:
        raise UnsupportedError(
            "an array program has no where=",
            cure="compute everything and choose with np.where, or select from the batch",
        )


def copy_shared(arrays: Sequence[Any], outs: Sequence[Any]) -> tuple[Any, ...]:
    """Copy inputs that an output may overwrite.

    NumPy copies them too, unless the input and the output are the same view. Even then the same memory may be a batch
    of rows for the output, but one matrix for the input.
    """
    written: list[Any] = [cast("Any", t) for t in outs if isinstance(t, np.ndarray)]
    return tuple(np.array(a) if any(np.may_share_memory(a, t) for t in written) else a for a in arrays)


def _return_results(results: list[Any], out: Any, where: Any) -> Any:
    """Copy results to ``out=``, and return them as a ufunc does."""
    outs: tuple[Any, ...] = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
    if out is None:
        outs = (None,) * len(results)
    if len(outs) != len(results):
        raise TypeError(f"out has {len(outs)} arrays for {len(results)} outputs")
    for k, target in enumerate(outs):
        if target is not None:
            np.copyto(target, results[k], casting="same_kind", where=where)
            results[k] = target
    values = [r if r.ndim or outs[k] is not None else r[()] for k, r in enumerate(results)]
    return values[0] if len(values) == 1 else tuple(values)
