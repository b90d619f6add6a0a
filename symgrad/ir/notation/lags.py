"""Arrays that have the values of a carry and of the carries that keep its earlier values.

With F[0] = a and F[1] = b, the line F[t] = F[t-1] + F[t-2] for t in 2..9 is a recurrence of two carries: h[t] = F[t+1],
and g[t] = h[t-1] with g[0] = a. The array F has a, then all values of h. It is written instead of both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from symgrad.ir.body import Body, carry_values
from symgrad.ir.graph import OPS, Node
from symgrad.ir.notation.recurrences import (
    CarryName,
    is_recurrence,
    recurrence_of,
    search_of,
    sliced_rows,
)
from symgrad.ir.sizes import size_sum
from symgrad.ir.traverse import fold, topological, with_args


class Lags(NamedTuple):
    """A carry and the carries that keep its earlier values, which are all rows of one array.

    Args:
        array: the array of all values, with the first values that only the other carries have.
        loop: the recurrence.
        carries: the number of the carry; of the carry that has its value of the step before; and so on.
    """

    array: Node
    loop: Node
    carries: tuple[int, ...]

    def rows(self, array: Node) -> dict[Node, Node]:
        """Return the values of the carries, as rows of the array, or of what stands for it."""
        length, reverse, _ = self.loop.params
        values, count = carry_values(self.loop), len(self.carries)
        found: dict[Node, Node] = {}
        for back, k in enumerate(self.carries):
            first = back if reverse else count - 1 - back
            ends = first or None, None if first == count - 1 else size_sum([length, 1, first])
            others = [(None, None, 1)] * (len(array.shape) - 1)
            found[values[k]] = OPS["slice"](array, params=(((*ends, 1), *others),))
        return found


def lags_of(node: Node, *, searches: bool = False) -> Lags | None:
    """Return the carries whose values an array has, one after the other; None for other nodes.

    Args:
        node: the node.
        searches: whether also for searches. There the carries with earlier values stay with all others, so that their
            values are no rows of the array; only steps may read them.
    """
    if node.op.name == "concatenate" and node.params == (0,):
        for value in (node.args[-1], node.args[0]):
            found = recurrence_of(value)
            for lags in _lags_in(found[0], searches) if found is not None else ():
                if len(node.args) == len(lags.array.args) and all(map(_same_row, node.args, lags.array.args)):
                    return lags._replace(array=node)
    return None


def _same_row(one: Node, other: Node) -> bool:
    """Tell whether arrays are the same, or are rows of one number."""
    return one is other or (
        one.shape == other.shape and (filled := _number_in(one)) is not None and filled is _number_in(other)
    )


def _number_in(array: Node) -> Node | None:
    """Return the number of which an array consists; None for other arrays."""
    while array.shape and array.op.name in ("reshape", "broadcast_to"):
        array = array.args[0]
    return None if array.shape else array


def _lags_in(loop: Node, searches: bool = False) -> list[Lags]:
    """Return the carries of a recurrence that others keep, each with the array of all their values."""
    _, reverse, body = loop.params
    assert isinstance(body, Body)
    search = search_of(body) if searches and not reverse else None
    results = body.results if search is None else search[1]
    kept = {k: body.carries.index(r) for k, r in enumerate(results) if r in body.carries}
    values = carry_values(loop)
    found: list[Lags] = []
    for k in sorted({*range(len(body.carries))} - kept.keys()):
        carries = [k]
        while (after := next((j for j, of in kept.items() if of == carries[-1]), None)) is not None:
            carries.append(after)
        if len(carries) > 1:
            early = [OPS["reshape"](s, params=((1, *s.shape),)) for s in (loop.args[j] for j in carries[1:])]
            parts = [values[k], *early] if reverse else [*early[::-1], values[k]]
            found.append(Lags(OPS["concatenate"](*parts, params=(0,)), loop, tuple(carries)))
    return found


def with_rows(nodes: Sequence[Node], rows: Mapping[Node, Node]) -> list[Node]:
    """Return formulas with other nodes for some, which may be rows of arrays; rows of these are rows of the arrays."""
    done = fold(nodes, lambda node, args: _merged(with_args(node, args)), dict(rows))
    return [done[n] for n in nodes]


def _merged(node: Node) -> Node:
    """Return rows of rows of an array as rows of the array."""
    if node.op.name != "slice" or node.args[0].op.name != "slice":
        return node
    array, at = sliced_rows(node)
    if array is node.args[0] or array.op.name == "slice":
        return node
    stop = size_sum([at, node.shape[0]])
    ends = at or None, None if stop == array.shape[0] else stop, 1
    merged = OPS["slice"](array, params=((ends, *node.params[0][1:]),))
    return merged if merged.shape == node.shape else node


def lags_in_text(nodes: Sequence[Node]) -> dict[Node, list[Lags]]:
    """Return the arrays of values for each recurrence that a text can have instead of carries, and is the same nodes.

    Args:
        nodes: the formulas, and all further nodes that have names.
    """
    order = topological(nodes)
    joined = {n: lags for n in order if (lags := lags_of(n, searches=True)) is not None}
    if not joined:
        return {}
    read = {*nodes, *(a for n in order if n not in joined for a in n.args if n.op.name != "part")}
    loops: dict[Node, list[Lags]] = {}
    for lags in joined.values():
        built = next(some.array for some in _lags_in(lags.loop, True) if some.carries == lags.carries)
        values = carry_values(lags.loop)
        if built is lags.array and read.isdisjoint([lags.loop, *(values[k] for k in lags.carries)]):
            loops.setdefault(lags.loop, []).append(lags)
    return loops


def with_lags(
    nodes: Sequence[Node], named: Collection[Node] = ()
) -> tuple[list[Node], dict[Node, list[Lags]]]:
    """Return formulas of equal values that read an array instead of each carry that others keep.

    The second result has these arrays for each recurrence.

    Args:
        nodes: the formulas.
        named: nodes with names, which stay.
    """
    if not any(_lags_in(n) for n in topological(nodes) if is_recurrence(n)):
        return list(nodes), {}
    loops: dict[Node, list[Lags]] = {}
    arrays: dict[tuple[Node, tuple[int, ...]], Node] = {}
    rows: dict[Node, Node] = {}

    def rebuilt(node: Node, args: list[Node]) -> Node:
        joined = lags_of(node)
        if joined is not None and (joined.loop, joined.carries) in arrays:
            return arrays[joined.loop, joined.carries]
        new = with_args(node, args)
        if is_recurrence(node):
            values = carry_values(node)
            for lags in _lags_in(new):
                if any(values[k] in named for k in lags.carries):
                    continue
                loops.setdefault(new, []).append(lags)
                arrays[node, lags.carries] = lags.array
                rows.update(lags.rows(lags.array))
        return rows.get(new) or (_merged(new) if args and args[0] in rows.values() else new)

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes], loops


def carry_names(names: Sequence[str], lags: Sequence[Lags] = ()) -> list[CarryName]:
    """Return how the carries of a recurrence are written, given their names."""
    found = [CarryName(name) for name in names]
    for some in lags:
        for back, k in enumerate(some.carries):
            found[k] = CarryName(names[some.carries[0]], back, len(some.carries) - 1)
    return found


def named_arrays(node: Node, lags: Sequence[Lags] = ()) -> list[Node]:
    """Return for each carry of a recurrence the array that its name stands for."""
    found = carry_values(node)
    for some in lags:
        found[some.carries[0]] = some.array
    return found


def loop_of(node: Node) -> Node | None:
    """Return the recurrence of which a node is the values of a carry, or of carries one after the other."""
    found, lags = recurrence_of(node), lags_of(node, searches=True)
    return found[0] if found is not None else lags.loop if lags is not None else None
