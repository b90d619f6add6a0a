"""`sg.value_and_grad` and `sg.grad` of functions of NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.tracing import gradient_functions
from symgrad.errors import NotScalarError, UsageError

A = np.array([[2.0, 1.0], [1.0, 3.0]])
scale = 2.0
table = np.arange(100.0)


class Pair(NamedTuple):
    a: Any
    b: Any


def quadratic(x: Any) -> Any:
    return x @ A @ x / 2


def scaled(x: Any) -> Any:
    return scale * x


def tabled(x: Any) -> Any:
    return np.sum(table * x)


def product(x: Any, y: Any) -> Any:
    return x**2 * y


@pytest.mark.parametrize(
    ("argnum", "expected"), [(0, 12.0), (1, 9.0), ((0, 1), (12.0, 9.0)), ((1, 0), (9.0, 12.0))]
)
def test_the_position_of_the_argument(argnum: Any, expected: Any) -> None:
    assert sg.grad(product, argnum)(3.0, 2.0) == expected
    assert sg.value_and_grad(product, argnum=argnum)(3.0, 2.0) == (18.0, expected)


def test_the_gradient_has_the_structure_of_the_argument() -> None:
    found = sg.grad(lambda p: np.sum(p.a * p.b[0]["c"]))(Pair(np.arange(3.0), [{"c": np.ones(3), "d": None}]))
    assert type(found) is Pair
    np.testing.assert_array_equal(found.a, np.ones(3))
    np.testing.assert_array_equal(found.b[0]["c"], np.arange(3.0))
    assert found.b[0]["d"] is None


def test_what_the_value_does_not_depend_on_has_zeros() -> None:
    value, (x, y) = sg.value_and_grad(lambda x, _: x @ x, (0, 1))(np.ones(2), np.ones((2, 3)))
    assert value == 2
    np.testing.assert_array_equal(x, [2.0, 2.0])
    np.testing.assert_array_equal(y, np.zeros((2, 3)))
    constant, slope = sg.value_and_grad(lambda _: 3.0)(np.ones(2))
    assert constant == 3
    np.testing.assert_array_equal(slope, np.zeros(2))


def test_results_are_new_arrays() -> None:
    gradient = sg.grad(lambda x: np.sum(np.array([3.0, 4.0]) * x))
    first = gradient(np.zeros(2))
    first[:] = 0
    np.testing.assert_array_equal(gradient(np.zeros(2)), [3.0, 4.0])


def test_gradients_of_gradients() -> None:
    first = sg.grad(lambda x: x * np.sin(x))
    assert sg.grad(first)(0.3) == pytest.approx(2 * np.cos(0.3) - 0.3 * np.sin(0.3), rel=1e-14)
    assert sg.grad(sg.grad(first))(0.3) == pytest.approx(-3 * np.sin(0.3) - 0.3 * np.cos(0.3), rel=1e-14)
    v = np.array([1.0, -1.0])
    np.testing.assert_allclose(sg.grad(lambda x: np.dot(sg.grad(quadratic)(x), v))(np.ones(2)), A @ v)


def test_a_variable_in_two_arguments_counts_in_one() -> None:
    assert sg.grad(lambda x: sg.grad(product)(x, x))(3.0) == 12.0
    both = sg.grad(lambda x: sg.value_and_grad(product, 1)(x, x)[0])
    assert both(3.0) == 27.0


def test_the_function_runs_once_for_each_shape_and_each_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[Any] = []
    plain = gradient_functions.Traced

    def counted(*args: Any) -> Any:
        traced.append(args)
        return plain(*args)

    monkeypatch.setattr(gradient_functions, "Traced", counted)
    gradient = sg.grad(lambda x, power=2, *, name="a": np.sum(x**power) if name else 0)
    for _ in range(3):
        gradient(np.ones(2))
    assert len(traced) == 1
    gradient(np.zeros(2))
    assert len(traced) == 1
    gradient(np.ones(3))
    gradient(np.ones(3), 3)
    gradient(np.ones(3), 3.0)
    gradient(np.ones(3), power=3)
    gradient(np.ones(3), name="b")
    assert len(traced) == 6
    gradient(np.ones(3), np.int64(4))
    gradient(np.ones(3), np.int64(4))
    assert len(traced) == 7
    gradient(np.ones(3), np.float64(4))
    gradient(np.ones(3), np.float64(5))
    assert len(traced) == 8


def test_one_kernel_serves_the_same_formula() -> None:
    def f(w: Any, start: int) -> Any:
        return np.sum(np.tanh(np.arange(200.0)[start : start + 70] * w))

    gradient: Any = sg.grad(f)
    for start in (0, 5, 30):
        x = np.arange(200.0)[start : start + 70]
        assert gradient(0.01, start) == pytest.approx(np.sum(x / np.cosh(x * 0.01) ** 2), rel=1e-12)
    assert len(gradient._kernels) == 1


def test_globals_that_change_are_seen() -> None:
    global scale, table
    gradient, of_table = sg.grad(scaled), sg.grad(tabled)
    assert gradient(1.0) == 2
    assert of_table(1.0) == 4950
    scale = 5.0
    table[0] = 100
    try:
        assert gradient(1.0) == 5
        assert of_table(1.0) == 5050
        table = np.ones(3)
        assert of_table(1.0) == 3
    finally:
        scale, table = 2.0, np.arange(100.0)


def test_variables_of_the_enclosing_function_that_change_are_seen() -> None:
    settings = {"rates": [1.0, np.ones(2)]}
    gradient = sg.grad(lambda x: np.sum(settings["rates"][1]) * settings["rates"][0] * x)
    assert gradient(1.0) == 2
    settings["rates"][1][0] = 3.0
    assert gradient(1.0) == 4
    settings["rates"][0] = 0.5
    assert gradient(1.0) == 2


def test_floats_of_the_arguments() -> None:
    f = sg.value_and_grad(lambda x: np.sum(x**2))
    assert f(np.ones(2, np.float32))[1].dtype == np.float32
    assert f(np.ones(2))[1].dtype == np.float64
    assert f(np.float64(3.0)) == (9.0, 6.0)
    assert f(3) == (9.0, 6.0)


def test_whole_numbers_and_truth_values_are_data() -> None:
    def f(w: Any, rows: Any, mask: Any) -> Any:
        return np.sum(np.where(mask, w[rows], 0.0) ** 2)

    rows, mask = np.array([2, 0, 2]), np.array([True, True, False])
    np.testing.assert_array_equal(sg.grad(f)(np.array([1.0, 2.0, 3.0]), rows, mask), [2.0, 0.0, 6.0])


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: sg.grad(product, -1), UsageError, "argnum=-1"),
        (lambda: sg.grad(product, ()), UsageError, r"argnum=\(\)"),
        (lambda: sg.grad(product, 2)(1.0, 2.0), UsageError, "argument 2"),
        (lambda: sg.grad(lambda x: 2 * x)(np.ones(2)), NotScalarError, "shape"),
        (lambda: sg.grad(lambda x: np.sum(x))(np.arange(3)), UsageError, "int64"),
        (lambda: sg.grad(lambda p: p["x"])({"x": 1.0, "name": "a"}), UsageError, "'p_name' is of type str"),
        (lambda: sg.grad(lambda p: p[0])([1.0, True]), UsageError, "'p_1' is of type bool"),
        (lambda: sg.grad(product)(np.int64(3), 1.0), UsageError, "int64"),
        (lambda: sg.grad(product)(sg.symbols("x"), 1.0), UsageError, "expressions"),
    ],
)
def test_wrong_calls_are_refused(call: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        call()


def test_expressions_are_differentiated_as_before() -> None:
    x = sg.symbols("x")
    assert str(sg.grad(x**2, x)) == "2*x"
    with pytest.raises(UsageError, match="function"):
        sg.grad(product, x)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        sg.grad(x)  # pyright: ignore[reportArgumentType]
