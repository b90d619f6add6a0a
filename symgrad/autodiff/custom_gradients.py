"""Custom gradients: a user's pullback, which is linear in the cotangent, replaces the derivative of the value.

The pullback of x, P(v), is linear in the cotangent v, and its transpose T maps a tangent z of x to a tangent of the
value. T(x) has the pullback P if the coefficients of T are constants; but at order two they must be differentiated, as
in P. `with_slope` achieves both: each product of a coefficient c with an expression e in z becomes with_slope(0, e, c),
whose derivative with respect to e is c, and whose derivative with respect to c is zero. The value of with_slope is
never read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, apply, as_node, symbol
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration
from symgrad.ops.array.contraction import contract, einsum
from symgrad.ops.array.layout import expand
from symgrad.ops.control import with_slope
from symgrad.ops.scalar.arith import div, mul, neg
from symgrad.ops.scalar.logic import where

_ZERO, _ONE = as_node(0), as_node(1)
_OF_FIRST = frozenset(OPS[name] for name in ("gather", "scatter_add"))
"""Ops that are linear in the first argument; all other arguments are indices."""


class NotLinearError(Exception):
    """A pullback is not provably linear in its cotangent; the error has the part that is not."""

    def __init__(self, part: Node) -> None:
        super().__init__(part)
        self.part = part


def with_pullback(value: Node, x: Node, pulled: Node, cotangent: Node) -> Node:
    """Return a value with a further derivative with respect to a node, which its pullback defines.

    Args:
        value: the value; its own derivatives are kept.
        x: a real node.
        pulled: the cotangent of x, of the shape of x.
        cotangent: the symbol in ``pulled`` for the cotangent of the value, with the shape of the value. The result does
            not read it.

    Raises:
        NotLinearError: if ``pulled`` is not provably linear in the cotangent.
    """
    _map(pulled, cotangent, lambda op_node, args: op_node)  # checks linearity
    tangent = symbol(Declaration("tangent", shape=x.shape))
    (pushed,) = pull_back([pulled], [tangent], [cotangent]).gradients
    held = _map(pushed, tangent, _with_slopes, x)
    if held is None:
        return value
    if held.op is with_slope and held.args[0] is _ZERO and held.args[1].shape == value.shape:
        return with_slope(value, *held.args[1:])
    return with_slope(value, held, _ONE)


def _map(
    output: Node, source: Node, build: Callable[[Node, Sequence[Node]], Node], instead: Node | None = None
) -> Node | None:
    """Rebuild the nodes that depend on a symbol, and check that they are linear in it; return None if no node does."""
    made: dict[Node, Node] = {source: source if instead is None else instead}
    for n in topological([output]):
        moving = [a in made for a in n.args]
        if n in made or not any(moving):
            continue
        if not _linear(n, moving):
            raise NotLinearError(n)
        made[n] = build(n, [made.get(a, a) for a in n.args])
    if output not in made and not _zero(output):
        raise NotLinearError(output)
    return made.get(output)


def _linear(n: Node, moving: Sequence[bool]) -> bool:
    """Tell whether a node is linear in its moving arguments, with all other arguments fixed."""
    if n.op in (mul, einsum):
        return moving.count(True) == 1
    if n.op is div:
        return moving == [True, False]
    if n.op is where:
        return not moving[0] and all(m or _zero(a) for m, a in zip(moving[1:], n.args[1:], strict=True))
    if n.op in _OF_FIRST:
        return not any(moving[1:])
    return "linear" in n.op.facts and all(m or _zero(a) for m, a in zip(moving, n.args, strict=True))


def _zero(node: Node) -> bool:
    while node.args and node.op.name in ("broadcast_to", "reshape"):
        node = node.args[0]
    return node.is_number(0)


def _with_slopes(n: Node, args: Sequence[Node]) -> Node:
    """Rebuild an equation with its coefficient as the slope of `with_slope`."""
    (i, *_) = [i for i, (a, b) in enumerate(zip(n.args, args, strict=True)) if a is not b]
    if n.op is mul:
        return _times(args[i], args[1 - i], n.shape)
    if n.op is div:
        return _times(args[0], _ONE / args[1], n.shape)
    if n.op is neg:
        return _times(args[0], as_node(-1), n.shape)
    if n.op is einsum and len(args) > 1:
        return _contraction(n, i, args)
    return apply(n.op, tuple(args), n.params)


def _times(x: Node, c: Node, shape: Shape) -> Node:
    """Return a node whose derivative with respect to x is c; nested coefficients are multiplied."""
    if x.op is with_slope and x.args[0] is _ZERO and x.args[1].shape == x.shape == shape:
        _, x, before = x.args
        c = before * c
    return with_slope(_ZERO, x, c)


def _contraction(n: Node, i: int, args: Sequence[Node]) -> Node:
    """Contract operand i, over all axes, with the product of the other operands, as a slope."""
    labels, result = n.params
    every = list(dict.fromkeys(label for own in labels for label in own))
    others = [k for k in range(len(args)) if k != i]
    own = [label for label in every if label in labels[i]]
    coefficient = [label for label in every if any(label in labels[k] for k in others)]
    x = contract([args[i]], [labels[i]], own)
    c = contract([args[k] for k in others], [labels[k] for k in others], coefficient)
    x = expand(x, [k for k, label in enumerate(every) if label not in own])
    c = expand(c, [k for k, label in enumerate(every) if label not in coefficient])
    return contract([_times(x, c, broadcast_shapes([x.shape, c.shape]))], [every], result)
