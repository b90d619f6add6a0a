"""NumPy's array functions as graphs: the one meaning of each spelling, for the front end and for expressions.

Everything here takes and returns nodes; sizes may be names. Arguments follow NumPy (SciPy for softmax, log_softmax and
logsumexp), and errors say what NumPy's would, in terms of shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from symgrad.errors import DomainError, ShapeError, UnsupportedError, UsageError
from symgrad.ir.graph import Node, as_node
from symgrad.ir.op import OPS, Op
from symgrad.ir.sizes import Shape, Size, size_product, size_quotient
from symgrad.ir.types import broadcast_shapes
from symgrad.ops.arith import add, div, mul, neg
from symgrad.ops.arith import pow as power
from symgrad.ops.contraction import contract, einsum, sum_over, transpose
from symgrad.ops.elementary import sqrt
from symgrad.ops.indexing import eye, iota, one_hot
from symgrad.ops.layout import broadcast_to, concatenate, expand, move_up, reshape, slice_axes, text
from symgrad.ops.reductions import argmax, argmin, count, cumsum, mean, norm

__all__ = [
    "arange",
    "argument_position",
    "axes_of",
    "cumulative_sum",
    "diag",
    "dot",
    "expand_dims",
    "flip",
    "full_array",
    "identity",
    "inner",
    "join",
    "matmul",
    "matrix_transpose",
    "moveaxis",
    "onehot",
    "outer",
    "permute",
    "reduce_axes",
    "reshaped",
    "squeeze_axes",
    "stack",
    "std",
    "swapaxes",
    "tensordot",
    "total",
    "trace",
    "var",
    "vector_norm",
]


# ------------------------------------------------------------------------------------------------------------- axes


def axis_of(axis: Any, rank: int) -> int:
    """Return an axis counted from 0.

    Raises:
        ShapeError: if there is no such axis.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise UsageError(f"axis {axis!r}", expected="a whole number")
    if not -rank <= axis < rank:
        raise ShapeError(
            f"axis {axis} of an array with {rank} axes",
            expected=f"an axis from {-rank} to {rank - 1}" if rank else "no axis: it is a scalar",
        )
    return axis % rank


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Return the axes that an argument ``axis`` means, ascending and counted from 0; None means all of them."""
    if axis is None:
        return tuple(range(rank))
    axes = sorted(axis_of(a, rank) for a in _several(axis))
    if len(set(axes)) != len(axes):
        raise ShapeError(f"axis {axis!r} names one axis twice", expected="every axis once")
    return tuple(axes)


def _several(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, tuple | list) else [value]


def _keep(result: Node, x: Node, axes: Sequence[int], keepdims: bool) -> Node:
    return (
        move_up(result, tuple(1 if i in axes else s for i, s in enumerate(x.shape))) if keepdims else result
    )


# ------------------------------------------------------------------------------------------------------- reductions


def total(x: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """``numpy.sum``."""
    axes = axes_of(axis, len(x.shape))
    if x.dtype == "bool":
        x = mul(x, as_node(1))
    return _keep(sum_over(x, axes) if axes else x, x, axes, keepdims)


def reduce_axes(name: str, x: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """``numpy.mean``, ``prod``, ``max``, ``min`` and ``scipy.special.logsumexp``, by name."""
    op = OPS[name]
    axes = axes_of(axis, len(x.shape))
    if not axes and name != "mean":
        return x
    return _keep(op(x, params=(axes,)), x, axes, keepdims)


def over_axes(name: str, x: Node, axis: Any = None) -> Node:
    """``scipy.special.softmax`` and ``log_softmax``, by name; over all axes unless one is named."""
    return OPS[name](x, params=(axes_of(axis, len(x.shape)),))


def argument_position(name: str, x: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """``numpy.argmax`` and ``numpy.argmin``, by name."""
    op: Op = argmax if name == "argmax" else argmin
    where = None if axis is None else axis_of(axis, len(x.shape))
    axes = range(len(x.shape)) if where is None else [where]
    return _keep(op(x, params=(where,)), x, list(axes), keepdims)


def var(x: Node, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Node:
    """``numpy.var``: the mean squared distance from the mean, divided by count - ddof."""
    axes = axes_of(axis, len(x.shape))
    centred = add(x, neg(_keep(mean(x, params=(axes,)), x, axes, True)))
    squares = power(centred, as_node(2))
    if not ddof:
        return _keep(mean(squares, params=(axes,)), x, axes, keepdims)
    return _keep(div(sum_over(squares, axes), count(x, axes) - ddof), x, axes, keepdims)


def std(x: Node, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Node:
    """``numpy.std``."""
    return sqrt(var(x, axis, keepdims, ddof))


def vector_norm(x: Node, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Node:
    """``numpy.linalg.norm`` for the norms that need no decomposition.

    Args:
        x: any array.
        ord: None or 2 (Euclidean, Frobenius for a matrix), ``"fro"``, 1 or ``"inf"``; of a matrix 1 and "inf" are
            the largest column and row sum.
        axis: one axis for vectors, two for matrices, None for all.
        keepdims: whether reduced axes stay with length 1.
    """
    axes = axes_of(axis, len(x.shape))
    if ord is None or ord == "fro" or (ord == 2 and len(axes) == 1):
        if ord == "fro" and len(axes) != 2:
            raise ShapeError("the Frobenius norm is one of matrices", cure="leave ord out for a vector")
        return _keep(norm(x, params=(axes,)), x, axes, keepdims)
    size = OPS["abs"](x)
    if ord in (1, "inf", "oo", float("inf")) and len(axes) in (1, 2):
        if len(axes) == 1:
            found = sum_over(size, axes) if ord == 1 else OPS["max"](size, params=(axes,))
        else:
            inner_axis = axes[0] if ord == 1 else axes[1]
            columns = _keep(sum_over(size, [inner_axis]), x, [inner_axis], True)
            found = OPS["max"](columns, params=(axes,))
        return _keep(found, x, axes, keepdims)
    raise UnsupportedError(
        f"the norm of order {ord!r} over {len(axes)} axes",
        expected="order 1, 2, inf or 'fro' (2 for vectors only)",
        cure="write its formula",
    )


def cumulative_sum(x: Node, axis: Any = None, reverse: bool = False) -> Node:
    """``numpy.cumsum``; reversed, the sum of an entry and all after it."""
    if axis is None:
        x, axis = move_up(x, (size_product(x.shape),)), 0
    return cumsum(x, params=(axis_of(axis, len(x.shape)), int(reverse)))


# ----------------------------------------------------------------------------------------------------- contractions


def _broadcasting(args: Sequence[Node], labels: Sequence[Sequence[int]], result: Sequence[int]) -> Node:
    """Contract where axes of length 1 stretch, as NumPy's matmul and einsum allow."""
    sizes: dict[int, Size] = {}
    for arg, own in zip(args, labels, strict=True):
        for i, (size, label) in enumerate(zip(arg.shape, own, strict=True)):
            if arg.shape[own.index(label)] != size:
                raise ShapeError(
                    f"a diagonal of axes {own.index(label)} and {i} of an array of shape {text(arg.shape)}",
                    expected="axes of equal length",
                )
            if sizes.get(label, 1) == 1:
                sizes[label] = size
    operands: list[Node] = []
    kept: list[list[int]] = []
    for arg, own in zip(args, labels, strict=True):
        stays = [i for i, label in enumerate(own) if not (arg.shape[i] == 1 and sizes[label] != 1)]
        operands.append(arg if len(stays) == len(own) else move_up(arg, tuple(arg.shape[i] for i in stays)))
        kept.append([own[i] for i in stays])
    return contract(operands, kept, result)


