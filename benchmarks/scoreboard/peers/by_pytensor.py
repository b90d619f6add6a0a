"""PyTensor: `grad` of sums over the points, compiled in its default mode."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, rows
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

pytensor: Any = import_module("pytensor")
pt: Any = import_module("pytensor.tensor")
FUNCTIONS = SimpleNamespace(
    **{f: getattr(pt, f) for f in ("sin", "cos", "exp", "log", "log1p", "tanh", "sqrt", "arange", "einsum")},
    number=lambda text: float(Fraction(text)),
    power=lambda x, p: x**p,
    pi=math.pi,
    log_2=math.log(2),
    logsumexp=lambda z, axis: pt.logsumexp(z, axis=axis),
    concatenate=lambda parts, axis: pt.concatenate(parts, axis=axis),
    zeros=lambda shape: pt.zeros(shape, dtype="float64"),
)


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    if isinstance(workload, Program):
        return _program(workload)
    xs = [pt.dvector(n) for n in workload.inputs]
    wrt = [xs[k] for k in workload.wrt]
    known: dict[Any, Any] = {(f, ()): v for f, v in enumerate(workload.formula(FUNCTIONS, *xs))}
    slopes: dict[Any, Any] = {}
    for f, index in workload.outputs:
        if index:
            below = (f, index[:-1])
            if below not in slopes:
                slopes[below] = pt.grad(known[below].sum(), wrt, disconnected_inputs="ignore")
            known[f, index] = slopes[below][index[-1]]
    function = pytensor.function(
        xs, [pytensor.Out(known[key], borrow=True) for key in workload.outputs], on_unused_input="ignore"
    )
    function.trust_input = True

    def bind(inputs: Any) -> Run:
        given = [x.copy() for x in inputs]
        return Run(lambda: function(*given), lambda found: rows(found, inputs.shape[1]))

    return bind


def _program(workload: Program) -> Bind:
    arrays = workload.arrays()
    given = {
        n: pt.TensorType("int64" if a.dtype.kind == "i" else "float64", shape=a.shape)(n)
        for n, a in arrays.items()
    }
    loss = workload.loss(FUNCTIONS, *given.values())
    slopes = pt.grad(loss, [given[n] for n in workload.wrt])
    function = pytensor.function(list(given.values()), [loss, *slopes])
    function.trust_input = True
    return lambda arrays: Run(
        lambda: function(*arrays.values()), lambda found: [np.asarray(v) for v in found]
    )
