"""Arrays whose entries are formulas, built on NumPy's object arrays, which handle views and writes."""

# NumPy's annotations know no arrays of objects.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, cast

import numpy as np

from symgrad.apps.gradcheck.unrolled.entries import FormulaEntry, apply_ufunc, calls, where
from symgrad.apps.gradcheck.unrolled.paths import choose
from symgrad.support.errors import UnsupportedError

_NATIVE = {"add", "multiply"}  # ufuncs whose reductions NumPy computes for objects over several axes


def as_objects(value: Any) -> Any:
    """Return entry arrays, also in lists, as arrays of objects that share their memory."""
    if isinstance(value, EntryArray):
        return value.view(np.ndarray)
    if isinstance(value, FormulaEntry):
        found = np.empty((), dtype=object)
        found[()] = value
        return found
    if isinstance(value, list | tuple):
        kind: Any = type(value)
        items = [as_objects(v) for v in cast("Sequence[Any]", value)]
        return kind(items) if kind in (list, tuple) else items
    return value


def traced_array(value: Any) -> Any:
    """Return an array of objects as an entry array, or as its entry if it has no axes; other values unchanged."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.view(EntryArray) if value.shape else value[()]
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray) for v in value):
        return [traced_array(v) for v in value]
    return value


def call_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Apply a ufunc entry by entry."""
    out = options.get("out")
    rest = {k: v for k, v in options.items() if k not in ("out", "dtype", "casting", "subok", "order")}
    if rest.pop("where", True) is not True:
        raise UnsupportedError(f"numpy.{ufunc.__name__} with where=")
    masked = next((i for i in inputs if isinstance(i, MaskedEntries)), None)
    if masked is not None:
        return masked.applied(ufunc, method, inputs, rest)
    if method == "at":
        target, key, *values = inputs
        if not isinstance(target, EntryArray):
            raise UnsupportedError(f"numpy.{ufunc.__name__}.at of an array that is not traced")
        places = concrete(key, target.shape)
        ufunc.at(target.view(np.ndarray), places, *map(as_objects, values))
        return None
    found = _called(ufunc, method, [as_objects(i) for i in inputs], rest)
    if out is not None:
        target = out[0]
        if not isinstance(target, EntryArray):
            raise UnsupportedError(f"numpy.{ufunc.__name__} writes into an array that is not traced")
        target.view(np.ndarray)[...] = found
        return target
    return traced_array(found)


def _called(ufunc: Any, method: str, arrays: Sequence[Any], options: Mapping[str, Any]) -> Any:
    name = ufunc.__name__
    if method == "__call__":
        if name == "matmul":
            return np.matmul(*(np.asarray(a, dtype=object) for a in arrays))
        if ufunc.nout != 1 or options:
            raise UnsupportedError(f"numpy.{name} on entries")
        return np.frompyfunc(partial(apply_ufunc, name), ufunc.nin, 1)(*arrays)
    if method == "outer":
        return np.frompyfunc(partial(apply_ufunc, name), 2, 1).outer(*arrays, **options)
    if name in _NATIVE:
        return getattr(ufunc, method)(*arrays, **options)
    if method == "reduce" and name in ("maximum", "minimum"):
        axis, keepdims = options.get("axis", 0), options.get("keepdims", False)
        return _extreme(name, arrays[0], axis, keepdims=keepdims)
    if method == "reduce" and name in ("logical_or", "logical_and"):
        truths = [bool(v) for v in np.ravel(arrays[0])]
        return any(truths) if name == "logical_or" else all(truths)
    raise UnsupportedError(f"numpy.{name}.{method} on entries")


# ------------------------------------------------------------------------------------------------- functions of NumPy


def _axes(a: Any, axis: Any) -> tuple[int, ...]:
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(k) % a.ndim for k in axes)


