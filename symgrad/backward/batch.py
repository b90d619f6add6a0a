"""Vectorising: a graph for a whole stack of values of some of its nodes at once, by one rule per structural op.

A Jacobian is a vjp (or jvp) whose seed is a stack of unit arrays: the pullback is built once, for one symbolic seed,
and then stacked. The stack has leading axes of its own, any number of them, so that y.shape + x.shape comes out
without a reshape, for sizes with names as for numbers.

    stacked(node) has the shape lead + node.shape, or it is the node itself, where nothing below it is stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symgrad.errors import InternalError
from symgrad.ir.collector import growing
from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.sizes import Shape, size_product
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.contraction import contract, transpose
from symgrad.ops.array.indexing import eye, gather, iota, scatter_add
from symgrad.ops.array.layout import (
    WHOLE,
    broadcast_to,
    concatenate,
    expand,
    full,
    move_up,
    slice_axes,
    squeeze,
    unslice,
)
from symgrad.ops.array.linalg import adjoint
from symgrad.ops.scalar.logic import ne

__all__ = ["batch", "units"]

Rule = Callable[[Node, "list[Node | None]", Shape], Node]


@growing()
def batch(outputs: Sequence[Node], stacks: Mapping[Node, Node], lead: Shape) -> list[Node]:
    """Return the outputs for every member of a stack.

    Args:
        outputs: what to compute.
        stacks: for each node that varies, all its values: an array of shape ``lead + node.shape``.
        lead: the leading axes of the stack.

    Returns:
        For each output an array of shape ``lead + output.shape``.
    """
    if not lead:
        return substitute(list(outputs), stacks)
    known: dict[Node, Node | None] = dict(stacks)
    for node in topological(outputs, until=stacks):
        if node in known:
            continue
        args = [known[a] for a in node.args]
        if all(a is None for a in args):
            known[node] = None
        elif node.op.pointwise:
            known[node] = _pointwise(node, args, lead)
        else:
            known[node] = _rule(node)(node, args, lead)
    return [_truth(full(o, (*lead, *o.shape)), o) if (s := known[o]) is None else s for o in outputs]


def units(shape: Shape) -> Node:
    """Return all unit arrays of a shape, stacked: an array of shape ``shape + shape`` with 1 where the halves agree."""
    long = [size for size in shape if size != 1]
    rank = len(long)
    eyes = [eye(params=(size, size)) for size in long]
    found = contract(eyes, [(i, rank + i) for i in range(rank)], range(2 * rank)) if long else as_node(1)
    return move_up(found, (*shape, *shape))


def _rule(node: Node) -> Rule:
    if node.op.name not in _RULES:
        raise InternalError(f"'{node.op.name}' has no rule for a stack of values")
    return _RULES[node.op.name]


def _aligned(x: Node, own: int, rank: int, lead: Shape) -> Node:
    """Return a stack of arrays with ``own`` axes as one of arrays with ``rank`` axes, the new ones of length 1."""
    return _truth(move_up(x, (*lead, *[1] * (rank - own), *x.shape[len(lead) :])), x)


def _truth(moved: Node, x: Node) -> Node:
    """Return what was moved of x as a truth value if x is one: ops that move entries move numbers."""
    return ne(moved, as_node(0)) if x.dtype == "bool" and moved.dtype != "bool" else moved


def _whole(node: Node, i: int, stacked: Node | None, lead: Shape) -> Node:
    """Return argument i as a stack; if it does not vary, it is repeated."""
    arg = node.args[i]
    return full(arg, (*lead, *arg.shape)) if stacked is None else stacked


def _only(args: list[Node | None]) -> Node:
    (x,) = args
    assert x is not None
    return x


def _pointwise(node: Node, args: list[Node | None], lead: Shape) -> Node:
    rank = len(node.shape)
    moved = tuple(
        arg if stacked is None else _aligned(stacked, len(arg.shape), rank, lead)
        for arg, stacked in zip(node.args, args, strict=True)
    )
    return apply(node.op, moved, node.params)


def _einsum(node: Node, args: list[Node | None], lead: Shape) -> Node:
    labels, result = node.params
    fresh = 1 + max((x for own in labels for x in own), default=-1)
    stack = tuple(range(fresh, fresh + len(lead)))
    operands = [arg if s is None else s for arg, s in zip(node.args, args, strict=True)]
    own = [axes if s is None else (*stack, *axes) for axes, s in zip(labels, args, strict=True)]
    return contract(operands, own, (*stack, *result))


def _reshape(node: Node, args: list[Node | None], lead: Shape) -> Node:
    return move_up(_only(args), (*lead, *node.shape))


def _broadcast_to(node: Node, args: list[Node | None], lead: Shape) -> Node:
    x = _aligned(_only(args), len(node.args[0].shape), len(node.shape), lead)
    return broadcast_to(x, params=((*lead, *node.shape),))


def _along_axes(node: Node, args: list[Node | None], lead: Shape) -> Node:
    """Reductions and softmax: the axes stand behind those of the stack. So does the one axis of a scan."""
    axes: int | tuple[int, ...] = node.params[0]
    k = len(lead)
    moved = axes + k if isinstance(axes, int) else tuple(a + k for a in axes)
    return node.op(_only(args), params=(moved, *node.params[1:]))


def _position(node: Node, args: list[Node | None], lead: Shape) -> Node:
    x, axis = _only(args), node.params[0]
    if axis is None:
        x, axis = move_up(x, (*lead, size_product(node.args[0].shape))), 0
    return node.op(x, params=(axis + len(lead),))


def _slice(node: Node, args: list[Node | None], lead: Shape) -> Node:
    return slice_axes(_only(args), [*[WHOLE] * len(lead), *node.params[0]])


def _unslice(node: Node, args: list[Node | None], lead: Shape) -> Node:
    triples, shape = node.params
    return unslice(_only(args), params=((*[WHOLE] * len(lead), *triples), (*lead, *shape)))


def _concatenate(node: Node, args: list[Node | None], lead: Shape) -> Node:
    parts = [_whole(node, i, s, lead) for i, s in enumerate(args)]
    return concatenate(*parts, params=(node.params[0] + len(lead),))


def _positions(node: Node, args: list[Node | None], lead: Shape) -> tuple[list[Node], int]:
    """Return index arrays that vary, with those of the stack before them, and how many axes the node's own have."""
    depth = max(len(index.shape) for index in node.args[1:])
    own = [
        index if s is None else _aligned(s, len(index.shape), depth, lead)
        for index, s in zip(node.args[1:], args[1:], strict=True)
    ]
    members = [
        move_up(iota(params=(size,)), (size, *[1] * (len(lead) - i - 1 + depth)))
        for i, size in enumerate(lead)
    ]
    return [*members, *own], depth


