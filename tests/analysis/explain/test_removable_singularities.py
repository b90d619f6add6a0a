"""Points that are 0/0: where, the limit, a form that computes it, and how many digits are lost beside it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedError, UsageError
from symgrad.ir.values.evaluate import evaluate_mp

PROGRAMS = Path(__file__).parents[3] / "examples" / "programs"

RATES = """
V : real
a_n = 0.01*(V + 55)/(1 - exp(-(V + 55)/10))
a_m = 0.1*(V + 40)/(1 - exp(-(V + 40)/10))
b_m = 4*exp(-(V + 65)/18)
r = a_m/(a_m + b_m) + a_n
"""

SABR = """
F, K, alpha, nu : positive
rho : real(-1, 1)
z = nu/alpha*log(F/K)
chi = log((sqrt(1 - 2*rho*z + z**2) + z - rho)/(1 - rho))
sigma = alpha*z/chi
"""

NAMES = {n: n for n in ("sin", "cos", "tan", "exp", "expm1", "sinh", "cosh", "tanh", "log", "sqrt")}
NAMES |= {"Si": "si", "Shi": "shi"}

FORMULAS = [
    ("sin(x)/x", "x = 0", "1"),
    ("(1 - cos(x))/x**2", "x = 0", "1/2"),
    ("x/(exp(x) - 1)", "x = 0", "1"),
    ("(exp(x) - 1 - x)/x**2", "x = 0", "1/2"),
    ("(x**2 - 1)/(x - 1)", "x = 1", "2"),
    ("tanh(x)/x", "x = 0", "1"),
    ("log(1 + x)/x", "x = 0", "1"),
    ("(sqrt(4 + x) - 2)/x", "x = 0", "1/4"),
    ("1/x - 1/sin(x)", "x = 0", "0"),
    ("(tan(x) - x)/(x - sin(x))", "x = 0", "2"),
    ("cosh(x)/sinh(x) - 1/x", "x = 0", "0"),
    ("(x**3 - 8)/(x**2 - x - 2)", "x = 2", "4"),
    ("(exp(2*x) - 3*exp(x) + 2)/(exp(x) - 1)", "x = 0", "-1"),
    ("1/(exp(x) - 1) - 1/x", "x = 0", "-1/2"),
    ("(x - 2)/(x**2 - 4)*(x + 7)", "x = 2", "9/4"),
    ("Si(x)/x", "x = 0", "1"),
    ("Shi(x)/x", "x = 0", "1"),
]


@pytest.mark.parametrize(("formula", "where", "limit"), FORMULAS)
def test_the_limit_is_named_and_a_form_has_its_digits(formula, where, limit) -> None:
    c = sg.check_domain(f"x : real\ny = {formula}")
    gap = next(g for g in c.gaps if g.where == where)
    assert str(gap.limit) == limit
    assert gap.form is not None
    at = float(where.split(" = ")[1])
    form = c.form if c.form is not None else gap.form
    with mpmath.workdps(60):
        names = {n: getattr(mpmath, own) for n, own in NAMES.items()}
        for h in [1.0, 0.3, 0.02, 1e-3, 1e-5, 1e-8, 1e-12, -1e-12, -1e-6, -0.01, -0.4]:
            x = at + h
            truth = eval(formula, {**names, "x": mpmath.mpf(x)})
            found = float(form(x=x))
            assert abs(found - float(truth)) <= 2e-13 * max(abs(float(truth)), 0.1), (formula, h)
    assert float(form(x=at)) == pytest.approx(eval(limit), abs=1e-15)


def test_rates_of_hodgkin_and_huxley() -> None:
    p = sg.parse(RATES)
    c = sg.check_domain(p["r"])
    assert [g.where for g in c.gaps] == ["V = -40", "V = -55"]
    assert [str(g.part) for g in c.gaps] == [str(p["a_m"]), str(p["a_n"])]
    assert c.form is not None
    v = np.array([-40.0, -55.0, -40.0 + 1e-9, -55.0 - 1e-7, -39.99, 10.0])
    with np.errstate(all="ignore"):
        assert np.isnan(p["r"](V=v)[:2]).all()
    with mpmath.workdps(50):

        def a(x: Any, c: float, mid: int) -> Any:
            u = x + mid
            return mpmath.mpf(c) * (u / -mpmath.expm1(-u / 10) if u else 10)

        for x, y in zip(v, c.form(V=v), strict=True):
            x = mpmath.mpf(float(x))
            m = a(x, 0.1, 40)
            truth = m / (m + 4 * mpmath.exp(-(x + 65) / 18)) + a(x, 0.01, 55)
            assert abs(y - float(truth)) < 1e-14
    slope = sg.grad(c.form, "V")
    one = sg.check_domain(p["a_m"]).form
    assert one is not None
    assert float(sg.grad(one, "V")(V=-40.0)) == pytest.approx(0.05, rel=1e-14)
    assert np.isfinite(slope(V=v)).all()


def test_digits_that_are_lost_are_counted() -> None:
    c = sg.check_domain(sg.parse(RATES)["a_m"])
    (gap,) = c.gaps
    assert f"\n  digits  lost near it: {gap.digits}\n" in str(c)
    assert 1 <= gap.lost[1e-3] < gap.lost[1e-6] < gap.lost[1e-9] <= 9
    g = sg.grad(sg.parse(RATES)["a_m"], "V")
    (slope,) = sg.check_domain(g).gaps
    assert (slope.where, str(slope.limit)) == ("V = -40", "0.05")
    assert slope.lost[1e-9] == 16
    assert "all at a distance of 1e-09" in slope.digits


def test_sabr_at_the_money() -> None:
    p = sg.parse(SABR)
    c = sg.check_domain(p["sigma"])
    (gap,) = c.gaps
    assert (gap.where, str(gap.limit)) == ("F = K", "alpha")
    assert c.form is not None
    values = {"K": 1.0, "alpha": 0.3, "nu": 0.4, "rho": -0.2}
    assert float(c.form(F=1.0, **values)) == 0.3
    with mpmath.workdps(60):
        m = {k: mpmath.mpf(v) for k, v in values.items()}
        for f in (1 + 1e-9, 1 - 1e-5, 1.003, 1.2):
            z = m["nu"] / m["alpha"] * mpmath.log(mpmath.mpf(f))
            root = mpmath.sqrt(1 - 2 * m["rho"] * z + z**2)
            truth = m["alpha"] * z / mpmath.log((root + z - m["rho"]) / (1 - m["rho"]))
            assert float(c.form(F=f, **values)) == pytest.approx(float(truth), rel=1e-13)


def test_the_whole_sabr_formula_and_its_delta() -> None:
    """At the money both have Hagan's limits, and forms that keep their digits beside it."""
    p = sg.parse((PROGRAMS / "sabr.sg").read_text(encoding="utf-8"))
    values = {"K": 0.025, "tau": 2.0, "alpha": 0.04, "nu": 0.4, "beta": 0.5, "rho": -0.3}
    others = {k: v for k, v in values.items() if k != "K"}
    sigma = p["sigma"]
    (gap,) = (found := sg.check_domain(sigma)).gaps
    assert gap.where == "F = K"
    hagan = "alpha*K**(beta - 1)*(1 + ((1 - beta)**2/24*alpha**2*K**(2*(beta - 1)) + "
    hagan += "rho*beta*nu*alpha/4*K**(beta - 1) + (2 - 3*rho**2)/24*nu**2)*tau)"
    declared = "K, alpha, nu, tau : positive; beta : real(0, 1); rho : real(-1, 1)\n"
    assert sg.equal(gap.limit, sg.parse(declared + hagan).last).status == "proved"
    delta = sg.grad(sigma, "F")
    (slope,) = (of_delta := sg.check_domain(delta)).gaps
    assert found.form is not None
    assert of_delta.form is not None
    assert slope.limit(**values) == pytest.approx(float(of_delta.form(F=0.025, **values)), rel=1e-13)
    with mpmath.workdps(50):
        for h in (1e-9, -1e-6, 1e-3, 0.2):
            at = 0.025 * (1 + h)
            for e, form, digits in ((sigma, found.form, 1e-13), (delta, of_delta.form, 1e-9)):
                (truth,) = evaluate_mp(
                    mpmath.mp,
                    [e.node],
                    {p[k].node: mpmath.mpf(v) for k, v in {"F": at, "K": 0.025, **others}.items()},
                )
                assert float(form(F=at, **values)) == pytest.approx(float(truth), rel=digits)


