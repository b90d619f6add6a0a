"""jax: `grad` of sums over the points, under `jit`."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.scoreboard.peers import Bind, Run
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program

FUNCTIONS = SimpleNamespace(
    **{f: getattr(jnp, f) for f in ("sin", "cos", "exp", "log", "log1p", "tanh", "sqrt", "arange", "zeros")},
    number=lambda text: float(Fraction(text)),
    power=lambda x, p: x**p,
    pi=math.pi,
    log_2=math.log(2),
    logsumexp=lambda z, axis: jax.nn.logsumexp(z, axis=axis),
    concatenate=jnp.concatenate,
    einsum=jnp.einsum,
)


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001
    if isinstance(workload, Program):
        return _program(workload)

    def value(f: int, index: tuple[int, ...], xs: tuple[Any, ...]) -> Any:
        """Points are apart, so the gradient of the sum over them is the derivative at each."""
        if not index:
            return workload.formula(FUNCTIONS, *xs)[f]
        return jax.grad(lambda *xs: value(f, index[:-1], xs).sum(), argnums=workload.wrt[index[-1]])(*xs)

    def everything(*xs: Any) -> list[Any]:
        found: dict[Any, Any] = {}
        for f, index in workload.outputs:
            if (
                len(index) < workload.order
            ):  # with the one sweep that gives all derivatives of it by one order more
                below, slopes = jax.value_and_grad(
                    lambda *xs, f=f, index=index: _summed(value(f, index, xs)),
                    argnums=workload.wrt,
                    has_aux=True,
                )(*xs)
                found.setdefault((f, index), below[1])
                for i in range(index[-1] if index else 0, len(workload.wrt)):
                    found[f, (*index, i)] = slopes[i]
        return [found[key] for key in workload.outputs]

    function = jax.jit(everything)

    def bind(inputs: Any) -> Run:
        given = [jnp.asarray(x) for x in inputs]
        return Run(lambda: jax.block_until_ready(function(*given)), lambda found: found)

    return bind


def _summed(values: Any) -> tuple[Any, Any]:
    return values.sum(), values


def _program(workload: Program) -> Bind:
    names = list(workload.arrays())
    where = tuple(names.index(n) for n in workload.wrt)

    def loss(*arrays: Any) -> Any:
        return workload.loss(FUNCTIONS, *arrays)

    function = jax.jit(jax.value_and_grad(loss, argnums=where))

    def bind(arrays: Any) -> Run:
        given = [jnp.asarray(a) for a in arrays.values()]
        return Run(lambda: jax.block_until_ready(function(*given)), lambda found: [found[0], *found[1]])

    return bind
