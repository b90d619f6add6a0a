"""Numba: one loop over the points, its body written by hand or by reverse accumulation."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program
from benchmarks.scoreboard.tape import FUNCTIONS

numba: Any = import_module("numba")
LONGEST = 20_000


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:
    if "svml" in variant and not numba.config.USING_SVML:
        raise UnableError(
            "SVML is not in use (`numba -s` says why): it needs icc-rt and an llvmlite built for it"
        )
    options = {"error_model": "numpy", "fastmath": "fast" in variant}
    if isinstance(workload, Program):
        return _program(workload, numba.njit(**options, parallel=threads > 1))
    # Also for one thread: in the body of a parallel loop, LLVM knows that arrays do not overlap, and uses vectors where
    # it is four times as fast for that (W4, W5, PBE).
    loop = _loop(workload, numba.njit(**options, parallel=True), numba.njit(**options))

    def bind(inputs: Any) -> Run:
        out = list(np.empty((len(workload.outputs), inputs.shape[1])))
        given = [x.copy() for x in inputs]
        return Run(lambda: loop(*given, *out), lambda _: out)

    return bind


def _loop(workload: Pointwise, compiled: Any, compiled_point: Any) -> Any:
    xs = [f"x{k}" for k in range(len(workload.inputs))]
    outs = [f"o{k}" for k in range(len(workload.outputs))]
    space: dict[str, Any] = {f: getattr(math, f) for f in FUNCTIONS}
    space["prange"] = numba.prange
    if workload.by_hand and len(workload.inputs) == 2:
        space["point"] = compiled_point(workload.by_hand)
        body = [f"{', '.join(f'{o}[i]' for o in outs)} = point({', '.join(f'{x}[i]' for x in xs)})"]
    else:
        tape, outputs = workload.taped()
        lines, names = tape.source(outputs)
        if len(lines) > LONGEST:
            raise UnableError(f"{len(lines):,} lines of Python")
        body = [
            *(f"{x} = a{x}[i]" for x in xs),
            *lines,
            *(f"{o}[i] = {n}" for o, n in zip(outs, names, strict=True)),
        ]
        xs = [f"a{x}" for x in xs]
    head = [f"def loop({', '.join([*xs, *outs])}):", f"    for i in prange(len({xs[0]})):"]
    exec("\n".join([*head, *(f"        {line}" for line in body)]), space)
    return compiled(space["loop"])


def _program(workload: Program, compiled: Any) -> Bind:
    function = compiled(workload.by_hand)
    try:
        function(*workload.arrays().values())
    except numba.core.errors.NumbaError as error:
        lines = [line.strip() for line in str(error).split("\n")]
        why = next(
            (line for line in lines if line.startswith(("No implementation", "Unknown", "Untyped"))), lines[0]
        )
        raise UnableError(f"it does not compile the NumPy code: {why}") from None
    return lambda arrays: Run(lambda: function(*arrays.values()), lambda found: found)
