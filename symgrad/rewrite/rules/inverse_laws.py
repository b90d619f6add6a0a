"""Laws of the canonical phase for linear algebra, which `rewrite/array_forms/inverses.py` applies."""

from __future__ import annotations

from symgrad.ir.graph import as_node
from symgrad.ops.array.indexing import eye
from symgrad.ops.array.linalg import det, inv, logdet, solve
from symgrad.ops.numpy.calls import matrix_transpose
from symgrad.ops.numpy.products import matmul
from symgrad.ops.scalar.arith import div
from symgrad.rewrite.rule import Rule
from symgrad.rewrite.rules.variables import array, law

_A, _B, _X, _x = array("A", "n", "n"), array("B", "n", "n"), array("X", "m", "n"), array("x", "n")
_c = array("c")
_one = eye(params=("n", "n"))
_gram = matmul(matrix_transpose(_X), _X)

INVERSES = [
    law(
        "inverse-of-a-transpose",
        inv(matrix_transpose(_A)),
        matrix_transpose(inv(_A)),
        "transposes move outside; for a product or sum the form with fewer transposes is taken",
    ),
    law(
        "transpose-of-a-symmetric-matrix",
        matrix_transpose(inv(_gram)),
        inv(_gram),
        "if a matrix and its transpose have the same normal form, so have their inverses",
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
    law(
        "inverse-of-a-product",
        inv(matmul(_A, _B)),
        matmul(inv(_B), inv(_A)),
        "for square factors: a product is singular exactly where a factor is",
    ),
    law(
        "inverse-of-a-multiple",
        inv(2 * _A),
        div(inv(_A), as_node(2)),
        "for factors that are known not to be zero",
    ),
    law("inverse-of-identity", inv(_one), _one, "definition"),
    Rule(
        name="inverse-beside-its-matrix",
        pattern=matmul(inv(_A), matmul(_A, _B)),
        replacement=_B,
        why="definition of the inverse; also if the matrix is a product: inv(X.T@X)@X.T@X",
        soundness="widens",
        note="also defined where {A} is singular",
        witness={"A": 0, "B": 0},
        how="collected",
    ),
    law(
        "determinant-of-a-transpose", det(matrix_transpose(_A)), det(_A), "Leibniz' formula; also for logdet"
    ),
    law(
        "determinant-of-an-inverse",
        logdet(inv(_A)),
        -logdet(_A),
        "determinants multiply; det(inv(A)) is 1/det(A)",
    ),
    law("determinant-of-identity", det(_one), as_node(1), "definition; logdet is 0"),
    law("factor-of-a-solution", solve(_A, _c * _x), _c * solve(_A, _x), "linearity in the right side"),
]
