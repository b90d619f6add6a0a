"""PyTorch: its autograd, operation by operation on all points at once."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from benchmarks.scoreboard.peers import Bind, Run, rows
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

torch: Any = import_module("torch")
FUNCTIONS = SimpleNamespace(
    **{
        f: getattr(torch, f)
        for f in ("sin", "cos", "exp", "log", "log1p", "tanh", "sqrt", "arange", "einsum")
    },
    number=lambda text: float(Fraction(text)),
    power=lambda x, p: x**p,
    pi=math.pi,
    log_2=math.log(2),
    logsumexp=torch.logsumexp,
    concatenate=torch.cat,
    zeros=lambda shape: torch.zeros(shape, dtype=torch.float64),
)


def prepare(workload: Pointwise | Program, variant: str) -> Bind:  # noqa: ARG001
    torch.set_num_threads(1)
    return _program(workload) if isinstance(workload, Program) else _pointwise(workload)


def _pointwise(workload: Pointwise) -> Bind:
    def bind(inputs: Any) -> Run:
        xs = [torch.tensor(x) for x in inputs]
        wrt = [xs[k].requires_grad_() for k in workload.wrt]
        below = {key for f, index in workload.outputs if index for key in [(f, index[:-1])]}

        def call() -> list[Any]:
            known: dict[Any, Any] = {(f, ()): v for f, v in enumerate(workload.formula(FUNCTIONS, *xs))}
            slopes: dict[Any, Any] = {}
            for f, index in workload.outputs:
                if (f, index) in below:
                    last = len(index) == workload.order - 1
                    slopes[f, index] = torch.autograd.grad(
                        known[f, index].sum(),
                        wrt,
                        create_graph=not last,
                        retain_graph=True,
                        allow_unused=True,
                        materialize_grads=True,
                    )
                    for i in range(index[-1] if index else 0, len(wrt)):
                        known[f, (*index, i)] = slopes[f, index][i]
            return [known[key].detach() for key in workload.outputs]

        return Run(call, lambda found: rows(found, inputs.shape[1]))

    return bind


def _program(workload: Program) -> Bind:
    def bind(arrays: Any) -> Run:
        given = {n: torch.tensor(a) for n, a in arrays.items()}
        wrt = [given[n].requires_grad_() for n in workload.wrt]

        def call() -> list[Any]:
            loss = workload.loss(FUNCTIONS, *given.values())
            return [loss.detach(), *torch.autograd.grad(loss, wrt)]

        return Run(call, lambda found: [v.numpy() for v in found])

    return bind
