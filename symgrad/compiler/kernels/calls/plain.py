"""Check the arguments of kernels, and call kernels without a ufunc.

Such calls may have any number of arguments. They run on copies of the inputs, and write to new arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from operator import mul
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from symgrad.compiler.kernels.calls.threads import common_shape
from symgrad.support.errors import ArrayTypeError, UnsupportedError

if TYPE_CHECKING:
    from symgrad.compiler.kernels.shapes import Shapes
    from symgrad.ir.graph import Node
    from symgrad.ir.sizes import Size

_LOOP_TYPE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class _Loop(Protocol):
    def call(self, addresses: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> None: ...


def fresh_outputs(kinds: Sequence[Any], arrays: Sequence[Any], where: Any) -> tuple[np.ndarray, ...]:
    """Return outputs for a call with ``where``, filled with NaN (or False)."""
    shape = np.broadcast_shapes(*map(np.shape, arrays), np.shape(where))
    return tuple(np.full(shape, np.nan if k.kind == "f" else False, k) for k in kinds[len(arrays) :])


def loop_call(loop: int, data: int) -> Callable[..., Any]:
    """Return a function like `direct_call` that calls an inner loop through ctypes, for outputs that are new arrays.

    Args:
        loop: address of the inner loop.
        data: the last argument of the loop.
    """

    def call(inputs: Sequence[Any], outputs: Sequence[Any], new: bool) -> None:
        assert new
        everything = (*inputs, *outputs)
        count = len(everything)
        _LOOP_TYPE(loop)(
            (ctypes.c_void_p * count)(*(a.ctypes.data for a in everything)),
            (ctypes.c_ssize_t * 1)(outputs[0].size),
            (ctypes.c_ssize_t * count)(*(a.itemsize if a.ndim else 0 for a in everything)),
            data,
        )

    return call


def call_elements(
    call: Callable[..., Any], kinds: Sequence[Any], arrays: Sequence[Any], out: Any = None, where: Any = True
) -> Any:
    """Call an elementwise kernel like its ufunc.

    Args:
        call: a function as `direct_call` returns it.
        kinds: dtype of every argument, inputs then outputs.
        arrays: the inputs, as for the ufunc.
        out: as for the ufunc.
        where: as for the ufunc.
    """
    shape = common_shape(arrays)
    inputs: list[np.ndarray] = []
    for array, kind in zip(arrays, kinds, strict=False):
        same = np.size(array) == 1 or np.shape(array) == shape
        copy = np.array(array if same else np.broadcast_to(array, shape), kind, order="C")
        inputs.append(copy.reshape(()) if copy.size == 1 else copy)
    results = [np.empty(shape, kind) for kind in kinds[len(inputs) :]]
    call(tuple(inputs), tuple(results), True)
    return _return_results(results, out, where)


def call_batch(
    loop: _Loop,
    shapes: Shapes,
    core: Sequence[Size],
    nodes: Sequence[Node],
    kinds: Sequence[Any],
    arrays: Sequence[Any],
    out: Any = None,
) -> Any:
    """Call the kernel of an array program like its generalised ufunc, but for one entry of the batch after the other.

    Args:
        loop: runs the code once.
        shapes: the shapes of the program.
        core: the core dimensions of the program.
        nodes: inputs, then outputs.
        kinds: their dtypes.
        arrays: the inputs, as for the ufunc.
        out: as for the ufunc.
    """
    from symgrad.ir.sizes import evaluate_size  # for start-up time

    inputs = [np.require(a, kind, ["ALIGNED"]) for a, kind in zip(arrays, kinds, strict=False)]
    fit = shapes.fit(inputs)
    batch, sizes = fit.batch, fit.sizes
    cores = [tuple(evaluate_size(s, sizes) for s in node.shape) for node in nodes]
    nin = len(inputs)
    results = [np.empty(batch + c, kind) for c, kind in zip(cores[nin:], kinds[nin:], strict=True)]
    everything = [np.broadcast_to(a, batch + c) for a, c in zip(inputs, cores, strict=False)] + results
    depth = len(batch)
    core_sizes = [evaluate_size(s, sizes) for s in core]
    strides = [step for a in everything for step in a.strides[depth:]]
    addresses = [a.ctypes.data for a in everything]
    for place in np.ndindex(batch):
        shifts = [sum(map(mul, place, a.strides)) for a in everything]
        loop.call([a + s for a, s in zip(addresses, shifts, strict=True)], core_sizes, strides)
    return _return_results(results, out, True)


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
