"""Which method answers, and what it says: closed forms, integrals, quadrature, draws, and what has no moment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.analysis.expectations.expectation import covariance, expectation, variance
from symgrad.frontend.text import parse_program
from symgrad.ir.values.evaluate import evaluate
from tests.analysis.expectations.programs import CLOSED, moments, said
from tests.counting import counting


def _text(program: str) -> tuple[str, str]:
    found = moments(parse_program(program))
    assert [m.how for m in found] == ["closed form"] * 2
    return said(found[0]), said(found[1])


def test_the_inner_trick_has_its_moments() -> None:
    mean, spread = _text(
        "x : real\nu ~ Uniform(9/10, 11/10)\ny = x/sqrt(stop_gradient(x**2*u - x**2) + x**2)"
    )
    assert mean == "sign(x)*(sqrt(110) - 3*sqrt(10))"
    assert spread == "sign(x)**2*(5*(log(1.1) - log(0.9)) - (3*sqrt(10) - sqrt(110))**2)"
    assert _text("x : positive\nu ~ Uniform(9/10, 11/10)\ny = x/sqrt(x**2*u)")[0] == "sqrt(110) - 3*sqrt(10)"


def test_lognormal_noise_of_mean_1_is_off_by_a_factor() -> None:
    mean, spread = _text("x : real\ns : positive\nu ~ LogNormal(-s**2/2, s)\ny = x/sqrt(x**2*u)")
    assert mean == "sign(x)*exp(3*s**2/8)"
    assert spread == "sign(x)**2*(exp(s**2) - exp(3*s**2/4))"


@pytest.mark.parametrize(
    ("program", "mean"),
    [
        ("m : real\ns : positive\nu ~ Normal(m, s)\ny = u**2", "m**2 + s**2"),
        ("a : real\nb : real\nu ~ Uniform(a, b)\ny = u", "(a + b)/2"),
        ("k : positive\nc : positive\nu ~ Gamma(k, c)\ny = u**2", "c**2*k*(k + 1)"),
        ("r : positive\nu ~ Exponential(r)\ny = u", "1/r"),
        ("p : real(0, 1)\nx : real\nb ~ Bernoulli(p)\ny = where(b == 1, x, 0)", "p*x"),
        ("r : positive\nt : real\nu ~ Poisson(r)\ny = t**u", "exp(r*(t - 1))"),
        ("g : positive\nw : real\nu ~ Cauchy(0, g)\ny = cos(w*u)", "exp(-g*abs(w))"),
        ("x : real\nu ~ Normal(0, 1)\ny = x", "x"),
        ("x : real\nu ~ Normal(0, 1)\ny = x + u - u", "x"),
        ("u ~ Normal(0, 1)\nv ~ Normal(0, 1/2)\ny = exp(u*v)", "2*sqrt(3)/3"),
        ("x : real\nu ~ Categorical([1/5, 3/10, 1/2])\ny = x*u**2 + u", "2.3*x + 1.3"),
        ("x, q : real\nu ~ Categorical([q, 1 - q])\ny = x*u**2", "x*(1 - q)"),
    ],
)
def test_symbols_stay_symbols(program: str, mean: str) -> None:
    listing = parse_program(program)
    sources = [listing[n] for n in "uvb" if n in listing.names]
    (found,) = expectation([listing["y"]], [s for s in sources if s.declaration.distribution], CLOSED)
    assert found.how == "closed form"
    assert said(found) == mean


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("u ~ Normal(1, 1)\ny = 1/u", "not integrable"),
        ("u ~ Uniform(0, 1)\ny = u**-1", "not integrable"),
        ("u ~ Uniform(-1, 1)\ny = 1/u", "not integrable"),
        ("u ~ Uniform(-1, 1)\ny = sqrt(u)", "no value for u < 0"),
        ("u ~ Normal(0, 1)\ny = u**(1/2)", "no value for u < 0"),
        ("u ~ LogNormal(0, 1)\ny = exp(u)", "grows faster"),
        ("u ~ Exponential(1)\ny = exp(2*u)", "grows faster"),
        ("u ~ Gamma(1/2, 1)\ny = 1/sqrt(u)", "not integrable"),
        ("u ~ Beta(1, 2)\ny = 1/u", "not integrable"),
        ("u ~ Cauchy(0, 1)\ny = u", "too heavy"),
        ("u ~ Cauchy(0, 1)\ny = abs(u)", "too heavy"),
        ("u ~ Normal(0, 1)\ny = exp(u**2)", "grows faster"),
        ("u ~ Poisson(2)\ny = 1/u", "no value at u = 0"),
        ("u ~ Bernoulli(1/2)\ny = log(u)", "no value at u = 0"),
        ("u ~ Laplace(0, 1)\ny = exp(-3*u)", "grows faster"),
    ],
)
def test_what_diverges_is_said_and_is_no_number(program: str, reason: str) -> None:
    listing = parse_program(program)
    (found,) = expectation([listing["y"]], [listing["u"]], CLOSED)
    assert found.how == "none"
    assert reason in found.reason
    assert found.node is None
    estimate = found.at({})
    assert math.isnan(estimate.value)
    assert estimate.how == "none"


def test_what_simplifying_loses_is_told() -> None:
    listing = parse_program("u ~ Normal(0, 1)\ny = sqrt(u)**2")
    (found,) = expectation([listing["y"]], [listing["u"]], CLOSED)
    assert found.notes == ("the formula is also defined for u < 0: the program has no value there",)


def test_a_mean_without_a_variance() -> None:
    listing = parse_program("x : real\nu ~ Uniform(0, 1)\ny = x/sqrt(u)")
    mean, spread = moments(listing)
    assert said(mean) == "2*x"
    assert spread.how == "none"
    assert "where x is not 0" in spread.reason


def test_two_parts_that_diverge_may_cancel() -> None:
    # 1/u - 1/(u*(1 + u)) is 1/(1 + u): each part alone has no expectation.
    listing = parse_program("u ~ Uniform(0, 1)\ny = 1/u - 1/(u*(1 + u))")
    (found,) = expectation([listing["y"]], [listing["u"]], CLOSED)
    assert found.how != "none"
    assert found.at({}).low <= math.log(2) <= found.at({}).high


def test_conditions_are_told_and_kept() -> None:
    listing = parse_program("t : real\nu ~ Exponential(2)\ny = exp(t*u)")
    (found,) = expectation([listing["y"]], [listing["u"]])
    assert found.notes == ("only where 1 - t/2 > 0: elsewhere there is none",)
    assert found.at({listing["t"]: Fraction(3, 2)}).value == 4
    assert found.at({listing["t"]: 2}).how == "none"


def test_where_a_formula_has_no_value_but_the_moment_has_one() -> None:
    listing = parse_program("t : real\nu ~ Uniform(0, 1)\ny = u**3*exp(t*u)")
    (found,) = expectation([listing["y"]], [listing["u"]])
    assert found.how == "closed form"
    near = found.at({listing["t"]: 1e-9})
    assert near.how == "closed form"
    assert near.value == pytest.approx(0.25 + 0.2e-9, rel=1e-14)
    at_zero = found.at({listing["t"]: 0})
    assert at_zero.how == "quadrature"
    assert at_zero.low <= 0.25 <= at_zero.high


def test_an_integral_by_sympy() -> None:
    listing = parse_program("t : positive\nu ~ Uniform(0, 1)\ny = u/(t + u**2)")
    (found,) = expectation([listing["y"]], [listing["u"]], MomentOptions(seconds=60))
    assert said(found) == "(log(t + 1) - log(t))/2"
    (short,) = expectation([listing["y"]], [listing["u"]], MomentOptions(seconds=0.01))
    assert short.how == "quadrature"


def _normal(f: Callable[[float], float], cuts: tuple[float, ...] = ()) -> float:
    edges = (-12.0, *cuts, 12.0)
    return sum(
        quad(lambda e: f(e) * math.exp(-e * e / 2) / math.sqrt(2 * math.pi), a, b, epsabs=1e-13)[0]
        for a, b in itertools.pairwise(edges)
    )


@pytest.mark.parametrize(
    ("formula", "f", "cuts"),
    [
        ("tanh(t + 2*u)", lambda e: math.tanh(0.5 + 2 * e), ()),
        ("exp(-u)/(1 + exp(-u))**2", lambda e: math.exp(-e) / (1 + math.exp(-e)) ** 2, ()),
        (
            "abs(sin(u) - t)",
            lambda e: abs(math.sin(e) - 0.5),
            (-5.7595865, -3.6651914, 0.5235988, 2.6179939, 6.8067841),
        ),
    ],
)
def test_quadrature(formula: str, f: Callable[[float], float], cuts: tuple[float, ...]) -> None:
    listing = parse_program(f"t : real\nu ~ Normal(0, 1)\ny = {formula}")
    mean, spread = moments(listing)
    assert [mean.how, spread.how] == ["quadrature"] * 2
    expected = _normal(f, cuts)
    square = _normal(lambda e: f(e) ** 2, cuts)
    for found, value in ((mean, expected), (spread, square - expected**2)):
        estimate = found.at({listing["t"]: 0.5})
        assert estimate.how == "quadrature"
        assert estimate.value == pytest.approx(value, abs=1e-7)
        assert estimate.high - estimate.low < 1e-5


def test_the_expression_of_a_quadrature_is_its_value() -> None:
    listing = parse_program("t : real\nm : real\nu ~ Normal(m, 1/2)\ny = tanh(t + u)")
    (found,) = expectation([listing["y"]], [listing["u"]], CLOSED)
    values = {listing["t"]: 0.5, listing["m"]: -0.25}
    assert found.node is not None
    assert evaluate([found.node], values)[0] == pytest.approx(found.at(values).value, abs=1e-9)


def test_two_inputs_by_quadrature() -> None:
    listing = parse_program("u ~ Normal(0, 1)\nv ~ Uniform(0, 1)\ny = 1/(1 + v + exp(u))")
    (found,) = expectation([listing["y"]], [listing["u"], listing["v"]], CLOSED)
    assert found.how == "quadrature"
    expected = _normal(lambda e: math.log((2 + math.exp(e)) / (1 + math.exp(e))))
    assert found.at({}).value == pytest.approx(expected, abs=1e-9)


def test_draws_give_intervals_and_are_the_same_every_time() -> None:
    listing = parse_program("x : real[5]\nu ~ Normal(0, 1)[5]\ny = log(sum(exp(x*u)))")
    mean, spread = moments(listing)
    assert [mean.how, spread.how] == ["monte carlo"] * 2
    values = {listing["x"]: np.linspace(0, 1, 5)}
    rng = np.random.default_rng(5)
    draws = np.log(np.sum(np.exp(values[listing["x"]] * rng.normal(size=(10**6, 5))), axis=1))
    for found, value, se in (
        (mean, draws.mean(), draws.std() / 1000),
        (spread, draws.var(), np.std((draws - draws.mean()) ** 2) / 1000),
    ):
        first, again = found.at(values), found.at(values)
        assert first == again
        assert abs(first.value - value) < 5 * math.hypot(se, (first.high - first.value) / 2.576)
        assert first.notes == ()


def test_draws_of_an_array_entry_by_entry() -> None:
    """The block of draws stands before the axes that the inputs are declared with."""
    listing = parse_program("x : real[n]\nu ~ Normal(0, 1)[n]\nv ~ Normal(0, 1)\ny = tanh(x + u*v*u)")
    mean, spread = moments(listing)
    assert [mean.how, spread.how] == ["monte carlo"] * 2
    x = np.array([-0.5, 0.0, 0.7])
    rng = np.random.default_rng(6)
    draws = np.tanh(x + rng.normal(size=(10**6, 3)) ** 2 * rng.normal(size=(10**6, 1)))
    for found, value in ((mean, draws.mean(axis=0)), (spread, draws.var(axis=0))):
        estimate = found.at({listing["x"]: x})
        assert np.all(np.abs(estimate.value - value) < 2 * (estimate.high - estimate.low) + 5e-3)
        assert np.shape(estimate.value) == (3,)


def test_what_has_no_expectation_gets_no_interval_from_draws() -> None:
    listing = parse_program(
        "u ~ Normal(0, 1)\nv ~ Normal(0, 1)\nw ~ Normal(0, 1)\ny = sin(1/(u + v*w/9))/(u + v*w/9)**3"
    )
    sources = [listing[n] for n in "uvw"]
    (found,) = expectation([listing["y"]], sources, CLOSED)
    estimate = found.at({})
    assert estimate.how == "monte carlo"
    assert estimate.high == math.inf
    assert "no expectation" in estimate.notes[0]


def test_covariance_of_two_outputs() -> None:
    listing = parse_program("x : real\nu ~ Exponential(1)\nv ~ Normal(0, 1)\na = x*u + v\nb = u - 3*v")
    (found,) = covariance([listing["a"]], [listing["b"]], [listing["u"], listing["v"]])
    assert said(found) == "x - 3"


def test_other_random_inputs_stay() -> None:
    listing = parse_program("u ~ Exponential(1)\nv ~ Normal(0, 1)\ny = u*v + v**2")
    (found,) = expectation([listing["y"]], [listing["u"]])
    assert said(found) == "v**2 + v"


def test_a_long_program_is_quick() -> None:
    lines = ["x : positive", "u ~ Uniform(9/10, 11/10)", "y0 = x"]
    lines += [f"y{i} = sin(y{i - 1})*y{i - 1} + exp(-y{i - 1}/{i})" for i in range(1, 200)]
    listing = parse_program("\n".join([*lines, "y = y199*sqrt(u) + y198/u"]))
    with counting() as calls:
        found = [f([listing["y"]], [listing["u"]])[0] for f in (expectation, variance)]
    assert calls.count < 1_000_000
    assert [m.how for m in found] == ["closed form"] * 2
