"""Expectations and variances of contractions, against 200,000 draws: within five standard errors, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from symgrad.analysis.expectations.expectation import expectation, variance
from symgrad.autodiff.vjp import pull_back
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, as_node
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.random.laws import drawn
from tests.analysis.expectations.programs import CLOSED, said

_DRAWS = 200_000
_rng = np.random.default_rng(17)
_X = _rng.normal(size=(4, 3))
_DATA: Mapping[str, Any] = {
    "X": _X,
    "y": _rng.normal(size=4),
    "w": _rng.normal(size=3),
    "a": _rng.normal(size=4),
}
_HEAD = "X : real[n, d]\ny : real[n]\nw : real[d]\na : real[n]\n"


def _gradient(listing: Listing, wrt: str) -> Node:
    return pull_back([listing["L"]], [as_node(1)], [listing[wrt]]).gradients[0]


def _compare(
    node: Node, function: Callable[[Mapping[str, Any]], Any], names: Mapping[str, int]
) -> tuple[str, str]:
    """Compare both moments of a node with those of draws, computed with NumPy alone; return their texts."""
    sources = [s for s in symbols_of([node]) if s.declaration.distribution is not None]
    values = {s: _DATA[s.name] for s in symbols_of([node]) if s not in sources}
    found = [f([node], sources, CLOSED)[0] for f in (expectation, variance)]
    assert [m.how for m in found] == ["closed form"] * 2
    rng = np.random.default_rng(3)
    draws: dict[str, Any] = {}
    for s in sources:
        shape = tuple(names[x] if isinstance(x, str) else int(str(x)) for x in s.shape)
        law = s.declaration.distribution
        assert law is not None
        if law.family.independent:
            formulas = dict(zip(law.formulas, evaluate(law.formulas, {}, names), strict=True))
            draws[s.name] = drawn(law, rng, (_DRAWS, *shape), formulas)
        else:
            draws[s.name] = np.array([rng.permutation(names["n"])[: shape[0]] for _ in range(_DRAWS)])
    sample = function(draws)
    mean, spread = (m.at(values, names).value for m in found)
    fourth = np.mean((sample - sample.mean(0)) ** 4, axis=0)
    se = sample.std(0) / _DRAWS**0.5
    assert np.all(np.abs(sample.mean(0) - mean) <= 5 * se + 1e-12)
    assert np.all(np.abs(sample.var(0) - spread) <= 5 * np.sqrt(fourth / _DRAWS) + 1e-12)
    return said(found[0]), said(found[1])


_SIZES = {"n": 4, "d": 3}


def _regression(noisy: Callable[[Any], Any]) -> Callable[[Mapping[str, Any]], Any]:
    def gradient(draws: Mapping[str, Any]) -> Any:
        x = noisy(draws)
        return 2 * np.einsum("sij,si->sj", x, x @ _DATA["w"] - _DATA["y"])

    return gradient


def test_dropout_in_a_linear_regression() -> None:
    listing = parse_program(_HEAD + "M ~ Bernoulli(1/3)[n, d]\nL = sum((y - (X*M)@w)**2)")
    mean, _ = _compare(_gradient(listing, "w"), _regression(lambda d: _X * d["M"]), _SIZES)
    # The gradient of the loss without noise, of X/3, and that of a ridge.
    assert mean == "4*w*sum(X**2, axis=0)/9 + 2*X.T@(X@w)/9 - 2*X.T@y/3"


def test_dropout_with_a_probability_that_is_a_symbol() -> None:
    listing = parse_program(_HEAD + "p : real(0, 1)\nM ~ Bernoulli(p)[n, d]\nL = sum((y - (X*M)@w)**2)")
    (mean,) = expectation([_gradient(listing, "w")], [listing["M"]], CLOSED)
    assert mean.how == "closed form"
    assert mean.node is not None
    assert listing["p"] in symbols_of([mean.node])


def test_noise_on_the_data() -> None:
    listing = parse_program(_HEAD + "E ~ Normal(0, 1/2)[n, d]\nL = sum((y - (X + E)@w)**2)")
    _compare(_gradient(listing, "w"), _regression(lambda d: _X + d["E"]), _SIZES)


def test_a_mask_along_rows() -> None:
    listing = parse_program(_HEAD + "m ~ Bernoulli(1/2)[n]\nL = mean((y - (X*m[:, None])@w)**2)")
    _compare(_gradient(listing, "w"), lambda d: _regression(lambda e: _X * e["m"][..., None])(d) / 4, _SIZES)


def test_a_diagonal() -> None:
    listing = parse_program(_HEAD + "e ~ Uniform(-1, 2)[n]\nL = e[:, None]*e[None, :]*a")
    mean, _ = _compare(listing["L"], lambda d: d["e"][:, :, None] * d["e"][:, None, :] * _DATA["a"], _SIZES)
    assert "eye(n)" in mean


def test_functions_of_entries() -> None:
    listing = parse_program(
        _HEAD + "e ~ Gamma(3, 1/2)[n]\nL = sum(log(e)*a)*sum(sqrt(e)*y) + sum(exp(-e))**2"
    )
    _compare(
        listing["L"],
        lambda d: (
            (np.log(d["e"]) @ _DATA["a"]) * (np.sqrt(d["e"]) @ _DATA["y"]) + np.exp(-d["e"]).sum(1) ** 2
        ),
        _SIZES,
    )


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("sum((e - 2)*sum(e**2))", lambda e: (e - 2).sum(1) * (e**2).sum(1)),
        ("mean((e - 2)*sum(e**2))", lambda e: (e - 2).mean(1) * (e**2).sum(1)),
        ("(e**2 - mean(e**2))@(e - 2)", lambda e: ((e**2 - (e**2).mean(1, keepdims=True)) * (e - 2)).sum(1)),
        ("sum(e[:, None] + e[None, :] + 1)", lambda e: 2 * 4 * e.sum(1) + 16),
    ],
)
def test_a_sum_counts_the_entries_that_a_term_does_not_read(
    text: str, function: Callable[[Any], Any]
) -> None:
    listing = parse_program(f"e ~ Normal(1, 1)[4]\nL = {text}")
    _compare(listing["L"], lambda d: function(d["e"]), _SIZES)


def test_numbers_and_arrays_together() -> None:
    listing = parse_program(
        _HEAD + "u ~ Exponential(2)\ne ~ Normal(1, 1)[n]\nL = u*sum(e*a) + sqrt(u)*e + exp(-a*u)*e"
    )
    _compare(
        listing["L"],
        lambda d: (
            (d["u"] * (d["e"] @ _DATA["a"]))[:, None]
            + np.sqrt(d["u"])[:, None] * d["e"]
            + np.exp(-_DATA["a"] * d["u"][:, None]) * d["e"]
        ),
        _SIZES,
    )


def test_what_entries_do_not_share_has_no_covariance() -> None:
    listing = parse_program(_HEAD + "e ~ Normal(0, 1)[n]\nf ~ Normal(0, 1)[n]\nL = sum(e*f*a)")
    assert _compare(listing["L"], lambda d: (d["e"] * d["f"]) @ _DATA["a"], _SIZES) == ("0", "sum(a**2)")


@pytest.mark.parametrize("text", ["sum(1/e)", "sum(a*e**-2)"])
def test_a_sum_of_what_diverges(text: str) -> None:
    listing = parse_program(_HEAD + f"e ~ Normal(0, 1)[n]\nL = {text}")
    (found,) = expectation([listing["L"]], [listing["e"]], CLOSED)
    assert found.how == "none"


def test_what_no_formula_is_known_of_goes_to_draws() -> None:
    listing = parse_program(_HEAD + "e ~ Normal(0, 1)[n]\nL = tanh(sum(e*a))")
    (found,) = expectation([listing["L"]], [listing["e"]], CLOSED)
    assert found.how == "monte carlo"
    estimate = found.at({listing["a"]: _DATA["a"]})
    assert estimate.low < 0 < estimate.high


def _minibatch(draws: Mapping[str, Any]) -> Any:
    x, y = _X[draws["i"]], _DATA["y"][draws["i"]]
    return 2 * np.einsum("sij,si->sj", x, x @ _DATA["w"] - y) / 2


def test_a_minibatch_without_replacement() -> None:
    listing = parse_program(_HEAD + "i ~ Permutation(n)[2]\nL = mean((y[i] - X[i]@w)**2)")
    mean, _ = _compare(_gradient(listing, "w"), _minibatch, _SIZES)
    assert mean == "2*(X.T@(X@w) - X.T@y)/n"  # that of all rows: unbiased


def test_a_minibatch_of_everything_has_no_variance() -> None:
    listing = parse_program(_HEAD + "i ~ Permutation(n)[n]\nL = mean((y[i] - X[i]@w)**2)")
    (spread,) = variance([_gradient(listing, "w")], [listing["i"]], CLOSED)
    assert spread.how == "closed form"
    found = spread.at({listing[k]: _DATA[k] for k in "Xyw"})
    assert np.all(np.abs(found.value) < 1e-12)


def test_a_minibatch_with_replacement() -> None:
    listing = parse_program(_HEAD + "i ~ Categorical(full(n, 1/n))[2]\nL = mean((y[i] - X[i]@w)**2)")
    _compare(_gradient(listing, "w"), _minibatch, _SIZES)


def test_the_gradient_by_what_is_picked() -> None:
    listing = parse_program(_HEAD + "i ~ Permutation(n)[3]\nL = sum(y[i]**2*a[i])")
    _compare(
        _gradient(listing, "y"),
        lambda d: 2 * _DATA["y"] * _DATA["a"] * np.sum(d["i"][:, :, None] == np.arange(4), axis=1),
        _SIZES,
    )


def test_functions_of_a_categorical_draw() -> None:
    listing = parse_program("x : real\np : real(0, 1)[3]\nk ~ Categorical(p)\ny = sin(x + k)")
    (found,) = expectation([listing["y"]], [listing["k"]], CLOSED)
    assert found.how == "closed form"
    p = [0.2, 0.5, 0.3]
    expected = sum(q * np.sin(0.7 + k) for k, q in enumerate(p))
    assert found.at({listing["x"]: 0.7, listing["p"]: np.array(p)}).value == pytest.approx(expected)
