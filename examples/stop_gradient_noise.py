"""Where does noise enter the gradient of sqrt(x**2*u), and where must stop_gradient stand to keep it out?

u is multiplicative noise around 1. Four programs compute the same value z. Their gradients differ: stop_gradient
cuts the edges along which derivatives flow, never those along which values flow.
"""

from __future__ import annotations

import numpy as np

import symgrad as sg

s = sg.stop_gradient

program = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)")
x, u = program["x"], program["u"]
y = x**2
yu = y * u

programs = {
    "plain             ": sg.sqrt(yu),
    "stop on the noise ": sg.sqrt(y * s(u)),
    # The noise is added as a constant, yet the derivative of sqrt is 1/(2*sqrt(...)) at the value, noise and all.
    "stop inside sqrt  ": sg.sqrt(s(yu - y) + y),
    # The noise is added after sqrt, so no derivative is taken at a noisy value.
    "stop outside sqrt ": s(sg.sqrt(yu) - sg.sqrt(y)) + sg.sqrt(y),
}

points = {"x": np.array([-2.0, -2.0, 3.0]), "u": np.array([0.95, 1.05, 1.05])}
reference = sg.grad(sg.sqrt(y), x)(x=points["x"])
print("x =", points["x"], " u =", points["u"])
print("gradient without noise:", reference)
for name, z in programs.items():
    gradient = sg.compile(sg.grad(z, x), inputs=[x, u])(**points)
    noisy = "carries the noise" if abs(gradient - reference).max() > 1e-12 else "free of the noise"
    print(f"{name} z = {z(**points)}  dz/dx = {gradient}  {noisy}")
