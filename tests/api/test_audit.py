"""The noise audit: which random inputs enter a gradient, its mean, its variance, and its bias."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import MissingInputError, NotScalarError, ShapeError, UsageError
from symgrad.ir.types import Distribution
from symgrad.ops.random.laws import drawn

TRICKS = """
x : real
u ~ Uniform(9/10, 11/10)
y = x**2
inner = sqrt(stop_gradient(y*u - y) + y)
outer = stop_gradient(sqrt(y*u) - sqrt(y)) + sqrt(y)
"""
LOGNORMAL = "x : real; s : positive\nu ~ LogNormal(-1/8, 1/2)\nz = sqrt(stop_gradient(x**2*u - x**2) + x**2)"


def agree(a: Any, b: str) -> bool:
    return sg.equal(a, b).status == "proved"


def test_the_inner_trick_has_a_bias_and_a_variance_in_closed_form() -> None:
    p = sg.parse(TRICKS)
    a = sg.audit(p["inner"], "x")["u"]
    assert (a.enters, a.how) == (True, "closed form")
    assert a.path[0] == "inner"
    assert a.path[-1] == "u"
    root = "(sqrt(11/10) - sqrt(9/10))"
    assert agree(a.expectation, f"10*{root}*sign(x)")
    assert agree(a.bias, f"(10*{root} - 1)*sign(x)")
    assert agree(a.variance, f"(5*log(11/9) - 100*{root}**2)*sign(x)**2")


def test_the_outer_trick_has_neither() -> None:
    a = sg.audit(sg.parse(TRICKS)["outer"], "x")["u"]
    assert a.enters is False
    assert [str(v) for v in (a.expectation, a.variance, a.bias)] == ["sign(x)", "0", "0"]


def test_against_the_gradient_of_the_mean_it_is_the_other_way_round() -> None:
    """The plain noisy gradient is unbiased against the gradient of E[y], and the outer trick is not."""
    p = sg.parse(TRICKS + "plain = sqrt(y*u)")
    plain = sg.audit(p["plain"], "x", reference="expected value")["u"]
    outer = sg.audit(p["outer"], "x", reference="expected value")["u"]
    assert str(plain.bias) == "0"
    assert agree(outer.bias, "sign(x) - sign(x)*20/3*((11/10)**(3/2) - (9/10)**(3/2))/2")
    assert float(outer.bias(x=1.0)) == pytest.approx(4.17451e-4, rel=1e-5)


def test_of_a_positive_input_no_sign_is_left() -> None:
    a = sg.audit(sg.parse(TRICKS.replace("x : real", "x : positive"))["inner"], "x")["u"]
    assert not any("sign" in str(v) or "abs" in str(v) for v in (a.expectation, a.variance, a.bias))


def test_a_lognormal_noise_with_mean_one() -> None:
    """Off by the factor exp(3 s**2/8), with variance exp(s**2) - exp(3 s**2/4)."""
    a = sg.audit(sg.parse(LOGNORMAL)["z"], "x")["u"]
    assert agree(a.expectation, "sign(x)*exp(3/32)")
    assert agree(a.variance, "sign(x)**2*(exp(1/4) - exp(3/16))")


DROPOUT = """
X : real[n, d]; t : real[n]; w : real[d]
m ~ Bernoulli(4/5)[n, d]
loss = sum(((X*m/(4/5))@w - t)**2)
"""


def test_dropout_in_a_linear_regression_is_a_ridge() -> None:
    a = sg.audit(sg.parse(DROPOUT)["loss"], "w")
    assert a["m"].how == "closed form"
    assert agree(a["m"].bias, "X : real[n, d]; w : real[d]\nw*sum(X**2, axis=0)/2")


def test_moments_over_one_input_leave_the_others_and_those_of_all_do_not() -> None:
    p = sg.parse("x : real\nu ~ Normal(1, 1/2)\nv ~ Uniform(0, 1)\ny = x**2*u*v")
    a = sg.audit(p["y"], "x")
    assert agree(a["u"].expectation, "2*x*v")
    assert agree(a["v"].expectation, "x*u")
    assert agree(a.expectation, "x")
    assert agree(a.variance, "4*x**2*((1 + 1/4)/3 - 1/4)")
    assert set(a) == {"u", "v"}


def test_a_noise_that_cancels_does_not_enter() -> None:
    a = sg.audit(sg.parse("x : real\nu ~ Normal(0, 1)\ny = (x + u)**2 - 2*u*x - u**2")["y"], "x")["u"]
    assert a.enters is False
    assert "cancels" in a.reason
    assert str(a.variance) == "0"


def test_several_inputs_give_lists() -> None:
    p = sg.parse("x, k : real\nu ~ Normal(0, 1)\ny = k*x*u")
    a = sg.audit(p["y"], ["x", "k"])
    assert [str(v) for v in a.variance] == ["k**2", "x**2"]
    assert [str(v) for v in a["u"].expectation] == ["0", "0"]


def distribution_of(u: sg.Expr) -> Distribution:
    distribution = u.node.declaration.distribution
    assert distribution is not None
    return distribution


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (TRICKS.replace("outer", "z"), {"x": -1.5}),
        (LOGNORMAL, {"x": 0.7}),
        ("x : real\nu ~ Normal(0, 1)\nz = (sin(x) + u*x)**3", {"x": 0.4}),
        ("x : real\nu ~ Gamma(3, 1/2)\nv ~ Bernoulli(1/3)\nz = exp(-x**2*u)*(1 + v*x)", {"x": 0.4}),
        ("x : real\nk ~ Poisson(2)\nz = x**2*k + x*(1/2)**k", {"x": 1.4}),
        ("x : real\nb ~ Beta(2, 3)\nz = log(b)*x**2 + b**2*x", {"x": 1.4}),
        ("x : positive\ne ~ Exponential(2)\nz = (x + e)**2*maximum(e - 1, 0)", {"x": 1.4}),
    ],
)
def test_closed_forms_agree_with_ten_million_draws(text: str, at: dict[str, float]) -> None:
    p = sg.parse(text)
    a = sg.audit(p["z"], "x")
    assert a.how == "closed form"
    names = [i.name for i in p.inputs if i.node.declaration.distribution is not None]
    kernel = sg.compile(a.gradient, inputs=[p["x"], *(p[str(n)] for n in names)])
    rng = np.random.default_rng(20260101)
    count, first, second = 0, 0.0, 0.0
    samples: list[np.ndarray] = []
    for _ in range(10):
        draws = [drawn(distribution_of(p[str(n)]), rng, 10**6) for n in names]
        g = np.asarray(kernel(at["x"], *draws), dtype=float)
        samples.append(g)
        count += g.size
        first += float(g.sum())
    mean = first / count
    second = sum(float(((g - mean) ** 2).sum()) for g in samples) / count
    fourth = sum(float(((g - mean) ** 4).sum()) for g in samples) / count
    error = (second / count) ** 0.5
    assert abs(float(a.expectation(**at)) - mean) <= 5 * error + 1e-12
    assert abs(float(a.variance(**at)) - second) <= 5 * ((fourth - second**2) / count) ** 0.5 + 1e-12


def test_an_array_that_no_gradient_reads_tells_its_length() -> None:
    """The gradient does not read x, and has its length: closed, and entry by entry from draws."""
    text = "x : real[n]\nu ~ Normal(0, 1)[n]\ny = sum(3*u - x)\nz = sum(tanh(u + u**3)*x)"
    p = sg.parse(text)
    found = sg.audit(p["y"], "x").at(x=np.zeros(3))
    assert found["expectation"].value.tolist() == [-1.0] * 3
    drawn_ = sg.audit(p["z"], "x", samples=2**14).at(x=np.zeros(3))["expectation"]
    assert drawn_.how == "monte carlo"
    assert np.all((drawn_.low < 0) & (drawn_.high > 0))
    with pytest.raises(ShapeError, match="size n is 4 and 3"):
        sg.audit(p["y"], "x").at(x=np.zeros(3), n=4)


def test_what_has_no_formula_is_computed_at_numbers_with_an_interval() -> None:
    p = sg.parse("x : real\nu ~ Normal(0, 1)\ny = log(1 + exp(x*u + u**3))")
    a = sg.audit(p["y"], "x", samples=2**14)
    assert a.how in ("quadrature", "monte carlo")
    found = a.at(x=0.5)["expectation"]
    assert found.how in ("quadrature", "monte carlo")
    assert found.low < 0.2728 < found.high
    assert found.low < float(a.expectation(x=0.5)) < found.high
    assert float(a.expectation(x=0.5)) == float(sg.audit(p["y"], "x", samples=2**14).expectation(x=0.5))
    with pytest.raises(MissingInputError, match="x"):
        a.expectation()


def test_a_moment_that_does_not_exist_is_said() -> None:
    a = sg.audit(sg.parse("x : real\nu ~ Uniform(0, 1)\ny = x**2/u")["y"], "x")["u"]
    assert a.how == "none"
    assert str(a.expectation).startswith("none: ")
    assert np.isnan(float(a.expectation(x=1.0)))


def test_text_names_method_and_reference() -> None:
    text = str(sg.audit(sg.parse(TRICKS)["inner"], "x"))
    assert text.splitlines()[:2] == ["Audit of inner, differentiated by x", "  dinner/dx = sign(x)/sqrt(u)"]
    assert "bias       sign(x)*(sqrt(110) - 1 - 3*sqrt(10)), about 0.00126*sign(x)" in text
    assert text.endswith("reference: the gradient with each random input at its mean")


def test_json_is_plain() -> None:
    import json

    found = json.loads(json.dumps(sg.audit(sg.parse(TRICKS)["outer"], "x").json()))
    assert found["inputs"]["u"]["enters"] is False
    assert found["inputs"]["u"]["variance"] == {"how": "closed form", "formula": "0"}


def test_a_program_without_noise() -> None:
    a = sg.audit("x**2", "x")
    assert len(a) == 0
    assert "No random input" in str(a)


def test_what_cannot_be_asked() -> None:
    p = sg.parse("x : real[3]\nu ~ Normal(0, 1)\ny = x*u\nz = sum(y)")
    with pytest.raises(UsageError, match="'u' is a random input itself"):
        sg.audit(p["z"], "u")
    with pytest.raises(NotScalarError, match="sum"):
        sg.audit(p["y"], "x")
    with pytest.raises(UsageError, match="noise at its mean"):
        sg.audit(p["z"], "x", reference="median")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'v' is not a random input"):
        sg.audit(p["z"], "x")["v"]


def test_a_thousand_equations() -> None:
    """No timed test: that it ends, and what it says, is what is held; how fast is measured elsewhere."""
    lines = ["x : real", "u ~ Normal(0, 1/10)", "h0 = x + u"]
    lines += [f"h{k} = sin(h{k - 1}) + h{k - 1}*{k}/1000" for k in range(1, 334)]
    a = sg.audit(sg.parse("\n".join(lines))["h333"], "x")
    assert a["u"].enters is True
    assert a.how in ("quadrature", "monte carlo")


PLANCK = """
T : positive
nu : positive
u ~ Uniform(-1/10, 1/10)
h = 6.62607015e-34
c = 299792458
k = 1.380649e-23
Tn = T*(1 + u)
p = 2*h*nu**3/c**2
B = p*k*Tn/(h*nu)
"""


def test_constants_keep_their_names() -> None:
    """No formula that is printed multiplies them out; those that are held do, and take no value for them."""
    p = sg.parse(PLANCK)
    a = sg.audit(p["B"], "T")
    text = str(a)
    for row in ("mean       2*k*nu**2/c**2", "variance   k**2*nu**4/(75*c**4)", "bias       0"):
        assert row in text
    assert not re.search(r"\d{6}", text), "numbers of many digits"
    expected = 2 * 1.380649e-23 * 3**2 / 299792458**2
    assert float(a["u"].expectation(nu=3)) == pytest.approx(expected, rel=1e-12)
    assert a["u"].at(nu=3, T=1)["expectation"].value == pytest.approx(expected, rel=1e-12)
    for y, wrt in ((p["B"], "T"), (p["B"], ["T", "nu"])):
        assert not re.search(r"\d{6}", str(sg.effective(y, wrt)))
    assert not re.search(r"\d{6}", str(sg.effective(p["B"], "T", order=2)))


def test_where_the_reference_is_not_defined() -> None:
    for y in ("log(x*u)*x/u", "x/u", "x**2/u", "x*sin(x)/u", "exp(x/u)"):
        a = sg.audit(sg.parse(f"x : real\nu ~ Normal(0, 1)\ny = {y}")["y"], "x")["u"]
        assert (a.reference.how, a.reference.reason) == ("none", "the gradient is not defined at u = 0")
    a = sg.audit(sg.parse("x : real\nu ~ Normal(0, 1)\ny = where(x > 1, x/u, x**2)")["y"], "x")["u"]
    assert isinstance(a.reference, sg.Expr), "it is where x <= 1"


@pytest.mark.parametrize("steps", [6, 34])
def test_long_formulas_are_lines_or_left_out(steps: int) -> None:
    lines = ["x : real", "u ~ Normal(0, 1/10)", "h0 = x + u"]
    lines += [f"h{k} = sin(h{k - 1}) + h{k - 1}*{k}/1000" for k in range(1, steps)]
    text = str(sg.audit(sg.parse("\n".join(lines))[f"h{steps - 1}"], "x"))
    assert len(text) < 4000
    assert ("t1 = " in text) is (steps == 6)
    assert ("too long to show" in text) is (steps == 34)


def test_the_gradient_is_told_in_the_form_that_is_easiest_to_read() -> None:
    a = sg.audit("x, a, lam : real\nu ~ Normal(0, 1)\nx*a*(lam + 1) - x*a*lam + u*x", "x")
    assert "  by x: a + u" in str(a).splitlines()