def _gather(node: Node, args: list[Node | None], lead: Shape) -> Node:
    axes: tuple[int, ...] = node.params[0]
    k = len(lead)
    if all(s is None for s in args[1:]):
        x = _whole(node, 0, args[0], lead)
        return gather(x, *node.args[1:], params=(tuple(a + k for a in axes),))
    indices, depth = _positions(node, args, lead)
    x = _whole(node, 0, args[0], lead)
    found = gather(x, *indices, params=((*range(k), *(a + k for a in axes)),))
    # The axes of the indices stand behind those of the stack; they belong in the place of the first indexed axis.
    rest = [*range(k + depth, len(found.shape))]
    order = [*range(k), *rest[: axes[0]], *range(k, k + depth), *rest[axes[0] :]]
    return transpose(found, order) if order != sorted(order) else found


def _scatter_add(node: Node, args: list[Node | None], lead: Shape) -> Node:
    axes, shape = node.params
    k = len(lead)
    values = _whole(node, 0, args[0], lead)
    if all(s is None for s in args[1:]):
        moved = tuple(a + k for a in axes)
        return scatter_add(values, *node.args[1:], params=(moved, (*lead, *shape)))
    indices, depth = _positions(node, args, lead)
    place = k + axes[0]
    rest = [a for a in range(k, len(values.shape)) if not place <= a < place + depth]
    order = [*range(k), *range(place, place + depth), *rest]
    if order != sorted(order):
        values = transpose(values, order)
    return scatter_add(values, *indices, params=((*range(k), *(a + k for a in axes)), (*lead, *shape)))


def _one_hot(node: Node, args: list[Node | None], _lead: Shape) -> Node:
    return node.op(_only(args), params=node.params)


def _of_matrices(node: Node, args: list[Node | None], _lead: Shape) -> Node:
    return node.op(_only(args))


def _slope(node: Node, args: list[Node | None], lead: Shape) -> Node:
    return node.op(*(_whole(node, i, s, lead) for i, s in enumerate(args)))


def _solve(node: Node, args: list[Node | None], lead: Shape) -> Node:
    a, b = (arg if s is None else s for arg, s in zip(node.args, args, strict=True))
    if len(node.shape) > 1:
        rank = len(node.shape)
        return node.op(
            *(
                x if s is None else _aligned(s, len(arg.shape), rank, lead)
                for x, arg, s in zip((a, b), node.args, args, strict=True)
            )
        )
    if args[0] is not None:
        columns = node.op(a, expand(b, [len(b.shape)]))
        return squeeze(columns, [len(columns.shape) - 1])
    # One matrix and a stack of vectors: they are its columns, so it is eliminated once.
    rows = move_up(b, (size_product(lead), *node.shape))
    return move_up(adjoint(node.op(a, adjoint(rows))), (*lead, *node.shape))


_RULES: dict[str, Rule] = {
    "einsum": _einsum,
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    **dict.fromkeys(
        (
            "mean",
            "max",
            "min",
            "prod",
            "logsumexp",
            "softmax",
            "log_softmax",
            "norm",
            "cumsum",
            "prod_except",
        ),
        _along_axes,
    ),
    "argmax": _position,
    "argmin": _position,
    "slice": _slice,
    "unslice": _unslice,
    "concatenate": _concatenate,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    **dict.fromkeys(("inv", "det", "logdet", "expm", "sinm", "cosm"), _of_matrices),
    **dict.fromkeys(("expm_frechet", "sinm_frechet", "cosm_frechet"), _slope),
    "solve": _solve,
}
