"""torch's convolutions and pooling as expressions."""

from __future__ import annotations

import math
from typing import Any

from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.torch.ops.layout import axis_of
from symgrad.interop.importers.torch.table import RefusedError, alias, as_items, aten, integer_size
from symgrad.interop.importers.windows import convolved, dilated, padded, windows

__all__: list[str] = []


def _each(value: Any, rank: int) -> list[int]:
    values = as_items(value) or [value]
    return values * rank if len(values) == 1 else values


def _batched(input: Any, rank: int) -> tuple[Any, bool]:
    single = len(input.shape) == rank + 1
    return (input[None] if single else input), single


def _with_bias(y: Any, bias: Any, rank: int, single: bool) -> Expr:
    y = y if bias is None else y + bias[(slice(None), *(None,) * rank)]
    return y[0] if single else y


@aten("conv1d", "conv2d", "conv3d")
def conv(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Expr:
    rank = len(weight.shape) - 2
    x, single = _batched(input, rank)
    steps = _each(dilation, rank)
    if isinstance(padding, str):
        reach = [
            (integer_size(n) - 1) * d if padding == "same" else 0
            for n, d in zip(weight.shape[2:], steps, strict=True)
        ]
        pads = [(r // 2, r - r // 2) for r in reach]
    else:
        pads = [(p, p) for p in _each(padding, rank)]
    return _with_bias(convolved(x, weight, _each(stride, rank), pads, steps, groups), bias, rank, single)


@aten("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Expr:
    # Return the transpose of conv as a linear map: a convolution of the dilated input with the reversed window.
    rank = len(weight.shape) - 2
    x, single = _batched(input, rank)
    axes, steps = range(2, 2 + rank), _each(dilation, rank)
    channels, per, *window = (integer_size(n) for n in weight.shape)
    pads = [
        ((n - 1) * d - p, (n - 1) * d - p + o)
        for n, d, p, o in zip(window, steps, _each(padding, rank), _each(output_padding, rank), strict=True)
    ]
    turned = l.flip(l.reshape(weight, (groups, channels // groups, per, *window)), tuple(range(3, 3 + rank)))
    turned = l.reshape(l.swapaxes(turned, 1, 2), (groups * per, channels // groups, *window))
    spread = dilated(x, axes, _each(stride, rank))
    return _with_bias(convolved(spread, turned, [1] * rank, pads, steps, groups), bias, rank, single)


def _pooling_windows(
    x: Any, rank: int, window: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """Return windows over the last axes, with a mask of their padding (None if there is no padding)."""
    lengths, gaps = _each(window, rank), _each(dilation, rank)
    steps, pads = _each(window if stride in ((), [], None) else stride, rank), _each(padding, rank)
    axes = [len(x.shape) - rank + k for k in range(rank)]
    for axis, n, s, p, d in zip(axes, lengths, steps, pads, gaps, strict=True):
        if ceil_mode and (integer_size(x.shape[axis]) + 2 * p - d * (n - 1) - 1) % s:
            raise RefusedError("ceil_mode=True where windows reach beyond the edge", cure="pad the input")

    def over(y: Any) -> Expr:
        both = windows(padded(y, axes, [(p, p) for p in pads]), axes, lengths, steps, gaps)
        lead = len(x.shape) - rank
        order = [*range(lead), *range(lead, lead + 2 * rank, 2), *range(lead + 1, lead + 2 * rank, 2)]
        both = l.transpose(both, order)
        return l.reshape(both, (*both.shape[: lead + rank], math.prod(lengths)))

    return over(x), over(l.ones(x.shape)) > 0 if any(pads) else None


def _max_pool(rank: int) -> Any:
    def apply(
        self: Any,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Expr:
        seen, inside = _pooling_windows(self, rank, kernel_size, stride, padding, dilation, ceil_mode)
        if inside is not None:
            seen = f.where(inside, seen, -math.inf)
        # The derivative goes to the first of several equal entries.
        axis = len(seen.shape) - 1
        return l.squeeze(l.take_along_axis(seen, a.argmax(seen, axis, keepdims=True), axis), axis)

    return apply


def _avg_pool(rank: int) -> Any:
    def apply(
        self: Any,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Expr:
        seen, inside = _pooling_windows(self, rank, kernel_size, stride, padding, 1, ceil_mode)
        axis = len(seen.shape) - 1
        if divisor_override is not None:
            return a.sum(seen, axis) / divisor_override
        if inside is not None and not count_include_pad:
            return a.sum(seen, axis) / a.sum(f.where(inside, 1, 0), axis)
        return a.mean(seen, axis)

    return apply


def _adaptive(rank: int) -> Any:
    def apply(self: Any, _out: Any) -> Expr:
        x, lead = self, len(self.shape) - rank
        for k in range(rank):
            n, m = integer_size(x.shape[lead + k]), integer_size(_out[lead + k])
            if n == m:
                continue
            if m == 1:
                x = a.mean(x, lead + k, keepdims=True)
            elif n % m == 0:
                x = a.mean(
                    l.reshape(x, (*x.shape[: lead + k], m, n // m, *x.shape[lead + k + 1 :])), lead + k + 1
                )
            else:  # the windows have different lengths, and overlap
                parts = [
                    a.mean(
                        x[(*(slice(None),) * (lead + k), slice(i * n // m, -(-(i + 1) * n // m)))], lead + k
                    )
                    for i in range(m)
                ]
                x = l.stack(parts, lead + k)
        return x

    return apply


@alias("unfold")
def unfold(self: Any, dimension: int, size: int, step: int) -> Expr:
    axis = axis_of(self, dimension)
    return l.moveaxis(windows(self, [axis], [size], [step], [1]), axis + 1, -1)


@aten("im2col")
def flat_windows(self: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Expr:
    x, single = _batched(self, 2)
    seen, _ = _pooling_windows(x, 2, kernel_size, stride, padding, dilation, False)
    batch, channels, *counts, length = seen.shape
    blocks = l.reshape(l.moveaxis(seen, -1, 2), (batch, channels * length, math.prod(counts)))
    return blocks[0] if single else blocks


for _rank in (1, 2, 3):
    aten(f"max_pool{_rank}d")(_max_pool(_rank))
    aten(f"avg_pool{_rank}d")(_avg_pool(_rank))
    aten(f"adaptive_avg_pool{_rank}d")(_adaptive(_rank))
