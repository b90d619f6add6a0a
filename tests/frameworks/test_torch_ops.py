"""Every operation of torch's that is read: value and gradient against torch's own, at ordinary points and at kinks."""

# ruff: noqa: E501, SIM905  (a case a line, and names as words)

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils._pytree import tree_flatten

import symgrad as sg
from symgrad.errors import UnsupportedError

DOUBLE = torch.float64
SIGNS = torch.tensor([1, -1, 1, 1, -1, -1])
COUNTS = torch.tensor([0.0, 1.0, 2.0, 7.0], dtype=DOUBLE)
COUNTS.fixed = True  # torch differentiates nothing by it
MASK = torch.tensor([[True, False, True], [True, True, False]])


def rand(*shape):
    return torch.randn(shape, dtype=DOUBLE)


def fixed(*shape):
    """Return what torch differentiates nothing by."""
    made = torch.rand(shape, dtype=DOUBLE) + 0.1
    made.fixed = True
    return made


def ids(high, *shape):
    return torch.randint(high, shape)


UNARY = """
    abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp exp2 expm1 floor frac lgamma log log10
    log1p log2 neg reciprocal relu round rsqrt sigmoid sign sin sinc sinh sqrt square tan tanh trunc
"""
_DOMAIN = {
    "acosh": lambda x: 1 + x.abs(),
    "acos": torch.tanh,
    "asin": torch.tanh,
    "atanh": torch.tanh,
    "erfinv": torch.tanh,
}
_POSITIVE = "digamma lgamma log log10 log2 rsqrt sqrt log1p".split()

