import casadi as ca
import numpy as np

x, y = ca.SX.sym("x"), ca.SX.sym("y")
f = ca.exp(-(x**2) / 2) * ca.sin(3 * y) + ca.log1p(x**2 + y**2) * ca.tanh(x * y)
kernel = ca.Function("kernel", [x, y], [f, ca.gradient(f, ca.vertcat(x, y))]).map(1_000)
f, slopes = kernel(np.linspace(-3, 3, 1_000)[None], np.linspace(3, -2, 1_000)[None])
print(np.array(f).sum() + np.array(slopes).sum())
