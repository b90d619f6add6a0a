"""jax: `jacfwd` of the function of a point, vmapped, or `grad` of sums over the points, under `jit`."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

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


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:  # noqa: ARG001  (peers have one signature)
    if isinstance(workload, Program):
        return _program(workload)
    # The Jacobian of a vector comes from one sweep forward for all directions at once, and is up to three times as fast
    # as a sweep backward for each value; nested, it is several times as slow, as it has each mixed derivative twice.
    return _jacobian(workload) if workload.order == 1 and len(workload.wrt) > 1 else _sums(workload)


def _jacobian(workload: Pointwise) -> Bind:
    def values(xs: Any) -> tuple[Any, Any]:
        found = jnp.stack(workload.formula(FUNCTIONS, *xs))
        return found, found

    function = jax.jit(jax.vmap(jax.jacfwd(values, has_aux=True)))

    def outputs(found: Any) -> list[Any]:
        slopes, values = map(np.asarray, found)
        return [
            slopes[:, f, workload.wrt[index[0]]] if index else values[:, f] for f, index in workload.outputs
        ]

    def bind(inputs: Any) -> Run:
        given = jnp.asarray(np.ascontiguousarray(inputs.T))
        return Run(lambda: jax.block_until_ready(function(given)), outputs)

    return bind


def _sums(workload: Pointwise) -> Bind:
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