def _is_transpose(x: Node) -> bool:
    return x.op is einsum and x.params == (((0, 1),), (1, 0))


def matmul(a: Node, b: Node) -> Node:
    """``numpy.matmul``; the transpose of an operand is part of the contraction: ``X.T@r`` is one node.

    Raises:
        ShapeError: naming both shapes.
    """
    p, q = a.shape, b.shape
    if not p or not q:
        raise ShapeError(
            f"@ of arrays of shapes {text(p)} and {text(q)}",
            expected="at least one axis each",
            cure="write *",
        )
    inner_a, inner_b = p[-1], q[max(len(q) - 2, 0)]
    if inner_a != inner_b:
        raise ShapeError(
            f"@ of arrays of shapes {text(p)} and {text(q)}: {inner_a} is not {inner_b}",
            expected="the last axis of the left as long as the axis before the last of the right",
            cure="transpose one of them with .T, or check the declared shapes",
        )
    batch = broadcast_shapes([p[:-2], q[:-2]])
    rank = len(batch)
    row, middle, column = rank, rank + 1, rank + 2
    left = [*range(rank - len(p[:-2]), rank), *([row] if len(p) > 1 else []), middle]
    right = [*range(rank - len(q[:-2]), rank), middle, *([column] if len(q) > 1 else [])]
    out = [*range(rank), *([row] if len(p) > 1 else []), *([column] if len(q) > 1 else [])]
    if _is_transpose(a):
        a, left = a.args[0], left[::-1]
    if _is_transpose(b):
        b, right = b.args[0], right[::-1]
    if not batch:
        return contract([a, b], [left, right], out)
    return _broadcasting([a, b], [left, right], out)


