"""Programs as functions of inputs and frozen copies: proved for all orders, or refuted at the order where they part."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.checker.check import check


def d(text: str) -> str:
    return text.replace("d_", "(x - stop_gradient(x))")


def test_a_switch_at_the_copy_is_no_proof_of_all_orders() -> None:
    """Both functions are equal everywhere, and both switch just where derivatives are taken: by convention."""
    v = sg.equivalent(d("abs(d_)"), d("maximum(d_, -d_)"), order="all")
    assert v.status == "supported"
    assert "'abs' switches where an input is equal to its frozen copy" in v.why


def test_a_switch_in_a_part_of_the_domain_is_no_proof_either() -> None:
    """For positive x both kinks are met all the time, although abs(x) - x is no constant."""
    v = sg.equivalent(
        "abs(abs(x) - stop_gradient(x))",
        "relu(abs(x) - stop_gradient(x)) + relu(stop_gradient(x) - abs(x))",
        order="all",
    )
    assert v.status == "supported"
    assert "'abs' may switch" in v.why


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("maximum(x*stop_gradient(x), 1)", "1 + relu(x*stop_gradient(x) - 1)"),
        ("clip(exp(d_), 0.8, 1.2)", "minimum(maximum(exp(d_), 0.8), 1.2)"),
        ("sqrt(1 + d_)**2", "1 + d_"),
        ("abs(x*stop_gradient(y))", "abs(x)*abs(stop_gradient(y))"),
        ("d_**2/(2*y)", "d_**2/y - d_**2/(y + stop_gradient(y) - stop_gradient(y))/2"),
    ],
)
def test_kinks_that_are_elsewhere_are_no_obstacle(p: str, q: str) -> None:
    v = sg.equivalent(d(p), d(q), order="all")
    assert v.status == "proved"
    assert "frozen" not in str(v)


def test_where_a_condition_is_met_at_single_points_these_are_left_out() -> None:
    v = sg.equivalent("where(x == 3, 9, x**2)", "x**2", order="all")
    assert str(v) == (
        "proved: the values and the derivatives of every order are equal\n  not claimed where x - 3 = 0"
    )


@pytest.mark.parametrize(
    ("p", "q", "left_out"),
    [
        ("where(x == 3, 9, x**2)", "x**2", False),
        ("where(x == y, y**3/x, x**2)", "x**2", True),  # and x may be 0
        ("where(x == y + 1, x**2, (x - y)*x**2)", "(x - y)*x**2", False),
        ("where(x != y, x*y, y**2)", "x*y", False),
    ],
)
def test_values_are_proved_at_ties_with_the_one_written_for_the_other(p: str, q: str, left_out: bool) -> None:
    v = sg.equivalent(p, q)
    assert v.of_values is not None
    assert (v.of_values.status, bool(v.of_values.excluded)) == ("proved", left_out)
    if not left_out:
        assert v.of_values.proof is not None
        assert v.of_values.proof.data["kind"] == "several"


def test_a_proof_with_ties_is_checked_anew() -> None:
    v = sg.equivalent("where(x == 3, 9, x**2)", "x**2")
    assert v.proof is not None
    found = check(json.loads(v.proof.to_json()))
    assert found.status == "proved"
    assert len(found.parts) == 3  # where x is not 3, at 3, and of the gradients


SIMSIAM = """
x1, x2 : real[d]; W : real[h, d]; P : real[h, h]
z1 = W@x1; z2 = W@x2
p1 = P@z1; p2 = P@z2
n1 = norm(p1)*norm(stop_gradient(z2)); n2 = norm(p2)*norm(stop_gradient(z1))
loss = -(p1@stop_gradient(z2))/n1/2 - (p2@stop_gradient(z1))/n2/2
other = -(p1@stop_gradient(z2/norm(z2))/norm(p1) + p2@stop_gradient(z1/norm(z1))/norm(p2))/2
"""


def test_divisors_are_no_switches_and_are_told_by_their_norms() -> None:
    """SimSiam's symmetric loss: of what is held back the direction or all of it, at every order."""
    p = sg.parse(SIMSIAM)
    v = sg.equivalent(p["loss"], p["other"], ["W", "P"], order="all")
    assert v.status == "proved"
    assert set(v.left_out or ()) == {f"norm({n}) = 0" for n in ("W@x1", "W@x2", "P@(W@x1)", "P@(W@x2)")}


