"""symjit: SymPy's derivatives, compiled by its own code generator."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.scoreboard.peers import Bind, Run, rows
from benchmarks.scoreboard.peers.by_sympy import derived
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

symjit: Any = import_module("symjit")


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    xs, outputs = derived(workload)
    function = symjit.compile_func(xs, outputs)
    return lambda inputs: Run(lambda: function(*inputs), lambda found: rows(found, inputs.shape[1]))
