"""CasADi: scalar expressions, mapped over the points; its virtual machine, or the C code it writes."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import PROGRAMS, Program

ca: Any = import_module("casadi")


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:
    options: dict[str, Any] = {}
    if variant == "c":
        compiler = shutil.which("cc")
        if compiler is None:
            raise UnableError("there is no C compiler")
        flags = ["-O3", "-march=native"]
        options = {"jit": True, "compiler": "shell", "jit_options": {"compiler": compiler, "flags": flags}}
    if isinstance(workload, Program):
        return _program(workload, options)
    functions = SimpleNamespace(
        **{f: getattr(ca, f) for f in ("sin", "cos", "exp", "log", "log1p", "tanh", "sqrt")},
        number=lambda text: float(Fraction(text)),
        power=lambda x, p: x**p,
        pi=math.pi,
        log_2=math.log(2),
    )
    xs = ca.SX.sym("x", len(workload.inputs))
    wrt = ca.vertcat(*[xs[k] for k in workload.wrt])
    known: dict[Any, Any] = {(f, ()): v for f, v in enumerate(workload.formula(functions, *ca.vertsplit(xs)))}
    slopes: dict[Any, Any] = {}
    for f, index in workload.outputs[1:]:
        if index:
            below = (f, index[:-1])
            if below not in slopes:
                slopes[below] = ca.vertsplit(ca.gradient(known[below], wrt))
            known[f, index] = slopes[below][index[-1]]
    outputs = ca.cse([ca.vertcat(*[known[key] for key in workload.outputs])])
    point = ca.Function("point", [xs], outputs, options)

    def bind(inputs: Any) -> Run:
        points = inputs.shape[1]
        mapped = point.map(points, "thread", threads) if threads > 1 else point.map(points)
        given = np.ascontiguousarray(inputs.T)
        return _buffered(mapped, [given], [(points, len(workload.outputs))], lambda out: out[0].T)

    return bind


def _program(workload: Program, options: Any) -> Bind:
    arrays = workload.arrays()
    if workload is PROGRAMS["Rosenbrock"]:
        given = [ca.SX.sym("x", 1_000)]
        x = given[0]
        loss = ca.sum1(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
        outputs = [loss, ca.gradient(loss, x)]
    elif workload is PROGRAMS["least squares"]:
        given = [ca.MX.sym(n, *a.shape) for n, a in arrays.items()]
        X, w, y = given
        r = ca.mtimes(X, w) - y
        loss = ca.dot(r, r) / r.shape[0]
        outputs = [loss, ca.gradient(loss, w)]
    else:
        raise UnableError("no logsumexp along an axis and no index arrays")
    kernel = ca.Function("kernel", given, outputs, options)

    def bind(arrays: Any) -> Run:
        columns = [np.asfortranarray(a).T for a in arrays.values()]
        return _buffered(kernel, columns, [(o.shape[0],) for o in outputs], lambda out: [out[0][0], out[1]])

    return bind


def _buffered(function: Any, arguments: list[Any], shapes: list[tuple[int, ...]], outputs: Any) -> Run:
    """Its way without copies: it is told where arrays are, which it does not hold, and then to compute."""

    def told() -> tuple[Any, Callable[[], None]]:
        buffer, compute = function.buffer()
        for k, array in enumerate(arguments):
            buffer.set_arg(k, memoryview(array))
        return buffer, compute

    def into_new(buffer: Any) -> list[Any]:
        made: list[Any] = [np.empty(shape) for shape in shapes]
        for k, array in enumerate(made):
            buffer.set_res(k, memoryview(array))
        return made

    (buffer, compute), (own_buffer, compute_own) = told(), told()
    own = into_new(own_buffer)

    def fresh() -> list[Any]:
        made = into_new(buffer)
        compute()
        return made

    def given(held: Any = (function, arguments, own_buffer)) -> list[Any]:  # noqa: ARG001  (keeps them alive)
        compute_own()
        return own

    return Run(fresh, outputs, given)
