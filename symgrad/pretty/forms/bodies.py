"""Bodies of recurrences in their shortest form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symgrad.autodiff.recurrences import divide, recur
from symgrad.ir.body import Body
from symgrad.ir.graph import Node
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.traverse import fold, substitute, topological, with_args


def with_short_bodies(nodes: Sequence[Node], best: Callable[[Iterable[Node]], Node]) -> list[Node]:
    """Return formulas with the formulas of the steps of their recurrences in another form.

    Args:
        nodes: the formulas.
        best: a function that returns the shortest form of equal formulas.
    """
    if not any(map(is_recurrence, topological(nodes))):
        return list(nodes)

    def rebuilt(node: Node, args: list[Node]) -> Node:
        node = with_args(node, args)
        if not is_recurrence(node):
            return node
        length, reverse, body = node.params
        assert isinstance(body, Body)
        starts, rows, operands = divide(node)
        results = substitute(body.results, dict(zip(body.operands, operands, strict=True)))
        short = [best([r]) for r in results]
        table = dict(zip(body.rows, rows, strict=True))
        found = recur(starts, body.carries, short, table, length, reverse=bool(reverse))
        return found[0] if len(found) == 1 else found[0].args[0]

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]
