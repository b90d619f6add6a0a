"""SymEngine: `diff` and `Lambdify`, compiled by LLVM with common parts shared."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

se: Any = import_module("symengine")


def number(text: str) -> Any:
    exact = Fraction(text)
    return se.Rational(exact.numerator, exact.denominator)


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    if isinstance(workload, Program):
        raise UnableError("its expressions are of numbers, so each entry would be a symbol")
    functions = SimpleNamespace(
        **{f: getattr(se, f) for f in ("sin", "cos", "exp", "log", "tanh", "sqrt")},
        log1p=lambda x: se.log(1 + x),
        number=number,
        power=lambda x, p: x**p,
        pi=se.pi,
        log_2=se.log(2),
    )
    xs = [se.Symbol(n) for n in workload.inputs]
    known = dict(enumerate(workload.formula(functions, *xs)))
    found: dict[Any, Any] = {}
    for f, index in workload.outputs:
        found[f, index] = found[f, index[:-1]].diff(xs[workload.wrt[index[-1]]]) if index else known[f]
    kernel = se.Lambdify(xs, list(found.values()), backend="llvm", cse=True)

    def bind(inputs: Any) -> Run:
        given = np.ascontiguousarray(inputs.T)
        out = np.empty((len(given), len(found)))
        return Run(
            lambda: kernel(given),
            lambda found: found.T,
            lambda: kernel(given, out=out),
        )

    return bind
