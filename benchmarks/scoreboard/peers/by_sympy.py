"""SymPy: every partial by `diff` from the one of an order less, then `lambdify` with common parts shared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy

from benchmarks.scoreboard.peers import Bind, Run, UnableError, rows
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

__all__ = ["derived", "prepare"]

NAMESPACE = SimpleNamespace(
    **{f: getattr(sympy, f) for f in ("sin", "cos", "exp", "log", "tanh", "sqrt")},
    log1p=lambda x: sympy.log(1 + x),
    number=sympy.Rational,
    power=lambda x, p: x**p,
    pi=sympy.pi,
    log_2=sympy.log(2),
)


def derived(workload: Pointwise | Program) -> tuple[list[Any], list[Any]]:
    """Return the symbols and all outputs."""
    if isinstance(workload, Program):
        raise UnableError("its expressions are of numbers, so each entry would be a symbol")
    positive = {"u", "n_up", "n_dn", "sigma_uu", "sigma_dd"}
    xs = [
        sympy.Symbol(n, positive=True) if n in positive else sympy.Symbol(n, real=True)
        for n in workload.inputs
    ]
    known: dict[Any, Any] = dict(enumerate(workload.formula(NAMESPACE, *xs)))
    found: dict[Any, Any] = {}
    for f, index in workload.outputs:
        found[f, index] = found[f, index[:-1]].diff(xs[workload.wrt[index[-1]]]) if index else known[f]
    return xs, list(found.values())


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    xs, outputs = derived(workload)
    function = sympy.lambdify(xs, outputs, modules=[{"cbrt": np.cbrt}, "numpy"], cse=True)
    return lambda inputs: Run(lambda: function(*inputs), lambda found: rows(found, inputs.shape[1]))
