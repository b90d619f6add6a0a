"""PyTorch: the operations that its autograd does, compiled by `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from benchmarks.scoreboard.peers import Bind
from benchmarks.scoreboard.peers.by_torch import by, torch
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

make_fx: Any = import_module("torch.fx.experimental.proxy_tensor").make_fx
# What it imports when it is first needed, and finds out about processor and compiler, is not a part of compiling.
torch.compile(torch.sin)(torch.zeros(8))


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001
    return by(_compiled, workload, threads)


def _compiled(function: Callable[..., list[Any]], given: Sequence[Any]) -> Callable[..., list[Any]]:
    """Return what computes the same, for tensors of these shapes.

    What it compiles is a subset of Python, without much of what workloads are written in: so it is given the
    operations themselves, as they are carried out.
    """
    operations = make_fx(function)(*given)
    return torch.no_grad()(torch.compile(operations, fullgraph=True, dynamic=False))
