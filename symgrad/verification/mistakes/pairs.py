"""Find two mistakes such that the changes that they make to the right derivative add up to the claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from symgrad.verification.mistakes.limits import AGREE, PAIRS_FOUND
from symgrad.verification.mistakes.numbers import Array


def pairs_that_give(total: Array, deltas: Sequence[Array]) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions of vectors with a given sum, in the order of the first position.

    Project all vectors on one direction, sort them, and look up the complement of each (meet in the middle), which
    takes about as long as sorting.

    Example:
        >>> list(pairs_that_give(np.array([1.0, 5]), [np.array([1.0, 2]), np.array([3.0, 3]), np.array([0.0, 3])]))
        [(0, 2)]
    """
    scale = float(np.max(np.abs(total), initial=0))
    finite = [
        k
        for k, d in enumerate(deltas)
        if np.all(np.isfinite(d)) and np.max(np.abs(d), initial=0) > AGREE * scale
    ]
    if not finite or not scale:
        return
    rows = np.array([deltas[k] for k in finite])
    direction: Array = np.cos(np.arange(1.0, len(total) + 1))
    heights = rows @ direction
    order = np.argsort(heights)
    wanted = total @ direction - heights
    slack = AGREE * (np.abs(rows).sum(axis=1) + np.abs(total).sum())
    ends: list[Array] = [np.searchsorted(heights[order], wanted + s) for s in (-slack, slack)]
    low, high = ends
    count = 0
    for i in range(len(finite)):
        for j in sorted(order[low[i] : high[i]]):
            if j <= i:
                continue
            gap = np.abs(rows[i] + rows[j] - total)
            if np.all(gap <= AGREE * (np.abs(rows[i]) + np.abs(rows[j]) + np.abs(total))):
                yield finite[i], finite[int(j)]
                count += 1
                if count == PAIRS_FOUND:
                    return
