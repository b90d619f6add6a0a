"""Numbers stay as they were typed until something is computed from them."""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import DomainError
from symgrad.interop.importers.numpy.function import read_function
from symgrad.ir.notation.printer import str_text
from tests.frontend.latex.test_printed import assert_same, last_of

STEAM = """T, rho : positive
R = 461.5
delta = rho/322
f = R*T*(log(delta) + 0.5*delta**2)"""

CRITICAL = "x : real\ny = array([190.564, 425.125])*x"

LOSS = "x : real\nu ~ Uniform(0.5, 1.5)\nz = 0.5*(x - 2.5)**2*u"


def steam() -> Any:
    return sg.parse(STEAM)


PLACES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "text": (lambda: steam()["f"], ["461.5*T*(log(rho/322) + 0.5*(rho/322)**2)"]),
    "representation": (lambda: repr(steam()["R"]), ["Expr(461.5)"]),
    "LaTeX": (lambda: steam()["f"].latex(), ["461.5 T", r"0.5 \left(\frac{\rho}{322}\right)^{2}"]),
    "program": (steam, ["R = 461.5", "0.5*delta**2"]),
    "entries": (lambda: sg.parse(CRITICAL)["y"], ["array([190.564, 425.125])*x"]),
    "entries in LaTeX": (lambda: sg.parse(CRITICAL)["y"].latex(), [r"\left(190.564, 425.125\right)"]),
    "exponents": (
        lambda: sg.parse("x : positive\ny = x**1.5 - 0.25*x**-2.5")["y"],
        ["x**1.5 - 0.25*x**-2.5"],
    ),
    "powers of ten": (lambda: sg.parse("x : real\ny = 1e5*x + 2.5e-3")["y"], ["1e5*x + 2.5e-3"]),
    "powers of ten in LaTeX": (
        lambda: sg.parse("x : real\ny = .5*x*1e+5")["y"].latex(),
        [r"0.5 x \cdot 10^{5}"],
    ),
    "equations": (lambda: "\n".join(map(str, steam()["f"].equations)), ["mul(461.5, T)", "mul(0.5, "]),
    "report": (lambda: steam()["f"].report().text(), ["R = 461.5", "0.5*delta**2"]),
    "report in LaTeX": (lambda: steam().report().latex(), ["R &= 461.5", r"0.5 \delta^{2}"]),
    "graph": (lambda: steam()["f"].graph(), ["0.5*delta**2"]),
    "NumPy source": (lambda: steam()["f"].numpy_source(), ['"""461.5*T*(log(rho/322) + 0.5*(rho/322)**2)']),
    "steps": (lambda: sg.explain(steam()["f"], "rho").text(steps=True), ["partial   0.5  by delta**2"]),
    "steps in LaTeX": (lambda: sg.explain(steam()["f"], "rho").latex(steps=True), [r"0.5 \delta^{2}"]),
    "JSON": (lambda: sg.explain(sg.parse(LOSS)["z"], "x").json(), ["0.5*u*(2*(x - 2.5))"]),
    "means": (lambda: sg.audit(sg.parse(LOSS)["z"], "x"), ["mean       x - 2.5"]),
    "excluded points": (lambda: sg.equal("x*(x - 2.5)/(x - 2.5)", "x"), ["not claimed where x - 2.5 = 0"]),
    "claims": (lambda: sg.equal("0.5*x", "x/2").report().text(), ["0.5*x = x/2"]),
    "claims about derivatives": (
        lambda: sg.verify(sg.parse(LOSS)["z"], "x", "1.0*(x - 2.5)*u").report().latex(),
        [r"\left(x - 2.5\right)"],
    ),
    "derivatives in a program": (
        lambda: sg.parse("x : positive\ny = 0.5*x**2.5\ng = grad(y, x) + y"),
        ["y = 0.5*x**2.5"],
    ),
    "LaTeX that was read": (lambda: sg.parse_latex(r"y = 0.5 x^{1.5}")["y"], ["0.5*x**1.5"]),
    "other programs": (
        lambda: sg.parse("h = f + 2.25", symbols={"f": steam()["f"]})["h"],
        ["461.5*T*", "0.5*", "+ 2.25"],
    ),
    "pickles": (lambda: pickle.loads(pickle.dumps(steam()["f"])), ["461.5*T*"]),
}