@pytest.mark.parametrize(
    "text",
    [
        "x : real\ny = 1/x",
        "x : real\ny = exp(x)/(x - 1)**2",
        "x : real\ny = abs(x)/x",
        "x : positive\ny = sin(x)/x",
        "x : real\ny = where(x == 0, 1, sin(x)/x)",
        "x : real\ny = x/(1 + x**2)",
        "x, y : real\nz = x*y + exp(x)",
    ],
)
def test_poles_jumps_and_what_is_guarded_are_none(text) -> None:
    c = sg.check_domain(text)
    assert c.gaps == ()
    assert str(c).startswith("no point was found")
    assert c.form is not None


def test_one_place_is_named_once() -> None:
    c = sg.check_domain("x, y : real\nf = (exp(x) - exp(y))/(x - y)")
    assert [g.where for g in c.gaps] == ["x = y"]
    assert str(c.gaps[0].limit) == "exp(y)"
    form = c.form
    assert form is not None
    assert float(form(x=1.0, y=1.0)) == pytest.approx(float(np.exp(1.0)), rel=1e-15)


DISTANCES = [0.4, 0.02, 5e-3, 1e-3, 2e-4, 1e-5, 1e-8, -1e-12, -1e-6, -1e-4, -3e-3, -0.01, -0.3]


