"""Implement NumPy's functions for expressions (the `__array_function__` and ufunc protocols), by name.

Each function takes the class of its result, then the arguments of NumPy's function: expressions, numbers and lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isinf
from typing import Any, cast

import numpy as np

from symgrad.api.functions.numpy_composites import COMPOSITES
from symgrad.api.functions.sizes import shape_of, widths_of
from symgrad.api.handles.base import E, Handle
from symgrad.api.handles.construction import lift, make, make_op
from symgrad.api.handles.convert import node_of
from symgrad.autodiff.running_product import cumprod
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape, Size, size_product
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import matrices, padding, products, sequences, sorting, subscripts
from symgrad.ops.scalar.logic import not_, where_infinite
from symgrad.support.errors import UnsupportedError, UsageError

__all__ = ["NUMPY", "one_list", "where"]

# ------------------------------------------------------------------------------------------------- functions of a kind


def _of_one(name: str, build: Callable[[Node], Node]) -> Callable[..., Any]:
    def function(kind: type[E], x: Any) -> E:
        return make(kind, lambda: build(node_of(x)), [x])

    return _named(name, function)


def _of_two(name: str, build: Callable[[Node, Node], Node]) -> Callable[..., Any]:
    def function(kind: type[E], a: Any, b: Any) -> E:
        return make(kind, lambda: build(node_of(a), node_of(b)), [a, b])

    return _named(name, function)


def _reduction(name: str) -> Callable[..., Any]:
    def function(kind: type[E], x: Any, axis: Any = None, *, keepdims: bool = False) -> E:
        if name == "sum":
            return make(kind, lambda: build.total(node_of(x), axis, keepdims), [x])
        return make(kind, lambda: build.reduce_axes(name, node_of(x), axis, keepdims), [x])

    return _named(name, function)


def _position(name: str) -> Callable[..., Any]:
    def function(kind: type[E], x: Any, axis: int | None = None, *, keepdims: bool = False) -> E:
        return make(kind, lambda: build.argument_position(name, node_of(x), axis, keepdims), [x])

    return _named(name, function)


def _spread(name: str, build: Callable[[Node, Any, bool, int], Node]) -> Callable[..., Any]:
    def function(kind: type[E], x: Any, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> E:
        return make(kind, lambda: build(node_of(x), axis, keepdims, ddof), [x])

    return _named(name, function)


def _along(name: str, build: Callable[[Node, Any], Node]) -> Callable[..., Any]:
    def function(kind: type[E], x: Any, axis: Any = None) -> E:
        return make(kind, lambda: build(node_of(x), axis), [x])

    return _named(name, function)


def _of_list(name: str, build: Callable[[Sequence[Node], Any], Node]) -> Callable[..., Any]:
    def function(kind: type[E], arrays: Any, axis: int = 0) -> E:
        one_list(name, arrays, axis)
        return make(kind, lambda: build([node_of(a) for a in arrays], axis), arrays)

    return _named(name, function)


def _stacked(name: str, build: Callable[[Sequence[Node]], Node]) -> Callable[..., Any]:
    def function(kind: type[E], tup: Any) -> E:
        return make(kind, lambda: build([node_of(x) for x in tup]), tup)

    return _named(name, function)


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


# --------------------------------------------------------------------------------------------- functions of their own


def norm(kind: type[E], x: Any, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> E:
    return make(kind, lambda: build.vector_norm(node_of(x), ord, axis, keepdims), [x])


def cumsum(kind: type[E], x: Any, axis: int | None = None, *, reverse: bool = False) -> E:
    return make(kind, lambda: build.cumulative_sum(node_of(x), axis, reverse), [x])


def einsum(kind: type[E], subscripts: str, *operands: Any) -> E:
    return make(kind, lambda: products.einsum_text(subscripts, *map(node_of, operands)), operands)


def tensordot(kind: type[E], a: Any, b: Any, axes: Any = 2) -> E:
    return make(kind, lambda: products.tensordot(node_of(a), node_of(b), axes), [a, b])


def inv(kind: type[E], a: Any) -> E:
    return make(kind, lambda: matrices.inv(node_of(a)), [a])


def det(kind: type[E], a: Any) -> E:
    return make(kind, lambda: matrices.det(node_of(a)), [a])


def cholesky(kind: type[E], a: Any, *, upper: bool = False) -> E:
    return make(kind, lambda: matrices.cholesky(node_of(a), upper=upper), [a])


def matrix_power(kind: type[E], a: Any, n: int) -> E:
    return make(kind, lambda: matrices.matrix_power(node_of(a), n), [a])


def slogdet(kind: type[E], a: Any) -> tuple[E, E]:
    return make_op(kind, "sign", det(kind, a)), make(kind, lambda: matrices.logdet(node_of(a)), [a])


def where(kind: type[E], condition: Any, x: Any, y: Any) -> E:
    """Return x where a condition holds, else y; one of x and y may be an infinity."""
    above, below = _infinity(x), _infinity(y)
    if below and not above:
        return make(kind, lambda: where_infinite(node_of(condition), node_of(x), below), [condition, x])
    if above and not below:
        return make(kind, lambda: where_infinite(not_(node_of(condition)), node_of(y), above), [condition, y])
    return make_op(kind, "where", condition, x, y)


def _infinity(value: Any) -> float | None:
    if not isinstance(value, float | np.floating):
        return None
    number = float(cast("float", value))
    return number if isinf(number) else None


def reshape(kind: type[E], x: Any, shape: Any) -> E:
    return make(kind, lambda: build.reshaped(node_of(x), shape_of(shape, rest=True)), [x])


def broadcast_to(kind: type[E], x: Any, shape: Any) -> E:
    return make(kind, lambda: build.broadcast(node_of(x), shape_of(shape)), [x])


def transpose(kind: type[E], x: Any, axes: Any = None) -> E:
    return make(kind, lambda: build.permute(node_of(x), axes), [x])


def swapaxes(kind: type[E], x: Any, axis1: int, axis2: int) -> E:
    return make(kind, lambda: build.swapaxes(node_of(x), axis1, axis2), [x])


def moveaxis(kind: type[E], x: Any, source: Any, destination: Any) -> E:
    return make(kind, lambda: build.moveaxis(node_of(x), source, destination), [x])


def expand_dims(kind: type[E], x: Any, axis: Any) -> E:
    return make(kind, lambda: build.expand_dims(node_of(x), axis), [x])


def take(kind: type[E], x: Any, indices: Any, axis: int | None = None) -> E:
    positions = indices.node if isinstance(indices, Handle) else indices
    return make(kind, lambda: subscripts.take(node_of(x), positions, axis), [x, indices])


def take_along_axis(kind: type[E], x: Any, indices: Any, axis: int) -> E:
    return make(kind, lambda: subscripts.take_along_axis(node_of(x), node_of(indices), axis), [x, indices])


def pad(kind: type[E], x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> E:
    if mode != "constant" or np.any(constant_values != 0):
        raise UnsupportedError(
            "numpy.pad of an expression with something else than zeros",
            expected='mode="constant", and no constant_values but 0',
            cure="join what stands before and after: concatenate((before, x, after))",
        )
    return make(kind, lambda: padding.pad(node_of(x), widths_of(pad_width)), [x])


def convolve(kind: type[E], a: Any, v: Any, mode: str = "full") -> E:
    return make(kind, lambda: sequences.convolve(node_of(a), node_of(v), mode), [a, v])


def correlate(kind: type[E], a: Any, v: Any, mode: str = "valid") -> E:
    return make(kind, lambda: sequences.correlate(node_of(a), node_of(v), mode), [a, v])


def cov(
    kind: type[E], m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None
) -> E:
    return make(kind, lambda: sequences.cov(node_of(m), _node_or_none(y), rowvar, bias, ddof), [m, y])


def corrcoef(kind: type[E], x: Any, y: Any = None, rowvar: bool = True) -> E:
    return make(kind, lambda: sequences.corrcoef(node_of(x), _node_or_none(y), rowvar), [x, y])


def gradient(kind: type[E], f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    spacings = [node_of(h) for h in varargs]
    along = sequences.gradient(lift(kind, f).node, spacings, axis, edge_order)
    found = [make(kind, lambda g=g: g, [f, *varargs]) for g in along]
    return found[0] if len(found) == 1 else tuple(found)


def vander(kind: type[E], x: Any, N: int | None = None, increasing: bool = False) -> E:
    return make(kind, lambda: sequences.vander(node_of(x), N, increasing), [x])


def sort(kind: type[E], a: Any, axis: Any = -1) -> E:
    return make(kind, lambda: sorting.sort(node_of(a), axis), [a])


def argsort(kind: type[E], a: Any, axis: Any = -1) -> E:
    return make(kind, lambda: sorting.argsort(node_of(a), axis), [a])


def median(kind: type[E], a: Any, axis: Any = None, *, keepdims: bool = False) -> E:
    return make(kind, lambda: sorting.median(node_of(a), axis, keepdims), [a])


def quantile(kind: type[E], a: Any, q: Any, axis: Any = None, *, keepdims: bool = False) -> E:
    return make(kind, lambda: sorting.quantile(node_of(a), node_of(q), axis, keepdims), [a, q])


def percentile(kind: type[E], a: Any, q: Any, axis: Any = None, *, keepdims: bool = False) -> E:
    share: Any = q if isinstance(q, int | float) else lift(kind, q)
    return quantile(kind, a, share / 100, axis, keepdims=keepdims)


def searchsorted(kind: type[E], a: Any, v: Any, side: str = "left") -> E:
    return make(kind, lambda: sorting.searchsorted(node_of(a), node_of(v), side), [a, v])


def digitize(kind: type[E], x: Any, bins: Any, right: bool = False) -> E:
    return searchsorted(kind, bins, x, "left" if right else "right")


def interp(kind: type[E], x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> E:
    return make(
        kind,
        lambda: sorting.interp(
            node_of(x), node_of(xp), node_of(fp), _node_or_none(left), _node_or_none(right)
        ),
        [x, xp, fp, left, right],
    )


def _node_or_none(value: Any) -> Node | None:
    return None if value is None else node_of(value)


def _ravel(x: Node) -> Node:
    return build.reshaped(x, (-1,))


def _vstack(xs: Sequence[Node]) -> Node:
    return build.join([x if len(x.shape) > 1 else build.expand_dims(x, 0) for x in map(_line, xs)])


def _hstack(xs: Sequence[Node]) -> Node:
    parts = [_line(x) for x in xs]
    return build.join(parts, 0 if parts and len(parts[0].shape) == 1 else 1)


def _line(x: Node) -> Node:
    return x if x.shape else build.reshaped(x, (1,))


def full_like(kind: type[E], a: Any, fill_value: Any) -> E:
    like = lift(kind, a)
    filled = make(kind, lambda: build.full_array(like.node.shape, node_of(fill_value)), [like, fill_value])
    # The result does not read the array, although the array may be the only input with these sizes.
    return kind(filled.node, listings=filled.listings, sources=(*filled.sources, like.node))


def zeros_like(kind: type[E], a: Any) -> E:
    return full_like(kind, a, 0)


def ones_like(kind: type[E], a: Any) -> E:
    return full_like(kind, a, 1)


def shape(kind: type[E], a: Any) -> Shape:
    return lift(kind, a).node.shape


def ndim(kind: type[E], a: Any) -> int:
    return len(shape(kind, a))


def size(kind: type[E], a: Any, axis: int | None = None) -> Size:
    return size_product(shape(kind, a)) if axis is None else shape(kind, a)[axis]


def _quotient_and_remainder(kind: type[E], x1: Any, x2: Any) -> tuple[E, E]:
    return make_op(kind, "floor_divide", x1, x2), make_op(kind, "remainder", x1, x2)


def one_list(name: str, arrays: Any, axis: Any) -> None:
    """Raise an error for arrays that are passed as separate arguments, since the second argument is the axis."""
    if isinstance(arrays, Handle) and isinstance(axis, Handle):
        raise UsageError(
            f"{name} takes its arrays in one list", expected=f"{name}([a, b], axis=0)", cure=f"{name}([a, b])"
        )


_OWN = (
    *(argsort, median, percentile, quantile, sort),
    *(
        broadcast_to,
        convolve,
        corrcoef,
        correlate,
        cov,
        cumsum,
        digitize,
        einsum,
        expand_dims,
        full_like,
        gradient,
        interp,
        moveaxis,
        ndim,
        ones_like,
        pad,
        reshape,
        shape,
        size,
    ),
    *(searchsorted, swapaxes, take, take_along_axis, tensordot, transpose, vander, where, zeros_like),
)

NUMPY: Mapping[str, Callable[..., Any]] = {
    **{function.__name__: function for function in _OWN},
    **{name: _reduction(name) for name in ("max", "mean", "min", "prod", "sum")},
    **{name: _position(name) for name in ("argmax", "argmin")},
    **{name: _of_two(name, getattr(products, name)) for name in ("dot", "inner", "matmul", "outer")},
    "amax": _reduction("max"),
    "amin": _reduction("min"),
    "var": _spread("var", build.var),
    "std": _spread("std", build.std),
    "squeeze": _along("squeeze", build.squeeze_axes),
    "flip": _along("flip", build.flip),
    "concatenate": _of_list("concatenate", build.join),
    "stack": _of_list("stack", build.stack),
    "vstack": _stacked("vstack", _vstack),
    "hstack": _stacked("hstack", _hstack),
    "ravel": _of_one("ravel", _ravel),
    "diag": _of_one("diag", products.diag),
    "trace": _of_one("trace", products.trace),
    "kron": _of_two("kron", matrices.kron),
    **{name: _along("cumprod", cumprod) for name in ("cumprod", "cumulative_prod", "multiply.accumulate")},
    "cumulative_sum": cumsum,
    "linalg.inv": inv,
    "linalg.det": det,
    "linalg.slogdet": slogdet,
    "linalg.solve": _of_two("solve", matrices.solve),
    "linalg.cholesky": cholesky,
    "linalg.matmul": _of_two("matmul", products.matmul),
    "linalg.outer": _of_two("outer", products.outer),
    "linalg.matrix_power": matrix_power,
    "linalg.norm": norm,
    "linalg.tensordot": tensordot,
    "concat": _of_list("concatenate", build.join),
    "permute_dims": transpose,
    "divmod": _quotient_and_remainder,
    **COMPOSITES,
}
