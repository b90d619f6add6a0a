"""The order of equations in one function: what the longest chain waits for comes first.

A code generator keeps more or less the order in which it is given the equations. In the order in which a walk from the
outputs finds them, each follows what it has just been waiting for, and the processor idles; all that could be computed
at once would not fit into the registers. So next is, of the equations whose operands are there, one that needs no
register more than it frees if there is any, and of these the one with the longest chain behind it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Sequence

from symgrad.ir.graph import Node

__all__ = ["by_urgency"]


def by_urgency(
    equations: Sequence[Node], outputs: Collection[Node], cycles: Callable[[Node], float]
) -> list[Node]:
    """Return equations in an order in which they can be computed.

    Args:
        equations: each after what it reads; what they read beside each other (inputs, constants) is there.
        outputs: those whose values are stored, and so free their register.
        cycles: how long a processor waits for the result of an equation.
    """
    place = {n: i for i, n in enumerate(equations)}
    reads = [{place[a] for a in n.args if a in place} for n in equations]
    readers: list[list[int]] = [[] for _ in equations]
    for i, operands in enumerate(reads):
        for k in operands:
            readers[k].append(i)
    behind = [0.0] * len(equations)
    for i in range(len(equations) - 1, -1, -1):
        behind[i] = cycles(equations[i]) + max((behind[r] for r in readers[i]), default=0.0)
    missing = [len(operands) for operands in reads]
    left = [len(r) for r in readers]
    last_for: list[int] = [sum(left[k] == 1 for k in operands) for operands in reads]
    stays = [bool(r) or n not in outputs for r, n in zip(readers, equations, strict=True)]
    done: list[int] = []
    computed = [False] * len(equations)
    newest = [-1] * len(equations)
    ready: list[tuple[bool, float, int, int]] = []

    def offer(i: int) -> None:
        heapq.heappush(ready, (last_for[i] < stays[i], -behind[i], -newest[i], i))

    for i, count in enumerate(missing):
        if not count:
            offer(i)
    while ready:
        costs, _, _, i = heapq.heappop(ready)
        if computed[i] or costs != (last_for[i] < stays[i]):
            continue  # offered again since, under better terms
        computed[i] = True
        time = len(done)
        done.append(i)
        for r in readers[i]:
            missing[r] -= 1
            newest[r] = time
            if not missing[r]:
                offer(r)
        for k in reads[i]:
            left[k] -= 1
            if left[k] == 1:
                (r,) = (r for r in readers[k] if not computed[r])
                last_for[r] += 1
                if not missing[r]:
                    offer(r)
    return [equations[i] for i in done]
