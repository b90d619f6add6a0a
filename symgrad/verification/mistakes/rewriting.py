"""Wrong rules of algebra: their results for one part of a formula, and helpers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

from symgrad.ir.graph import OPS, Node, as_node
from symgrad.support.traversal import leaves


@dataclass(frozen=True, slots=True)
class Swap:
    """A wrong rewriting of one part of a formula.

    Args:
        other: the wrong result.
        right: the right result; None if it has no such form.
    """

    other: Node
    right: Node | None = None


def factors_of(node: Node) -> list[Node]:
    """Return the factors of a product."""
    return leaves(node, lambda f: f.args if f.op.name == "mul" else None)


def signed(sign: int, node: Node) -> Node:
    """Return a formula with a sign."""
    return node if sign > 0 else OPS["neg"](node)


def total(terms: Iterable[Node]) -> Node:
    """Return the sum of some formulas; 0 if there are none."""
    found = list(terms)
    return reduce(add, found) if found else as_node(0)


def product(factors: Iterable[Node]) -> Node:
    """Return the product of some formulas; 1 if there are none."""
    found = list(factors)
    return reduce(mul, found) if found else as_node(1)
