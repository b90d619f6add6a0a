"""quad of SciPy calls a kernel as C calls C: the integral of a line profile, and its derivative by the width."""

from __future__ import annotations

import math
import timeit

import numpy as np
from scipy.integrate import quad

import symgrad as sg

# A line as spectrometers see it, a Gaussian in a Lorentzian's wings, and its derivative by the width.
x, width, mixing = sg.symbols("x width mixing")
profile = (1 - mixing) * sg.exp(-sg.log(2) * (x / width) ** 2) + mixing / (1 + (x / width) ** 2)
weighted = profile * sg.cos(3 * x)
kernel = sg.compile(weighted, inputs=[x, width, mixing], name="weighted")
slope = sg.compile(sg.grad(weighted, width), inputs=[x, width, mixing], name="weighted_by_width")


def by_hand(x: float, width: float, mixing: float) -> float:
    t = x / width
    return ((1 - mixing) * math.exp(-math.log(2) * t**2) + mixing / (1 + t**2)) * math.cos(3 * x)


at = (0.7, 0.3)
ends = (-5.0, 5.0)
value, error = quad(kernel.as_lowlevel(), *ends, args=at)
derivative, _ = quad(slope.as_lowlevel(), *ends, args=at)
print(f"integral     {value:.12f}, within {error:.0e}")
print(f"by the width {derivative:.12f}")

# Under the integral sign the derivative is a formula; a difference quotient of integrals has half of its digits.
step = 1e-5
wider, narrower = (quad(kernel.as_lowlevel(), *ends, args=(at[0] + h, at[1]))[0] for h in (step, -step))
print(f"a difference {(wider - narrower) / (2 * step):.12f}")

assert np.isclose(value, quad(by_hand, *ends, args=at)[0], rtol=1e-10)
times = {
    name: min(timeit.repeat(lambda f=f: quad(f, *ends, args=at), number=100, repeat=5)) / 100
    for name, f in {
        "a Python function": by_hand,
        "kernel.scalar": kernel.scalar,
        "kernel.as_lowlevel()": kernel.as_lowlevel(),
    }.items()
}
print("\nquad over")
for name, seconds in times.items():
    print(f"  {name:21s} {seconds * 1e6:6.1f} us, {times['a Python function'] / seconds:4.1f} times as fast")
