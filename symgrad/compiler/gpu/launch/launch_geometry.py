"""Split a call on arrays into launches: contiguous axes are merged, and each launch covers two axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symgrad.compiler.lowering.strides import merged_axes

_THREADS_PER_BLOCK = 256
"""The number of threads of a block."""

_BLOCKS_PER_PROCESSOR = 32
"""The number of blocks for each multiprocessor, enough to keep it busy. In large arrays each thread computes several
points."""

_MAX_ROW_BLOCKS = 65_535
"""Maximum number of blocks along the second axis."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: rows of points.

    Args:
        points: the number of points of a row.
        rows: the number of rows.
        offsets: the offset of the first element of every argument, in elements.
        along: the stride of every argument along a row.
        across: the stride of every argument from row to row.
    """

    points: int
    rows: int
    offsets: tuple[int, ...]
    along: tuple[int, ...]
    across: tuple[int, ...]

    @property
    def contiguous(self) -> bool:
        return self.rows == 1 and all(step == 1 for step in self.along)


def split_launches(shape: Sequence[int], steps: Sequence[Sequence[int]]) -> Iterator[Launch]:
    """Yield the launches that compute all points of a shape.

    Args:
        shape: the shape of the results.
        steps: the strides of every argument, in elements.

    Example:
        >>> [(one.points, one.rows) for one in split_launches((3, 4, 5), [(20, 5, 1), (20, 5, 1)])]
        [(60, 1)]
        >>> [(one.points, one.rows, one.offsets) for one in split_launches((3, 4), [(0, 1), (4, 1)])]
        [(4, 3, (0, 0))]
    """
    count = len(steps)
    axes = merged_axes(shape, steps)
    points, along = axes.pop() if axes else (1, (1,) * count)
    # The second axis is the longest of the remaining ones, so that there are few launches.
    longest = max(range(len(axes)), key=lambda k: axes[k][0], default=None)
    rows, across = (1, (0,) * count) if longest is None else axes.pop(longest)
    for place in itertools.product(*(range(n) for n, _ in axes)):
        offsets = tuple(
            sum(i * own[a] for i, (_, own) in zip(place, axes, strict=True)) for a in range(count)
        )
        yield Launch(points, rows, offsets, along, across)


def grid_size(points: int, rows: int, processors: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the number of blocks of a launch along both axes, and the number of threads of a block.

    Example:
        >>> grid_size(10**8, 1, 100), grid_size(3, 1000, 100)
        (((3200, 1), (256, 1)), ((1, 16), (4, 64)))
    """
    wide = min(_THREADS_PER_BLOCK, 1 << max(points - 1, 0).bit_length())
    high = 1 if rows == 1 else _THREADS_PER_BLOCK // wide
    most = processors * _BLOCKS_PER_PROCESSOR
    blocks = max(min(math.ceil(points / wide), most), 1), max(min(math.ceil(rows / high), _MAX_ROW_BLOCKS), 1)
    return blocks, (wide, high)
