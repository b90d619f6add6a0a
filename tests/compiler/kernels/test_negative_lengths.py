"""Compiled code itself refuses axes of negative length: whoever calls it without the checks corrupts no memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.errors import ShapeError
from tests.compiler.kernels.test_artefact import CC, needs_cc

PROGRAMS = [
    "sum(cumsum(concatenate((full((n - 50,), 2.0), x))))",
    "sum(eye(n - 50))",
    "sum(full((n - 50, n), 2.0)@x)",
    "zeros((n - 50,))",
    "sum(zeros((ceil((n - 50)/4),)))",
    "sum(softmax(full((2*n - 100, n), 1.0)*x, axis=0))",
    "sum(full((n - 50, n - 50), 1.0)@full((n - 50, n - 50), 2.0))",
]


def parsed(y: str):
    p = sg.parse(f"x : real[n]; y = {y}")
    return p["y"], [p["x"]]


@pytest.mark.parametrize("y", PROGRAMS)
def test_the_ufunc_itself_refuses(y):
    """In a process of its own, because what it guards against ends the process."""
    program = f"""
import numpy as np, symgrad as sg
p = sg.parse({f"x : real[n]; y = {y}"!r})
k = sg.compile(p["y"], ["x"])
for given in (np.ones(3), np.ones((4, 3)), np.ones(6)[::2], np.ones(49)):
    try:
        print(k.ufunc(given))
    except ValueError as error:
        assert str(error), error
assert np.isfinite(k.ufunc(np.ones(50))).all()
assert np.isfinite(k.ufunc(np.ones((2, 53)))).all()
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    # -48/4 rounded up is 0: the one length here that 47 to 49 leave nonnegative.
    shown = "0\n" if "ceil" in y else ""
    assert (done.returncode, done.stdout) == (0, f"{shown}done\n"), done.stderr


def test_the_message_names_the_length():
    y, inputs = parsed("sum(eye(n - 5)) + sum(arange(2*n - 11))")
    kernel = sg.compile(y, inputs)
    with pytest.raises(ValueError, match=r"an axis of length n - 5 or 2\*n - 11 would be negative"):
        kernel.ufunc(np.ones(3))
    assert kernel.ufunc(np.ones(6)) == 1
    with pytest.raises(ShapeError, match="n - 5 is -2 long for n = 3"):
        cast("Any", kernel).scratch_bytes(n=3)
    with pytest.raises(ShapeError, match="length n is -1"):
        cast("Any", kernel).scratch_bytes(n=-1)


def test_a_rounded_up_length_is_numpys():
    y, inputs = parsed("sum(zeros((ceil((n - 50)/4) + 20,)) + 1)")
    kernel = sg.compile(y, inputs)
    for n in range(1, 60):
        assert kernel(np.ones(n)) == y(np.ones(n)) == -((50 - n) // 4) + 20


@needs_cc
def test_the_c_function_refuses(tmp_path):
    kernel = sg.compile(*parsed(PROGRAMS[0]), name="f")
    write_artefacts(kernel, tmp_path / "f")
    assert "2 if an axis would have a negative length" in " ".join((tmp_path / "f.h").read_text().split())
    (tmp_path / "main.c").write_text(
        """
#include <stdio.h>
#include "f.h"
int main(void) {
  static double x[60];
  double y = -1;
  for (int i = 0; i < 60; i++) x[i] = 1;
  long sizes[] = {3, 49, -1, 50, 53};
  for (int i = 0; i < 5; i++) { int code = f(x, sizes[i], &y); printf("%d %g\\n", code, y); }
}
"""
    )
    subprocess.run(
        [CC, "-O1", str(tmp_path / "main.c"), str(tmp_path / "f.o"), "-lm", "-o", str(tmp_path / "main")],
        check=True,
    )
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    # 53: three twos, then fifty-three ones behind them.
    last = sum(2 * k for k in range(1, 4)) + sum(6 + k for k in range(1, 54))
    assert printed == f"2 -1\n2 -1\n2 -1\n0 {50 * 51 // 2}\n0 {last}\n"


@pytest.mark.parametrize(
    "y",
    ["sum(ones((ceil(n/4),)))", "argmax(x[::2])", "x[::2][argmin(x[::2])]", "sum((arange(n)*0 + 1)[::3])"],
)
def test_counts_of_rounded_lengths_are_whole(y):
    out, inputs = parsed(y)
    values = np.cos(np.arange(53.0))
    found = sg.compile(out, inputs)(values)
    assert found.dtype == (np.int64 if out.dtype == "int" else np.float64)
    assert found == out(values)
