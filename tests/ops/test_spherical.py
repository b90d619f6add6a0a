"""sinc and the spherical Bessel functions: derivatives of every order at 0, beside it and far away."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import symgrad as sg
from symgrad.errors import UnsupportedError

MP = mpmath.MPContext()
MP.dps = 60
POINTS = [0.0, -0.0, 1e-300, -1e-40, 1e-12, 1e-3, -0.2, 0.5, 1.0, 1.4302966531242027, -2.75, 9.0, 40.125]


def exact_derivative(n: int, x: float) -> Any:
    """The n-th derivative of sinc is the integral of (pi*t)**n*cos(pi*x*t + n*pi/2) over 0 < t < 1; by series here."""
    at, total, k = MP.mpf(x), MP.mpf(0), 0
    terms = int(60 + 10 * abs(x))
    with MP.workdps(60 + int(4 * abs(x))):
        for k in range((n + 1) // 2, (n + 1) // 2 + terms):
            # (-1)**k*(pi*x)**(2*k)/(2*k + 1)!
            power = MP.mpf(1) if 2 * k == n else at ** (2 * k - n)
            total += (-1) ** k * MP.pi ** (2 * k) * MP.ff(2 * k, n) * power / MP.factorial(2 * k + 1)
    return +total


@pytest.mark.parametrize("order", range(8))
def test_derivatives_of_sinc_are_right_at_zero_and_elsewhere(order: int) -> None:
    p = sg.parse("x : real\ny = sinc(x)")
    e = p["y"]
    for _ in range(order):
        e = sg.grad(e, p["x"])
    kernel = sg.compile([e], inputs=[p["x"]])
    values = kernel(np.array(POINTS))
    size = float(MP.pi**order)
    for x, value in zip(POINTS, values, strict=True):
        exact = exact_derivative(order, x)
        # pi*x is rounded: an error of x*epsilon in an oscillation of this size.
        allowed = 2**-52 * size * (20 + abs(x))
        assert abs(MP.mpf(float(value)) - exact) <= allowed, (order, x)
        assert abs(MP.mpf(float(e(x=x))) - exact) <= allowed, (order, x)
        if abs(x) <= 1e-12 and exact:
            assert abs(MP.mpf(float(value)) / exact - 1) < 2**-48, (order, x)


@given(st.floats(-1e40, 1e40))
def test_sinc_in_kernels_is_within_two_units_also_beside_its_roots(x: float) -> None:
    value = MP.mpf(float(KERNEL(np.array([x]))[0]))
    exact = MP.sincpi(MP.mpf(x))
    assert abs(value - exact) <= abs(exact) * 2**-51


X = sg.symbols("x")
KERNEL = sg.compile([sg.special.sinc(X)], inputs=[X])


def test_sinc_is_zero_at_whole_numbers_as_numpy_says_up_to_rounding() -> None:
    whole = np.array([1.0, -2.0, 17.0, 1e15, 2.0**60, 1e300])
    assert not KERNEL(whole).any()
    x = np.linspace(-7, 7, 101)
    np.testing.assert_allclose(KERNEL(x), np.sinc(x), rtol=0, atol=4e-16)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 13, 20])
def test_spherical_functions_agree_with_scipy(n: int) -> None:
    x = np.concatenate([np.linspace(-30, 30, 301), [1e3, 1e6, np.inf]])
    kernel = sg.compile([sg.special.spherical_jn(n, X)], inputs=[X])
    np.testing.assert_allclose(kernel(x), special.spherical_jn(n, x), rtol=1e-9, atol=3e-15)


def test_orders_without_a_value() -> None:
    assert np.isnan(sg.special.spherical_jn(-1, X)(x=0.5))
    assert np.isnan(sg.special.spherical_jn(0.5, X)(x=0.5))
    with pytest.raises(UnsupportedError, match="order 21 has no native code"):
        sg.compile([sg.special.spherical_jn(21, X)], inputs=[X])
    assert sg.special.spherical_jn(21, X)(x=25.0) == pytest.approx(special.spherical_jn(21, 25.0), rel=1e-12)
    n = sg.symbols("n")
    with pytest.raises(UnsupportedError, match="with respect to its order n has no closed form"):
        sg.grad(sg.special.spherical_jn(n, X), n)


def test_spellings() -> None:
    by_numpy: Any = np.sinc(X)
    assert by_numpy.same(sg.special.sinc(X))
    assert str(sg.grad(sg.special.sinc(X), X)) == "-pi*spherical_jn(1, pi*x)"
    assert sg.special.sinc(X).latex() == r"\operatorname{sinc}\left(x\right)"
    assert "np.sinc(x)" in sg.special.sinc(X).numpy_source()


def test_sympy_counts_the_angle_in_radians() -> None:
    x = sympy.Symbol("x", real=True)
    e = sg.from_sympy(sympy.sinc(x))
    assert str(e) == "spherical_jn(0, x)"
    assert e(x=0.0) == 1
    for point in (0.3, -2.5, 11.0):
        assert e(x=point) == pytest.approx(float(sympy.sinc(point)), rel=1e-14)
        written: Any = sg.special.sinc(X).sympy().doit().subs(x, point)
        assert sg.special.sinc(X)(x=point) == pytest.approx(float(written), rel=1e-13)
    assert sg.from_sympy(sg.special.sinc(X).sympy()).same(sg.special.sinc(X))
    assert str(sg.from_sympy(sympy.jn(2, x))) == "spherical_jn(2, x)"


VERDICTS = [
    ("sinc(x)", "sin(pi*x)/(pi*x)", "proved"),
    ("sinc(x)", "sin(x)/x", "refuted"),
    ("spherical_jn(3, x)", "5*spherical_jn(2, x)/x - spherical_jn(1, x)", "proved"),
    ("spherical_jn(0, pi*x)", "sinc(x)", "proved"),
    ("sinc(x)", "sinc(-x)", "proved"),
]


@pytest.mark.parametrize(("left", "right", "status"), VERDICTS)
def test_verdicts(left: str, right: str, status: str) -> None:
    p = sg.parse(f"x : real\na = {left}\nb = {right}")
    assert sg.equal(p["a"], p["b"]).status == status


SLOPES = [
    ("-pi*spherical_jn(1, pi*x)", "proved"),
    ("(cos(pi*x) - sinc(x))/x", "proved"),
    ("(cos(pi*x) + sinc(x))/x", "refuted"),
]


@pytest.mark.parametrize(("claim", "status"), SLOPES)
def test_verdicts_on_its_derivative(claim: str, status: str) -> None:
    p = sg.parse("x : real\ny = sinc(x)")
    assert sg.verify(p["y"], p["x"], claim).status == status


def test_arrays_go_entry_by_entry() -> None:
    p = sg.parse("x : real[n]\ny = sum(sinc(x)**2)")
    kernel = sg.compile([sg.grad(p["y"], p["x"])], inputs=[p["x"]])
    x = np.array([0.0, 0.5, -1.5])
    slope = np.where(x == 0, 0, (np.cos(np.pi * x) - np.sinc(x)) / np.where(x == 0, 1, x))
    np.testing.assert_allclose(kernel(x), 2 * np.sinc(x) * slope, atol=1e-15)
