"""Whether two programs agree, forward and backward, to an order or to all of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import NotDifferentiableError, NotInProgramError, UnsupportedError, UsageError


@pytest.mark.parametrize(
    ("p", "q", "order", "status"),
    [
        ("stop_gradient(stop_gradient(x)*y)", "stop_gradient(x*y)", "all", "proved"),
        ("x + stop_gradient(round(x) - x)", "stop_gradient(round(x)) - (stop_gradient(x) - x)", "all", "proved"),
        ("stop_gradient(sin(x)) - (stop_gradient(x) - x)", "x + stop_gradient(sin(x) - x)", "all", "proved"),
        ("exp(a - stop_gradient(a))", "1 + a - stop_gradient(a)", 1, "proved"),
        ("exp(a - stop_gradient(a))", "1 + a - stop_gradient(a)", 2, "refuted"),
        ("exp(a - stop_gradient(a))", "1 + a - stop_gradient(a)", "all", "refuted"),
        ("1 + d + d**2/2", "1 + d + d**2/2 + d**3/6", 2, "proved"),
        ("1 + d + d**2/2", "1 + d + d**2/2 + d**3/6", "all", "refuted"),
        ("p*stop_gradient(h)", "stop_gradient(p*h - p) + p", 1, "refuted"),
        ("x*stop_gradient(x)", "x**2/2 + stop_gradient(x**2)/2", 1, "proved"),
        ("x*stop_gradient(x)", "x**2/2 + stop_gradient(x**2)/2", 2, "refuted"),
    ],
)  # fmt: skip
def test_known_pairs(p: str, q: str, order: int, status: str) -> None:
    p, q = (re.sub(r"\bd\b", "(x - stop_gradient(x))", t) for t in (p, q))
    assert sg.equivalent(p, q, order=order).status == status


def test_the_order_at_which_they_part_is_told_with_a_point() -> None:
    v = sg.equivalent("exp(a - stop_gradient(a))", "1 + a - stop_gradient(a)", order="all")
    assert v.why == "the values and the gradients are equal, but the second derivatives by a differ"
    assert v.witness is not None
    assert v.values == ("1", "0")
    assert v.to_json()["of_higher"]["a, a"]["status"] == "refuted"


def test_arrays_of_any_length() -> None:
    p = "x : real[n]\nx*stop_gradient(x)"
    q = "x : real[n]\nx**2/2 + stop_gradient(x**2)/2"
    assert sg.equivalent(p, q).status == "proved"
    v = sg.equivalent(p, q, order=2)
    assert (v.status, v.of_higher["x", "x"].status) == ("refuted", "refuted")


def test_only_what_one_differentiates_by_counts() -> None:
    assert sg.equivalent("stop_gradient(k)*x", "k*x", order="all").status == "refuted"
    assert sg.equivalent("stop_gradient(k)*x", "k*x", "x", order="all").status == "proved"


def test_what_is_random_is_data() -> None:
    p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\na = x*stop_gradient(u)\nb = x*u")
    assert sg.equivalent(p["a"], p["b"], order="all").status == "proved"


def test_a_custom_gradient_is_no_function_of_copies() -> None:
    x = sg.symbols("x")
    z = sg.custom_gradient(sg.sin(x), {x: lambda v: v * sg.cos(x)})
    assert sg.equivalent(z, sg.sin(x), order=3).status == "proved"
    v = sg.equivalent(z, sg.sin(x), order="all")
    assert v.status == "supported"
    assert "a custom gradient need not be the derivative of any function" in v.why


STOPPED = st.recursive(
    st.sampled_from(["x", "y", "2"]),
    lambda e: st.one_of(
        st.builds("stop_gradient({})".format, e),
        st.builds("sin({})".format, e),
        st.builds("({} + {})".format, e, e),
        st.builds("({} * {})".format, e, e),
    ),
    max_leaves=5,
)


@given(STOPPED, STOPPED)
def test_a_proof_for_all_orders_never_meets_an_order_that_differs(p: str, q: str) -> None:
    a, b = f"x*y*0 + {p}", f"x*y*0 + {q}"
    whole = sg.equivalent(a, b, order="all", time_limit=2)
    third = sg.equivalent(a, b, order=3, time_limit=2)
    if whole.status == "proved":
        assert third.status != "refuted"
    if third.status == "refuted":
        assert whole.status == "refuted"


@given(STOPPED)
def test_stops_inside_stops_are_idle(p: str) -> None:
    text = f"x*y*0 + stop_gradient(cos({p}))*x"
    bare = f"x*y*0 + stop_gradient(cos({p.replace('stop_gradient', '')}))*x"
    assert sg.equivalent(text, bare, order="all", time_limit=2).status == "proved"


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="order is 0"):
        sg.equivalent("x", "x", order=0)
    with pytest.raises(NotInProgramError, match="neither side reads 'z'"):
        sg.equivalent("x", "x", "z")
    with pytest.raises(UnsupportedError, match="complex"):
        sg.equivalent("x", "x", domain="complex")
    with pytest.raises(NotDifferentiableError, match="truth values"):
        sg.equivalent("x > 0", "x > 1")
    h = sg.parse("x : real\nh = x**2\ny = h*x")
    with pytest.raises(UsageError, match="an intermediate value"):
        sg.equivalent(h["y"], "x**3", h["h"])
    with pytest.raises(UsageError, match="no real input"):
        sg.equivalent("k : int\nk", "k : int\nk + 0")
