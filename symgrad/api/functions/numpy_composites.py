"""Further functions of NumPy for expressions, as formulas of those in `numpy_names`, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import index as whole
from typing import Any, cast

import numpy as np

from symgrad.api.handles.base import E, handle_on
from symgrad.api.handles.construction import lift, make, make_op
from symgrad.api.handles.convert import node_of
from symgrad.ir.graph import constant
from symgrad.ir.sizes import size_product
from symgrad.ops.array.indexing import iota
from symgrad.ops.numpy import calls as build
from symgrad.support.errors import ShapeError, UnsupportedError

__all__ = ["COMPOSITES"]

_numpy: Any = np  # calls of its functions come back to expressions
_Values = Any  # an expression, with the operators and methods of `Expr`


def _lifted(kind: type[E], value: Any) -> _Values:
    return lift(kind, value)


def _same(name: str) -> Callable[..., Any]:
    def function(kind: type[E], x: Any) -> E:
        return lift(kind, x)

    function.__name__ = name
    return function


def _part(x: _Values, axis: int, cut: Any) -> _Values:
    """Return ``x[..., cut, ...]`` on an axis."""
    at = axis % x.ndim
    return x[(slice(None),) * at + (cut,)]


def _length(x: _Values, axis: int, name: str) -> int:
    found = x.shape[axis]
    if not isinstance(found, int):
        raise ShapeError(
            f"numpy.{name} of an axis of length {found}",
            expected="a number",
            cure="declare a number for this size",
        )
    return found


def clip(
    kind: type[E], a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    low, high = a_min if min is None else min, a_max if max is None else max
    return _lifted(kind, a).clip(low, high)


def round(kind: type[E], a: Any, decimals: int = 0) -> Any:
    return _lifted(kind, a).round(decimals)


def trunc(kind: type[E], x: Any) -> Any:
    return make_op(kind, "sign", x) * cast("Any", make_op(kind, "floor", abs(_lifted(kind, x))))


def diff(kind: type[E], a: Any, n: int = 1, axis: int = -1) -> Any:
    x = _lifted(kind, a)
    for _ in range(n):
        x = _part(x, axis, slice(1, None)) - _part(x, axis, slice(None, -1))
    return x


def trapezoid(kind: type[E], y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    values = _lifted(kind, y)
    means = (_part(values, axis, slice(1, None)) + _part(values, axis, slice(None, -1))) / 2
    if x is None:
        return means.sum(axis=axis) * dx
    steps = diff(kind, x, axis=-1 if _lifted(kind, x).ndim == 1 else axis)
    if steps.ndim == 1 and values.ndim > 1:
        steps = steps[(slice(None), *(None,) * (values.ndim - 1 - axis % values.ndim))]
    return (means * steps).sum(axis=axis)


def average(kind: type[E], a: Any, axis: Any = None, weights: Any = None) -> Any:
    x = _lifted(kind, a)
    if weights is None:
        return x.mean(axis=axis)
    w = _lifted(kind, weights)
    if w.shape != x.shape and (w.ndim != 1 or not isinstance(axis, int)):
        raise ShapeError(
            "weights of another shape", expected="the shape of the array, or one number for each row"
        )
    if w.shape != x.shape:
        w = w[(slice(None), *(None,) * (x.ndim - 1 - axis % x.ndim))]
        return (x * w).sum(axis=axis) / w.sum()
    return (x * w).sum(axis=axis) / w.sum(axis=axis)


def ptp(kind: type[E], a: Any, axis: Any = None) -> Any:
    x = _lifted(kind, a)
    return x.max(axis=axis) - x.min(axis=axis)


def vdot(kind: type[E], a: Any, b: Any) -> Any:
    return _lifted(kind, a).ravel().dot(_lifted(kind, b).ravel())


def vecdot(kind: type[E], x1: Any, x2: Any) -> Any:
    return (_lifted(kind, x1) * x2).sum(axis=-1)


def cross(kind: type[E], a: Any, b: Any) -> Any:
    x, y = _lifted(kind, a), _lifted(kind, b)
    if not x.ndim or not y.ndim or x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ShapeError("numpy.cross of other shapes", expected="vectors of length 3 along the last axis")
    parts = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return _numpy.stack(parts, -1)


def atleast_1d(kind: type[E], x: Any) -> Any:
    e = _lifted(kind, x)
    return e if e.ndim else e.reshape(1)


def atleast_2d(kind: type[E], x: Any) -> Any:
    e = _lifted(kind, x)
    return e if e.ndim > 1 else atleast_1d(kind, e)[None, :]


def column_stack(kind: type[E], tup: Any) -> Any:
    columns = [_lifted(kind, x) for x in tup]
    return _numpy.concatenate([c[:, None] if c.ndim == 1 else c for c in columns], 1)


def split(kind: type[E], ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    x = _lifted(kind, ary)
    ends: Any = indices_or_sections
    if not isinstance(ends, list | tuple | np.ndarray):
        length, parts = _length(x, axis, "split"), whole(ends)
        if length % parts:
            raise ShapeError(
                f"an axis of length {length} in {parts} parts", expected="parts of the same length"
            )
        ends = [length // parts * k for k in range(1, parts)]
    cuts: list[Any] = [None, *ends, None]
    return [_part(x, axis, slice(a, b)) for a, b in pairwise(cuts)]


def append(kind: type[E], arr: Any, values: Any, axis: int | None = None) -> Any:
    if axis is None:
        arr, values, axis = _lifted(kind, arr).ravel(), _lifted(kind, values).ravel(), 0
    return _numpy.concatenate([_lifted(kind, arr), _lifted(kind, values)], axis)


def tile(kind: type[E], A: Any, reps: Any) -> Any:
    x = _lifted(kind, A)
    times = list(cast("Sequence[Any]", reps)) if isinstance(reps, list | tuple) else [reps]
    shape = [*[1] * (len(times) - x.ndim), *x.shape]
    times = [*[1] * (len(shape) - len(times)), *times]
    wide = x.reshape(tuple(n for size in shape for n in (1, size)))
    wide = _numpy.broadcast_to(
        wide, tuple(n for t, size in zip(times, shape, strict=True) for n in (t, size))
    )
    return wide.reshape(tuple(size_product([t, size]) for t, size in zip(times, shape, strict=True)))


def repeat(kind: type[E], a: Any, repeats: int, axis: int | None = None) -> Any:
    x = _lifted(kind, a)
    if axis is None:
        x, axis = x.ravel(), 0
    at, times = axis % x.ndim, whole(repeats)
    head, size, tail = x.shape[:at], x.shape[at], x.shape[at + 1 :]
    wide = _numpy.broadcast_to(x.reshape((*head, size, 1, *tail)), (*head, size, times, *tail))
    return wide.reshape((*head, size_product([size, times]), *tail))


def roll(kind: type[E], a: Any, shift: int, axis: int | None = None) -> Any:
    x = _lifted(kind, a)
    if axis is None:
        return roll(kind, x.ravel(), shift, 0).reshape(x.shape)
    at = whole(shift) % _length(x, axis, "roll")
    if not at:
        return x
    return _numpy.concatenate(
        [_part(x, axis, slice(-at, None)), _part(x, axis, slice(None, -at))],
        axis % x.ndim,
    )


def _triangle(name: str, op: str) -> Callable[..., Any]:
    def function(kind: type[E], m: Any, k: int = 0) -> Any:
        x = _lifted(kind, m)
        rows, columns = (make(kind, lambda n=n: iota(params=(n,)), [x]) for n in x.shape[-2:])
        distance = cast("Any", columns)[None, :] - cast("Any", rows)[:, None]
        return make_op(kind, "where", make_op(kind, op, distance, k), x, 0)

    function.__name__ = name
    return function


def meshgrid(kind: type[E], *xi: Any, indexing: str = "xy") -> Any:
    axes = [_lifted(kind, x) for x in xi]
    order = list(range(len(axes)))
    if indexing == "xy" and len(axes) > 1:
        order[:2] = [1, 0]
    shape = tuple(axes[k].shape[0] for k in order)
    places = [
        (None,) * order.index(k) + (slice(None),) + (None,) * (len(axes) - 1 - order.index(k))
        for k in range(len(axes))
    ]
    return [_numpy.broadcast_to(x[at], shape) for x, at in zip(axes, places, strict=True)]


def linspace(kind: type[E], start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    first, last = _lifted(kind, start), _lifted(kind, stop)
    numbers: _Values = make(kind, lambda: iota(params=(whole(num),)), [])
    numbers = numbers[(slice(None), *(None,) * max(first.ndim, last.ndim))]
    return first + (last - first) * numbers / max(whole(num) - bool(endpoint), 1)


def select(kind: type[E], condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    pairs = list(zip(condlist, choicelist, strict=True))
    return reduce(
        lambda rest, pair: _numpy.where(_lifted(kind, pair[0]), pair[1], rest), reversed(pairs), default
    )


def _truths(kind: type[E], a: Any) -> Any:
    x = _lifted(kind, a)
    return x if x.dtype == "bool" else make_op(kind, "ne", x, 0)


def count_nonzero(kind: type[E], a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return cast("Any", make_op(kind, "where", _truths(kind, a), 1, 0)).sum(axis=axis, keepdims=keepdims)


def any(kind: type[E], a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return count_nonzero(kind, a, axis, keepdims=keepdims) > 0


def all(kind: type[E], a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return count_nonzero(kind, make_op(kind, "not_", _truths(kind, a)), axis, keepdims=keepdims) <= 0


def polyval(kind: type[E], p: Any, x: Any) -> Any:
    coefficients = cast("Any", p) if isinstance(p, list | tuple) else _lifted(kind, p)
    at = _lifted(kind, x)
    return reduce(lambda value, c: value * at + c, coefficients, at * 0)


def multi_dot(kind: type[E], arrays: Any) -> Any:
    return reduce(lambda a, b: _lifted(kind, a) @ _lifted(kind, b), arrays)


def vector_norm(kind: type[E], x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    e = _lifted(kind, x)
    if axis is None and e.ndim != 1 and not keepdims:
        e, axis = e.ravel(), 0
    return make(kind, lambda: build.vector_norm(node_of(e), ord, axis, keepdims), [e])


# ------------------------------------------------------------------------------------------------ functions of ufuncs


def _reduced(name: str) -> Callable[..., Any]:
    def function(kind: type[E], array: Any, axis: Any = 0, *, keepdims: bool = False) -> Any:
        if name == "logaddexp":
            return make(kind, lambda: build.reduce_axes("logsumexp", node_of(array), axis, keepdims), [array])
        return getattr(_lifted(kind, array), _REDUCTIONS[name])(axis=axis, keepdims=keepdims)

    function.__name__ = f"{name}.reduce"
    return function


def _outer(name: str) -> Callable[..., Any]:
    def function(kind: type[E], A: Any, B: Any) -> Any:
        x, y = _lifted(kind, A), _lifted(kind, B)
        return getattr(np, name)(x[(..., *(None,) * y.ndim)], y)

    function.__name__ = f"{name}.outer"
    return function


def accumulate(kind: type[E], array: Any, axis: int = 0) -> Any:
    return _lifted(kind, array).cumsum(axis)


def _logaddexp2(kind: type[E], x1: Any, x2: Any) -> Any:
    two = make_op(kind, "log", 2)
    return np.logaddexp(_lifted(kind, x1) * two, _lifted(kind, x2) * two) / cast("Any", two)


def _pi(x: _Values) -> _Values:
    return handle_on(cast("Any", type(x)), constant("pi"))


def _xlogy(x: _Values, y: _Values) -> _Values:
    return make_op(cast("Any", type(x)), "xlogy", x, y)


def relative_entropy(kind: type[E], x: Any, y: Any) -> Any:
    first = _lifted(kind, x)
    return _xlogy(first, first) - _xlogy(first, _lifted(kind, y))


def _of_value(name: str, formula: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(kind: type[E], x: Any) -> Any:
        return formula(_lifted(kind, x))

    function.__name__ = name
    return function


def _other(name: str, called: str, *more: Any) -> Callable[..., Any]:
    def function(kind: type[E], x: Any) -> Any:
        return getattr(_numpy, called)(_lifted(kind, x), *more)

    function.__name__ = name
    return function


def _op(name: str, op: str) -> Callable[..., Any]:
    def function(kind: type[E], *args: Any) -> Any:
        return make_op(kind, op, *args)

    function.__name__ = name
    return function


def _bitwise(name: str, op: str) -> Callable[..., Any]:
    def function(kind: type[E], *args: Any) -> Any:
        if {_lifted(kind, a).dtype for a in args} != {"bool"}:
            raise UnsupportedError(
                f"numpy.{name} of numbers", expected="conditions", cure="compare first: (x > 0) & (y > 0)"
            )
        return make_op(kind, op, *args)

    function.__name__ = name
    return function


_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logaddexp": ""}
_OUTER = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "greater", "less")

COMPOSITES: Mapping[str, Callable[..., Any]] = {
    **{
        f.__name__: f
        for f in (
            *(
                append,
                average,
                atleast_1d,
                atleast_2d,
                clip,
                column_stack,
                count_nonzero,
                cross,
                diff,
            ),
            *(
                linspace,
                meshgrid,
                polyval,
                ptp,
                repeat,
                roll,
                round,
                select,
                split,
                tile,
                trapezoid,
                trunc,
                vdot,
            ),
            *(vecdot, any, all),
        )
    },
    **{name: _same(name) for name in ("copy", "real", "conjugate")},
    **{f"{name}.reduce": _reduced(name) for name in _REDUCTIONS},
    **{f"{name}.outer": _outer(name) for name in _OUTER},
    "entr": _of_value("entr", lambda x: -_xlogy(x, x)),
    "rel_entr": relative_entropy,
    "log_expit": _of_value("log_expit", lambda x: -np.logaddexp(0, -x)),
    "exp10": _of_value("exp10", lambda x: 10**x),
    "around": round,
    "fix": trunc,
    "fmax": _op("fmax", "maximum"),
    "fmin": _op("fmin", "minimum"),
    "logaddexp2": _logaddexp2,
    "deg2rad": _of_value("deg2rad", lambda x: x * _pi(x) / 180),
    "radians": _of_value("radians", lambda x: x * _pi(x) / 180),
    "rad2deg": _of_value("rad2deg", lambda x: x * 180 / _pi(x)),
    "degrees": _of_value("degrees", lambda x: x * 180 / _pi(x)),
    "bitwise_and": _bitwise("bitwise_and", "and_"),
    "bitwise_or": _bitwise("bitwise_or", "or_"),
    "bitwise_xor": _bitwise("bitwise_xor", "xor"),
    "invert": _bitwise("invert", "not_"),
    "tril": _triangle("tril", "le"),
    "triu": _triangle("triu", "ge"),
    "flipud": _other("flipud", "flip", 0),
    "fliplr": _other("fliplr", "flip", 1),
    "matrix_transpose": _other("matrix_transpose", "swapaxes", -1, -2),
    "diagonal": _other("diagonal", "diag"),
    "add.accumulate": accumulate,
    "linalg.multi_dot": multi_dot,
    "linalg.vector_norm": vector_norm,
    "linalg.cross": cross,
    "linalg.vecdot": vecdot,
    "linalg.trace": _other("linalg.trace", "trace"),
    "linalg.diagonal": _other("linalg.diagonal", "diag"),
    "linalg.matrix_transpose": _other("linalg.matrix_transpose", "swapaxes", -1, -2),
}