def test_where_it_is_met_on_an_interval_nothing_is_left_out() -> None:
    """The condition holds for all positive x, although not everywhere."""
    assert sg.equivalent("where(abs(x) == x, x**3, x**2)", "x**2", order="all").status == "refuted"


@pytest.mark.parametrize(
    ("p", "q", "by"),
    [
        ("d_**9 + x", "x", ("x",) * 9),
        ("exp(d_**6) + y", "1 + y", ("x",) * 6),
        ("log(1 + d_**7*y)", "0*x*y", ("x",) * 7),
        ("abs(x)*(1 + d_**7)", "abs(x)", ("x",) * 7),
        ("where(x > 1, d_**5, 2*d_**5)", "2*d_**5", ("x",) * 5),
    ],
)
def test_the_order_at_which_they_part_is_found(p: str, q: str, by: tuple[str, ...]) -> None:
    v = sg.equivalent(d(p), d(q), order="all")
    assert (v.status, v.of_higher[by].status) == ("refuted", "refuted")
    assert "the derivatives up to order 4 are equal, but" in v.why


def test_arrays_part_too() -> None:
    v = sg.equivalent("x : real[n]\nsum((x - stop_gradient(x))**7)", "x : real[n]\n0*sum(x)", order="all")
    assert (v.status, v.of_higher[("x",) * 7].status) == ("refuted", "refuted")


def test_that_they_part_is_known_where_no_order_is() -> None:
    """At the order 8, mixed: by none of the inputs alone."""
    v = sg.equivalent(d("d_**5*(y - stop_gradient(y))**3 + x"), "x + 0*y", order="all")
    assert v.status == "refuted"
    assert "some derivative of a higher order differs" in v.why
    assert v.witness is not None
    assert set(v.witness) == {"x", "x_frozen", "y", "y_frozen"}


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("abs(d_ - 1) - 1 + abs(d_ + 1)", "1 + 0*x"),  # differ for copies farther than 1 alone
        ("d_ + relu(d_ - 1)**9", "d_"),
        ("maximum(d_**2, 1)", "1 + 0*x"),
    ],
)
def test_functions_that_differ_beyond_a_kink_may_agree_in_all_derivatives(p: str, q: str) -> None:
    v = sg.equivalent(d(p), d(q), order="all")
    assert v.status == "undecided"
    assert "the two sides differ" in v.why


def test_slopes_at_kinks_are_compared_as_they_are_taken() -> None:
    """PPO's surrogate on the data that it was sampled from: the ratio is 1, and both branches of minimum are equal."""
    p = sg.parse("""
    logp, A : real[n]
    r = exp(logp - stop_gradient(logp))
    surrogate = mean(minimum(r*A, clip(r, 0.8, 1.2)*A))
    plain = mean(r*A)
    half = mean(relu(r*A - A) + A)
    """)
    assert str(sg.effective(p["surrogate"], "logp")).splitlines()[1] == "dsurrogate/dlogp = A/n"
    v = sg.equivalent(p["surrogate"], p["plain"], "logp")
    assert v.status == "proved"
    assert (
        v.of_gradients["logp"].note
        == "with the slopes that are used at kinks: all points tried are at a kink"
    )
    at = {"logp": [0.3, -1.0], "A": [2.0, -3.0]}
    assert [list(sg.grad(p[y], "logp")(**at)) for y in ("surrogate", "plain")] == [[1.0, -1.5]] * 2
    w = sg.equivalent(p["half"], p["plain"], "logp")
    assert (w.status, list(sg.grad(p["half"], "logp")(**at))) == ("refuted", [0.0, 0.0])