# Name: function, then the arguments.
CASES = {
    **{
        name: (
            lambda x, name=name: getattr(torch, name)(x),
            lambda name=name: _DOMAIN.get(name, torch.abs if name in _POSITIVE else lambda x: x)(rand(2, 3)),
        )
        for name in UNARY.split()
    },
    **{
        name: (getattr(F, name), lambda: torch.tensor([-30.0, -1.5, -0.0, 0.0, 0.3, 2.0, 40.0], dtype=DOUBLE))
        for name in (
            "celu elu gelu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 selu silu softplus softsign tanhshrink".split()
        )
    },
    "gelu tanh": (lambda x: F.gelu(x, approximate="tanh"), lambda: rand(3)),
    "elu alpha": (lambda x: F.elu(x, 0.3), lambda: rand(3)),
    "softplus beta": (lambda x: F.softplus(x, beta=2.0), lambda: rand(3)),
    "softplus threshold": (lambda x: F.softplus(5 * x, beta=2.0, threshold=1.0), lambda: rand(9)),
    "threshold": (lambda x: F.threshold(x, 0.1, 7.0), lambda: rand(5)),
    "prelu": (F.prelu, lambda: rand(2, 3, 4), lambda: rand(3)),
    "prelu of one": (F.prelu, lambda: rand(5), lambda: rand(1)),
    "glu": (F.glu, lambda: rand(2, 4)),
    "add alpha": (lambda x, y: torch.add(x, y, alpha=2.5), lambda: rand(2, 3), lambda: rand(3)),
    "sub": (lambda x, y: torch.sub(x, y, alpha=2) + (1 - x) - y, lambda: rand(2, 3), lambda: rand(3)),
    "mul div": (lambda x, y: x * y / (1 + y * y), lambda: rand(2, 1), lambda: rand(3)),
    "div floor": (lambda x, y: torch.div(x, y, rounding_mode="floor") + torch.div(x, y, rounding_mode="trunc"), lambda: rand(4), lambda: rand(4)),
    "remainder": (lambda x, y: torch.remainder(x, y) + torch.fmod(x, y) + (x.detach() // 2), lambda: rand(4), lambda: rand(4)),
    "pow": (lambda x, y: x.abs() ** y + x**2 + x**3.0 + 2**y + x.abs() ** 0.5, lambda: rand(4), lambda: rand(4)),
    "pow at zero": (lambda x: x**2 + x**3 + x.abs() ** 2.5, lambda: torch.zeros(2, dtype=DOUBLE)),
    "hypot": (lambda x, y: torch.hypot(x, y) + torch.atan2(x, y) + torch.logaddexp(x, y), lambda: rand(4), lambda: rand(4)),
    "maximum": (lambda x, y: torch.maximum(x, y) + 2 * torch.minimum(x, y), lambda: torch.tensor([1.0, 2.0, 3.0], dtype=DOUBLE), lambda: torch.tensor([1.0, 3.0, 2.0], dtype=DOUBLE)),
    "xlogy": (lambda x, y: torch.xlogy(x, y.abs()), lambda: rand(4), lambda: rand(4)),
    "lerp": (lambda x, y: torch.lerp(x, y, 0.3) + torch.addcmul(x, x, y, value=2) + torch.addcdiv(x, x, 2 + y * y, value=3), lambda: rand(4), lambda: rand(4)),
    "clamp": (lambda x: x.clamp(-1, 1) + 2 * x.clamp(min=-1) + 4 * x.clamp(max=1) + x.clamp(-1, math.inf), lambda: torch.tensor([-2.0, -1.0, 0.0, 1.0, 3.0], dtype=DOUBLE)),
    "clamp by tensors": (lambda x, y: x.clamp(min=y) + x.clamp_max(0.5), lambda: rand(4), lambda: rand(4)),
    "where": (lambda x, y: torch.where(x > y, x * y, 2.0) + torch.where(x == y, 0.0, y), lambda: rand(2, 3), lambda: rand(3)),
    "masks": (lambda x, m: torch.softmax(x.masked_fill(m, -math.inf), -1) + (~m) * x + m.float() * x + m.to(x.dtype).sum(), lambda: rand(2, 3), lambda: MASK),
    "logic": (lambda x, m: torch.where((x > 0) & m | (x < -1) ^ m, x, -x) + torch.where(torch.logical_not(m), 1.0, x * x), lambda: rand(2, 3), lambda: MASK),
    "comparisons": (lambda x, y: ((x >= y).double() + (x <= y) + (x != y)) * x, lambda: rand(3), lambda: rand(3)),
    "logit": (lambda x: torch.logit(torch.sigmoid(x)) + torch.logit(torch.sigmoid(x), eps=0.3), lambda: rand(4)),
    "scalars": (lambda x: x * 2.5 + 1 / 3 - x / 7 + 3 - x, lambda: rand(3)),
    "no axes": (lambda x, y: x * y.sum() + x.sum(), lambda: rand(), lambda: rand(3)),
    # reductions
    "sums": (lambda x: x.sum(0) + x.sum((0, 1), keepdim=True)[0] + x.sum(), lambda: rand(2, 3)),
    "means": (lambda x: x.mean(-1, keepdim=True) * x.mean() + x.mean((0, 1)), lambda: rand(2, 3)),
    "prod": (lambda x: x.prod() + x.prod(1, keepdim=True), lambda: rand(2, 3)),
    "var": (lambda x: x.var() + x.var(0, unbiased=False) + x.var(1, keepdim=True) + torch.var(x, dim=0, correction=0), lambda: rand(4, 3)),
    "std": (lambda x: x.std() + x.std(0, keepdim=True), lambda: rand(4, 3)),
    "std of equal ones": (lambda x: x.std(0), lambda: torch.ones(4, 2, dtype=DOUBLE)),
    "var_mean": (lambda x: torch.var_mean(x, 0)[0] * torch.std_mean(x, 0)[1], lambda: rand(4, 3)),
    "amax": (lambda x: x.amax(0) + x.amin((0, 1)) + x.max() * x.min(), lambda: torch.tensor([[1.0, 2, 2], [1, 0, 2]], dtype=DOUBLE)),
    "max of an axis": (lambda x: x.max(1).values + 2 * x.min(1)[0] + x.max(1).indices, lambda: torch.tensor([[1.0, 2, 2], [1, 0, 0]], dtype=DOUBLE)),
    "argmax": (lambda x: x * x.argmax(1, keepdim=True) + x.argmin(), lambda: rand(2, 3)),
    "any all": (lambda x: torch.where((x > 0).any(1, keepdim=True), x, -x) + torch.where((x > 0).all(), 1.0, x), lambda: rand(2, 3)),
    "logsumexp": (lambda x: x.logsumexp(1) + torch.logsumexp(x, (0, 1)), lambda: rand(2, 3)),
    "norms": (lambda x: x.norm() + x.norm(dim=1).sum() + torch.linalg.vector_norm(x, 1) + x.norm(p=1, dim=0).sum() + torch.linalg.vector_norm(x, math.inf) + F.normalize(x, dim=1).sum(), lambda: rand(2, 3)),
    "norm at zero": (lambda x: x.norm() + x.norm(dim=0).sum(), lambda: torch.zeros(2, 3, dtype=DOUBLE)),
    "cumsum": (lambda x: x.cumsum(0) + x.cumsum(-1), lambda: rand(2, 3)),
    "softmax": (lambda x: torch.softmax(x, 0) + F.log_softmax(x, -1) + F.softmin(x, 1), lambda: rand(2, 3)),
    # products
    "matmul": (lambda x, y, v: x @ y @ v + (x.T @ x).sum() + torch.mv(x, v[:3]).sum(), lambda: rand(2, 3), lambda: rand(3, 4), lambda: rand(4)),
    "batched": (lambda x, y: torch.bmm(x, y) + torch.matmul(x, y[0]), lambda: rand(2, 3, 4), lambda: rand(2, 4, 5)),
    "einsum": (lambda x, y: torch.einsum("bij, bjk -> bik", x, y) + torch.einsum("...ij,...jk", x, y), lambda: rand(2, 3, 4), lambda: rand(2, 4, 5)),
    "addmm": (lambda a, x, y: torch.addmm(a, x, y, beta=0.5, alpha=2) + torch.addmm(a, x, y), lambda: rand(5), lambda: rand(2, 3), lambda: rand(3, 5)),
    "outer dot": (lambda x, y: torch.outer(x, y) * torch.dot(x, x), lambda: rand(2), lambda: rand(3)),
    "linear": (lambda x, w, b: F.linear(x, w, b) + F.linear(x, w) + x @ w.mT, lambda: rand(2, 5, 3), lambda: rand(4, 3), lambda: rand(4)),
    "bilinear": (F.bilinear, lambda: rand(2, 3), lambda: rand(2, 4), lambda: rand(5, 3, 4), lambda: rand(5)),
    "cosine": (lambda x, y: F.cosine_similarity(x, y) + F.cosine_similarity(x, y[:1], dim=-1), lambda: rand(2, 3), lambda: rand(2, 3)),
    "attention": (F.scaled_dot_product_attention, lambda: rand(2, 3, 4), lambda: rand(2, 5, 4), lambda: rand(2, 5, 6)),
    "attention causal": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3), lambda: rand(2, 2, 3, 4), lambda: rand(2, 2, 3, 4), lambda: rand(2, 2, 3, 4)),
    "attention masks": (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m) + F.scaled_dot_product_attention(q, k, v, attn_mask=torch.where(m, 0.5, -1.0).double()), lambda: rand(2, 2, 4), lambda: rand(2, 3, 4), lambda: rand(2, 3, 4), lambda: MASK),
    # layout
    "views": (lambda x: x.view(3, 4)[:, 1:3].reshape(-1).unsqueeze(0).squeeze().flatten().unflatten(0, (2, 3)).T.contiguous(), lambda: rand(2, 6)),
    "permute": (lambda x: x.permute(2, 0, 1).transpose(0, 1).movedim(0, -1).swapaxes(0, 1).flip(0, 1), lambda: rand(2, 3, 4)),
    "expand": (lambda x: x[:, None].expand(-1, 4, -1) * x.repeat(2, 1)[:2, None] + x.repeat_interleave(2, 0)[:2, None] + x.roll((1, -1), (0, 1))[:, None] + x.roll(2)[:, None], lambda: rand(2, 3)),
    "subscripts": (lambda x: x[1:, ::2, None, -1].sum() + x[..., 0].sum() + x[-1, -2:].sum(), lambda: rand(3, 4, 5)),
    "parts": (lambda x: x.chunk(2, 1)[1].sum() + x.split(2)[1].sum() * x.split([1, 2])[0].sum() + x.unbind(1)[2].sum() + x.narrow(0, 1, 2).sum() + x.select(1, -1).sum(), lambda: rand(3, 5)),
    "cat stack": (lambda x, y: torch.cat([x, y], -1).sum(0) * torch.stack([x.sum(), y.sum()], -1).sum() + torch.cat([x, x]).mean(), lambda: rand(2, 3), lambda: rand(2, 1)),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1), value=3.0) * F.pad(x, (2, 1, 1, 0)) + F.pad(x, (-1, 4, 1, 0)), lambda: rand(2, 3)),
    "diagonal": (lambda x: torch.diagonal(x, dim1=1, dim2=2) + x.diagonal().T.sum(), lambda: rand(2, 3, 3)),
    "triangles": (lambda x: x.tril() * x.triu(-1) + x.triu(1) + x.tril(-1), lambda: rand(3, 4)),
    "embedding": (lambda w, i: F.embedding(i, w) + F.embedding(i, w, padding_idx=1), lambda: rand(4, 3), lambda: torch.tensor([[0, 1], [3, 1]])),
    "by positions": (lambda x, i: x[i] + x.index_select(0, i) + x[:, i[:1]].sum() + torch.take_along_dim(x, i[:, None], 0), lambda: rand(3, 3), lambda: torch.tensor([2, 0, 0])),
    "two positions": (lambda x, i: x[torch.arange(3), i] * x[i, None].sum(), lambda: rand(3, 3), lambda: torch.tensor([2, 0, 0])),
    "gather": (lambda x, i: x[:2].gather(1, i) + x.gather(1, i[:, :2]).sum(), lambda: rand(3, 3), lambda: torch.tensor([[2, 0, 1], [1, 1, 0]])),
    "scatter_add": (lambda x, i, s: torch.zeros(4, dtype=DOUBLE).scatter_add(0, i[0], s[0]).sum() * x.scatter_add(1, i, s), lambda: rand(2, 4), lambda: torch.tensor([[2, 0, 2], [1, 1, 3]]), lambda: rand(2, 3)),
    "scatter": (lambda x, i: x.scatter(1, i, 7.0) + F.one_hot(i[:, 0], 4) * x + x.index_add(0, i[0, :2], x * 2), lambda: rand(2, 4), lambda: torch.tensor([[1, 0, 1], [1, 1, 3]])),
    "constants": (lambda x: x * torch.arange(3) + torch.ones(2, 1) * torch.full((3,), 2.5) + torch.eye(3)[:2] + torch.zeros_like(x) + torch.linspace(0, 1, 3) + torch.tensor([0.5, 1.5, -1.0]) + torch.arange(1, 7, 2), lambda: rand(2, 3)),
    "dtypes": (lambda x, i: x * i + x.to(DOUBLE) * i.double() + (i.to(torch.float32) / 2).double() + i // 2 + i.bool(), lambda: rand(3), lambda: torch.tensor([1, 2, 5])),
    # layers
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1, dilation=2), lambda: rand(2, 3, 9), lambda: rand(4, 3, 2), lambda: rand(4)),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(0, 1), groups=2), lambda: rand(2, 4, 5, 4), lambda: rand(6, 2, 3, 2), lambda: rand(6)),
    "conv2d same": (lambda x, w: F.conv2d(x, w, padding="same", dilation=2), lambda: rand(1, 2, 5, 4), lambda: rand(3, 2, 2, 3)),
    "conv2d of one": (F.conv2d, lambda: rand(2, 4, 4), lambda: rand(3, 2, 2, 2), lambda: rand(3)),
    "conv_transpose1d": (lambda x, w, b: F.conv_transpose1d(x, w, b, stride=3, padding=1, output_padding=2, dilation=2), lambda: rand(2, 3, 4), lambda: rand(3, 5, 2), lambda: rand(5)),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=(1, 0), groups=2), lambda: rand(1, 4, 3, 2), lambda: rand(4, 3, 2, 3)),
    "max_pool": (lambda x: F.max_pool2d(x, 2).sum() + F.max_pool2d(x, (3, 2), stride=(2, 1), padding=(1, 0)), lambda: torch.randint(-3, 1, (1, 2, 6, 4)).double()),
    "max_pool1d": (lambda x: F.max_pool1d(x, 2, 1, dilation=2), lambda: rand(2, 3, 6)),
    "avg_pool": (lambda x: F.avg_pool2d(x, 2).sum() + F.avg_pool2d(x, 3, 2, 1) + F.avg_pool2d(x, 3, 2, 1, count_include_pad=False) + F.avg_pool2d(x, 3, 2, 1, divisor_override=5), lambda: rand(1, 2, 6, 4)),
    "adaptive": (lambda x: F.adaptive_avg_pool2d(x, 1).sum() + F.adaptive_avg_pool2d(x, (3, 2)).sum() + F.adaptive_avg_pool2d(x, (4, None)), lambda: rand(1, 2, 6, 4)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (3, 4), w, b) + F.layer_norm(x, (4,)) + F.rms_norm(x, (4,), w[0], eps=1e-5), lambda: rand(2, 3, 4), lambda: rand(3, 4), lambda: rand(3, 4)),
    "batch_norm": (lambda x, w, b, m, v: F.batch_norm(x, m, v.abs(), w, b) + F.batch_norm(x, None, None, w, b, training=True), lambda: rand(4, 3, 2), lambda: rand(3), lambda: rand(3), lambda: fixed(3), lambda: fixed(3)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b) + F.instance_norm(x, weight=w, bias=b), lambda: rand(2, 4, 3), lambda: rand(4), lambda: rand(4)),
    "dropout that is off": (lambda x: F.dropout(x, 0.5, training=False) + F.dropout(x, 0.0), lambda: rand(3)),
    "nan_to_num": (lambda x: torch.nan_to_num(x) + torch.nan_to_num(2 * x, 0.5, 3.0, -4.0), lambda: rand(3)),
    "norms of other orders": (lambda x: sum(torch.linalg.vector_norm(x, p, dim=1) for p in (3, 1.5, 0.5, 0, -math.inf, -1)) + torch.norm(x, p=3), lambda: rand(2, 3)),
    "norms at zero": (lambda x: torch.norm(x, p=3, dim=1) + torch.linalg.vector_norm(x, 1.5, dim=1, keepdim=True), lambda: torch.tensor([[0.0, 0.0], [0.0, -2.0]], dtype=DOUBLE)),
    **{
        f"scatter_reduce {how} {own}": (
            lambda x, i, s, how=how, own=own: x.scatter_reduce(1, i, s, how, include_self=own),
            lambda: torch.tensor([[1.0, 2.0, 3.0, 4.0], [0.5, 7.0, 6.0, 1.0]], dtype=DOUBLE),
            lambda: torch.tensor([[0, 1, 1], [2, 2, 3]]),
            lambda: torch.tensor([[2.0, 5.0, 5.0], [7.0, -3.0, 1.5]], dtype=DOUBLE),
        )
        for how in ("sum", "mean", "prod", "amax", "amin")
        for own in (True, False)
    },
    "windows": (lambda x: x.unfold(1, 3, 2).sum() + x.unfold(-1, 2, 1), lambda: rand(2, 7)),
    "blocks of images": (lambda x: F.unfold(x, (2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 2)).sum() + F.unfold(x, 2) + F.unfold(x[0], 2), lambda: rand(2, 3, 4, 5)),
    "gaussian_nll": (lambda x, y, v: F.gaussian_nll_loss(x, y, v.abs()) + F.gaussian_nll_loss(x, y, v[:, 0].abs(), full=True, reduction="none") + F.gaussian_nll_loss(x, y, 0.3, reduction="sum"), lambda: rand(2, 3), lambda: rand(2, 3), lambda: rand(2, 3)),
    "gaussian_nll at its bound": (lambda x, v: F.gaussian_nll_loss(x, torch.zeros(2, dtype=DOUBLE), v, eps=0.1), lambda: rand(2), lambda: torch.tensor([0.05, 0.5], dtype=DOUBLE)),
    "fake_quantize": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.125, 3, -8, 7) + torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.25), torch.tensor(-1), -8, 7), lambda: torch.tensor([0.3, -0.7, 5.0, -5.0, 0.5, -1.375], dtype=DOUBLE)),
    "fake_quantize of channels": (lambda x: torch.fake_quantize_per_channel_affine(x, torch.tensor([0.125, 0.5]), torch.tensor([1, -2], dtype=torch.int32), 0, -8, 7), lambda: rand(2, 5)),
    # order
    "sort": (lambda x: torch.sort(x)[0] * torch.sort(x, 0, descending=True)[0] + torch.sort(x, stable=True).indices + x.msort(), lambda: torch.tensor([[2.0, -1, 0.5, 2], [0, 3, -4, 3]], dtype=DOUBLE)),
    "argsort": (lambda x: x * torch.argsort(x, 0) + x.gather(1, x.argsort(descending=True)), lambda: rand(3, 4)),
    "sort of what is infinite": (lambda x: torch.sort(torch.where(x > 0, x, -math.inf))[0][:, 2:], lambda: torch.tensor([[2.0, -1, 0.5, -2, 0.1]], dtype=DOUBLE)),
    "topk": (lambda x: x.topk(2).values * x.topk(2, largest=False)[0] + x.topk(2).indices + x.topk(1, 0)[0][:, :2], lambda: rand(3, 4)),
    "kthvalue": (lambda x: x.kthvalue(2).values + x.kthvalue(3, 0, keepdim=True)[0].sum() + x.kthvalue(1).indices, lambda: rand(3, 4)),
    "median": (lambda x: x.median() + x.median(1).values * x.median(0, keepdim=True)[0].sum(), lambda: rand(3, 4)),
    "quantile": (lambda x: torch.quantile(x, 0.3) + torch.quantile(x, 0.8, dim=1, keepdim=True) + torch.quantile(x, 0.4, dim=0, interpolation="midpoint") + torch.quantile(x, 0.6, interpolation="lower"), lambda: rand(3, 4)),
    "running": (lambda x: x.cumprod(0) * x.cumprod(-1) + x.logcumsumexp(1), lambda: rand(3, 4)),
    "diff": (lambda x, y: torch.diff(x, n=2).sum() + torch.diff(x, dim=0, prepend=y[None]) + torch.meshgrid(y, y[1:], indexing="ij")[0].sum(), lambda: rand(3, 4), lambda: rand(4)),
    # linear algebra
    "determinants": (lambda x: torch.det(x) * torch.linalg.slogdet(x)[1] + torch.slogdet(x).sign + torch.logdet(x @ x.mT), lambda: rand(2, 3, 3)),
    "inverse": (lambda x: torch.linalg.inv(x) @ x.inverse(), lambda: rand(2, 3, 3)),
    "solve": (lambda x, y, v: torch.linalg.solve(x, y) + torch.linalg.solve(x[0], v)[:, None] + torch.linalg.solve(x, y.mT, left=False).mT, lambda: rand(2, 3, 3), lambda: rand(2, 3, 4), lambda: rand(3)),
    "solve stacks of vectors": (torch.linalg.solve, lambda: rand(2, 3, 3), lambda: rand(2, 3)),
    "triangles solved": (lambda x, y: torch.linalg.solve_triangular(x, y, upper=True) + torch.linalg.solve_triangular(x, y, upper=False, unitriangular=True) + torch.linalg.solve_triangular(x, y.mT, upper=False, left=False).mT + torch.cholesky_solve(y, x.tril()) * torch.cholesky_solve(y, x.triu(), upper=True), lambda: rand(3, 3) + 3 * torch.eye(3), lambda: rand(3, 2)),
    "factors": (lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(3)) + torch.linalg.cholesky(x @ x.mT + torch.eye(3), upper=True), lambda: rand(2, 3, 3)),
    "powers of matrices": (lambda x: torch.linalg.matrix_power(x, 3) + torch.matrix_exp(x / 3) + torch.linalg.multi_dot([x, x, x]) + x.trace(), lambda: rand(3, 3)),
    "products of vectors": (lambda x, y: torch.linalg.cross(x, y) + torch.kron(x, y)[:2, :3] + torch.tensordot(x, y, dims=([0], [0]))[:2], lambda: rand(2, 3), lambda: rand(2, 3)),
    "norms of matrices": (lambda x: torch.linalg.matrix_norm(x) + torch.linalg.norm(x) + torch.linalg.norm(x, dim=1).sum() + torch.cdist(x, 2 * x).sum() + torch.linalg.norm(x[0], 1), lambda: rand(2, 3)),
    # losses
    "mse": (lambda x, y: F.mse_loss(x, y) + F.mse_loss(x, y, reduction="sum") + F.l1_loss(x, y, reduction="none"), lambda: rand(2, 3), lambda: rand(2, 3)),
    "huber": (lambda x, y: F.huber_loss(x, y, delta=0.5) + F.smooth_l1_loss(x, y, beta=0.7, reduction="none"), lambda: torch.tensor([0.0, 0.5, 2.0, -0.7], dtype=DOUBLE), lambda: torch.zeros(4, dtype=DOUBLE)),
    "bce": (lambda x, y, w: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y), w.abs()) + F.binary_cross_entropy_with_logits(x, torch.sigmoid(y), pos_weight=w.abs(), reduction="none"), lambda: rand(2, 3), lambda: rand(2, 3), lambda: fixed(3)),
    "bce at the ends": (lambda x: F.binary_cross_entropy_with_logits(x, torch.tensor([0.0, 1.0, 0.5, 1.0], dtype=DOUBLE)), lambda: torch.tensor([-800.0, 800.0, 0.0, -40.0], dtype=DOUBLE)),
    "kl_div": (lambda x, y: F.kl_div(x, torch.softmax(y, 1), reduction="batchmean") + F.kl_div(x, y, log_target=True, reduction="sum"), lambda: rand(2, 3), lambda: rand(2, 3)),
    "cross_entropy": (lambda x, t, w: F.cross_entropy(x, t) + F.cross_entropy(x, t, w.abs(), ignore_index=1, reduction="sum") + F.cross_entropy(x, t, w.abs(), label_smoothing=0.1) + F.cross_entropy(x, t, label_smoothing=0.1, reduction="none"), lambda: rand(4, 3), lambda: torch.tensor([0, 2, 1, 1]), lambda: fixed(3)),
    "cross_entropy ignoring": (lambda x, t: F.cross_entropy(x, t, ignore_index=1), lambda: rand(4, 3), lambda: torch.tensor([0, 2, 1, 1])),
    "pairwise_distance": (lambda x, y: F.pairwise_distance(x, y) + F.pairwise_distance(x, y, p=1, keepdim=True), lambda: rand(3, 4), lambda: rand(3, 4)),
    "triplet_margin": (lambda x, y, z: F.triplet_margin_loss(x, y, z, swap=True) + F.triplet_margin_loss(x, y, z, margin=2.0, p=1, reduction="none").sum(), lambda: rand(5, 3), lambda: rand(5, 3), lambda: rand(5, 3)),
    "margin_ranking": (lambda x, y, t: F.margin_ranking_loss(x, y, t, margin=0.3) + F.margin_ranking_loss(x, y, t, reduction="sum"), lambda: rand(6), lambda: rand(6), lambda: SIGNS),
    "margin_ranking at the edge": (lambda x, y, t: F.margin_ranking_loss(x, y, t), lambda: torch.ones(6, dtype=DOUBLE), lambda: torch.ones(6, dtype=DOUBLE), lambda: SIGNS),
    "hinge_embedding": (lambda x, t: F.hinge_embedding_loss(x, t) + F.hinge_embedding_loss(x, t, margin=0.2, reduction="none"), lambda: rand(6), lambda: SIGNS),
    "cosine_embedding": (lambda x, y, t: F.cosine_embedding_loss(x, y, t) + F.cosine_embedding_loss(x, y, t, margin=-0.3, reduction="sum"), lambda: rand(6, 3), lambda: rand(6, 3), lambda: SIGNS),
    "soft_margin": (lambda x, t: F.soft_margin_loss(x, t) + F.soft_margin_loss(x, t, reduction="none"), lambda: rand(6), lambda: SIGNS),
    "multi_margin": (lambda x, t: F.multi_margin_loss(x, t) + F.multi_margin_loss(x, t, p=2, margin=0.5, reduction="none"), lambda: rand(4, 3), lambda: ids(3, 4)),
    "multi_margin of weights": (lambda x, t, w: F.multi_margin_loss(x, t, weight=w), lambda: rand(4, 3), lambda: ids(3, 4), lambda: fixed(3)),
    "multi_margin of one": (F.multi_margin_loss, lambda: rand(3), lambda: torch.tensor(2)),
    "multilabel_margin": (lambda x, t: F.multilabel_margin_loss(x, t) + F.multilabel_margin_loss(x, t, reduction="none"), lambda: rand(3, 4), lambda: torch.tensor([[3, 0, -1, 1], [-1, 2, 2, 2], [0, 1, 2, 3]])),
    "multilabel_margin of one": (F.multilabel_margin_loss, lambda: rand(4), lambda: torch.tensor([3, -1, 1, 0])),
    "multilabel_soft_margin": (lambda x, t: F.multilabel_soft_margin_loss(x, t), lambda: rand(3, 4), lambda: fixed(3, 4).round()),
    "poisson_nll": (lambda x, t: F.poisson_nll_loss(x, t) + F.poisson_nll_loss(x.exp(), t, log_input=False, reduction="sum"), lambda: rand(4), lambda: COUNTS),
    "poisson_nll in full": (lambda x, t: F.poisson_nll_loss(x, t, full=True, reduction="none"), lambda: rand(4), lambda: COUNTS),
    "cross_entropy of images": (lambda x, t: F.cross_entropy(x, t) + F.nll_loss(F.log_softmax(x, 1), t), lambda: rand(2, 3, 2, 2), lambda: ids(3, 2, 2, 2)),
    "cross_entropy of probabilities": (lambda x, p, w: F.cross_entropy(x, torch.softmax(p, 1), w.abs(), label_smoothing=0.2) + F.cross_entropy(x, p), lambda: rand(4, 3), lambda: rand(4, 3), lambda: fixed(3)),
    "cross_entropy of one": (lambda x, t: F.cross_entropy(x, t), lambda: rand(3), lambda: torch.tensor(2)),
    # what is held constant, and what is written in place
    "detach": (lambda x, y: x.detach() * y + (x * y).detach() * x, lambda: rand(3), lambda: rand(3)),
    "in place": (lambda x, y: _in_place(x, y), lambda: rand(2, 3), lambda: rand(3)),
    "no_grad": (lambda x, y: _no_grad(x, y), lambda: rand(3), lambda: rand(3)),
}  # fmt: skip


