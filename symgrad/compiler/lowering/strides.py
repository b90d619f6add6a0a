"""Axes of loops over strided arrays: neighbours are merged, and one becomes the innermost loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

StridedAxis: TypeAlias = "tuple[int, tuple[int, ...]]"
"""The length of an axis, and the stride of every array along it."""

_LONG = 64
"""If the last axis has at least this many elements, the loop runs along it; otherwise along the longest axis."""


def merged_axes(lengths: Sequence[int], ways: Sequence[Sequence[int]]) -> list[StridedAxis]:
    """Merge adjacent axes if in every array a single stride steps through both; leave out axes of length 1.

    Args:
        lengths: the lengths of the axes that the arrays share.
        ways: the strides of every array.

    Returns:
        The length of each axis, and the stride of every array.
    """
    axes: list[StridedAxis] = []
    for k, n in enumerate(lengths):
        if n == 1:
            continue
        own = tuple(way[k] for way in ways)
        if axes and all(a == b * n for a, b in zip(axes[-1][1], own, strict=True)):
            axes[-1] = axes[-1][0] * n, own
        else:
            axes.append((n, own))
    return axes


def loop_axes(lengths: Sequence[int], ways: Sequence[Sequence[int]]) -> tuple[StridedAxis, list[StridedAxis]]:
    """Return the axis along which a loop runs, and the axes around it; the arguments are those of `merged_axes`."""
    axes = merged_axes(lengths, ways)
    inner = len(axes) - 1
    if axes and axes[inner][0] < _LONG:
        inner = max(range(len(axes)), key=lambda k: axes[k][0])
    return axes.pop(inner) if axes else (1, (0,) * len(ways)), axes
