"""All workloads by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.scoreboard.pointwise import POINTWISE, Pointwise
from benchmarks.scoreboard.programs import PROGRAMS, Program

__all__ = ["LESS", "LONG", "WORKLOADS", "inputs_of", "sizes_of"]

WORKLOADS: Mapping[str, Pointwise | Program] = {**POINTWISE, **PROGRAMS}
# Only with --full: compiling them is what takes the time.
LONG = ("W4-10k", "W4-100k", "PBE-4")
# What takes a peer less time than another workload.
LESS = {"W4-10k": "W4", "W4-100k": "W4-10k", "PBE-2": "PBE-1", "PBE-3": "PBE-2", "PBE-4": "PBE-3"}


def inputs_of(workload: Pointwise | Program, points: int) -> Any:
    return workload.inputs_at(points) if isinstance(workload, Pointwise) else workload.arrays()


def sizes_of(workload: Pointwise | Program, quick: bool) -> tuple[int, ...]:
    """Return the numbers of points it is measured at; an array program is one point."""
    if isinstance(workload, Program):
        return (1,)
    return (min(1_000, *workload.points),) if quick else workload.points
