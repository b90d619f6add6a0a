"""What a proof leaves out is listed: where quantities vanish whose signs or quotients it used, and ties."""

from __future__ import annotations

from fractions import Fraction

import pytest

import symgrad as sg
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.index_form.elementwise_ops import UNARY
from symgrad.verification.statement import program_of

# Both sides are equal where they are defined; the points beside are not claimed.
_PROVED = [
    ("sqrt(x*y)", "sqrt(x)*sqrt(y)", {"x = 0", "y = 0"}),
    ("sqrt(x*y)", "sqrt(x*y)*sign(x)*sign(y)", {"x = 0", "y = 0"}),
    # At y = 0 both sides are zero, whatever the sign of x.
    ("sqrt(x)*sqrt(y)", "sqrt(x*y)*sign(x)", {"x = 0"}),
    ("sqrt(x)*sqrt(y)", "sqrt(x*y)*sign(y)", {"y = 0"}),
    ("sqrt(x/y)", "sqrt(x*y)/abs(y)", {"x = 0", "y = 0"}),
    ("sqrt(x**2*y)", "abs(x)*sqrt(y)", {"x = 0", "y = 0"}),
    ("log(x*y)", "log(x) + log(y)", {"x = 0", "y = 0"}),
    ("log(x) + log(y)", "log(abs(x)) + log(abs(y))", set[str]()),
    ("sqrt(x*y*z)", "sqrt(x*y)*sqrt(z)", {"x = 0", "y = 0", "z = 0"}),
    ("(x*y)**(3/2)", "sqrt(x*y)*abs(x*y)", {"x = 0", "y = 0"}),
    ("x**(-1/2)*sign(x)", "x**(-1/2)", {"x = 0"}),
    ("(x*y)**(-1/2)*abs(x)", "(x*y)**(-1/2)*x*sign(y)", {"x = 0", "y = 0"}),
    ("sqrt((x - 1)*(y - 1))*sign(x - 1)", "sqrt((x - 1)*(y - 1))*sign(y - 1)", {"x - 1 = 0", "y - 1 = 0"}),
    ("abs(x - y)*sign(x - y)", "x - y", {"x - y = 0"}),
    ("sign(exp(x) - exp(y))", "sign(x - y)", {"exp(x) - exp(y) = 0", "x - y = 0"}),
    ("where(x > y, 1, 0)*sign(x - y)", "where(x > y, 1, 0)", {"x - y = 0"}),
    ("maximum(x, y) + minimum(x, y)", "x + y", set[str]()),
]


@pytest.mark.parametrize(("left", "right", "excluded"), _PROVED)
def test_what_is_left_out(left: str, right: str, excluded: set[str]) -> None:
    verdict = sg.equal(left, right)
    assert verdict.status == "proved"
    assert {
        e.replace("-y + x", "x - y").replace("-exp(y) + exp(x)", "exp(x) - exp(y)") for e in verdict.excluded
    } == excluded


@pytest.mark.parametrize("extreme", ["max", "min"])
def test_derivatives_of_extremes_leave_out_ties(extreme: str) -> None:
    program = sg.parse(f"v : real[n]; c : real; y = {extreme}(v + c)")
    verdict = sg.verify(program["y"], "c", "1")
    assert verdict.status == "proved"
    assert f"different entries of c + v[i] tie for its {extreme}" in verdict.excluded


_WHOLE = [
    "k",
    "-k",
    "k + m",
    "k - 3",
    "k*m",
    "2*k",
    "abs(k)",
    "floor(y)",
    "ceil(y)*k",
    "round(y) + m",
    "sign(k)",
]
_NOT_WHOLE = [
    "y",
    "y/2",
    "k/2",
    "k + 1/2",
    "k*3/2",
    "k*y",
    "floor(y) + y",
    "k/m",
    "abs(y)",
    "1/k",
    "k/3",
    "sqrt(k)",
]
_NOT_WHOLE += ["maximum(k, y)", "where(y > 0, k, y)", "floor(y)/2", "y*m", "-y", "y + k"]


@pytest.mark.parametrize("exponent", [*_WHOLE, *_NOT_WHOLE])
@pytest.mark.parametrize(
    ("left", "right"), [("(x**2)**({0})", "x**(2*({0}))"), ("x**({0})*x**({0})", "x**(2*({0}))")]
)
def test_powers_of_negative_numbers(left: str, right: str, exponent: str) -> None:
    """They are defined where the exponent happens to be an integer; only of those that always are they follow laws."""
    program = sg.parse(f"k, m : int\nx, y : real\na = {left.format(exponent)}\nb = {right.format(exponent)}")
    verdict = sg.equal(program["a"], program["b"])
    if exponent in _WHOLE:
        assert verdict.status == "proved"
        assert set(verdict.excluded) <= {"k = 0", "x = 0"}  # for a sign; of a quotient
    else:
        assert verdict.status != "proved" or any("is an integer" in e for e in verdict.excluded)


