"""The two sides of an equation, and domains for them: what is shared, what contradicts itself, what is no domain."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import DeclarationError, RedefinitionError, SymgradError, UnknownNameError, UsageError


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x : positive\nsqrt(x**2)", "x"),
        ("sqrt(x**2)", "x : positive\nx"),
        ("x : positive\nsqrt(x**2)", "x : positive\nx"),
        ("x@x", "x : real[n]\nsum(x**2)"),
        ("x : real[n]\nsum(x)", "sum(x) + z - z"),
    ],
)
def test_declarations_of_one_side_count_in_both(a, b):
    assert sg.equal(a, b).status == "proved"
    assert sg.equal(b, a).status == "proved"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x : real\nsqrt(x**2)", "x : positive\nx"),
        ("x ~ Uniform(0, 1)\nx", "x : real\nx"),
        ("x : real[n]\nsum(x)", "x : real[n, n]\nsum(x)"),
    ],
)
def test_contradictory_declarations(one, other):
    for a, b in ((one, other), (other, one)):
        with pytest.raises(RedefinitionError, match="declared in both sides") as caught:
            sg.equal(a, b)
        assert all(f"'{text.splitlines()[0]}'" in caught.value.what for text in (a, b))
        assert "declare x in one side alone" in str(caught.value.cure)


def test_a_name_that_one_side_computes_and_the_other_declares():
    with pytest.raises(RedefinitionError, match="a computed value"):
        sg.equal("y : real\nx = y**2\nsqrt(x)", "x : real\nx")


@pytest.mark.parametrize(
    ("a", "b", "error"),
    [
        ("x : real\nx", "x +", SymgradError),
        ("x : real[n]\nsum(x)", "x@x + z", UnknownNameError),
        ("x : real\nx", "y : real\nfoo(y)", UnknownNameError),
    ],
)
def test_a_side_that_cannot_be_read(a, b, error):
    with pytest.raises(error):
        sg.equal(a, b)


@pytest.mark.parametrize("domain", [{"x": "positive"}, "positive", {"x": "positive[n]"}])
def test_a_domain_leaves_the_shape(domain):
    p = sg.parse("x : real[n]\ny = sum(sqrt(x**2))")
    assert sg.equal(p["y"], "sum(x)").status == "refuted"
    assert sg.equal(p["y"], "sum(x)", domain=domain).status == "proved"


def test_a_domain_leaves_a_shape_that_is_written_otherwise():
    p = sg.parse("x : real[n]\ny = sum(abs(x[1:]))")
    claim = "0*x + concatenate((zeros(1), ones_like(x[1:])))"
    assert sg.verify(p["y"], "x", claim).status == "refuted"
    for domain in ("positive", {"x": "positive"}, {"x": "positive[n]"}):
        assert sg.verify(p["y"], "x", claim, domain=domain).status in ("proved", "supported")


@pytest.mark.parametrize(
    ("domain", "error", "words"),
    [
        ({"x": (0, 1)}, UsageError, r"the domain of 'x' is \(0, 1\)"),
        ({"x": None}, UsageError, "the domain of 'x' is None"),
        ({"x": ""}, UsageError, "the domain of 'x' is ''"),
        ({1: "real"}, UsageError, "the domain of 1"),
        (5, UsageError, "the domain is 5"),
        ("", UsageError, "the domain is ''"),
        ("  ", UsageError, "the domain is "),
        ({"x": "positive\ny : real"}, UsageError, "more than a domain"),
        ("positive\ny : real", UsageError, "more than a domain"),
        ({"x": "positive\nx"}, UsageError, "more than a domain"),
        ({"x": "positive[3]"}, DeclarationError, "another shape"),
    ],
)
def test_what_is_no_domain(domain, error, words):
    with pytest.raises(error, match=words) as caught:
        sg.equal("x", "x", domain=domain)
    assert caught.value.expected
    with pytest.raises(error, match=words):
        sg.verify("x**2", "x", "2*x", domain=domain)


@pytest.mark.parametrize(
    ("a", "b", "hint"),
    [
        ("e**x", "exp(x)", "'e' is a variable here"),
        ("exp(x)", "2*E**x", "'E' is a variable here"),
        ("x : real\nexp(x)", "e**x", "'e' is a variable here"),
        ("x, e : real\ne**x", "exp(x)", None),
        ("e*x", "exp(x)", None),
        ("a**x", "exp(x)", None),
    ],
)
def test_a_name_that_looks_like_the_number_of_euler(a, b, hint):
    v = sg.equal(a, b)
    assert v.status == "refuted"
    assert [d.kind for d in v.diagnosis] == ([] if hint is None else ["constant-read-as-variable"])
    assert hint is None or (hint in v.diagnosis[0].message and hint in str(v))


def test_a_text_with_declarations_beside_an_expression() -> None:
    x = sg.symbols("x")
    for text in ("x : real\nx**2", "x : real\ny = x*x"):
        assert sg.equal(x**2, text).status == "proved"
        assert sg.equal(text, x**2).status == "proved"
    assert sg.equal(sg.parse("x : real\ny = x**2"), "x : real\nx*x").status == "proved"
    assert sg.verify(x**2, x, "x : real\n2*x").status == "proved"


def test_a_text_that_contradicts_an_expression() -> None:
    x = sg.symbols("x")
    for decide in (
        lambda: sg.equal(x, "x : positive\nabs(x)"),
        lambda: sg.verify(x**2, x, "x : positive\n2*x"),
    ):
        with pytest.raises(RedefinitionError, match="declared in both sides"):
            decide()
