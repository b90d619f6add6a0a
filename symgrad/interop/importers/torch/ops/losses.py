"""torch's losses as expressions."""

from __future__ import annotations

import math
from typing import Any

from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.booleans import as_number
from symgrad.interop.importers.torch.ops.elementwise import clamp_min
from symgrad.interop.importers.torch.ops.reductions import count_over, norm
from symgrad.interop.importers.torch.table import RefusedError, aten, integer_size

__all__: list[str] = []


def _reduced(e: Any, reduction: int) -> Expr:
    return e if reduction == 0 else a.mean(e) if reduction == 1 else a.sum(e)


@aten("mse_loss")
def mse_loss(self: Any, target: Any, reduction: int = 1) -> Expr:
    return _reduced((self - target) ** 2, reduction)


@aten("l1_loss")
def l1_loss(self: Any, target: Any, reduction: int = 1) -> Expr:
    return _reduced(f.abs(self - target), reduction)


@aten("huber_loss")
def huber_loss(self: Any, target: Any, reduction: int = 1, delta: Any = 1.0) -> Expr:
    return _reduced(f.huber(delta, self - target), reduction)


@aten("smooth_l1_loss")
def smooth_l1_loss(self: Any, target: Any, reduction: int = 1, beta: Any = 1.0) -> Expr:
    if beta == 0:
        return l1_loss(self, target, reduction)
    return _reduced(f.huber(beta, self - target) / beta, reduction)


@aten("binary_cross_entropy")
def binary_cross_entropy(self: Any, target: Any, weight: Any = None, reduction: int = 1) -> Expr:
    logs = [
        f.where(e < -100, -100, e) for e in (f.log(self), f.log1p(-self))
    ]  # torch bounds logarithms from below by -100
    loss = -(target * logs[0] + (1 - target) * logs[1])
    return _reduced(loss if weight is None else weight * loss, reduction)


@aten("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    self: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Expr:
    rate = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * self + rate * f.softplus(-self)
    return _reduced(loss if weight is None else weight * loss, reduction)


@aten("kl_div")
def kl_div(self: Any, target: Any, reduction: int = 1, log_target: bool = False) -> Expr:
    loss = f.exp(target) * (target - self) if log_target else f.xlogy(target, target) - target * self
    return _reduced(loss, reduction)


@aten("nll_loss", "nll_loss_nd", "nll_loss2d")
def nll_loss(
    self: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100
) -> Expr:
    axis = 0 if len(self.shape) == 1 else 1
    classes = integer_size(self.shape[axis])
    valid = None
    if (
        -classes <= ignore_index < classes
    ):  # otherwise it is a position outside the axis, which a call refuses
        valid = f.where(target == ignore_index, 0, 1)
        target = f.where(target == ignore_index, 0, target)
    picked = l.squeeze(l.take_along_axis(self, l.expand_dims(target, axis), axis), axis)
    rate = valid if weight is None else l.take(weight, target, 0) * (1 if valid is None else valid)
    if rate is None:
        return _reduced(-picked, reduction)
    loss = -rate * picked
    return a.sum(loss) / a.sum(rate) if reduction == 1 else _reduced(loss, reduction)


@aten("cross_entropy_loss")
def cross_entropy_loss(
    self: Any,
    target: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: Any = 0.0,
) -> Expr:
    axis = 0 if len(self.shape) == 1 else 1
    logs = a.log_softmax(self, axis)
    classes = integer_size(self.shape[axis])
    by_class = None if weight is None else l.reshape(weight, (-1, *(1,) * (len(self.shape) - axis - 1)))
    if target.dtype == "real":  # probabilities
        if label_smoothing:
            target = target * (1 - label_smoothing) + as_expr(label_smoothing) / classes
        loss = -a.sum(target * logs if by_class is None else target * logs * by_class, axis)
        return a.sum(loss) / (count_over(loss, None)) if reduction == 1 else _reduced(loss, reduction)
    plain = nll_loss(logs, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return plain
    if -classes <= ignore_index < classes:
        raise RefusedError("label_smoothing with an ignore_index among the classes")
    spread = -a.sum(logs if by_class is None else logs * by_class, axis)
    if reduction == 1 and weight is not None:
        spread = a.sum(spread) / a.sum(l.take(weight, target, 0))
    else:
        spread = _reduced(spread, reduction)
    return (1 - label_smoothing) * plain + as_expr(label_smoothing) / classes * spread


# --------------------------------------------------------------------------------- of distances and of ranks


@aten("pairwise_distance")
def pairwise_distance(x1: Any, x2: Any, p: Any = 2, eps: float = 1e-6, keepdim: bool = False) -> Expr:
    return norm(x1 - x2 + eps, p=p, dim=-1, keepdim=keepdim)


@aten("triplet_margin_loss")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: Any = 1.0,
    p: Any = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Expr:
    near, far = (pairwise_distance(anchor, e, p, eps) for e in (positive, negative))
    if swap:
        far = f.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced(clamp_min(margin + near - far, 0), reduction)


@aten("margin_ranking_loss")
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: Any = 0.0, reduction: int = 1) -> Expr:
    return _reduced(clamp_min(margin - target * (input1 - input2), 0), reduction)


@aten("hinge_embedding_loss")
def hinge_embedding_loss(self: Any, target: Any, margin: Any = 1.0, reduction: int = 1) -> Expr:
    loss = f.where(target != 1, clamp_min(margin - self, 0), 0) + f.where(target != -1, self, 0)
    return _reduced(loss, reduction)


@aten("cosine_embedding_loss")
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: Any = 0.0, reduction: int = 1
) -> Expr:
    axis = len((input1 * input2).shape) - 1
    squares = [a.sum(e * e, axis) + 1e-12 for e in (input1, input2)]
    cosine = a.sum(input1 * input2, axis) / f.sqrt(squares[0] * squares[1])
    loss = f.where(target == 1, 1 - cosine, 0) + f.where(target == -1, clamp_min(cosine - margin, 0), 0)
    return _reduced(loss, reduction)


