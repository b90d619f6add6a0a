"""PyTorch: its autograd, operation by operation on all points at once.

`torch.func`'s `jacrev`, `jacfwd` and `grad`, vmapped over the points, and its `grad_and_value` of arrays, do the same
operations with more of Python around them: they take 1.2 to 4 times as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any, TypeAlias

from benchmarks.scoreboard.peers import Bind, Run
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

__all__ = ["FUNCTIONS", "by", "prepare", "torch"]

Function: TypeAlias = "Callable[..., list[Any]]"

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


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    return by(lambda function, _: function, workload, threads)


def by(
    made: Callable[[Function, Sequence[Any]], Function], workload: Pointwise | Program, threads: int
) -> Bind:
    """Return a kernel made from the function of tensors that computes the workload, and from its arguments."""
    torch.set_num_threads(threads)
    if isinstance(workload, Program):
        names = list(workload.arrays())
        where = [names.index(n) for n in workload.wrt]
        function = _program(workload, where)
    else:
        where = list(workload.wrt)
        function = _pointwise(workload)

    def bind(inputs: Any) -> Run:
        arrays = inputs.values() if isinstance(inputs, dict) else inputs
        given = [torch.tensor(a) for a in arrays]
        for k in where:
            given[k].requires_grad_()
        called = made(function, given)
        # Some of the outputs may be constant, and one number for all points.
        size = None if isinstance(inputs, dict) else (inputs.shape[1],)
        return Run(
            lambda: called(*given),
            lambda found: [(v if size is None else v.expand(size)).detach().numpy() for v in found],
        )

    return bind


def _pointwise(workload: Pointwise) -> Function:
    below = {(f, index[:-1]) for f, index in workload.outputs if index}

    def everything(*xs: Any) -> list[Any]:
        wrt = [xs[k] for k in workload.wrt]
        known: dict[Any, Any] = {(f, ()): v for f, v in enumerate(workload.formula(FUNCTIONS, *xs))}
        for f, index in workload.outputs:
            if (f, index) in below:
                slopes = torch.autograd.grad(
                    known[f, index].sum(),
                    wrt,
                    create_graph=len(index) < workload.order - 1,
                    retain_graph=True,
                    allow_unused=True,
                    materialize_grads=True,
                )
                for i in range(index[-1] if index else 0, len(wrt)):
                    known[f, (*index, i)] = slopes[i]
        return [known[key].detach() for key in workload.outputs]

    return everything


def _program(workload: Program, where: list[int]) -> Function:
    def everything(*arrays: Any) -> list[Any]:
        loss = workload.loss(FUNCTIONS, *arrays)
        return [loss.detach(), *torch.autograd.grad(loss, [arrays[k] for k in where])]

    return everything
