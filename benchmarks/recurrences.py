"""Nanoseconds a step of native recurrences, value and gradient: python benchmarks/recurrences.py"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg

STEPS = 100_000
ROUNDS = 30

VAN_DER_POL = f"""
m, k : real
y[0] = 2; v[0] = 0
a1 = m*(1 - y[t-1]**2)*v[t-1] - k*y[t-1]; y2 = y[t-1] + v[t-1]/2000; v2 = v[t-1] + a1/2000; \\
    a2 = m*(1 - y2**2)*v2 - k*y2; y3 = y[t-1] + v2/2000; v3 = v[t-1] + a2/2000; \\
    a3 = m*(1 - y3**2)*v3 - k*y3; y4 = y[t-1] + v3/1000; v4 = v[t-1] + a3/1000; a4 = m*(1 - y4**2)*v4 - k*y4; \\
    y[t] = y[t-1] + (v[t-1] + 2*v2 + 2*v3 + v4)/6000; v[t] = v[t-1] + (a1 + 2*a2 + 2*a3 + a4)/6000 for t in 1..{STEPS}
loss = y[{STEPS}]**2 + v[{STEPS}]**2
"""
CELL = f"""
x, z : real[{STEPS}]; w, u, b : real
h[0] = 0
h[t] = tanh(w*h[t-1] + u*x[t-1] + b) for t in 1..{STEPS}
loss = sum((h[1:] - z)**2)
"""


def best(call: Callable[[], Any]) -> float:
    """Return the least time of a call, in nanoseconds a step."""
    times: list[float] = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times) / STEPS * 1e9


def main() -> None:
    rng = np.random.default_rng(0)
    arrays = {"x": rng.normal(size=STEPS), "z": rng.normal(size=STEPS)}
    for name, text, values in (
        ("van der Pol, RK4", VAN_DER_POL, {"m": 1.0, "k": 1.0}),
        ("recurrent cell", CELL, {"w": 0.9, "u": 0.5, "b": -0.1, **arrays}),
    ):
        loss = sg.parse(text)["loss"]
        wrt = [s for s in loss.inputs if not s.shape]
        begun = time.perf_counter()
        both = sg.compile([loss, *sg.grad(loss, wrt)], inputs=loss.inputs)
        built = time.perf_counter() - begun
        value = sg.compile([loss], inputs=loss.inputs)
        given = [values[str(s.name)] for s in loss.inputs]
        print(
            f"{name}: value {best(lambda: value(*given)):.0f} ns a step, "  # noqa: B023
            f"value and gradient {best(lambda: both(*given)):.0f}, built in {built:.2f} s"  # noqa: B023
        )


if __name__ == "__main__":
    main()
