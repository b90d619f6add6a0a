"""Uncompiled evaluation, and the values that may enter it."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import errors
from symgrad.ir.graph import symbol
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate, evaluate_mp


def test_values_by_name_position_and_broadcasting():
    x, u = sg.symbols("x u")
    z = x**2 * u
    assert z(x=3.0, u=2) == 18
    assert z(3, 2.0) == 18
    assert z(3, u=Fraction(1, 2)) == 4.5
    assert np.array_equal(z([[1.0], [2.0]], [1.0, 10.0]), [[1, 10], [4, 40]])


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"x": 1j, "u": 1}, errors.ComplexInputError, "input 'x' is complex"),
        ({"x": "a", "u": 1}, errors.ArrayTypeError, "input 'x' is an array of dtype <U1"),
        ({"x": object(), "u": 1}, errors.ArrayTypeError, "dtype object"),
        ({"x": date.today(), "u": 1}, errors.ArrayTypeError, "dtype object"),
        ({"x": np.datetime64("2020-01-01"), "u": 1}, errors.ArrayTypeError, "datetime64"),
        ({"x": [[1, 2], [3]], "u": 1}, errors.ArrayTypeError, "cannot be read as an array"),
        ({"x": 1}, errors.MissingInputError, "no value for u"),
        ({"x": 1, "u": 1, "v": 2}, errors.MissingInputError, "'v' is not an input"),
        ({"x": [1, 2], "u": [1, 2, 3]}, errors.ShapeError, "do not broadcast"),
    ],
)
def test_bad_values_are_named(values, error, text):
    x, u = sg.symbols("x u")
    with pytest.raises(error, match=text):
        (x * u)(**values)


def test_declared_shapes_are_checked_and_sizes_bound():
    p = sg.parse("X : real[n, 2]\nw : real[n, 1]\ny = X*w")
    assert p["y"](X=np.ones((3, 2)), w=np.ones((3, 1))).shape == (3, 2)
    with pytest.raises(errors.ShapeError, match=r"size n is 3 in 'X' of shape .* and 4 in 'w'"):
        p["y"](X=np.ones((3, 2)), w=np.ones((4, 1)))
    with pytest.raises(errors.ShapeError, match="input 'X' has shape"):
        p["y"](X=np.ones((3, 5)), w=np.ones((3, 1)))


def test_outside_the_reals_is_nan_without_a_warning():
    x = sg.symbols("x")
    assert np.isnan(sg.log(x)(x=-1.0))
    assert np.isnan(sg.sqrt(x)(x=-1.0))
    assert np.isnan((x ** Fraction(1, 3))(x=-8.0))
    assert sg.cbrt(x)(x=-8.0) == -2


def test_a_constant_beyond_floats_is_an_error_not_infinity():
    with pytest.raises(errors.NumberTooLargeError):
        sg.parse("9**9**9**9").last()
    with pytest.raises(errors.NumberTooLargeError):
        sg.parse("x*10**400").last(x=1.0)
    with pytest.raises(errors.NumberTooLargeError):
        sg.compile(sg.parse("x*9**9**9**9").last)


def test_an_input_that_a_gradient_lost_may_still_be_given():
    p = sg.parse("x : real\nu ~ Uniform(0, 1)\ny = 3*x + u")
    g = sg.grad(p["y"], p["x"])
    assert g(x=1.0, u=0.5) == 3
    with pytest.raises(errors.MissingInputError):
        g(x=1.0, q=0.5)


def test_python_floats_are_doubles_in_powers():
    x = symbol(Declaration("x"))
    (value,) = evaluate([x**2], {x: 0.1})
    assert value.dtype == np.float64
    assert value == 0.1**2


@pytest.mark.parametrize("text", ["exp(1000)*x", "exp(10)**1000 + x", "where(x > exp(1000), 1, 2)"])
def test_a_constant_beyond_the_floats_is_an_error_at_every_door(text):
    y = sg.parse(text).last
    with pytest.raises(errors.NumberTooLargeError, match="is beyond the largest float"):
        y(x=2.0)
    with pytest.raises(errors.NumberTooLargeError, match="is too large for float64"):
        sg.compile(y)


def test_a_number_beyond_the_floats_is_an_error():
    with pytest.raises(errors.NumberTooLargeError, match="is beyond the largest float"):
        sg.parse("x + 10**400").last(x=2.0)


@pytest.mark.parametrize("text", ["1/0*x", "log(0)*x", "log1p(-1)*x", "x + atanh(1)", "x - atanh(-1)"])
def test_a_constant_at_a_pole_is_infinite_at_every_door(text):
    y = sg.parse(text).last
    value = y(x=2.0)
    assert np.isinf(value)
    assert value == sg.compile(y)(2.0)


def test_an_int_input_takes_whole_numbers_only():
    p = sg.parse("k : int\nx : real\ny = k*x")
    assert p["y"](k=3.0, x=0.5) == 1.5
    kernel = sg.compile(p["y"])
    assert np.array_equal(kernel([1, 2], 0.5), [0.5, 1.0])
    for call in (p["y"], kernel):
        with pytest.raises(
            errors.ArrayTypeError, match=r"'k' is declared int, and one of its values is 3\.5"
        ):
            call(k=[1.0, 3.5], x=1.0)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("exp(exp(exp(exp(x))))", "inf"),
        ("-expm1(exp(exp(exp(x))))", "-inf"),
        ("exp(-exp(exp(exp(exp(x)))))", "0"),
        ("where(exp(exp(exp(exp(x)))) > x, x, 1)", "3"),
        ("sin(exp(exp(exp(exp(x)))))", "nan"),
    ],
)
def test_values_without_end_are_infinite(text: str, wanted: str) -> None:
    mp = mpmath.MPContext()
    x = sg.symbols("x").node
    (found,) = evaluate_mp(mp, [sg.parse(f"x : real\ny = {text}")["y"].node], {x: mp.mpf(3)})
    assert mp.nstr(found).removesuffix(".0").removeprefix("+") == wanted
