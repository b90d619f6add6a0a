"""The points at which gradient code is called: in the declared domains, generic ones first, then of all magnitudes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

import numpy as np

from symgrad.api.handles.expr import Expr
from symgrad.apps.gradcheck.limits import MAGNITUDES
from symgrad.apps.gradcheck.reference import Values
from symgrad.ir.graph import Node
from symgrad.verification.points.sampler import points_of
from symgrad.verification.statement import program_of

DTYPES = {"real": np.float64, "int": np.int64, "bool": np.bool_}
"""The dtype of the values of each kind of input."""

_GENERIC = 6  # points before the first one of another magnitude


def sample_points(
    loss: Node | None,
    inputs: Mapping[str, Expr],
    samples: Mapping[str, Any],
    wrt: Sequence[str],
    dtype: np.dtype[Any],
) -> Iterator[Values]:
    """Yield points as floats, the point of the samples first.

    Args:
        loss: the differentiated number, whose branches the points are to reach; None if it cannot be read.
        inputs: the inputs, by name.
        samples: sample values of some inputs, which set their dtypes at all points.
        wrt: the inputs whose magnitudes vary.
        dtype: the dtype of real inputs without a sample.
    """
    nodes = [e.node for e in inputs.values()]
    aimed = [] if loss is None else [loss]
    program, _ = program_of(aimed, nodes)
    dtypes = {n: dtype for n, e in inputs.items() if e.dtype == "real"}
    dtypes |= {n: np.asarray(v).dtype for n, v in samples.items()}
    drawn = (
        p
        for point in points_of(program, aim=bool(aimed))
        if (p := _floats(point.values, inputs, dtypes)) is not None
    )
    first = next(drawn, None)
    if first is None:
        return
    if samples:
        yield {n: _typed(samples[n], dtypes[n]) if n in samples else first[n] for n in inputs}
    yield first
    generic = list(islice(drawn, _GENERIC))
    yield from generic
    scaled = _scaled([first, *generic], inputs, wrt, dtypes)
    yield from (p for p in chain.from_iterable(zip_longest(scaled, drawn)) if p is not None)


def _scaled(
    base: Sequence[Values], inputs: Mapping[str, Expr], wrt: Sequence[str], dtypes: Mapping[str, Any]
) -> Iterator[Values]:
    """Yield generic points with one input of another magnitude."""
    k = 0
    for factor in MAGNITUDES:
        for name in wrt:
            k += 1
            point = base[k % len(base)]
            value = _typed(np.asarray(point[name]) * factor, dtypes.get(name))
            if np.all(inputs[name].node.declaration.values.admits(value)):
                yield {**point, name: value}


def _floats(
    values: Mapping[str, Any], inputs: Mapping[str, Expr], dtypes: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return a point of exact numbers as floats; None if a float lies outside the domain."""
    found: dict[str, Any] = {}
    for name, e in inputs.items():
        try:
            array = np.array(values[name], dtype=object).astype(DTYPES[e.dtype])
        except (OverflowError, ValueError):
            return None
        value = _typed(array, dtypes.get(name))
        if e.dtype == "real" and not (
            np.all(np.isfinite(value)) and np.all(e.node.declaration.values.admits(value))
        ):
            return None
        found[name] = value
    return found


def _typed(value: Any, dtype: Any) -> Any:
    """Return an array, or a scalar of NumPy if it has no axes."""
    array = np.asarray(value) if dtype is None else np.asarray(value, dtype=dtype)
    return array if array.shape else array[()]
