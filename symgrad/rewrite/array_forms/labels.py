"""The order of a contraction's operands: what they are, and where their labels stand, whatever they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations, product
from math import factorial, prod

from symgrad.ir.graph import Node
from symgrad.ops.array.contraction import Labels, contract
from symgrad.rewrite.normal_form.order import FactorKey

__all__ = ["in_order"]

_TIES = 24  # orders of equal operands that are compared


def in_order(
    operands: list[tuple[Node, Labels]], result: Labels, factor: Callable[[Node], FactorKey]
) -> Node:
    """Write a contraction with its operands in order, and equal ones in the order that gives the first labels.

    Args:
        operands: nodes and the labels of their axes.
        result: the labels of the result.
        factor: the rank of a node among factors.
    """
    operands = sorted(operands, key=lambda o: factor(o[0]))
    ranks: dict[Node, int] = {}
    for node, _ in operands:
        ranks.setdefault(node, len(ranks))
    colours = _colours([(ranks[node], labels) for node, labels in operands], result)
    operands.sort(key=lambda o: (ranks[o[0]], [colours[k] for k in o[1]]))
    runs: list[list[tuple[Node, Labels]]] = []
    for operand in operands:
        if runs and runs[-1][0][0] is operand[0]:
            runs[-1].append(operand)
        else:
            runs.append([operand])
    if prod(factorial(len(run)) for run in runs) > _TIES:
        return _written(operands, result)
    choices = product(*(permutations(run) for run in runs))
    found = [_written([o for run in choice for o in run], result) for choice in choices]
    return min(found, key=lambda n: n.params)


def _written(operands: Sequence[tuple[Node, Labels]], result: Labels) -> Node:
    return contract([node for node, _ in operands], [labels for _, labels in operands], result)


def _colours(operands: Sequence[tuple[int, Labels]], result: Labels) -> dict[int, int]:
    """Tell labels apart by where they stand, whatever they are called: in the result, in operands, beside others."""
    colours = {k: result.index(k) if k in result else -1 for _, labels in operands for k in labels}
    for _ in range(4):
        places: dict[int, list[tuple[int, ...]]] = {k: [] for k in colours}
        for rank, labels in operands:
            for i, k in enumerate(labels):
                places[k].append((rank, i, *(colours[other] for other in labels)))
        seen = {k: (colours[k], sorted(found)) for k, found in places.items()}
        order = sorted(seen.values())
        colours = {k: order.index(what) for k, what in seen.items()}
    return colours
