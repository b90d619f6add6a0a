"""BLAS and LAPACK without the package that brings them."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, numpy as np
{before}
import symgrad as sg
p = sg.parse("A : real[n, n]\\nB : real[n, n]\\ny = A @ B\\nz = solve(A, B)")
kernel = sg.compile([p["y"], p["z"]])
print("scipy.linalg" in sys.modules)
a = np.random.default_rng(0).standard_normal((40, 40))
y, z = kernel(a, a)
print(np.allclose(y, a @ a), np.allclose(z, np.eye(40)))
import scipy.linalg, scipy.linalg.cython_blas, scipy.linalg.cython_lapack
print(len(scipy.linalg.cython_blas.__pyx_capi__) > 100, len(scipy.linalg.cython_lapack.__pyx_capi__) > 1000)
print(scipy.linalg.cython_blas is sys.modules["scipy.linalg.cython_blas"], end=" ")
print(np.allclose(scipy.linalg.inv(a) @ a, np.eye(40)))
"""


@pytest.mark.parametrize("before", ["", "import scipy.linalg"])
def test_the_package_around_blas_is_not_imported_and_can_be(before: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(before=before)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:4] == [str(bool(before)), "True True", "True True", "True True"]