def test_a_tie_of_one_and_a_corner_of_the_other_are_told_apart() -> None:
    v = sg.equivalent(d("maximum(d_, 0)"), d("relu(d_)"))
    assert (v.status, v.values) == ("refuted", ("1/2", "0"))
    assert v.witness is not None
    assert list(v.witness) == ["x"]


def test_values_are_proved_once_stops_are_read_as_what_they_stop() -> None:
    p = sg.parse("""
    x : real[n, d]; W1 : real[d, h]; W2 : real[h]; t : real[n]
    b = W1 + stop_gradient(sign(W1) - W1)
    a = x@b
    s = clip(a, -1, 1) + stop_gradient(sign(a) - clip(a, -1, 1))
    loss = mean((s@W2 - t)**2)
    plain = mean((sign(x@sign(W1))@W2 - t)**2)
    """)
    v = sg.equivalent(p["loss"], p["plain"], ["W2", "W1"])
    assert (v.status, v.differ_by) == ("refuted", ("W1",))
    assert v.of_values is not None
    assert v.of_values.status == v.of_gradients["W2"].status == "proved"


def test_what_both_sides_read_alike_may_be_anything() -> None:
    p = sg.parse("""
    z : real[n, h]; codebook : real[k, h]; beta : positive
    e = take(codebook, argmin(sum(jv(0, z[:, None, :] - codebook[None, :, :]), axis=2), axis=1), axis=0)
    loss = mean((stop_gradient(z) - e)**2) + beta*mean((z - stop_gradient(e))**2)
    plain = (1 + beta)*mean((z - e)**2)
    wrong = (2 + beta)*mean((z - e)**2)
    """)
    v = sg.equivalent(p["loss"], p["plain"], "beta")
    assert v.status == "proved"
    assert v.of_values is not None
    assert v.of_values.note == "for arbitrary values of the expressions that both sides share"
    assert sg.equivalent(p["loss"], p["wrong"], "beta").status == "refuted"


def test_quantised_vectors_are_compared_as_they_are() -> None:
    p = sg.parse("""
    z : real[n, h]; codebook : real[k, h]; beta : positive
    e = take(codebook, argmin(sum((z[:, None, :] - codebook[None, :, :])**2, axis=2), axis=1), axis=0)
    loss = mean((stop_gradient(z) - e)**2) + beta*mean((z - stop_gradient(e))**2)
    plain = (1 + beta)*mean((z - e)**2)
    """)
    v = sg.equivalent(p["loss"], p["plain"], "beta")
    assert v.status == "proved"
    assert v.of_values is not None
    assert v.of_values.note is None


ANALYTIC = st.recursive(
    st.sampled_from(["x", "y", "stop_gradient(x)", "2", "1/3"]),
    lambda e: st.one_of(
        st.builds("sin({})".format, e),
        st.builds("exp({}/3)".format, e),
        st.builds("stop_gradient({})".format, e),
        st.builds("1/(2 + ({})**2)".format, e),
        st.builds("({} + {})".format, e, e),
        st.builds("({} * {})".format, e, e),
    ),
    max_leaves=3,
)


@settings(max_examples=25)
@given(ANALYTIC, ANALYTIC, st.integers(0, 8))
def test_programs_that_agree_to_an_order_exactly_are_refuted_for_all(p: str, q: str, order: int) -> None:
    """p + d**(k + 1)*q: equal to the order k; the next derivative differs by (k + 1)! q."""
    there = sg.parse(f"x, y : real\nq = 0*x*y + {q}")["q"]
    if abs(float(there(x=Fraction(1, 3), y=Fraction(2, 3)))) < 1e-9:
        return
    one = f"x*y*0 + {p}"
    other = f"{one} + (x - stop_gradient(x))**{order + 1}*({q})"
    assert sg.equivalent(one, other, "x", order="all", time_limit=20).status == "refuted"
    if 1 <= order <= 3:
        assert sg.equivalent(one, other, "x", order=order, time_limit=20).status in ("proved", "supported")
    if order <= 2:
        assert sg.equivalent(one, other, "x", order=order + 1, time_limit=20).status == "refuted"