def dot(a: Node, b: Node) -> Node:
    """``numpy.dot``: matmul for up to two axes, a product for scalars, else over the last and the last but one axis."""
    if not a.shape or not b.shape:
        return mul(a, b)
    if len(b.shape) <= 2 and len(a.shape) <= 2:
        return matmul(a, b)
    return tensordot(a, b, ([len(a.shape) - 1], [max(len(b.shape) - 2, 0)]))


def tensordot(a: Node, b: Node, axes: Any = 2) -> Node:
    """``numpy.tensordot``."""
    if isinstance(axes, int) and not 0 <= axes <= min(len(a.shape), len(b.shape)):
        raise ShapeError(
            f"tensordot of arrays of shapes {text(a.shape)} and {text(b.shape)} over {axes} axes",
            expected="as many axes as both have, at most",
        )
    if isinstance(axes, int):
        over = (list(range(len(a.shape) - axes, len(a.shape))), list(range(axes)))
    else:
        over = tuple(_several(s) for s in _several(axes))
        if len(over) != 2:
            raise UsageError(f"tensordot over axes {axes!r}", expected="a number, or the axes of both arrays")
    first = [axis_of(i, len(a.shape)) for i in over[0]]
    second = [axis_of(i, len(b.shape)) for i in over[1]]
    distinct = len(set(first)) == len(first) and len(set(second)) == len(second)
    if not distinct or [a.shape[i] for i in first] != [b.shape[i] for i in second]:
        raise ShapeError(
            f"tensordot of shapes {text(a.shape)} and {text(b.shape)} over axes {first} and {second}"
        )
    left = list(range(len(a.shape)))
    right = [len(left) + j for j in range(len(b.shape))]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    out = [x for i, x in enumerate(left) if i not in first] + [
        x for j, x in enumerate(right) if j not in second
    ]
    return contract([a, b], [left, right], out)


def inner(a: Node, b: Node) -> Node:
    """``numpy.inner``: over the last axis of both."""
    return tensordot(a, b, ([-1], [-1])) if a.shape and b.shape else mul(a, b)


def outer(a: Node, b: Node) -> Node:
    """``numpy.outer``: of the flattened arrays."""
    a, b = (x if len(x.shape) == 1 else move_up(x, (size_product(x.shape),)) for x in (a, b))
    return contract([a, b], [(0,), (1,)], (0, 1))


def trace(x: Node) -> Node:
    """``numpy.trace`` of square matrices."""
    _square(x, "trace")
    return contract([x], [(0, 0, *range(1, len(x.shape) - 1))], range(1, len(x.shape) - 1))


def _square(x: Node, what: str) -> None:
    if len(x.shape) < 2 or x.shape[0] != x.shape[1]:
        raise ShapeError(f"{what} of an array of shape {text(x.shape)}", expected="a square matrix")


