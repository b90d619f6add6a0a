"""Value and gradient of recurrences, against jax.lax.scan and loops in C by hand, on one processor, one thread each.

JAX is measured in two forms, with and without `jax.checkpoint` around the step; the better one counts. The loops in C
(recurrences.c) keep the values and run back over them.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arrays import ONE_THREAD
from benchmarks.measure import ROOT, Options, Row, interleaved

__all__ = ["WORKLOADS", "Workload", "run"]


@dataclass(frozen=True, slots=True)
class Workload:
    """A program with a loss.

    Attributes:
        text: the program; {T} is the number of steps, {n} a number of values.
        wrt: by what it is differentiated.
        steps: the number of steps.
        width: the number of values.
        values: the inputs, for a generator of random numbers and both numbers.
        by_jax: the loss in JAX, for a function to wrap the step in, and the inputs by name.
        by_c: the name of the function in C, with the inputs that it reads as numbers; None without one.
        limits: the largest ratios to JAX and to C that are within the aim.
    """

    text: str
    wrt: tuple[str, ...]
    steps: int
    width: int
    values: Callable[[Any, int, int], Mapping[str, Any]]
    by_jax: Callable[..., Any]
    by_c: str | None
    limits: tuple[float, float]


def _oscillator(first: str, total: str) -> str:
    lines = [f"y[0] = {first}; v[0] = 0*{first}"]
    steps = "y1 = y[t-1]; v1 = v[t-1]; a1 = m*(1 - y1**2)*v1 - k*y1"
    for j, c in ((2, 0.0005), (3, 0.0005), (4, 0.001)):
        steps += f"; y{j} = y1 + {c}*v{j - 1}; v{j} = v1 + {c}*a{j - 1}; a{j} = m*(1 - y{j}**2)*v{j} - k*y{j}"
    for name, parts in (("y", "v"), ("v", "a")):
        total_slope = f"{parts}1 + 2*{parts}2 + 2*{parts}3 + {parts}4"
        steps += f"; {name}[t] = {name}[t-1] + 0.001*(1/6)*({total_slope})"
    return "\n".join([*lines, f"{steps} for t in 1..{{T}}", f"loss = {total}"])


def _jax_oscillator(wrap: Any, given: Mapping[str, Any], steps: int) -> Any:
    import jax
    import jax.numpy as jnp

    m, k = given["m"], given["k"]

    def slope(y: Any, v: Any) -> Any:
        return v, m * (1 - y**2) * v - k * y

    def step(h: Any, _: Any) -> Any:
        y, v = h
        slopes = [slope(y, v)]
        for c in (0.0005, 0.0005, 0.001):
            dy, dv = slopes[-1]
            slopes.append(slope(y + c * dy, v + c * dv))
        moves = (0.001 / 6 * (a + 2 * b + 2 * c + d) for a, b, c, d in zip(*slopes, strict=True))
        y, v = (x + move for x, move in zip(h, moves, strict=True))
        return (y, v), None

    first = given.get("y0", jnp.array(2.0))
    y, v = jax.lax.scan(wrap(step), (first, 0 * first), None, length=steps)[0]
    return jnp.sum(y**2 + v**2)


def _jax_cell(wrap: Any, given: Mapping[str, Any], _: int) -> Any:
    import jax
    import jax.numpy as jnp

    def step(h: Any, row: Any) -> Any:
        h = jnp.tanh(given["w"] * h + given["u"] * row[0] + given["b"])
        return h, (h - row[1]) ** 2

    return jax.lax.scan(wrap(step), 0.0, (given["x"], given["z"]))[1].sum()


def _jax_variance(wrap: Any, given: Mapping[str, Any], _: int) -> Any:
    import jax
    import jax.numpy as jnp

    w, a, b, r = (given[name] for name in "wabr")

    def step(s: Any, r: Any) -> Any:
        s = w + a * r**2 + b * s
        return s, s

    s = jax.lax.scan(wrap(step), w / (1 - a - b), r)[1]
    return jnp.sum(jnp.log(s) + r**2 / s) / 2


def _jax_forward(wrap: Any, given: Mapping[str, Any], _: int) -> Any:
    import jax
    import jax.numpy as jnp

    def step(state: Any, seen: Any) -> Any:
        f, total = state
        u = (f @ given["A"]) * seen
        s = u.sum()
        return (u / s, total + jnp.log(s)), None

    return jax.lax.scan(wrap(step), (given["p0"], 0.0), given["B"])[0][1]


def _jax_filter(wrap: Any, given: Mapping[str, Any], _: int) -> Any:
    import jax
    import jax.numpy as jnp

    A, c, q = given["A"], given["c"], given["q"]
    n = len(c)

    def step(state: Any, z: Any) -> Any:
        m, P, total = state
        M, p = A @ P @ A.T + q * jnp.eye(n), A @ m
        g = M @ c
        s, v = c @ g + 1, z - c @ p
        return (p + g * v / s, M - jnp.outer(g, g) / s, total - (jnp.log(s) + v**2 / s) / 2), None

    return jax.lax.scan(wrap(step), (jnp.zeros(n), given["P0"], 0.0), given["z"])[0][2]


def _jax_lstm(wrap: Any, given: Mapping[str, Any], _: int) -> Any:
    import jax
    import jax.numpy as jnp

    W = given["W"]
    n = W.shape[1]

    def step(state: Any, x: Any) -> Any:
        h, c = state
        i, f, o, g = jnp.split(W @ h + x, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    first = jnp.zeros(n)
    return jnp.sum(
        jax.lax.scan(wrap(step), (first, first), given["x"] @ given["U"].T + given["b"])[0][0] ** 2
    )


_TAPE = 86  # the largest number of values that a loop in C keeps of a step
_LSTM = """
x : real[{T}, {n}]; W, U : real[{4n}, {n}]; b : real[{4n}]
h[0] = zeros({n}); c[0] = zeros({n})
a = W@h[t-1] + U@x[t-1] + b; i = sigmoid(a[:{n}]); f = sigmoid(a[{n}:{2n}]); o = sigmoid(a[{2n}:{3n}]); \\
    c[t] = f*c[t-1] + i*tanh(a[{3n}:]); h[t] = o*tanh(c[t]) for t in 1..{T}
