"""What NumPy's functions mean when they are called on expressions, by their names in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symgrad.api import arrays, functions, layout, matrices
from symgrad.api.expr import Expr, as_expr, built, node_of
from symgrad.ir.sizes import Shape, Size
from symgrad.ops import build

__all__ = ["NUMPY"]


def slogdet(a: Any) -> tuple[Expr, Expr]:
    return functions.sign(matrices.det(a)), matrices.logdet(a)


def ravel(x: Any) -> Expr:
    return layout.reshape(x, (-1,))


def vstack(tup: Sequence[Any]) -> Expr:
    return layout.concatenate([_rows(x) for x in tup])


def hstack(tup: Sequence[Any]) -> Expr:
    parts = [_line(x) for x in tup]
    return layout.concatenate(parts, axis=0 if parts and parts[0].ndim == 1 else 1)


def _line(x: Any) -> Expr:
    x = as_expr(x)
    return x if x.ndim else layout.reshape(x, (1,))


def _rows(x: Any) -> Expr:
    x = _line(x)
    return x if x.ndim > 1 else layout.expand_dims(x, 0)


def full_like(a: Any, fill_value: Any) -> Expr:
    like = as_expr(a)
    filled = built(lambda: build.full_array(like.shape, node_of(fill_value)), [like, fill_value])
    # The result does not read the array, which alone may know the sizes.
    return Expr(filled.node, listings=filled.listings, sources=(*filled.sources, like.node))


def zeros_like(a: Any) -> Expr:
    return full_like(a, 0)


def ones_like(a: Any) -> Expr:
    return full_like(a, 1)


def shape(a: Any) -> Shape:
    return as_expr(a).shape


def ndim(a: Any) -> int:
    return as_expr(a).ndim


def size(a: Any, axis: int | None = None) -> Size:
    return as_expr(a).size if axis is None else as_expr(a).shape[axis]


_REDUCTIONS = """
    argmax argmin cumsum diag dot einsum inner matmul max mean min outer prod std sum tensordot var
"""
_LAYOUT = """
    broadcast_to concatenate expand_dims flip moveaxis reshape squeeze stack swapaxes take take_along_axis transpose
"""

NUMPY: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(arrays, name) for name in _REDUCTIONS.split()},
    **{name: getattr(layout, name) for name in _LAYOUT.split()},
    "amax": arrays.max,
    "amin": arrays.min,
    "sinc": functions.sinc,
    "where": functions.where,
    "linalg.norm": arrays.norm,
    "linalg.matmul": arrays.matmul,
    "linalg.inv": matrices.inv,
    "linalg.det": matrices.det,
    "linalg.solve": matrices.solve,
    "linalg.matrix_power": matrices.matrix_power,
    "linalg.outer": arrays.outer,
    "linalg.slogdet": slogdet,
    "kron": matrices.kron,
    "trace": matrices.trace,
    "ravel": ravel,
    "vstack": vstack,
    "hstack": hstack,
    "full_like": full_like,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "shape": shape,
    "ndim": ndim,
    "size": size,
}
