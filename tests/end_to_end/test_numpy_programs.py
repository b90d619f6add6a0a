"""Programs of users, as they are and traced: the same values, and gradients that agree with differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.functions.structures import leaves_of, named_leaves, rebuilt
from tests.end_to_end.numpy_programs import cases

CASES = cases()


def slope(function: Callable[[float], float], step: float) -> float:
    """Return a derivative at 0: central differences, extrapolated twice."""
    rows = [[(function(h) - function(-h)) / (2 * h) for h in (step, step / 2, step / 4)]]
    for power in (4, 16):
        rows.append([(power * b - a) / (power - 1) for a, b in zip(rows[-1][:-1], rows[-1][1:], strict=True)])
    return rows[-1][0]


@pytest.mark.parametrize("name", list(CASES))
def test_a_program_runs_as_it_is(name: str) -> None:
    case = CASES[name]
    both = sg.value_and_grad(case.function)
    value, gradient = both(case.params, *case.data)
    assert value == pytest.approx(float(case.function(case.params, *case.data)), rel=1e-12)
    leaves, slopes = leaves_of(case.params), leaves_of(gradient)
    assert [np.shape(v) for v in leaves] == [np.shape(v) for v in slopes]
    rng = np.random.default_rng(3)
    for _ in range(3):
        directions = [rng.normal(size=np.shape(v)) for v in leaves]

        def moved(t: float, directions: Any = directions) -> float:
            parts = [v + t * d for v, d in zip(leaves, directions, strict=True)]
            return float(case.function(rebuilt(case.params, parts), *case.data))

        found = sum(float(np.sum(s * d)) for s, d in zip(slopes, directions, strict=True))
        assert found == pytest.approx(slope(moved, 1e-4), rel=1e-7, abs=1e-8)
    again, _ = both(case.params, *case.data)
    assert again == value


@pytest.mark.parametrize("name", ["logistic regression", "tobit", "weibull survival", "coalescent"])
def test_a_program_is_read_with_its_names(name: str) -> None:
    case = CASES[name]
    program = sg.from_numpy(case.function, case.params, *case.data)
    names = case.function.__code__.co_varnames
    pairs = zip(names, (case.params, *case.data), strict=False)
    values = {n: v for name, argument in pairs for n, v in named_leaves(argument, name)}
    read: Any = {str(e.name): values[str(e.name)] for e in program.inputs}
    assert float(program.last(**read)) == pytest.approx(
        float(case.function(case.params, *case.data)), rel=1e-12
    )
    assert len(program.names) > len(program.inputs) + 2
