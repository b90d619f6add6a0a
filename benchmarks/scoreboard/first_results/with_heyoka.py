import heyoka as hy
import numpy as np

x, y = hy.make_vars("x", "y")
f = hy.exp(-(x**2) / 2) * hy.sin(3 * y) + hy.log1p(x**2 + y**2) * hy.tanh(x * y)
kernel = hy.cfunc([f, hy.diff(f, x), hy.diff(f, y)], vars=[x, y])
points = np.stack([np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000)])
print(kernel(points).sum())
