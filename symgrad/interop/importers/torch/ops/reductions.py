"""torch's reductions as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

import math
from typing import Any

from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.functions.layout import size
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.booleans import all_of, any_of
from symgrad.interop.importers.torch.ops.elementwise import truth
from symgrad.interop.importers.torch.ops.layout import axis_of
from symgrad.interop.importers.torch.table import RefusedError, as_items, as_number, aten, aten_rows
from symgrad.ir.sizes import Size, size_product

__all__ = ["axes_of", "count_over", "length"]


def axes_of(x: Any, dim: Any) -> Any:
    """Return axes counted from the first one; None for all axes."""
    if dim is None or dim == []:
        return None
    dims = as_items(dim) or [dim]
    return tuple(axis_of(x, d) for d in dims) if x.shape else None


def size_over(x: Any, axes: Any) -> Size:
    """Return the number of entries along axes, as a size."""
    return size_product([n for k, n in enumerate(x.shape) if axes is None or k in axes])


def count_over(x: Any, axes: Any) -> Any:
    """Return the number of entries along axes, as a number in a formula."""
    found = size_over(x, axes)
    return found if isinstance(found, int) else size(found)


def _over_axes(function: Any) -> Any:
    def apply(self: Any, dim: Any = None, keepdim: bool = False) -> Expr:
        return function(as_number(self), axes_of(self, dim), keepdims=keepdim)

    return apply


def _extreme(best: Any, where: Any, pair: Any) -> Any:
    def apply(self: Any, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
        if other is not None:
            return pair(self, other)
        if dim is None:
            return best(self)
        # The derivative goes to the entry that is returned, not to all entries equal to it.
        axis = axis_of(self, dim)
        places = where(self, axis, keepdims=True)
        values = l.take_along_axis(self, places, axis)
        return [e if keepdim else l.squeeze(e, axis) for e in (values, places)]

    return apply


def _place(where: Any) -> Any:
    def apply(self: Any, dim: Any = None, keepdim: bool = False) -> Expr:
        return where(self, None if dim is None else axis_of(self, dim), keepdims=keepdim)

    return apply


@aten("var")
def var(
    self: Any, dim: Any = None, unbiased: Any = True, correction: Any = None, keepdim: bool = False
) -> Expr:
    ddof = int(bool(unbiased)) if correction is None else correction
    return a.var(self, axes_of(self, dim), ddof=ddof, keepdims=keepdim)


@aten("std")
def std(
    self: Any, dim: Any = None, unbiased: Any = True, correction: Any = None, keepdim: bool = False
) -> Expr:
    # Return the norm of the distances from the mean; as in torch, its derivative is 0 where all distances are 0.
    ddof, axes = int(bool(unbiased)) if correction is None else correction, axes_of(self, dim)
    apart = self - a.mean(self, axes, keepdims=True)
    return length(apart, axes, keepdim) / f.sqrt(as_expr(count_over(self, axes) - ddof))


def _with_mean(spread: Any) -> Any:
    def apply(
        self: Any, dim: Any = None, unbiased: Any = True, correction: Any = None, keepdim: bool = False
    ) -> Any:
        mean = a.mean(self, axes_of(self, dim), keepdims=keepdim)
        return [spread(self, dim, unbiased, correction, keepdim), mean]

    return apply


def length(x: Any, axes: Any, keepdim: bool) -> Expr:
    """Return the Euclidean norm over axes, as for vectors: its derivative at 0 is 0."""
    chosen = tuple(range(len(x.shape))) if axes is None else axes
    if len(chosen) == 1:
        return a.norm(x, axis=chosen[0], keepdims=keepdim)
    kept = [k for k in range(len(x.shape)) if k not in chosen]
    flat = l.reshape(l.transpose(x, [*kept, *chosen]), (*(x.shape[k] for k in kept), size_over(x, chosen)))
    found = a.norm(flat, axis=len(kept))
    return (
        l.reshape(found, tuple(1 if k in chosen else n for k, n in enumerate(x.shape))) if keepdim else found
    )


@aten("norm", "linalg_vector_norm")
def norm(self: Any, p: Any = None, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Expr:
    kind = p if p is not None else 2 if ord is None else ord
    axes = axes_of(self, dim)
    if kind in (2, "fro"):
        return length(self, axes, keepdim)
    if kind == 1:
        return a.sum(f.abs(self), axes, keepdims=keepdim)
    if kind == math.inf:
        return a.max(f.abs(self), axes, keepdims=keepdim)
    if kind == -math.inf:
        return a.min(f.abs(self), axes, keepdims=keepdim)
    if kind == 0:
        return a.sum(as_number(self != 0), axes, keepdims=keepdim)
    if not isinstance(kind, float | int):
        raise RefusedError(f"a norm of order {kind!r}", expected="a number, or 'fro'")
    powers = a.sum(f.abs(self) ** kind, axes, keepdims=keepdim)
    root = f.where(powers > 0, powers, 1) ** (1 / as_expr(kind))
    return f.where(powers > 0, root, 0)  # in torch the derivative at 0 is 0


def _along(function: Any) -> Any:
    def apply(self: Any, dim: int) -> Expr:
        return function(as_number(self), axis_of(self, dim))

    return apply


# ------------------------------------------------------------------------------------------------- the table

aten_rows(
    {
        "sum": _over_axes(a.sum),
        "mean": _over_axes(a.mean),
        "prod": _over_axes(a.prod),
        "max": _extreme(a.max, a.argmax, f.maximum),
        "min": _extreme(a.min, a.argmin, f.minimum),
        "argmax": _place(a.argmax),
        "argmin": _place(a.argmin),
        "var_mean": _with_mean(var),
        "std_mean": _with_mean(std),
        "amax": lambda self, dim=(), keepdim=False: a.max(self, axes_of(self, list(dim)), keepdims=keepdim),
        "amin": lambda self, dim=(), keepdim=False: a.min(self, axes_of(self, list(dim)), keepdims=keepdim),
        "any": lambda self, dim=None, keepdim=False: any_of(truth(self), axes_of(self, dim), keepdim),
        "all": lambda self, dim=None, keepdim=False: all_of(truth(self), axes_of(self, dim), keepdim),
        "logsumexp": lambda self, dim, keepdim=False: a.logsumexp(self, axes_of(self, dim), keepdims=keepdim),
        "cumsum": lambda self, dim: a.cumsum(as_number(self), axis_of(self, dim)) if self.shape else self,
        "softmax _softmax special_softmax": _along(a.softmax),
        "log_softmax _log_softmax special_log_softmax": _along(a.log_softmax),
    }
)
