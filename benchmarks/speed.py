"""The speed of compiled kernels against NumPy, Numba if it is there, and the memory of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.measure import Options, Row, per_point

__all__ = ["run"]

POINTS = 100_000


def w1(x: Any, u: Any) -> tuple[Any, ...]:
    """sqrt(x**2*u) and its derivative by x."""
    z = np.sqrt(x**2 * u)
    return z, x * u / z


def w2(x: Any, y: Any) -> tuple[Any, ...]:
    """exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y) and both partials, common parts computed once."""
    bell, s, c = np.exp(-(x**2) / 2), np.sin(3 * y), np.cos(3 * y)
    r = x**2 + y**2
    ell, t = np.log1p(r), np.tanh(x * y)
    slope = (1 - t**2) * ell
    return (
        bell * s + ell * t,
        -x * bell * s + 2 * x / (1 + r) * t + slope * y,
        3 * bell * c + 2 * y / (1 + r) * t + slope * x,
    )


WORKLOADS: dict[str, tuple[str, tuple[str, str], tuple[str, ...], Callable[..., Any]]] = {
    "W1 sqrt(x**2*u) and derivative": ("sqrt(x**2*u)", ("x", "u"), ("x",), w1),
    "W2 exp, sin, log1p, tanh and both partials": (
        "exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)",
        ("x", "y"),
        ("x", "y"),
        w2,
    ),
}


def copy_speed(options: Options) -> float:
    """Return nanoseconds per 8 bytes moved (read or written), for arrays of the size of the workloads."""
    a = np.ones(POINTS)
    b = np.empty_like(a)
    return per_point({"": lambda: np.copyto(b, a)}, 2 * POINTS, options.repeats(9), 20)[""]


def run(options: Options) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    for what, (text, names, wrt, by_hand) in WORKLOADS.items():
        options.step(what)
        program = sg.parse("".join(f"{n} : real\n" for n in names) + f"f = {text}")
        f = program["f"]
        kernel = sg.compile([f, *sg.grad(f, list(wrt))], inputs=program.inputs, effort="high")
        a, b = rng.uniform(0.5, 2, POINTS), rng.uniform(0.9, 1.1, POINTS)
        outs = tuple(np.empty(POINTS) for _ in range(1 + len(wrt)))
        for ours, theirs in zip(kernel(a, b), by_hand(a, b), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
        works: dict[str, Callable[[], object]] = {
            "symgrad": lambda k=kernel, a=a, b=b, o=outs: k(a, b, out=o),
            "NumPy": lambda f=by_hand, a=a, b=b: f(a, b),
        }
        if find_spec("numba"):
            works["Numba"] = numba_work(by_hand, a, b, outs)
        taken = per_point(works, POINTS, options.repeats(9), 5)
        note = "" if "Numba" in works else "Numba is not installed"
        for peer in list(works)[1:]:
            yield Row(
                f"{what}, {POINTS:,} points", taken["symgrad"], "ns/point", peer, taken[peer], note=note
            )
        moved = 2 + len(outs)
        limit = copy_speed(options) * moved
        yield Row(
            f"{what}, {POINTS:,} points",
            taken["symgrad"],
            "ns/point",
            f"reading and writing {moved} arrays",
            limit,
        )


def numba_work(by_hand: Callable[..., Any], a: Any, b: Any, outs: tuple[Any, ...]) -> Callable[[], object]:
    """The same formulas as one compiled loop over the points, in strict floating point as ours."""
    from numba import njit  # pyright: ignore[reportMissingImports]  (a peer that may be missing)

    point = njit(by_hand)

    @njit
    def two(a: Any, b: Any, f: Any, fa: Any) -> None:
        for i in range(len(a)):
            f[i], fa[i] = point(a[i], b[i])

    @njit
    def three(a: Any, b: Any, f: Any, fa: Any, fb: Any) -> None:
        for i in range(len(a)):
            f[i], fa[i], fb[i] = point(a[i], b[i])

    loop = two if len(outs) == 2 else three
    return lambda: loop(a, b, *outs)
