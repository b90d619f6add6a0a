"""CasADi: scalar expressions, mapped over the points; its virtual machine, or the C code it writes."""

from __future__ import annotations

import math
import shutil
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
        out = np.empty((points, len(workload.outputs)))
        buffer, trigger = mapped.buffer()
        buffer.set_arg(0, _bytes(given))
        buffer.set_res(0, _bytes(out))
        held = (mapped, buffer, given)
        return Run(trigger, lambda _, held=held: out.T)

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
        columns = [np.asfortranarray(a) for a in arrays.values()]
        out = [np.empty(o.shape[0]) for o in outputs]
        buffer, trigger = kernel.buffer()
        for k, a in enumerate(columns):
            buffer.set_arg(k, _bytes(a.T))
        for k, o in enumerate(out):
            buffer.set_res(k, _bytes(o))
        held = (buffer, columns)
        return Run(trigger, lambda _, held=held: [out[0][0], out[1]])

    return bind


def _bytes(array: Any) -> Any:
    return memoryview(array)