@pytest.mark.parametrize(
    ("y", "claim", "excluded"),
    [
        ("sum(w*sqrt(v))", "w/(2*sqrt(v))", {"an entry of v <= 0"}),
        ("sum(sqrt(v + 1))", "1/(2*sqrt(v + 1))", {"v[i] + 1 <= 0 for some i"}),
        ("sqrt(sum(v))**3", "3*sqrt(sum(v))/2*ones(n)", {"sum(v) < 0"}),
        ("sqrt(sum(v))**5", "5*sum(v)*sqrt(sum(v))/2*ones(n)", {"sum(v) < 0"}),
        ("sum(v*sqrt(v)/w)", "3*sqrt(v)/(2*w)", {"an entry of v < 0", "an entry of w = 0"}),
        ("norm(v)**3", "3*norm(v)*v", set[str]()),
        ("norm(v)", "v/norm(v)", {"sum(v**2) = 0"}),
        ("sum(cbrt(v))", "1/(3*cbrt(v)**2)", {"an entry of v = 0"}),
        ("sum(relu(norm(v)**2 - w))", "2*v*sum(where(v@v > w, 1, 0))", {"sum(v**2) - w[i] = 0 for some i"}),
        ("sum(cbrt(v)*w)", "w*cbrt(v)/(3*v)", {"an entry of v = 0"}),
        (
            "sum(relu(cbrt(v) - w))",
            "where(cbrt(v) > w, cbrt(v), 0)/(3*v)",
            {"cbrt(v[i]) - w[i] = 0 for some i", "an entry of v = 0"},
        ),
        ("sum(stop_gradient(abs(v))*v)", "abs(v)", {"an entry of v = 0"}),
        ("sum(stop_gradient(floor(v))*v)", "floor(v)", set[str]()),
        ("sum(floor(v)*w)", "v*0", {"an entry of v is a whole number"}),
        ("stop_gradient(max(v))*sum(v)", "max(v)*ones(n)", set[str]()),
        ("max(v)*sum(v*0) + w@v", "w", set[str]()),
        ("sum(abs(v**2 - v))", "sign(v**2 - v)*(2*v - 1)", {"v[i] - v[i]**2 = 0 for some i"}),
        ("sum(abs(v**2))", "2*v", set[str]()),
        ("sum(maximum(v, w))", "where(v > w, 1, 0)", {"v[i] - w[i] = 0 for some i"}),
        ("sum(abs(v)*w)", "sign(v)**3*w", {"an entry of v = 0"}),
        ("sum(w)", "v*0", set[str]()),
    ],
)
def test_derivatives_leave_out_ends_of_domains_and_zeros(y: str, claim: str, excluded: set[str]) -> None:
    program = sg.parse(f"v, w : real[n]; y = {y}")
    verdict = sg.verify(program["y"], "v", claim)
    assert (verdict.status, set(verdict.excluded)) == ("proved", excluded)


@pytest.mark.parametrize(
    ("y", "claim"),
    [
        ("sum(v)", "sign(v)**2"),
        ("sum(v*w)", "where(v > 0, w, 0) + where(v < 0, w, 0)"),
        ("sum(v)", "where(v != w, 1, 0)"),
        ("sum(v)", "sign(sum(v))**2*ones(n)"),
        ("sum(v)", "sign(v*w)**2"),
        ("sum(v)", "sign(w)**2"),
        ("sum(v)", "where(w != 0, 1, 0)"),
    ],
)
def test_claims_that_are_wrong_at_zeros_of_signs_alone_are_refuted(y: str, claim: str) -> None:
    """The derivative of the sum of v is 1 where v is 0 too, but the square of its sign is not."""
    program = sg.parse(f"v, w : real[n]; y = {y}")
    assert sg.verify(program["y"], "v", claim).status == "refuted"


_FUNCTIONS = [
    *(f"{name}(v)" for name in sorted(UNARY) if name != "not_"),
    "polygamma(1, v)",
    "polygamma(2, v)",
]


@pytest.mark.parametrize("function", [f.replace("neg(v)", "-v") for f in _FUNCTIONS])
def test_of_arrays_it_is_left_out_where_a_function_has_no_value(function: str) -> None:
    program = sg.parse(f"v, w : real[n]; a = sum({function}*w); b = w@({function})")
    verdict = sg.equal(program["a"], program["b"])
    assert verdict.status == "proved"
    steps, (at,) = program_of([sg.parse(f"v : real; y = {function}")["y"].node])
    points = [Fraction(k, 4) for k in range(-16, 17)]
    undefined = [x for x in points if evaluate(steps, {"v": x}, precision=64, wanted=[at])[0] is None]
    assert bool(verdict.excluded) == bool(undefined) or function in ("tan(v)", "sec(v)")  # poles elsewhere
