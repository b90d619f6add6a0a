"""Find repetition in large graphs: groups of equal equations with different operands.

A sum of a thousand equal terms, the pairs of an N-body energy, an unrolled time stepper have many copies of one
subgraph. In a group of copies, row t of every copy has the same op. The operands of row t are the same rows of its own
copy in every copy, or come from outside. `schedule` makes a chunk of every copy, and the code generator makes one loop
of every group.

Equations whose operands look alike to some depth get the same colour (the refinement of Weisfeiler and Leman, 1968,
towards operands only). The equations of a colour are the seeds of copies
(`compiler/lowering/elementwise/loop_rerolling.py`). Among a few colours, the one whose copies have most equations
becomes a group; then the search goes on with the other equations.

The cost is one pass over the equations in Python and a few over arrays
(`compiler/lowering/elementwise/isomorphic_nodes.py`); the search stops there if less than a quarter of the equations
look alike.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from symgrad.compiler.lowering.elementwise.isomorphic_nodes import Bools, Ints, NumberedGraph
from symgrad.compiler.lowering.elementwise.loop_rerolling import FEWEST, LEAST, PART, Group, Growth
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node
from symgrad.support.progress import reports_progress

__all__ = ["FEWEST", "SMALL", "Copies", "repetitions"]

Copies = list[tuple[Node, ...]]
"""The copies of one group, in an order in which they can be computed; their rows correspond."""

SMALL = 2000
"""Graphs with fewer equations than this are not searched: their code compiles fast, and fits in the instruction
cache."""

_GROUPS, _BEST_OF, _VAIN = 6, 3, 6
"""The most groups of a graph; the number of candidates of which the largest becomes a group; the most failed
colours."""

_LEAST_SIZE = 4
"""The smallest formula, in equations, whose similarity to others is no coincidence."""


@gc_paused()
def repetitions(
    nodes: Sequence[Node], outputs: Sequence[Node], fusable: Collection[Node] = ()
) -> list[Copies]:
    """Find the groups of copies of a graph that are worth a loop.

    Args:
        nodes: symbols and equations, arguments first; all other operands are constants.
        outputs: the outputs; equal rows of copies are either all outputs or all not.
        fusable: nodes that may become fused multiply-adds; equal rows of copies are either all fusable or all not.

    Returns:
        The groups; no equation is in two groups. All copies and other equations have a common order in which operands
        come before their readers.
    """
    if len(nodes) < SMALL:
        return []
    graph = NumberedGraph(nodes, outputs, fusable)
    colours, sizes = graph.colours()
    alike = (np.bincount(colours)[colours] >= FEWEST) & (sizes >= _LEAST_SIZE)
    if 4 * int(alike.sum()) < int((~graph.leaf[:-1]).sum()):
        return []
    graph.link()
    growth = Growth(graph)
    found: list[Copies] = []
    vain: list[Ints] = []
    with reports_progress("lower", "looking for repetition"):
        while len(found) < _GROUPS:
            group = _largest(growth, colours, sizes, vain)
            if group is None:
                break
            growth.take(group)
            columns = [[nodes[int(i)] for i in row] for row in group.rows]
            found.append(list(zip(*columns, strict=True)))
    return found


def _largest(growth: Growth, colours: Ints, sizes: Ints, vain: list[Ints]) -> Group | None:
    """Return the largest of a few groups; add failed seeds to `vain`."""
    best: Group | None = None
    seen: Bools = growth.taken[:-1].copy()
    for seeds in vain:
        seen[seeds] = True
    good = 0
    while good < _BEST_OF and len(vain) < _VAIN:
        seeds = _seeds(np.flatnonzero(~seen), colours, sizes)
        if seeds is None:
            break
        seen[seeds] = True
        group = growth.grown(seeds)
        if group is None:
            vain.append(seeds)
            continue
        good += 1
        for row in group.rows:
            seen[row] = True
        if best is None or group.size > best.size:
            best = group
        if 2 * best.size > growth.graph.n:
            break  # no larger group is left
    return best


def _seeds(free: Ints, colours: Ints, sizes: Ints) -> Ints | None:
    """Return the equations of the colour with the largest total size of formulas; None if it is too small."""
    if not len(free):
        return None
    worth = np.bincount(colours[free], sizes[free])
    worth[np.bincount(colours[free]) < FEWEST] = 0
    best = int(np.argmax(worth))
    return free[colours[free] == best] if worth[best] >= max(LEAST, len(colours) // PART) else None
