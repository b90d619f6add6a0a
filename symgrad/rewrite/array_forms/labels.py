"""Order a contraction's operands canonically, independent of the names of labels.

Colour refinement tells labels apart by their places. Remaining ties are broken by trying all orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, groupby, permutations, product
from math import factorial, prod

from symgrad.ir.graph import Node
from symgrad.ops.array.contraction import Labels, contract
from symgrad.rewrite.normal_form.order import FactorKey

_TIES = 24  # largest number of orders of equal operands that are tried


def in_order(
    operands: list[tuple[Node, Labels]], result: Labels, factor: Callable[[Node], FactorKey]
) -> Node:
    """Write a contraction with its operands in order; equal operands take the order with the least labels.

    Args:
        operands: nodes and the labels of their axes.
        result: the labels of the result.
        factor: the sort key of a node among factors.
    """
    operands = sorted(operands, key=lambda o: factor(o[0]))
    ranks: dict[Node, int] = {}
    for node, _ in operands:
        ranks.setdefault(node, len(ranks))
    colours = _colours([(ranks[node], labels) for node, labels in operands], result)
    operands.sort(key=lambda o: (ranks[o[0]], [colours[k] for k in o[1]]))
    runs = [list(run) for _, run in groupby(operands, key=lambda o: id(o[0]))]
    if prod(factorial(len(run)) for run in runs) > _TIES:
        return _contraction(operands, result)
    orders = product(*(permutations(run) for run in runs))
    found = [_contraction([*chain.from_iterable(order)], result) for order in orders]
    return min(found, key=lambda n: n.params)


def _contraction(operands: Sequence[tuple[Node, Labels]], result: Labels) -> Node:
    return contract([node for node, _ in operands], [labels for _, labels in operands], result)


def _colours(operands: Sequence[tuple[int, Labels]], result: Labels) -> dict[int, int]:
    """Colour labels by their places in the result and in operands, and by the colours next to them."""
    colours = {k: result.index(k) if k in result else -1 for _, labels in operands for k in labels}
    for _ in range(4):
        places: dict[int, list[tuple[int, ...]]] = {k: [] for k in colours}
        for rank, labels in operands:
            for i, k in enumerate(labels):
                places[k].append((rank, i, *(colours[other] for other in labels)))
        keys = {k: (colours[k], sorted(found)) for k, found in places.items()}
        order = sorted(keys.values())
        colours = {k: order.index(key) for k, key in keys.items()}
    return colours
