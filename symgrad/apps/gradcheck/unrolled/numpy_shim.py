"""Copies of user functions for which NumPy creates arrays that may hold formulas, not only floats."""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from symgrad.api.tracing.rebinding import Rebinding, Replacements
from symgrad.apps.gradcheck.unrolled.arrays import FUNCTIONS, as_objects, call_function, filled, traced_array
from symgrad.apps.gradcheck.unrolled.entries import FormulaEntry


def _is_float(dtype: Any) -> bool:
    return dtype is None or np.dtype(dtype).kind in "fO"


def _new(function: Callable[..., Any], value: Any) -> Callable[..., Any]:
    def make(shape: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        if not _is_float(dtype):
            return function(shape, dtype, *args, **options)
        return filled(shape, value)

    return make


def _full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    if not _is_float(dtype) or (dtype is None and isinstance(fill_value, bool | int)):
        return np.full(shape, fill_value, dtype, **options)
    return filled(shape, fill_value)


def _array(function: Callable[..., Any], *, copies: bool) -> Callable[..., Any]:
    def make(value: Any, dtype: Any = None, **options: Any) -> Any:
        found = as_objects(value)
        if _is_traced(found):
            if not _is_float(dtype):
                return function(value, dtype, **options)  # which raises
            array = np.array(_nested(found), dtype=object)
            return traced_array(array if array is not found or not copies else array.copy())
        made = function(value, dtype, **options) if dtype is not None else function(value, **options)
        return traced_array(made.astype(object)) if made.dtype.kind == "f" else made

    def keep(value: Any, dtype: Any = None, **options: Any) -> Any:
        if isinstance(value, np.ndarray) and not copies and (value.dtype == object or dtype is None):
            return value  # the same memory
        return make(value, dtype, **options)

    return keep


def _is_traced(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_is_traced(v) for v in cast("list[Any]", value))
    return isinstance(value, FormulaEntry) or (isinstance(value, np.ndarray) and value.dtype == object)


def _nested(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist() if value.shape else value[()]
    return [_nested(v) for v in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


def _like(name: str) -> Callable[..., Any]:
    def make(a: Any, *args: Any, **options: Any) -> Any:
        dtype = args[0] if args and name != "full_like" else options.get("dtype")
        if np.asarray(as_objects(a)).dtype.kind in "iub" and dtype is None:
            return getattr(np, name)(a, *args, **options)
        return FUNCTIONS[name](a, *args, **options)

    return make


def _square(function: Callable[..., Any]) -> Callable[..., Any]:
    def make(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        return traced_array(found.astype(object)) if found.dtype.kind == "f" else found

    return make


_MADE: Mapping[str, Callable[..., Any]] = {
    "zeros": _new(np.zeros, 0),
    "ones": _new(np.ones, 1),
    "empty": _new(np.empty, None),
    "full": _full,
    "array": _array(np.array, copies=True),
    "copy": _array(np.array, copies=True),
    "asarray": _array(np.asarray, copies=False),
    "ascontiguousarray": _array(np.ascontiguousarray, copies=False),
    "atleast_2d": lambda *a: call_function(np.atleast_2d, a, {}),
    **{name: _like(name) for name in ("zeros_like", "ones_like", "empty_like", "full_like")},
    **{name: _square(getattr(np, name)) for name in ("eye", "identity", "diag")},
}
"""Functions that create arrays, by their names in NumPy."""

_REPLACEMENTS = Replacements([(getattr(np, name), made) for name, made in _MADE.items()], [np])


def rebind_numpy(function: Any) -> Any:
    """Return a copy of a function for which NumPy creates arrays that may hold formulas."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    return Rebinding(file, _REPLACEMENTS).of(function)
