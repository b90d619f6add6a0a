"""scan, fori_loop and while_loop: values, structures of carries, derivatives, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.traverse import topological

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


def test_conditions_are_carried_on() -> None:
    def step(state: Any, row: Any) -> Any:
        total, goes_on = state
        return (total + sg.where(goes_on, a * row, 0), goes_on & (row > 0)), goes_on & (row > 0)

    (total, goes_on), seen = sg.scan(step, (0, a > 0), x)
    values = {"x": np.array([1.0, 2.0, -3.0, 4.0]), "a": 0.5}
    assert float(total(**values)) == 0.0
    assert goes_on.dtype == "bool"
    assert not goes_on(**values)
    assert seen(**values).tolist() == [True, True, False, False]
    np.testing.assert_allclose(sg.grad(total, "x")(**values), [0.5, 0.5, 0.5, 0])


READS = {
    "x[i]": lambda x, i: x[i],
    "x[:, i]": lambda x, i: x[:, i],
    "x[i, 2]": lambda x, i: x[i, 2],
    "x[1, :, i]": lambda x, i: x[1, :, i],
    "x[i, i + 1, 2]": lambda x, i: x[i, i + 1, 2],
    "x[:, 3 - i]": lambda x, i: x[:, 3 - i],
    "x[i + 1] - x[i]": lambda x, i: x[i + 1] - x[i],
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_a_step_reads_at_its_position_is_a_row(name: str, count: int) -> None:
    read: Any = READS[name]
    for shape in ((4, 5, 6), ("n", "m", "k")):
        u, b = sg.tensor("u", shape), sg.symbols("b")
        shape_read = read(u, 0).shape
        first: Any = sg.arrays.zeros(shape_read) if shape_read else 0
        last = sg.fori_loop(0, count, lambda i, h, b=b, u=u: sg.sin(b * h) + read(u, i), first)
        total = sg.sum(last) if last.shape else last
        values, way = np.random.default_rng(5).normal(size=(2, 4, 5, 6))

        def wanted(v: Any) -> Any:
            h: Any = np.zeros(np.shape(read(v, 0)))
            for i in range(count):
                h = np.sin(0.7 * h) + read(v, i)
            return np.sum(h)

        given: dict[str, Any] = {"b": 0.7, "u": values}
        np.testing.assert_allclose(total(**given), wanted(values), rtol=1e-12)
        gradient = sg.grad(total, "u")
        slope = (wanted(values + 1e-6 * way) - wanted(values - 1e-6 * way)) / 2e-6
        np.testing.assert_allclose(np.sum(gradient(**given) * way), slope, rtol=1e-6, atol=1e-8)
        # No array of the gradient has the axis of the steps beside the axes of the table.
        assert all(len(n.shape) <= 3 for n in topological([gradient.node]))


def test_a_position_outside_is_an_error_of_the_call() -> None:
    u = sg.tensor("u", (3,))
    last = sg.fori_loop(0, "k", lambda i, h: h + u[i], 0)
    assert float(last(u=NUMBERS, k=3)) == 1.5
    with pytest.raises(sg.errors.IndexRangeError):
        last(u=NUMBERS, k=4)


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
