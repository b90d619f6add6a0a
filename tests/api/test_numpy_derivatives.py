"""Derivatives of functions of NumPy against differences of NumPy's own values, and their programs read again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.tracing.trace import Traced

ARRAYS = {
    "X": np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]]),
    "V": np.array([0.3, -1.5, 2.5]),
    "P": np.array([0.2, 1.5, 0.7]),
    "Z": np.array([1.5, 0.0, -2.0, 0.0]),
}

FORMULAS = """
np.cumprod(X, axis=1)*np.cumprod(X, axis=-2)
np.cumprod(X)
np.cumprod(Z) + np.multiply.accumulate(Z)
np.cumprod(Z[:1])
np.convolve(V, P)
np.convolve(V, X[0, :2], "same")
np.convolve(V, P, "valid")
np.correlate(V, X[:, 0], "same")
np.correlate(X[:, 0], V, "full")
np.cov(X)
np.cov(V, P)
np.corrcoef(X, P)
np.interp(X, np.cumsum(P), V)
np.interp(V, np.cumsum(P), P, left=V[0], right=P[1])
np.gradient(X, axis=0)
np.gradient(X, V[0], axis=1, edge_order=2)
np.gradient(X, np.cumsum(P), axis=1)
np.gradient(X, np.cumsum(P), axis=1, edge_order=2)
np.vander(Z, 4)
np.copysign(V, P)
np.copysign(P, V)
np.sort(X)
np.sort(X, axis=0)
np.sort(Z[:1])
np.median(X, axis=1)
np.median(X)
np.quantile(X, 0.3, axis=0)
np.quantile(X, P/4, axis=1)
np.percentile(X, 10*P)
"""

NAMED_SIZES = """
np.cumprod(X, axis=1)
np.convolve(V, P)
np.correlate(P, V, "full")
np.cov(X)
np.corrcoef(X)
np.interp(X, np.cumsum(P), V)
np.searchsorted(np.cumsum(P), X)
np.argsort(X, axis=0)
np.sort(X)
np.median(X)
np.median(V)
np.quantile(X, 0.3, axis=1)
"""


def _called(code: str, inputs: dict[str, sg.Expr]) -> sg.Expr:
    function: Any = eval(f"lambda X, V, P, Z: {code}", {"np": np})
    found = Traced(function, list(ARRAYS)).call(inputs.values(), {})
    assert isinstance(found, sg.Expr)
    return found


def _value(code: str, **arrays: Any) -> Any:
    return eval(code, {"np": np, **ARRAYS, **arrays})


@pytest.mark.parametrize("code", FORMULAS.strip().splitlines())
def test_the_derivative_is_that_of_numpys_values(code: str) -> None:
    inputs = {name: sg.tensor(name, a.shape) for name, a in ARRAYS.items()}
    found = _called(code, inputs)
    numpy: Any = np
    weights = numpy.random.default_rng(0).normal(size=found.shape)
    loss = sg.sum(found * sg.tensor("W", found.shape))
    for e in found.inputs:
        name, step = str(e.name), 1e-5
        expected = np.zeros_like(ARRAYS[name])
        for at in np.ndindex(expected.shape):
            ends: list[float] = []
            for h in (step, -step):
                moved = ARRAYS[name].copy()
                moved[at] += h
                ends.append(numpy.sum(_value(code, **{name: moved}) * weights))
            expected[at] = (ends[0] - ends[1]) / (2 * step)
        slope: Any = sg.grad(loss, e)
        used: Any = {str(i.name): {**ARRAYS, "W": weights}[str(i.name)] for i in slope.inputs}
        np.testing.assert_allclose(slope(**used), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("code", FORMULAS.strip().splitlines())
def test_the_text_and_the_numpy_source_have_the_same_values(code: str) -> None:
    found = _called(code, {name: sg.tensor(name, a.shape) for name, a in ARRAYS.items()})
    used: Any = {str(e.name): ARRAYS[str(e.name)] for e in found.inputs}
    text = str(found)
    if " : real" not in text:
        text = "".join(f"{name} : real[{', '.join(map(str, a.shape))}]\n" for name, a in used.items()) + text
    read: Any = sg.parse(text).result
    np.testing.assert_allclose(read(**used), found(**used), rtol=1e-14)
    module: dict[str, Any] = {}
    exec(found.numpy_source(), module)
    np.testing.assert_allclose(module["f"](**used), found(**used), rtol=1e-13)


@pytest.mark.parametrize("code", NAMED_SIZES.strip().splitlines())
def test_sizes_may_be_names(code: str) -> None:
    named = {"X": ("m", "n"), "V": ("n",), "P": ("n",), "Z": ("k",)}
    found = _called(code, {name: sg.tensor(name, shape) for name, shape in named.items()})
    used: Any = {str(e.name): ARRAYS[str(e.name)] for e in found.inputs}
    np.testing.assert_allclose(found(**used), _value(code), rtol=1e-13)


def test_many_entries_are_convolved_as_windows() -> None:
    rng = np.random.default_rng(1)
    a, v = rng.normal(size=(2, 100))
    numpy: Any = np
    x, y = sg.tensor("x", (100,)), sg.tensor("y", (100,))
    for mode in ("full", "same", "valid"):
        for function in (numpy.convolve, numpy.correlate):
            np.testing.assert_allclose(function(x, y, mode)(x=a, y=v), function(a, v, mode), rtol=1e-12)


def test_interpolation_has_the_slope_on_the_right_of_a_point_and_none_outside() -> None:
    numpy: Any = np
    x = sg.symbols("x")
    slope: Any = sg.grad(numpy.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 0.0]), x)
    assert [float(slope(x=v)) for v in (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0)] == [0, 2, -1, -1, -1, 0]


def test_programs_have_the_functions() -> None:
    program = sg.parse('x : real[3]; y = cumprod(x); z = convolve(x, y, mode="same"); w = interp(x, y, z)')
    given: Any = [1.5, 2.0, 0.5]
    z: Any = program["z"]
    numpy: Any = np
    np.testing.assert_allclose(z(x=given), numpy.convolve(given, numpy.cumprod(given), "same"))


REFUSED = """
np.convolve(x, x, "all")
np.convolve(x[:, None], x)
np.gradient(x, 1.0, 2.0)
np.gradient(x, edge_order=3)
np.gradient(x[:1])
np.gradient(x, x[:2])
np.interp(x, x[:2], x)
np.searchsorted(x, x, "middle")
np.vander(x[:, None])
np.cov(x[:, None, None])
np.cov(x[0])
np.median(x[:0])
"""


@pytest.mark.parametrize("code", REFUSED.strip().splitlines())
def test_calls_that_numpy_refuses_are_refused(code: str) -> None:
    with pytest.raises((sg.errors.ShapeError, sg.errors.UsageError)) as caught:
        eval(code, {"np": np, "x": sg.tensor("x", (3,))})
    assert caught.value.expected


def test_equal_entries_keep_their_order_and_nan_is_last() -> None:
    x = sg.tensor("x", ("n",))
    numpy: Any = np
    values = np.array([2.0, np.nan, 1.0, 2.0, -np.inf, 1.0])
    np.testing.assert_array_equal(numpy.argsort(x)(x=values), np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(numpy.sort(x)(x=values), np.sort(values))
    assert np.isnan(numpy.median(x)(x=values))
    assert np.isnan(numpy.quantile(x, 0.1)(x=values))
    slope: sg.Expr = sg.grad(sg.sum(numpy.sort(x) * sg.tensor("w", ("n",))), x)
    assert list(slope(x=[1.0, 0.0, 1.0], w=[1.0, 2.0, 3.0])) == [2.0, 1.0, 3.0]


def test_the_median_of_infinities_is_numpys() -> None:
    numpy: Any = np
    for values in ([1.0, 2.0, np.inf], [np.inf, np.inf, 1.0, 2.0], [np.inf] * 3, [2.0]):
        for n in ("n", len(values)):
            assert numpy.median(sg.tensor("x", (n,)))(x=values) == np.median(values)
