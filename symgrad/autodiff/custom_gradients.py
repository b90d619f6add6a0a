"""Derivatives that are given: a pullback, an expression linear in the cotangent, instead of the one of the value.

The pullback of x, P(v), is linear in the cotangent v, and so is its transpose, which maps a tangent of x to one of the
value: T(z). With x for z, T(x) has the pullback P, if its coefficients count as constants; yet order two is to
differentiate them, as they stand in P. `with_slope` does both: every product of a coefficient c with what depends on z
becomes with_slope(0, ., c), whose derivative is c, and whose derivative by c is zero. Its value is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, apply, as_node, symbol
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration, Shape
from symgrad.ops.array.contraction import contract, einsum
from symgrad.ops.array.layout import expand
from symgrad.ops.control import with_slope
from symgrad.ops.scalar.arith import div, mul, neg
from symgrad.ops.scalar.logic import where

__all__ = ["NotLinearError", "with_pullback"]

_ZERO, _ONE = as_node(0), as_node(1)
_OF_FIRST = frozenset(OPS[name] for name in ("gather", "scatter_add"))
"""Linear in the first argument; the others are positions."""


class NotLinearError(Exception):
    """A pullback is not seen to be linear in its cotangent: the part that is not."""

    def __init__(self, part: Node) -> None:
        super().__init__(part)
        self.part = part


def with_pullback(value: Node, x: Node, pulled: Node, cotangent: Node) -> Node:
    """Return a value with a further derivative by a node, whose pullback is given.

    Args:
        value: the value; derivatives that it has itself stay.
        x: a real node.
        pulled: what a cotangent sends to x, of the shape of x.
        cotangent: the symbol for it in ``pulled``, of the shape of the value; the result does not read it.

    Raises:
        NotLinearError: if ``pulled`` is not seen to be linear in the cotangent.
    """
    _map(pulled, cotangent, lambda op_node, args: op_node)  # refuses what is not linear
    tangent = symbol(Declaration("tangent", shape=x.shape))
    (pushed,) = pull_back([pulled], [tangent], [cotangent]).gradients
    held = _map(pushed, tangent, _held, x)
    if held is None:
        return value
    if held.op is with_slope and held.args[0] is _ZERO and held.args[1].shape == value.shape:
        return with_slope(value, *held.args[1:])
    return with_slope(value, held, _ONE)


def _map(
    output: Node, source: Node, build: Callable[[Node, Sequence[Node]], Node], instead: Node | None = None
) -> Node | None:
    """Walk what depends on a symbol, building anew, and check that it is linear in it; None if nothing does."""
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
    """Tell whether a node is linear in its arguments that move, the others held."""
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


def _held(n: Node, args: Sequence[Node]) -> Node:
    """The same equation of what stands for the arguments, with the coefficient that it has as a given slope."""
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
    """What has the derivative c by x; products of coefficients are collected."""
    if x.op is with_slope and x.args[0] is _ZERO and x.args[1].shape == x.shape == shape:
        _, x, before = x.args
        c = before * c
    return with_slope(_ZERO, x, c)


def _contraction(n: Node, i: int, args: Sequence[Node]) -> Node:
    """A sum of products with operand i: its entries, spread over all axes, times the product of the others."""
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
