"""Functions of square matrices in the last two axes, expm, sinm and cosm, and their derivatives in a direction.

The derivative of f at x in the direction e is linear in e; for expm it is expm_frechet(x, e), as in SciPy. For every
such function f([[x, e], [0, x]]) is [[f(x), f'(x; e)], [0, f(x)]] (R. Mathias, SIAM J. Matrix Anal. Appl. 17, 1996), so
second derivatives are first derivatives at matrices of twice the size. The transpose of the derivative at x, as a
linear map of e, is the derivative at x.T.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, apply, as_node
from symgrad.ir.sizes import Shape, Size, size_sum
from symgrad.ops.array.along import rows_aligned
from symgrad.ops.array.contraction import adjoint
from symgrad.ops.array.factors import EXPONENTIAL
from symgrad.ops.array.layout import (
    WHOLE,
    broadcast_to,
    concatenate,
    full,
    only,
    reshape,
    shape_text,
    slice_axes,
    slice_of,
    stacked_argument,
)
from symgrad.ops.array.linalg import rows_of_matrices, square_shape
from symgrad.ops.array.reductions import max
from symgrad.ops.record import structural
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.ops.scalar.logic import and_, eq, gt, where
from symgrad.ops.scalar.rounding import abs as absolute
from symgrad.support.errors import ShapeError

# ------------------------------------------------------------------------------------------------------- evaluation


def _each(function: Callable[..., Any], *stacks: Any) -> Any:
    """Apply a function to the matrices of stacks of the same shape.

    All entries are NaN for a matrix that is not finite.
    """
    arrays = [np.asarray(s) for s in stacks]
    real = np.result_type(*arrays, np.float32)
    result = np.full(arrays[0].shape, np.nan, dtype=real)
    with np.errstate(all="ignore"):
        for at in product(*map(range, result.shape[:-2])):
            parts = [np.asarray(a[at], dtype=real) for a in arrays]
            if result[at].size and all(np.all(np.isfinite(p)) for p in parts):
                result[at] = function(*parts)
    return result


def _expm(x: Any) -> Any:
    linalg: Any = import_module("scipy.linalg")
    return linalg.expm(x)


def _expm_frechet(x: Any, e: Any) -> Any:
    linalg: Any = import_module("scipy.linalg")
    return linalg.expm_frechet(x, e, compute_expm=False)


def _of_one(name: str, *args: Any) -> Any:
    """Evaluate one function by exp(i*x) = cos(x) + i*sin(x); the derivative in direction e uses the direction i*e."""
    function = _expm if len(args) == 1 else _expm_frechet
    if name == "expm":
        return function(*args)
    found = function(*(1j * a for a in args))
    return found.imag if name == "sinm" else found.real


def _evaluate(name: str, *stacks: Any) -> Any:
    return _each(partial(_of_one, name), *stacks)


def _exact(name: str, mp: Any, x: Any, e: Any = None) -> Any:
    """Evaluate in mpmath: a derivative is a block of the function of a matrix of twice the size."""
    x = np.asarray(x, dtype=object)
    n = x.shape[-1]
    found = np.empty(x.shape, dtype=object)
    for at in np.ndindex(*x.shape[:-2]):
        inner = np.asarray(x[at], dtype=object)
        if e is not None:
            direction = np.asarray(e, dtype=object)[at]
            inner = np.block([[inner, direction], [np.zeros((n, n), dtype=object), inner]])
        value = _exact_of_one(name, mp, inner) if n else inner
        found[at] = value[:n, n:] if e is not None else value
    return found


def _exact_of_one(name: str, mp: Any, x: Any) -> Any:
    if any(not mp.isfinite(v) for v in x.flat):
        return np.full(x.shape, mp.nan, dtype=object)
    unit = 1 if name == "expm" else mp.mpc(0, 1)
    value = mp.expm(mp.matrix((x * unit).tolist()))
    part: Callable[[Any], Any] = mp.im if name == "sinm" else mp.re
    return np.array([[part(v) for v in row] for row in value.tolist()], dtype=object)


# ------------------------------------------------------------------------------------------------------ derivatives


def _corner(x: Node, size: Size, row: int, column: int) -> Node:
    """Return one of the four blocks of each matrix with 2*size rows."""
    ends = [(0, size, 1), (size, x.shape[-1], 1)]
    return slice_axes(x, [*(WHOLE for _ in x.shape[:-2]), ends[row], ends[column]])


def _blocks(a: Node, b: Node, d: Node) -> Node:
    """Return the matrices [[a, b], [0, d]]."""
    axis = len(a.shape) - 2
    zero = full(as_node(0), a.shape)
    rows = [concatenate(p, q, params=(axis + 1,)) for p, q in ((a, b), (zero, d))]
    return concatenate(*rows, params=(axis,))


def _slope_push(node: Node, i: int, tangent: Node) -> Node:
    x, e = node.args
    moved = full(tangent, x.shape)
    if i == 1:
        return node.op(x, moved)
    zero = full(as_node(0), x.shape)
    return _corner(node.op(_blocks(x, e, x), _blocks(moved, zero, moved)), x.shape[-1], 0, 1)


def _slope_pull(node: Node, i: int, cotangent: Node) -> Node:
    x, e = node.args
    moved = full(cotangent, x.shape)
    if i == 1:
        return node.op(adjoint(x), moved)
    zero = full(as_node(0), x.shape)
    found = node.op(adjoint(_blocks(x, e, x)), _blocks(zero, moved, zero))
    return _corner(found, x.shape[-1], 0, 0) + _corner(found, x.shape[-1], 1, 1)


def _slope_shape(shapes: tuple[Shape, ...]) -> Shape:
    if square_shape(shapes) != shapes[1]:
        raise ShapeError(
            f"a derivative at matrices of shape {shape_text(shapes[0])} in a direction of shape "
            f"{shape_text(shapes[1])}",
            expected="a direction of the same shape",
        )
    return shapes[0]


# ------------------------------------------------------------------------------------------------------------ kernels
# exp([[0, -x], [x, 0]]) is [[cos(x), -sin(x)], [sin(x), cos(x)]]. A derivative is linear in the direction, so the
# direction is scaled first, since a large direction would cost digits of the result.


def _native(name: str, _node: Node, args: tuple[Node, ...]) -> Node:
    """Return expm, sinm or cosm of matrices; with a second argument, the derivative in this direction."""
    x, *directions = (a if a.dtype == "real" else div(a, as_node(1)) for a in args)
    if not directions:
        return _native_value(name, x)
    size, rank = x.shape[-1], len(x.shape)
    (e,) = directions
    scale = _scale(e)
    wide = _per_matrix(scale, rank)
    found = _native_value(name, _joined(x, div(e, wide), _exact_zeros(x), x))
    return mul(_block(found, size, 0, 1), wide)


def _native_value(name: str, x: Node) -> Node:
    if name == "expm":
        return _exponential(x)
    zero = _exact_zeros(x)
    found = _exponential(_joined(zero, neg(x), x, zero))
    return _block(found, x.shape[-1], int(name == "sinm"), 0)


def _exponential(x: Node) -> Node:
    """Return the result of the computation, which is in the first rows of its memory."""
    size, rank = x.shape[-1], len(x.shape)
    work = EXPONENTIAL(x)
    return _cut(work, [(0, size) if k == rank - 2 else None for k in range(rank)])


def _scale(e: Node) -> Node:
    """Return the largest absolute value of each matrix, or 1 if that is zero or not finite."""
    rank = len(e.shape)
    if e.shape[-1] == 0:
        return as_node(1)
    largest = apply(max, (absolute(e),), ((rank - 2, rank - 1),))
    usable = and_(gt(largest, as_node(0)), eq(add(largest, neg(largest)), as_node(0)))
    return where(usable, largest, as_node(1))


def _per_matrix(x: Node, rank: int) -> Node:
    shape = (*x.shape, 1, 1)
    return apply(reshape, (x,), (shape,)) if rank > 2 or (x.shape == () and rank == 2) else x


def _exact_zeros(x: Node) -> Node:
    return apply(broadcast_to, (div(as_node(0), as_node(1)),), (x.shape,))


def _joined(a: Node, b: Node, c: Node, d: Node) -> Node:
    """Return the matrices [[a, b], [c, d]]."""
    axis = len(a.shape) - 2
    rows = [apply(concatenate, pair, (axis + 1,)) for pair in ((a, b), (c, d))]
    return apply(concatenate, tuple(rows), (axis,))


def _block(x: Node, size: Size, row: int, column: int) -> Node:
    rank = len(x.shape)
    ends: list[tuple[Size, Size] | None] = [None] * (rank - 2)
    end = size_sum([size, size])
    return _cut(x, [*ends, *((0, size) if k == 0 else (size, end) for k in (row, column))])


def _cut(x: Node, ends: Sequence[tuple[Size, Size] | None]) -> Node:
    triples = tuple(
        (None, None, 1) if e is None else (None if e[0] == 0 else e[0], None if e[1] == n else e[1], 1)
        for e, n in zip(ends, x.shape, strict=True)
    )
    return apply(slice_of, (x,), (triples,))


# ------------------------------------------------------------------------------------------------------------ records


def _batch_slope(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    return node.op(*(stacked_argument(node, i, s, lead) for i, s in enumerate(stacks)))


def _rows_of_slope(node: Node, places: Sequence[int | None]) -> int | None:
    found = rows_aligned(node, places)
    return found if found is not None and found < len(node.shape) - 2 else None


def _source(name: str, node: Node) -> Mapping[str, str]:
    """Write sine and cosine, and their derivatives, as the imaginary and the real part of the exponential of i*x."""
    of = "_frechet" * (len(node.args) - 1)
    args = ", ".join(f"{{{i}:t}}" for i in range(len(node.args)))
    found = dict.fromkeys(("jax", "torch", "tensorflow", "keras"), f"_{name}{of}({args})")
    imaginary = ", ".join(f"1j*{{{i}:m}}" for i in range(len(node.args)))
    part = {"sinm": ".imag", "cosm": ".real"}.get(name)
    return {**found, "numpy": f"_expm{of}({imaginary}){part}" if part else f"_expm{of}({args})"}


def _slope(of: str, doc: str) -> Op:
    name = f"{of}_frechet"
    return structural(
        name,
        doc=f"the derivative of {doc} in a direction, the second argument",
        takes=("number", "number"),
        gives="real",
        parameters=(),
        shape=_slope_shape,
        evaluate=partial(_evaluate, of),
        reference=partial(_exact, of),
        push=_slope_push,
        pull=_slope_pull,
        batch=_batch_slope,
        rows=_rows_of_slope,
        entries="computed",
        total="always",
        native=partial(_native, of),
        source=partial(_source, of),
        latex=r"L_{{\operatorname{{" + of + r"}}}}\left({0}, {1}\right)",
    )


def _function(name: str, doc: str, slope: Op) -> Op:
    return structural(
        name,
        doc=f"{doc} of the matrices in the last two axes, by its power series",
        gives="real",
        parameters=(),
        shape=square_shape,
        evaluate=partial(_evaluate, name),
        reference=partial(_exact, name),
        push=lambda node, i, t: slope(node.args[0], full(t, node.shape)),
        pull=lambda node, i, ct: slope(adjoint(node.args[0]), full(ct, node.shape)),
        batch=lambda node, stacks, lead: node.op(only(stacks)),
        rows=rows_of_matrices,
        entries="computed",
        total="always",
        native=partial(_native, name),
        source=partial(_source, name),
        latex=r"\operatorname{{" + name + r"}}\left({0}\right)",
    )


expm_frechet: Op = _slope("expm", "the exponential of a matrix")
sinm_frechet: Op = _slope("sinm", "the sine of a matrix")
cosm_frechet: Op = _slope("cosm", "the cosine of a matrix")

expm: Op = _function("expm", "the exponential", expm_frechet)
sinm: Op = _function("sinm", "the sine", sinm_frechet)
cosm: Op = _function("cosm", "the cosine", cosm_frechet)
