"""torch's products and attention as expressions."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# The signatures of the lambdas are those that the table requires.

from __future__ import annotations

import math
from typing import Any

from symgrad.api.functions import arrays as a
from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.torch.ops.reductions import axes_of, length
from symgrad.interop.importers.torch.table import RefusedError, aten, aten_rows, integer_size

__all__: list[str] = []


@aten("einsum")
def einsum(equation: str, tensors: Any) -> Expr:
    if "->" in equation and "." not in equation:
        return a.einsum(equation.replace(" ", ""), *tensors)
    return a.einsum(equation, *tensors)


def _weighted(e: Any, by: Any) -> Any:
    return e if by == 1 else by * e


@aten("addmm")
def addmm(self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Expr:
    return _weighted(self, beta) + _weighted(mat1 @ mat2, alpha)


@aten("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Expr:
    product = input @ (l.transpose(weight) if len(weight.shape) > 1 else weight)
    return product if bias is None else product + bias


@aten("bilinear")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Expr:
    product = a.einsum("...i,oij,...j->...o", input1, weight, input2)
    return product if bias is None else product + bias


@aten("cosine_similarity")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Expr:
    # As in torch, each length is at least eps.
    x1, x2 = l.broadcast_to(x1, (x1 * x2).shape), l.broadcast_to(x2, (x1 * x2).shape)
    axes = axes_of(x1, dim)
    lengths = [f.maximum(length(x, axes, keepdim=True), eps) for x in (x1, x2)]
    return a.sum((x1 / lengths[0]) * (x2 / lengths[1]), axes)


@aten("scaled_dot_product_attention")
def attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0,
    is_causal: bool = False,
    scale: Any = None,
) -> Expr:
    if dropout_p:
        raise RefusedError("dropout inside of attention", cure="module.eval(), or dropout_p=0")
    scores = (query @ l.swapaxes(key, -1, -2)) * (
        1 / math.sqrt(integer_size(query.shape[-1])) if scale is None else scale
    )
    if is_causal:
        rows, columns = l.arange(query.shape[-2])[:, None], l.arange(key.shape[-2])[None, :]
        attn_mask = rows >= columns
    if attn_mask is not None:
        if attn_mask.dtype == "bool":
            scores = f.where(l.broadcast_to(attn_mask, scores.shape), scores, -math.inf)
        else:
            scores = scores + attn_mask
    return a.softmax(scores, len(scores.shape) - 1) @ value


# ------------------------------------------------------------------------------------------------- rules of one line

aten_rows(
    {
        "matmul": lambda self, other: self @ other,
        "mm bmm": lambda self, mat2: self @ mat2,
        "mv": lambda self, vec: self @ vec,
        "dot vdot": lambda self, tensor=None, other=None: self @ (other if tensor is None else tensor),
        "outer ger": lambda self, vec2: self[:, None] * vec2[None, :],
        "baddbmm": lambda self, batch1, batch2, beta=1, alpha=1: addmm(self, batch1, batch2, beta, alpha),
        "addmv": lambda self, mat, vec, beta=1, alpha=1: addmm(self, mat, vec, beta, alpha),
    }
)
