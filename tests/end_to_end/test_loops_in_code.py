"""Loops in functions of NumPy that are read: over numbers, over sizes with names, and over rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.interop.importers.numpy.function import read_function
from symgrad.ir.traverse import topological


def counted(x: Any, a: Any) -> Any:
    h: Any = 0.0
    for t in range(x.shape[0]):
        h = np.tanh(a * h + x[t])
    return h**2


def as_loop(x: Any, a: Any) -> Any:
    return sg.fori_loop(0, x.shape[0], lambda t, h: np.tanh(a * h + x[t]), 0) ** 2


def filled(x: Any, a: Any) -> Any:
    h: Any = [0] * (x.shape[0] + 1)
    return h[0] + a


def over_rows(x: Any, a: Any) -> Any:
    h: Any = 0.0
    for r in x:
        h = np.tanh(a * h + r)
    return h**2


def of_length(x: Any, a: Any) -> Any:
    h: Any = 0.0
    for t in range(1, len(x)):
        h = np.tanh(a * h + x[t])
    return h**2


def read(function: Callable[..., Any], *shape: int | str) -> Any:
    return read_function(function, {"x": sg.tensor("x", shape), "a": sg.symbols("a")}).last


def test_a_loop_over_a_number_is_written_out() -> None:
    x = np.array([0.5, -1.0, 2.0])
    for function in (counted, over_rows):
        assert float(read(function, 3)(x=x, a=0.7)) == pytest.approx(counted(x, 0.7), rel=1e-14)
    assert float(read(of_length, 3)(x=x, a=0.7)) == pytest.approx(of_length(x, 0.7), rel=1e-14)


def test_a_loop_over_a_size_is_a_recurrence() -> None:
    found = read(as_loop, "T")
    assert sum(n.op.name == "recurrence" for n in topological([found.node])) == 1
    for steps in (0, 1, 4):
        x = np.linspace(-1, 2, steps)
        assert float(found(x=x, a=0.7)) == pytest.approx(counted(x, 0.7), rel=1e-14)
        gradient = sg.grad(found, "a")(x=x, a=0.7)
        slope = (counted(x, 0.7 + 1e-6) - counted(x, 0.7 - 1e-6)) / 2e-6
        assert float(gradient) == pytest.approx(slope, rel=1e-6)


FORI_LOOP = "sg.fori_loop(0, 'T'"
RANGE = "sg.range("


@pytest.mark.parametrize(
    ("function", "cure"),
    [(counted, RANGE), (filled, RANGE), (over_rows, "sg.scan("), (of_length, FORI_LOOP)],
)
def test_code_that_needs_the_number_of_a_size_is_refused(function: Any, cure: str) -> None:
    with pytest.raises(SymgradError, match="known only in a call") as caught:
        read(function, "T")
    assert cure in str(caught.value.cure)


def test_the_error_has_its_line() -> None:
    with pytest.raises(SymgradError) as caught:
        read(counted, "T")
    line = counted.__code__.co_firstlineno + 2
    assert f"line {line}" in str(caught.value)
    assert "for t in range(x.shape[0]):" in str(caught.value)
