import numpy as np


def kernel(x, y):
    e, s, c = np.exp(-(x**2) / 2), np.sin(3 * y), np.cos(3 * y)
    r = x**2 + y**2
    ell, t = np.log1p(r), np.tanh(x * y)
    slope = (1 - t**2) * ell
    return (
        e * s + ell * t,
        -x * e * s + 2 * x / (1 + r) * t + slope * y,
        3 * e * c + 2 * y / (1 + r) * t + slope * x,
    )


x, y = np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000)
print(sum(v.sum() for v in kernel(x, y)))
