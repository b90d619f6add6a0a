"""Order the equations of one function: equations on the longest chain come first.

A code generator mostly keeps the order of its equations. In the order of a traversal from the outputs, each equation
follows the operand that was computed last, so the processor waits. If all equations whose operands are known came
first, their values would not fit into the registers. So among the equations whose operands are ready, the next one is
an equation that frees at least as many registers as it needs, if there is one. Among several such equations the one
with the longest chain of readers is next.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Sequence

from symgrad.ir.graph import Node


def by_urgency(
    equations: Sequence[Node], outputs: Collection[Node], cycles: Callable[[Node], float]
) -> list[Node]:
    """Return equations in an order in which they can be computed.

    Args:
        equations: the equations, each after its operands; all other operands (inputs, constants) are known.
        outputs: equations whose values are stored, which frees their registers.
        cycles: how long a processor waits for the result of an equation.
    """
    place = {n: i for i, n in enumerate(equations)}
    reads: list[list[int]] = []
    readers: list[list[int]] = [[] for _ in equations]
    for i, node in enumerate(equations):
        operands: list[int] = []
        for arg in node.args:
            k = place.get(arg)
            if k is not None and k not in operands:
                operands.append(k)
                readers[k].append(i)
        reads.append(operands)
    ahead = [0.0] * len(equations)  # minus the length of the longest chain to an end
    for i in range(len(equations) - 1, -1, -1):
        ahead[i] -= cycles(equations[i])
        for k in reads[i]:
            if ahead[i] < ahead[k]:
                ahead[k] = ahead[i]
    missing = [len(operands) for operands in reads]
    left = [len(r) for r in readers]
    last_for = [[left[k] for k in operands].count(1) for operands in reads]
    stays = [bool(r) or n not in outputs for r, n in zip(readers, equations, strict=True)]
    done: list[int] = []
    computed = [False] * len(equations)
    oldest = [1] * len(equations)  # minus the time of the newest operand
    ready: list[tuple[bool, float, int, int]] = []
    push, pop = heapq.heappush, heapq.heappop
    for i, count in enumerate(missing):
        if not count:
            push(ready, (last_for[i] < stays[i], ahead[i], oldest[i], i))
    while ready:
        costs, _, _, i = pop(ready)
        if computed[i] or costs != (last_for[i] < stays[i]):
            continue  # pushed again since then, with a better key
        computed[i] = True
        time = -len(done)
        done.append(i)
        for r in readers[i]:
            missing[r] -= 1
            oldest[r] = time
            if not missing[r]:
                push(ready, (last_for[r] < stays[r], ahead[r], time, r))
        for k in reads[i]:
            left[k] -= 1
            if left[k] == 1:
                (r,) = [r for r in readers[k] if not computed[r]]
                last_for[r] += 1
                if not missing[r]:
                    push(ready, (last_for[r] < stays[r], ahead[r], oldest[r], r))
    return [equations[i] for i in done]
