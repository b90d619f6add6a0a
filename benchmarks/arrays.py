"""Value and gradient of array programs, against NumPy by hand and jax.jit, on one processor with one thread each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from benchmarks.measure import ROOT, Options, Row, per_point

__all__ = ["ONE_THREAD", "WORKLOADS", "Workload", "by_jax", "by_numpy", "run", "values"]

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    # So many threads has XLA's pool. What is said of flags that keep it to one thread slows it down instead.
    "NPROC": "1",
    "XLA_FLAGS": "",
    # Memory that one peer frees stays with the process: else the next pays for fetching its pages again.
    "MALLOC_TRIM_THRESHOLD_": "2000000000",
    "MALLOC_MMAP_THRESHOLD_": "2000000000",
}


@dataclass(frozen=True, slots=True)
class Workload:
    """A loss, in the notation and by hand.

    Attributes:
        text: the program; its last assignment is the loss.
        wrt: by what it is differentiated.
        sizes: values of the named sizes.
        by_hand: value and gradients in NumPy, inputs in the order of the program.
        by_jax: the loss in jax.numpy.
        limit: the largest ratio to the better of the two peers that is within the aim.
    """

    text: str
    wrt: tuple[str, ...]
    sizes: Mapping[str, int]
    by_hand: Callable[..., tuple[Any, ...]]
    by_jax: Callable[..., Any]
    limit: float


def least_squares(X: Any, w: Any, y: Any) -> tuple[Any, ...]:
    r = X @ w - y
    return r @ r / len(y), 2 / len(y) * (r @ X)


def mlp(X: Any, y: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> tuple[Any, ...]:
    h = np.tanh(X @ W1 + b1)
    z = h @ W2 + b2
    z -= z.max(axis=1, keepdims=True)
    p = np.exp(z)
    total = p.sum(axis=1, keepdims=True)
    n = len(X)
    rows = np.arange(n)
    loss = np.mean(np.log(total[:, 0]) - z[rows, y])
    p /= total
    p[rows, y] -= 1
    p /= n
    a = (p @ W2.T) * (1 - h * h)
    return loss, X.T @ a, a.sum(axis=0), h.T @ p, p.sum(axis=0)


def cross_entropy(z: Any, y: Any) -> tuple[Any, ...]:
    n = len(z)
    rows = np.arange(n)
    s = z - z.max(axis=1, keepdims=True)
    p = np.exp(s)
    total = p.sum(axis=1, keepdims=True)
    loss = np.mean(np.log(total[:, 0]) - s[rows, y])
    p /= total
    p[rows, y] -= 1
    p /= n
    return loss, p


def cbow(ids: Any, y: Any, table: Any, out: Any) -> tuple[Any, ...]:
    context = ids.shape[1]
    h = table[ids].mean(axis=1)
    z = h @ out.T
    loss, p = cross_entropy(z, y)
    step = (p @ out) / context
    by_table = np.zeros_like(table)
    np.add.at(by_table, ids.ravel(), np.repeat(step, context, axis=0))
    return loss, by_table, p.T @ h


def _jax_cross_entropy(z: Any, y: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jnp.mean(jax.nn.logsumexp(z, axis=1) - z[jnp.arange(z.shape[0]), y])


def _jax_least_squares(X: Any, w: Any, y: Any) -> Any:
    return ((X @ w - y) ** 2).mean()


def _jax_mlp(X: Any, y: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    import jax.numpy as jnp

    return _jax_cross_entropy(jnp.tanh(X @ W1 + b1) @ W2 + b2, y)


def _jax_cbow(ids: Any, y: Any, table: Any, out: Any) -> Any:
    return _jax_cross_entropy(table[ids].mean(axis=1) @ out.T, y)


NETWORK = "2-layer tanh network, batch 256, 100-64-10"

WORKLOADS: Mapping[str, Workload] = {
    "least squares, 10,000 x 100": Workload(
        "X : real[n, d]\nw : real[d]\ny : real[n]\nloss = mean((X@w - y)**2)",
        ("w",),
        {"n": 10_000, "d": 100},
        least_squares,
        _jax_least_squares,
        1.0,
    ),
    NETWORK: Workload(
        "X : real[n, 100]\ny : int[n]\nW1 : real[100, 64]\nb1 : real[64]\nW2 : real[64, 10]\nb2 : real[10]\n"
        "z = tanh(X@W1 + b1)@W2 + b2\nloss = mean(logsumexp(z, axis=1) - z[arange(n), y])",
        ("W1", "b1", "W2", "b2"),
        {"n": 256},
        mlp,
        _jax_mlp,
        1.0,
    ),
    "softmax cross-entropy, 1,024 x 1,000": Workload(
        "z : real[n, k]\ny : int[n]\nloss = mean(logsumexp(z, axis=1) - z[arange(n), y])",
        ("z",),
        {"n": 1_024, "k": 1_000},
        cross_entropy,
        _jax_cross_entropy,
        0.5,
    ),
    "CBOW step, vocabulary 10,000, dimension 128, batch 256": Workload(
        "ids : int[b, 4]\ny : int[b]\ntable : real[v, d]\nout : real[v, d]\n"
        "z = mean(table[ids], axis=1)@out.T\nloss = mean(logsumexp(z, axis=1) - z[arange(b), y])",
        ("table", "out"),
        {"b": 256, "v": 10_000, "d": 128},
        cbow,
        _jax_cbow,
        1.0,
    ),
}


def values(workload: Workload, program: Any) -> list[Any]:
    """Return arrays for the inputs of a workload, drawn with a fixed key."""
    rng = np.random.Generator(np.random.Philox(key=1))
    positions = {"y": {"k": "k", "v": "v"}, "ids": {"v": "v"}}
    found: list[Any] = []
    for symbol in program.inputs:
        shape = tuple(workload.sizes.get(s, s) for s in symbol.shape)
        if symbol.dtype == "int":
            classes = [workload.sizes[s] for s in positions[symbol.name] if s in workload.sizes] or [10]
            found.append(rng.integers(0, classes[0], shape))
        else:
            found.append(rng.normal(size=shape) / np.sqrt(shape[-1]))
    return found


def by_numpy(workload: Workload, arrays: Sequence[Any]) -> Callable[[], Any]:
    return lambda: workload.by_hand(*arrays)


def by_jax(workload: Workload, program: Any, arrays: Sequence[Any]) -> Callable[[], Any]:
    """Return the jitted value and gradient, compiled, on arrays that are already jax's."""
    import jax
    import jax.numpy as jnp

    where = tuple([s.name for s in program.inputs].index(name) for name in workload.wrt)
    function = jax.jit(jax.value_and_grad(workload.by_jax, argnums=where))
    given = [jnp.asarray(a) for a in arrays]
    return lambda: jax.block_until_ready(function(*given))


