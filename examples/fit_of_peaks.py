"""A Levenberg-Marquardt fit of three peaks on a sloping ground, with the exact Jacobian from one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

import symgrad as sg

# The model as one would write it down: heights, places and widths of the peaks, and a straight line below.
PEAKS = 3
x, ground, tilt = sg.symbols("x ground tilt")
heights, places, widths = (
    [sg.symbols(f"{what}{i + 1}") for i in range(PEAKS)] for what in ("height", "place", "width")
)
model = ground + tilt * x
for height, place, width in zip(heights, places, widths, strict=True):
    model = model + height / (1 + ((x - place) / width) ** 2)
parameters = [ground, tilt, *heights, *places, *widths]

# Value and all eleven partials in one pass over the data: what they have in common is computed once.
kernel = sg.compile([model, *sg.grad(model, parameters)], inputs=[x, *parameters], name="peaks")

points = np.linspace(0, 10, 2000)
truth = np.array([1.0, 0.05, 3.0, 2.0, 1.5, 2.0, 4.5, 5.6, 0.4, 0.7, 0.3])
noise = np.random.default_rng(7).normal(0, 0.05, len(points))
measured = kernel(points, *truth)[0] + noise
start = np.array([0.5, 0.0, 2.0, 2.0, 2.0, 1.7, 4.2, 5.9, 0.5, 0.5, 0.5])


calls = 0


def residuals(p: np.ndarray) -> np.ndarray:
    global calls
    calls += 1
    return kernel(points, *p)[0] - measured


def jacobian(p: np.ndarray) -> np.ndarray:
    global calls
    calls += 1
    return np.stack(kernel(points, *p)[1:], axis=1)


def fitted(**how: Any) -> tuple[OptimizeResult, int]:
    """Return the fit, and how often the kernel went over the data for it."""
    before = calls
    return least_squares(residuals, start, method="lm", xtol=1e-14, ftol=1e-14, **how), calls - before


(exact, passes), (differences, more) = fitted(jac=jacobian), fitted()

# At the minimum J^T r is zero; how near to it a fit stops tells how good its Jacobian is.
errors = np.sqrt(
    np.diag(np.linalg.inv(exact.jac.T @ exact.jac)) * 2 * exact.cost / (len(points) - len(truth))
)
print("parameter     fitted     +-      truth")
for parameter, value, error, true in zip(parameters, exact.x, errors, truth, strict=True):
    print(f"{parameter!s:9s} {value:10.5f} {error:8.5f} {true:8.3f}")
print()
for name, fit, count in ("exact Jacobian", exact, passes), ("differences", differences, more):
    steepest = np.abs(jacobian(fit.x).T @ residuals(fit.x)).max()
    print(f"{name:15s} {count:4d} passes over the data, largest |J^T r| {steepest:.0e}")
assert np.all(np.abs(exact.x - truth) < 5 * errors)
