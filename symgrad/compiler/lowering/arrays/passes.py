"""Divide the work of a loop nest into passes over its inner loop, and choose the values that a pass saves for later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.compiler.lowering.arrays.index import IndexTuple
from symgrad.compiler.lowering.arrays.nests import Member, Nest
from symgrad.compiler.lowering.arrays.tasks import Reads, reads
from symgrad.compiler.lowering.cost import LEAVES, own_cost
from symgrad.ir.graph import SYMBOL, Node
from symgrad.support.traversal import postorder, walk

Pair = tuple[Node, IndexTuple]

_KEPT = 12
"""If a value takes more simple operations than this, a pass saves it for a later pass, which would otherwise recompute
it."""


@dataclass(frozen=True, slots=True)
class Availability:
    """The availability of a value in a nest.

    Args:
        inner: whether the value differs from lane to lane.
        outer: whether the value depends on the outer loops (or on a reduction of a pass).
        stage: the first pass that can use the value.
        cost: the simple operations in each lane that compute it and all its operands.
    """

    inner: bool
    outer: bool
    stage: int
    cost: int


@dataclass(slots=True)
class Pass:
    """One run over the inner loop, and the work per row before it.

    Args:
        row: members with one value for each row, known before this pass.
        lanes: members that this pass computes lane by lane.
        reduced: members that this pass reduces over the inner loop.
        keep: values that this pass saves for later passes.
    """

    row: list[Member] = field(default_factory=list[Member])
    lanes: list[Member] = field(default_factory=list[Member])
    reduced: list[Member] = field(default_factory=list[Member])
    keep: list[Pair] = field(default_factory=list[Pair])


@dataclass(slots=True)
class Passes:
    """The passes of a nest.

    Args:
        passes: the passes, in order; the last may have only a row part.
        levels: the availability of every value that the nest computes or loads.
        kept: the place of a saved value: the number of its row buffer, or the member that stores it anyway.
        rows: the values with row buffers.
    """

    passes: list[Pass]
    levels: dict[Pair, Availability]
    kept: dict[Pair, int | Member]
    rows: list[Node]


def inside(nest: Nest, pair: Pair) -> Reads:
    """Return the operands of a value within a nest; a leaf has none."""
    node, place = pair
    member = nest.holds(node, place)
    if member is not None:
        return reads(node, place) if member.own else Reads(member.factors)
    if node.op is SYMBOL or node.op in LEAVES:
        return Reads()
    return reads(node, place)


def _is_loaded(nest: Nest, pair: Pair, tasks: Mapping[Node, object]) -> bool:
    """Tell whether a value is loaded from memory."""
    node, place = pair
    return nest.holds(node, place) is None and (node in tasks or node.op is SYMBOL)


def plan_passes(nest: Nest, tasks: Mapping[Node, object]) -> Passes:
    """Divide the work of a nest into passes.

    Args:
        nest: the nest.
        tasks: the nodes with tasks, whose values are in memory.
    """
    levels: dict[Pair, Availability] = {}
    for member in nest.members:
        value = (member.task.node, member.place)
        starts = [value] if nest.holds(*value) is member else []
        _set_availability(nest, [*starts, *member.factors, *member.indices], tasks, levels)
    stages = {m: max((levels[p].stage for p in (*m.factors, *m.indices)), default=0) for m in nest.members}
    count = 1 + max(
        [*stages.values(), *(s + 1 for m, s in stages.items() if nest.inner in m.reduced)], default=0
    )
    passes = [Pass() for _ in range(count)]
    for member, stage in stages.items():
        if nest.inner in member.reduced:
            passes[stage].reduced.append(member)
            if member.stored:
                passes[stage + 1].row.append(member)
        elif member.stored:
            (passes[stage].lanes if member.inner else passes[stage].row).append(member)
    found = Passes(passes, levels, {}, [])
    for number in range(count - 1, 0, -1):
        _keep(nest, found, number, tasks)
    return found


def _set_availability(
    nest: Nest, starts: Sequence[Pair], tasks: Mapping[Node, object], levels: dict[Pair, Availability]
) -> None:
    """Set the availability of values, and of all values that they depend on."""

    def operands(pair: Pair) -> Reads:
        return Reads() if _is_loaded(nest, pair, tasks) else inside(nest, pair)

    for pair in postorder(starts, lambda p: operands(p).values, until=levels):
        node, place = pair
        member, loaded, needs = nest.holds(node, place), _is_loaded(nest, pair, tasks), operands(pair)
        own = [levels[p] for p in needs.values]
        where = [t[0] for i in place for t in i.terms] if loaded or node.op.name == "iota" else []
        where += [t[0] for _, i in needs.memory for t in i.terms]
        inner = any(x.inner for x in own) or nest.inner in where
        outer = any(x.outer for x in own) or any(k != nest.inner for k in where)
        stage = max((x.stage for x in own), default=0)
        cost = sum(x.cost for x in own) + (1 if loaded else own_cost(node))
        if member is not None and nest.inner in member.reduced:
            levels[pair] = Availability(False, True, stage + 1, 0)
        else:
            levels[pair] = Availability(inner, outer, stage, cost if inner else 0)


def _walk_lanes(nest: Nest, this: Pass, is_leaf: Callable[[Pair], bool]) -> Iterator[Pair]:
    """Yield the values that a pass reads lane by lane, from right to left, as far as the leaves."""
    members = (*this.lanes, *this.reduced)
    roots = [*this.keep, *(pair for m in members for pair in (*m.factors, *m.indices))]
    return walk(roots[::-1], lambda p: () if is_leaf(p) else inside(nest, p).values[::-1])


def last_reads(
    nest: Nest, found: Passes, tasks: Mapping[Node, object]
) -> dict[Node, tuple[int, set[IndexTuple]]]:
    """Return the last pass that reads each array, and the places read, for arrays that are only read lane by lane."""
    last: dict[Node, tuple[int, set[IndexTuple]]] = {}
    otherwise: set[Node] = set()
    for pair, level in found.levels.items():
        if not _is_loaded(nest, pair, tasks):
            otherwise.update(n for n, _ in inside(nest, pair).memory)
        elif not level.inner:
            otherwise.add(pair[0])
    for number, this in enumerate(found.passes):

        def has_value(pair: Pair, number: int = number) -> bool:
            level = found.levels[pair]
            return not level.inner or (pair in found.kept and level.stage < number)

        pairs = _walk_lanes(
            nest, this, lambda p, has_value=has_value: has_value(p) or _is_loaded(nest, p, tasks)
        )
        for pair in pairs:
            if not has_value(pair) and _is_loaded(nest, pair, tasks):
                node, place = pair
                last[node] = (number, {*last.get(node, (0, set[IndexTuple]()))[1], place})
    return {n: read for n, read in last.items() if n not in otherwise}


def _keep(nest: Nest, found: Passes, number: int, tasks: Mapping[Node, object]) -> None:
    """Save the values of earlier passes that this pass reads and that are too expensive to recompute."""

    def needs_row(pair: Pair) -> bool:
        level = found.levels[pair]
        expensive = level.inner and level.stage < number and level.cost > _KEPT
        return expensive and not _is_loaded(nest, pair, tasks)

    def is_leaf(pair: Pair) -> bool:
        return not found.levels[pair].inner or _is_loaded(nest, pair, tasks) or needs_row(pair)

    for pair in _walk_lanes(nest, found.passes[number], is_leaf):
        if not needs_row(pair) or pair in found.kept:
            continue
        member = nest.holds(*pair)
        if member is not None and member.stored:
            found.kept[pair] = member
        else:
            found.kept[pair] = len(found.rows)
            found.rows.append(pair[0])
            found.passes[found.levels[pair].stage].keep.append(pair)