def _in_place(x, y):
    z = x.clone()
    z[0] = y * 2
    z[:, 1:].mul_(y[1:].clone())
    part = z[1]
    z += 1
    part.add_(x[0])
    turned = z.T
    turned[2] *= 3
    flat = z.view(-1)
    flat[::2] = flat[::2].clone() ** 2
    z.clamp_(-2, 2)
    z[z > 1.5] = 0.5
    return z * part + flat.sum() + turned.sum()


def _no_grad(x, y):
    with torch.no_grad():
        a = x * y
        b = a + x
        with torch.enable_grad():
            c = y * y + x
    return a * x + b * y + c


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(name):
    torch.manual_seed(3)
    function, *makers = CASES[name]
    args = [make() for make in makers]
    args = [a.requires_grad_(a.is_floating_point() and not hasattr(a, "fixed")) for a in args]
    wanted = function(*args)
    weights = torch.randn_like(wanted)
    moving = [a for a in args if a.requires_grad]
    slopes = torch.autograd.grad((wanted * weights).sum(), moving, allow_unused=True, materialize_grads=True)

    names = [f"a{k}" for k in range(len(args))]
    scope = {"function": function}
    exec(f"def f({', '.join(names)}): return function({', '.join(names)})", scope)
    p = sg.from_torch(scope["f"], *args)
    out = next(iter(p.returned.values()))
    seed = sg.tensor("seed", out.shape)
    by = [n for n, a in zip(names, args, strict=True) if a.requires_grad]
    values = dict(zip(names, (a.detach().numpy() for a in args), strict=True))
    known = {n: values[n] for n in names if n in {i.name for i in out.inputs}}
    np.testing.assert_allclose(out(**known), wanted.detach().numpy(), rtol=1e-12, atol=1e-12)
    for n, slope in zip(by, slopes, strict=True):
        if n not in known:
            assert not slope.any()
            continue
        gradient = sg.vjp(out, p[n], seed)
        kernel = sg.compile(gradient, [*(p[k] for k in names), seed])
        found = kernel(*values.values(), weights.numpy())
        close = 1e-7 if name == "hardsigmoid" else 1e-9  # torch's has a sixth in single precision
        np.testing.assert_allclose(found, slope.numpy(), rtol=close, atol=1e-11)


