"""Rows of the canonical phase for arrays: the laws that the normal form of contractions applies, one each.

A row states its law for small shapes, over arrays with named sizes; the normal form applies it in index notation, for
any number of operands and axes. Each holds for sizes 0 and 1 too: a sum of nothing is zero. A division by a scalar has
a value only where the scalar is not zero, however many entries it divides: x/n has none for n = 0, nor has sum(x)/n.
"""

from __future__ import annotations

from symgrad.ir.graph import Node, as_node, size_node, symbol
from symgrad.ir.sizes import Size, size_sum
from symgrad.ir.types import INT, REAL, Declaration, Domain
from symgrad.ops.array.contraction import contract, sum_over, transpose
from symgrad.ops.array.indexing import eye, gather, iota, one_hot, scatter_add
from symgrad.ops.array.layout import broadcast_to, expand, full, reshape, slice_axes, unslice
from symgrad.ops.array.reductions import mean, norm
from symgrad.ops.array.scans import cumsum
from symgrad.ops.numpy.products import matmul
from symgrad.ops.scalar.arith import add, div, mul
from symgrad.ops.scalar.elementary import exp
from symgrad.ops.scalar.logic import ne, where
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.variables import a

__all__ = ["TENSORS"]


def _array(name: str, *shape: Size) -> Node:
    return symbol(Declaration(name, REAL, shape))


_x, _y = _array("x", "n"), _array("y", "n")
_u, _v = _array("u", "m"), _array("v", "m")
_A = _array("A", "n", "m")
_B = _array("B", "m", "n")
_C, _D = _array("C", "m", "k"), _array("D", "k", "n")
_ids = symbol(Declaration("ids", INT, ("k",)))
_labels = symbol(Declaration("t", Domain("int", "int", 0, size_sum(["m", -1]), closed=True), ("n",)))
_picked = (iota(params=("k",)), _ids)
_part = ((None, None, 1), (1, None, 1))


