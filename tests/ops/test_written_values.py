"""What functions without an op compute: values and slopes at ordinary and extreme points, by SciPy and JAX."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from scipy import special

import symgrad as sg
from symgrad.errors import UsageError
from symgrad.support.public_names import public

POINTS = np.array(
    [-1e100, -800.0, -40.0, -6.5, -1.0, -1e-8, 0.0, 1e-300, 1e-8, 0.3, 1.0, 5.0, 40.0, 800.0, 1e100]
)
X, Y = (a.ravel() for a in np.meshgrid(POINTS, POINTS))

OF_ONE: dict[str, Callable[[Any], Any]] = {
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu_tanh": lambda x: x * jax.nn.sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)),
    "mish": jax.nn.mish,
    "silu": jax.nn.silu,
    "swish": jax.nn.silu,
    "square": jax.numpy.square,
    "reciprocal": jax.numpy.reciprocal,
    "leaky_relu": lambda x: jax.numpy.where(x > 0, x, 0.01 * x),
}
OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "logaddexp": np.logaddexp,
    "xlogy": special.xlogy,
    "xlog1py": special.xlog1py,
    "heaviside": np.heaviside,
    "copysign": np.copysign,
}


@pytest.fixture(autouse=True)
def _doubles() -> Any:
    with jax.enable_x64(True):
        yield


def _close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=4e-14, atol=1e-305)


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one(name: str) -> None:
    x = sg.symbols("x")
    y = getattr(sg, name)(x)
    assert y.same(sg.parse(f"{name}(x)").last)
    slope = sg.grad(y, x)
    derivative: Any = getattr(jax, "grad")  # noqa: B009
    with np.errstate(all="ignore"):
        values = np.asarray(OF_ONE[name](POINTS))
        slopes = np.asarray(jax.vmap(derivative(OF_ONE[name]))(POINTS))
        for compute in (y, sg.compile(y)):
            _close(compute(POINTS), values)
        for compute in (slope, sg.compile(slope)):
            _close(compute(POINTS), slopes)


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name: str) -> None:
    x, y = sg.symbols("x y")
    z = getattr(sg, name)(x, y)
    with np.errstate(all="ignore"):
        wanted = OF_TWO[name](X, Y)
        for compute in (z, sg.compile(z)):
            _close(compute(X, Y), wanted)
    column = sg.tensor("c", (3, 1))
    assert getattr(sg, name)(column, sg.tensor("r", (4,))).shape == (3, 4)


def test_slopes_of_logaddexp_also_at_ties_and_far_away() -> None:
    x, y = sg.symbols("x y")
    z = sg.logaddexp(x, y)
    with np.errstate(all="ignore"):
        for by, other in ((x, y), (y, x)):
            a, b = (X, Y) if by is x else (Y, X)
            _close(sg.compile(sg.grad(z, by))(X, Y), special.expit(a - b))
            curve = sg.compile(sg.grad(sg.grad(z, by), other))
            _close(curve(X, Y), -special.expit(a - b) * special.expit(b - a))
    assert sg.equal("logaddexp(x, y)", "log(exp(x) + exp(y))").status == "proved"


@pytest.mark.parametrize(("name", "start"), [("xlogy", 0.0), ("xlog1py", -1.0)])
def test_slopes_of_xlogy_at_zero(name: str, start: float) -> None:
    x, y = sg.symbols("x y")
    z = getattr(sg, name)(x, y)
    log = np.log if name == "xlogy" else np.log1p
    for at in (1e-300, 0.25, 1.0, 1e300):
        if start + at > start:
            assert sg.grad(z, x)(x=0.0, y=start + at) == pytest.approx(log(start + at))
        assert sg.grad(z, y)(x=0.0, y=start + at) == 0
    assert z(x=0.0, y=start) == 0
    assert sg.grad(z, x)(x=0.0, y=start) == 0
    assert z(x=2.0, y=start) == -np.inf
    assert sg.grad(z, x)(x=2.0, y=start) == -np.inf


def test_xlogy_is_the_product_where_that_is_known_to_be_a_number() -> None:
    p = sg.parse("x : real\nq : positive\nz = xlogy(x, q)")
    assert str(p["z"].canonical()) == "x*log(q)"


def test_entropy_and_its_slope_have_values_where_a_probability_is_zero() -> None:
    p, q = sg.tensor("p", (3,)), sg.tensor("q", (3,))
    loss = -sg.sum(sg.special.xlogy(p, q))
    values = {"p": [0.0, 0.5, 0.5], "q": [0.0, 0.25, 0.75]}
    assert loss(**values) == pytest.approx(-0.5 * np.log(0.25) - 0.5 * np.log(0.75))
    np.testing.assert_allclose(sg.compile(sg.grad(loss, q))(**values), [0.0, -2.0, -2 / 3])


def test_logit() -> None:
    p = sg.symbols("p")
    at = np.array([0.0, 5e-324, 1e-300, 1e-17, 0.1, 0.3, 0.7, 1 - 1e-16, 1.0])
    with np.errstate(all="ignore"):
        _close(sg.compile(sg.special.logit(p))(at), special.logit(at))
        slope = sg.compile(sg.grad(sg.special.logit(p), p))(at[2:])
        _close(slope, 1 / (at[2:] * (1 - at[2:])))
        assert np.isnan(sg.special.logit(p)(p=[-0.5, 1.5])).all()
    assert sg.equal("logit(sigmoid(x))", "x").status == "proved"


@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.5, 2.0])
def test_huber_takes_its_arguments_as_scipy_does(delta: float) -> None:
    r = sg.symbols("r")
    y = sg.special.huber(delta, r)
    _close(sg.compile(y)(POINTS), special.huber(delta, POINTS))
    _close(sg.compile(sg.grad(y, r))(POINTS), np.clip(POINTS, -delta, delta))


def test_elu() -> None:  # JAX's slope of expm1 is 0 from -37 on
    x = sg.symbols("x")
    y = sg.nn.elu(x)
    below = np.minimum(POINTS, 0)
    _close(sg.compile(y)(POINTS), np.where(POINTS > 0, POINTS, np.expm1(below)))
    _close(sg.compile(sg.grad(y, x))(POINTS), np.exp(below))


@pytest.mark.parametrize("name", ["elu", "leaky_relu"])
def test_slope_of_the_other_side(name: str) -> None:
    x, a = sg.symbols("x a")
    wanted = a * sg.expm1(x) if name == "elu" else a * x
    assert getattr(sg, name)(x, a).same(sg.where(x > 0, x, wanted))
    assert sg.compile(sg.grad(getattr(sg, name)(x, a), x))(x=1e4, a=2.0) == 1
    with pytest.raises(UsageError, match=rf"{name} takes 1 or 2 arguments, got 3"):
        getattr(sg, name)(x, a, a)


def test_remainder_and_quotient() -> None:
    x, y = sg.symbols("x y")
    pairs: list[tuple[Callable[[Any, Any], Any], str]] = [
        (operator.mod, "x % y"),
        (lambda a, b: a // b, "x // y"),
    ]
    for of, text in pairs:
        z = of(x, y)
        assert z.same(sg.parse(text, symbols={"x": x, "y": y}).last)
        for a in (-7.5, -3.0, 0.0, 2.25, 7.0):
            for b in (-3.0, 0.5, 2.0):
                assert sg.compile(z)(a, b) == of(a, b) == z(x=a, y=b)
    assert (7 % x).same(public("mod")(7, x))
    assert (7 // x).same(public("floor_divide")(7, x))
    assert [str(e) for e in divmod(x, 2)] == ["floor(x/2)", "x - 2*floor(x/2)"]
    assert [str(e) for e in divmod(7, x)] == ["floor(7/x)", "7 - x*floor(7/x)"]
    assert str(sg.grad(x % y, y)) == "-floor(x/y)"
    e = sg.parse("-x % y**2 * 2 // -3").last
    x, y = e.inputs
    assert e.same((-x) % (y**2) * 2 // -3)


def test_numpy_and_scipy_names_on_expressions() -> None:
    numpy: Any = np
    x, y = sg.symbols("x y")
    assert numpy.logaddexp(x, y).same(sg.logaddexp(x, y))
    assert numpy.heaviside(x, 0.5).same(sg.heaviside(x, 0.5))
    assert numpy.mod(x, 2).same(x % 2)
    assert (numpy.floor_divide(x, 2)).same(x // 2)
    assert special.xlogy(x, y).same(sg.special.xlogy(x, y))
    assert special.huber(1, x).same(sg.special.huber(1, x))
    for name in ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"):
        assert getattr(sg, name)(x).same(getattr(numpy, name)(x))
    assert sg.arctan2(y, x).same(numpy.arctan2(y, x))
    assert sg.log(x).same(sg.log(x))
    assert sg.special.expit(x).same(sg.nn.sigmoid(x))
