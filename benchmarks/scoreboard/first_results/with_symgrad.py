import numpy as np

import symgrad as sg

program = sg.parse("""
x : real
y : real
f = exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)
""")
f = program["f"]
kernel = sg.compile([f, *sg.grad(f, ["x", "y"])])
x, y = np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000)
print(sum(v.sum() for v in kernel(x, y)))
