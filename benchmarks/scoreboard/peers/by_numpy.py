"""NumPy by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError, rows
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program
from benchmarks.scoreboard.tape import FUNCTIONS


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    if isinstance(workload, Program):
        return lambda arrays: Run(lambda: workload.by_hand(*arrays.values()), lambda found: found)
    function = workload.by_hand or written_out(workload)
    return lambda inputs: Run(lambda: function(*inputs), lambda found: rows(found, inputs.shape[1]))


def written_out(workload: Pointwise) -> Callable[..., Any]:
    tape, outputs = workload.taped()
    lines, names = tape.source(outputs)
    if len(lines) > 50_000:
        raise UnableError(f"too long: {len(lines):,} lines of Python")
    arguments = ", ".join(f"x{k}" for k in range(len(workload.inputs)))
    space: dict[str, Any] = {f: getattr(np, f) for f in FUNCTIONS}
    exec("\n    ".join([f"def function({arguments}):", *lines, f"return {', '.join(names)},"]), space)
    return space["function"]
