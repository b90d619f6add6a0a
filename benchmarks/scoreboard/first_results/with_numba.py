from math import cos, exp, log1p, sin, tanh

import numpy as np
from numba import njit


@njit
def kernel(x, y):
    f, by_x, by_y = np.empty(len(x)), np.empty(len(x)), np.empty(len(x))
    for i in range(len(x)):
        e, s, c = exp(-(x[i] ** 2) / 2), sin(3 * y[i]), cos(3 * y[i])
        r = x[i] ** 2 + y[i] ** 2
        ell, t = log1p(r), tanh(x[i] * y[i])
        slope = (1 - t**2) * ell
        f[i] = e * s + ell * t
        by_x[i] = -x[i] * e * s + 2 * x[i] / (1 + r) * t + slope * y[i]
        by_y[i] = 3 * e * c + 2 * y[i] / (1 + r) * t + slope * x[i]
    return f, by_x, by_y


x, y = np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000)
print(sum(v.sum() for v in kernel(x, y)))
