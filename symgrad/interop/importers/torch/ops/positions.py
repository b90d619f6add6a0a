"""torch's operations that read and write entries at positions, as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

import math
from typing import Any

from symgrad.api.derivatives.differentiate import stop_gradient
from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.linear import triangle
from symgrad.interop.importers.torch.ops.elementwise import choose
from symgrad.interop.importers.torch.ops.layout import axis_of
from symgrad.interop.importers.torch.table import RefusedError, aten, aten_rows

__all__: list[str] = []


@aten("embedding")
def embedding(weight: Any, indices: Any, padding_idx: int = -1) -> Expr:
    rows = l.take(weight, indices, 0)
    if padding_idx < 0:
        return rows
    still = l.expand_dims(indices == padding_idx, len(indices.shape))
    return f.where(l.broadcast_to(still, rows.shape), stop_gradient(rows), rows)


@aten("index")
def index(self: Any, indices: Any) -> Expr:
    for i in indices:
        if i is not None and i.dtype == "bool":
            raise RefusedError(
                "a mask as a subscript: the size of its result depends on values",
                cure="torch.where(mask, x, 0)",
            )
    key = tuple(slice(None) if i is None else i for i in indices)
    return self[key]


@aten("take_along_dim")
def take_along_dim(self: Any, indices: Any, dim: Any = None) -> Expr:
    if dim is None:
        return l.take(l.reshape(self, (-1,)), indices, 0)
    return l.take_along_axis(self, indices, axis_of(self, dim))


@aten("gather")
def gather(self: Any, dim: int, index: Any) -> Expr:
    if not self.shape:
        return self
    axis = axis_of(self, dim)
    key = tuple(
        slice(None) if k == axis or m == n else slice(0, m)
        for k, (n, m) in enumerate(zip(self.shape, index.shape, strict=True))
    )
    return l.take_along_axis(self[key] if any(s != slice(None) for s in key) else self, index, axis)


def _spread(x: Any, axis: int, index: Any) -> tuple[Expr, str]:
    """Return a mask of places on a new last axis to which entries of a source go, and how to sum over the source."""
    if tuple(n for k, n in enumerate(index.shape) if k != axis) != tuple(
        n for k, n in enumerate(x.shape) if k != axis
    ):
        raise RefusedError(
            "positions for a part of the other axes alone", cure="slice the tensor to these first"
        )
    placed = l.one_hot(index, x.shape[axis])  # the axes are (..., source, ..., place)
    letters = "abcdefgh"[: len(x.shape)]
    return placed, f"{letters}z,{letters}->{letters[:axis]}z{letters[axis + 1 :]}"


@aten("scatter_add")
def scatter_add(self: Any, dim: int, index: Any, src: Any) -> Expr:
    axis = axis_of(self, dim)
    src = src[tuple(slice(0, n) for n in index.shape)] if src.shape != index.shape else src
    if len(self.shape) == 1:
        return self + l.scatter_add(src, index, self.shape)
    placed, how = _spread(self, axis, index)
    return self + a.einsum(how, placed, src)


@aten("index_add")
def index_add(self: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Expr:
    axis = axis_of(self, dim)
    rows = l.moveaxis(source, axis, 0)
    moved = l.moveaxis(self, axis, 0)
    added = l.moveaxis(l.scatter_add(rows, index, moved.shape), 0, axis)
    return self + (added if alpha == 1 else alpha * added)


@aten("scatter")
def scatter(self: Any, dim: int, index: Any, value: Any = None) -> Expr:
    if value is None:
        raise RefusedError(
            "scatter of a tensor: which of equal positions wins is not said", cure="scatter_add"
        )
    axis = axis_of(self, dim)
    placed, how = _spread(self, axis, index)
    return f.where(a.einsum(how, placed, l.ones(index.shape)) > 0, value, self)


@aten("scatter_reduce")
def scatter_reduce(self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True) -> Expr:
    axis = axis_of(self, dim)
    src = src[tuple(slice(0, n) for n in index.shape)] if src.shape != index.shape else src
    placed, how = _spread(self, axis, index)
    count = a.einsum(how, placed, l.ones(index.shape))
    neutral = {"prod": 1, "amax": -math.inf, "amin": math.inf}.get(reduce, 0)
    chosen = l.swapaxes(f.where(placed > 0, l.expand_dims(src, -1), neutral), axis, -1)
    own = self if include_self else f.where(count > 0, neutral, self)
    both = l.concatenate([l.expand_dims(own, -1), chosen], -1)
    over = {"prod": a.prod, "amax": a.max, "amin": a.min}.get(reduce, a.sum)
    found = over(both, axis=len(self.shape))
    return found / f.maximum(count + int(include_self), 1) if reduce == "mean" else found


@aten("index_put")
def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Expr:
    if (
        len(indices) == 1
        and indices[0].dtype == "bool"
        and not accumulate
        and as_expr(values).shape in ((), (1,))
    ):
        mask = indices[0]
        mask = l.reshape(mask, (*mask.shape, *(1,) * (len(self.shape) - len(mask.shape))))
        value = l.reshape(values, ()) if as_expr(values).shape else values
        return choose(l.broadcast_to(mask, self.shape), value, self)
    if len(indices) == 1 and accumulate and indices[0].dtype == "int":
        rows = l.broadcast_to(as_expr(values), (*indices[0].shape, *self.shape[1:]))
        return self + l.scatter_add(rows, indices[0], self.shape)
    raise RefusedError(
        "a write at positions that are tensors", cure="torch.where(mask, new, old), or scatter_add"
    )


@aten("one_hot")
def one_hot(self: Any, num_classes: int = -1) -> Expr:
    if num_classes < 0:
        raise RefusedError("one_hot without a number of classes", cure="pass num_classes=")
    return l.one_hot(self, num_classes)


# ------------------------------------------------------------------------------------------------- rules of one line

aten_rows(
    {
        "index_select": lambda self, dim, index: (
            l.take(self, index, axis_of(self, dim)) if self.shape else self
        ),
        "tril": lambda self, diagonal=0: triangle(self, lower=True, diagonal=diagonal),
        "triu": lambda self, diagonal=0: triangle(self, lower=False, diagonal=diagonal),
    }
)
