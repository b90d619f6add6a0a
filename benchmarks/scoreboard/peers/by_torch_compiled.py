"""PyTorch: gradients of arrays by `torch.func`, formulas by the operations of autograd; under `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from benchmarks.scoreboard.peers import Bind, Run
from benchmarks.scoreboard.peers.by_torch import FUNCTIONS, by, torch
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

make_fx: Any = import_module("torch.fx.experimental.proxy_tensor").make_fx


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    return _program(workload, threads) if isinstance(workload, Program) else by(_compiled, workload, threads)


def _program(workload: Program, threads: int) -> Bind:
    torch.set_num_threads(threads)
    names = list(workload.arrays())
    where = tuple(names.index(n) for n in workload.wrt)

    def loss(*arrays: Any) -> Any:
        return workload.loss(FUNCTIONS, *arrays)

    function = torch.compile(torch.func.grad_and_value(loss, argnums=where), fullgraph=True, dynamic=False)

    def bind(arrays: Any) -> Run:
        given = [torch.tensor(a) for a in arrays.values()]
        return Run(
            lambda: function(*given), lambda found: [v.detach().numpy() for v in (found[1], *found[0])]
        )

    return bind


def _compiled(function: Callable[..., list[Any]], given: Sequence[Any]) -> Callable[..., list[Any]]:
    """Return what computes the same, for tensors of these shapes.

    What it compiles is a subset of Python, without much of what workloads are written in: so it is given the
    operations themselves, as they are carried out. Of `torch.func.jacfwd` and `jacrev`, vmapped over the points, it
    makes code that is four to ten times as slow.
    """
    operations = make_fx(function)(*given)
    return torch.no_grad()(torch.compile(operations, fullgraph=True, dynamic=False))
