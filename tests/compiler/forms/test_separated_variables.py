"""Formulas of physics in SI units: powers of inputs times a function of one product of them, with all their digits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.autodiff.products import product_node
from symgrad.compiler.forms.separated_variables import separated
from symgrad.ir.graph import symbol
from symgrad.ir.traverse import substitute
from symgrad.ir.types import Declaration
from symgrad.rewrite.choice.certain_values import CertainValues, distance
from tests.compiler.forms.certain_errors import error_and_bound

CONSTANTS = (
    "h = 6.62607015e-34\nc = 299792458\nk = 1.380649e-23\nq = 1.602176634e-19\nmu = 9.2740100783e-24\n"
)

LAWS = {
    "Planck": (
        "2*h*nu**3/c**2/(exp(h*nu/(k*T)) - 1)",
        {"nu": (1e5, 1e16), "T": (3, 1e4)},
    ),
    "heat capacity": (
        "k*(h*nu/(k*T))**2*exp(h*nu/(k*T))/(exp(h*nu/(k*T)) - 1)**2",
        {"nu": (1e6, 1e15), "T": (1, 3e3)},
    ),
    "free energy": ("k*T*log(1 - exp(-h*nu/(k*T)))", {"nu": (1e6, 1e15), "T": (1, 3e3)}),
    "Langevin": ("mu*(1/tanh(mu*B/(k*T)) - k*T/(mu*B))", {"B": (1e-6, 1e2), "T": (1e-2, 1e3)}),
    "kinetic energy": ("sqrt((p*c)**2 + (m*c**2)**2) - m*c**2", {"p": (1e-27, 1e-15), "m": (1e-31, 1e-26)}),
    "speed": ("sqrt(1 - 1/(1 + E/(m*c**2))**2)", {"E": (1e-25, 1e-9), "m": (1e-31, 1e-26)}),
}


def program_of(law: str) -> sg.Program:
    formula, ranges = LAWS[law]
    return sg.parse("".join(f"{v} : positive\n" for v in ranges) + CONSTANTS + "y = " + formula)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("law", LAWS)
def test_derivatives_of_laws_in_si_units_keep_their_digits(law: str, order: int) -> None:
    _, ranges = LAWS[law]
    program = program_of(law)
    inputs = {v: program[v].node for v in ranges}
    draw = np.random.default_rng(3)
    for by in itertools.combinations_with_replacement(ranges, order):
        slope = program["y"]
        for v in by:
            slope = sg.grad(slope, v)
        kernel, values = sg.compile(slope), CertainValues([slope.node])
        checked = 0
        for _ in range(25):
            at = {v: float(np.exp(draw.uniform(*np.log(ends)))) for v, ends in ranges.items()}
            found = float(kernel(**{v: at[v] for v in kernel.inputs}))
            pair = error_and_bound(values, {inputs[v]: x for v, x in at.items()}, found)
            if pair is not None:
                checked += 1
                assert pair[0] <= pair[1], (by, at, found)
        assert checked > 20


@pytest.mark.parametrize("law", ["Planck", "heat capacity", "free energy", "Langevin"])
def test_laws_and_their_derivatives_separate(law: str) -> None:
    program = program_of(law)
    first, second = LAWS[law][1]
    u = symbol(Declaration("u", sg.parse("u : positive\ny = u")["u"].node.declaration.domain))
    constants = {"nu": "h*nu/(k*T)", "B": "mu*B/(k*T)"}[first]
    variable = sg.parse(f"{first} : positive\nT : positive\n{CONSTANTS}v = {constants}")["v"].node
    for by in ([], [first], [second], [first, second], [second, second]):
        expr = program["y"]
        for v in by:
            expr = sg.grad(expr, v)
        terms = separated(expr.node, variable, u)
        assert terms is not None
        assert len(terms) == 1
        whole = product_node(terms[0].product) * substitute([terms[0].function], {u: variable})[0]
        at = {program[v].node: x for v, x in zip((first, second), (3.7, 2e-11), strict=True)}
        a, b = CertainValues([expr.node, whole]).at(at)
        assert distance(a, b) <= 1e-50 * abs(float(a))


def test_what_is_no_function_of_the_product_counts_as_an_input() -> None:
    p = sg.parse("a : positive\nt : positive\ny = sin(t)*exp(a*t) + t*exp(a*t)/(1 + t)\nu = a*t")
    u = symbol(Declaration("u"))
    terms = separated(p["y"].node, p["u"].node, u)
    assert terms is not None
    whole = sum(
        (product_node(t.product) * t.function for t in terms[1:]),
        product_node(terms[0].product) * terms[0].function,
    )
    (form,) = substitute([whole], {u: p["u"].node})
    found, expected = CertainValues([form, p["y"].node]).at({p["a"].node: 1.25, p["t"].node: 0.375})
    assert distance(found, expected) <= 1e-50


@pytest.mark.parametrize(("formula", "variable"), [("exp(a)*t", "exp(a)"), ("sin(a)", "t")])
def test_formulas_without_such_a_product_stay(formula: str, variable: str) -> None:
    p = sg.parse(f"a : positive\nt : positive\ny = {formula}\nv = {variable}")
    assert separated(p["y"].node, p["v"].node, symbol(Declaration("u"))) is None


@pytest.mark.parametrize(
    "formula",
    [
        "where(a*t > 2, a*exp(a*t), 0)",
        "where(a > 2, a*exp(a*t), t)",
        "where(exp(a*t) > 3 and t > 1/4, a, a*t)*sin(a*t)",
        "maximum(a*t, 2)/t + 0*a",
    ],
)
def test_choices_are_functions_of_the_product_or_inputs(formula: str) -> None:
    p = sg.parse(f"a : positive\nt : positive\ny = {formula}\nu = a*t")
    u = symbol(Declaration("u"))
    terms = separated(p["y"].node, p["u"].node, u) or ()
    made = [product_node(t.product) * t.function for t in terms] or [p["y"].node]
    (whole,) = substitute([sum(made[1:], made[0])], {u: p["u"].node})
    for a in (1.25, 3.5):
        for time in (0.125, 1.5):
            at = {p["a"].node: a, p["t"].node: time}
            found, expected = CertainValues([whole, p["y"].node]).at(at)
            assert distance(found, expected) <= 1e-50
