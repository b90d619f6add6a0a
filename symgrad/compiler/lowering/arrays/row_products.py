"""Compute the products of rows of a recurrence for all steps at once: U@x[t-1] for t in 1..T is x@U.T.

A matrix that multiplies a vector in each step is read from memory in each step; the product of two matrices reads it
once for many rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.autodiff.batch import batch
from symgrad.autodiff.recurrences import StepArrays, with_steps
from symgrad.compiler.lowering.contractions import estimate
from symgrad.ir.body import bound_symbol
from symgrad.ir.graph import Node
from symgrad.ir.sizes import size_product
from symgrad.ir.traverse import substitute, topological


def with_row_products(outputs: Sequence[Node]) -> list[Node]:
    """Return a program whose recurrences read products of rows that are computed before the steps."""
    return with_steps(outputs, _read_products)


def _read_products(
    steps: StepArrays, results: Sequence[Node], rows: dict[Node, Node]
) -> tuple[Sequence[Node], dict[Node, Node]]:
    if steps.body.height > 1:
        return results, rows  # a step is as much work as a loop, and its products are large
    carries = set(steps.body.carries)
    order = topological(results, until={*carries, *rows})
    by_rows: set[Node] = set()
    by_carries = carries
    products: dict[Node, None] = {}
    for node in order:
        if node in carries or any(a in by_carries for a in node.args):
            by_carries.add(node)
        elif node in rows or any(a in by_rows for a in node.args):
            by_rows.add(node)
            if _is_product(node, by_rows) or (
                node.op.name in ("add", "neg")
                and any(a in products and a.shape == node.shape for a in node.args)
            ):
                products[node] = None
    read = {a for node in order if node not in products for a in node.args}
    outer = [n for n in products if n in read or n in results]
    stacks = batch(outer, rows, (steps.length,))
    symbols = [bound_symbol("product", k, steps.body.height, n.shape) for k, n in enumerate(outer)]
    table = dict(zip(outer, symbols, strict=True))
    return substitute(results, table), {**rows, **dict(zip(symbols, stacks, strict=True))}


def _is_product(node: Node, by_rows: set[Node]) -> bool:
    """Tell whether a node contracts one smaller array, which depends on rows, with constant ones."""
    if node.op.name != "einsum" or set[int]().union(*node.params[0]) <= set(node.params[1]):
        return False
    entries = [estimate(size_product(a.shape)) for a in node.args]
    own = [n for n, a in zip(entries, node.args, strict=True) if a in by_rows]
    return len(own) == 1 and own[0] < max(entries)
