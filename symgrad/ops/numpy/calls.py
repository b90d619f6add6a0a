"""NumPy's array functions on nodes, for the front end and for expressions.

Sizes may be names. Arguments are those of NumPy (or of SciPy, for softmax, log_softmax and logsumexp). Errors are
raised in the same cases, and describe them in terms of shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from symgrad.ir.graph import OPS, Node, Op, as_node
from symgrad.ir.sizes import Shape, Size, size_product, size_quotient
from symgrad.ops.array.along import count
from symgrad.ops.array.contraction import sum_over, transpose
from symgrad.ops.array.indexing import eye, iota, one_hot
from symgrad.ops.array.layout import (
    broadcast_to,
    concatenate,
    expand,
    full,
    move_up,
    reshape,
    shape_text,
    slice_axes,
)
from symgrad.ops.array.reductions import mean, norm
from symgrad.ops.array.scans import cumsum
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.ops.scalar.arith import pow as power
from symgrad.ops.scalar.elementary import sqrt
from symgrad.support.errors import DomainError, ShapeError, UnsupportedError, UsageError

# ------------------------------------------------------------------------------------------------------------- axes


def _axis_cure(axis: Any) -> str:
    """Return the cure for an invalid axis: several arrays need parentheses, or a number needs no quotes."""
    if not isinstance(axis, str | float | bool):
        return "several arrays are one argument, in parentheses: (a, b)"
    whole = axis.strip() if isinstance(axis, str) else str(axis).removesuffix(".0")
    return f"axis={whole}" if whole.removeprefix("-").isdecimal() else "axis=0"


def axis_of(axis: Any, rank: int) -> int:
    """Return an axis counted from 0.

    Raises:
        ShapeError: if there is no such axis.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise UsageError(
            f"axis {axis!r}",
            expected="a whole number",
            cure=_axis_cure(axis),
        )
    if not -rank <= axis < rank:
        raise ShapeError(
            f"axis {axis} of an array with {rank} axes",
            expected=f"an axis from {-rank} to {rank - 1}" if rank else "no axis: it is a scalar",
        )
    return axis % rank


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Return the axes of an argument ``axis``, ascending and counted from 0; None means all of them."""
    if axis is None:
        return tuple(range(rank))
    axes = sorted(axis_of(a, rank) for a in several(axis))
    if len(set(axes)) != len(axes):
        raise ShapeError(f"axis {axis!r} names one axis twice", expected="every axis once")
    return tuple(axes)


def several(value: Any) -> list[Any]:
    """Return the entries of a list or tuple, or else the list of one value."""
    return list(cast("Sequence[Any]", value)) if isinstance(value, tuple | list) else [value]


def flattened(x: Node, axis: Any) -> tuple[Node, int]:
    """Return an array and an axis counted from 0; for None, the flattened array and its axis."""
    if axis is None:
        return move_up(x, (size_product(x.shape),)), 0
    return x, axis_of(axis, len(x.shape))


def _keep(result: Node, x: Node, axes: Sequence[int], keepdims: bool) -> Node:
    if not keepdims:
        return result
    return move_up(result, tuple(1 if i in axes else s for i, s in enumerate(x.shape)))


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
    """``scipy.special.softmax`` and ``log_softmax``, by name; over all axes unless ``axis`` is set."""
    return OPS[name](x, params=(axes_of(axis, len(x.shape)),))


def argument_position(name: str, x: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """``numpy.argmax`` and ``numpy.argmin``, by name."""
    op = OPS[name]
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
        ord: None or 2 (the Euclidean norm; for a matrix, the Frobenius norm), ``"fro"``, 1 or ``"inf"``; for a matrix,
            1 and "inf" are the largest column sum and the largest row sum.
        axis: one axis for vectors, two for matrices, None for all.
        keepdims: whether the reduced axes stay in the result, with length 1.
    """
    axes = axes_of(axis, len(x.shape))
    if ord is None or ord == "fro" or (ord == 2 and len(axes) == 1):
        if ord == "fro" and len(axes) != 2:
            raise ShapeError(
                "the Frobenius norm is only defined for matrices", cure="leave ord out for a vector"
            )
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


