"""Functions of NumPy as programs: arguments, names, constants, and what is refused with its line."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special

import symgrad as sg
from symgrad.errors import SymgradError, TruthValueError, UnsupportedError, UsageError

LARGE = np.random.default_rng(0).normal(size=(30, 4))
SMALL = np.array([0.5, 0.25])


class Layer(NamedTuple):
    W: Any
    b: Any


def loss(w: Any, X: Any, y: Any) -> Any:
    r = X @ w - y
    return np.sum(np.log(np.cosh(r)))


TEXT = "w : real[5]; X : real[n, 5]; y : real[n]\nr = X@w - y\nloss = sum(log(cosh(r)))"


@pytest.mark.parametrize(
    ("specs", "named"),
    [
        (("real[5]", "real[n, 5]", "real[n]"), {}),
        (((5,), ("n", 5), ("n",)), {}),
        (("real[5]",), {"y": "real[n]", "X": ("n", 5)}),
        ((), {"w": sg.tensor("w", (5,)), "X": "real[n, 5]", "y": "real[n]"}),
    ],
)
def test_a_function_is_the_graph_of_the_same_text(specs: Any, named: Any) -> None:
    found, text = sg.from_numpy(loss, *specs, **named), sg.parse(TEXT)
    assert str(found) == str(text)
    assert found["loss"].node is text["loss"].node
    assert sg.grad(found["loss"], "w").node is sg.grad(text["loss"], "w").node
    assert found.places["r"].line == loss.__code__.co_firstlineno + 1


def network(params: Any, x: Any, slope: float = 0.5, name: str = "none") -> Any:
    for layer in params:
        x = np.tanh(x @ layer.W + layer.b)
    return {"out": slope * x.sum(), "name": None if name else x}


def test_arguments_are_trees_and_other_values_are_constants() -> None:
    p = sg.from_numpy(
        network, [Layer((3, 4), (4,)), Layer("real[4, 2]", np.zeros(2))], "real[n, 3]", slope=0.25
    )
    assert [str(e) for e in p.inputs] == ["params_0_W", "params_0_b", "params_1_W", "params_1_b", "x"]
    assert list(p.returned) == ["out"]
    assert "0.25" in str(p.last)


def test_arrays_of_the_function_are_constants_or_inputs_with_values() -> None:
    def f(x: Any) -> Any:
        mask = LARGE[:, 0] > 0
        return np.sum((LARGE @ x)[mask] ** 2) + SMALL @ x[:2] + np.sum(np.arange(4) * x)

    p = sg.from_numpy(f, x="real[4]")
    assert list(p.values) == ["LARGE"]
    x = np.array([1.0, -0.5, 0.25, 2.0])
    assert float(p.last(x=x, **p.values)) == pytest.approx(float(f(x)), rel=1e-14)


def test_an_array_that_is_reused_in_the_function_has_both_contents() -> None:
    def f(x: Any) -> Any:
        buffer = LARGE.copy()
        total = np.sum(buffer @ x)
        buffer[:] = 2.0 * LARGE**2
        return total + np.sum(buffer @ x)

    p = sg.from_numpy(f, x="real[4]")
    assert len(p.values) == 2
    assert float(p.last(x=SMALL.repeat(2), **p.values)) == pytest.approx(float(f(SMALL.repeat(2))), rel=1e-14)


def test_sizes_with_names() -> None:
    def f(x: Any) -> Any:
        n = x.shape[0]
        return np.zeros(n) + x * np.arange(n) + np.ones(x.shape) + np.full(n, 2.0) + np.eye(n) @ x

    p = sg.from_numpy(f, x="real[n]")
    np.testing.assert_allclose(p.last(x=np.arange(4.0)), f(np.arange(4.0)))


def test_checks_of_classes_take_the_way_of_arrays() -> None:
    def f(x: Any, c: Any) -> Any:
        assert not isinstance(c, np.ndarray)
        return x.sum() if isinstance(x, np.ndarray) and not np.isscalar(x) and np.isscalar(c) else c

    assert str(sg.from_numpy(f, x="real[3]", c="real").last) == "sum(x)"


count = [0]


def counting(x: Any) -> Any:
    count[0] += 1
    return x * count[0]


def drawing(x: Any) -> Any:
    return x * np.random.default_rng().normal()


def seeded(x: Any) -> Any:
    return x * np.random.default_rng(3).normal()


@pytest.mark.parametrize("function", [counting, drawing])
def test_a_function_that_returns_something_else_each_time_is_refused(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="something else") as caught:
        sg.from_numpy(function, "real")
    assert caught.value.cure == "pass random numbers and counters as arguments"


def test_a_function_with_a_seed_is_read() -> None:
    assert float(sg.from_numpy(seeded, "real").last(x=2.0)) == pytest.approx(seeded(2.0), rel=1e-14)


def branches(x: Any) -> Any:
    return x[0] if x[0] > 0 else -x[0]


def chained(x: Any) -> Any:
    return np.where(0 < x[0] < 1, 1.0, x[0])


def writes(x: Any) -> Any:
    x[0] = 1.0
    return x


def writes_into_new(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0]
    return y


def adds_in_place(x: Any) -> Any:
    y = x
    y += 1
    return x.sum()


def adds_to_numbers(x: Any) -> Any:
    y = np.zeros(3)
    y += x
    return y


def writes_out(x: Any) -> Any:
    return np.exp(x, out=x)


def masks(x: Any) -> Any:
    return x[x > 0].sum()


def finds(x: Any) -> Any:
    return x[np.nonzero(x)[0]]


def sorts(x: Any) -> Any:
    return np.partition(x, 1)[0]


def makes_float(x: Any) -> Any:
    return float(x[0]) + 1


def takes_item(x: Any) -> Any:
    return x[0].item()


def takes_math(x: Any) -> Any:
    return math.exp(x[0])


def decomposes(x: Any) -> Any:
    return np.linalg.qr(np.outer(x, x))


def weighted(x: Any) -> Any:
    return special.logsumexp(x, b=np.array([1.0, 2.0, 3.0]))


def appends_complex(x: Any) -> Any:
    return x * np.array([1j, 2.0, 3.0])


def fills(x: Any) -> Any:
    x.fill(0.0)
    return x


def python_max(x: Any) -> Any:
    return max(x[0], x[1])


def of_scipy(x: Any) -> Any:
    from scipy.special import logsumexp as imported  # inside of the function: not replaced

    return imported(x)


REFUSED: list[tuple[Callable[..., Any], type[SymgradError], str, str]] = [
    (branches, TruthValueError, "if x[0] > 0", "np.where(condition, a, b)"),
    (chained, TruthValueError, "0 < x[0] < 1", "np.where(condition, a, b)"),
    (writes, sg.errors.OperandError, "x[0] = 1.0", "np.where(np.arange(5) == 2, new, x)"),
    (writes_into_new, UnsupportedError, "y[0] = x[0]", "np.stack"),
    (adds_in_place, UnsupportedError, "y += 1", "h = h + x"),
    (adds_to_numbers, UnsupportedError, "y += x", "h = h + x"),
    (writes_out, UnsupportedError, "out=x", "h = h + x"),
    (masks, UnsupportedError, "x[x > 0]", "where(mask, x, 0)"),
    (finds, UnsupportedError, "np.nonzero(x)", "np.where(condition, x, 0)"),
    (sorts, UnsupportedError, "np.partition(x, 1)", "np.maximum"),
    (makes_float, TruthValueError, "float(x[0])", "leave float() out"),
    (takes_item, sg.errors.UnknownAttributeError, "x[0].item()", "a call"),
    (takes_math, TruthValueError, "math.exp(x[0])", "np.sin, not math.sin"),
    (decomposes, UnsupportedError, "np.linalg.qr", "np.linalg.solve"),
    (weighted, UnsupportedError, "special.logsumexp", "np.log(b)"),
    (fills, sg.errors.UnknownAttributeError, "x.fill(0.0)", "an expression never changes"),
    (python_max, TruthValueError, "max(x[0], x[1])", "np.maximum"),
    (of_scipy, UnsupportedError, "imported(x)", "sg.logsumexp"),
]


@pytest.mark.parametrize(("function", "kind", "code", "cure"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
def test_what_cannot_be_traced_is_refused_with_its_line(
    function: Callable[..., Any], kind: type[SymgradError], code: str, cure: str
) -> None:
    lines, first = inspect.getsourcelines(function)
    at = next(first + k for k, line in enumerate(lines) if code in line)
    for call in (
        lambda: sg.from_numpy(function, "real[3]"),
        lambda: sg.value_and_grad(function)(np.array([1.0, 2.0, 3.0])),
    ):
        with pytest.raises(kind) as caught:
            call()
        assert f"line {at}" in str(caught.value)
        assert cure in str(caught.value.cure)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="complex128"):
        sg.from_numpy(appends_complex, "real[3]")


def test_numbers_change_in_place_as_in_python() -> None:
    def f(x: Any) -> Any:
        total = x[0]
        for r in x[1:]:
            total += r**2
        return total

    assert str(sg.from_numpy(f, "real[3]").last) == "x[0] + x[1:][0]**2 + x[1:][1]**2"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sg.from_numpy(3, "real"), "no function"),  # type: ignore[arg-type]
        (lambda: sg.from_numpy(loss, "real[5]", "real", "real", "real"), "4 specs"),
        (lambda: sg.from_numpy(loss, w="real[5]", X="real[n, 5]"), "'y'"),
        (lambda: sg.from_numpy(loss, "real[5]", X="real", y="real", z="real"), "no further 'z'"),
        (lambda: sg.from_numpy(loss, "real[5", X="real", y="real"), "does not say"),
        (lambda: sg.from_numpy(lambda a, a_0: a[0] + a_0, ["real"], a_0="real"), "two inputs"),
    ],
)
def test_wrong_specs_are_refused(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        call()


def test_errors_of_the_user_stay_as_they_are() -> None:
    def f(x: Any) -> Any:
        return x + {}["a"]

    with pytest.raises(KeyError):
        sg.from_numpy(f, "real")


def test_a_tree_of_results() -> None:
    p = sg.from_numpy(lambda x: {"a": x, "b": (x + 1, np.array([x, 2 * x]))}, x="real")
    assert list(p.returned) == ["a", "b_0", "b_1"]
