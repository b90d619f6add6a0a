"""The passes of a nest over its inner loop: which values belong to which, and which are kept for a later one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symgrad.compiler.lowering.arrays.index import IndexTuple
from symgrad.compiler.lowering.arrays.nests import Member, Nest
from symgrad.compiler.lowering.arrays.tasks import Reads, reads
from symgrad.compiler.lowering.cost import LEAVES, own_cost
from symgrad.ir.graph import SYMBOL, Node

__all__ = ["Availability", "Pair", "Pass", "Passes", "inside", "last_reads", "plan_passes"]

Pair = tuple[Node, IndexTuple]

_KEPT = 12
"""A value that takes more than so many simple operations is kept for the next pass instead of being computed again."""


@dataclass(frozen=True, slots=True)
class Availability:
    """When a value of a nest is known.

    Args:
        inner: whether it differs from lane to lane.
        outer: whether it depends on the outer loops (or on what a pass found).
        stage: the first pass that can use it.
        cost: simple operations that it takes lane by lane, all operands included.
    """

    inner: bool
    outer: bool
    stage: int
    cost: int


@dataclass(slots=True)
class Pass:
    """One run over the inner loop, and before it what happens once a row.

    Args:
        row: members whose values, one a row, are ready before this pass.
        lanes: members that this pass computes lane by lane.
        reduced: members that this pass reduces over the inner loop.
        keep: values that it keeps for later passes.
    """

    row: list[Member] = field(default_factory=list[Member])
    lanes: list[Member] = field(default_factory=list[Member])
    reduced: list[Member] = field(default_factory=list[Member])
    keep: list[Pair] = field(default_factory=list[Pair])


@dataclass(slots=True)
class Passes:
    """The passes of a nest.

    Args:
        passes: in order; the last may have a row part only.
        levels: of every value that the nest computes or loads.
        kept: where a value kept by a pass is: the number of a row of its own, or the member that stores it anyway.
        rows: the values with rows of their own.
    """

    passes: list[Pass]
    levels: dict[Pair, Availability]
    kept: dict[Pair, int | Member]
    rows: list[Node]


def inside(nest: Nest, pair: Pair) -> Reads:
    """Return what a value is computed from within a nest; nothing for what is loaded."""
    node, place = pair
    member = nest.holds(node, place)
    if member is not None:
        return reads(node, place) if member.own else Reads(member.factors)
    if node.op is SYMBOL or node.op in LEAVES:
        return Reads()
    return reads(node, place)


def plan_passes(nest: Nest, chosen: Mapping[Node, object]) -> Passes:
    """Divide the work of a nest into passes."""
    levels: dict[Pair, Availability] = {}
    for member in nest.members:
        starts = (
            [(member.task.node, member.place)] if nest.holds(member.task.node, member.place) is member else []
        )
        for pair in [*starts, *member.factors, *member.indices]:
            _level(nest, pair, chosen, levels)
    stages: dict[Member, int] = {}
    for member in nest.members:
        read = [*_operands(member), *member.indices]
        stages[member] = max((levels[p].stage for p in read), default=0)
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
        _keep(nest, found, number, chosen)
    return found


def _operands(member: Member) -> list[Pair]:
    return list(member.factors)


def _level(nest: Nest, start: Pair, chosen: Mapping[Node, object], levels: dict[Pair, Availability]) -> None:
    stack = [start]
    while stack:
        pair = stack[-1]
        if pair in levels:
            stack.pop()
            continue
        node, place = pair
        member = nest.holds(node, place)
        loaded = member is None and (node in chosen or node.op is SYMBOL)
        needs = Reads() if loaded else inside(nest, pair)
        missing = [p for p in needs.values if p not in levels]
        if missing:
            stack += missing
            continue
        stack.pop()
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


def last_reads(
    nest: Nest, found: Passes, chosen: Mapping[Node, object]
) -> dict[Node, tuple[int, set[IndexTuple]]]:
    """Return for every array that is read lane by lane alone the last pass that reads it, and the places."""
    last: dict[Node, tuple[int, set[IndexTuple]]] = {}
    otherwise: set[Node] = set()
    for pair, level in found.levels.items():
        node, place = pair
        if nest.holds(node, place) is None and (node in chosen or node.op is SYMBOL):
            if not level.inner:
                otherwise.add(node)
        else:
            otherwise.update(n for n, _ in inside(nest, pair).memory)
    for number, this in enumerate(found.passes):
        stack = list(this.keep)
        for member in (*this.lanes, *this.reduced):
            stack += [*member.factors, *member.indices]
        seen: set[Pair] = set()
        while stack:
            pair = stack.pop()
            level = found.levels[pair]
            if pair in seen or not level.inner or (pair in found.kept and level.stage < number):
                continue
            seen.add(pair)
            node, place = pair
            if nest.holds(node, place) is None and (node in chosen or node.op is SYMBOL):
                last[node] = (number, {*last.get(node, (0, set[IndexTuple]()))[1], place})
            else:
                stack += inside(nest, pair).values
    return {n: found for n, found in last.items() if n not in otherwise}


def _keep(nest: Nest, found: Passes, number: int, chosen: Mapping[Node, object]) -> None:
    """Find the values of earlier passes that this pass reads and that cost too much to compute again."""
    this = found.passes[number]
    stack: list[Pair] = [*this.keep]
    for member in [*this.lanes, *this.reduced]:
        stack += [*_operands(member), *member.indices]
    seen: set[Pair] = set()
    while stack:
        pair = stack.pop()
        if pair in seen:
            continue
        seen.add(pair)
        level = found.levels[pair]
        if not level.inner:
            continue
        node, place = pair
        member = nest.holds(node, place)
        if member is None and (node in chosen or node.op is SYMBOL):
            continue
        if level.stage < number and level.cost > _KEPT:
            if pair not in found.kept:
                if member is not None and member.stored:
                    found.kept[pair] = member
                else:
                    found.kept[pair] = len(found.rows)
                    found.rows.append(node)
                    found.passes[level.stage].keep.append(pair)
            continue
        stack += inside(nest, pair).values
