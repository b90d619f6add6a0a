"""A loop in Numba calls a kernel: an orbit of a star in a galaxy, by forces that are derivatives of the potential.

Numba compiles the loop, symgrad the forces; no Python stands between them. The potential is that of M. Hénon and
C. Heiles, "The applicability of the third integral of motion", Astronomical Journal 69, 1964.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit

import symgrad as sg

x, y = sg.symbols("x y")
potential = (x**2 + y**2) / 2 + x**2 * y - y**3 / 3
kernel = sg.compile([potential, *sg.grad(potential, [x, y])], inputs=[x, y], name="henon_heiles")
print("called as", kernel.c_signature)
at_point = kernel.as_ctypes()  # a function of ctypes, which Numba calls by its address


@njit
def orbit(steps: int, h: float) -> tuple[float, float, float]:
    """Leapfrog from a point on the axis; the largest error of the energy on the way, and where the star is then."""
    x, y, v, w = 0.0, 0.1, 0.49, 0.0
    found = np.empty(3)
    energy, by_x, by_y = found[0:1].ctypes, found[1:2].ctypes, found[2:3].ctypes
    at_point(x, y, energy, by_x, by_y)
    start, worst = found[0] + (v**2 + w**2) / 2, 0.0
    for _ in range(steps):
        v -= h / 2 * found[1]
        w -= h / 2 * found[2]
        x += h * v
        y += h * w
        at_point(x, y, energy, by_x, by_y)
        v -= h / 2 * found[1]
        w -= h / 2 * found[2]
        worst = max(worst, abs(found[0] + (v**2 + w**2) / 2 - start))
    return worst, x, y


def in_python(steps: int, h: float) -> tuple[float, float, float]:
    """The same with the same kernel, called from Python."""
    x, y, v, w = 0.0, 0.1, 0.49, 0.0
    point = kernel.scalar
    u, by_x, by_y = point(x, y)
    start, worst = u + (v**2 + w**2) / 2, 0.0
    for _ in range(steps):
        v -= h / 2 * by_x
        w -= h / 2 * by_y
        x += h * v
        y += h * w
        u, by_x, by_y = point(x, y)
        v -= h / 2 * by_x
        w -= h / 2 * by_y
        worst = max(worst, abs(u + (v**2 + w**2) / 2 - start))
    return worst, x, y


def seconds(run: Callable[[int, float], object], steps: int) -> float:
    begin = time.perf_counter()
    run(steps, 0.01)
    return time.perf_counter() - begin


orbit(1, 0.01)  # compiles it
worst, *place = orbit(1_000_000, 0.01)
print(f"after a million steps at {place[0]:.6f}, {place[1]:.6f}; the energy was off by {worst:.0e} at most")
assert worst < 1e-4
few = 20_000
assert np.allclose(
    orbit(few, 0.01), in_python(few, 0.01), rtol=1e-9
)  # Numba may round sums otherwise than Python
ours, theirs = (min(seconds(run, few) for _ in range(3)) / few for run in (orbit, in_python))
print(f"a step takes {ours * 1e9:.0f} ns in Numba's loop, {theirs * 1e9:.0f} ns in one of Python's")