@pytest.mark.parametrize("place", PLACES)
def test_decimals_are_printed_as_they_were_typed(place: str) -> None:
    answer, parts = PLACES[place]
    found = answer()
    text = found.svg() if place == "graph" else str(found)
    for part in parts:
        assert part in text
    assert not re.search(r"\b(1|5|923)/2\b|\\frac\{(1|5|923)\}\{2\}", text)


def test_messages_say_the_ends_of_a_domain_as_decimals() -> None:
    y = sg.parse("T : real(273.15, 647)\ny = 0.5*log(T)")["y"]
    with pytest.raises(DomainError) as caught:
        y(T=1.0)
    assert caught.value.expected == "numbers from 273.15 to 647"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1/2*x + 3/4", "1/2*x + 3/4"),
        ("x/2 + 1/3", "x/2 + 1/3"),
        ("923/2*x", "923/2*x"),
        ("2.0*x**2", "2*x**2"),  # an integer, which may be an exponent or a position
        ("0.50*x + 0.5", "0.50*x + 0.50"),  # the first spelling
        ("1/2*x + 0.5", "1/2*x + 1/2"),
        ("0.5*x + 1/2", "0.5*x + 0.5"),
        ("1e3*x + x**1000", "1e3*x + x**1e3"),
        ("x**1000 + 1e3*x", "x**1000 + 1000*x"),
        ("1/4*v", "1/4*v"),  # the spelling in formulas, not that in declarations
        ("1/8*x", "1/8*x"),
        ("-1/2*x + 0.5", "-1/2*x + 1/2"),
        ("2.5 - 2.5*x - -2.5", "2.5 - 2.5*x + 2.5"),
        ("-(2.5)*x", "-(2.5)*x"),
        ("1_0.2_5*x", "10.25*x"),
        ("(2.5)**x + (-2.5)**2", "2.5**x + (-2.5)**2"),
    ],
)
def test_spellings(text: str, printed: str) -> None:
    declarations = "x : real(0.125, 4)\nu ~ Uniform(0.25, 1.5)\n"
    e = sg.parse(f"{declarations}v = u\ny = {text}")["y"]
    assert str(e) == printed.replace("v", "u")
    assert sg.parse(f"{declarations}y = {e}")["y"].same(e)


@pytest.mark.parametrize("text", [STEAM, LOSS, "x : positive\ny = x**1.5 - 2.5e-7*x**-.25/(0.5/x) + 1e5*x"])
def test_formulas_in_latex_are_read_back(text: str) -> None:
    p = sg.parse(text)
    for e in (p.last, *sg.grad(p.last, list(p.last.inputs[:2]))):
        assert_same(last_of(sg.parse_latex(e.latex(), p)), e)


def test_a_number_of_a_comment_or_of_another_program_says_nothing() -> None:
    assert str(sg.parse("x : real\ny = 1/2*x  # 0.5")["y"]) == "1/2*x"
    assert str(sg.parse("x : real\ny = 0.5*x")["y"]) == "0.5*x"
    assert str(sg.parse("x : real\ny = 1/2*x")["y"]) == "1/2*x"