def _measure(quick: bool) -> None:
    """Print one JSON object a line: what was measured in this process."""
    import symgrad as sg

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name, workload in WORKLOADS.items():
        program = sg.parse(workload.text)
        arrays = values(workload, program)
        loss = program["loss"]
        gradients = sg.grad(loss, [program[n] for n in workload.wrt])
        kernel = sg.compile([loss, *gradients], program.inputs)
        works: dict[str, Callable[[], Any]] = {"symgrad": lambda k=kernel, a=arrays: k(*a)}
        works["NumPy by hand"] = by_numpy(workload, arrays)
        if find_spec("jax"):
            works["jax.jit"] = by_jax(workload, program, arrays)
        reference = works["NumPy by hand"]()
        for who, work in works.items():
            result = work()
            flat = [result[0], *result[1]] if who == "jax.jit" else list(result)
            for mine, theirs in zip(flat, reference, strict=True):
                np.testing.assert_allclose(
                    np.asarray(mine), theirs, rtol=1e-9, atol=1e-12, err_msg=f"{name}: {who}"
                )
        # Several calls in a row make a sample, as in training: memory that one call frees is there for the next.
        calls = 2 if quick else 10
        taken = {
            who: ns / 1e9
            for who, ns in per_point(works, points=1, repeats=3 if quick else 21, calls=calls).items()
        }
        _say(name, taken, workload.limit)
        if name == NETWORK:
            # What must be kept: the hidden layer, its cotangent (another product's result) and the probabilities.
            kept = workload.sizes["n"] * (64 + 64 + 10) * 8
            _say(
                "memory of the network, without its arguments",
                {"symgrad": cast("Any", kernel).scratch_bytes(n=256) / kept},
                1.2,
            )
    _tiny(quick)


def _tiny(quick: bool) -> None:
    import symgrad as sg

    program = sg.parse(WORKLOADS["least squares, 10,000 x 100"].text)
    kernel = sg.compile([program["loss"], sg.grad(program["loss"], program["w"])], program.inputs)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s) for s in ((5, 3), (3,), (5,))]
    calls = 1_000 if quick else 20_000
    works = {
        "symgrad": lambda: kernel(*arrays),
        "NumPy by hand": lambda: least_squares(*arrays),
    }
    taken = {name: min(timeit.repeat(work, number=calls, repeat=7)) / calls for name, work in works.items()}
    _say("a call at 5 x 3", taken, None)


def _say(name: str, taken: Mapping[str, float], limit: float | None) -> None:
    sys.stdout.write(json.dumps({"what": name, "seconds": taken, "limit": limit}) + "\n")
    sys.stdout.flush()


def run(options: Options) -> Iterator[Row]:
    command = [sys.executable, "-m", "benchmarks.arrays", *(["--quick"] if options.quick else [])]
    options.step("array programs")
    child = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True
    )
    for line in child.stdout.splitlines():
        found = json.loads(line)
        seconds = found["seconds"]
        mine = seconds.pop("symgrad")
        if not seconds:
            yield Row(found["what"], mine, "times the values that must be kept", limit=found["limit"])
        if found["limit"] is None:
            yield Row(found["what"], mine * 1e6, "us", limit=3.0)
        for peer, theirs in seconds.items():
            yield Row(
                f"{found['what']}",
                mine * 1e6,
                "us",
                peer=peer,
                peer_value=theirs * 1e6,
                limit=found["limit"],
            )


if __name__ == "__main__":
    _measure("--quick" in sys.argv)
