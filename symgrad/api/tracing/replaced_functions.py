"""Functions for expressions, in place of those of NumPy and SciPy that accept none: NumPy's protocols skip them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np

from symgrad.api.functions import arrays, elementary, layout
from symgrad.api.functions.sizes import size_of
from symgrad.api.handles.base import Handle
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.api.tracing.rebinding import Replacements
from symgrad.api.tracing.steps import python_range
from symgrad.ir.sizes import Extent, size_product, size_sum
from symgrad.support.errors import UnsupportedError


def _traced(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_traced, cast("list[Any]", value)))
    return isinstance(value, Handle)


def _named(shape: Any) -> bool:
    """Tell whether a shape has sizes that are known only in a call."""
    sizes = cast("list[Any]", shape) if isinstance(shape, list | tuple) else [shape]
    return any(isinstance(n, str | Extent | Handle) for n in sizes)


def _refuse_options(name: str, options: dict[str, Any]) -> None:
    for option, value in options.items():
        real = option == "dtype" and (value is None or np.dtype(value).kind == "f")
        if not real and option not in ("copy", "order", "like", "subok"):
            raise UnsupportedError(
                f"numpy.{name} of an expression with {option}={value!r}", cure=f"leave {option} out"
            )


def _array(own: Callable[..., Any]) -> Callable[..., Any]:
    def make(value: Any, *args: Any, **options: Any) -> Any:
        if not _traced(value):
            return own(value, *args, **options)
        _refuse_options(own.__name__, {**options, **({"dtype": args[0]} if args else {})})
        return as_expr(value)

    return make


def _filled(own: Callable[..., Any], value: int) -> Callable[..., Any]:
    def make(shape: Any, *args: Any, **options: Any) -> Any:
        if not _named(shape):
            return own(shape, *args, **options)
        _refuse_options(own.__name__, {**options, **({"dtype": args[0]} if args else {})})
        return layout.full(shape, value)

    return make


def _full(shape: Any, fill_value: Any, *args: Any, **options: Any) -> Any:
    if not _named(shape) and not _traced(fill_value):
        return np.full(shape, fill_value, *args, **options)
    return layout.full(shape, fill_value)


def _arange(first: Any, *more: Any, **options: Any) -> Any:
    if not _named((first, *more)) or options or len(more) > 1:
        return cast("Any", np.arange)(first, *more, **options)
    start = size_of(first) if more else 0
    counted = layout.arange(size_sum([size_of([first, *more][-1]), size_product([-1, start])]))
    return counted if start == 0 else counted + layout.size(start)


def _eye(own: Callable[..., Any]) -> Callable[..., Any]:
    def make(*args: Any, **options: Any) -> Any:
        return layout.eye(*args, **options) if _named(args) else own(*args, **options)

    return make


def _is_scalar(value: Any) -> bool:
    return not value.shape if isinstance(value, Expr) else np.isscalar(value)


class _Arrays(type(np.ndarray)):
    """The class of `np.ndarray` in traced code: expressions with axes count as its instances."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, np.ndarray) or (isinstance(instance, Expr) and bool(instance.shape))


class _NDArray(np.ndarray, metaclass=_Arrays):
    """NumPy's arrays, for ``isinstance``."""


_OF_NUMPY: Sequence[tuple[Any, Any]] = (
    *((f, _array(f)) for f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)),
    (np.zeros, _filled(np.zeros, 0)),
    (np.ones, _filled(np.ones, 1)),
    (np.full, _full),
    (np.arange, _arange),
    (np.eye, _eye(np.eye)),
    (np.identity, _eye(np.identity)),
    (np.isscalar, _is_scalar),
    (np.ndarray, _NDArray),
)


def _logsumexp(a: Any, axis: Any = None, b: Any = None, *, keepdims: bool = False) -> Any:
    if b is not None:
        raise UnsupportedError("logsumexp of an expression with b=", cure="logsumexp(a + np.log(b))")
    return arrays.logsumexp(a, axis, keepdims=keepdims)


def _gamma_of_matrices(a: Any, d: int) -> Any:
    return sum(
        (elementary.lgamma(a - Fraction(j, 2)) for j in range(d)),
        d * (d - 1) * elementary.log(elementary.pi) / 4,
    )


SCIPY: Mapping[str, Callable[..., Any]] = {
    "logsumexp": _logsumexp,
    "softmax": arrays.softmax,
    "log_softmax": arrays.log_softmax,
    "softplus": elementary.softplus,
    "polygamma": elementary.polygamma,
    "multigammaln": _gamma_of_matrices,
}
"""The functions of `scipy.special` that SciPy writes in Python, without NumPy's protocols."""


def _where_traced(theirs: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Any, **options: Any) -> Any:
        return (own if _traced([*args, *options.values()]) else theirs)(*args, **options)

    return apply


_BUILTINS = {"range": python_range}


@cache
def _replacements(special: Any) -> Replacements:
    if special is None:
        return Replacements(_OF_NUMPY, [np], _BUILTINS)
    found = [(getattr(special, name, None), own) for name, own in SCIPY.items()]
    pairs = [(theirs, _where_traced(theirs, own)) for theirs, own in found if theirs is not None]
    return Replacements([*_OF_NUMPY, *pairs], [np, sys.modules["scipy"], special], _BUILTINS)


def replacements() -> Replacements:
    """Return what replaces functions of NumPy, and of SciPy if the program has imported it."""
    return _replacements(sys.modules.get("scipy.special"))