def test_decimals_of_sympy() -> None:
    x, s = sympy.symbols("x s", positive=True)
    e = sg.from_sympy(461.5 * x**1.5 + x / (s + 4e-6) + sympy.Rational(1, 2))
    assert all(part in str(e) for part in ("461.5*x**1.5", "1/2", "x/(0.000004 + s)"))
    assert str(sg.grad(e, "s")) == "-x/(s + 0.000004)**2"
    assert sg.grad(e, "s").latex() == r"-\frac{x}{\left(s + 0.000004\right)^{2}}"
    assert str(sg.from_sympy(x / 2 + 0.5)) == "1/2 + 1/2*x"  # one of them is a quotient
    assert str(sg.from_sympy(x / 2)) == "1/2*x"
    (y,) = sg.from_sympy(sympy.cse(2.5 * x + sympy.exp(2.5 * x)))
    assert str(y) == "2.5*x + exp(2.5*x)"


def test_sympy_in_a_program_leaves_its_names() -> None:
    p = sg.parse("x : positive\ns = sigmoid(x)\ny = s**2")
    y = p["y"] + sg.from_sympy(0.5 * sympy.Symbol("x", positive=True))
    assert "s" in str(sg.grad(p["y"], "x"))
    assert "0.5" in str(y)


def test_decimals_of_numpy_code() -> None:
    def loss(x: Any, s: Any) -> Any:
        return np.sum(0.5 * (x / (s + 4e-6)) ** 2)

    p = read_function(loss, {"x": sg.tensor("x", (3,)), "s": sg.symbols("s", domain="positive")})
    assert str(p["loss"]) == "sum(0.5*(x/(s + 0.000004))**2)"
    assert "250000" not in sg.grad(p["loss"], "s").text(expand=True)


DECIMALS = ["0.5", ".25", "461.5", "2.50", "1e-3", "6.02e-1", "190.564", "0.000004", "12_000.5", "1.25E1"]
OTHER = ["2", "3", "1/3", "7/2", "10"]


def formula(rng: random.Random, names: list[str], numbers: list[str], depth: int) -> str:
    if not depth:
        return rng.choice([*names, rng.choice(numbers)])

    def part() -> str:
        return formula(rng, names, numbers, rng.randrange(depth))

    kind = rng.randrange(8)
    if kind < 5:
        return f"({part()} {rng.choice(['+', '-', '*', '/', '*'])} {part()})"
    if kind == 5:
        return f"({part()})**({rng.choice(numbers) if rng.random() < 0.5 else part()})"
    return f"{rng.choice(['log', 'exp', 'sqrt', '-', 'sin'])}({part()})"


def programs(rng: random.Random, numbers: list[str]) -> str:
    names, lines = ["x", "y"], ["x, y : positive"]
    for name in ("a", "b", "c"):
        lines.append(f"{name} = {formula(rng, names, numbers, rng.randint(1, 4))}")
        names.append(name)
    return "\n".join(lines)


def typed(text: str) -> Iterator[str]:
    """Yield the first spellings of the decimals of a text."""
    seen: set[Fraction] = set()
    for found in re.findall(r"(?<![\w.])(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][+-]?\d+)?", text):
        value = Fraction(found.replace("_", ""))
        if not found.isdecimal() and value.denominator > 1 and value not in seen:
            seen.add(value)
            yield found.replace("_", "")


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_random_programs(seed: int) -> None:
    rng = random.Random(seed)
    text = programs(rng, [*DECIMALS, *OTHER])
    p = sg.parse(text)
    printed = str(p)
    again = sg.parse(printed)
    assert all(spelling in printed for spelling in typed(text))
    for name in ("a", "b", "c"):
        assert again[name].same(p[name])
        shown = str(p[name])
        symbols = {n: p[n] for n in ("x", "y")}
        assert "\n" in shown or sg.parse(shown, symbols=symbols).last.same(p[name])
        formula = p[name].latex()
        assert all(spelling in formula for spelling in typed(shown) if "e" not in spelling.lower())


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_programs_of_integers_are_printed_as_before(seed: int) -> None:
    p = sg.parse(programs(random.Random(seed), OTHER))
    for name in ("a", "b", "c"):
        assert str(p[name]) == str_text(p[name].node)