def diag(x: Node) -> Node:
    """``numpy.diag``: the diagonal of a square matrix, or the matrix that has a vector on its diagonal."""
    if len(x.shape) == 1:
        return contract([x, eye(params=(x.shape[0], x.shape[0]))], [(0,), (0, 1)], (0, 1))
    _square(x, "diag")
    if len(x.shape) > 2:
        raise ShapeError(f"diag of an array of shape {text(x.shape)}", expected="a vector or a matrix")
    return contract([x], [(0, 0)], (0,))


def einsum_text(spec: str, *args: Node) -> Node:
    """``numpy.einsum`` with its subscripts as text, ``...`` included.

    Raises:
        UsageError: for subscripts that do not fit the operands.
    """
    if not isinstance(cast("object", spec), str):
        raise UsageError(
            f"einsum: subscripts of type {type(spec).__name__}",
            expected="a text, then the operands",
            cure='write einsum("ij,jk->ik", A, B)',
        )
    inputs, arrow, output = spec.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(args):
        raise UsageError(
            f"einsum: {len(terms)} subscripts for {len(args)} operands", expected="one for each operand"
        )
    dots = 0
    for term, arg in zip(terms, args, strict=True):
        letters = term.replace("...", "", 1)
        if not all(c.isalpha() for c in letters):
            raise UsageError(f"einsum: '{term}'", expected="letters, and '...' once")
        spare = len(arg.shape) - len(letters)
        if spare < 0 or (spare and "..." not in term):
            raise ShapeError(
                f"einsum: '{term}' for an array of shape {text(arg.shape)}",
                expected="a letter for every axis",
            )
        if "..." in term:
            dots = max(dots, spare)
    labels: list[list[int]] = []
    for term, arg in zip(terms, args, strict=True):
        letters = term.replace("...", "", 1)
        before, found, after = term.partition("...")
        wild = len(arg.shape) - len(letters) if found else 0
        labels.append([*map(ord, before), *range(dots - wild, dots), *map(ord, after)])
    if arrow:
        before, found, after = output.partition("...")
        if (dots and not found) or not all(c.isalpha() for c in before + after):
            raise UsageError(
                f"einsum: '->{output}'", expected="letters of the operands, and '...' if they have it"
            )
        result = [*map(ord, before), *(range(dots) if found else ()), *map(ord, after)]
    else:
        flat = [x for own in labels for x in own]
        result = [*range(dots), *sorted(x for x in dict.fromkeys(flat) if x >= dots and flat.count(x) == 1)]
    known = {x for own in labels for x in own}
    if len(set(result)) != len(result) or not set(result) <= known:
        raise UsageError(f"einsum: '->{output}'", expected="distinct letters that the operands have")
    return _broadcasting(args, labels, result)


# ----------------------------------------------------------------------------------------------------------- layout


def permute(x: Node, axes: Any = None) -> Node:
    """``numpy.transpose``."""
    rank = len(x.shape)
    order = list(range(rank))[::-1] if axes is None else [axis_of(a, rank) for a in _several(axes)]
    if sorted(order) != list(range(rank)):
        raise ShapeError(
            f"transpose with axes {order} of an array with {rank} axes", expected="every axis once"
        )
    return transpose(x, order) if order != list(range(rank)) else x


def matrix_transpose(x: Node) -> Node:
    """``x.T``."""
    return permute(x)


def swapaxes(x: Node, axis1: int, axis2: int) -> Node:
    """``numpy.swapaxes``."""
    order = list(range(len(x.shape)))
    i, j = axis_of(axis1, len(order)), axis_of(axis2, len(order))
    order[i], order[j] = order[j], order[i]
    return permute(x, order)


