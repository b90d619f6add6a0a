"""torch's sorting, and running products, as expressions."""

from __future__ import annotations

import math
import operator
from typing import Any

from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.sorting import cumulative, propagate_nan, sort_along, sort_positions
from symgrad.interop.importers.torch.ops.layout import axis_of
from symgrad.interop.importers.torch.table import RefusedError, as_number, aten, integer_size

__all__: list[str] = []


@aten("sort")
def sort(self: Any, dim: int = -1, descending: bool = False) -> list[Expr]:
    return list(sort_along(self, axis_of(self, dim), descending=descending))


@aten("msort")
def msort(self: Any) -> Expr:
    return sort(self, 0)[0]


@aten("argsort")
def argsort(self: Any, dim: int = -1, descending: bool = False) -> Expr:
    return sort_positions(self, axis_of(self, dim), descending=descending)


@aten("topk")
def topk(self: Any, k: int, dim: int = -1, largest: bool = True) -> list[Expr]:
    key = (*(slice(None),) * axis_of(self, dim), slice(0, k))
    return [e[key] for e in sort(self, dim, descending=largest)]


def _kth(x: Any, k: int, axis: int, keepdim: bool) -> list[Expr]:
    key = (*(slice(None),) * axis, slice(k, k + 1))
    found = [e[key] for e in sort_along(x, axis)]
    return found if keepdim else [l.squeeze(e, axis) for e in found]


@aten("kthvalue")
def kthvalue(self: Any, k: int, dim: int = -1, keepdim: bool = False) -> list[Expr]:
    return _kth(self, k - 1, axis_of(self, dim), keepdim)


@aten("median")
def median(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
    # Return the lower median of an even number of entries; if an entry is NaN, NaN at an unspecified position.
    x, axis = (l.reshape(self, (-1,)), 0) if dim is None else (self, axis_of(self, dim))
    values, places = _kth(x, (integer_size(x.shape[axis]) - 1) // 2, axis, keepdim)
    values = propagate_nan(values, x, axis, keepdims=keepdim)
    return values if dim is None else [values, places]


@aten("quantile")
def quantile(
    self: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Expr:
    if not isinstance(q, float | int):
        raise RefusedError("quantiles at computed places", expected="a Python number")
    x, axis = (l.reshape(self, (-1,)), 0) if dim is None else (self, axis_of(self, dim))
    at = q * (integer_size(x.shape[axis]) - 1)
    low, high = math.floor(at), math.ceil(at)
    chosen = {"lower": low, "higher": high, "nearest": round(at)}.get(interpolation)
    ends = [_kth(x, k, axis, keepdim)[0] for k in ((low, high) if chosen is None else (chosen, chosen))]
    share = 0.5 if interpolation == "midpoint" and low != high else at - low
    found = ends[0] if low == high or chosen is not None else ends[0] + share * (ends[1] - ends[0])
    found = propagate_nan(found, x, axis, keepdims=keepdim)
    return l.reshape(found, (1,) * len(self.shape)) if dim is None and keepdim else found


@aten("cumprod")
def cumprod(self: Any, dim: int) -> Expr:
    return cumulative(as_number(self), axis_of(self, dim), operator.mul) if self.shape else self


@aten("logcumsumexp")
def logcumsumexp(self: Any, dim: int) -> Expr:
    return cumulative(self, axis_of(self, dim), f.logaddexp) if self.shape else self


@aten("diff")
def diff(self: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Expr:
    axis = axis_of(self, dim)
    parts = [e for e in (prepend, self, append) if e is not None]
    x, lead = l.concatenate(parts, axis) if len(parts) > 1 else self, (slice(None),) * axis
    for _ in range(n):
        x = x[(*lead, slice(1, None))] - x[(*lead, slice(None, -1))]
    return x


@aten("meshgrid")
def meshgrid(tensors: Any, indexing: str = "ij") -> list[Expr]:
    if indexing != "ij":
        raise RefusedError(f"indexing={indexing!r}", cure="indexing='ij', and swap the axes")
    shape = tuple(t.shape[0] if t.shape else 1 for t in tensors)
    return [
        l.broadcast_to(l.reshape(t, (*(1,) * k, n, *(1,) * (len(shape) - k - 1))), shape)
        for k, (t, n) in enumerate(zip(tensors, shape, strict=True))
    ]
