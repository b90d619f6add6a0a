"""Rows of the canonical phase for linear algebra: the laws that `rewrite/array_forms/inverses.py` applies, one each."""

from __future__ import annotations

from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.sizes import Size
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.linalg import det, inv, logdet, solve
from symgrad.ops.numpy.calls import matrix_transpose
from symgrad.ops.numpy.products import matmul
from symgrad.ops.scalar.arith import div, mul, neg
from symgrad.rewrite.rule import Rule

__all__ = ["INVERSES"]


def _array(name: str, *shape: Size) -> Node:
    return symbol(Declaration(name, REAL, shape))


_A, _B, _X, _x = _array("A", "n", "n"), _array("B", "n", "n"), _array("X", "m", "n"), _array("x", "n")
_c = _array("c")
_one = eye(params=("n", "n"))
_gram = matmul(matrix_transpose(_X), _X)

INVERSES = [
    Rule(
        name="inverse-of-a-transpose",
        pattern=inv(matrix_transpose(_A)),
        replacement=matrix_transpose(inv(_A)),
        why="transposes move outside, and of a product or sum the form with fewer of them is taken",
        how="collected",
    ),
    Rule(
        name="transpose-of-a-symmetric-matrix",
        pattern=matrix_transpose(inv(_gram)),
        replacement=inv(_gram),
        why="the transpose of a matrix has the same normal form, then so has that of its inverse",
        how="collected",
    ),
    Rule(
        name="inverse-of-an-inverse",
        pattern=inv(inv(_A)),
        replacement=_A,
        why="definition",
        soundness="widens",
        note="also defined where {A} is singular",
        witness={"A": 0},
        how="collected",
    ),
    Rule(
        name="inverse-of-a-product",
        pattern=inv(matmul(_A, _B)),
        replacement=matmul(inv(_B), inv(_A)),
        why="for square factors: a product is singular exactly where a factor is",
        how="collected",
    ),
    Rule(
        name="inverse-of-a-multiple",
        pattern=inv(mul(as_node(2), _A)),
        replacement=div(inv(_A), as_node(2)),
        why="for factors that are known not to be zero",
        how="collected",
    ),
    Rule(
        name="inverse-of-identity",
        pattern=inv(_one),
        replacement=_one,
        why="definition",
        how="collected",
    ),
    Rule(
        name="inverse-beside-its-matrix",
        pattern=matmul(inv(_A), matmul(_A, _B)),
        replacement=_B,
        why="definition of the inverse; of a matrix that is a product too, inv(X.T@X)@X.T@X",
        soundness="widens",
        note="also defined where {A} is singular",
        witness={"A": 0, "B": 0},
        how="collected",
    ),
    Rule(
        name="determinant-of-a-transpose",
        pattern=det(matrix_transpose(_A)),
        replacement=det(_A),
        why="Leibniz' formula; also of logdet",
        how="collected",
    ),
    Rule(
        name="determinant-of-an-inverse",
        pattern=logdet(inv(_A)),
        replacement=neg(logdet(_A)),
        why="determinants multiply; det(inv(A)) is 1/det(A)",
        how="collected",
    ),
    Rule(
        name="determinant-of-identity",
        pattern=det(_one),
        replacement=as_node(1),
        why="definition; logdet is 0",
        how="collected",
    ),
    Rule(
        name="factor-of-a-solution",
        pattern=solve(_A, mul(_c, _x)),
        replacement=mul(_c, solve(_A, _x)),
        why="linearity in the right side",
        how="collected",
    ),
]
