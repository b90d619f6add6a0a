"""Linear algebra of square matrices in the last two axes: inv, det, logdet, solve.

If elimination meets a zero pivot in a matrix, all entries of `inv` and `solve` are NaN, `det` is 0, and `logdet` is
-inf. Each matrix of a stack is treated separately. Derivatives are from Petersen & Pedersen, The Matrix Cookbook
(2012), equations 36 to 43; they use the inverse, so they are NaN at a singular matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.notation.literals import ATOM, POW
from symgrad.ir.op import Kink, Total
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, size_product
from symgrad.ops.array.along import rows_aligned
from symgrad.ops.array.contraction import adjoint, contract
from symgrad.ops.array.factors import determinant, inverse, log_determinant, solution
from symgrad.ops.array.indexing import identity_of
from symgrad.ops.array.layout import (
    aligned,
    expand,
    full,
    move_up,
    only,
    shape_text,
    spread,
    squeeze,
    unbroadcast,
)
from symgrad.ops.record import structural
from symgrad.ops.scalar.arith import div
from symgrad.support.errors import ShapeError

_INV: Callable[[Any], Any] = np.linalg.inv
_SOLVE: Callable[[Any, Any], Any] = np.linalg.solve

_SINGULAR = Kink(
    "singular matrices",
    (),
    (),
    "the derivative is written with the inverse, which is NaN: no value is made up",
)


def square_shape(shapes: tuple[Shape, ...]) -> Shape:
    """Return the shape of the first argument, which has square matrices in the last two axes.

    Raises:
        ShapeError: if the matrices are not square.
    """
    shape = shapes[0]
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(
            f"an array of shape {shape_text(shape)}",
            expected="a square matrix in the last two axes",
            cure="check the declared shape; X.T@X is square for every matrix X",
        )
    return shape


def _stack(shapes: tuple[Shape, ...]) -> Shape:
    return square_shape(shapes)[:-2]


# ------------------------------------------------------------------------------------------------------- evaluation


def of_each(function: Callable[..., Any], shape: tuple[int, ...], *stacks: Any) -> Any:
    """Apply a function to the matrices of stacks with the same leading axes; NaN for a matrix at which it fails."""
    result = np.full(shape, np.nan, dtype=np.result_type(*stacks, np.float32))
    for at in product(*map(range, stacks[0].shape[:-2])):
        try:
            result[at] = function(*(s[at] for s in stacks))
        except np.linalg.LinAlgError:
            continue
    return result


def _inv(x: Any) -> Any:
    try:
        return _INV(x)
    except np.linalg.LinAlgError:
        return of_each(_INV, np.shape(x), np.asarray(x))


def _solve(a: Any, b: Any) -> Any:
    try:
        return _SOLVE(a, b)
    except np.linalg.LinAlgError:
        columns = np.asarray(b)[:, None] if np.ndim(b) == 1 else np.asarray(b)
        lead = np.broadcast_shapes(np.shape(a)[:-2], columns.shape[:-2])
        stacks = [np.broadcast_to(s, (*lead, *np.shape(s)[-2:])) for s in (a, columns)]
        found = of_each(_SOLVE, stacks[1].shape, *stacks)
        return found[..., 0] if np.ndim(b) == 1 else found


def _unless_nan(found: Any, x: Any) -> Any:
    """Return a result, or NaN for a matrix with a NaN, since elimination may skip a NaN next to a column of zeros."""
    return np.where(np.any(np.isnan(x), axis=(-2, -1)), np.nan, found)[()]


def _eliminate(mp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the determinant of a and the solution of a @ x = b, by Gauss-Jordan elimination.

    mpmath's own functions treat a matrix as singular if a pivot is small relative to the other pivots.
    """
    n, nan = len(a), mp.nan
    rows = [[mp.mpf(e) for e in (*p, *q)] for p, q in zip(a, b, strict=True)]
    nothing = np.full(np.shape(b), nan, dtype=object)
    if any(mp.isnan(e) for row in rows for e in row[:n]):
        return nan, nothing
    determinant = mp.mpf(1)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if rows[pivot][k] == 0:
            return mp.mpf(0), nothing
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            determinant = -determinant
        determinant *= rows[k][k]
        rows[k] = [e / rows[k][k] for e in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [p - factor * q for p, q in zip(rows[i], rows[k], strict=True)]
    found = np.empty(np.shape(b), dtype=object)
    for i, j in np.ndindex(*found.shape):
        found[i, j] = rows[i][n + j]
    return determinant, found


def _eliminate_each(mp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the determinants and solutions of the matrices of two stacks, which broadcast."""
    a, b = (np.asarray(s, dtype=object) for s in (a, b))
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(s, (*lead, *s.shape[-2:])) for s in (a, b))
    determinants, solutions = np.empty(lead, dtype=object), np.empty(b.shape, dtype=object)
    for at in np.ndindex(*lead):
        determinants[at], solutions[at] = _eliminate(mp, a[at], b[at])
    return determinants[()], solutions


def _exact_inv(mp: Any, x: Any) -> Any:
    return _eliminate_each(mp, x, np.eye(np.shape(x)[-1], dtype=object))[1]


def _exact_det(mp: Any, x: Any) -> Any:
    return _eliminate_each(mp, x, np.asarray(x)[..., :0])[0]


def _exact_logdet(mp: Any, x: Any) -> Any:
    size = np.frompyfunc(lambda d: mp.log(abs(d)) if d != 0 else mp.mpf("-inf"), 1, 1)
    return size(_exact_det(mp, x))


def _exact_solve(mp: Any, a: Any, b: Any) -> Any:
    if np.ndim(b) == 1:
        return _eliminate_each(mp, a, np.asarray(b)[:, None])[1][:, 0]
    return _eliminate_each(mp, a, b)[1]


# ------------------------------------------------------------------------------------------------------ derivatives


def product_of(a: Node, b: Node, *, left: bool = False, right: bool = False) -> Node:
    """Return the products of the matrices of two stacks, which have the same leading axes.

    ``left`` and ``right`` tell whether to transpose the matrices of an operand first.
    """
    lead = range(len(a.shape) - 2)
    i, j, k = (len(lead) + n for n in range(3))
    return contract(
        [a, b],
        [(*lead, k, i) if left else (*lead, i, k), (*lead, j, k) if right else (*lead, k, j)],
        (*lead, i, j),
    )


def _inv_push(node: Node, _i: int, tangent: Node) -> Node:
    return -product_of(product_of(node, full(tangent, node.shape)), node)


def _inv_pull(node: Node, _i: int, cotangent: Node) -> Node:
    return -product_of(product_of(node, full(cotangent, node.shape), left=True), node, right=True)


def rows_of_matrices(node: Node, places: Sequence[int | None]) -> int | None:
    """Return the axis of the rows of a function of matrices; None if rows are along an axis of the matrices."""
    p = only(places)
    return p if p < len(node.args[0].shape) - 2 else None


_LINALG = {
    "numpy": "np.linalg",
    "jax": "jnp.linalg",
    "torch": "torch.linalg",
    "tensorflow": "tf.linalg",
    "keras": "ops",
}


def of_matrices(
    name: str,
    *,
    doc: str,
    shape: Callable[[tuple[Shape, ...]], Shape],
    evaluate: Callable[[Any], Any],
    reference: Callable[[Any, Any], Any],
    push: Callable[[Node, int, Node], Node],
    pull: Callable[[Node, int, Node], Node],
    native: Callable[[Node, tuple[Node, ...]], Node],
    total: Total,
    source: str | Mapping[str, str],
    latex: str,
    precedence: int = ATOM,
    kink: Kink = _SINGULAR,
) -> Op:
    """Return an op of one stack of matrices; ``source`` is one function of all libraries, or a template for each."""
    templates = {x: f"{m}.{source}" for x, m in _LINALG.items()} if isinstance(source, str) else source
    return structural(
        name,
        doc=doc,
        gives="real",
        parameters=(),
        shape=shape,
        evaluate=evaluate,
        reference=reference,
        push=push,
        pull=pull,
        batch=lambda node, stacks, lead: node.op(only(stacks)),
        rows=rows_of_matrices,
        entries="computed",
        total=total,
        native=native,
        source=lambda node: templates,
        kinks=(kink,),
        latex=latex,
        precedence=precedence,
    )


inv: Op = of_matrices(
    "inv",
    doc="the inverse of the matrices in the last two axes; NaN if there is none",
    shape=square_shape,
    evaluate=_inv,
    reference=_exact_inv,
    push=_inv_push,
    pull=_inv_pull,
    native=lambda node, args: inverse(args[0], div(identity_of(*args[0].shape[-2:]), as_node(1))),
    total="of regular",
    source="inv({0:t})",
    latex=r"{0}^{{-1}}",
)


def _relative_change(node: Node, tangent: Node) -> Node:
    """Return trace(inv(x) @ tangent), the derivative of log(abs(det(x)))."""
    x = node.args[0]
    lead = range(len(x.shape) - 2)
    i, j = len(lead), len(lead) + 1
    return contract([inv(x), full(tangent, x.shape)], [(*lead, i, j), (*lead, j, i)], lead)


def _per_matrix(value: Node, node: Node) -> Node:
    rank = len(node.args[0].shape)
    return spread(value, (rank - 2, rank - 1), rank)


det: Op = of_matrices(
    "det",
    doc="the determinant of the matrices in the last two axes",
    shape=_stack,
    evaluate=lambda x: _unless_nan(np.linalg.det(x), x),
    reference=_exact_det,
    push=lambda node, i, t: node * _relative_change(node, t),
    pull=lambda node, i, ct: _per_matrix(ct * node, node) * adjoint(inv(node.args[0])),
    native=lambda node, args: determinant(args[0]),
    total="always",
    source="det({0:t})",
    latex=r"\det\left({0}\right)",
)

logdet: Op = of_matrices(
    "logdet",
    doc="log(abs(det(x))) of the matrices in the last two axes, without overflow",
    shape=_stack,
    evaluate=lambda x: _unless_nan(np.linalg.slogdet(x)[1], x),
    reference=_exact_logdet,
    push=lambda node, i, t: _relative_change(node, t),
    pull=lambda node, i, ct: _per_matrix(ct, node) * adjoint(inv(node.args[0])),
    native=lambda node, args: log_determinant(args[0]),
    total="of regular",
    source="slogdet({0:t})[1]",
    latex=r"\log\left|\det\left({0}\right)\right|",
    precedence=POW,
)


def _solve_rule(shapes: tuple[Shape, ...]) -> Shape:
    a, b = square_shape(shapes), shapes[1]
    rows = b[-2] if len(b) > 1 else b[0] if b else None
    if rows != a[-1] or (len(b) == 1 and len(a) > 2):
        raise ShapeError(
            f"arrays of shapes {shape_text(a)} and {shape_text(b)} are not a system of equations",
            expected="a right side with as many rows as the matrix",
            cure="check the declared shapes; a stack of vectors is one of matrices with one column: b[..., None]",
        )
    if len(b) == 1:
        return b
    return (*broadcast_shapes([a[:-2], b[:-2]]), *b[-2:])


def _solve_push(node: Node, i: int, tangent: Node) -> Node:
    a, b = node.args
    if i == 1:
        return solve(a, full(tangent, b.shape))
    if len(b.shape) == 1:
        moved = contract([full(tangent, a.shape), node], [(0, 1), (1,)], (0,))
    else:
        moved = product_of(full(tangent, (*node.shape[:-2], *a.shape[-2:])), node)
    return -solve(a, moved)


def _solve_pull(node: Node, i: int, cotangent: Node) -> Node:
    a, b = node.args
    right = solve(adjoint(a), full(cotangent, node.shape))
    if i == 1:
        return unbroadcast(right, node.shape, b.shape)
    if len(b.shape) == 1:
        return -contract([right, node], [(0,), (1,)], (0, 1))
    moved = -product_of(right, node, right=True)
    return unbroadcast(moved, (*node.shape[:-2], *a.shape[-2:]), a.shape)


def _batch_solve(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    a, b = (arg if s is None else s for arg, s in zip(node.args, stacks, strict=True))
    if len(node.shape) > 1:
        rank = len(node.shape)
        return node.op(
            *(
                x if s is None else aligned(s, len(arg.shape), rank, lead)
                for x, arg, s in zip((a, b), node.args, stacks, strict=True)
            )
        )
    if stacks[0] is not None:
        columns = node.op(a, expand(b, [len(b.shape)]))
        return squeeze(columns, [len(columns.shape) - 1])
    # A single elimination of one matrix solves for a stack of vectors, which are its columns.
    rows = move_up(b, (size_product(lead), *node.shape))
    return move_up(adjoint(node.op(a, adjoint(rows))), (*lead, *node.shape))


def _rows_of_solved(node: Node, places: Sequence[int | None]) -> int | None:
    """Return the axis of the rows of a solution.

    Matrices of a stack, and columns of the right side, are independent.
    """
    rank = len(node.shape)
    found = rows_aligned(node, places) if rank > 1 else None
    if found is None or found == rank - 2 or (found == rank - 1 and places[0] is not None):
        return None
    return found


solve: Op = structural(
    "solve",
    doc="the x with a @ x = b, for the matrices in the last two axes of a; NaN if a has no inverse",
    takes=("number", "number"),
    gives="real",
    parameters=(),
    shape=_solve_rule,
    evaluate=_solve,
    reference=_exact_solve,
    push=_solve_push,
    pull=_solve_pull,
    kinks=(_SINGULAR,),
    batch=_batch_solve,
    rows=_rows_of_solved,
    entries="computed",
    total="of regular",
    native=lambda node, args: solution(*args),
    source=None,
    latex=r"{0}^{{-1}} {1}",
)
