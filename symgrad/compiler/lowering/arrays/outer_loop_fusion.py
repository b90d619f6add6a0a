"""Fuse the outermost loops of consecutive steps, so that intermediate results stay in the cache.

Consider 25 products of matrices, then a formula of each product, then 25 products again. As three separate steps, each
step reads the results of the previous step from main memory. In one loop of 25 turns with three steps each, an array
that only these steps use needs the memory of one turn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from symgrad.compiler.lowering.arrays.index import loop
from symgrad.compiler.lowering.arrays.nests import ArrayTask, LibraryCall, Nest
from symgrad.compiler.lowering.arrays.passes import Passes, inside
from symgrad.compiler.lowering.arrays.tasks import Selection, backing
from symgrad.compiler.lowering.contractions import estimate
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size, size_product

_LARGE = 2**15
"""Fusion pays for an array of at least this size, which does not fit into the first-level cache."""

_TURN = 2**9
"""The smallest size of a step in a turn, since the overhead of a step equals the work on some hundred numbers."""


_AHEAD = 50
"""Lookahead: number of steps that are candidates for one fused loop."""


@dataclass(frozen=True, eq=False, slots=True)
class Turns:
    """Steps with a fused outermost loop.

    Args:
        steps: the steps.
        count: the number of turns of the loop.
        private: arrays that only these steps use. Each turn uses its own part of them, and memory holds the part of one
            turn.
    """

    steps: tuple[ArrayTask, ...]
    count: Size
    private: frozenset[Node]


def stored_nodes(step: ArrayTask) -> list[Node]:
    """Return the nodes that a step stores."""
    if isinstance(step, LibraryCall):
        return [step.node]
    stored = (m.task.target for m in step.members if m.stored)
    return [t for t in dict.fromkeys(stored) if isinstance(t, Node)]


def fuse_outer_loops(
    steps: Sequence[ArrayTask], passes: Mapping[Nest, Passes], selection: Selection, bound: Collection[Node]
) -> tuple[list[ArrayTask], list[Turns]]:
    """Find steps whose outermost loops can be fused, and make them adjacent.

    Args:
        steps: the steps of a program, in topological order.
        passes: the passes of every nest.
        selection: the nodes with tasks.
        bound: nodes that are outputs.
    """
    rest = list(steps)
    ordered: list[ArrayTask] = []
    found: list[Turns] = []
    large = {n for s in rest for n in stored_nodes(s) if estimate(size_product(n.shape)) >= _LARGE}
    while rest:
        first = rest[0]
        turns = _outermost(first) if large else None
        if turns is not None:
            before, together, after = _split(rest[:_AHEAD], turns, passes, selection)
            after += rest[_AHEAD:]
            _leave(steps, together, after, bound)
            private = _private(steps, together, bound)
            if private & large:
                ordered += [*before, *together]
                found.append(Turns(tuple(together), turns, private))
                rest = after
                continue
        ordered.append(first)
        rest = rest[1:]
    return ordered, found


def _split(
    steps: Sequence[ArrayTask], turns: Size, passes: Mapping[Nest, Passes], selection: Selection
) -> tuple[list[ArrayTask], list[ArrayTask], list[ArrayTask]]:
    """Partition steps into three groups: before the turns, in the turns, and after the turns."""
    before: list[ArrayTask] = []
    together: list[ArrayTask] = []
    after: list[ArrayTask] = []
    fused: set[Node] = set()  # results of the turns
    late: set[Node] = set()  # results of steps after the turns
    for step in steps:
        results = stored_nodes(step)
        early = late.isdisjoint(step.needs)
        if early and _outermost(step) == turns and _own_part(step, fused, passes, selection):
            together.append(step)
            fused.update(results)
        elif early and fused.isdisjoint((*step.needs, *results)):
            before.append(step)
        else:
            after.append(step)
            late.update(results)
    return before, together, after


def _outermost(step: ArrayTask) -> Size | None:
    """Return the length of a step's outermost loop, if the turns are independent and large enough; else None."""
    if isinstance(step, Nest):
        if len(step.loops) < 2:
            return None
        turns, *rest = step.loops
        independent = all(
            0 not in m.reduced
            and m.task.combine != "scatter"
            and (not isinstance(m.task.target, Node) or (m.place[0], m.task.shape[0]) == (loop(0), turns))
            for m in step.members
        )
        return turns if independent and estimate(size_product(rest)) >= _TURN else None
    if step.node.op.name != "einsum":
        return None
    labels, result = step.node.params
    if any(own[0] != result[0] for own in labels):
        return None
    sizes: dict[int, Size] = {}
    for own, arg in zip(labels, step.node.args, strict=True):
        sizes.update(zip(own, arg.shape, strict=True))
    turns = sizes.pop(result[0])
    return turns if turns != 1 and estimate(size_product(sizes.values())) >= _TURN else None


def _own_part(
    step: ArrayTask, arrays: Collection[Node], passes: Mapping[Nest, Passes], selection: Selection
) -> bool:
    """Tell whether each turn of a step reads only its own part of some arrays, and writes none of these arrays."""
    if any(n in arrays for n in stored_nodes(step)):
        return False
    if isinstance(step, LibraryCall):
        return all(backing(a).shape[:1] == a.shape[:1] for a in step.node.args if backing(a) in arrays)
    for pair in passes[step].levels:
        node, place = pair
        if step.holds(node, place) is None and node in selection.tasks:
            if node in arrays and place[0] != loop(0):
                return False
        elif any(n in arrays for n, _ in inside(step, pair).memory):
            return False
    return True


def _leave(
    steps: Sequence[ArrayTask], together: list[ArrayTask], after: list[ArrayTask], bound: Collection[Node]
) -> None:
    """Move steps after the turns, into the turns of their readers, if all other private arrays stay private."""
    for step in reversed(together[1:]):
        results = stored_nodes(step)
        readers = [s for s in steps if not set(results).isdisjoint(s.needs)]
        later = bool(readers) and set(results).isdisjoint(bound) and all(s in after for s in readers)
        if not later or any(_outermost(s) != _outermost(step) for s in readers):
            continue
        private = _private(steps, together, bound)
        without = _private(steps, [s for s in together if s is not step], bound)
        if private - set(results) <= without:
            together.remove(step)
            after.insert(0, step)


def _private(
    steps: Sequence[ArrayTask], together: Sequence[ArrayTask], bound: Collection[Node]
) -> frozenset[Node]:
    inner = set(together)
    filled = {m.task.node for s in together if isinstance(s, Nest) for m in s.members if m.task.fill}
    results = {n for s in together for n in stored_nodes(s)}
    outside = {n for s in steps if s not in inner for n in (*s.needs, *stored_nodes(s))}
    return frozenset(results - outside - filled - set(bound))
