"""Recognise expressions that are made from gradients: products of gradients, and components joined along an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgrad.analysis.explain.limits import CHAIN_FACTORS
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape


@dataclass(frozen=True, slots=True)
class ComponentGradient:
    """One gradient.

    Attributes:
        gradient: the gradient, with the shape of ``by``.
        of: the differentiated value; if it is an array, the sum of its entries is differentiated.
        by: the input with respect to which the gradient is taken.
    """

    gradient: Node
    of: Node
    by: Node


@dataclass(frozen=True, slots=True)
class Joined:
    """Gradients of components of a value, joined along an axis.

    Attributes:
        parts: the gradients, all with respect to the same value.
        axis: the axis of that value along which they are joined.
        shape: the shape of the result.
        whole: the array that has the components; None if it is unknown.
    """

    parts: tuple[ComponentGradient, ...]
    axis: int
    shape: Shape
    whole: Node | None


# Ops that multiply their arguments.
_PRODUCTS = frozenset({"mul", "einsum", "neg", "div", "reshape", "broadcast_to"})


def factors_of(
    operands: Sequence[Node], order: Sequence[Node], made: Mapping[Node, Sequence[ComponentGradient]]
) -> tuple[ComponentGradient, ...]:
    """Return the gradients that are factors of one product: of all operands, or of the one with the longest chain."""
    factors: dict[Node, tuple[ComponentGradient, ...]] = {}
    for node in order:
        if node in made:
            factors[node] = tuple(made[node])
        elif node.op.name in _PRODUCTS:
            under = [p for a in node.args for p in factors.get(a, ())]
            factors[node] = tuple(dict.fromkeys(under))[:CHAIN_FACTORS]
    together = tuple(dict.fromkeys(p for o in operands for p in factors.get(o, ())))[:CHAIN_FACTORS]
    return max([together, *factors.values()], key=lambda f: len(longest_chain(f)), default=())


def longest_chain(parts: Sequence[ComponentGradient]) -> tuple[ComponentGradient, ...]:
    """Return the longest chain of gradients, each with respect to the value that the next one differentiates."""
    best: tuple[ComponentGradient, ...] = ()
    growing = [(p,) for p in parts]
    while growing:
        longer = [(*c, p) for c in growing for p in parts if p.of is c[-1].by and p not in c]
        best = longer[0] if longer else best
        growing = longer[:CHAIN_FACTORS]
    return best


def join_of(node: Node, made: Mapping[Node, Sequence[ComponentGradient]]) -> Joined | None:
    """Return the gradients of components if a concatenate joins them along an axis of the input."""
    if node.op.name != "concatenate" or any(a not in made for a in node.args):
        return None
    axis: int = node.params[0]
    for first in made[node.args[0]]:
        parts = [next((p for p in made[a] if p.by is first.by), None) for a in node.args]
        if any(p is None for p in parts) or first.by.shape[axis] == 1:
            continue  # along an axis of length 1, each component has its own row
        kept = tuple(p for p in parts if p is not None)
        if len({p.of for p in kept}) == len(kept):
            bases = {_base(p.of) for p in kept}
            whole = bases.pop() if len(bases) == 1 else None
            return Joined(kept, axis, node.shape, whole)
    return None


def _base(node: Node) -> Node:
    """Return the array from which a component is taken."""
    while node.op.name in ("reshape", "slice", "gather") or (
        node.op.name == "einsum" and len(node.args) == 1
    ):
        node = node.args[0]
    return node
