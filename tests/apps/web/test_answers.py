"""What is answered, without any web: every part of every example, and what is wrong with questions."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

import pytest

from symgrad.apps.web.answers import LANGUAGES, PARTS, QuestionError, answer, validate_question
from symgrad.apps.web.limits import CODE_LINES, PLOT_POINTS, PROGRAM_CHARACTERS, TEXT_CHARACTERS

EXAMPLES: list[dict[str, Any]] = json.loads(
    (files("symgrad.apps.web") / "static" / "examples.json").read_text()
)
BY_TITLE = {e["title"]: e for e in EXAMPLES}
NOISE = BY_TITLE["A loss with noise"]["program"]


def parts(**question: Any) -> dict[str, dict[str, Any]]:
    return {found["part"]: found for found in answer(validate_question(question))}


def texts(found: dict[str, Any]) -> str:
    """All that a part says."""
    return json.dumps(found.get("blocks", found.get("error")), ensure_ascii=False)


def test_there_are_21_examples_with_titles_of_their_own() -> None:
    assert len(EXAMPLES) == len(BY_TITLE) == 21
    assert {name for e in EXAMPLES for name in e.get("open", ())} <= set(PARTS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e["title"])
def test_every_part_of_an_example_is_there(example: dict[str, Any]) -> None:
    question = {k: v for k, v in example.items() if k not in ("title", "open")}
    asked = [part for part in PARTS if part != "assembly"]  # which takes longer than all others together
    found = parts(**question, parts=asked)
    assert list(found) == asked
    assert [part for part, said in found.items() if "error" in said] == []
    box = found["understood"]["blocks"][0]
    if box["what"] == "derivation":
        assert [part for part, said in found.items() if said["blocks"]] == ["understood", "review"]
        return
    empty = {
        "review",
        *(() if question.get("claim") else ("claim",)),
        *(() if box["noise"] else ("noise", "moments")),
    }
    assert {part for part, said in found.items() if not said["blocks"]} == empty
    for said in found.values():
        json.dumps(said, allow_nan=False)
    if "claim" in question:
        right = "refuted" if "wrong" in example["title"] else "proved"
        assert found["claim"]["blocks"][0]["status"] == right


def test_a_formula_alone_is_differentiated() -> None:
    (math, text) = parts(program="sin(x**2)")["gradient"]["blocks"]
    assert text["text"] == "d/dx f = 2*x*cos(x**2)"
    assert "<math" in math["html"]


def test_a_gradient_of_an_array_is_a_jacobian() -> None:
    found = parts(program="x : real[n]\ny = x**2", parts=["gradient", "latex", "derivation"])
    assert "eye" in texts(found["gradient"])
    assert "error" not in found["latex"]
    assert "number" in texts(found["derivation"]) or "scalar" in texts(found["derivation"])


def test_a_wrong_claim_is_refuted_at_a_point_with_its_mistake() -> None:
    verdict = parts(program="x : real\ny = x*sin(3*x)", claim="sin(3*x) + x*cos(3*x)", parts=["claim"])[
        "claim"
    ]["blocks"]
    assert verdict[0]["status"] == "refuted"
    assert "at x = " in verdict[0]["text"]
    assert "forgot-inner-derivative" in verdict[0]["text"]
    assert verdict[1]["blocks"][0]["text"].startswith("{")


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        (r"\frac{dz}{dx} = y + 2 x^2 t \cos(x^2)", "proved"),
        (r"\frac{dz}{dx} = y + x^2 t \cos(x^2)", "refuted"),
        (r"$\frac{\partial y}{\partial t} = \sin(x^2)$", "proved"),
        ("dy/dt = sin(x**2)", "proved"),
        ("dy/dt = x", "refuted"),
        ("∂y/∂x = 2*t*x*cos(x**2)", "proved"),
    ],
)
def test_a_claim_says_by_itself_which_derivative_it_is_about(claim: str, status: str) -> None:
    found = parts(program="x, t : real\ny = sin(x**2)*t\nz = y*x", claim=claim, parts=["claim"])["claim"]
    assert found["blocks"][0]["status"] == status
    assert f'<div class="banner {"good" if status == "proved" else "bad"}">' in found["blocks"][0]["html"]


@pytest.mark.parametrize(
    ("claim", "line", "column"),
    [
        ("2*x*cos(x**2", "2*x*cos(x**2", 8),
        ("dy/dx = 2*x +* 1", "dy/dx = 2*x +* 1", 14),
        (r"\frac{dy}{dx} = 2x\coss(x^2)", r"\frac{dy}{dx} = 2x\coss(x^2)", 19),
        (r"\frac{dq}{dx} = 2x", r"\frac{dq}{dx} = 2x", 1),
        ("dy/dq = 2", "dy/dq = 2", 1),
        ("dy/dx =", "dy/dx =", 8),
        ("area = x", "area = x", 1),
    ],
)
def test_a_claim_that_cannot_be_read_says_where(claim: str, line: str, column: int) -> None:
    said = parts(program="x : real\ny = sin(x**2)", claim=claim, parts=["claim"])["claim"]["error"]["message"]
    _, place, quoted, caret, *_ = said.splitlines()
    assert place == f"the claim, line 1, column {column}"
    assert quoted == "    " + line
    assert caret.index("^") == 4 + column - 1
    assert "  try: " in said


def test_a_claim_about_two_inputs_is_an_error() -> None:
    assert "one derivative" in parts(program="x*y", claim="x", parts=["claim"])["claim"]["error"]["message"]


def test_a_formula_without_names_is_derived_by_rules() -> None:
    found = parts(program="x**2*sin(3*x)", parts=["derivation"])["derivation"]
    (first, *_) = (b["html"] for b in found["blocks"])
    assert all(rf"\text{{{rule}}}" in first for rule in ("chain rule (sin)", "product rule"))


@pytest.mark.parametrize(("body", "also"), [("sqrt(stop_gradient(y*u - y) + y)", True), ("sqrt(y*u)", False)])
def test_a_derivative_as_a_number_says_so(body: str, also: bool) -> None:
    program = f"x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = {body}"
    found = texts(parts(program=program, parts=["gradient"])["gradient"])
    assert ("As a number, where stop_gradient(e) is e" in found) is also
    assert (r"\\operatorname{sign}" in found) is also


def test_noise_is_told_with_its_path() -> None:
    said = texts(parts(program=NOISE, wrt="x", parts=["noise"])["noise"])
    assert "u enters the gradient" in said
    assert "yu &lt;- u" in said
    assert parts(program="x**2", parts=["noise"])["noise"]["blocks"] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_source_is_there_in_six_languages(language: str) -> None:
    assert len(LANGUAGES) == 6
    (block,) = parts(program=NOISE, wrt="x", parts=["source"], language=language)["source"]["blocks"]
    assert ("void z(" if language == "c" else "def z(") in block["text"]


@pytest.mark.parametrize(("field", "label"), [("of", "Differentiate"), ("wrt", "by")])
def test_a_name_that_is_not_there_is_told_with_its_field(field: str, label: str) -> None:
    for part in ("gradient", "plot", "source"):
        error = parts(program="x : real\ny = x**2", parts=[part], **{field: "q"})[part]["error"]
        assert error["field"] == field
        assert error["message"].startswith(f"in the field “{label}”: ")


def test_another_language_is_an_error() -> None:
    assert "cobol" in parts(program="x", parts=["source"], language="cobol")["source"]["error"]["message"]


def test_assembly_has_the_lines_that_made_it() -> None:
    (block,) = parts(program=NOISE, wrt="x", parts=["assembly"])["assembly"]["blocks"]
    made = {(tuple(row["lines"]), row["what"]) for row in block["rows"]}
    assert {((3,), "y = x**2"), ((4,), "yu = y*u"), ((), "sqrt(u)")} <= made
    assert len(block["rows"]) <= CODE_LINES


@pytest.mark.parametrize(
    ("title", "lines"), [("A matrix gradient", {2}), ("log det of a matrix", set[int]())]
)
def test_assembly_of_arrays_has_what_each_loop_computes(title: str, lines: set[int]) -> None:
    """Kernels have a way of their own to a determinant, which is on no line."""
    (example,) = (e for e in EXAMPLES if e["title"] == title)
    block = parts(program=example["program"], parts=["assembly"])["assembly"]["blocks"][0]
    assert lines <= {line for row in block["rows"] for line in row["lines"]}
    assert all(row["what"] for row in block["rows"])


def test_a_plot_has_values_and_slopes_in_the_declared_domain() -> None:
    block = parts(program="x : positive\ny = log(x)", parts=["plot"])["plot"]["blocks"][0]
    assert min(block["x"]) > 0
    values, slopes = (curve["values"] for curve in block["curves"])
    k = block["x"].index(min(block["x"], key=lambda x: abs(x - 2)))
    assert values[k] == pytest.approx(0.6931, abs=0.02)
    assert slopes[k] == pytest.approx(1 / block["x"][k])


def test_a_field_that_one_part_misses_is_not_blamed_for_another() -> None:
    found = parts(program="x : real\ny = x**2", wrt="q", language="cobol", parts=["gradient", "source"])
    assert found["gradient"]["error"]["field"] == "wrt"
    assert found["source"]["error"]["message"].startswith("there is no source in 'cobol'")
    assert "field" not in found["source"]["error"]


@pytest.mark.parametrize(
    ("formula", "jumps"),
    [
        ("sign(x - 0.1)", [True, False]),
        ("abs(x - 0.1)", [False, True]),
        ("tanh(1000*(x - 0.1))", [False, False]),
        ("1/(x - 0.1)", [True, False]),
        ("floor(2*x)", [True, False]),
        ("x**3", [False, False]),
    ],
)
def test_no_line_joins_the_sides_of_a_jump(formula: str, jumps: list[bool]) -> None:
    said = parts(program=f"x : real\ny = {formula}", range="-1.003, 2", parts=["plot"])["plot"]["blocks"][0]
    found = [curve["breaks"] for curve in said["curves"]]
    assert [bool(b) for b in found] == jumps
    for at in found[jumps.index(True)] if any(jumps) else []:
        ends = said["x"][at : at + 2]
        assert any(ends[0] <= place <= ends[1] for place in (0.1, *(k / 2 for k in range(-2, 5))))


def test_a_plot_runs_over_the_range_that_was_said() -> None:
    block = parts(program="1/x", range="-1, 1", parts=["plot"])["plot"]["blocks"][0]
    assert (block["x"][0], block["x"][-1], len(block["x"])) == (-1, 1, PLOT_POINTS)
    assert None in block["curves"][0]["values"]
    for wrong in ("1", "2, 1", "a, b", "nan, 1", "0, inf", "1, 2, 3", "-1e300, 1"):
        assert "range" in parts(program="1/x", range=wrong, parts=["plot"])["plot"]["error"]["message"], wrong


def test_a_plot_of_numbers_at_all_points_together_has_the_values_of_each() -> None:
    """Along an entry of an array each point is computed by itself, and perhaps in another form."""
    formula = "exp(sin({0}))*{0}**3/({0} - 0.3) + where({0} > 1, sqrt({0}), cbrt({0}))"
    one = parts(program="x : real\ny = " + formula.format("x"), wrt="x", parts=["plot"])["plot"]
    entry = "X : real[2]\ny = " + formula.format("X[0]")
    other = parts(program=entry, wrt="X", range="-3, 3", parts=["plot"])["plot"]
    (together,), (apart,) = one["blocks"], other["blocks"]
    assert together["x"] == apart["x"]
    for a, b in zip(together["curves"], apart["curves"], strict=True):
        # At the pole, which is no float, the value is rounding alone.
        values = [
            [math.nan if v is None or abs(v) > 1e12 else v for v in curve["values"]] for curve in (a, b)
        ]
        assert values[0] == pytest.approx(values[1], rel=1e-13, nan_ok=True)


@pytest.mark.parametrize(
    ("program", "line", "column"),
    [("x +* 2", 1, 4), ("x : real\ny = x + q", 2, 9), ("y = x.__class__", 1, 6)],
)
def test_an_error_has_its_place(program: str, line: int, column: int) -> None:
    error = parts(program=program)["gradient"]["error"]
    assert (error["line"], error["column"]) == (line, column)
    assert f"line {line}" in error["message"]


def test_nothing_is_run_and_no_module_is_imported() -> None:
    for program in (
        "__import__('os').system('id')",
        "open('/etc/passwd')",
        "y = (lambda: 1)()",
        "import os",
        "x.f()",
    ):
        assert "error" in parts(program=program)["gradient"], program


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        "x",
        {"program": 1},
        {"program": "x", "parts": "gradient"},
        {"program": "x", "parts": ["nothing"]},
        {"program": "x", "parts": [["gradient"]]},
        {"program": "x", "file": "/etc/passwd"},
        {"program": "x" * (PROGRAM_CHARACTERS + 1)},
        {"program": "x", "claim": "x" * 100_000},
        {1: 2},
    ],
)
def test_what_is_no_question_is_refused(wrong: Any) -> None:
    with pytest.raises(QuestionError):
        validate_question(wrong)


def test_half_a_character_is_replaced() -> None:
    (found,) = answer(validate_question({"program": "\ud800 + x"}))
    json.dumps(found, ensure_ascii=False).encode()
    assert "error" in found


@pytest.mark.parametrize(
    "program",
    [
        "(" * 900 + "x" + ")" * 900,
        "(" * 9000 + "x" + ")" * 9000,
        "-" * 15_000 + "x",
        "sin(" * 900 + "x" + ")" * 900,
        "+".join(["x"] * 5000),
        "x" + "**9" * 50,
        "x**" + "9" * 15_000,
        "9**9**9**9**x",
        "\0",
        "\x1b[31m",
        "x\n" * 5000,
        "=" * 10_000,
        "y = " + "9" * 19_000,
    ],
    ids=lambda p: p[:12],
)
def test_odd_programs_get_an_answer(program: str) -> None:
    """The process that answers has limits; here only what is read and printed is tried."""
    (found,) = answer(validate_question({"program": program}))
    assert len(json.dumps(found)) < 20 * TEXT_CHARACTERS
    assert "fault" not in found.get("error", {}).get("message", "")


def test_texts_in_html_are_escaped() -> None:
    """Names cannot hold markup; comparisons and strings of messages can."""
    found = parts(program="x : real\ny = where(x < 1, x, 2*x)", parts=["gradient", "derivation", "graph"])
    for part in found.values():
        for block in part["blocks"]:
            assert "<script" not in block.get("html", "")
            assert "x < 1" not in block.get("html", "")
