"""Estimators side by side: what is printed, computed at numbers, and refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import NotInProgramError, NotScalarError, ShapeError, SymgradError, UsageError

TEXT = """
mu : real
z ~ Normal(mu, 1)
eps ~ Normal(0, 1)
f = z**2
score = stop_gradient(f)*(-(stop_gradient(z) - mu)**2/2)
moved = (mu + eps)**2
x : real[n]
other = x@x
lost = eps**2
"""
P = sg.parse(TEXT)


def test_a_table_of_short_formulas() -> None:
    c = sg.compare_estimators({"score": P["score"], "moved": P["moved"]}, "mu", target=P["f"], at={"mu": 2})
    assert str(c).splitlines() == [
        "Estimators of dE[f]/dmu = 2*mu",
        "",
        "estimator  gradient      bias        variance               operations",
        "score      f*(z - mu)    0 (proved)  mu**4 + 14*mu**2 + 15  11",
        "moved      2*(eps + mu)  0 (proved)  4                      4",
        "",
        "where mu = 2",
        "estimator  bias  variance",
        "score      0     87",
        "moved      0     4",
    ]
    assert json.loads(json.dumps(c.json()))["score"]["unbiased"] == "proved"


def test_what_has_no_formula_is_numeric_with_an_interval() -> None:
    p = sg.parse("mu : real\neps ~ Normal(0, 1)\nf = exp(-abs(mu + eps)**3)\nbent = sin(mu)*f")
    c = sg.compare_estimators({"f": p["f"], "bent": p["bent"]}, "mu", at={"mu": 0.5}, seconds=0)
    text = str(c)
    assert "numeric: no closed form is known" in text
    found = c["bent"].at(mu=0.5)
    assert found["bias"].how in ("quadrature", "monte carlo")
    assert found["bias"].low <= found["bias"].value <= found["bias"].high
    assert f"({found['bias'].how})" in text


def test_of_an_array_the_total_variance_is_told() -> None:
    p = sg.parse("a, x : real[n]\nv ~ Normal(0, 1)[n]\nf = a@x\ne = stop_gradient(v@a)*(v@x)")
    c = sg.compare_estimators({"forward": p["e"]}, "x", target=p["f"])
    assert "total variance" in str(c)
    a, x = np.array([1.0, 2.0, -0.5]), np.zeros(3)
    found = c["forward"].at(a=a, x=x)
    assert np.allclose(found["variance"].value, a**2 + a @ a)
    assert np.isclose(found["total variance"].value, 4 * a @ a)
    assert np.isclose(c["forward"].total_variance(a=a), 4 * a @ a)


def test_a_picture_of_an_array_shows_lengths() -> None:
    pytest.importorskip("matplotlib")
    p = sg.parse(
        "a : real[n]; s : real; x : real[n]\nv ~ Normal(0, 1)[n]\nf = s*(a@x)\ne = stop_gradient(s*(v@a))*(v@x)"
    )
    c = sg.compare_estimators({"forward": p["e"], "backward": p["f"]}, "x", target=p["f"])
    picture = c.svg("s", (0, 1), points=3, a=np.ones(2), x=np.zeros(2))
    assert picture.startswith("<?xml")
    assert all(f">{text}<" in picture for text in ("forward", "backward", "s", "size of the bias"))
    assert picture == c.svg("s", (0, 1), points=3, a=np.ones(2), x=np.zeros(2))


@pytest.mark.parametrize(
    ("programs", "wrt", "target", "kind", "said"),
    [
        ({}, "mu", None, UsageError, "nothing to compare"),
        ([P["score"]], "mu", None, UsageError, "no names"),
        (P["score"], "mu", None, UsageError, "no names"),
        ({"score": P["score"]}, ["mu"], None, UsageError, "for one gradient"),
        ({"score": P["score"]}, "mu", None, UsageError, "a target is missing, and 'score' is not one"),
        ({"score": P["score"], "x": P["x"]}, "mu", P["score"], NotScalarError, "'x' has shape (n,)"),
        (
            {"score": P["score"], "w": "w**2"},
            "mu",
            P["score"],
            NotInProgramError,
            "'w': 'mu' is not in the program",
        ),
        ({"score": P["score"]}, "mu", "w**2", NotInProgramError, "the target: 'mu' is not in the program"),
        ({"score": P["score"]}, "mu", P["x"], NotScalarError, "the target has shape (n,)"),
    ],
)
def test_what_cannot_be_compared(
    programs: Any, wrt: Any, target: Any, kind: type[SymgradError], said: str
) -> None:
    with pytest.raises(kind) as error:
        sg.compare_estimators(programs, wrt, target=target)
    assert said in error.value.what
    assert error.value.cure or error.value.expected


def test_gradients_of_different_shapes_are_told_apart() -> None:
    one, other = sg.parse("x : real\nf = x**2"), sg.parse("x : real[3]\nf = x@x")
    with pytest.raises(ShapeError, match="the gradient of 'b' with respect to x has shape"):
        sg.compare_estimators({"a": one["f"], "b": other["f"]}, "x")


def test_a_program_that_does_not_read_wrt_has_the_gradient_zero() -> None:
    c = sg.compare_estimators({"lost": P["lost"]}, "mu", target=P["f"])
    assert str(c["lost"].bias) == "-2*mu"
    assert c["lost"].unbiased is not None
    assert c["lost"].unbiased.status == "refuted"


MEANS = """
mu : real
z ~ Normal(mu, 1)
eps ~ Normal(0, 1)
f = z**2
score = stop_gradient(f)*(-(stop_gradient(z) - mu)**2/2)
moved = (mu + eps)**2
half = (mu + eps)**2/2
"""


def test_the_report_shows_mean_and_spread_without_any_other_library() -> None:
    p = sg.parse(MEANS)
    found = sg.compare_estimators(
        {n: p[n] for n in ("score", "moved", "half")}, "mu", target=p["f"], at={"mu": 2}
    )
    spreads = found.spreads()
    assert spreads is not None
    truth, values, rows = spreads
    assert (truth, values) == (4.0, {"mu": 2})
    # The variances are mu**4 + 14*mu**2 + 15, 4 and 1; half of the gradient is biased by -mu.
    expected = [("score", 4.0, 87**0.5), ("moved", 4.0, 2.0), ("half", 2.0, 1.0)]
    for row, wanted in zip(rows, expected, strict=True):
        assert row[0] == wanted[0]
        assert row[1:] == pytest.approx(wanted[1:])
    page = found.report().html()
    assert page.count("<circle ") == 3
    assert "Mean and standard deviation where mu = 2" in page


def test_of_arrays_no_spread_is_drawn() -> None:
    p = sg.parse("w : real[n]\nu ~ Normal(0, 1)\nf = sum(w**2)*(1 + u)")
    found = sg.compare_estimators({"plain": p["f"]}, "w")
    assert found.spreads() is None
    assert "<circle " not in found.report().html()
