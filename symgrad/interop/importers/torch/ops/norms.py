"""torch's normalisations, and dropout that is switched off, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.torch.table import RefusedError, aten, integer_size

__all__: list[str] = []


def _normed(x: Any, axes: Sequence[int], eps: float) -> Expr:
    apart = x - a.mean(x, tuple(axes), keepdims=True)
    return apart / f.sqrt(a.mean(apart**2, tuple(axes), keepdims=True) + eps)


def _affine(y: Any, weight: Any, bias: Any) -> Expr:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


@aten("layer_norm")
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Expr:
    rank = len(input.shape)
    return _affine(_normed(input, range(rank - len(normalized_shape), rank), eps), weight, bias)


@aten("rms_norm")
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Expr:
    if eps is None:
        raise RefusedError("rms_norm without eps, which then depends on the dtype", cure="pass eps=")
    rank = len(input.shape)
    axes = tuple(range(rank - len(normalized_shape), rank))
    return _affine(input / f.sqrt(a.mean(input**2, axes, keepdims=True) + eps), weight, None)


def _channels(e: Any, rank: int) -> Any:
    return e if e is None or rank == 2 else l.reshape(e, (-1, *(1,) * (rank - 2)))


@aten("batch_norm")
def batch_norm(
    input: Any,
    weight: Any = None,
    bias: Any = None,
    running_mean: Any = None,
    running_var: Any = None,
    training: bool = False,
    eps: float = 1e-5,
) -> Expr:
    # In training, the statistics are those of the batch; the update of the running statistics is not part of the
    # function.
    rank = len(input.shape)
    if training:
        y = _normed(input, [k for k in range(rank) if k != 1], eps)
    else:
        y = (input - _channels(running_mean, rank)) / f.sqrt(_channels(running_var, rank) + eps)
    return _affine(y, _channels(weight, rank), _channels(bias, rank))


@aten("instance_norm")
def instance_norm(
    input: Any,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    eps: float = 1e-5,
) -> Expr:
    if not use_input_stats:
        raise RefusedError("instance_norm with running statistics", cure="track_running_stats=False")
    rank = len(input.shape)
    return _affine(_normed(input, range(2, rank), eps), _channels(weight, rank), _channels(bias, rank))


@aten("group_norm")
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Expr:
    batch, channels, *space = input.shape
    parts = l.reshape(input, (batch, num_groups, integer_size(channels) // num_groups, *space))
    y = l.reshape(_normed(parts, range(2, len(parts.shape)), eps), input.shape)
    rank = len(input.shape)
    return _affine(y, _channels(weight, rank), _channels(bias, rank))


def _dropped(name: str) -> None:
    def apply(input: Any, p: float, train: bool) -> Any:
        if train and p > 0:
            raise RefusedError(
                "dropout that is on draws noise",
                cure="module.eval() for none; or pass the mask as an argument: x*mask/(1 - p)",
            )
        return input

    aten(name)(apply)


for _name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
    _dropped(_name)
