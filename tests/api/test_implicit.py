"""implicit: values against mpmath's roots, derivatives against its differences, and searches that must fail."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import (
    ConvergenceError,
    MissingInputError,
    NotInProgramError,
    NotScalarError,
    SymgradError,
    UnsupportedError,
    UsageError,
)

E, M, EC = sg.symbols("E M e")
KEPLER = sg.implicit(E - EC * sg.sin(E) - M, E, start=M)
BETWEEN = sg.implicit(E - EC * sg.sin(E) - M, E, bracket=(M - 1, M + 1))
X, Y, Z, A, B, C = sg.symbols("x y z a b c")


def kepler(mean: Any, eccentricity: Any) -> Any:
    with mp.workdps(40):
        low, high = mp.mpf(mean) - eccentricity, mp.mpf(mean) + eccentricity
        return mp.findroot(
            lambda t: t - eccentricity * mp.sin(t) - mean, (low, high), solver="anderson", tol=1e-70
        )


# -- values ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solved", [KEPLER, BETWEEN])
@pytest.mark.parametrize("mean", [1e-40, 1e-9, 0.01, 1.0, 3.0, 3.14159, -2.5, 100.0])
@pytest.mark.parametrize("eccentricity", [1e-30, 0.1, 0.9, 0.999])
def test_keplers_equation(solved: Any, mean: float, eccentricity: float) -> None:
    np.testing.assert_allclose(
        float(solved(M=mean, e=eccentricity)), float(kepler(mean, eccentricity)), rtol=1e-13
    )


def test_a_known_value_of_keplers_equation() -> None:
    # Meeus, Astronomical Algorithms (1998), chapter 30: M = 5 degrees, e = 0.1, E = 5.554589 degrees.
    assert round(float(np.degrees(KEPLER(M=np.radians(5), e=0.1))), 6) == 5.554589


F, RE, ROUGH = sg.symbols("f Re r", "positive")
COLEBROOK = sg.implicit(1 / sg.sqrt(F) + 2 * sg.log10(ROUGH / 3.7 + 2.51 / (RE * sg.sqrt(F))), F, start=0.02)


@pytest.mark.parametrize("reynolds", [4e3, 1e5, 1e8, 1e20])
@pytest.mark.parametrize("rough", [0.0, 1e-6, 1e-4, 0.05])
def test_colebrooks_friction_factor(reynolds: float, rough: float) -> None:
    with mp.workdps(40):
        # Solved for 1/sqrt(f) by Lambert's W (Keady 1998).
        a, b, r = mp.mpf(rough) / mp.mpf("3.7"), mp.mpf("2.51") / mp.mpf(reynolds), 2 / mp.log(10)
        if a / b / r < 500:
            y = r * mp.lambertw(mp.exp(a / (b * r)) / (b * r)) - a / b
        else:
            y = mp.findroot(lambda t: t + 2 * mp.log10(a + b * t), 8)
        known = 1 / y**2
    np.testing.assert_allclose(float(COLEBROOK(Re=reynolds, r=rough)), float(known), rtol=1e-12)


def test_a_value_of_moodys_chart() -> None:
    assert round(float(COLEBROOK(Re=1e5, r=1e-4)), 4) == 0.0185


QUINTIC = [
    sg.implicit(Z**5 + Z - X, Z, start=0),
    sg.implicit(Z**5 + Z - X, Z, start=1e6),
    sg.implicit(Z**5 + Z - X, Z, bracket=(-1e9, 1e9)),
    sg.implicit(Z**5 + Z - X, Z, bracket=(1e300, -1e300)),
]


@given(st.floats(-40, 40), st.booleans())
def test_a_monotone_equation_of_any_size(exponent: float, negative: bool) -> None:
    x = (-1.0 if negative else 1.0) * 10.0**exponent

    def exact(t: float) -> Fraction:
        return Fraction(t) ** 5 + Fraction(t) - Fraction(x)

    for solved in QUINTIC:
        found = float(solved(x=x))
        ends = exact(found * (1 - 1e-15)), exact(found * (1 + 1e-15))
        assert min(ends) < 0 < max(ends)


def test_arrays_broadcast() -> None:
    means, eccentricities = np.linspace(-3, 3, 50), np.array([[0.0], [0.3], [0.9]])
    found = KEPLER(M=means, e=eccentricities)
    assert found.shape == (3, 50)
    np.testing.assert_allclose(
        found - eccentricities * np.sin(found), np.broadcast_to(means, (3, 50)), atol=1e-15
    )
    assert isinstance(KEPLER(M=1, e=0), np.float64)
    assert KEPLER(M=np.ones((0, 2)), e=0.1).shape == (0, 2)
    one_by_one = [KEPLER(M=m, e=0.9) for m in means]
    np.testing.assert_array_equal(found[2], one_by_one)


def test_steps_stay_in_the_domain_of_the_unknown() -> None:
    p, q = sg.symbols("p", "positive"), sg.symbols("q")
    assert sg.implicit(p**2 - X, p, start=100)(x=4.0) == 2
    assert sg.implicit(q**2 - X, q, start=-100)(x=4.0) == -2
    np.testing.assert_allclose(sg.implicit(sg.log(p) + X, p, start=50)(x=3.0), np.exp(-3), rtol=1e-15)


def test_the_start_chooses_among_solutions() -> None:
    found = sg.implicit(sg.sin(Z) - X, Z, start=A)(x=0.0, a=[0.1, 3.0, 6.0, -9.5])
    np.testing.assert_allclose(found, np.pi * np.array([0, 1, 2, -3]), atol=1e-15)


def test_a_slope_that_overflows_is_no_solution() -> None:
    equation = sg.exp(Z + 2) / (sg.log(Z) - (Z - 3)) - X
    with pytest.raises(ConvergenceError):
        sg.implicit(equation, Z, start=1.5)(x=1.0)


def test_a_solution_of_0_beside_terms_that_are_not() -> None:
    found = sg.implicit(sg.log(2 * (X + Z)), Z, start=0.3, atol=1e-12)(x=[0.5, 0.5 + 1e-9, 0.1])
    np.testing.assert_allclose(found, [0, -1e-9, 0.4], atol=1e-12)


def test_an_equation_without_inputs() -> None:
    found = sg.implicit(sg.cos(Z) - Z, Z, start=1)
    np.testing.assert_allclose(found(), 0.7390851332151607, rtol=1e-15)
    assert str(found) == "z with cos(z) - z = 0"


# -- derivatives -------------------------------------------------------------------------------------------------


def test_the_derivatives_of_lamberts_function() -> None:
    found = sg.implicit(Z * sg.exp(Z) - X, Z, start=sg.log(1 + sg.abs(X)))
    known: Any = sg.special.lambertw(X)
    mine: Any = Z
    at = np.array([-0.3, -0.01, 1e-20, 0.5, 3.0, 1e5])
    for _ in range(4):
        np.testing.assert_allclose(found.evaluate(mine, x=at), known(x=at), rtol=1e-11)
        mine, known = found.grad(mine, X), sg.grad(known, X)


@pytest.mark.parametrize(("order_m", "order_e"), [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (1, 2), (3, 0)])
def test_the_derivatives_of_keplers_equation(order_m: int, order_e: int) -> None:
    y: Any = E
    for _ in range(order_m):
        y = KEPLER.grad(y, M)
    for _ in range(order_e):
        y = KEPLER.grad(y, "e")
    with mp.workdps(60):
        known = mp.diff(
            lambda m, e: mp.findroot(lambda t: t - e * mp.sin(t) - m, 1.2),
            (mp.mpf(1), mp.mpf("0.3")),
            (order_m, order_e),
        )
    np.testing.assert_allclose(float(KEPLER.evaluate(y, M=1.0, e=0.3)), float(known), rtol=1e-12)


def test_formulas_of_the_solution() -> None:
    position = sg.cos(E) - EC
    by_e, by_m = KEPLER.grad(position, [EC, "M"])
    found = KEPLER.evaluate([position, by_e, by_m], M=[0.5, 1.0], e=0.3)
    with mp.workdps(40):
        for k, m in enumerate((mp.mpf("0.5"), mp.mpf(1))):

            def exact(m: Any, e: Any) -> Any:
                return mp.cos(mp.findroot(lambda t: t - e * mp.sin(t) - m, m)) - e

            e = mp.mpf("0.3")
            known = exact(m, e), mp.diff(exact, (m, e), (0, 1)), mp.diff(exact, (m, e), (1, 0))
            np.testing.assert_allclose([f[k] for f in found], [float(v) for v in known], rtol=1e-12)


def test_what_does_not_read_the_unknown_has_its_own_gradient() -> None:
    assert str(KEPLER.grad(sg.sin(M) * X, M)) == "x*cos(M)"
    assert str(KEPLER.grad(sg.stop_gradient(E) * M, M)) == "stop_gradient(E)"
    assert KEPLER.evaluate(KEPLER.grad(E * X, X), M=1.0, e=0.0, x=7.0) == 1.0


# -- systems -----------------------------------------------------------------------------------------------------

TWO = sg.implicit([X**2 + Y**2 - A, X * Y - B], [X, Y], start=[2.0, 0.1])
THREE = sg.implicit([X + Y + Z - A, X * Y + Z**2 - B, X * Y * Z - C], ["x", "y", "z"], start=[1.2, 1.9, 3.1])


def test_two_unknowns() -> None:
    x, y = TWO(a=[5.0, 6.0], b=2.0)
    np.testing.assert_allclose(x**2 + y**2, [5, 6], rtol=1e-15)
    np.testing.assert_allclose(x * y, 2, rtol=1e-15)
    second = TWO.grad(TWO.grad(X * Y**2, A), B)
    with mp.workdps(40):

        def exact(a: Any, b: Any) -> Any:
            x, y = mp.findroot(lambda x, y: (x * x + y * y - a, x * y - b), (2, 0.9))
            return x * y**2

        known = [float(mp.diff(exact, (5, 2), order)) for order in ((1, 0), (1, 1))]
    found = TWO.evaluate([TWO.grad(X * Y**2, A), second], a=5.0, b=2.0)
    np.testing.assert_allclose(found, known, rtol=1e-12)


def test_three_unknowns() -> None:
    np.testing.assert_allclose(THREE(a=6, b=11, c=6), [1, 2, 3], rtol=1e-14)
    y = X * Z + C
    outputs = [y, THREE.grad(y, A), THREE.grad(y, C), THREE.grad(THREE.grad(y, A), C)]
    found = THREE.evaluate(outputs, a=[6.0, 6.1], b=11.0, c=6.0)
    with mp.workdps(40):

        def exact(a: Any, c: Any) -> Any:
            system: Any = lambda x, y, z: (x + y + z - a, x * y + z * z - 11, x * y * z - c)  # noqa: E731
            x, _, z = mp.findroot(system, (1.1, 1.9, 3.05))
            return x * z + c

        for k, a in enumerate((mp.mpf(6), mp.mpf(6.1))):
            orders = [(0, 0), (1, 0), (0, 1), (1, 1)]
            known = [float(mp.diff(exact, (a, mp.mpf(6)), order)) for order in orders]
            np.testing.assert_allclose([f[k] for f in found], known, rtol=1e-10)


ENTRIES = [[sg.symbols(f"m{i}{j}") for j in range(2)] for i in range(2)]
LINEAR = sg.implicit(
    [ENTRIES[0][0] * X + ENTRIES[0][1] * Y - A, ENTRIES[1][0] * X + ENTRIES[1][1] * Y - B],
    [X, Y],
    start=[0, 0],
)


@given(st.lists(st.floats(-3, 3), min_size=4, max_size=4), st.floats(-20, 20), st.floats(-20, 20))
def test_a_linear_system_is_solved_at_once(entries: list[float], p: float, q: float) -> None:
    matrix = np.reshape(entries, (2, 2)) + np.diag([7.0, -7.0])
    given_ = {f"m{i}{j}": matrix[i, j] for i in range(2) for j in range(2)} | {"a": p, "b": q}
    np.testing.assert_allclose(LINEAR(**given_), np.linalg.solve(matrix, [p, q]), rtol=1e-12, atol=1e-14)
    rows = [[LINEAR.evaluate(LINEAR.grad(z, x), **given_) for x in (A, B)] for z in (X, Y)]
    np.testing.assert_allclose(rows, np.linalg.inv(matrix), rtol=1e-12, atol=1e-15)


# -- what it says ------------------------------------------------------------------------------------------------


def test_it_prints_its_derivatives() -> None:
    assert str(KEPLER) == (
        "E with E - e*sin(E) - M = 0\n  dE_de = sin(E)/(1 - e*cos(E))\n  dE_dM = 1/(1 - e*cos(E))"
    )
    assert str(TWO).splitlines()[:2] == [
        "x, y with x**2 + y**2 - a = 0, x*y - b = 0",
        "  dx_da = x/(2*(x**2 - y**2))",
    ]
    assert repr(THREE) == "<Implicit x, y, z of a, b, c>"
    assert "solve" not in str(THREE)


@pytest.mark.parametrize(
    ("solved", "values", "what"),
    [
        (
            sg.implicit(sg.log(X / Z) / 2 + 500 + 0 * Z, Z, start=50),
            {"x": 1e300},
            "no solution",
        ),  # z overflows
        (sg.implicit(X + sg.log(Z), Z, start=50), {"x": 1e3}, "no solution"),  # and here it underflows
        (
            sg.implicit(sg.sqrt(sg.exp(X - Z)), Z, start=50),
            {"x": 20.0},
            "no solution",
        ),  # 0 by underflow alone
        (
            sg.implicit(X * Z + sg.sqrt(sg.log(Z)), Z, start=1.5),
            {"x": 1.0},
            "no solution",
        ),  # a vertical tangent
        (sg.implicit((Z - X) ** 2, Z, start=2), {"x": 1.3}, "no solution"),  # a double zero
        (sg.implicit(Z * sg.sin(X) * Z, Z, start=2), {"x": 1.3}, "no solution"),
        (sg.implicit(sg.sqrt(sg.sin(Z)) * X, Z, start=3), {"x": 1.3}, "no solution"),  # the end of a domain
        (
            sg.implicit(sg.log(2 * (X + Z)), Z, start=0.3),
            {"x": 0.5},
            "no solution",
        ),  # 0, as far as rounding tells
        (sg.implicit(Z**2 + X, Z, start=1), {"x": 1.0}, r"at x = 1: .* 1 is left of the equation\n"),
        (
            sg.implicit(Z**2 + X, Z, start=1),
            {"x": [-1.0, 1.0, 2.0]},
            r"at x = 1: .*; 2 of 3 points have none",
        ),
        (sg.implicit(sg.exp(-Z) * X, Z, start=1), {"x": 1.0}, "no solution"),
        (sg.implicit(X / Z, Z, start=1), {"x": 1.0}, "no solution"),
        (sg.implicit(1 / (Z - X), Z, bracket=(0, 2)), {"x": 1.1}, "no solution"),
        (sg.implicit(1 / (X - Z), Z, bracket=(0, 2)), {"x": 0.3}, "no solution"),
        (sg.implicit(sg.tan(Z) + 0 * X, Z, bracket=(1, 2)), {"x": 0.3}, "no solution"),
        (sg.implicit(sg.floor(Z) - X, Z, bracket=(0, 2)), {"x": 0.5}, "0.5 is left"),
        (sg.implicit(sg.where(Z < X, Z - 3, Z + 3), Z, bracket=(0, 2)), {"x": 1.0}, "no solution"),
        (sg.implicit(Z**2 + X, Z, bracket=(-1, 1)), {"x": 1.0}, "no solution"),
        (sg.implicit(sg.log(Z) - X, Z, start=-1), {"x": 1.0}, "nan is left"),
        (sg.implicit(Z - X, Z, start=1), {"x": np.nan}, "at x = nan"),
        (sg.implicit(Z**3 - X, Z, bracket=(-1, 1)), {"x": 0.0}, "0 is left"),
        (
            sg.implicit([X + Y - A, 2 * X + 2 * Y - B], [X, Y], start=[0, 0]),
            {"a": 1.0, "b": 3.0},
            "equations",
        ),
        (sg.implicit(sg.tanh(1e12 * (Z - 1)) + 2 * X, Z, start=1), {"x": 1.0}, "no solution"),
    ],
)
def test_what_has_no_regular_solution_is_an_error(
    solved: sg.results.Implicit, values: dict[str, Any], what: str
) -> None:
    with pytest.raises(ConvergenceError, match=what):
        solved(**values)


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (MissingInputError, "no value for e", lambda: KEPLER(M=1.0)),
        (MissingInputError, "'q' is not an input", lambda: KEPLER(M=1.0, e=0.1, q=3)),
        (MissingInputError, "'E' is not an input", lambda: KEPLER(M=1.0, e=0.1, E=3)),
        (UsageError, "'E' is an unknown", lambda: KEPLER.grad(E, E)),
        (NotInProgramError, "'q' is no input", lambda: KEPLER.grad(E, "q")),
        (NotScalarError, "grad needs a scalar", lambda: KEPLER.grad(sg.tensor("v", (2,)) * E, M)),
        (NotInProgramError, "no equation reads an input 'y'", lambda: sg.implicit(Z - X, Y, start=1)),
        (UsageError, "there is no start", lambda: sg.implicit(Z - X, Z)),
        (UsageError, "2 equations for 1 unknowns", lambda: sg.implicit([Z - X, X], [Z], start=[1])),
        (UsageError, "2 starts for 1 unknowns", lambda: sg.implicit([Z - X], [Z], start=[1, 2])),
        (UsageError, "a bracket of 1 ends", lambda: sg.implicit(Z - X, Z, bracket=(1,))),  # type: ignore[arg-type]
        (UsageError, "names one input twice", lambda: sg.implicit([Z - X, X], [Z, Z], start=[1, 2])),
        (UsageError, "the start 'z'", lambda: sg.implicit(Z - X, Z, start=Z)),
        (UsageError, "a search from inf", lambda: sg.implicit(Z - X, Z, start=np.inf)),
        (UsageError, "which is int", lambda: sg.implicit(sg.symbols("n", "int") - X, "n", start=1)),
        (UsageError, "atol=-1", lambda: sg.implicit(Z - X, Z, start=1, atol=-1)),
        (NotScalarError, "an equation has shape", lambda: sg.implicit(sg.tensor("v", (2,)) - Z, Z, start=1)),
        (
            UnsupportedError,
            "the array 'v'",
            lambda: sg.implicit(sg.sum(sg.tensor("v", (2,))) - Z, Z, start=1),
        ),
        (UnsupportedError, "stop_gradient", lambda: sg.implicit(sg.stop_gradient(Z) - X, Z, start=1)),
    ],
)
def test_what_does_not_fit_is_refused(error: type[SymgradError], match: str, call: Callable[[], Any]) -> None:
    with pytest.raises(error, match=match):
        call()


STEPS = """
z, a : {}
h[0] = z
h[t] = h[t-1] + sin(a*h[t-1])/10 for t in 1..4
f = h[4] - 2
"""


def test_an_equation_of_a_recurrence_is_that_of_its_steps() -> None:
    p = sg.parse(STEPS.format("real"))
    z, a = p["z"], p["a"]
    written = z
    for _ in range(4):
        written = written + sg.sin(a * written) / 10
    one, other = (sg.implicit(f, z, start=1.5) for f in (p["f"], written - 2))
    at = np.linspace(0.2, 0.9, 3)
    np.testing.assert_allclose(one(a=at), other(a=at), rtol=1e-12)
    first, second = one.grad(z, a), other.grad(z, a)
    np.testing.assert_allclose(one.evaluate(first, a=at), other.evaluate(second, a=at), rtol=1e-10)
    np.testing.assert_allclose(
        one.evaluate(one.grad(first, a), a=at), other.evaluate(other.grad(second, a), a=at), rtol=1e-9
    )
    assert str(one).startswith("z with h[4] - 2 = 0\n  dz_da = -")
    assert "in 1..4" in str(one)


def test_an_equation_of_a_search() -> None:
    """The derivative is that of the steps, here of a square root, so z is a**2/4."""
    p = sg.parse(
        "z, a : positive\nh[0] = a\n"
        "h[k] = h[k-1] - (h[k-1]**2 - z)/(2*h[k-1]) until abs(h[k]**2 - z) < 1e-14, at most 50\nf = h[50] - a/2"
    )
    root = sg.implicit(p["f"], p["z"], bracket=(0.01, 4))
    assert float(root(a=0.7)) == pytest.approx(0.7**2 / 4)
    assert float(root.evaluate(root.grad(p["z"], p["a"]), a=0.7)) == pytest.approx(0.35, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T : size; " + STEPS.format("real").replace("4", "T"), "the size T"),
        ("x : real[3]; z : real; f = sum(x)*z - 1", "the array 'x'"),
        (STEPS.format("real").replace("sin(a*h[t-1])", "sin(a*stop_gradient(h[t-1]))"), "stop_gradient"),
    ],
)
def test_equations_that_are_not_solved(text: str, message: str) -> None:
    p = sg.parse(text)
    with pytest.raises(UnsupportedError, match=message):
        sg.implicit(p["f"], p["z"], start=1.5)
