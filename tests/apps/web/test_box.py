"""What the box takes: programs, formulas as people write them, derivations; and what the page says of each."""

from __future__ import annotations

from typing import Any

import pytest

from symgrad.apps.web.answers import answer, validate_question
from symgrad.apps.web.box import read_box
from symgrad.support.errors import SymgradError, UnknownNameError

SLIP = "f(x) = x sin(3x)\nf'(x) = sin(3x) + x cos(3x)"


def parts(program: str, *names: str, **fields: str) -> dict[str, list[dict[str, Any]]]:
    question = validate_question({"program": program, "parts": list(names), **fields})
    return {found["part"]: found["blocks"] for found in answer(question)}


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("x^2*sin(x)", "x**2*sin(x)"),
        ("2x + 3", "2*x + 3"),
        (r"\frac{x^2}{1+x}", "x**2/(1 + x)"),
        (r"$\frac{x^2}{1+x}$", "x**2/(1 + x)"),
        (r"\[ \frac{x^2}{1+x} \]", "x**2/(1 + x)"),
        ("f(x) = x^3", "x**3"),
        (r"f(x) = \frac{x}{2}", "x/2"),
        ("y = sqrt(x^2+1)", "sqrt(x**2 + 1)"),
        ("x : positive\nx^2 ln x", "x**2*log(x)"),
        ("sin(x**2)", "sin(x**2)"),
    ],
)
def test_a_formula_is_read_as_people_write_it(text: str, formula: str) -> None:
    found = read_box(text, "box", None, 1)
    assert (found.kind, str(found.program.last)) == ("formula", formula)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x : real\ny = x**2", "program"),
        (SLIP, "derivation"),
        ("d/dx x^2 = 3x", "derivation"),
        ("f(x) = \\frac{x}{2}\nf'(x) = \\frac{1}{2}", "derivation"),
        ("Let $f(x) = x^2$. Then $f'(x) = 2x$.", "derivation"),
    ],
)
def test_the_kind_of_a_text_is_told(text: str, kind: str) -> None:
    assert read_box(text, "box", None, 1).kind == kind
    box, *_ = parts(text, "understood")["understood"]
    assert box["what"] == kind


def test_a_dropped_file_says_by_its_name_what_it_is() -> None:
    text = "Let $f(x) = x^2$. % $f'(x) = 3x$\nThen $f'(x) = 2x$."
    latex, markdown = (read_box(text, "box", form, 1).review for form in ("latex", "markdown"))
    assert latex is not None
    assert markdown is not None
    assert (latex.status, markdown.status) == ("proved", "refuted")


def test_a_name_that_a_program_does_not_declare_is_a_mistake() -> None:
    with pytest.raises(UnknownNameError, match="q"):
        read_box("x : real\ny = x + q", "box", None, 1)


@pytest.mark.parametrize("text", ["x +* 2", "hello there", r"\frac{x", ""])
def test_what_nobody_can_read_is_an_error(text: str) -> None:
    with pytest.raises(SymgradError):
        read_box(text, "box", None, 1)


def test_a_wrong_line_has_a_card_with_the_mistake_and_the_right_line() -> None:
    found = parts(SLIP, "understood", "review", "gradient", "plot")
    card = found["review"][0]["html"]
    assert "one line is wrong" in card
    assert card.count('<div class="finding bad">') == 1
    assert "f&#x27;(x) = <mark>sin(3x) + x cos(3x)</mark>" in card
    assert "forgetting the inner derivative of <code>sin(3*x)</code>." in card
    assert "forgot-inner-derivative" not in card
    right = card[card.index("The right line: ") :]
    assert r"f'(x) = 3 x \cos\left(3 x\right) + \sin\left(3 x\right)</annotation>" in right
    assert found["review"][-1]["kind"] == "fold"
    assert found["gradient"] == found["plot"] == []


def test_a_right_derivation_is_told_in_one_line() -> None:
    shown, whole = parts("f(x) = x^2\nf'(x) = 2x", "review")["review"]
    assert "every step is proved" in shown["html"]
    assert "finding" not in shown["html"]
    assert whole["kind"] == "fold"


def test_how_a_formula_was_read_is_told() -> None:
    box, shown = parts("2x + 3", "understood")["understood"]
    assert box == {"kind": "box", "what": "formula", "noise": False}
    assert "<p><code>x : real</code></p>" in shown["html"]
    assert "2x is read as 2*x" in shown["html"]
    assert r"f &amp;=  2 x + 3" in shown["html"]


def test_a_program_without_claims_has_no_review() -> None:
    assert parts("x : real\ny = x**2", "review")["review"] == []


def test_the_other_inputs_of_a_plot_are_fields() -> None:
    (plot,) = parts("a*x", "plot", wrt="x")["plot"]
    assert list(plot["others"]) == ["a"]
    (moved,) = parts("a*x", "plot", wrt="x", values="a = 7, gone = 1")["plot"]
    assert moved["others"] == {"a": 7.0}
    assert set(moved["curves"][1]["values"]) == {7.0}


@pytest.mark.parametrize(
    ("values", "said"), [("a = z", "no value of a"), ("a = -1", "outside the declared domain")]
)
def test_a_value_of_a_plot_that_cannot_be_is_an_error(values: str, said: str) -> None:
    question = {"program": "a : positive; x : real\ny = a*x", "wrt": "x", "values": values, "parts": ["plot"]}
    (found,) = answer(validate_question(question))
    assert said in found["error"]["message"]