def module(made, *shapes):
    """Return a module of double precision with the tensors that it is called with."""
    torch.manual_seed(7)
    return made.double().eval(), [rand(*shape) for shape in shapes]


class Unpacked(nn.Module):
    """A module that returns one tensor of all that another one returns."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args):
        parts, _ = tree_flatten(self.inner(*args))
        return torch.cat([part.reshape(-1) for part in parts])


LAYERS = {
    "LSTM": lambda: module(nn.LSTM(3, 4), (5, 2, 3)),
    "LSTM of two directions and layers": lambda: module(nn.LSTM(3, 2, 2, bidirectional=True, batch_first=True), (2, 4, 3)),
    "LSTM of one sequence, no bias": lambda: module(nn.LSTM(3, 2, bias=False), (4, 3)),
    "GRU": lambda: module(nn.GRU(3, 4, 2), (5, 2, 3), (2, 2, 4)),
    "RNN": lambda: module(nn.RNN(3, 4, bidirectional=True), (5, 2, 3)),
    "RNN with relu": lambda: module(nn.RNN(3, 4, nonlinearity="relu", batch_first=True), (2, 5, 3)),
    "LSTMCell": lambda: module(nn.LSTMCell(3, 4), (2, 3)),
    "GRUCell": lambda: module(nn.GRUCell(3, 4), (2, 3), (2, 4)),
    "RNNCell": lambda: module(nn.RNNCell(3, 4), (2, 3)),
    "MultiheadAttention": lambda: module(nn.MultiheadAttention(4, 2, batch_first=True), (2, 3, 4), (2, 5, 4), (2, 5, 4)),
    "TransformerEncoderLayer": lambda: module(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (2, 3, 4)),
    "TransformerEncoderLayer, norm first": lambda: module(nn.TransformerEncoderLayer(4, 2, 8, activation="gelu", norm_first=True), (3, 2, 4)),
    "TransformerDecoderLayer": lambda: module(nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), (2, 3, 4), (2, 5, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    made, args = LAYERS[name]()
    layer = Unpacked(made)
    out = layer(*args)
    weights = torch.randn_like(out)
    slopes = torch.autograd.grad((out * weights).sum(), list(layer.parameters()))
    p = sg.from_torch(layer, *args)
    found = p.returned[next(iter(p.returned))]
    given = iter(args)
    values = [(p.values[i.name] if i.name in p.values else next(given)).detach().numpy() for i in p.inputs]
    seed = sg.tensor("seed", found.shape)
    gradients = sg.vjp(found, [p[n] for n in p.parameters], seed)
    value, *others = sg.compile([found, *gradients], [*p.inputs, seed])(*values, weights.numpy())
    np.testing.assert_allclose(value, out.detach().numpy(), rtol=1e-9, atol=1e-12)
    for n, g, slope in zip(p.parameters, others, slopes, strict=True):
        np.testing.assert_allclose(g, slope.numpy(), rtol=1e-9, atol=1e-11, err_msg=n)


@pytest.mark.parametrize(
    "x", [[2.0, math.nan, -1.0, math.inf, math.nan], [1.0, math.nan], [-math.inf, 0.0, math.inf]]
)
def test_order_of_what_is_no_number(x):
    x = torch.tensor(x, dtype=DOUBLE)
    for f in (
        lambda x: torch.sort(x)[0],
        lambda x: x.sort(descending=True)[0],
        lambda x: x.topk(1)[0],
        torch.median,
        lambda x: torch.nan_to_num(x) + torch.nan_to_num(2 * x, 0.5, 3.0, -4.0),
    ):
        p = sg.from_torch(f, x)
        np.testing.assert_array_equal(next(iter(p.returned.values()))(x.numpy()), f(x).numpy())


@pytest.mark.parametrize(
    ("function", "shapes", "what"),
    [
        (torch.linalg.qr, [(3, 3)], "aten.linalg_qr: it has no counterpart here"),
        (torch.linalg.svdvals, [(3, 3)], "aten.linalg_svdvals"),
        (torch.linalg.eigvalsh, [(3, 3)], "aten.linalg_eigvalsh"),
        (nn.LSTM(3, 4, proj_size=2), [(5, 2, 3)], "a projection of the output"),
        (nn.LSTM(3, 4, 2, dropout=0.5), [(5, 2, 3)], "dropout between layers, which draws noise"),
        (lambda x: x.sort()[0], [(5000,)], "sorting 5,000 entries"),
    ],
)
def test_layers_and_factorisations_that_are_not_read(function, shapes, what):
    with pytest.raises(UnsupportedError, match=what):
        sg.from_torch(function, *shapes)


STEPS = {
    "tanh": lambda x, y: torch.tanh(x),
    "mul": lambda x, y: x * y,
    "sub": lambda x, y: y - 0.5 * x,
    "softmax": lambda x, y: torch.softmax(x, -1) + y,
    "turned": lambda x, y: x.T.contiguous().view(-1)[:12].reshape(3, 4) if x.shape == (3, 4) else x,
    "detach": lambda x, y: x * y.detach(),
    "norm": lambda x, y: F.layer_norm(x, (4,)) + x.mean(),
    "rows": lambda x, y: x[[2, 0, 1]] + y[:1],
    "where": lambda x, y: torch.where(x > y, x, torch.sin(y)),
    "clamp": lambda x, y: x.clamp(-0.7, 0.7) + y,
    "cat": lambda x, y: torch.cat([x[:, 2:], y[:, :2]], 1),
    "max": lambda x, y: x.max(1, keepdim=True).values + y,
    "cumsum": lambda x, y: x.cumsum(1) / 3,
    "write": lambda x, y: _written(x, y),
    "frozen": lambda x, y: _frozen(x, y),
    "matmul": lambda x, y: (x @ y.T) @ x / 4,
}


def _written(x, y):
    z = x.clone()
    row = z[1]
    z[:, 1:3] *= 2
    row -= y[0]
    return z


def _frozen(x, y):
    with torch.no_grad():
        z = x * 2
    return z * y


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.booleans()), min_size=2, max_size=6),
    st.integers(0, 99),
)
def test_random_functions(steps, seed):
    def f(a, b):
        x, y = a, b
        for name, swap in steps:
            z = STEPS[name](x, y)
            x, y = (z, x) if swap else (z, y)
        return (x * torch.cos(x)).sum() + (y * y).mean()

    torch.manual_seed(seed)
    args = [rand(3, 4).requires_grad_() for _ in range(2)]
    wanted = torch.autograd.grad(f(*args), args, allow_unused=True, materialize_grads=True)
    p = sg.from_torch(f, *args)
    out = next(iter(p.returned.values()))
    for name, slope in zip(("a", "b"), wanted, strict=True):
        found = (
            sg.compile(sg.vjp(out, p[name], 1), list(p.inputs))(*(a.detach().numpy() for a in args))
            if name in {i.name for i in out.inputs}
            else 0 * slope.numpy()
        )
        np.testing.assert_allclose(found, slope.numpy(), rtol=1e-8, atol=1e-9)


def test_an_identity_of_truth_values_is_a_mask() -> None:
    p = sg.from_torch(lambda x: torch.where(torch.eye(3, dtype=torch.bool), 0.0, x).sum(), (3, 3))
    np.testing.assert_array_equal(sg.grad(p.last, p.last.inputs[0])(), 1 - np.eye(3))
