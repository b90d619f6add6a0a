"""Start from SymPy, derive and compile here, go back to SymPy to check: the Planck function and its peak."""

from __future__ import annotations

import numpy as np
import sympy

import symgrad as sg

t = sympy.Symbol("t", positive=True)
planck = t**3 / (sympy.exp(t) - 1)

p = sg.from_sympy(planck)
slope = sg.grad(p, "t")
curvature = sg.grad(slope, "t")
print("value     ", p)
print("slope     ", slope)

# Back in SymPy, the two derivations are one function.
difference = slope.sympy().subs(sympy.Symbol("t", real=True), t) - planck.diff(t)
print("difference", sympy.simplify(difference))

# Newton's method on the slope, with both derivatives from one kernel: Wien's displacement law.
kernel = sg.compile([slope, curvature])
peak = np.float64(3.0)
for _ in range(6):
    first, second = kernel(peak)
    peak -= first / second
print("peak at   ", peak)
assert abs(peak - 2.8214393721220787) < 1e-12
