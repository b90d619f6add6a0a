"""Every answer says its report, which can be written in every form; pictures stand where they answer a question."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import jsonschema
import pytest

import symgrad as sg
from symgrad.report.blocks import Banner, Document, Figure, FindingBlock, MathLines, Steps, Table
from symgrad.report.mathml.convert import mathml
from symgrad.report.report import FORMS, Report
from symgrad.report.writers.plain import report_schema
from symgrad.report.writers.rows import aligned_latex
from tests.report.test_writers import Page, shown_markdown

NOISY = "y : positive\nu ~ Uniform(0.9, 1.1)\nz = sqrt(stop_gradient(y*u - y) + y)"
ARRAYS = "X : real[n, d]; t : real[n]; w : real[d]\nr = X@w - t\nloss = sum(r**2)/n"


def _estimators() -> Any:
    p = sg.parse("mu : real\neps ~ Normal(0, 1)\nf = (mu + eps)**2\nhalf = f/2 + stop_gradient(f)/2")
    return sg.compare_estimators({"moved": p["f"], "half": p["half"]}, "mu", target=p["f"], at={"mu": 1.0})


def _placed() -> Any:
    return sg.placement("x : real\nu ~ Uniform(0.9, 1.1)\nz = x**2 + x*u", "x", "u")


ANSWERS: dict[str, Callable[[], Any]] = {
    "derivation": lambda: sg.explain(NOISY, "y"),
    "derivation of arrays": lambda: sg.explain(ARRAYS, "w"),
    "audit": lambda: sg.audit(NOISY, "y"),
    "refuted": lambda: sg.verify(ARRAYS, "w", "2*X.T@r"),
    "proved": lambda: sg.verify(ARRAYS, "w", "2*X.T@r/n"),
    "shapes": lambda: sg.verify(ARRAYS, "w", "2*X@r"),
    "regions": lambda: sg.equal("sqrt(x**2)", "x"),
    "gradients differ": lambda: sg.equal("x*y", "stop_gradient(x)*y"),
    "lint": lambda: sg.lint("x : real\ny = where(x > 0, sqrt(x), 0)"),
    "no finding": lambda: sg.lint("x : real\ny = x**2"),
    "review": lambda: sg.review("f = x**2\ndf/dx = x\n"),
    "effective": lambda: sg.effective("x + stop_gradient(round(x) - x)", "x"),
    "effective array": lambda: sg.effective("x : real[n]\ny = stop_gradient(x)*x", "x"),
    "derivatives": lambda: sg.derivatives("x, c : positive\nr = sqrt(x**2 + c)\ny = c/r", ["x", "c"], 2),
    "estimators": _estimators,
    "placement": _placed,
    "program": lambda: sg.parse(ARRAYS),
    "formula": lambda: sg.parse("x : positive; y = sqrt(x + 1) - sqrt(x)")["y"],
    "derivative": lambda: sg.grad(ARRAYS, "w"),
    "kernel": lambda: sg.compile("x : real\ny = (exp(x) - 1)/x", accuracy="fast"),
    "kernel of arrays": lambda: sg.compile(ARRAYS),
    "minimum": lambda: sg.minimize("x, y : real; f = (x - 1)**2 + y**2", ["x", "y"], {"x": 0.0, "y": 1.0}),
    "training": lambda: sg.train(
        "w : real[3]; f = sum((w - 1)**2)", {"w": [0.0, 0.0, 0.0]}, steps=50, rate=0.1
    ),
    "code": lambda: sg.verify_code(_square, lambda x: (x,), "x : real"),
}


def _square(x: Any) -> Any:
    return x * x


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return {name: answer().report() for name, answer in ANSWERS.items()}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_written_in_every_form(name: str, reports: dict[str, Report]) -> None:
    found = reports[name]
    for form in FORMS:
        assert found.written(form)
    jsonschema.Draft202012Validator(report_schema()).validate(json.loads(found.written("json")))
    assert found.title in found.text().split("\n")[0]


@pytest.mark.parametrize("name", ANSWERS)
def test_every_formula_has_mathml(name: str, reports: dict[str, Report]) -> None:
    """So that none stands as code where it could be a formula."""
    for block in reports[name].blocks:
        if isinstance(block, MathLines):
            mathml(aligned_latex(block.rows))
        if isinstance(block, Steps):
            for step in block.steps:
                mathml(step.formula.latex)


def blocks(found: Report, kind: type) -> list[Any]:
    return [b for b in found.blocks if isinstance(b, kind)]


def test_a_refuted_claim_is_told_with_its_point_and_its_mistake(reports: dict[str, Report]) -> None:
    found = reports["refuted"]
    assert found.title == "Is dloss/dw = 2*X.T@r?"
    assert [b.word for b in blocks(found, Banner)] == ["refuted"]
    mistakes = blocks(found, FindingBlock)
    assert any("2*X.T@r/n" in str(m.said) for m in mistakes)
    placed = next(m for m in mistakes if m.line)
    assert placed.line[placed.start : placed.end] == "sum(r**2)/n"
    (table,) = blocks(found, Table)
    assert table.rows[-1][0][0].startswith("the claim")


def test_a_claim_stands_as_it_was_written() -> None:
    found = sg.verify("x : real\ny = sin(x**2)*exp(x)", "x", "sin(x**2)*exp(x) + y").report()
    (lines,) = blocks(found, MathLines)
    assert lines.rows[-1].latex.endswith(r"\sin\left(x^{2}\right) e^{x} + y")


def test_an_audit_has_every_moment_as_a_formula(reports: dict[str, Report]) -> None:
    (table,) = blocks(reports["audit"], Table)
    assert [row[0] for row in table.rows] == [("mean",), ("variance",), ("reference",), ("bias",)]
    assert table.rows[2][1][0].latex == r"\frac{1}{2 \sqrt{y}}"
    assert table.rows[0][1][1] == ", about 0.500628/sqrt(y)"
    assert blocks(reports["audit"], Banner)[0].tone == "warn"


def test_a_review_marks_the_wrong_side(reports: dict[str, Report]) -> None:
    (document,) = blocks(reports["review"], Document)
    (wrong,) = [n for n in document.notes if n.tone == "bad"]
    (span,) = wrong.spans
    assert (wrong.line, wrong.mark, document.text.split("\n")[1][slice(*span)]) == (2, "WRONG", "x")


def test_pictures_of_numbers_stand_where_there_is_one_variable(reports: dict[str, Report]) -> None:
    def titles(name: str) -> list[str]:
        return [b.title for b in blocks(reports[name], Figure)]

    assert any("as it stands: at most" in t for t in titles("formula"))
    assert any("the kernel: at most" in t for t in titles("kernel"))
    assert not titles("kernel of arrays")
    assert len(titles("derivation of arrays")) == 1
    drawn = sg.explain("x : real\ny = sin(x)", "x").report()
    assert any(b.title == "y and dy/dx over x" for b in blocks(drawn, Figure))


def test_the_error_that_is_drawn_is_that_of_the_form() -> None:
    """(exp(x) - 1)/x loses all digits near 0, expm1(x)/x none."""
    (figure,) = blocks(sg.compile("x : real\ny = (exp(x) - 1)/x", accuracy="fast").report(), Figure)
    said = figure.title.rstrip(".").split("; ")
    plain, compiled = (float(part.split("at most ")[1].split(" ")[0]) for part in said)
    assert plain > 30
    assert compiled < 3


def test_a_kernel_that_was_pickled_says_what_it_knows() -> None:
    kernel = pickle.loads(pickle.dumps(sg.compile("x : real\ny = x**2")))
    assert "x : real" in kernel.report().text()


def test_a_verdict_travels_with_what_it_is_about() -> None:
    verdict = sg.verify("x : real\ny = x**2", "x", "x")
    copied = pickle.loads(pickle.dumps(verdict))
    assert copied.report().title == verdict.report().title == "Is dy/dx = x?"
    assert copied == verdict


def test_a_minimum_says_where_it_is(reports: dict[str, Report]) -> None:
    (table,) = blocks(reports["minimum"], Table)
    assert [row[0][0] for row in table.rows][-1] == "The loss there"
    assert blocks(reports["minimum"], Banner)[0].word == "found"
    assert str(sg.minimize("x : real; f = (x - 1)**2", "x", {"x": 0.0})).endswith("\n  x = 1")


def test_a_training_draws_its_loss(reports: dict[str, Report]) -> None:
    assert blocks(reports["training"], Banner)[0].word == "adam, 50 steps"
    assert [f.title for f in blocks(reports["training"], Figure)] == ["Loss over the steps"]


def test_a_verdict_on_code_says_what_is_wrong(reports: dict[str, Report]) -> None:
    (banner,) = blocks(reports["code"], Banner)
    assert (banner.word, banner.tone) == ("refuted", "bad")
    assert "factor-2" in reports["code"].text()


def test_completion_leaves_out_what_is_internal() -> None:
    program = sg.parse("x : real; y = x**2")
    assert not {"told_by", "listing"} & set(dir(program))
    assert not {"told_by", "listings", "origins"} & set(dir(program["y"]))
    assert {"graph", "subs"} <= set(dir(program["y"]))


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_shows_itself_in_a_notebook(name: str) -> None:
    answer = ANSWERS[name]()
    bundle = answer._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == (repr(answer) if isinstance(answer, sg.Expr) else str(answer))
    page = Page(bundle["text/html"])
    if isinstance(answer, sg.Expr):
        assert bundle["text/latex"].startswith(r"$\displaystyle ")
        assert page.tags[0] == ("div", {"class": "sg-formula"})
        return
    assert page.tags[0] == ("div", {"class": "sg", "lang": "en"})
    assert not {"script", "link", "iframe", "html", "body"} & {tag for tag, _ in page.tags}
    assert bundle["text/latex"].startswith("\\begingroup\n")
    assert bundle["text/latex"].endswith("\\par\\endgroup")
    assert "\\documentclass" not in bundle["text/latex"]


def test_notebooks_get_a_part_of_a_page() -> None:
    found = sg.explain(NOISY, "y")._repr_mimebundle_(include=None, exclude=None)
    assert set(found) == {"text/plain", "text/html", "text/latex"}
    assert found["text/html"].startswith('<div class="sg"')
    assert "<html" not in found["text/html"]
    formula = sg.symbols("x") / 2
    alone = formula._repr_mimebundle_()
    assert alone.pop("text/html").startswith('<div class="sg-formula"><style>')
    assert alone == {"text/plain": "Expr(x/2)", "text/latex": r"$\displaystyle \frac{x}{2}$"}


def test_a_part_of_a_page_reads_as_well_where_its_style_and_its_attributes_are_taken_away() -> None:
    w = sg.tensor("w", 2)
    shown = (w[0] / (w[1] + 1) ** 2)._repr_mimebundle_()["text/html"]
    page = Page(shown)
    hidden = [given for tag, given in page.tags if tag == "span" and "hidden" in given]
    assert hidden == [{"class": "sg-mathml", "hidden": None, "style": "display:none"}]
    without_style = re.sub("<style>.*?</style>", "", shown, flags=re.DOTALL)
    text = unescape(re.sub("<.*?>", "", without_style))
    assert text == r"$\displaystyle \frac{w_{0}}{\left(w_{1} + 1\right)^{2}}$w_0/(w_1+1)^2"
    report = sg.explain(NOISY, "y")._repr_mimebundle_()["text/html"]
    pictures = [given for tag, given in Page(report).tags if given.get("class") == "sg-picture"]
    assert pictures == [{"class": "sg-picture", "hidden": None, "style": "display:none"}]
    assert report.count('<span class="sg-instead">') == report.count("<math") >= 3
    assert (
        '<span class="sg-instead">' not in sg.explain(NOISY, "y").html()
    )  # a page of ours is shown as it is


def test_a_report_of_300_equations_is_small() -> None:
    lines = ["x : real", "u ~ Uniform(0.9, 1.1)", "a0 = x*u"]
    lines += [f"a{i} = sin(a{i - 1})*x + {i}" for i in range(1, 101)]
    found = sg.explain("\n".join(lines), "x")
    assert len(found.steps) >= 300
    assert len(found.html().encode()) < 2**20


HOSTILE = ["<script>alert(1)</script>", "\\input{x}", "![x](http://x)", "$x$ `y` </code>"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_documents_and_names_of_files_are_texts(text: str) -> None:
    found = sg.review(f"{text} f = x**2\n\n$f = 3 < x$ {text}", name=f"{text}.md").report()
    assert "<script>" not in found.html()
    assert "\\input{x}" not in found.latex()
    assert not {"script", "img", "a"} & {tag for tag, _ in Page(shown_markdown(found)).tags}
