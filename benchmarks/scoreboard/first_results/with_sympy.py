import numpy as np
from sympy import exp, lambdify, log, sin, symbols, tanh

x, y = symbols("x y", real=True)
f = exp(-(x**2) / 2) * sin(3 * y) + log(1 + x**2 + y**2) * tanh(x * y)
kernel = lambdify([x, y], [f, f.diff(x), f.diff(y)], "numpy", cse=True)
values = kernel(np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000))
print(sum(v.sum() for v in values))