loss = sum(h[{T}]**2)
"""
_FILTER = """
z : real[{T}]; q : positive; A, P0 : real[{n}, {n}]; c : real[{n}]
m[0] = zeros({n}); P[0] = P0; L[0] = 0
M = A@P[t-1]@A.T + q*eye({n}); p = A@m[t-1]; g = M@c; S = sum(c*g) + 1; v = z[t-1] - sum(c*p); \\
    m[t] = p + g*v/S; P[t] = M - outer(g, g)/S; L[t] = L[t-1] - (log(S) + v**2/S)/2 for t in 1..{T}
loss = L[{T}]
"""
_FORWARD = """
B : real[{T}, {n}]; A : real[{n}, {n}]; p0 : real[{n}]
f[0] = p0; L[0] = 0
u = (f[t-1]@A)*B[t-1]; s = sum(u); f[t] = u/s; L[t] = L[t-1] + log(s) for t in 1..{T}
loss = L[{T}]
"""
_CELL = """
x, z : real[{T}]; w, u, b : real
h[0] = 0
h[t] = tanh(w*h[t-1] + u*x[t-1] + b) for t in 1..{T}
loss = sum((h[1:] - z)**2)
"""
_VARIANCE = """
r : real[{T}]; w, a, b : positive
s[0] = w/(1 - a - b)
s[t] = w + a*r[t-1]**2 + b*s[t-1] for t in 1..{T}
loss = sum(log(s[1:]) + r**2/s[1:])/2
"""


def _stochastic(rng: Any, T: int, n: int) -> Mapping[str, Any]:
    A = rng.uniform(0.1, 1, (n, n))
    return {"B": rng.uniform(0.1, 1, (T, n)), "A": A / A.sum(1, keepdims=True), "p0": np.full(n, 1 / n)}


WORKLOADS: Mapping[str, Workload] = {
    "Runge and Kutta's method, van der Pol": Workload(
        "m, k : real\n" + _oscillator("2", "y[{T}]**2 + v[{T}]**2"),
        ("m", "k"),
        100_000,
        1,
        lambda _, T, n: {"m": 1.0, "k": 1.0},
        _jax_oscillator,
        "oscillator",
        (0.7, 1.0),
    ),
    "the same from 1,000 positions": Workload(
        "m, k : real; y0 : real[{n}]\n" + _oscillator("y0", "sum(y[{T}]**2 + v[{T}]**2)"),
        ("m", "k"),
        1_000,
        1_000,
        lambda _, T, n: {"m": 1.0, "k": 1.0, "y0": np.linspace(1, 3, n)},
        _jax_oscillator,
        "oscillators",
        (0.25, 0.25),
    ),
    "recurrent cell of one unit": Workload(
        _CELL,
        ("w", "u", "b"),
        100_000,
        1,
        lambda rng, T, n: {"x": rng.normal(size=T), "z": rng.normal(size=T), "w": 0.9, "u": 0.5, "b": -0.1},
        _jax_cell,
        "cell",
        (0.7, 1.0),
    ),
    "GARCH likelihood": Workload(
        _VARIANCE,
        ("w", "a", "b"),
        100_000,
        1,
        lambda rng, T, n: {"r": rng.normal(size=T), "w": 0.1, "a": 0.1, "b": 0.8},
        _jax_variance,
        "variance",
        (0.7, 1.0),
    ),
    "hidden Markov model of 32 states": Workload(
        _FORWARD, ("A", "p0"), 10_000, 32, _stochastic, _jax_forward, "forward", (0.7, 1.0)
    ),
    "Kalman filter of 6 states": Workload(
        _FILTER,
        ("q", "A", "P0", "c"),
        10_000,
        6,
        lambda rng, T, n: {
            "z": rng.normal(size=T),
            "q": 0.5,
            "A": 0.7 * np.eye(n) + 0.05 * rng.normal(size=(n, n)),
            "P0": np.eye(n),
            "c": rng.normal(size=n),
        },
        _jax_filter,
        "filter",
        (0.7, 1.0),
    ),
    "LSTM of 1,024 units": Workload(
        _LSTM,
        ("W", "U", "b"),
        100,
        1_024,
        lambda rng, T, n: {
            "x": rng.normal(size=(T, n)),
            "W": rng.normal(size=(4 * n, n)) / n**0.5,
            "U": rng.normal(size=(4 * n, n)) / n**0.5,
            "b": rng.normal(size=4 * n),
        },
        _jax_lstm,
        None,
        (1.0, 1.0),
    ),
}


def _library() -> Any:
    """Return the loops in C, compiled; None without gcc."""
    if shutil.which("gcc") is None:
        return None
    made = Path(tempfile.mkdtemp()) / "recurrences.so"
    source = ROOT / "benchmarks" / "recurrences.c"
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", str(made), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(made))


def by_c(library: Any, workload: Workload, given: Mapping[str, Any], steps: int) -> Callable[[], Any]:
    """Return value and gradient by the loops in C."""
    function = getattr(library, str(workload.by_c))
    function.restype = ctypes.c_double
    wrt = {name: np.asarray(given[name]) for name in workload.wrt}
    numbers = np.array([x for x in wrt.values() if x.ndim == 0])
    arrays = [np.ascontiguousarray(x) for x in given.values() if np.ndim(x)]
    sums, grads = np.zeros(len(numbers)), [np.zeros(x.shape) for x in wrt.values() if x.ndim]
    tape = np.empty(_TAPE * (steps + 1))
    scalars: Any = ([numbers], [sums]) if len(numbers) else ([], [])
    # Such a pointer keeps its array.
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*scalars[0], *arrays, *scalars[1], *grads, tape)]
    first = [ctypes.c_long(steps)]
    if workload.by_c == "oscillators":
        first.append(ctypes.c_long(len(arrays[0])))
    if workload.by_c == "oscillator":
        pointers.insert(1, ctypes.c_double(2.0))

    def call() -> Any:
        value, left, right = function(*first, *pointers), iter(sums), iter(grads)
        return value, *(next(right if x.ndim else left) for x in wrt.values())

    return call


def by_jax(
    workload: Workload, given: Mapping[str, Any], steps: int, *, checkpoint: bool
) -> Callable[[], Any]:
    """Return value and gradient by JAX, compiled."""
    import jax
    import jax.numpy as jnp

    wrap: Any = jax.checkpoint if checkpoint else lambda step: step
    others = {name: jnp.asarray(x) for name, x in given.items() if name not in workload.wrt}
    wrt = {name: jnp.asarray(given[name]) for name in workload.wrt}
    function = jax.jit(
        jax.value_and_grad(lambda wrt, others: workload.by_jax(wrap, {**wrt, **others}, steps))
    )

    def call() -> Any:
        value, slopes = jax.block_until_ready(function(wrt, others))
        return value, *(slopes[name] for name in workload.wrt)

    return call


def _measure(quick: bool) -> None:
    """Print one JSON object a line: what was measured in this process."""
    import symgrad as sg

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    library = _library()
    for name, workload in WORKLOADS.items():
        steps = 10 if quick else workload.steps
        width = min(workload.width, 8) if quick and workload.by_c is None else workload.width
        text = workload.text.replace("{T}", str(steps)).replace("{n}", str(width))
        for k in (2, 3, 4):
            text = text.replace(f"{{{k}n}}", str(k * width))
        loss = sg.parse(text)["loss"]
        kernel = sg.compile([loss, *sg.grad(loss, workload.wrt)], inputs=loss.inputs)
        given = workload.values(np.random.default_rng(0), steps, width)
        arguments = [given[str(s.name)] for s in loss.inputs]
        works: dict[str, Callable[[], Any]] = {"symgrad": lambda k=kernel, a=arguments: k(*a)}
        if library is not None and workload.by_c is not None:
            works["C by hand, gcc -O3"] = by_c(library, workload, given, steps)
        if find_spec("jax"):
            works["jax"] = by_jax(workload, given, steps, checkpoint=False)
            works["jax.checkpoint"] = by_jax(workload, given, steps, checkpoint=True)
        results = {who: work() for who, work in works.items()}
        for who, found in results.items():
            for mine, theirs in zip(results["symgrad"], found, strict=True):
                np.testing.assert_allclose(
                    mine, np.asarray(theirs), rtol=1e-7, atol=1e-9, err_msg=f"{name}: {who}"
                )
        taken = interleaved(works, 2 if quick else 15, warm=1)
        jax = [taken.pop(who) for who in ("jax", "jax.checkpoint") if who in taken]
        if jax:
            taken["the better lax.scan of JAX"] = min(jax)
        what = f"{name}, {steps:,} steps"
        sys.stdout.write(
            json.dumps({"what": what, "steps": steps, "seconds": taken, "limits": workload.limits}) + "\n"
        )
        sys.stdout.flush()


def run(options: Options) -> Iterator[Row]:
    command = [sys.executable, "-m", "benchmarks.recurrences", *(["--quick"] if options.quick else [])]
    options.step("recurrences")
    child = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True
    )
    yield from _rows(child.stdout.splitlines())


def _rows(lines: Sequence[str]) -> Iterator[Row]:
    for line in lines:
        found = json.loads(line)
        seconds, steps = found["seconds"], found["steps"]
        mine = seconds.pop("symgrad") / steps * 1e9
        for peer, theirs in seconds.items():
            limit = found["limits"][0 if "JAX" in peer else 1]
            yield Row(found["what"], mine, "ns a step", peer, theirs / steps * 1e9, limit)


if __name__ == "__main__":
    _measure("--quick" in sys.argv)