TENSORS = [
    Rule(
        name="contraction-of-a-contraction",
        pattern=matmul(matmul(_A, _C), _D),
        replacement=contract([_A, _C, _D], [(0, 1), (1, 2), (2, 3)], (0, 3)),
        why="sums are exchanged and factors move into them: matrix products associate",
        how="collected",
    ),
    Rule(
        name="contraction-of-a-view",
        pattern=contract([_u, transpose(_A, (1, 0))], [(0,), (0, 1)], (1,)),
        replacement=matmul(_A, _u),
        why="transposes only permute the labels of the operands",
        how="collected",
    ),
    Rule(
        name="factor-in-front",
        pattern=matmul(_A, mul(a, _u)),
        replacement=mul(a, matmul(_A, _u)),
        why="distributivity",
        how="collected",
    ),
    Rule(
        name="scalar-factor-of-a-sum",
        pattern=add(mul(a, _x), mul(a, _y)),
        replacement=mul(a, add(_x, _y)),
        why="distributivity: one product with an array fewer",
        how="collected",
    ),
    Rule(
        name="sum-of-a-repeated-axis",
        pattern=sum_over(broadcast_to(_u, params=(("n", "m"),)), (0,)),
        replacement=mul(size_node("n"), _u),
        why="n equal terms",
        how="collected",
    ),
    Rule(
        name="factor-that-no-label-touches",
        pattern=contract([_A, _u, _x], [(0, 1), (1,), (0,)], (0,)),
        replacement=mul(_x, matmul(_A, _u)),
        why="distributivity",
        how="collected",
    ),
    Rule(
        name="contraction-of-equal-labels",
        pattern=contract([_A, _u, _v], [(0, 1), (1,), (1,)], (0,)),
        replacement=matmul(_A, mul(_u, _v)),
        why="entries that always stand together are one product",
        how="collected",
    ),
    Rule(
        name="contraction-with-identity",
        pattern=matmul(eye(params=("n", "n")), _A),
        replacement=_A,
        why="one term of the sum is not zero",
        how="collected",
    ),
    Rule(
        name="sum-of-a-sum",
        pattern=sum_over(add(_x, mul(a, _y)), (0,)),
        replacement=add(sum_over(_x, (0,)), mul(a, sum_over(_y, (0,)))),
        why="only where terms cancel or collect then",
        how="collected",
    ),
    Rule(
        name="sum-of-scattered",
        pattern=sum_over(scatter_add(gather(_x, _ids, params=((0,),)), _ids, params=((0,), ("n",))), (0,)),
        replacement=sum_over(gather(_x, _ids, params=((0,),)), (0,)),
        why="every value arrives somewhere",
        how="collected",
    ),
    Rule(
        name="sum-of-scattered-rows",
        pattern=sum_over(
            scatter_add(gather(_D, *_picked, params=((0, 1),)), *_picked, params=((0, 1), ("k", "n"))), (1,)
        ),
        replacement=gather(_D, *_picked, params=((0, 1),)),
        why="positions that count the rows give each its own value",
        how="collected",
    ),
    Rule(
        name="sum-of-unslice",
        pattern=sum_over(unslice(slice_axes(_A, _part), params=(_part, ("n", "m"))), (1,)),
        replacement=sum_over(slice_axes(_A, _part), (1,)),
        why="the other entries are zero",
        how="collected",
    ),
    Rule(
        name="unit-vector",
        pattern=unslice(full(as_node(1), (1,)), params=(((2, 3, 1),), (5,))),
        replacement=one_hot(as_node(2), params=(5,)),
        why="one entry is not zero; also of scatter_add, where the length is known",
        how="collected",
    ),
    Rule(
        name="labels-in-range",
        pattern=scatter_add(
            full(as_node(1), ("n",)), iota(params=("n",)), _labels, params=((0, 1), ("n", "m"))
        ),
        replacement=one_hot(_labels, params=("m",)),
        why="each row has one entry that is not zero; of labels that are known to be positions",
        how="collected",
    ),
    Rule(
        name="sum-of-labels",
        pattern=sum_over(one_hot(_labels, params=("m",)), (1,)),
        replacement=full(as_node(1), ("n",)),
        why="each row has one entry that is 1; of labels that are known to be positions",
        how="collected",
    ),
    Rule(
        name="mean-as-sum",
        pattern=mean(_A, params=((0,),)),
        replacement=div(sum_over(_A, (0,)), size_node("n")),
        why="definition, the mean of nothing is undefined; written as a mean again in the end",
        how="collected",
    ),
    Rule(
        name="view-of-a-view",
        pattern=reshape(broadcast_to(expand(_x, (1,)), params=(("n", 1),)), params=((1, "n", 1),)),
        replacement=broadcast_to(expand(_x, (1,)), params=((1, "n", 1),)),
        why="transposes, new axes and broadcasts compose",
        how="collected",
    ),
    Rule(
        name="transpose-of-a-sum",
        pattern=transpose(add(transpose(_A, (1, 0)), _B), (1, 0)),
        replacement=add(_A, transpose(_B, (1, 0))),
        why="linearity; where no more transposes are left inside than were there",
        how="collected",
    ),
    Rule(
        name="elementwise-on-broadcasts",
        pattern=add(_A, broadcast_to(_u, params=(("n", "m"),))),
        replacement=add(_A, _u),
        why="elementwise ops broadcast by themselves",
        how="collected",
    ),
    Rule(
        name="elementwise-on-views",
        pattern=exp(expand(_x, (1,))),
        replacement=expand(exp(_x), (1,)),
        why="elementwise ops do not look at positions",
        how="collected",
    ),
    Rule(
        name="product-of-views",
        pattern=mul(_A, expand(mul(_x, _y), (1,))),
        replacement=mul(mul(_A, expand(_x, (1,))), expand(_y, (1,))),
        why="inside a product: elementwise ops do not look at positions",
        how="collected",
    ),
    Rule(
        name="factor-of-a-linear-op",
        pattern=cumsum(mul(a, _x), params=(0, 0)),
        replacement=mul(a, cumsum(_x, params=(0, 0))),
        why="linearity; also of slices, reshapes, gather and scatter_add",
        how="collected",
    ),
    Rule(
        name="guard-by-a-norm",
        pattern=where(ne(norm(_x, params=((0,),)), as_node(0)), _x, as_node(0)),
        replacement=_x,
        why="the norm is 0 where all entries are",
        how="collected",
    ),
]
