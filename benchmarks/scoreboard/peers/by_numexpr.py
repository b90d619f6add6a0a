"""numexpr: each output as one expression, written out; it finds the parts that repeat by itself."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

numexpr: Any = import_module("numexpr")
LONGEST = 50_000


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    if isinstance(workload, Program):
        raise UnableError("no subscripts and no matrix products")
    numexpr.set_num_threads(threads)
    tape, outputs = workload.taped()
    lines, names = tape.source(outputs)
    written: dict[str, str] = {}
    for line in lines:
        name, _, text = line.partition(" = ")
        written[name] = "(" + re.sub(r"v\d+", lambda v: written[v[0]], text) + ")"
        if len(written[name]) > LONGEST:
            raise UnableError("an expression cannot name its shared parts, and is too long without names")
    signature = [(f"x{k}", np.float64) for k in range(len(workload.inputs))]
    made: list[tuple[Any, list[int]]] = []
    for n in names:
        text = written.get(n, n)
        used = [k for k, (x, _) in enumerate(signature) if re.search(rf"\b{x}\b", text)]
        made.append((numexpr.NumExpr(text, [signature[k] for k in used]) if used else float(text), used))

    def bind(inputs: Any) -> Run:
        shape = (len(made), inputs.shape[1])
        own = np.empty(shape)

        def to(out: Any) -> Any:
            for (function, used), o in zip(made, out, strict=True):
                if used:
                    function(*[inputs[k] for k in used], out=o, order="K", casting="safe", ex_uses_vml=False)
                else:
                    o[:] = function
            return out

        return Run(lambda: to(np.empty(shape)), lambda found: found, lambda: to(own))

    return bind
