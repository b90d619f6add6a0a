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
    # it is four times as fast for that (W4, W5, PBE). With few arrays it asks whether they do, and a loop that is
    # started in no other way is a tenth faster (W1).
    parallel = threads > 1 or not _by_hand(workload)
    loop = _loop(workload, numba.njit(**options, parallel=parallel), numba.njit(**options))

    def bind(inputs: Any) -> Run:
        shape = (len(workload.outputs), inputs.shape[1])
        columns, own = [x.copy() for x in inputs], list(np.empty(shape))

        def to(out: list[Any]) -> list[Any]:
            loop(*columns, *out)
            return out

        return Run(lambda: to(list(np.empty(shape))), lambda found: found, lambda: to(own))

    return bind


def _by_hand(workload: Pointwise) -> bool:
    return workload.by_hand is not None and len(workload.inputs) == 2


def _loop(workload: Pointwise, compiled: Any, compiled_point: Any) -> Any:
    xs = [f"x{k}" for k in range(len(workload.inputs))]
    outs = [f"o{k}" for k in range(len(workload.outputs))]
    space: dict[str, Any] = {f: getattr(math, f) for f in FUNCTIONS}
    space["prange"] = numba.prange
    if _by_hand(workload):
        space["point"] = compiled_point(workload.by_hand)
        body = [f"{', '.join(f'{o}[i]' for o in outs)} = point({', '.join(f'{x}[i]' for x in xs)})"]
    else:
        tape, outputs = workload.taped()
        lines, names = tape.source(outputs)
        if len(lines) > LONGEST:
            raise UnableError(f"too long: {len(lines):,} lines of Python")
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