def at_digits(formula: str, **values: float) -> Any:
    """A formula by mpmath at floats, the number that they are beside a point at which it is 0/0."""
    with mpmath.workdps(80):
        names = {n: getattr(mpmath, n) for n in ("sin", "cos", "exp", "tanh", "log", "sqrt")}
        exact = {n: mpmath.mpf(v) + mpmath.mpf(10) ** -30 for n, v in values.items()}
        return float(eval(formula, {**names, **exact}))


@pytest.mark.parametrize(
    "formula",
    ["(1 - cos(a*x))/x**2", "(exp(a*x) - 1 - a*x)/x**2", "tanh(a**2*x)/x", "(exp(a*x) - exp(b*x))/x"],
)
def test_a_form_has_its_digits_whichever_of_usual_sizes_a_parameter_has(formula: str) -> None:
    """How far a series holds depends on them: the point of least reach counts."""
    form = sg.check_domain(f"x, a, b : real\ny = {formula} + 0*b").form
    assert form is not None
    for a in (-1.7, -0.4, 0.3, 1.0, 2.0):
        for h in (*DISTANCES, 0.0):
            truth = at_digits(formula, x=h, a=a, b=0.75)
            assert abs(float(form(x=h, a=a, b=0.75)) - truth) <= 2e-13 * max(abs(truth), 1), (a, h)


@pytest.mark.parametrize(
    ("formula", "at"),
    [
        ("sin(x)*(exp(x - 1) - 1)/(x*(x - 1))", [0, 1]),
        ("(x**2 - 1)*sin(x)/(x*(x - 1))", [0, 1]),
        ("tanh(x)*log(x - 1)/(x*(x - 2))", [2]),
        ("sin(x)/x + (exp(x - 1) - 1)/(x - 1)", [0, 1]),
        ("x*(exp(x - 3) - 1)*(x + 2)/((x**2 - 9)*sin(x))", [0, 3]),
    ],
)
def test_a_form_of_the_whole_is_one_at_every_point(formula: str, at: list[int]) -> None:
    """Where one quotient is 0/0 at several, each has its own form; what is none at all of them is not given."""
    c = sg.check_domain(f"x : real\ny = {formula}")
    assert sorted(g.where for g in c.gaps) == [f"x = {p}" for p in at]
    for gap in c.gaps:
        own = float(gap.where.split(" = ")[1])
        assert gap.limit is not None
        assert float(gap.limit()) == pytest.approx(at_digits(formula, x=own), rel=1e-12)
        assert gap.form is not None
    form = c.form
    for p in at if form is not None else ():
        for h in (*DISTANCES, 0.0):
            assert form is not None
            assert float(form(x=p + h)) == pytest.approx(at_digits(formula, x=p + h), rel=1e-12), (p, h)


