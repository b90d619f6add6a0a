"""SG306: what floats lose although its exact value is an ordinary number, confirmed by kernels and exactly."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.analysis.stop_gradient.finding import Finding


def found(text: str, **options: Any) -> list[Finding]:
    return [
        f for f in sg.lint(text, **{"time_limit": 60, **options}) if f.code == "SG306"
    ]  # on a busy machine


VALUES = [
    ("log(1 + exp(x))", "infinite where x > 709.783", 1000, "softplus(x)"),
    ("-log(1/(1 + exp(-x)))", "infinite where x < -709.783", -1000, "--softplus(-x)"),
    ("exp(x)/(1 + exp(x))", "NaN where x > 709.783", 1000, "sigmoid(x)"),
    ("log(sigmoid(x))", "infinite where x < -745.133", -1000, "-softplus(-x)"),
    ("(exp(x) - exp(-x))/(exp(x) + exp(-x))", "NaN where x > 709.783", 1000, "tanh(x)"),
    ("x*exp(x)/exp(x)", "NaN where x > 709.783", 1000, "x"),
]


@pytest.mark.parametrize(("formula", "where", "x", "repaired"), VALUES)
def test_a_value_is_lost(formula: str, where: str, x: float, repaired: str) -> None:
    """The kernel of what is written is wrong at the point, that of the repair is right, and the repair is proved."""
    (finding,) = found(f"x : real\ny = {formula}")
    assert finding.message.startswith(f"y is {where}; in exact arithmetic it is ")
    assert finding.message.endswith(f" at x = {x}")
    assert str(finding.repaired) == repaired
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    assert not np.isfinite(sg.compile(sg.parse(f"x : real\ny = {formula}").last)(float(x)))
    mpmath.mp.dps = 40
    exact = eval(formula, vars(mpmath) | {"x": mpmath.mpf(x), "sigmoid": lambda t: 1 / (1 + mpmath.exp(-t))})
    assert float(sg.compile(finding.repaired)(float(x))) == pytest.approx(float(exact), rel=1e-12)
    assert found(f"x : real\ny = {finding.repaired}") == []


SATURATED = [
    ("log(1 - sigmoid(x))", "x > 36.7368", -50, "-softplus(x)"),
    ("1/(1 - sigmoid(x))", "x > 36.7368", 1 + math.exp(50), "1/sigmoid(-x)"),
    ("log(1 - tanh(x)**2)", "abs(x) > 18.9903", None, None),
]


@pytest.mark.parametrize(("formula", "where", "exact", "repaired"), SATURATED)
def test_a_function_that_has_come_to_its_end_in_floats(
    formula: str, where: str, exact: float | None, repaired: str | None
) -> None:
    """1 - sigmoid(x) is 0 in floats long before sigmoid(-x) underflows: the loss of many discriminators."""
    (finding,) = found(f"x : real\ny = {formula}")
    assert finding.message.startswith(f"y is infinite where {where}; in exact arithmetic it is ")
    assert "is rounded to 0 there, and is not 0" in finding.reason
    assert not np.isfinite(sg.compile(sg.parse(f"x : real\ny = {formula}").last)(50.0))
    assert (None if finding.repaired is None else str(finding.repaired)) == repaired
    if finding.repaired is not None:
        assert finding.verdict is not None
        assert finding.verdict.status == "proved"
        assert float(sg.compile(finding.repaired)(50.0)) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "x, d : real\ny = log(1 - sigmoid(x*d))",
        "x : real[n, k]; d : real[k]\np = sigmoid(x@d)\ny = -mean(log(1 - p))",
        "x, d : real[k]\ny = log(sigmoid(x@d))",
    ],
)
def test_products_of_inputs_of_either_sign(text: str) -> None:
    (finding,) = found(text)
    assert "softplus" in str(finding.cure)
    assert finding.verdict is not None
    assert finding.verdict.status in ("proved", "supported")  # two seconds are all that there is for it


def test_both_logarithms_of_a_cross_entropy() -> None:
    text = "x : real; t : real(0, 1)\np = sigmoid(x)\ny = -(t*log(p) + (1 - t)*log(1 - p))"
    assert [f.cure for f in found(text)] == [
        "write -softplus(-x) for log(p)",
        "write -softplus(x) for log(1 - p)",
    ]


@pytest.mark.parametrize(("x", "lost"), [(709.78, False), (709.79, True)])
def test_the_edge_is_where_the_value_is_lost(x: float, lost: bool) -> None:
    assert np.isinf(sg.parse("x : real\ny = log(1 + exp(x))").last(x=x)) == lost


@pytest.mark.parametrize(
    ("formula", "where", "repaired"),
    [
        ("1/(1 + exp(-x))", "x < -709.783", "sigmoid(x)"),
        ("1/(exp(x) + 1)", "x > 709.783", "sigmoid(-x)"),
        ("1/cosh(x)", "abs(x) > 710.476", None),
        ("minimum(exp(x), 1)", "x > 709.783", None),
    ],
)
def test_a_gradient_is_lost(formula: str, where: str, repaired: str | None) -> None:
    (finding,) = found(f"x : real\ny = {formula}")
    assert f"the gradient of y by x is NaN where {where} in JAX, torch and TensorFlow" in finding.message
    assert (None if finding.repaired is None else str(finding.repaired)) == repaired


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("x : real[n]\ny = log(sum(exp(x)))", "logsumexp(x)"),
        ("x : real[m, n]\ny = sum(log(sum(exp(2*x), axis=0)))", "sum(logsumexp(2*x, axis=0))"),
        ("x, t : real[n]\ny = sum(t*(exp(x)/sum(exp(x))))", "sum(t*softmax(x))"),
        ("x, t : real[n]\ny = -sum(t*log(softmax(x)))", "-sum(t*log_softmax(x))"),
        ("x : real[n]\ny = sum(log(1 + exp(x)))", "sum(softplus(x))"),
    ],
)
def test_arrays(text: str, repaired: str) -> None:
    (finding,) = found(text)
    assert str(finding.repaired) == repaired
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"


@pytest.mark.parametrize(
    ("text", "where", "repaired"),
    [
        ("p : nonnegative\ny = -p*log(p)", "where p = 0", "-p*log(where(p == 0, 1, p))"),
        (
            "p : nonnegative[n]\ny = -sum(p*log(p))",
            "where an entry of p is 0",
            "-sum(p*log(where(p == 0, 1, p)))",
        ),
    ],
)
def test_zero_times_an_infinite_logarithm(text: str, where: str, repaired: str) -> None:
    (finding,) = found(text)
    assert f"y is NaN {where}; in exact arithmetic it tends to 0" in finding.message
    assert str(finding.repaired) == repaired
    at = {"p": np.array([0.0, 0.5]) if "[n]" in text else 0.0}
    assert float(finding.repaired(**at)) == pytest.approx(np.log(2) / 2 if "[n]" in text else 0)


def test_a_product_of_two_inputs_keeps_what_is_infinite() -> None:
    """At q = 0 alone -p*log(q) is infinite, also exactly: only where both are 0 is there another value."""
    (finding,) = found("p : nonnegative\nq = p**2\ny = p*log(q)")
    assert "log(where(p == 0 and q == 0, 1, q))" in str(finding.cure)
    (finding,) = found("p, q : nonnegative\ny = -p*log(q)")
    assert finding.message.startswith("y is NaN where p = 0 and q = 0; in exact arithmetic it tends to 0")
    assert "log(where(p == 0 and q == 0, 1, q))" in str(finding.cure)


@pytest.mark.parametrize(
    ("declared", "loss", "places"),
    [
        ("p : nonnegative; y : int(0, 1)", "{}", ("where y = 0 and p = 0", "where 1 - y = 0 and 1 - p = 0")),
        ("p, y : real", "{}", ("where y = 0 and p = 0", "where 1 - y = 0 and 1 - p = 0")),
        (
            "p, y : real[n]",
            "mean({})",
            ("where y and p are 0 in the same entry", "where 1 - y and 1 - p are 0 in the same entry"),
        ),
    ],
)
def test_a_cross_entropy_is_lost_at_labels_0_and_1(declared: str, loss: str, places: tuple[str, ...]) -> None:
    both = found(f"{declared}\nloss = -{loss.format('(y*log(p) + (1 - y)*log(1 - p))')}")
    assert tuple(f.message.split("; ")[0].removeprefix("loss is NaN ") for f in both) == places
    shape = (3,) if "[n]" in declared else ()
    for label, finding in zip((0, 1), both, strict=True):
        at = {"y": np.full(shape, label), "p": np.full(shape, float(label))}
        assert np.isnan(
            sg.parse(f"{declared}\nloss = {loss.format('y*log(p) + (1 - y)*log(1 - p)')}").last(**at)
        )
        assert float(finding.repaired(**at)) == 0


@pytest.mark.parametrize(
    "text",
    [
        "a, b : real\ny = a*(1/b)",  # another limit on every path to 0, 0
        "a, b : real\ny = a*log(1 + 1/b**2)*b**-2",
        "l, o, a : real[n]\ny = sum(a*exp(l - o))",  # 0 times infinity at a = 0 alone
        "R : real[n]; l : real[n]\ny = sum((R - mean(R))*exp(l))",  # at equal entries alone
    ],
)
def test_what_has_no_limit_or_is_lost_at_a_coincidence_alone_is_no_loss(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "lp, old : real[n]; a : real\ns = exp(mean(lp - old))\ny = -minimum(s*a, clip(s, 0.8, 1.2)*a)",
        "lp, old : real\nr = exp(lp - old)\ny = r/(1 + r)",
        "a, b : real(-500, 500)\ny = log(1 + exp(a + b))",
        "a, b : real[n]\na2 = clip(a, -400, 400)\nb2 = clip(b, -400, 400)\ny = mean(log(1 + exp(a2 - b2)))",
    ],
)
def test_two_inputs_are_extreme_together(text: str) -> None:
    """No input alone reaches the end of the range of exp."""
    assert [f.code for f in found(text)] == ["SG306"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("x : real\ny = 1/(1 + exp(-x))", True),
        ("x : real\ny = minimum(exp(x), 3)", True),
        ("a, b : real\nr = exp(a - b)\ny = minimum(r*a, clip(r, 0.8, 1.2)*a)", True),
    ],
)
def test_the_kernel_has_the_gradient_that_is_said(text: str, right: bool) -> None:
    (finding,) = [f for f in found(text) if "gradient" in f.message]
    assert finding.reason.endswith("symgrad's gradient is right") == right
    p = sg.parse(text)["y"]
    at = {"x": -1000.0} if "1/(1" in text else {"x": 1000.0} if "x :" in text else {"a": 1000.0, "b": -1000.0}
    for w in p.inputs:
        gradient = sg.grad(p, w)
        assert np.isfinite(sg.compile(gradient)(*[at[str(i.name)] for i in gradient.inputs])) == right


@pytest.mark.parametrize(
    "text",
    [
        "x : real\ny = exp(x)",  # no float holds its exact value
        "x : real[n]\ny = sum(exp(x))",
        "x : real\ny = log(x)",
        "x, y : real\nz = sqrt(x**2 + y**2)",
        "x : real\ny = exp(-x**2)",  # 0 is right
        "x : real\ny = softplus(x)",
        "x : real(-50, 50)\ny = log(1 + exp(x))",
        "u ~ Normal(0, 1)\nx : real(0, 1)\ny = x*log(1 + exp(u))",
        "x : real[n]\ny = logsumexp(x)",
        "x, z : real\ny = log(x - z)",
        "x : real\ny = 1/(1 - cos(x))",
        "x : real\ny = sin(x)/x",  # 0/0 is told by explain
        "x : real\ny = x*sin(1/x)",
        "x, y : real\nf = (x**2 - x**2)/sqrt(y - 2*x**2)",  # digits cancel, and no range is left
        "t, p : positive\ny = t*log(p)",
        "x : real\ny = where(x < 20, log(1 + exp(x)), x)",  # SG301
        "x : real\ny = where(x > 0, x + log1p(exp(-x)), log1p(exp(where(x > 0, 0, x))))",  # SG301
    ],
)
def test_nothing_is_lost(text: str) -> None:
    assert found(text) == []


def test_what_is_lost_in_a_long_program_is_repaired_where_it_is() -> None:
    """The whole is too long for a proof: the two values are compared, whatever they read."""
    lines = ["x : real", "a0 = x"] + [f"a{k} = sin(a{k - 1}) + cos(a{k - 1})*0.3" for k in range(1, 160)]
    text = "\n".join([*lines, "z = 1000*a159 + x", "y = log(1 + exp(z)) + a7"])
    (finding,) = found(text)
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    assert "whatever they read" in finding.verdict.why
    assert "softplus(z)" in str(finding.cure)


def test_a_repair_that_holds_only_for_what_it_reads_is_not_claimed() -> None:
    lines = ["x : real", "a0 = x"] + [f"a{k} = sin(a{k - 1}) + cos(a{k - 1})*0.3" for k in range(1, 160)]
    text = "\n".join([*lines, "b = a159**2", "y = where(b >= 0, sqrt(b), 0) + x"])
    for f in sg.lint(text):
        assert f.verdict is None or f.verdict.status != "refuted"


def test_ignored_by_code_and_told_on_the_line_of_the_value() -> None:
    text = "x : real\nz = log(1 + exp(x))\ny = z**2"
    (finding,) = found(text)
    assert finding.places[0].line == 2
    assert found(text, ignore="SG306") == []


def test_what_cancels_at_equal_inputs_alone_is_no_loss() -> None:
    assert sg.lint("m, l, y : real[n]\nloss = mean((y - m)**2*exp(-l) + l)").codes == ()


@pytest.mark.parametrize(
    "text",
    [
        "l, o, a : real[n]\nr = exp(l - o)\ny = mean(minimum(r*a, clip(r, 0.8, 1.2)*a))",
        "x : real\ny = minimum(exp(x), 3)",
    ],
)
def test_what_is_not_taken_is_a_note(text: str) -> None:
    (found,) = [f for f in sg.lint(text) if f.code == "SG306"]
    assert found.severity == "note"
    assert "it is about 1e+" in found.reason
    assert found.reason.endswith(
        "the program takes another value there, and its backward pass is 0 times infinity; symgrad's gradient is right"
    )
    assert "bound what" in (found.cure or "")
