"""Functions of arrays as NumPy defines them, for arrays of exact numbers; entries without a value are None."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from tests.fuzz.believed_numbers import REAL, Undefined, each, mp, operators, real

__all__ = ["ARRAYS", "einsum", "product", "unslice"]

_add, _times, _div = (operators(complexes=False)[op] for op in (ast.Add, ast.Mult, ast.Div))


def _sum(values: Sequence[Any]) -> Any:
    return None if any(v is None for v in values) else reduce(_add, values, Fraction(0))


def _product(values: Sequence[Any]) -> Any:
    return None if any(v is None for v in values) else reduce(_times, values, Fraction(1))


def einsum(spec: str, *args: Any) -> Any:
    terms, result = spec.split("->")
    labels = terms.split(",")
    arrays = [np.asarray(a, dtype=object) for a in args]
    lengths = {i: n for own, a in zip(labels, arrays, strict=True) for i, n in zip(own, a.shape, strict=True)}
    inner = [i for i in lengths if i not in result]
    out = np.empty(tuple(lengths[i] for i in result), dtype=object)
    for place in np.ndindex(out.shape):
        at = dict(zip(result, place, strict=True))
        products = []
        for rest in np.ndindex(*(lengths[i] for i in inner)):
            at.update(zip(inner, rest, strict=True))
            products.append(
                _product([a[tuple(at[i] for i in own)] for own, a in zip(labels, arrays, strict=True)])
            )
        out[place] = _sum(products)
    return out if result else out[()]


def product(x: Any, y: Any) -> Any:
    """The product of matrices and vectors."""
    left, right = "ij"[2 - x.ndim :], "jk"[: y.ndim]
    return einsum(f"{left},{right}->{left[:-1]}{right[1:]}", x, y)


def _over(fold: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    def reduced(x: Any, axis: tuple[int, ...]) -> Any:
        kept = [k for k in range(x.ndim) if k not in axis]
        out = np.empty(tuple(x.shape[k] for k in kept), dtype=object)
        rows = np.moveaxis(x, kept, range(len(kept)))
        for place in np.ndindex(out.shape):
            row = rows[place].ravel().tolist() if kept else x.ravel().tolist()
            out[place] = None if not row or any(v is None for v in row) else fold(row)
        return out if kept else out[()]

    return reduced


def _cumsum(x: Any, axis: int, reverse: bool) -> Any:
    turned = np.flip(x, axis) if reverse else x
    summed = np.empty(x.shape, dtype=object)
    rows, sums = np.moveaxis(turned, axis, -1), np.moveaxis(summed, axis, -1)
    for place in np.ndindex(rows.shape):
        sums[place] = _sum(rows[place[:-1]][: place[-1] + 1].tolist())
    return np.flip(summed, axis) if reverse else summed


def unslice(x: Any, places: tuple[slice, ...], shape: tuple[int, ...]) -> Any:
    out = np.full(shape, Fraction(0), dtype=object)
    out[places] = x
    return out


def _rows(x: Any, axes: Sequence[int], indices: Sequence[Any]) -> tuple[Any, list[Any]]:
    """An array with some axes in front, and positions along these, side by side."""
    return np.moveaxis(x, axes, range(len(axes))), list(
        np.broadcast_arrays(*(np.asarray(i, dtype=object) for i in indices))
    )


def _position(places: Sequence[Any], place: tuple[int, ...], shape: Sequence[int]) -> tuple[int, ...] | None:
    """Where in some axes an entry is, counted from either end."""
    at = tuple(int(p[place]) for p in places)
    return at if all(-n <= i < n for i, n in zip(at, shape, strict=False)) else None


def _gather(x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    rows, places = _rows(x, axes, indices)
    many = places[0].ndim
    out = np.empty((*places[0].shape, *rows.shape[len(axes) :]), dtype=object)
    for place in np.ndindex(places[0].shape):
        at = _position(places, place, rows.shape)
        if at is not None:
            out[place] = rows[at]
    return np.moveaxis(out, range(many), range(axes[0], axes[0] + many)) if out.ndim else out[()]


def _scatter_add(values: Any, *indices: Any, axes: tuple[int, ...], shape: Any) -> Any:
    out = np.full(tuple(int(n) for n in shape), Fraction(0), dtype=object)
    into, places = _rows(out, axes, indices)
    many = places[0].ndim
    rows = np.moveaxis(np.asarray(values, dtype=object), range(axes[0], axes[0] + many), range(many))
    for place in np.ndindex(places[0].shape):
        at = _position(places, place, into.shape)
        if at is None:
            raise Undefined
        into[at] = each(_add, into[at], rows[place])
    return out


def _one_hot(index: Any, depth: Any) -> Any:
    index, columns = np.asarray(index, dtype=object), range(int(depth))
    rows = [[Fraction(int(int(i) == k)) for k in columns] for i in index.ravel()]
    return np.array(rows, dtype=object).reshape((*index.shape, int(depth)))


def _softmax(x: Any, axis: tuple[int, ...]) -> Any:
    e = each(REAL["exp"], x)
    kept = tuple(1 if k in axis else n for k, n in enumerate(x.shape))
    return each(_div, e, np.asarray(_over(_sum)(e, axis), dtype=object).reshape(kept))


def _shape(lengths: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in lengths)


ARRAYS: Mapping[str, Callable[..., Any]] = {
    "sum": lambda x: _sum(np.ravel(x).tolist()),
    "mean": _over(lambda row: _div(_sum(row), len(row))),
    "max": _over(lambda row: reduce(REAL["maximum"], row)),
    "min": _over(lambda row: reduce(REAL["minimum"], row)),
    "prod": _over(_product),
    "norm": _over(lambda row: mp.sqrt(real(_sum([_times(v, v) for v in row])))),
    "logsumexp": _over(lambda row: mp.log(_sum([mp.exp(real(v)) for v in row]))),
    "softmax": _softmax,
    "log_softmax": lambda x, axis: each(REAL["log"], _softmax(x, axis)),
    "cumsum": _cumsum,
    "reshape": lambda x, shape: np.asarray(x, dtype=object).reshape(_shape(shape)),
    "broadcast_to": lambda x, shape: np.broadcast_to(np.asarray(x, dtype=object), _shape(shape)),
    "concatenate": lambda xs, axis: np.concatenate([np.asarray(x, dtype=object) for x in xs], axis),
    "gather": _gather,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    "arange": lambda n: np.array([Fraction(k) for k in range(int(n))], dtype=object),
    "eye": lambda n, m: np.array(
        [[Fraction(int(i == j)) for j in range(int(m))] for i in range(int(n))], dtype=object
    ),
}