def test_what_is_long_is_an_attribute() -> None:
    factor = " + ".join(f"exp(a{k})*sin(3*a{k} + 1)*tanh(2*a{k})" for k in range(12))
    names = ", ".join(f"a{k}" for k in range(12))
    c = sg.check_domain(f"x, {names} : real\ny = sin(x)/x*({factor})")
    (gap,) = c.gaps
    assert "  limit   long: the attribute limit has it\n" in str(c)
    assert "\u2026" not in str(c)
    assert "None" not in str(c)
    whole = sg.parse(f"{names} : real\n{factor}").result
    assert gap.limit is not None
    assert whole is not None
    values = {f"a{k}": k / 7 for k in range(12)}
    assert float(gap.limit(**values)) == pytest.approx(float(whole(**values)))


def test_arrays_and_long_formulas_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="formulas of numbers"):
        sg.check_domain("x : real[n]\ny = sum(x/x)")


def test_explanations_tell_it_of_value_and_gradient() -> None:
    d = sg.explain(sg.parse(RATES)["a_m"])
    text = str(d)
    assert "\na_m is 0/0 where V = -40\n" in text
    assert "\nda_m/dV is 0/0 where V = -40\n" in text
    assert "  write     the gradient of a_m in its form above" in text
    assert [g["of"] for g in d.json()["gaps"]] == ["a_m", "da_m/dV"]
    assert [str(g.limit) for g in d.gaps] == ["1", "0.05"]
    assert "a_m is 0/0 where V = -40" in d.html()


def test_random_quotients_have_the_limits_of_their_series() -> None:
    """Judged by mpmath's limits."""
    rng = random.Random(3)
    zeros = [
        "sin({})",
        "exp({}) - 1",
        "log(1 + {})",
        "tanh({})",
        "{}",
        "sqrt(1 + {}) - 1",
        "atan({})",
        "{}*exp({})",
    ]
    found = 0
    for _ in range(12):
        c, k = rng.choice([-2, -1, 0, 1, 3]), rng.choice([1, 2, "1/2"])
        w = f"({k}*(x - ({c})))"
        top, bottom = (rng.choice(zeros).replace("{}", w) for _ in range(2))
        more = rng.choice(["1", "cos(x)", "(2 + x**2)"])
        text = f"({top})*{more}/({bottom})"
        gaps = sg.check_domain(f"x : real\ny = {text}").gaps
        gap = next((g for g in gaps if g.where == f"x = {c}"), None)
        if gap is None or gap.limit is None:
            continue
        found += 1
        with mpmath.workdps(40):
            names = {n: getattr(mpmath, n) for n in ("sin", "cos", "exp", "tanh", "log", "sqrt", "atan")}
            truth = eval(text, {**names, "x": c + mpmath.mpf(10) ** -15})
        assert gap.limit is not None
        assert float(gap.limit()) == pytest.approx(float(truth), rel=1e-12), text
        assert gap.form is not None, text
        assert float(gap.form(x=float(c))) == pytest.approx(float(truth), rel=1e-12), text
    assert found >= 9


@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        ("(1 - cos(a*x))/x**2", lambda a, x: (1 - mpmath.cos(a * x)) / x**2 if x else a * a / 2),
        ("(exp(a*x) - 1)/x", lambda a, x: mpmath.expm1(a * x) / x if x else a),
        ("(a*x - sin(a*x))/x**3", lambda a, x: (a * x - mpmath.sin(a * x)) / x**3 if x else a**3 / 6),
        ("log(1 + a*x**2)/x**2", lambda a, x: mpmath.log1p(a * x * x) / (x * x) if x else a),
    ],
)
def test_a_form_holds_whatever_size_a_parameter_has(formula: str, truth: Any) -> None:
    """A series that is right within 0.01 of a = 1 is not at a = 1000: where it is taken depends on a."""
    form = sg.check_domain(f"x : real; a : positive\ny = {formula}").form
    assert form is not None
    rng = np.random.default_rng(len(formula))
    for _ in range(300):
        a = float(10 ** rng.uniform(-6, 6))
        x = float(rng.choice([0.0, 1e-12, 1.0]) if rng.random() < 0.2 else 10 ** rng.uniform(-9, 0.3) / a)
        with mpmath.workdps(80):
            expected = float(truth(mpmath.mpf(a), mpmath.mpf(x)))
        assert float(form(x=x, a=a)) == pytest.approx(expected, rel=2e-9), (a, x)


