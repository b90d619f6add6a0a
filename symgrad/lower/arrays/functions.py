"""Functions of matrices and their derivatives by exponentials of larger matrices.

    exp([[0, -x], [x, 0]]) is [[cos(x), -sin(x)], [sin(x), cos(x)]]
    f([[x, e], [0, x]])    is [[f(x), f'(x; e)], [0, f(x)]]

The derivative is linear in the direction, so that this is scaled first: a large one would cost digits of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.graph import OPS, Node, apply, as_node
from symgrad.ir.sizes import Size, size_sum
from symgrad.lower.arrays.contractions import op
from symgrad.lower.arrays.factors import EXPONENTIAL

__all__ = ["matrix_function"]


def matrix_function(name: str, args: Sequence[Node]) -> Node:
    """Return expm, sinm or cosm of matrices; with a second argument the derivative in this direction."""
    x, *directions = (a if a.dtype == "real" else op("div", a, as_node(1)) for a in args)
    if not directions:
        return _value(name, x)
    size, rank = x.shape[-1], len(x.shape)
    (e,) = directions
    scale = _scale(e)
    wide = _spread(scale, rank)
    found = _value(name, _blocks(x, op("div", e, wide), _zeros(x), x))
    return op("mul", _corner(found, size, 0, 1), wide)


def _value(name: str, x: Node) -> Node:
    if name == "expm":
        return _exponential(x)
    zero = _zeros(x)
    found = _exponential(_blocks(zero, op("neg", x), x, zero))
    return _corner(found, x.shape[-1], int(name == "sinm"), 0)


def _exponential(x: Node) -> Node:
    """Return the first rows of the memory that the calculation takes, which are the result."""
    size, rank = x.shape[-1], len(x.shape)
    work = EXPONENTIAL(x)
    return _slice(work, [(0, size) if k == rank - 2 else None for k in range(rank)])


def _scale(e: Node) -> Node:
    """Return the largest entry of each matrix, 1 where there is none to divide by."""
    rank = len(e.shape)
    if e.shape[-1] == 0:
        return as_node(1)
    largest = apply(OPS["max"], (op("abs", e),), ((rank - 2, rank - 1),))
    usable = op(
        "and_", op("gt", largest, as_node(0)), op("eq", op("add", largest, op("neg", largest)), as_node(0))
    )
    return op("where", usable, largest, as_node(1))


def _spread(x: Node, rank: int) -> Node:
    shape = (*x.shape, 1, 1)
    return apply(OPS["reshape"], (x,), (shape,)) if rank > 2 or (x.shape == () and rank == 2) else x


def _zeros(x: Node) -> Node:
    return apply(OPS["broadcast_to"], (op("div", as_node(0), as_node(1)),), (x.shape,))


def _blocks(a: Node, b: Node, c: Node, d: Node) -> Node:
    """Return the matrices [[a, b], [c, d]]."""
    axis = len(a.shape) - 2
    rows = [apply(OPS["concatenate"], pair, (axis + 1,)) for pair in ((a, b), (c, d))]
    return apply(OPS["concatenate"], tuple(rows), (axis,))


def _corner(x: Node, size: Size, row: int, column: int) -> Node:
    rank = len(x.shape)
    ends: list[tuple[Size, Size] | None] = [None] * (rank - 2)
    whole = size_sum([size, size])
    return _slice(x, [*ends, *((0, size) if k == 0 else (size, whole) for k in (row, column))])


def _slice(x: Node, ends: Sequence[tuple[Size, Size] | None]) -> Node:
    triples = tuple(
        (None, None, 1) if e is None else (None if e[0] == 0 else e[0], None if e[1] == n else e[1], 1)
        for e, n in zip(ends, x.shape, strict=True)
    )
    return apply(OPS["slice"], (x,), (triples,))
