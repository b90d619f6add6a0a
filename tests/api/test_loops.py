"""scan, fori_loop and while_loop: values, structures of carries, derivatives, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

X = sg.parse("x : real[T]; a : real; M : real[T, n]; c : bool[T]")
x, a, M = X["x"], X["a"], X["M"]
NUMBERS = np.array([0.5, -1.0, 2.0])


def test_a_scan_returns_the_carry_and_what_the_steps_return() -> None:
    last, seen = sg.scan(lambda h, row: (a * h + row, h), 1, x)
    assert float(last(x=NUMBERS, a=2.0)) == ((1 * 2 + 0.5) * 2 - 1) * 2 + 2
    np.testing.assert_allclose(seen(x=NUMBERS, a=2.0), [1, 2.5, 4])
    last, seen = sg.scan(lambda h, row: (a * h + row, h), 1, x, reverse=True)
    assert float(last(x=NUMBERS, a=2.0)) == ((1 * 2 + 2) * 2 - 1) * 2 + 0.5
    np.testing.assert_allclose(seen(x=NUMBERS, a=2.0), [7, 4, 1])


def test_carries_are_tuples_lists_and_dicts() -> None:
    def step(state: Any, row: Any) -> Any:
        return {"h": state["h"] + row["x"], "rest": [state["rest"][0] * a]}, (state["h"], None)

    last, (seen, nothing) = sg.scan(step, {"h": 0, "rest": [1]}, {"x": x})
    assert nothing is None
    assert float(last["h"](x=NUMBERS, a=2.0)) == 1.5
    assert float(last["rest"][0](a=2.0, x=NUMBERS)) == 8.0
    np.testing.assert_allclose(seen(x=NUMBERS, a=2.0), [0, 0.5, -0.5])


def test_rows_of_matrices_and_conditions() -> None:
    total, _ = sg.scan(lambda h, row: (h + row, None), sg.arrays.zeros("n"), M)
    matrix = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(total(M=matrix), matrix.sum(axis=0))
    count, _ = sg.scan(lambda h, row: (sg.where(row, h + 1, h), None), 0, X["c"])
    assert float(count(c=np.array([True, False, True]))) == 2.0


def test_loops_of_numbers() -> None:
    factorial = sg.fori_loop(1, 6, lambda i, v: i * v, 1)
    assert float(factorial()) == 120.0
    assert float(sg.fori_loop(3, 3, lambda i, v: i * v, a)(a=2.5)) == 2.5
    b = sg.symbols("b")
    power = sg.fori_loop(0, "k", lambda i, v: v * b, 1)
    assert float(power(b=2.0, k=5)) == 32.0


def test_a_loop_with_a_condition() -> None:
    root = sg.while_loop(lambda z: abs(z * z - a) > 1e-12, lambda z: (z + a / z) / 2, a, bound=50)
    assert float(root(a=2.0)) == pytest.approx(2**0.5, rel=1e-15)
    assert float(sg.grad(root, "a")(a=2.0)) == pytest.approx(0.5 / 2**0.5, rel=1e-12)
    stopped = sg.while_loop(lambda z: z < 10, lambda z: 2 * z, a, bound=3)
    assert float(stopped(a=1.0)) == 8.0  # after three steps
    assert float(stopped(a=20.0)) == 20.0


REFUSED = [
    (lambda: sg.scan(lambda h, _: h, 1, x), "carry and an output"),
    (lambda: sg.scan(lambda h, _: ((h, h), None), 1, x), "another structure"),
    (lambda: sg.scan(lambda h, row: (h + M[0], None), 1, x), "the shape"),
    (lambda: sg.scan(lambda h, _: (h, None), 1), "how many steps"),
    (lambda: sg.scan(lambda h, _: (h, None), 1, a), "no rows"),
    (lambda: sg.scan(lambda h, _: (h, None), 1, x, 5), "lengths"),
    (lambda: sg.fori_loop(5, 3, lambda i, v: v, 1), "before 3"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_refused_with_a_message(call: Any, words: str) -> None:
    with pytest.raises(sg.errors.SymgradError) as caught:
        call()
    assert words in str(caught.value)
    assert caught.value.cure


def test_a_scan_without_a_carry() -> None:
    x = sg.parse("x : real[4, 2]")["x"]
    _, ys = sg.scan(lambda _, row: (None, sg.sum(row**2)), None, x)
    assert str(ys.canonical()).splitlines()[-1] == "sum(x**2, axis=1)"