def moveaxis(x: Node, source: Any, destination: Any) -> Node:
    """``numpy.moveaxis``."""
    rank = len(x.shape)
    sources = [axis_of(a, rank) for a in _several(source)]
    targets = [axis_of(a, rank) for a in _several(destination)]
    if len(sources) != len(targets) or len(set(sources)) < len(sources) or len(set(targets)) < len(targets):
        raise ShapeError(
            f"moveaxis from axes {sources} to {targets}", expected="as many places as axes, each once"
        )
    order = [a for a in range(rank) if a not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return permute(x, order)


def reshaped(x: Node, shape: Any) -> Node:
    """``numpy.reshape``; one size may be -1.

    Raises:
        ShapeError: if the number of elements differs, or -1 cannot be told for every value of the named sizes.
    """
    sizes: list[Size] = list(cast("Sequence[Size]", shape)) if isinstance(shape, tuple | list) else [shape]
    holes = [i for i, s in enumerate(sizes) if s == -1]
    whole = size_product(x.shape)
    if len(holes) > 1:
        raise ShapeError("reshape with more than one -1", expected="one size to be found")
    if holes:
        rest = size_product(s for s in sizes if s != -1)
        found = None if rest == 0 else size_quotient(whole, rest)
        if found is None:
            raise ShapeError(
                f"reshape of shape {text(x.shape)} to {text(tuple(sizes))}: {whole} elements over {rest}",
                expected="a size that divides the number of elements",
            )
        sizes[holes[0]] = found
    return reshape(x, params=(tuple(sizes),))


def expand_dims(x: Node, axis: Any) -> Node:
    """``numpy.expand_dims``."""
    given = _several(axis)
    rank = len(x.shape) + len(given)
    return expand(x, [axis_of(a, rank) for a in given])


def squeeze_axes(x: Node, axis: Any = None) -> Node:
    """``numpy.squeeze``.

    Raises:
        ShapeError: if an axis is not known to have length 1.
    """
    if axis is None:
        axes: Sequence[int] = [i for i, s in enumerate(x.shape) if s == 1]
    else:
        axes = axes_of(axis, len(x.shape))
        for a in axes:
            if x.shape[a] != 1:
                raise ShapeError(
                    f"squeeze of axis {a} of shape {text(x.shape)}", expected="an axis of length 1"
                )
    return move_up(x, tuple(s for i, s in enumerate(x.shape) if i not in axes)) if axes else x


def broadcast(x: Node, shape: Shape) -> Node:
    """``numpy.broadcast_to``."""
    return broadcast_to(x, params=(shape,))


def flip(x: Node, axis: Any = None) -> Node:
    """``numpy.flip``."""
    axes = axes_of(axis, len(x.shape))
    return slice_axes(x, [(None, None, -1 if i in axes else 1) for i in range(len(x.shape))])


def join(xs: Sequence[Node], axis: Any = 0) -> Node:
    """``numpy.concatenate``."""
    if not xs:
        raise UsageError("concatenate of no arrays", expected="at least one")
    if any(not x.shape for x in xs):
        raise ShapeError("concatenate of scalars", expected="arrays with at least one axis", cure="use stack")
    return concatenate(*xs, params=(axis_of(axis, len(xs[0].shape)),))


def stack(xs: Sequence[Node], axis: Any = 0) -> Node:
    """``numpy.stack``: concatenate along a new axis."""
    if not xs:
        raise UsageError("stack of no arrays", expected="at least one")
    for x in xs:
        if x.shape != xs[0].shape:
            raise ShapeError(
                f"stack of arrays of shapes {text(xs[0].shape)} and {text(x.shape)}", expected="one shape"
            )
    at = axis_of(axis, len(xs[0].shape) + 1)
    return join([expand(x, [at]) for x in xs], at)


# -------------------------------------------------------------------------------------------------------- constants


def full_array(shape: Shape, value: Node) -> Node:
    """``numpy.full``; zeros and ones are spellings."""
    return broadcast(value, shape)


def identity(rows: Size, columns: Size | None = None) -> Node:
    """``numpy.eye``."""
    return eye(params=(rows, rows if columns is None else columns))


def arange(size: Size) -> Node:
    """``numpy.arange`` from 0."""
    return iota(params=(size,))


def onehot(index: Node, depth: Size) -> Node:
    """Rows of zeros with a 1 at each index (``jax.nn.one_hot``)."""
    _whole_numbers(index)
    return one_hot(index, params=(depth,))


def _whole_numbers(index: Node) -> None:
    if index.dtype != "int":
        raise DomainError(
            f"an index array of kind {index.dtype}",
            expected="whole numbers",
            cure="declare it int, as in ids : int[n]",
        )