# ---------------------------------------------------------------------------------------- of signs, classes and counts


@aten("soft_margin_loss")
def soft_margin_loss(self: Any, target: Any, reduction: int = 1) -> Expr:
    return _reduced(f.softplus(-target * self), reduction)


@aten("multi_margin_loss")
def multi_margin_loss(
    self: Any, target: Any, p: Any = 1, margin: Any = 1, weight: Any = None, reduction: int = 1
) -> Expr:
    classes, label = self.shape[-1], l.expand_dims(target, -1)
    apart = f.relu(margin - l.take_along_axis(self, label, len(self.shape) - 1) + self)
    apart = f.where(l.arange(classes) == label, 0, apart if p == 1 else apart**p)
    loss = a.sum(apart, len(self.shape) - 1) / integer_size(classes)
    return _reduced(loss if weight is None else l.take(weight, target, 0) * loss, reduction)


@aten("multilabel_margin_loss")
def multilabel_margin_loss(self: Any, target: Any, reduction: int = 1) -> Expr:
    # The labels of a row end before its first negative number.
    axis, classes = len(self.shape) - 1, integer_size(self.shape[-1])
    said = a.cumsum(as_number(target < 0), axis) <= 0
    label = f.where(said, target, 0)
    chosen = a.max(f.where(said[..., None], l.one_hot(label, classes), 0), axis) > 0
    apart = f.relu(1 - l.take_along_axis(self, label, axis)[..., :, None] + self[..., None, :])
    counted = said[..., :, None] & f.logical_not(chosen)[..., None, :]
    return _reduced(a.sum(f.where(counted, apart, 0), (axis, axis + 1)) / classes, reduction)


@aten("poisson_nll_loss")
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int
) -> Expr:
    loss = f.exp(input) - target * input if log_input else input - target * f.log(input + eps)
    if full:  # Stirling's formula, for counts above 1
        large = f.where(target <= 1, 2, target)
        loss = loss + f.where(target <= 1, 0, large * f.log(large) - large + f.log(2 * math.pi * large) / 2)
    return _reduced(loss, reduction)
