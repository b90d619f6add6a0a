"""Whether noise enters a gradient does not depend on the unit that anything is measured in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symgrad.analysis.explain.derivation import explain
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.frontend.text import parse_program

EXPONENTS = st.integers(-40, 40)
FACTORS = st.lists(
    st.sampled_from(("{c}*T", "T/{c}", "sqrt({c}*T)", "{c}*T**2", "1/({c}*T)", "exp(-T)/{c}")), max_size=3
)

# Of each the derivative by T depends on nu for all T, and those of the second do not: multiplied out, nu is gone.
NOISY = (
    "nu*{c}",
    "nu/{c}",
    "nu**2*{c}",
    "1/({c}*nu)",
    "({c} + {c}*nu)",
    "exp(nu)*{c}",
    "sqrt({c}*nu)",
    "floor(nu)*{c}",
)
CANCELLED = (
    "{c}*nu/nu",
    "({c}*nu)/({c}*nu)",
    "exp({c} + nu)/exp(nu)",
    "sqrt({c}*nu)/sqrt(nu)",
    "{c}*(sin(nu)**2 + cos(nu)**2)",
    "(1 + {c}*(nu - nu))",
    "(log({c}*nu) - log(nu) + 100)",
)


def judged(noise: str, factors: list[str], exponents: list[int]) -> NoiseVerdict:
    scales = [f"1.38e{e}" for e in exponents]
    terms = [f.format(c=c) for f, c in zip([noise, *factors], scales, strict=False)]
    listing = parse_program(f"T : positive\nnu ~ Uniform(4, 7)\ny = T*{'*'.join(f'({t})' for t in terms)}")
    return explain(listing["y"], [listing["T"]], listing).noise["nu"]


SCALES = st.lists(EXPONENTS, min_size=4, max_size=4)


@settings(max_examples=60)
@given(st.sampled_from(NOISY), FACTORS, SCALES)
def test_noise_enters_at_any_scale(noise: str, factors: list[str], exponents: list[int]) -> None:
    powers = {"{c}*T": 1, "T/{c}": 1, "sqrt({c}*T)": 0.5, "{c}*T**2": 2, "1/({c}*T)": -1, "exp(-T)/{c}": 0}
    constant = 1 + sum(powers[f] for f in factors) == 0 and "exp(-T)/{c}" not in factors
    assert judged(noise, factors, exponents).enters is not constant


@settings(max_examples=60)
@given(st.sampled_from(CANCELLED), FACTORS, SCALES)
def test_noise_that_cancels_does_so_at_any_scale(
    noise: str, factors: list[str], exponents: list[int]
) -> None:
    assert judged(noise, factors, exponents).enters is False


@pytest.mark.parametrize("exponent", range(-40, 41, 10))
@pytest.mark.parametrize(
    "form", ["abs({c}*T*nu)", "maximum({c}*T, {c}*nu)", "hypot({c}*T, {c}*nu)", "T + {c}*nu*T"]
)
def test_kinks_and_small_parts_at_any_scale(form: str, exponent: int) -> None:
    listing = parse_program(f"T : positive\nnu ~ Uniform(4, 7)\ny = {form.format(c=f'1.38e{exponent}')}")
    assert explain(listing["y"], [listing["T"]], listing).noise["nu"].enters is True


@pytest.mark.parametrize("exponent", [-300, -100, 100, 300])
def test_what_no_precision_sees_is_not_seen(exponent: int) -> None:
    """u + c is u at every precision that is used, or c: a comparison of what is left of c is no evidence."""
    listing = parse_program(
        f"x : real\nu ~ Uniform(4, 7)\nc = 1e{exponent}\ny = x*where((u + c) - u < c/2, u, 2)"
    )
    assert explain(listing["y"], [listing["x"]], listing).noise["u"].enters is not True
