import numpy as np
from symengine import Lambdify, exp, log, sin, symbols, tanh

x, y = symbols("x y")
f = exp(-(x**2) / 2) * sin(3 * y) + log(1 + x**2 + y**2) * tanh(x * y)
kernel = Lambdify([x, y], [f, f.diff(x), f.diff(y)], backend="llvm", cse=True)
points = np.stack([np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000)], axis=1)
print(kernel(points).sum())
