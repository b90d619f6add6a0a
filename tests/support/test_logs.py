"""What is logged under the name `symgrad`: decisions and why, never values."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import numpy as np

import symgrad as sg
from tests.processes import printed


def test_decisions_are_told_by_room(caplog):
    with caplog.at_level(logging.INFO, logger="symgrad"):
        p = sg.parse("x : real; u ~ Uniform(0.9, 1.1); y = sin(x)**2*exp(x) - 1 + sqrt(x**2*u)")
        sg.compile([p["y"], sg.grad(p["y"], "x")])
        sg.equal("(x + 1)**2", "x**2 + 2*x + 1")
        sg.compile(sg.sum(sg.tensor("w", ("n",)) ** 2))
    told = {}
    for record in caplog.records:
        told.setdefault(record.name, []).append(record.getMessage())
    assert told["symgrad.arrange"][0].endswith("the canonical form loses no digits")
    assert told["symgrad.verdicts"][0].startswith("proved in ")
    assert any("machine code" in line for line in told["symgrad.llvm"])
    assert any("element by element" in line for line in told["symgrad.kernel"])
    assert any("whole arrays" in line for line in told["symgrad.kernel"])
    assert all(record.levelno == logging.INFO for record in caplog.records)


def test_which_form_was_chosen(caplog):
    with caplog.at_level(logging.INFO, logger="symgrad.arrange"):
        x = sg.symbols("x")
        sg.compile(sg.grad(sg.exp(x) - x + x**2 / 7, x))
    assert "in stable forms, as the canonical one loses digits" in caplog.records[-1].getMessage()


def test_values_are_never_told(caplog):
    with caplog.at_level(logging.DEBUG, logger="symgrad"):
        p = sg.parse("X : real[n, 3]; w : real[3]; y = sum(tanh(X@w)**2)")
        data = {"X": np.full((5, 3), 0.123456), "w": np.full(3, 0.654321)}
        sg.compile(sg.grad(p["y"], "w"), ["X", "w"])(**data)
        sg.minimize(p["y"], over="w", start={"w": data["w"]}, data={"X": data["X"]})
    assert caplog.records
    assert not any("12345" in r.getMessage() or "65432" in r.getMessage() for r in caplog.records)


_CODE = """
import symgrad as sg
p = sg.parse("x : real; y = sin(x)")
sg.compile([p["y"], sg.grad(p["y"], "x")])
"""


def _stderr(**env):
    done = subprocess.run(
        [sys.executable, "-c", _CODE], env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    assert not done.stdout
    return done.stderr


def test_the_variable_sends_lines_to_standard_error():
    assert _stderr() == ""
    assert "symgrad.arrange: " in _stderr(SYMGRAD_LOG="info")
    assert "symgrad.backward: " not in _stderr(SYMGRAD_LOG="info")
    assert "symgrad.backward: differentiating: " in _stderr(SYMGRAD_LOG="debug")
    assert "means nothing; it is info or debug" in _stderr(SYMGRAD_LOG="loud")


def test_where_nobody_logs_the_library_of_logging_is_not_read():
    """It would make every start slower."""
    code = """
import sys
import symgrad.support.logs
symgrad.support.logs.info("rules", "nobody %s", "listens")
print("logging" in sys.modules)
import logging
symgrad.support.logs.info("rules", "nobody %s", "listens")
print([type(h).__name__ for h in logging.getLogger("symgrad").handlers])
"""
    assert printed(code) == "False\n['NullHandler']\n"
