"""Laws of the canonical phase for arrays, which the normal form of contractions applies.

A row states its law for few axes, over arrays with named sizes. The normal form applies the law in index notation, to
any number of operands and axes. Laws also hold for sizes 0 and 1: an empty sum is zero. A division by a scalar has a
value only if the scalar is not zero, for any number of entries: neither x/n nor sum(x)/n has a value for n = 0.
"""

from __future__ import annotations

from symgrad.ir.graph import as_node, size_node, symbol
from symgrad.ir.sizes import size_sum
from symgrad.ir.types import INT, Declaration, Domain
from symgrad.ops.array.contraction import contract, sum_over, transpose
from symgrad.ops.array.indexing import eye, gather, iota, one_hot, scatter_add
from symgrad.ops.array.layout import broadcast_to, expand, full, reshape, slice_axes, unslice
from symgrad.ops.array.reductions import mean, norm
from symgrad.ops.array.scans import cumsum
from symgrad.ops.numpy.products import matmul
from symgrad.ops.scalar.elementary import exp
from symgrad.ops.scalar.logic import ne, where
from symgrad.rewrite.rules.variables import a, array, law

_x, _y = array("x", "n"), array("y", "n")
_u, _v = array("u", "m"), array("v", "m")
_A = array("A", "n", "m")
_B = array("B", "m", "n")
_C, _D = array("C", "m", "k"), array("D", "k", "n")
_ids = symbol(Declaration("ids", INT, ("k",)))
_labels = symbol(Declaration("t", Domain("int", "int", 0, size_sum(["m", -1]), closed=True), ("n",)))
_picked = (iota(params=("k",)), _ids)
_part = ((None, None, 1), (1, None, 1))


TENSORS = [
    law(
        "contraction-of-a-contraction",
        matmul(matmul(_A, _C), _D),
        contract([_A, _C, _D], [(0, 1), (1, 2), (2, 3)], (0, 3)),
        "sums are exchanged, and factors move into them: matrix products are associative",
    ),
    law(
        "contraction-of-a-view",
        contract([_u, transpose(_A, (1, 0))], [(0,), (0, 1)], (1,)),
        matmul(_A, _u),
        "transposes only permute the labels of the operands",
    ),
    law("factor-in-front", matmul(_A, a * _u), a * matmul(_A, _u), "distributivity"),
    law(
        "scalar-factor-of-a-sum",
        a * _x + a * _y,
        a * (_x + _y),
        "distributivity; one product with an array less",
    ),
    law(
        "sum-of-a-repeated-axis",
        sum_over(broadcast_to(_u, params=(("n", "m"),)), (0,)),
        size_node("n") * _u,
        "n equal terms",
    ),
    law(
        "factor-that-no-label-touches",
        contract([_A, _u, _x], [(0, 1), (1,), (0,)], (0,)),
        _x * matmul(_A, _u),
        "distributivity",
    ),
    law(
        "contraction-of-equal-labels",
        contract([_A, _u, _v], [(0, 1), (1,), (1,)], (0,)),
        matmul(_A, _u * _v),
        "the factors always have the same labels, so they are one product",
    ),
    law(
        "contraction-with-identity",
        matmul(eye(params=("n", "n")), _A),
        _A,
        "only one term of the sum is not zero",
    ),
    law(
        "sum-of-a-sum",
        sum_over(_x + a * _y, (0,)),
        sum_over(_x, (0,)) + a * sum_over(_y, (0,)),
        "only if terms then cancel or are collected",
    ),
    law(
        "sum-of-scattered",
        sum_over(scatter_add(gather(_x, _ids, params=((0,),)), _ids, params=((0,), ("n",))), (0,)),
        sum_over(gather(_x, _ids, params=((0,),)), (0,)),
        "every value is added to some entry",
    ),
    law(
        "sum-of-scattered-rows",
        sum_over(
            scatter_add(gather(_D, *_picked, params=((0, 1),)), *_picked, params=((0, 1), ("k", "n"))), (1,)
        ),
        gather(_D, *_picked, params=((0, 1),)),
        "the positions count the rows, so each row gets its own value",
    ),
    law(
        "sum-of-unslice",
        sum_over(unslice(slice_axes(_A, _part), params=(_part, ("n", "m"))), (1,)),
        sum_over(slice_axes(_A, _part), (1,)),
        "the other entries are zero",
    ),
    law(
        "unit-vector",
        unslice(full(as_node(1), (1,)), params=(((2, 3, 1),), (5,))),
        one_hot(as_node(2), params=(5,)),
        "only one entry is not zero; also for scatter_add, if the length is known",
    ),
    law(
        "labels-in-range",
        scatter_add(full(as_node(1), ("n",)), iota(params=("n",)), _labels, params=((0, 1), ("n", "m"))),
        one_hot(_labels, params=("m",)),
        "each row has one entry that is not zero; for labels that are known to be positions",
    ),
    law(
        "sum-of-labels",
        sum_over(one_hot(_labels, params=("m",)), (1,)),
        full(as_node(1), ("n",)),
        "each row has one entry that is 1; for labels that are known to be positions",
    ),
    law(
        "mean-as-sum",
        mean(_A, params=((0,),)),
        sum_over(_A, (0,)) / size_node("n"),
        "definition; the mean of no entries is undefined; at the end it is written as a mean again",
    ),
    law(
        "view-of-a-view",
        reshape(broadcast_to(expand(_x, (1,)), params=(("n", 1),)), params=((1, "n", 1),)),
        broadcast_to(expand(_x, (1,)), params=((1, "n", 1),)),
        "transposes, new axes and broadcasts compose",
    ),
    law(
        "transpose-of-a-sum",
        transpose(transpose(_A, (1, 0)) + _B, (1, 0)),
        _A + transpose(_B, (1, 0)),
        "linearity; only if the number of inner transposes does not grow",
    ),
    law(
        "elementwise-on-broadcasts",
        _A + broadcast_to(_u, params=(("n", "m"),)),
        _A + _u,
        "elementwise ops broadcast by themselves",
    ),
    law(
        "elementwise-on-views",
        exp(expand(_x, (1,))),
        expand(exp(_x), (1,)),
        "elementwise ops do not look at positions",
    ),
    law(
        "product-of-views",
        _A * expand(_x * _y, (1,)),
        _A * expand(_x, (1,)) * expand(_y, (1,)),
        "inside a product: elementwise ops do not look at positions",
    ),
    law(
        "factor-of-a-linear-op",
        cumsum(a * _x, params=(0, 0)),
        a * cumsum(_x, params=(0, 0)),
        "linearity; also for slices, reshapes, gather and scatter_add",
    ),
    law(
        "guard-by-a-norm",
        where(ne(norm(_x, params=((0,),)), as_node(0)), _x, as_node(0)),
        _x,
        "the norm is 0 only if all entries are 0",
    ),
]
