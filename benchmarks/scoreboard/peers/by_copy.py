"""As many bytes as a workload reads and writes, copied: the least time its memory takes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError, pieces, side_by_side
from benchmarks.scoreboard.pointwise import POINTWISE, Pointwise
from benchmarks.scoreboard.programs import Program


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    if workload is not POINTWISE["W1"]:
        raise UnableError("only where memory may be the limit: as many arrays are read as are written")

    def bind(inputs: Any) -> Run:
        columns = [x.copy() for x in inputs]
        own = [np.empty_like(x) for x in columns]
        into: list[Any] = []

        def copied(part: slice) -> None:
            for x, o in zip(columns, into, strict=True):
                np.copyto(o[part], x[part])

        everything = side_by_side([partial(copied, part) for part in pieces(inputs.shape[1], threads)])

        def to(made: list[Any]) -> list[Any]:
            into[:] = made
            everything()
            into.clear()
            return made

        return Run(lambda: to([np.empty_like(x) for x in columns]), lambda _: (), lambda: to(own))

    return bind
