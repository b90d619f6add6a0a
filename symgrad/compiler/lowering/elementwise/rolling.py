"""Repetition in large graphs: equations that stand there again and again on other operands.

A sum of a thousand equal terms, the pairs of an N-body energy, an unrolled time stepper have many copies of one piece
of graph. Found are groups of copies: row t of every copy has the same op, and its operands are the same rows of its own
copy or come from outside. `schedule` makes a chunk of every copy, and the code generator one loop of every group.

How: equations whose operands look alike to some depth have one colour (the refinement of Weisfeiler and Leman,
1968, downwards alone). The equations of a colour are the seeds of copies
(`compiler/lowering/elementwise/loop_rerolling.py`). Of a few colours the one whose copies have most equations is
taken, then the next of what is left.

The cost is one pass over the equations in Python and a few over arrays
(`compiler/lowering/elementwise/isomorphic_nodes.py`); graphs of which less than a quarter looks alike end there.
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
"""Equations: the code of smaller graphs is soon compiled, and stays in the cache of instructions."""

_GROUPS, _BEST_OF, _VAIN = 6, 3, 6
"""Groups of a graph; of how many each is the largest; colours that may be tried in vain."""

_LEAST_SIZE = 4
"""Equations of a formula that looks like others by more than chance."""


@gc_paused()
def repetitions(
    nodes: Sequence[Node], outputs: Sequence[Node], fusable: Collection[Node] = ()
) -> list[Copies]:
    """Find the groups of copies of a graph that are worth a loop.

    Args:
        nodes: symbols and equations, arguments first; what else equations read is constant.
        outputs: what is asked for: copies are alike in what of them is.
        fusable: nodes that may be rounded once together: copies are alike in them too.

    Returns:
        The groups; no equation is in two. There is an order of all copies and of what is in none, in which everything
        is there when it is read.
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
    """Return the largest of a few groups; note what has been tried in vain."""
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
            break  # nothing larger is left
    return best


def _seeds(free: Ints, colours: Ints, sizes: Ints) -> Ints | None:
    """Return the equations of the colour that promises most: many, of a large formula."""
    if not len(free):
        return None
    worth = np.bincount(colours[free], sizes[free])
    worth[np.bincount(colours[free]) < FEWEST] = 0
    best = int(np.argmax(worth))
    return free[colours[free] == best] if worth[best] >= max(LEAST, len(colours) // PART) else None