def test_what_moves_by_a_power_has_a_form() -> None:
    for formula in ("(exp(x**2) - 1)/x**2", "(exp(x**3) - 1)/x**3"):
        (gap,) = (found := sg.check_domain(f"x : real\ny = {formula}")).gaps
        assert str(gap.limit) == "1"
        assert found.form is not None
        assert float(found.form(x=0.0)) == 1.0
        assert float(found.form(x=1e-3)) == pytest.approx(float(mpmath.mpf(1)), rel=1e-6)


CLASSIC = [
    ("sin(x)/x", 0),
    ("(1 - cos(x))/x**2", 0),
    ("(exp(x) - 1)/x", 0),
    ("x/expm1(x)", 0),
    ("log(1 + x)/x", 0),
    ("(tan(x) - x)/x**3", 0),
    ("1/x**2 - 1/sinh(x)**2", 0),
    ("1/x - 1/tan(x)", 0),
    ("cosh(x)/sinh(x) - 1/x", 0),
    ("(x*log(x) - x + 1)/(x - 1)**2", 1),
    ("(sqrt(1 + x) - 1)/x", 0),
    ("(x - sin(x))/x**3", 0),
    ("(1 - exp(-x)*(1 + x))/x**2", 0),
]


@pytest.mark.parametrize(("formula", "at"), CLASSIC)
def test_a_form_and_its_derivatives_have_their_digits_wherever(formula: str, at: int) -> None:
    """On a sweep over both sides and where the series ends, the first two derivatives too; judged by differences of
    values with 400 digits."""
    domain = "real" if at == 0 else "positive"
    form = sg.check_domain(f"x : {domain}\ny = {formula}").form
    assert form is not None
    slope = sg.grad(form, "x")
    distances = np.concatenate([[0.0], np.geomspace(1e-12, 0.8, 45)])
    x = at + np.concatenate([distances, -distances[1:]])
    found = [e(x=x) for e in (form, slope, sg.grad(slope, "x"))]
    with mpmath.workdps(400):
        names = {n: getattr(mpmath, own) for n, own in NAMES.items()}
        h, code = mpmath.mpf(10) ** -60, compile(formula, "formula", "eval")
        true = []
        for value in x:
            # The point itself has no value: beside it.
            v = mpmath.mpf(float(value)) + mpmath.mpf(10) ** -40
            low, mid, high = (eval(code, {**names, "x": v + k * h}) for k in (-1, 0, 1))
            true.append([float(mid), float((high - low) / (2 * h)), float((high - 2 * mid + low) / h**2)])
    for order, (mine, theirs) in enumerate(zip(found, np.transpose(true), strict=True)):
        # Odd ones pass through 0, where the size is that of values about it.
        size = np.maximum(np.abs(theirs), 0.1 * np.median(np.abs(theirs)))
        assert np.max(np.abs(mine - theirs) / size) < (2e-15, 1e-14, 2e-13)[order], order


@pytest.mark.parametrize(
    ("formula", "part", "near"),
    [
        ("x*sin(1/x)", "1/x", "0"),
        ("exp(-1/x**2)/x", "-1/x**2", "0"),
        ("x**2*sin(1/x)/sin(x)", "1/x", "0"),
        ("x*sin(1/x) + sin(x)/x", "1/x", "1.0"),
    ],
)
def test_of_a_function_of_what_is_infinite_no_limit_is_claimed(formula: str, part: str, near: str) -> None:
    c = sg.check_domain(f"x : real\ny = {formula}")
    (gap,) = c.gaps
    assert (gap.kind, gap.limit, gap.form, c.form) == ("undefined", None, None, None)
    assert str(c).startswith("y has no value where x = 0\n")
    assert "0/0" not in str(c)
    end = f"{part} is infinite there, so there is no power series; values on both sides of the point tend to {near}"
    assert gap.reason == end
    assert c.reason == f"where x = 0: {end}"


