"""Kernels in processes: joblib's, and bare ones that begin from nothing."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import symgrad as sg

joblib: Any = import_module("joblib")

P = sg.parse("x : real\nu : real\nz = sin(x)*u")
Q = sg.parse("A : real[n, d]\nv : real[d]\ns = sum(tanh(A@v)**2)")
KERNELS = [
    sg.compile([P["z"], sg.grad(P["z"], P["x"])], ["x", "u"]),
    sg.compile([Q["s"], sg.grad(Q["s"], Q["v"])], ["A", "v"]),
]
ARGS = [(np.linspace(0, 1, 1001), 2.0), (np.linspace(-1, 1, 300).reshape(100, 3), np.array([1.0, -2.0, 0.5]))]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend: str) -> None:
    calls = [(k, a) for k, a in zip(KERNELS, ARGS, strict=True) for _ in range(4)]
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(k)(*a) for k, a in calls)
    for (k, a), results in zip(calls, found, strict=True):
        for part, expected in zip(results, k(*a), strict=True):
            np.testing.assert_array_equal(part, expected)


def test_a_fresh_process() -> None:
    sent = pickle.dumps((KERNELS, ARGS))
    code = (
        "import pickle, sys\nkernels, args = pickle.loads(sys.stdin.buffer.read())\n"
        "sys.stdout.buffer.write(pickle.dumps([k(*a) for k, a in zip(kernels, args)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    for k, a, results in zip(KERNELS, ARGS, pickle.loads(done.stdout), strict=True):
        for part, expected in zip(results, k(*a), strict=True):
            np.testing.assert_array_equal(part, expected)
