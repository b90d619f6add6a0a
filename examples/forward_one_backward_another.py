"""Compute f going forward, differentiate g going back: the straight-through pattern, to the last bit.

The usual way to write it is stop_gradient(f - g) + g. Its gradient is that of g, but its value is (f - g) + g,
which rounds twice: it is f only to within an ulp or so, and loses f altogether where g is much larger.

stop_gradient(f) - (stop_gradient(g) - g) has the same gradient, and g - g is exactly zero in floating point
wherever g is finite, so the value is f - 0: the bits of f, signed zeros too.
"""

from __future__ import annotations

import numpy as np

import symgrad as sg

s = sg.stop_gradient
x = sg.symbols("x")

f = sg.round(x)  # its own gradient is zero almost everywhere
g = 1000 * sg.tanh(x)  # what stands in for it going back

usual = s(f - g) + g
exact = s(f) - (s(g) - g)

points = np.array([-0.0, 0.0, -0.3, 0.7, 1e-9, 2.6, 41.5])
wanted = sg.compile(f)(points)
for name, program in {"usual": usual, "exact": exact}.items():
    value, gradient = sg.compile([program, sg.grad(program, x)])(points)
    same_bits = value.view(np.int64) == wanted.view(np.int64)
    same_gradient = np.allclose(gradient, sg.grad(g, x)(x=points), rtol=1e-14)
    print(
        f"{name}: {same_bits.sum()} of {points.size} values have the bits of f, gradient of g: {same_gradient}"
    )
    print(f"       values {value}")

assert (sg.compile(exact)(points).view(np.int64) == wanted.view(np.int64)).all()