@pytest.mark.parametrize(
    ("formula", "kind", "limit"),
    [
        ("1/x - 1/sin(x)", "oo - oo", 0.0),
        ("coth(x) - 1/x", "oo - oo", 0.0),
        ("x*cot(x)", "0*oo", 1.0),
        ("tan(x)/x", "0/0", 1.0),
        ("(1 + x)**(1/x)", "1**oo", float(np.e)),
        ("1e-34*sin(x)/x", "0/0", 1e-34),
    ],
)
def test_what_stands_at_the_point_is_named(formula: str, kind: str, limit: float) -> None:
    (gap,) = (c := sg.check_domain(f"x : real\ny = {formula}")).gaps
    assert gap.kind == kind
    assert str(c).startswith(f"y is {kind} where x = 0\n")
    assert gap.limit is not None
    assert float(gap.limit()) == pytest.approx(limit, rel=1e-15, abs=1e-300)
    assert c.form is not None
    assert c.reason is None
    assert float(c.form(x=0.0)) == pytest.approx(limit, rel=1e-15, abs=1e-300)


@pytest.mark.parametrize(
    ("program", "where"),
    [
        ("th : real\nb = sin(th)\ny = sin(b)/b", {"th = 0"}),
        ("x : real\ny = (1 + cos(x))/(x - pi)**2", {"x = pi"}),
        ("x : real\ny = (x**4 - 5*x**2 + 6)/(x**2 - 2)", {"x = sqrt(2)", "x = -sqrt(2)"}),
        ("x, a : real\ny = (x**2 + (a - 1)*x - a)/(x**2 - a**2)*(x - a)", {"x = a", "x = -a"}),
        ("x : real\ny = sin(pi*x)/(x*(1 - x))", {"x = 0", "x = 1"}),
        ("r, k : positive; t : real\ny = (exp(-k*t) - exp(-r*t))/(r - k)", {"r = k"}),
        ("x : real\ny = (x - 1)/(x + exp(x - 1) - 2)", {"x = 1"}),
        ("x : real\ny = sin(x - 1/3)/(log(x + 2/3)*exp(x))", {"x = 1/3"}),
    ],
)
def test_zeros_of_denominators_are_found_through_what_they_are_made_of(program: str, where: set[str]) -> None:
    found = {g.where for g in sg.check_domain(program).gaps}
    assert found <= where
    assert found & where


def test_a_form_is_looked_for_whose_derivative_has_a_value_too() -> None:
    """In a form of sin(x)/asinh(x) alone exp(x)/x**2 is left, infinite at 0."""
    form = sg.check_domain("x : real\ny = tan(x)/(sin(x)/asinh(x) - exp(x)/x**2)").form
    assert form is not None
    assert float(form(x=0.0)) == 0
    assert float(sg.grad(form, "x")(x=0.0)) == 0
    assert float(sg.grad(form, "x")(x=1e-5)) == pytest.approx(-3e-10, rel=1e-4)


def test_forms_at_several_points_are_one() -> None:
    c = sg.check_domain("x : real\ny = sin(pi*x)/(x*(1 - x))")
    assert c.form is not None
    with mpmath.workdps(60):
        for at in (0.0, 1.0):
            for h in DISTANCES:
                v = mpmath.mpf(at + h)
                truth = float(mpmath.sin(mpmath.pi * v) / (v * (1 - v))) if at + h not in (0, 1) else np.pi
                assert float(c.form(x=at + h)) == pytest.approx(truth, rel=1e-14)
    np.testing.assert_allclose(c.form(x=np.array([0.0, 1.0])), np.pi, rtol=1e-15)


def test_what_floats_get_right_is_no_gap() -> None:
    """exp(-1/0**2) is exp(-oo) in floats, and the limit is 0."""
    for formula in ("exp(-1/x**2)", "x/(1 + exp(1/x**2))", "x*atan(1/x)", "1e-34*abs(x)/x"):
        c = sg.check_domain(f"x : real\ny = {formula}")
        assert c.gaps == ()
        assert str(c) == "no point was found at which y has no value, but a limit"


def test_none_for_a_form_tells_where_to_look() -> None:
    form = sg.check_domain("x : real\ny = x*sin(1/x)").form
    with pytest.raises(UsageError, match=r"check_domain\(f\)\.reason"):
        sg.compile(form)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("formula", "smooth"),
    [("(ellipe(x) - pi/2)/x", True), ("ellipk(x)/x - pi/(2*x)", True), ("abs(x)**2/x", False)],
)
def test_a_function_is_said_to_be_rough_only_where_it_is(formula: str, smooth: bool) -> None:
    """The slope of ellipe is written as a quotient that has no value at 0, but a limit."""
    text = str(sg.check_domain(formula))
    assert "no power series was found" in text
    assert ("is not smooth there" in text) != smooth