def _rows(a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Move the reduced axes of an array into its last axis; return it, and those axes."""
    a = np.asarray(as_objects(a), dtype=object)
    axes = _axes(a, axis)
    kept = [k for k in range(a.ndim) if k not in axes]
    return a.transpose([*kept, *axes]).reshape(*(a.shape[k] for k in kept), -1), axes


def _back(found: Any, shape: tuple[int, ...], axes: Sequence[int], *, keepdims: bool) -> Any:
    if keepdims:
        found = np.asarray(found).reshape([1 if k in axes else n for k, n in enumerate(shape)])
    return traced_array(found if np.ndim(found) or not isinstance(found, np.ndarray) else found[()])


def _extreme(name: str, a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    rows, axes = _rows(a, axis)
    found = np.empty(rows.shape[:-1], dtype=object)
    for index in np.ndindex(*found.shape):
        found[index] = reduce(partial(apply_ufunc, name), rows[index])
    return _written(_back(found, np.shape(a), axes, keepdims=keepdims), out)


def _position(order: str, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    rows, axes = _rows(a, axis)
    found = np.zeros(rows.shape[:-1], dtype=np.intp)
    for index in np.ndindex(*found.shape):
        best = 0
        for k, value in enumerate(rows[index]):
            if k and apply_ufunc(order, value, rows[index][best]):
                best = k
        found[index] = best
    return _back(found, np.shape(a), axes, keepdims=keepdims)


def _mean(a: Any, axis: Any = None, _dtype: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    a = np.asarray(as_objects(a), dtype=object)
    count = int(np.prod([a.shape[k] for k in _axes(a, axis)], dtype=int))
    total = traced_array(np.add.reduce(a, axis=_axes(a, axis), keepdims=keepdims))
    return _written(np.true_divide(total, count), out)


def _var(
    a: Any, axis: Any = None, _dtype: Any = None, out: Any = None, ddof: int = 0, *, keepdims: bool = False
) -> Any:
    a = traced_array(np.asarray(as_objects(a), dtype=object))
    count = int(np.prod([a.shape[k] for k in _axes(a, axis)], dtype=int))
    squares = (a - _mean(a, axis, keepdims=True)) ** 2
    total = traced_array(np.add.reduce(as_objects(squares), axis=_axes(a, axis), keepdims=keepdims))
    return _written(np.true_divide(total, count - ddof), out)


def _std(
    a: Any, axis: Any = None, _dtype: Any = None, out: Any = None, ddof: int = 0, *, keepdims: bool = False
) -> Any:
    return _written(np.sqrt(_var(a, axis, ddof=ddof, keepdims=keepdims)), out)


def _norm(x: Any, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Any:
    if ord not in (None, 2, "fro") or (ord == 2 and np.ndim(x) > 1 and not isinstance(axis, int)):
        raise UnsupportedError("numpy.linalg.norm of another order")
    squares = np.asarray(as_objects(np.square(x)), dtype=object)
    return np.sqrt(traced_array(np.add.reduce(squares, axis=_axes(squares, axis), keepdims=keepdims)))


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise UnsupportedError("the positions at which a condition holds depend on the values")
    return traced_array(np.frompyfunc(where, 3, 1)(*map(as_objects, (condition, x, y))))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **named: Any) -> Any:
    low, high = named.get("min", a_min), named.get("max", a_max)
    found = a if low is None else np.maximum(a, low)
    return _written(found if high is None else np.minimum(found, high), out)


def _written(found: Any, out: Any) -> Any:
    if out is None:
        return found
    if not isinstance(out, EntryArray):
        raise UnsupportedError("it writes into an array that is not traced")
    out.view(np.ndarray)[...] = as_objects(found)
    return out


def filled(shape: Any, value: Any) -> Any:
    """Return a new entry array filled with a value."""
    found = np.empty(shape, dtype=object)
    found[...] = as_objects(value)
    return traced_array(found) if found.shape else value


def _like(value: Any) -> Callable[..., Any]:
    def make(a: Any, dtype: Any = None, **_: Any) -> Any:
        if dtype is not None and np.dtype(dtype).kind not in "fO":
            return np.full(np.shape(a), value, dtype=dtype)
        return filled(np.shape(a), value)

    return make


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise UnsupportedError(f"numpy.{name} on entries")

    return refuse


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "max": partial(_extreme, "maximum"),
    "amax": partial(_extreme, "maximum"),
    "min": partial(_extreme, "minimum"),
    "amin": partial(_extreme, "minimum"),
    "argmax": partial(_position, "greater"),
    "argmin": partial(_position, "less"),
    "mean": _mean,
    "var": _var,
    "std": _std,
    "where": _where,
    "clip": _clip,
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "empty_like": _like(None),
    "full_like": lambda a, fill_value, dtype=None, **_: filled(np.shape(a), fill_value),  # pyright: ignore[reportUnknownLambdaType]
    "linalg.norm": _norm,
    **{
        name: _refused(name)
        for name in ("nonzero", "unique", "histogram", "allclose", "isclose", "array_equal")
    },
    **{
        f"linalg.{name}": _refused(f"linalg.{name}")
        for name in ("inv", "solve", "det", "slogdet", "svd", "eigh", "cholesky")
    },
}
"""Functions of NumPy that differ from those of its arrays of objects."""


def call_function(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Apply a function of NumPy: the one of `FUNCTIONS`, else NumPy's own on arrays of objects."""
    module = str(function.__module__).removeprefix("numpy").removeprefix(".")
    name = f"{module}.{function.__name__}" if module else function.__name__
    if name in FUNCTIONS:
        return FUNCTIONS[name](*args, **options)
    return traced_array(function(*map(as_objects, args), **{k: as_objects(v) for k, v in options.items()}))


calls |= {"ufunc": call_ufunc, "function": call_function}


# --------------------------------------------------------------------------------------------------------- subscripts


def _kind(item: Any) -> str:
    """Return ``"mask"`` or ``"positions"`` for a traced subscript, else an empty text."""
    first = next((v for v in np.ravel(as_objects(item)) if isinstance(v, FormulaEntry)), None)
    return "" if first is None else "mask" if first.expr.dtype == "bool" else "positions"


def _is_traced(item: Any) -> bool:
    if isinstance(item, list):
        item = np.array(item, dtype=object)
    return isinstance(item, FormulaEntry) or (isinstance(item, np.ndarray) and item.dtype == object)


def concrete(key: Any, shape: tuple[int, ...]) -> Any:
    """Return a subscript in which traced positions are those of the current execution path."""
    items = list(key) if isinstance(key, tuple) else [key]
    if not any(_is_traced(i) for i in items):
        return key
    used = sum(_depth(i) for i in items)
    axis, found = 0, list[Any]()
    for item in items:
        if item is Ellipsis:
            axis += len(shape) - used
            found.append(item)
            continue
        if _is_traced(item):
            if _kind(item) == "mask":
                raise UnsupportedError("a mask beside other subscripts")
            pick = partial(_picked, length=shape[axis])
            values = np.array(item, dtype=object) if isinstance(item, list) else as_objects(item)
            chosen: Any = np.frompyfunc(pick, 1, 1)(values)
            item = np.asarray(chosen, dtype=np.intp)[()] if np.ndim(chosen) == 0 else chosen.astype(np.intp)
        axis += _depth(item)
        found.append(item)
    return tuple(found) if isinstance(key, tuple) else found[0]


def _picked(value: Any, length: int) -> int:
    return choose(value.expr, length) if isinstance(value, FormulaEntry) else int(value)


def _depth(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1


class MaskedEntries(np.lib.mixins.NDArrayOperatorsMixin):
    """The entries ``x[mask]`` of a traced mask; their number depends on the values.

    Args:
        whole: the array, with an entry for each entry of the mask.
        mask: truth values.
    """

    __array_priority__ = 2000

    def __init__(self, whole: Any, mask: Any) -> None:
        self.whole = whole
        self.mask = mask

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, options)

    def applied(
        self, ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> MaskedEntries:
        """Apply a ufunc to masked entries and numbers."""
        fits = all(np.ndim(i) == 0 or (isinstance(i, MaskedEntries) and i.is_of(self.mask)) for i in inputs)
        if method != "__call__" or options or not fits:
            raise UnsupportedError("what a mask takes out together with another array")
        return MaskedEntries(
            ufunc(*(i.whole if isinstance(i, MaskedEntries) else i for i in inputs)), self.mask
        )

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 1 + self.whole.ndim - self.mask.ndim

    def is_of(self, mask: Any) -> bool:
        """Tell whether a mask selects the same entries."""
        return self.mask.shape == mask.shape and all(
            a.expr.node is b.expr.node
            if isinstance(a, FormulaEntry) and isinstance(b, FormulaEntry)
            else a is b
            for a, b in zip(self.mask.flat, mask.flat, strict=True)
        )


class EntryArray(np.ndarray):
    """An array of entries, and of numbers among them."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return call_function(function, args, options)

    def __getitem__(self, key: Any) -> Any:
        if _is_traced(key) and _kind(key) == "mask":
            return MaskedEntries(traced_array(self.view(np.ndarray).copy()), self._fitting(key))
        return traced_array(self.view(np.ndarray)[concrete(key, self.shape)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if not (_is_traced(key) and _kind(key) == "mask"):
            if isinstance(value, MaskedEntries):
                raise UnsupportedError("what a mask takes out, written elsewhere")
            own = self.view(np.ndarray)
            own[concrete(key, self.shape)] = value if isinstance(value, FormulaEntry) else as_objects(value)
            return
        mask = self._fitting(key)
        if isinstance(value, MaskedEntries):
            if not value.is_of(mask):
                raise UnsupportedError("what a mask takes out, written where another one is")
            value = value.whole
        elif np.ndim(value):
            raise UnsupportedError("an array written where a mask is: its size depends on the values")
        own = self.view(np.ndarray)
        wide = mask.reshape(mask.shape + (1,) * (self.ndim - mask.ndim))
        own[...] = np.frompyfunc(where, 3, 1)(as_objects(wide), as_objects(value), own.copy())

    def _fitting(self, key: Any) -> Any:
        mask = np.asarray(as_objects(key), dtype=object)
        if mask.shape != self.shape[: mask.ndim] or not mask.ndim:
            raise UnsupportedError("a mask of another shape than the array")
        return mask.view(EntryArray)

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        """Return a copy, because entries have no precision."""
        if np.dtype(dtype).kind not in "fO":
            raise UnsupportedError(f"what is traced as {np.dtype(dtype)}")
        return self.copy()

    def mean(self, *args: Any, **options: Any) -> Any:
        """Return `numpy.mean`; the methods below are also those of NumPy's functions."""
        return _mean(self, *args, **options)

    def var(self, *args: Any, **options: Any) -> Any:
        return _var(self, *args, **options)

    def std(self, *args: Any, **options: Any) -> Any:
        return _std(self, *args, **options)

    def max(self, *args: Any, **options: Any) -> Any:
        return _extreme("maximum", self, *args, **options)

    def min(self, *args: Any, **options: Any) -> Any:
        return _extreme("minimum", self, *args, **options)

    def argmax(self, *args: Any, **options: Any) -> Any:
        return _position("greater", self, *args, **options)

    def argmin(self, *args: Any, **options: Any) -> Any:
        return _position("less", self, *args, **options)

    def clip(self, *args: Any, **options: Any) -> Any:
        return _clip(self, *args, **options)