def running(name: str, x: Node, axis: Any = None) -> Node:
    """Return a scan along one axis, by name, or along the flattened array, as in NumPy."""
    x, at = flattened(x, axis)
    return OPS[name](x, params=(at,))


def along_axes(op: Op) -> Callable[..., Node]:
    """Return the function that applies an op whose static parameter is one or several axes of its only array."""
    reduces = not op.shape((("n",),), (0,) if op.parameters == ("axes",) else 0)
    if op.parameters == ("axes",):
        return partial(reduce_axes if reduces else over_axes, op.name)
    return partial(argument_position if reduces else running, op.name)


def cumulative_sum(x: Node, axis: Any = None, reverse: bool = False) -> Node:
    """``numpy.cumsum``; with ``reverse``, the sum of an entry and all later entries."""
    x, at = flattened(x, axis)
    return cumsum(x, params=(at, int(reverse)))


# ----------------------------------------------------------------------------------------------------------- layout


def permute(x: Node, axes: Any = None) -> Node:
    """``numpy.transpose``."""
    rank = len(x.shape)
    order = list(range(rank))[::-1] if axes is None else [axis_of(a, rank) for a in several(axes)]
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
    sources = [axis_of(a, rank) for a in several(source)]
    targets = [axis_of(a, rank) for a in several(destination)]
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
        ShapeError: if the number of elements differs, or -1 has no formula in the named sizes.
    """
    sizes: list[Size] = list(cast("Sequence[Size]", shape)) if isinstance(shape, tuple | list) else [shape]
    holes = [i for i, s in enumerate(sizes) if s == -1]
    size = size_product(x.shape)
    if len(holes) > 1:
        raise ShapeError("reshape with more than one -1", expected="one size to be found")
    if holes:
        rest = size_product(s for s in sizes if s != -1)
        found = None if rest == 0 else size_quotient(size, rest)
        if found is None:
            raise ShapeError(
                f"reshape of shape {shape_text(x.shape)} to {shape_text(tuple(sizes))}: {size} elements over {rest}",
                expected="a size that divides the number of elements",
            )
        sizes[holes[0]] = found
    return reshape(x, params=(tuple(sizes),))


def expand_dims(x: Node, axis: Any) -> Node:
    """``numpy.expand_dims``."""
    axes = several(axis)
    rank = len(x.shape) + len(axes)
    return expand(x, [axis_of(a, rank) for a in axes])


def squeeze_axes(x: Node, axis: Any = None) -> Node:
    """``numpy.squeeze``.

    Raises:
        ShapeError: if an axis does not provably have length 1.
    """
    if axis is None:
        axes: Sequence[int] = [i for i, s in enumerate(x.shape) if s == 1]
    else:
        axes = axes_of(axis, len(x.shape))
        for a in axes:
            if x.shape[a] != 1:
                raise ShapeError(
                    f"squeeze of axis {a} of shape {shape_text(x.shape)}", expected="an axis of length 1"
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
                f"stack of arrays of shapes {shape_text(xs[0].shape)} and {shape_text(x.shape)}",
                expected="one shape",
            )
    at = axis_of(axis, len(xs[0].shape) + 1)
    return join([expand(x, [at]) for x in xs], at)


def array(entries: Any) -> Node:
    """``numpy.array`` of scalars in lists, which may be nested, or of an array."""
    if isinstance(entries, Node):
        return entries
    parts = [array(e) for e in cast("Sequence[Any]", entries)]
    if not parts:
        raise UsageError("array of no entries", expected="at least one")
    if any(p.shape != parts[0].shape for p in parts):
        shapes = " and ".join(dict.fromkeys(shape_text(p.shape) for p in parts))
        raise ShapeError(f"array of entries of shapes {shapes}", expected="one shape")
    return join([full(p, (1, *p.shape)) for p in parts])


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
    """``jax.nn.one_hot``: rows of zeros with a 1 at each index."""
    _check_integers(index)
    return one_hot(index, params=(depth,))


def _check_integers(index: Node) -> None:
    if index.dtype != "int":
        raise DomainError(
            f"an index array of kind {index.dtype}",
            expected="whole numbers",
            cure="declare it int, as in ids : int[n]",
        )
