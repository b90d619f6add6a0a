"""Array programs in fewer ops, before loops are planned.

What remains besides elementwise ops: einsum of one operand, of two, or of several that one loop nest multiplies; max,
min, prod, cumsum, prod_except; reshape, broadcast_to, slice, unslice, concatenate; gather, scatter_add, iota; factors
of matrices (`lower/arrays/factors.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.ir.graph import OPS, Node, apply, as_node, size_leaf
from symgrad.ir.sizes import Size, size_product
from symgrad.ir.traverse import topological
from symgrad.lower.arrays.contractions import Products, contraction, op
from symgrad.lower.arrays.factors import determinant, inverse, log_determinant, solution
from symgrad.lower.arrays.functions import matrix_function

__all__ = ["normal"]


def normal(outputs: Sequence[Node]) -> list[Node]:
    """Return the outputs in the smaller vocabulary; values agree up to rounding."""
    done: dict[Node, Node] = {}
    products: Products = {}
    for node in topological(outputs):
        args = tuple(done[a] for a in node.args)
        if node.op.name == "einsum":
            done[node] = contraction(node, args, products)
            continue
        rule = _RULES.get(node.op.name)
        made = rule(node, args) if rule else node if args == node.args else apply(node.op, args, node.params)
        # The norm of a whole number over no axis is its size: still a real number, in memory too.
        done[node] = op("div", made, as_node(1)) if (node.dtype, made.dtype) == ("real", "int") else made
    return [done[o] for o in outputs]


def _sub(a: Node, b: Node) -> Node:
    return op("add", a, op("neg", b))


def _kept(x: Node, value: Node, axes: tuple[int, ...]) -> Node:
    """Return a reduction of x so that it broadcasts against x."""
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return value if value.shape == shape else apply(OPS["reshape"], (value,), (shape,))


def _sum(x: Node, axes: tuple[int, ...]) -> Node:
    labels = tuple(range(len(x.shape)))
    if not axes:
        return x
    return apply(OPS["einsum"], (x,), ((labels,), tuple(j for j in labels if j not in axes)))


def _reduce(name: str, x: Node, axes: tuple[int, ...]) -> Node:
    return apply(OPS[name], (x,), (axes,)) if axes else x


def _mean(node: Node, args: tuple[Node, ...]) -> Node:
    axes: tuple[int, ...] = node.params[0]
    count = size_leaf(size_product(node.args[0].shape[a] for a in axes))
    return op("div", _sum(args[0], axes), count)


def _softened(x: Node, axes: tuple[int, ...]) -> tuple[Node, Node]:
    """Return the finite largest entry, to subtract, and exp(x - it)."""
    if any(x.shape[a] == 0 for a in axes):
        top = as_node(0)
    else:
        found = _reduce("max", x, axes)
        # An infinite one is not subtracted: exp(-inf) is the right 0, and inf - inf would be NaN.
        top = _kept(x, op("where", op("eq", _sub(found, found), as_node(0)), found, as_node(0)), axes)
    return top, op("exp", _sub(x, top))


def _logsumexp(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    top, e = _softened(args[0], axes)
    total = op("log", _sum(e, axes))
    return op("add", total, top if top.shape == total.shape else _shaped(top, node))


def _shaped(x: Node, node: Node) -> Node:
    return apply(OPS["reshape"], (x,), (node.shape,)) if x.shape else x


def _softmax(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    _, e = _softened(args[0], axes)
    # One division a row. The sum is at least 1, so that its reciprocal loses nothing but one rounding.
    return op("mul", e, _kept(e, op("div", as_node(1), _sum(e, axes)), axes))


def _log_softmax(node: Node, args: tuple[Node, ...]) -> Node:
    (axes,) = node.params
    top, e = _softened(args[0], axes)
    return _sub(_sub(args[0], top), op("log", _kept(e, _sum(e, axes), axes)))


def _norm(node: Node, args: tuple[Node, ...]) -> Node:
    axes: tuple[int, ...] = node.params[0]
    (x,) = args
    if not axes:
        return op("abs", x)
    if any(x.shape[a] == 0 for a in axes):
        return op("sqrt", op("mul", _sum(x, axes), as_node(1)))
    top = _reduce("max", op("abs", x), axes)
    # The squares of large entries overflow, those of small ones vanish: both are scaled by the largest entry.
    usable = op("and_", op("gt", top, as_node(0)), op("eq", _sub(top, top), as_node(0)))
    scale = op("where", usable, top, as_node(1))
    ratio = op("div", x, _kept(x, scale, axes))
    labels = tuple(range(len(x.shape)))
    kept = tuple(j for j in labels if j not in axes)
    squares = apply(OPS["einsum"], (ratio, ratio), ((labels, labels), kept))
    return op("mul", op("sqrt", squares), scale)


def _position(node: Node, args: tuple[Node, ...]) -> Node:
    """The first place of an extreme entry, or of a NaN: the extreme itself, and then the least place that has it."""
    (x,) = args
    axis: int | None = node.params[0]
    if axis is None:
        axis, x = 0, apply(OPS["reshape"], (x,), ((size_product(x.shape),),))
    top = _kept(x, _reduce("max" if node.op.name == "argmax" else "min", x, (axis,)), (axis,))
    here = op("or_", op("eq", x, top), op("ne", x, x))
    size = x.shape[axis]
    places = apply(OPS["reshape"], (_iota(size),), ((size, *[1] * (len(x.shape) - axis - 1)),))
    return _reduce("min", op("where", here, places, size_leaf(size)), (axis,))


def _one_hot(node: Node, args: tuple[Node, ...]) -> Node:
    (index,) = args
    (depth,) = node.params
    column = apply(OPS["reshape"], (index,), ((*index.shape, 1),))
    return op("where", op("eq", column, _iota(depth)), as_node(1), as_node(0))


def _eye(node: Node, _args: tuple[Node, ...]) -> Node:
    rows, columns = node.params
    return _identity(rows, columns)


def _inv(_node: Node, args: tuple[Node, ...]) -> Node:
    rows, columns = args[0].shape[-2:]
    return inverse(args[0], op("div", _identity(rows, columns), as_node(1)))


def _identity(rows: Size, columns: Size) -> Node:
    row = apply(OPS["reshape"], (_iota(rows),), ((rows, 1),))
    return op("where", op("eq", row, _iota(columns)), as_node(1), as_node(0))


def _iota(size: Size) -> Node:
    return apply(OPS["iota"], (), (size,))


def _scatter_add(node: Node, args: tuple[Node, ...]) -> Node:
    """Write a scatter that gives each entry at most one value as a choice: it takes no memory of its own.

    The derivative of picking one entry of every row is one: the positions along rows are counted, those in a row
    compared.
    """
    axes, shape = node.params
    values, *indices = args
    depth = max(len(i.shape) for i in indices)
    counted: dict[int, int] = {}
    for index, axis in zip(indices, axes, strict=True):
        along = _counts(index, depth)
        if along is not None:
            counted[along] = axis
    first: int = axes[0]
    extents = values.shape[first : first + depth]
    if any(d not in counted or shape[counted[d]] != n for d, n in enumerate(extents)):
        return apply(node.op, args, node.params)
    # Labels: the axes of the target; an axis of the positions is the axis of the target that counts along it.
    kept = iter([a for a in range(len(shape)) if a not in axes])
    of_values = tuple(
        counted[j - first] if first <= j < first + depth else next(kept) for j in range(len(values.shape))
    )
    result = _spread(values, of_values, len(shape))
    for index, axis in zip(indices, axes, strict=True):
        if axis in counted.values():
            continue
        lead = depth - len(index.shape)
        at = _spread(index, tuple(counted[j + lead] for j in range(len(index.shape))), len(shape))
        size = shape[axis]
        at = op("where", op("lt", at, as_node(0)), op("add", at, size_leaf(size)), at)
        here = op("eq", at, _spread(_iota(size), (axis,), len(shape)))
        result = op("where", here, result, as_node(0))
    return result if result.shape == shape else apply(OPS["broadcast_to"], (result,), (shape,))


def _counts(index: Node, depth: int) -> int | None:
    """Return along which axis of the positions an index array counts 0, 1, ...; None if it does not."""
    x = index
    while x.op.name == "reshape":
        x = x.args[0]
    long = [j for j, n in enumerate(index.shape) if n != 1]
    if x.op.name != "iota" or len(long) != 1:
        return None
    return long[0] + depth - len(index.shape)


def _spread(x: Node, labels: tuple[int, ...], rank: int) -> Node:
    """Return x with its axes at these axes of an array of a rank, the others of length 1."""
    order = tuple(sorted(labels))
    if order != labels:
        x = apply(OPS["einsum"], (x,), ((labels,), order))
    sizes = dict(zip(order, x.shape, strict=True))
    shape = tuple(sizes.get(a, 1) for a in range(rank))
    return x if x.shape == shape else apply(OPS["reshape"], (x,), (shape,))


_RULES: dict[str, Callable[[Node, tuple[Node, ...]], Node]] = {
    "mean": _mean,
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "norm": _norm,
    "argmax": _position,
    "argmin": _position,
    "one_hot": _one_hot,
    "eye": _eye,
    "inv": _inv,
    "det": lambda node, args: determinant(args[0]),
    "logdet": lambda node, args: log_determinant(args[0]),
    "solve": lambda node, args: solution(*args),
    **{
        name: lambda node, args: matrix_function(node.op.name.removesuffix("_frechet"), args)
        for of in ("expm", "sinm", "cosm")
        for name in (of, f"{of}_frechet")
    },
    "scatter_add": _scatter_add,
    "max": lambda node, args: _reduce("max", args[0], node.params[0]),
    "min": lambda node, args: _reduce("min", args[0], node.params[0]),
    "prod": lambda node, args: _reduce("prod", args[0], node.params[0]),
}
