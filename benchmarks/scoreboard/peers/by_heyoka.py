"""heyoka: `diff_tensors` and `cfunc`."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

hy: Any = import_module("heyoka")
# Its way for long programs: functions instead of one basic block that LLVM takes quadratic time for.
LONG = 10_000


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:
    if isinstance(workload, Program):
        raise UnableError("its expressions are of numbers, so each entry would be a variable")
    hy.set_nthreads(threads)
    functions = SimpleNamespace(
        **{f: getattr(hy, f) for f in ("sin", "cos", "exp", "log", "log1p", "tanh", "sqrt")},
        number=lambda text: float(Fraction(text)),
        power=lambda x, p: x**p,
        pi=math.pi,
        log_2=math.log(2),
    )
    xs = hy.make_vars(*workload.inputs)
    wrt = [xs[k] for k in workload.wrt]
    values = workload.formula(functions, *xs)
    tensors = hy.diff_tensors(values, diff_args=wrt, diff_order=workload.order)
    outputs = [tensors[[f, *(index.count(v) for v in range(len(wrt)))]] for f, index in workload.outputs]
    kernel = hy.cfunc(outputs, vars=xs, fast_math=variant == "fast", compact_mode=workload.operations > LONG)

    def bind(inputs: Any) -> Run:
        out = np.empty((len(outputs), inputs.shape[1]))
        return Run(lambda: kernel(inputs), lambda found: found, lambda: kernel(inputs, outputs=out))

    return bind
