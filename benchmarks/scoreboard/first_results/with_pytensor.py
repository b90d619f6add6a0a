import numpy as np
import pytensor
import pytensor.tensor as pt

x, y = pt.dvector("x"), pt.dvector("y")
f = pt.exp(-(x**2) / 2) * pt.sin(3 * y) + pt.log1p(x**2 + y**2) * pt.tanh(x * y)
kernel = pytensor.function([x, y], [f, *pytensor.grad(f.sum(), [x, y])])
values = kernel(np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000))
print(sum(v.sum() for v in values))
