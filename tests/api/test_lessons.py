"""Derivations as exercises: their lines, the last one hidden, and the next one for those that are there."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.api.explaining.explain import Derivation
from symgrad.api.explaining.lessons import NextStep

CHAIN = "x : real\ns = x**2\nz = sin(s)"

BATCH_NORM = """
x, Y : real[n, d]
gamma, beta : real[d]
mu = mean(x, axis=0)
v = mean((x - mu)**2, axis=0)
xh = (x - mu)/sqrt(v + 1e-5)
y = gamma*xh + beta
loss = sum((y - Y)**2)/2
"""


@pytest.fixture(scope="module")
def batch_norm() -> Derivation:
    return sg.explain(sg.parse(BATCH_NORM)["loss"], "x")


def name_of(step: NextStep) -> str | None:
    return None if step.line is None else step.line.name


def test_lines_are_the_adjoints_with_their_rules(batch_norm: Derivation) -> None:
    assert [line.name for line in batch_norm.lines] == [
        "loss_bar",
        "y_bar",
        "xh_bar",
        "v_bar",
        "mu_bar",
        "x_bar",
    ]
    assert batch_norm.lines[2].rule == "add, mul"
    assert batch_norm.lines[3].rule == "div, sqrt, add"


def test_a_program_without_names_has_a_line_for_each_value_on_the_way() -> None:
    lines = sg.explain("exp(sin(x**2))").lines
    assert [str(line) for line in lines] == [
        "d(exp(sin(x**2)))/d(sin(x**2)) = exp(sin(x**2))",
        "d(exp(sin(x**2)))/d(x**2) = exp(sin(x**2))*cos(x**2)",
        "d(exp(sin(x**2)))/dx = 2*x*cos(x**2)*exp(sin(x**2))",
    ]
    assert [line.rule for line in lines] == ["exp", "sin", "pow"]


@pytest.mark.parametrize(
    ("given", "follows"),
    [
        ("", "loss_bar"),
        ("loss_bar = 1", "y_bar"),
        ("dy = y - Y", "xh_bar"),
        ("dloss/dy = y - Y", "xh_bar"),
        ("y - Y", "xh_bar"),
        ("# so it begins\n\n  dy = y - Y  # the residual", "xh_bar"),
        ("dy = y - Y\ndxh = dy*gamma", "v_bar"),
        ("dy = y - Y\ndxh = dy*gamma = gamma*y - gamma*Y", "v_bar"),
        ("r = y - Y\nxh_bar = r*gamma", "v_bar"),
        ("v_bar = -0.5*sum(gamma*(y - Y)*(x - mu), axis=0)*(v + 1e-5)**(-3/2)", "mu_bar"),
        ("dx = gamma/sqrt(v + 1e-5)/n*(n*(y - Y) - sum(y - Y, axis=0) - xh*sum((y - Y)*xh, axis=0))", None),
    ],
)
def test_the_next_line_follows_the_furthest_that_is_reached(
    batch_norm: Derivation, given: str, follows: str | None
) -> None:
    step = batch_norm.next_step(given)
    assert step.wrong is None
    assert name_of(step) == follows


def test_lines_may_come_as_a_list_and_in_other_order() -> None:
    d = sg.explain(CHAIN)
    assert name_of(d.next_step(["ds = cos(s)", "z_bar = 1"])) == "x_bar"


def test_two_gradients_are_both_asked_for() -> None:
    d = sg.explain("a, b : real\ns = a*b\nz = sin(s)", ["a", "b"])
    assert name_of(d.next_step("s_bar = cos(s)\nb_bar = a*s_bar")) == "a_bar"


def test_the_next_line_is_told_with_its_rule_and_nothing_more() -> None:
    assert str(sg.explain(CHAIN).next_step("z_bar = 1")) == "s_bar = cos(s)\n  rule: sin"
    assert (
        str(sg.explain(CHAIN).next_step("x_bar = 2*x*cos(s)"))
        == "all lines are there: the derivation is complete"
    )


@pytest.mark.parametrize(
    ("given", "number", "kind"),
    [
        (
            "dy = y - Y\n\ndxh = dy*gamma\ndv = sum(dxh*(x - mu), axis=0)*0.5*(v + 1e-5)**-1.5",
            4,
            "lost-minus",
        ),
        ("dy = 2*(y - Y)\ndxh = dy*gamma", 1, "factor-2"),
    ],
)
def test_the_first_wrong_line_is_named_with_its_mistake(
    batch_norm: Derivation, given: str, number: int, kind: str
) -> None:
    step = batch_norm.next_step(given)
    assert step.line is None
    assert step.wrong is not None
    assert step.wrong.number == number
    assert step.wrong.verdict.status == "refuted"
    assert kind in [d.kind for d in step.wrong.verdict.diagnosis]
    assert str(step).startswith(f"line {number} is wrong: ")


def test_a_formula_alone_that_is_no_line_is_wrong() -> None:
    step = sg.explain(CHAIN).next_step("cos(s)\nx*cos(s)")
    assert step.wrong is not None
    assert step.wrong.number == 2
    assert step.wrong.wanted.name == "x_bar"


def test_a_line_of_another_name_says_what_that_is() -> None:
    step = sg.explain(CHAIN).next_step("k = 3*x\nds = cos(s)")
    assert step.remarks == ("line 1 is no line of the derivation: it says what k is",)
    assert name_of(step) == "x_bar"


def test_a_line_of_the_program_is_no_line_of_the_derivation() -> None:
    assert name_of(sg.explain(CHAIN).next_step("s = x*x\nz = sin(s)")) == "z_bar"
    with pytest.raises(
        sg.errors.UsageError, match="line 2 says that 's' is something else than in the program"
    ):
        sg.explain(CHAIN).next_step("z_bar = 1\ns = x**3")


def test_what_cannot_be_read_is_told_with_its_place() -> None:
    with pytest.raises(sg.errors.SymgradError, match="the lines so far, line 2, column 5"):
        sg.explain(CHAIN).next_step("z_bar = 1\ns_bar = (cos(s")
    with pytest.raises(sg.errors.UnknownNameError, match="unknown name 'q'"):
        sg.explain(CHAIN).next_step("s_bar = q")
    with pytest.raises(sg.errors.ShapeError, match="expected"):
        sg.explain(CHAIN).next_step("s_bar = zeros(3) + cos(s)")
    with pytest.raises(sg.errors.UsageError, match="1,001 lines"):
        sg.explain(CHAIN).next_step("1\n" * 1001)


def test_the_last_line_is_hidden_everywhere(batch_norm: Derivation) -> None:
    text = batch_norm.hide_last()
    assert text.endswith("  x_bar = ?")
    assert str(batch_norm.lines[-1].formula) not in text
    assert "mu_bar = -sum(xh_bar, axis=0)/sqrt(v + 1e-5)" in text
    assert "xh = (x - mu)/sqrt(v + 1e-5)" in text


def test_an_answer_is_decided_as_a_formula(batch_norm: Derivation) -> None:
    assert (
        batch_norm.check_answer("x_bar = xh_bar/sqrt(v + 1e-5) + mu_bar/n + v_bar*2/n*(x - mu)").status
        == "proved"
    )
    wrong = batch_norm.check_answer("xh_bar/sqrt(v + 1e-5) + mu_bar/n")
    assert wrong.status == "refuted"
    assert wrong.diagnosis[0].kind == "missing-term"


def test_a_derivation_without_lines_is_no_exercise() -> None:
    with pytest.raises(sg.errors.UsageError, match="no line"):
        sg.explain(sg.parse("x, y : real\nz = sin(y)")["z"], "x").next_step("")


def test_a_next_step_is_no_truth_value() -> None:
    with pytest.raises(sg.errors.TruthValueError):
        bool(sg.explain(CHAIN).next_step(""))


def test_plain_values() -> None:
    assert sg.explain(CHAIN).next_step("z_bar = 1").to_json() == {
        "next": {"name": "s_bar", "formula": "cos(s)", "rule": "sin"},
        "reached": ["z_bar"],
        "wrong": None,
        "remarks": [],
    }
    found = sg.explain(CHAIN).next_step("s_bar = -cos(s)").to_json()
    assert found["next"] is None
    assert found["wrong"]["line"] == 1
    assert found["wrong"]["verdict"]["status"] == "refuted"
