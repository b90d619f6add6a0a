"""Order copies and the equations between them, with as many copies of one group in a row as possible."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from symgrad.compiler.lowering.elementwise.rolling import FEWEST, Copies
from symgrad.ir.graph import Node
from symgrad.support.errors import InternalError

Run = tuple[Sequence[Node], int | None]
"""Equations that are computed one after the other, and the number of their group if they are a copy."""


def segments(equations: Sequence[Node], groups: Sequence[Copies]) -> list[Run]:
    """Order copies and other equations.

    A loop that is interrupted after every few copies gains nothing, so the copies of such a group become ordinary
    equations.

    Args:
        equations: all equations, arguments first; other operands are known.
        groups: the groups of copies among them (`compiler/lowering/elementwise/rolling.py`).

    Returns:
        Runs: one for each copy, and between them runs of the other equations.
    """
    groups = list(groups)
    while True:
        runs = _ordered(equations, groups)
        starts = [0] * len(groups)
        before = None
        for _, group in runs:
            if group is not None and group != before:
                starts[group] += 1
            before = group
        kept = [c for c, count in zip(groups, starts, strict=True) if FEWEST * count <= len(c)]
        if len(kept) == len(groups):
            return runs
        groups = kept


def _ordered(equations: Sequence[Node], groups: Sequence[Copies]) -> list[Run]:
    units: list[tuple[Sequence[Node], int | None]] = []
    unit: dict[Node, int] = {}
    for g, copies in enumerate(groups):
        for copy in copies:
            unit.update(dict.fromkeys(copy, len(units)))
            units.append((copy, g))
    for node in equations:
        if node not in unit:
            unit[node] = len(units)
            units.append(((node,), None))
    missing = [0] * len(units)
    readers: list[list[int]] = [[] for _ in units]
    for k, (nodes, _) in enumerate(units):
        reads = {unit[a] for node in nodes for a in node.args if a in unit} - {k}
        missing[k] = len(reads)
        for other in reads:
            readers[other].append(k)
    ready: list[list[int]] = [[] for _ in range(len(groups) + 1)]  # the last list is for other equations

    def offer(k: int) -> None:
        group = units[k][1]
        heapq.heappush(ready[len(groups) if group is None else group], k)

    for k, count in enumerate(missing):
        if not count:
            offer(k)
    runs: list[Run] = []
    others = ready[-1]
    while any(ready):
        most = max(range(len(groups)), key=lambda g: len(ready[g]), default=0)
        turn = others if others and len(ready[most]) < FEWEST else ready[most]
        between: list[Node] = []
        while turn:
            k = heapq.heappop(turn)
            nodes, group = units[k]
            if group is None:
                between += nodes
            else:
                runs.append((nodes, group))
            for reader in readers[k]:
                missing[reader] -= 1
                if not missing[reader]:
                    offer(reader)
        if between:
            runs.append((between, None))
    if any(missing):
        raise InternalError("copies wait for each other")
    return runs
