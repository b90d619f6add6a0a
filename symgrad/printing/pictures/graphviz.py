"""Lay out the boxes of a picture with Graphviz's program `dot`, if it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from symgrad.printing.pictures.layout import Layout, Route

_POINTS = 72.0  # points per inch, the unit of dot
_SECONDS = 10.0
_GAP, _BETWEEN = 40.0, 26.0  # distance between rows, and between boxes in the same row
_DOT = "dot"


def place_by_dot(
    widths: Sequence[float], heights: Sequence[float], edges: Sequence[tuple[int, int]]
) -> Layout | None:
    """Lay out boxes as `place` does, with Graphviz; None if `dot` is not installed, or must not run.

    Only numbers are passed to `dot` and read from it, never the text of a program.

    Args:
        widths: the widths of the boxes, which are numbered such that every edge leads to a larger number.
        heights: the heights of the boxes.
        edges: pairs (source, target), without repetition.
    """
    program = shutil.which(_DOT)
    if program is None or not widths or Path(program).resolve().parent == Path.cwd():
        return None  # never run a program from the working directory, which Windows searches first
    lines = [
        f"digraph {{ graph [rankdir=TB, nodesep={_BETWEEN / _POINTS:.4f}, ranksep={_GAP / _POINTS:.4f}];",
        'node [shape=box, fixedsize=true, label=""]; edge [arrowhead=none, headport=n, tailport=s];',
    ]
    for k, (w, h) in enumerate(zip(widths, heights, strict=True)):
        lines.append(f"{k} [width={w / _POINTS:.4f}, height={h / _POINTS:.4f}];")
    lines += [f"{a} -> {b};" for a, b in edges] + ["}"]
    try:
        done = subprocess.run(
            [program, "-Tplain"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
        return _read(done.stdout, len(widths), edges)
    except (OSError, subprocess.SubprocessError, ValueError, LookupError):
        return None  # use the project's own layout instead


def _read(text: str, count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Parse the output of `dot -Tplain`: coordinates are in inches, from the bottom.

    Raises:
        ValueError, LookupError: if the text is not such output.
    """
    width = height = 0.0
    centres: dict[int, tuple[float, float]] = {}
    curves: dict[tuple[int, int], tuple[tuple[float, float], ...]] = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "graph":
            width, height = (_POINTS * float(w) for w in words[1:3])
        elif kind == "node":
            x, y = (_POINTS * float(w) for w in words[1:3])
            centres[int(words[0])] = (x, height - y)
        elif kind == "edge":
            source, target, points = (int(w) for w in words[:3])
            found = [_POINTS * float(w) for w in words[3 : 3 + 2 * points]]
            curves[source, target] = tuple(
                (x, height - y) for x, y in zip(found[::2], found[1::2], strict=True)
            )
    routes = [Route(curves[edge], cubic=True) for edge in edges]
    return Layout(tuple(centres[k] for k in range(count)), tuple(routes), width, height)
