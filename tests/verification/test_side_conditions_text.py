"""What is said of places that a proof leaves out: in words of the program, true, and nothing of what cannot be."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.verification.reporting.side_conditions import _ConditionWriter, describe_conditions
from symgrad.verification.search.singularities import simpler

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"


def example(name: str) -> str:
    return (PROGRAMS / f"{name}.sg").read_text(encoding="utf-8")


TABLE = [
    ("x : real[n]; y = log2(x); f = sum(y)", "f", "x", "1/(x*log(2))", "an entry of x is 0 or negative"),
    ("x : real[n]; f = sum(log10(x))", "f", "x", "1/(x*log(10))", "an entry of x is 0 or negative"),
    ("S : real[n, n]; f = logdet(S)", "f", "S", "inv(S).T", "S is singular"),
    ("x : real[n]; f = sum(x/norm(x))", "f", "x", "1/norm(x) - x*sum(x)/norm(x)**3", "norm(x) = 0"),
    ("x, y : real[n]; d = norm(x - y); f = d**3", "f", "x", "3*d*(x - y)", ""),
    (
        "x, y : real[n]; f = sum(maximum(x, y))",
        "f",
        "x",
        "where(x > y, 1, 0)",
        "an entry of x equals that of y",
    ),
    ("x : real[n]; f = sum(relu(x - 1))", "f", "x", "where(x > 1, 1, 0)", "an entry of x is 1"),
    (
        "x, y : real[n]; f = sum(x**2)/sum(where(y == 1, 1, 0))",
        "f",
        "x",
        "2*x/sum(where(y == 1, 1, 0))",
        "sum(where(y == 1, 1, 0)) = 0",
    ),
    (
        "x : real[n]; c : real; m = max(x + c); f = m**2",
        "f",
        "c",
        "2*m",
        "two entries of x + c tie for its max",
    ),
    (
        "x : real[n]; r = relu(x); s = 1 + sum(r); f = log(s)",
        "f",
        "x",
        "where(x > 0, 1, 0)/s",
        "an entry of x is 0",
    ),
    (
        "x : real[n, d]; v = mean((x - mean(x, axis=0))**2, axis=0); f = sum(log(v))",
        "f",
        "x",
        "2*(x - mean(x, axis=0))/(n*v)",
        "an entry of v is 0",
    ),
    ("x : real[n]; f = sum(sqrt(1 - 0.1*x**2))", "f", "x", "-0.1*x/sqrt(1 - 0.1*x**2)", None),
    (example("batch_norm"), "loss", "gamma", "sum((y - Y)*xh, axis=0)", ""),
    (example("batch_norm").replace("v + 1e-5", "v - 1e-5"), "loss", "gamma", "sum((y - Y)*xh, axis=0)", None),
    (example("vae"), "loss", "Wd", "zs.T@(xr - x)/n", ""),
    (
        example("vae"),
        "rec",
        "xr",
        "(xr - x)/(n*xr*(1 - xr))",
        "an entry of xr is 0 or negative; an entry of 1 - xr is 0 or negative",
    ),
    (example("gaussian_process"), "nll", "y", "solve(Ky, y)", "Ky is singular"),
    (
        example("kalman"),
        "nll",
        "H",
        "(inv(S) - outer(solve(S, v), solve(S, v)))@H@Pp - outer(solve(S, v), xp)",
        "S is singular",
    ),
    (
        example("peng_robinson"),
        "lnphi",
        "Z",
        "1 - 1/(Z - B) + A/(Z**2 + 2*B*Z - B**2)",
        "Z + (1 - sqrt(2))*B = 0; Z - B = 0; Z**2 + 2*B*Z - B**2 = 0",
    ),
    (
        example("sabr"),
        "chi",
        "z",
        "1/sqrt(1 - 2*rho*z + z**2)",
        "1 - 2*rho*z + z**2 = 0; sqrt(1 - 2*rho*z + z**2) + z - rho = 0",
    ),
    ("x, c : real; d = x**2 - c; f = x/d", "f", "x", "1/d - 2*x**2/d**2", "d = 0"),
    ("x, y : real; f = x/(x - y)", "f", "x", "-y/(x - y)**2", "x - y = 0"),
    ("x, c : real; f = sqrt(x**2 + c)/x", "f", "c", "1/(2*x*sqrt(x**2 + c))", "x = 0; x**2 + c = 0"),
    ("x : real; f = tan(x)", "f", "x", "1/cos(x)**2", "cos(x) = 0"),
    ("x : real; f = tan(x**2)", "f", "x", "2*x/cos(x**2)**2", "cos(x**2) = 0"),
    ("x : real; f = log(sin(x))", "f", "x", "cos(x)/sin(x)", "sin(x) = 0"),
    ("x : real; f = cot(x)", "f", "x", "-1/sin(x)**2", "sin(x) = 0; cos(x) = 0"),
    ("x : real; f = sinc(x)", "f", "x", "(cos(pi*x) - sinc(x))/x", "x = 0"),
    ("x : real; f = sin(x)/x", "f", "x", "(x*cos(x) - sin(x))/x**2", "x = 0"),
    ("x : real; f = coth(x) - 1/x", "f", "x", "1/x**2 - 1/sinh(x)**2", "x = 0"),
    ("a, x : real; f = 1/(exp(a*x) - 1)", "f", "x", "-a*exp(a*x)/(exp(a*x) - 1)**2", "a = 0; x = 0"),
    ("x : real; f = tan(x)*cos(x)", "f", "x", "cos(x)", "cos(x) = 0"),
    ("x : real; f = log(x)/(x + 2)", "f", "x", "1/(x*(x + 2)) - log(x)/(x + 2)**2", ""),
    ("x : real; f = log(x)/(x - 2)", "f", "x", "1/(x*(x - 2)) - log(x)/(x - 2)**2", "x - 2 = 0"),
    ("x : real; f = acosh(x)", "f", "x", "1/(sqrt(x - 1)*sqrt(x + 1))", "x - 1 = 0"),
    ("x : real; f = sqrt(x)", "f", "x", "1/(2*sqrt(x))", "f = 0"),
    ("x : real; f = log(3 - x)/x", "f", "x", "-1/(x*(3 - x)) - log(3 - x)/x**2", "x = 0; 3 - x = 0"),
]


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (["tan(x/2) - 1", "1 + tan(x/2)"], ["cos(x)"]),
        (["1 - tan(y)", "1 + tan(y)", "tan(x)"], ["cos(2*y)", "sin(x)"]),
        (["tan(x/2)", "cos(x/2)", "x - 1"], ["sin(x)", "x - 1"]),
        (["tan(x/2) - 1", "tan(x/2) + 2"], ["tan(x/2) - 1", "tan(x/2) + 2"]),
        (["exp(pi*x) - 1", "exp(x) - 2"], ["pi*x", "exp(x) - 2"]),
        (["x*y", "x; cos(y)", "y - 1; cos(x)"], ["x*y", "y - 1; cos(x)"]),
        (["x; cos(x/2)", "x; sin(y)"], ["x; sin(y)"]),
    ],
)
def test_places_are_the_same_as_a_textbook_has_them(places: list[str], expected: list[str]) -> None:
    def read(texts: list[str]) -> list[tuple[Node, ...]]:
        return [
            tuple(canonical([parse_expression(t, symbols)]).nodes[0] for t in text.split("; "))
            for text in texts
        ]

    symbols = {s.name: s for s in symbols_of([sg.parse("x, y : real\nf = x + y").last.node])}
    found = simpler(read(places), _ConditionWriter(Conditions(), {}).factors)
    assert sorted(map(str, found)) == sorted(map(str, read(expected)))


@pytest.mark.parametrize(("text", "of", "wrt", "claim", "expected"), TABLE, ids=range(len(TABLE)))
def test_what_is_said(text: str, of: str, wrt: str, claim: str, expected: str | None) -> None:
    """None stands for places that there are, however they are said."""
    program = sg.parse(text)
    found = sg.verify(program[of], wrt, claim)
    assert found.status == "proved"
    assert found.excluded, "the proof leaves something out"
    assert found.left_out is not None
    if expected is None:
        assert found.left_out
    else:
        assert sorted(found.left_out) == sorted(filter(None, expected.split("; ")))
    assert found.to_json()["left_out"] == list(found.left_out)
    assert ("not claimed where" in str(found)) == bool(found.left_out)


FACTORS = ["x", "y", "x - 1", "x - y", "x + y + 1", "x**2 - y", "x*y - 2", "x**2 + 1", "y**2 + x**2 + 2"]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(FACTORS), min_size=1, max_size=3),
    st.lists(st.sampled_from(FACTORS), min_size=1, max_size=3, unique=True),
    st.sampled_from(["1", "-2", "3/2"]),
)
def test_zeros_of_numbers_are_the_same(condition: list[str], parts: list[str], number: str) -> None:
    sides = sg.parse("x, y : real\nf = " + " + ".join(f"1/({p})" for p in parts))
    named = sg.parse("x, y : real\n" + "\n".join(f"d{k} = {p}" for k, p in enumerate(parts))).outputs
    left = f"{number}*" + "*".join(f"({c})" for c in condition)
    said = describe_conditions(
        [f"{left} = 0"], [sides["f"].node], {e.node: name for name, e in named.items()}
    )
    for x, y in product(range(-3, 4), repeat=2):
        values = {"x": x, "y": y}
        values.update((f"d{k}", _value(p, values)) for k, p in enumerate(parts))
        zero = _value(left, values) == 0
        assert any(_value(text.replace(" = 0", " == 0"), values) for text in said) == zero, (
            left,
            said,
            values,
        )


def _value(text: str, values: dict[str, int]) -> int:
    return eval(text, {}, values)
