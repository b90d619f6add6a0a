"""Layout operations and constants of torch as expressions; views define the effect of writes through them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.torch.ops.elementwise import truth
from symgrad.interop.importers.torch.table import (
    RefusedError,
    alias,
    as_items,
    as_number,
    aten,
    aten_rows,
    integer_size,
)
from symgrad.interop.importers.windows import padded

__all__ = ["axis_of"]


def axis_of(x: Any, dim: int) -> int:
    """Return an axis counted from the first one."""
    return dim + len(x.shape) if dim < 0 else dim


# ------------------------------------------------------------------------------------------------ the same entries


def _back(self: Any, _new: Any, **_: Any) -> Expr:
    return l.reshape(_new, self.shape)


@alias(
    "view",
    "view_as",
    "reshape",
    "reshape_as",
    "_unsafe_view",
    "flatten",
    "unflatten",
    "unsqueeze",
    "squeeze",
    put=_back,
)
def reshaped(self: Any, _out: Any) -> Expr:
    return self if self.shape == _out else l.reshape(self, _out)


def _unmoved(_: Any, _new: Any) -> Expr:
    return _new


@alias("contiguous", "alias", "view_of", "lift_fresh", put=_unmoved)
def unmoved(self: Any) -> Any:
    return self


def _inverse(axes: Sequence[int]) -> list[int]:
    return sorted(range(len(axes)), key=axes.__getitem__)


def _axes(x: Any, dims: Sequence[int]) -> list[int]:
    return [axis_of(x, d) for d in dims]


@alias("permute", put=lambda self, dims, _new: l.transpose(_new, _inverse(_axes(self, dims))))
def permute(self: Any, dims: Any) -> Expr:
    return l.transpose(self, _axes(self, dims))


@alias("swapaxes", put=lambda self, axis0, axis1, _new: l.swapaxes(_new, axis0, axis1))
def swapaxes(self: Any, axis0: int, axis1: int) -> Expr:
    return transpose(self, axis0, axis1)


@alias("transpose", "swapdims", put=lambda self, dim0, dim1, _new: l.swapaxes(_new, dim0, dim1))
def transpose(self: Any, dim0: int, dim1: int) -> Expr:
    return l.swapaxes(self, dim0, dim1) if self.shape else self


@alias("t", "numpy_T", put=lambda self, _new: l.transpose(_new))
def reversed_axes(self: Any) -> Expr:
    return l.transpose(self)


@alias("mT", "adjoint", put=lambda self, _new: l.swapaxes(_new, -1, -2))
def matrix_transpose(self: Any) -> Expr:
    return l.swapaxes(self, -1, -2)


@alias(
    "movedim", "moveaxis", put=lambda self, source, destination, _new: l.moveaxis(_new, destination, source)
)
def movedim(self: Any, source: Any, destination: Any) -> Expr:
    return l.moveaxis(self, source, destination)


@alias("expand", "expand_as", "broadcast_to")
def expand(self: Any, _out: Any) -> Expr:
    return self if as_expr(self).shape == _out else l.broadcast_to(as_expr(self), _out)


@aten("repeat")
def repeat(self: Any, repeats: Any) -> Expr:
    x = l.reshape(self, (*(1,) * (len(repeats) - len(self.shape)), *self.shape))
    for axis, times in enumerate(repeats):
        if times != 1:
            x = l.concatenate([x] * times, axis)
    return x


@aten("repeat_interleave")
def repeat_interleave(self: Any, repeats: Any, dim: Any = None) -> Expr:
    if not isinstance(repeats, int):
        raise RefusedError("repeat_interleave by a tensor: the size of its result depends on values")
    x, axis = (l.reshape(self, (-1,)), 0) if dim is None else (self, axis_of(self, dim))
    places = [k for k in range(integer_size(x.shape[axis])) for _ in range(repeats)]
    return l.take(x, places, axis)


@aten("roll")
def roll(self: Any, shifts: Any, dims: Any = ()) -> Expr:
    shifts = as_items(shifts) or [shifts]
    dims = as_items(dims) if as_items(dims) is not None else [dims]
    x = self if dims else l.reshape(self, (-1,))
    for shift, dim in zip(shifts, dims or [0], strict=True):
        axis = axis_of(x, dim)
        n = integer_size(x.shape[axis])
        cut = -shift % n if n else 0
        if cut:
            lead = (slice(None),) * axis
            x = l.concatenate([x[(*lead, slice(cut, None))], x[(*lead, slice(None, cut))]], axis)
    return x if dims else l.reshape(x, self.shape)


# ------------------------------------------------------------------------------------------------------------- parts


_END = 2**62  # the end of an open slice in torch


def _between(x: Any, axis: int, start: Any, end: Any) -> slice:
    n = x.shape[axis]
    if not isinstance(n, int) or isinstance(start, Expr) or isinstance(end, Expr):
        return slice(start or None, None if isinstance(end, int) and end >= _END else end)
    low = 0 if start is None else max(start + n, 0) if start < 0 else min(start, n)
    high = n if end is None else max(end + n, 0) if end < 0 else min(end, n)
    return slice(low, max(low, high))


def _put(x: Any, axis: int, low: int, high: int, new: Any) -> Expr:
    lead = (slice(None),) * axis
    parts = [x[(*lead, slice(0, low))], new, x[(*lead, slice(high, None))]]
    return l.concatenate([p for p in parts if p.shape[axis] != 0] or [new], axis)


def _put_slice(self: Any, _new: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Expr:
    axis = axis_of(self, dim)
    part = _between(self, axis, start, end)
    if step == 1:
        return _put(self, axis, part.start, part.stop, _new)
    n, last = integer_size(self.shape[axis]), integer_size(_new.shape[axis]) - 1
    chosen = list(range(part.start, part.stop, step))
    spread = l.take(_new, [min(chosen.index(k), last) if k in chosen else 0 for k in range(n)], axis)
    inside = [[k in chosen] for k in range(n)]
    mask = l.reshape(as_expr([int(i[0]) for i in inside]), (n, *(1,) * (len(self.shape) - axis - 1)))
    return f.where(mask == 1, spread, self)


@alias("slice", put=_put_slice)
def slice_(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Expr:
    axis = axis_of(self, dim)
    part = _between(self, axis, start, end)
    stop = self.shape[axis] if part.stop is None else part.stop
    if (part.start or 0, stop, step) == (0, self.shape[axis], 1):
        return self
    return self[(*(slice(None),) * axis, slice(part.start, part.stop, step))]


@alias(
    "narrow", put=lambda self, dim, start, length, _new: _put_slice(self, _new, dim, start, start + length)
)
def narrow(self: Any, dim: int, start: int, length: int) -> Expr:
    return slice_(self, dim, start, start + length)


def _put_select(self: Any, _new: Any, dim: int, index: int) -> Expr:
    axis = axis_of(self, dim)
    place = index % integer_size(self.shape[axis])
    return _put(self, axis, place, place + 1, l.expand_dims(_new, axis))


@alias("select", put=_put_select)
def select(self: Any, dim: int, index: int) -> Expr:
    return self[(*(slice(None),) * axis_of(self, dim), index)]


@alias("split", "split_with_sizes", "chunk", "unsafe_split", "unsafe_chunk", "tensor_split")
def split(self: Any, _out: Any, dim: int = 0) -> list[Expr]:
    axis, start, parts = axis_of(self, dim), 0, list[Expr]()
    for shape in _out:
        parts.append(slice_(self, axis, start, start + shape[axis]))
        start += shape[axis]
    return parts


@alias("unbind")
def unbind(self: Any, dim: int = 0) -> list[Expr]:
    axis = axis_of(self, dim)
    return [select(self, axis, k) for k in range(integer_size(self.shape[axis]))]


@alias("diagonal")
def diagonal(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Expr:
    if offset:
        raise RefusedError(f"diagonal with offset={offset}")
    x = l.moveaxis(self, (axis_of(self, dim1), axis_of(self, dim2)), (-2, -1))
    n = min(integer_size(x.shape[-1]), integer_size(x.shape[-2]))
    return a.einsum("...ii->...i", x[..., :n, :n])


@aten("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> Expr:
    whole = [t for t in tensors if t.shape != (0,)] or tensors[:1]  # torch ignores empty vectors
    return l.concatenate(whole, axis_of(whole[0], dim)) if len(whole) > 1 else whole[0]


@aten("pad", "constant_pad_nd")
def pad(self: Any, pad: Any, mode: str = "constant", value: Any = None) -> Expr:
    if mode != "constant":
        raise RefusedError(f"padding of mode {mode!r}", expected="constant")
    rank = len(self.shape)
    axes = [rank - 1 - k for k in range(len(pad) // 2)]
    return padded(self, axes, [(pad[2 * k], pad[2 * k + 1]) for k in range(len(axes))], value or 0)


# --------------------------------------------------------------------------------------------------------- constants


@aten("full", "full_like", "new_full", "scalar_tensor")
def full(_out: Any, _kind: str, fill_value: Any = None, s: Any = None) -> Expr:
    return _constant(s if fill_value is None else fill_value, _out, _kind)


def _constant(value: Any, shape: Any, kind: str) -> Expr:
    found = l.full(shape, as_number(value))
    return truth(found) if kind == "bool" else found


@aten("arange")
def arange(_out: Any, _kind: str, start: Any = 0, step: Any = 1) -> Expr:
    found = l.arange(_out[0])
    found = found if step == 1 else found * step
    return found if start == 0 else found + start


@aten("linspace")
def linspace(start: Any, end: Any, steps: int) -> Expr:
    return start + l.arange(steps) * (as_expr(end) - start) / max(steps - 1, 1)


# ------------------------------------------------------------------------------------------------- rules of one line

aten_rows(
    {
        "clone lift_fresh_copy": lambda self: self,
        "broadcast_tensors": lambda tensors, _out: [expand(t, s) for t, s in zip(tensors, _out, strict=True)],
        "flip": lambda self, dims: l.flip(self, tuple(_axes(self, dims))),
        "stack": lambda tensors, dim=0: l.stack(tensors, dim + len(tensors[0].shape) + 1 if dim < 0 else dim),
        # Uninitialised entries are arbitrary, so 0 is a valid value.
        "zeros zeros_like new_zeros empty empty_like new_empty": lambda _out, _kind: _constant(
            0, _out, _kind
        ),
        "ones ones_like new_ones": lambda _out, _kind: _constant(1, _out, _kind),
        "eye": lambda _out, _kind: l.eye(*_out) > 0 if _kind == "bool" else l.eye(*_out),
    }
)
