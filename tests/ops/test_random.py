"""Families of distributions: densities, moments, standard forms and draws, against SciPy and against each other."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import symgrad as sg
from symgrad.api.handles.expr import handle
from symgrad.errors import InternalError, ShapeError
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.types import DISTRIBUTIONS, Declaration, Distribution
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.numpy.calls import array
from symgrad.ops.random.family import FAMILIES, Family, register
from symgrad.ops.random.laws import density, drawn, ends, mean, standard_form, variance

_REAL = st.fractions(-3, 3, max_denominator=16)
_POSITIVE = st.fractions(Fraction(1, 4), 4, max_denominator=16)
_UNIT = st.fractions(Fraction(1, 16), Fraction(15, 16), max_denominator=16)
_WEIGHTS = st.lists(st.integers(1, 9), min_size=2, max_size=5)


def _shares(weights: list[int]) -> list[Fraction]:
    return [Fraction(w, sum(weights)) for w in weights]


# What parameters may be, and the law that SciPy has for them.
LAWS: dict[str, tuple[Any, Any]] = {
    "Uniform": (
        st.tuples(_REAL, _POSITIVE).map(lambda p: (p[0], p[0] + p[1])),
        lambda a, b: stats.uniform(a, b - a),
    ),
    "Normal": (st.tuples(_REAL, _POSITIVE), stats.norm),
    "LogNormal": (
        st.tuples(_REAL, st.fractions(Fraction(1, 4), 1, max_denominator=16)),
        lambda m, s: stats.lognorm(s, scale=np.exp(m)),
    ),
    "Exponential": (st.tuples(_POSITIVE), lambda r: stats.expon(scale=1 / r)),
    "Gamma": (st.tuples(_POSITIVE, _POSITIVE), lambda k, t: stats.gamma(k, scale=t)),
    "Beta": (st.tuples(_POSITIVE, _POSITIVE), stats.beta),
    "Laplace": (st.tuples(_REAL, _POSITIVE), stats.laplace),
    "Cauchy": (st.tuples(_REAL, _POSITIVE), stats.cauchy),
    "Bernoulli": (st.tuples(_UNIT), stats.bernoulli),
    "Poisson": (st.tuples(_POSITIVE), stats.poisson),
    "Categorical": (
        st.tuples(_WEIGHTS.map(_shares)),
        lambda p: stats.rv_discrete(values=(range(len(p)), p)),
    ),
    "Permutation": (st.tuples(st.integers(2, 9)), lambda n: stats.randint(0, n)),
}


def _source(family: str, parameters: tuple[Any, ...], name: str = "u") -> Node:
    """Return a random input; a list of numbers is a vector."""
    made = tuple(array([as_node(e) for e in p]) if isinstance(p, list) else p for p in parameters)
    shape = () if DISTRIBUTIONS[family].independent else (1,)
    return symbol(Declaration(name, shape=shape, distribution=Distribution(family, made)))


def _floats(parameters: tuple[Any, ...]) -> list[Any]:
    return [[float(e) for e in p] if isinstance(p, list) else float(p) for p in parameters]


def _likely(source: Node, at: Node) -> Node:
    found = density(source, at)
    assert found is not None
    return found


def _law(source: sg.Expr) -> Distribution:
    found = source.node.declaration.distribution
    assert found is not None
    return found


def _value(node: Node | None, **values: Any) -> Any:
    assert node is not None
    return np.asarray(evaluate([node], {symbol(Declaration(n)): v for n, v in values.items()})[0])


def test_every_family_has_a_record_and_a_law_here():
    assert set(FAMILIES) == set(DISTRIBUTIONS) == set(LAWS)


@pytest.mark.parametrize("family", LAWS)
@given(data=st.data())
def test_density_mean_and_variance_are_those_of_scipy(family, data):
    kinds, law_of = LAWS[family]
    parameters = data.draw(kinds)
    source, law = _source(family, parameters), law_of(*_floats(parameters))
    discrete = source.dtype == "int"
    if discrete:
        at = np.arange(-2, 12)
        t = symbol(Declaration("t", source.declaration.values, (len(at),)))
        found = evaluate([_likely(source, t)], {t: at})[0]
        np.testing.assert_allclose(found, law.pmf(at), rtol=1e-10, atol=1e-14)
    else:
        at = np.linspace(-4.03, 4.07, 41)
        node = density(source, symbol(Declaration("t")))
        np.testing.assert_allclose(_value(node, t=at), law.pdf(at), rtol=1e-9, atol=1e-13)
    if family == "Cauchy":
        assert mean(source) is None
        assert variance(source) is None
        return
    np.testing.assert_allclose(_value(mean(source)), law.mean(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(_value(variance(source)), law.var(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", LAWS)
@given(data=st.data())
def test_densities_integrate_to_one(family, data):
    parameters = data.draw(LAWS[family][0])
    source = _source(family, parameters)
    if source.dtype == "int":
        at = np.arange(-3, 80)
        t = symbol(Declaration("t", source.declaration.values, (len(at),)))
        assert np.sum(evaluate([_likely(source, t)], {t: at})[0]) == pytest.approx(1, abs=1e-9)
        return
    # Between two quantiles there are no poles and no tails; that the rest is as it should be, the densities show.
    node = density(source, symbol(Declaration("t")))
    ends = LAWS[family][1](*_floats(parameters)).ppf([0.02, 0.4, 0.97])
    total = sum(integrate.quad(lambda t: float(_value(node, t=t)), a, b)[0] for a, b in pairwise(ends))
    assert total == pytest.approx(0.95, abs=1e-7)


@pytest.mark.parametrize("family", [f for f in LAWS if FAMILIES[f].standard is not None])
@given(data=st.data())
def test_a_standard_draw_becomes_one_of_the_family(family, data):
    """By the change of variables: the density there, times the slope, is that of the standard draw."""
    parameters = data.draw(LAWS[family][0])
    source = _source(family, parameters)
    form = standard_form(source, "eps")
    assert form is not None
    assert form.draw.name == "eps"
    for at in (0.125, 0.5, 0.875):
        value, slope = (
            float(evaluate([n], {form.draw: at})[0])
            for n in (form.value, sg.grad(handle(form.value), "eps").node)
        )
        there = float(_value(density(source, symbol(Declaration("t"))), t=value))
        here = float(_value(density(form.draw, symbol(Declaration("t"))), t=at))
        assert there * abs(slope) == pytest.approx(here, rel=1e-9)


@pytest.mark.parametrize("family", LAWS)
@given(data=st.data())
def test_ends_are_those_of_scipy(family, data):
    parameters = data.draw(LAWS[family][0])
    found, law = ends(_source(family, parameters)), LAWS[family][1](*_floats(parameters))
    assert found is not None
    here = [far if e is None else float(_value(e)) for e, far in zip(found, (-np.inf, np.inf), strict=True)]
    assert here == pytest.approx(list(law.support()))


@pytest.mark.parametrize("family", LAWS)
def test_draws_are_of_the_distribution(family):
    _, law_of = LAWS[family]
    parameters = {
        "Bernoulli": (Fraction(1, 4),),
        "Categorical": ([Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)],),
        "Permutation": (7,),
        "Exponential": (3,),
        "Poisson": (Fraction(7, 2),),
    }.get(family, (2, 3))
    source = _source(family, parameters)
    distribution = source.declaration.distribution
    assert distribution is not None
    law = law_of(*_floats(parameters))
    values = {p: evaluate([p], {})[0] for p in distribution.formulas}
    rng = np.random.default_rng(7)
    if distribution.family.independent:
        found = drawn(distribution, rng, (200, 100), values)
        assert found.shape == (200, 100)
    else:
        found = np.array([drawn(distribution, rng, 3, values) for _ in range(10_000)])
        assert all(len(set(row)) == 3 for row in found)
    found = found.ravel()
    if source.dtype == "int":
        counts = np.bincount(found)
        expected = law.pmf(np.arange(len(counts))) * len(found)
        np.testing.assert_allclose(counts, expected, atol=5 * np.sqrt(len(found)))
    else:
        assert stats.kstest(found, law.cdf).pvalue > 1e-3


def test_arrays_of_parameters_are_drawn_entry_by_entry():
    p = sg.parse("mu : real[n]; P : real(0, 1)[n, 3]; z ~ Normal(mu, 1)[m, n]; c ~ Categorical(P)[m, n]")
    rng = np.random.default_rng(3)
    given_mu, given_p = np.array([-50.0, 0.0, 50.0]), np.eye(3)
    z = drawn(_law(p["z"]), rng, (4, 3), {p["mu"].node: given_mu})
    np.testing.assert_allclose(z, np.broadcast_to(given_mu, (4, 3)), atol=8)
    c = drawn(_law(p["c"]), rng, (4, 3), {p["P"].node: given_p})
    np.testing.assert_array_equal(c, np.broadcast_to([0, 1, 2], (4, 3)))


def test_more_different_positions_than_there_are():
    with pytest.raises(ShapeError, match="4 different positions are to be drawn out of 3"):
        drawn(Distribution("Permutation", (3,)), np.random.default_rng(0), 4)


def test_half_a_reparameterisation_is_refused():
    known = FAMILIES["Normal"]
    half = partial(
        Family,
        known.name,
        known.mean,
        known.variance,
        known.density,
        draw=known.draw,
        standard=known.standard,
    )
    with pytest.raises(InternalError, match="has a record"):
        register(half(transform=known.transform))
    taken = FAMILIES.pop("Normal")
    try:
        with pytest.raises(InternalError, match="or neither"):
            register(half(transform=None))
    finally:
        FAMILIES["Normal"] = taken
