"""`symgrad lint`: programs and functions of NumPy in, findings on the user's lines out, and what bad input is told."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from symgrad.analysis.stop_gradient.finding import Finding
from symgrad.analysis.stop_gradient.table import CHECKS
from symgrad.interop.importers.code.checks import SOURCE_CHECKS
from symgrad.printing.texts.findings import findings_github, findings_sarif, findings_text
from symgrad.support.source import Place


@pytest.fixture
def lint(call: Callable[..., Result]) -> Callable[..., Result]:
    """What runs `symgrad lint` with arguments."""
    return partial(call, "lint")


def written(name: str, text: str) -> str:
    Path(name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return name


def codes(result: Result) -> list[tuple[str, int]]:
    """Return the codes with their lines, of a run with --format json."""
    assert result.exit_code in (0, 1), result.output
    return [(f["code"], f["places"][0]["line"] if f["places"] else 0) for f in json.loads(result.stdout)]


NESTED = """
x, w : real
h = stop_gradient(stop_gradient(x)*w)
y = h*x
"""

WHERE = """
import numpy as np

def loss(w, x):
    z = x @ w
    r = np.where(z > 0, np.sqrt(z), 0)
    return r.sum()
"""


# ---------------------------------------------------------------------------------------------------------- programs


def test_a_program_is_told_on_its_line_with_a_caret(lint) -> None:
    done = lint(written("model.sg", NESTED))
    assert done.exit_code == 0  # a note changes nothing
    assert done.stdout.startswith("SG102 stop_gradient(x) stops nothing")
    assert "model.sg, line 2, column 19\n    h = stop_gradient(stop_gradient(x)*w)\n" in done.stdout
    assert done.stdout.endswith("1 finding: 1 note\n")


def test_an_expression_and_standard_input_are_programs(lint) -> None:
    assert lint("x**2").stdout == "nothing found\n"
    said = lint("where(x > 0, sqrt(x), 0)")
    assert said.exit_code == 1
    assert "<command line>, line 1" in said.stdout
    assert codes(lint("-", "--format", "json", stdin=NESTED)) == [("SG102", 3)]


def test_noise_and_frozen_are_asked_for_by_name(lint) -> None:
    file = written("n.sg", "x, w : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)*w\n")
    assert ("SG103", 3) in codes(lint(file, "--noise", "u", "--wrt", "x", "--format", "json"))
    assert ("SG103", 3) not in codes(lint(file, "--wrt", "x", "--format", "json"))
    assert "SG104" in [c for c, _ in codes(lint(file, "--frozen", "w", "--format", "json"))]


@pytest.mark.parametrize(
    "comment", ["# symgrad: ignore", "# symgrad: ignore[SG102]", "#symgrad:ignore[SG1, dead-stop]"]
)
def test_a_comment_leaves_out_what_is_on_its_line(lint, comment: str) -> None:
    lines = [str(line) for line in NESTED.strip().splitlines()]
    lines[1] += "  " + comment
    assert codes(lint(written("model.sg", "\n".join(lines)), "--format", "json")) == []


def test_a_comment_for_another_check_or_line_leaves_out_nothing(lint) -> None:
    lines = [str(line) for line in NESTED.strip().splitlines()]
    lines[1] += "  # symgrad: ignore[SG101]"
    lines[2] += "  # symgrad: ignore"
    assert codes(lint(written("model.sg", "\n".join(lines)), "--format", "json")) == [("SG102", 2)]


def test_checks_are_left_out_by_code_or_name(lint) -> None:
    file = written("model.sg", NESTED)
    assert codes(lint(file, "--ignore", "SG102", "--format", "json")) == []
    assert codes(lint(file, "--ignore", "dead-stop, SG501", "--format", "json")) == []
    wrong = lint(file, "--ignore", "SG1O2")
    assert wrong.exit_code == 2
    assert "no check is called 'SG1O2'" in wrong.stderr


# --------------------------------------------------------------------------------------------------- functions of NumPy


def test_a_function_of_numpy_is_told_on_its_own_line(lint) -> None:
    done = lint(written("f.py", WHERE) + "::loss", "--specs", "w : real[3]; x : real[n, 3]")
    assert done.exit_code == 1
    assert "SG301" in done.stdout
    assert "f.py, line 5, column 5\n        r = np.where(z > 0, np.sqrt(z), 0)\n" in done.stdout


def test_the_only_function_of_a_file_needs_no_name(lint) -> None:
    file = written("f.py", WHERE)
    specs = ("--specs", "w : real[3]; x : real[n, 3]", "--format", "json")
    assert codes(lint(file, *specs)) == codes(lint(f"{file}::loss", *specs)) == [("SG301", 5)]


def test_a_comment_may_stand_on_any_line_of_a_statement(lint) -> None:
    text = """
    import numpy as np
    NOTE = "# symgrad: ignore"

    def f(x):
        return np.where(
            x > 0,
            np.sqrt(x),
            0,
        )  # symgrad: ignore[nan-where, SG201]
    """
    assert codes(lint(written("f.py", text), "--specs", "x : real", "--format", "json")) == []
    kept = text.replace("# symgrad: ignore[nan-where, SG201]", "")
    assert codes(lint(written("f.py", kept), "--specs", "x : real", "--format", "json")) == [("SG301", 5)]


def test_numbers_among_arguments_and_those_by_name_alone(lint) -> None:
    text = "def f(x, power=3, *, scale, shift=1.0):\n    return scale*x**power + shift\n"
    assert lint(written("f.py", text), "--specs", "x : real; scale = 0.5").exit_code == 0
    assert lint("f.py", "--specs", "x : real; scale : real; power = 2").exit_code == 0


def test_a_file_of_a_package_finds_what_is_beside_it(lint) -> None:
    Path("pkg/inner").mkdir(parents=True)
    for folder in ("pkg", "pkg/inner"):
        written(f"{folder}/__init__.py", "")
    written("pkg/shared.py", "def scaled(x):\n    return float(x)*2\n")
    file = written("pkg/inner/f.py", "from ..shared import scaled\n\ndef f(x):\n    return scaled(x)*x\n")
    found = json.loads(lint(file, "--specs", "x : real", "--format", "json").stdout)
    assert [(f["code"], Path(f["places"][0]["file"]).name) for f in found] == [("SG501", "shared.py")]


def test_what_a_file_prints_is_no_output(lint) -> None:
    file = written("f.py", "print('loading')\n\ndef f(x):\n    print('called')\n    return x\n")
    done = lint(file, "--specs", "x : real", "--format", "json")
    assert json.loads(done.stdout) == []
    assert done.stderr.split() == ["loading", "called"]


# -------------------------------------------------------------------------------------------- what tracing cannot see

LOST = {
    "a number": ("y = float(x)\n    return y*x", "SG501", 2, "warning"),
    "nothing is left": ("return float(x)", "SG501", 2, "error"),
    "item": ("y = (x*2).item()\n    return x + y", "SG501", 2, "warning"),
    "math": ("import math\n    return x*math.sin(x)", "SG501", 3, "warning"),
    "data": ("return x*x.data", "SG502", 2, "warning"),
    "numpy": ("y = x.numpy()\n    return x*y", "SG503", 2, "warning"),
    "in place": ("y = x*2\n    y.detach_()\n    return x*y", "SG506", 3, "warning"),
    "requires_grad": ("y = x*2\n    y.requires_grad = False\n    return x*y", "SG506", 3, "warning"),
    "through a list": ("parts = []\n    parts.append(float(x))\n    return sum(parts)*x", "SG501", 3, "warning"),
    "through a loop": ("s, t = 0, 0\n    for k in range(3):\n        s = s + t\n        t = float(x)\n    return s*x",
                       "SG501", 5, "warning"),
    "in a branch": ("y = 0\n    if True:\n        y = int(x)\n    return y*x", "SG501", 4, "warning"),
    "in a function inside": ("def g(v):\n        return float(v)\n    return g(x)*x", "SG501", 3, "warning"),
    "in a lambda": ("g = lambda v: v.item()\n    return g(x)*x", "SG501", 2, "warning"),
    "in a comprehension": ("return x*sum([v.item() for v in [x, x]])", "SG501", 2, "warning"),
    "in a dict": ("d = {}\n    d['k'] = float(x)\n    return d['k']*x", "SG501", 3, "warning"),
    "a walrus": ("if (y := float(x)) is not None:\n        return y*x\n    return x", "SG501", 2, "warning"),
}  # fmt: skip


@pytest.mark.parametrize("case", LOST)
def test_a_value_that_loses_its_gradient_on_its_way_is_found(lint, case: str) -> None:
    body, code, line, severity = LOST[case]
    file = written("f.py", f"def f(x):\n    {body}\n")
    (found,) = json.loads(lint(file, "--specs", "x : real", "--format", "json").stdout)
    assert (found["code"], found["places"][0]["line"], found["severity"]) == (code, line, severity)


KEPT = {
    "printed": "print(float(x))\n    return x",
    "logged": "logs = []\n    logs.append(float(x))\n    return x",
    "compared": "keep = float(x) > 0\n    return x",
    "told beside the loss": "return x*2, {'mean': float(x)}",
    "told by name": "info = {'mean': float(x)}\n    return x*2, info",
    "stopped on purpose": "y = x.detach().item()\n    return x*y",
    "a shape": "n = float(x.shape[0])\n    return x*n",
    "another argument": "return x*float(rate)",
    "overwritten": "y = float(x)\n    y = x\n    return y",
    "an index": "return x[int(k)]",
    "a name of the user's": "float = abs\n    return float(x)",
    "in a text": "y = f'{float(x)}'\n    return x",
}


@pytest.mark.parametrize("case", KEPT)
def test_what_does_not_flow_into_the_gradient_is_no_finding(case: str, tmp_path: Path) -> None:
    from symgrad.interop.importers.code.checks import source_findings
    from symgrad.interop.importers.code.function_loader import load_function

    file = tmp_path / "f.py"
    file.write_text(f"def f(x, rate=1, k=0):\n    {KEPT[case]}\n")
    with load_function(str(file), "f") as found:
        assert source_findings(found.function, ["x"]) == []


def test_the_text_alone_is_told_where_a_function_cannot_be_traced(lint) -> None:
    done = lint(written("f.py", "def f(x):\n    return x*float(x)\n"), "--specs", "x : real")
    assert done.exit_code == 1
    assert done.stdout.startswith("SG501 float(x) makes a plain number")
    assert "Traceback" not in done.output
    assert "the text alone is checked" in done.stderr


@pytest.mark.parametrize("name", ["made", "made.energy", "square", "part", "wrapped", "again"])
def test_whatever_is_called_is_read(lint, name: str) -> None:
    text = """
    import functools

    class Model:
        def energy(self, x):
            return x*float(x)
        def __call__(self, x):
            return self.energy(x)

    made = Model()
    square = lambda x: x*float(x)
    part = functools.partial(lambda a, x: a*float(x)*x, 2.0)

    def logged(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)
        return inner

    @logged
    def wrapped(x):
        return x*float(x)

    def again(x, n=3):
        return x if n == 0 else again(x*float(x), n - 1)
    """
    done = lint(f"{written('f.py', text)}::{name}", "--specs", "x : real", "--format", "json")
    assert [f["code"] for f in json.loads(done.stdout)] == ["SG501"]


def test_columns_count_characters(lint) -> None:
    file = written("f.py", "def f(x):\n    é = 'ééé'; y = float(x)\n    return x*y\n")
    (found,) = json.loads(lint(file, "--specs", "x : real", "--format", "json").stdout)
    place = found["places"][0]
    assert "    é = 'ééé'; y = float(x)"[place["start"] : place["end"]] == "float(x)"


# ------------------------------------------------------------------------------------------------------------ formats

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
PLACES = st.builds(
    Place,
    st.sampled_from(["a.py", "b c/d.py", "<text>"]),
    st.integers(1, 9),
    st.integers(0, 9),
    st.integers(0, 20),
    TEXTS,
)
FINDINGS = st.builds(
    Finding,
    st.sampled_from(["SG101", "SG501"]),
    st.just("some-name"),
    st.sampled_from(["error", "warning", "note"]),
    TEXTS,
    TEXTS,
    equation=st.none() | TEXTS,
    places=st.lists(PLACES, max_size=3).map(tuple),
    cure=st.none() | TEXTS,
    replacement=st.none() | TEXTS,
)


@given(FINDINGS)
def test_findings_survive_json(finding: Finding) -> None:
    data: dict[str, Any] = json.loads(json.dumps(finding.json()))
    places = tuple(Place(**p) for p in data.pop("places"))
    assert Finding(**data, places=places) == finding


@given(st.lists(FINDINGS, max_size=4))
def test_every_result_of_sarif_has_its_rule_and_its_place(found: list[Finding]) -> None:
    (run,) = json.loads(json.dumps(findings_sarif(found, {"SG101": "About it."}, "1.0")))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == sorted({f.code for f in found})
    assert all(r["help"]["text"] and r["shortDescription"]["text"] for r in rules)
    assert len(run["results"]) == len(found)
    for result, f in zip(run["results"], found, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == f.code
        assert result["level"] == f.severity
        assert f.message in result["message"]["text"]
        places = [p for p in f.places if not p.file.startswith("<")]
        assert len(result.get("locations", [])) == min(len(places), 1)
        for location in result.get("locations", []):
            physical = location["physicalLocation"]
            assert " " not in physical["artifactLocation"]["uri"]
            region = physical["region"]
            assert (region["startLine"], region["startColumn"]) == (places[0].line, places[0].start + 1)
            assert region.get("endColumn", region["startColumn"] + 1) > region["startColumn"]
        assert ("fixes" in result) == (bool(places) and f.replacement is not None)


@given(st.lists(FINDINGS, min_size=1, max_size=4))
def test_a_command_of_a_workflow_is_one_line(found: list[Finding]) -> None:
    lines = findings_github(found).split("\n")
    assert len(lines) == len(found)
    for line, f in zip(lines, found, strict=True):
        assert line.startswith(
            {"error": "::error ", "warning": "::warning ", "note": "::notice "}[f.severity]
        )
        assert "\r" not in line


@given(st.lists(FINDINGS, max_size=3))
def test_every_finding_is_in_the_text(found: list[Finding]) -> None:
    text = findings_text(found)
    assert text == "nothing found" if not found else text.count("some-name)") >= len(found)


def test_sarif_has_the_repair_as_an_edit(lint) -> None:
    file = written("f.py", "def f(x):\n    return x*float(x)\n")
    log = json.loads(lint(file, "--specs", "x : real", "--format", "sarif").stdout)
    assert log["version"] == "2.1.0"
    (result,) = log["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    (edit,) = change["replacements"]
    line = (
        Path(change["artifactLocation"]["uri"])
        .read_text()
        .splitlines()[edit["deletedRegion"]["startLine"] - 1]
    )
    start, end = edit["deletedRegion"]["startColumn"] - 1, edit["deletedRegion"]["endColumn"] - 1
    assert line[:start] + edit["insertedContent"]["text"] + line[end:] == "    return x*x"


def test_the_repaired_program_of_a_stopped_path_is_carried_by_every_format(lint) -> None:
    file = written("m.sg", "a, x : real\ny = stop_gradient(a)*x + floor(x)\n")
    asked = (file, "--wrt", "a", "--ignore", "SG101", "--time-limit", "60", "--format")
    (plain,) = json.loads(lint(*asked, "json").stdout)
    assert (plain["code"], plain["repaired"]) == ("SG203", "a*x + floor(x)")
    assert plain["verdict"]["status"] == "proved"
    (result,) = json.loads(lint(*asked, "sarif").stdout)["runs"][0]["results"]
    assert result["properties"]["repaired"] == "a*x + floor(x)"
    assert result["properties"]["verdict"] == "proved"
    assert lint(*asked, "github").stdout.strip().endswith("write a for stop_gradient(a)")
    assert "  proved: stop_gradient has the value of its argument" in lint(*asked, "text").stdout


def test_what_goes_over_several_lines_is_no_edit(lint) -> None:
    terms = " + ".join(["x"] * 60)
    file = written("f.py", f"def f(x):\n    return x*float(\n        {terms}\n    )\n")
    log = json.loads(lint(file, "--specs", "x : real", "--format", "sarif").stdout)
    (result,) = log["runs"][0]["results"]
    assert "fixes" not in result
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    assert len(result["message"]["text"].splitlines()[0]) < 200


def test_commands_of_workflows_and_files(lint) -> None:
    file = written("f.py", "def f(x):\n    return x*float(x)\n")
    line = lint(file, "--specs", "x : real", "--format", "github").stdout
    assert line.startswith(
        "::warning file=f.py,line=2,col=14,endColumn=22,title=SG501 plain-number::float(x) makes"
    )
    done = lint(file, "--specs", "x : real", "--format", "json", "-o", "found.json")
    assert done.exit_code == 1
    assert json.loads(Path("found.json").read_text())[0]["code"] == "SG501"


def test_nothing_is_no_command_of_a_workflow(lint) -> None:
    done = lint("x**2", "--format", "github")
    assert (done.exit_code, done.stdout) == (0, "")


def test_no_two_checks_share_a_code_or_a_name() -> None:
    every = [*((c.code, c.name) for c in CHECKS), *((c.code, c.name) for c in SOURCE_CHECKS.values())]
    assert len({code for code, _ in every}) == len({name for _, name in every}) == len(every)


# ---------------------------------------------------------------------------------------------------------- bad input

BAD: dict[str, tuple[str, list[str], int, str]] = {
    "no file": ("", ["none.py::f"], 3, "cannot read none.py"),
    "no such function": ("def loss(x):\n    return x\n", ["f.py::lost"], 2, "did you mean 'loss'?"),
    "several functions": ("def f(x): ...\ndef g(x): ...\n", ["f.py"], 2, "one of f, g"),
    "no function at all": ("x = 1\n", ["f.py"], 2, "f.py defines no function"),
    "a class": ("class Net: ...\n", ["f.py::Net"], 2, "'Net' is a class"),
    "a method": ("class A:\n    def f(self, x): ...\n", ["f.py::A.f", "--specs", "x : real"], 2, "FILE::object.method"),
    "a value": ("x = 1\n", ["f.py::x"], 2, "'x' is a value of type int"),
    "no specs": ("def f(x, y):\n    return x\n", ["f.py"], 2, "--specs 'x : real; y : real'"),
    "empty specs": ("def f(x):\n    return x\n", ["f.py", "--specs", " "], 2, "--specs 'x : real'"),
    "an argument without": ("def f(x, y):\n    return x\n", ["f.py", "--specs", "x : real"], 2, "takes y, and no spec"),
    "no such argument": ("def f(x):\n    return x\n", ["f.py", "--specs", "x : real; yy : real"], 2, "takes no 'yy'"),
    "specs that are none": ("def f(x):\n    return x\n", ["f.py", "--specs", "x : reel"], 1, "did you mean 'real'?"),
    "an expression": ("def f(x):\n    return x\n", ["f.py", "--specs", "x : real; x**2"], 2, "says nothing of"),
    "syntax": ("def f(x):\n    return x +\n", ["f.py"], 1, "f.py, line 2, column 15\n        return x +\n"),
    "an import that fails": ("import nonesuch\ndef f(x): ...\n", ["f.py"], 1, "line 1, column 1\n    import nonesuch"),
    "a top level that raises": ("x = [][1]\ndef f(x): ...\n", ["f.py"], 1, "list index out of range\nf.py, line 1"),
    "a top level that exits": ("import sys\nsys.exit()\ndef f(x): ...\n", ["f.py"], 1, "__name__ == '__main__'"),
    "a function that raises": ("def f(x):\n    return x.sum(q)\n", ["f.py", "--specs", "x : real"], 1, "NameError"),
    "nothing returned": ("def f(x):\n    x = x\n", ["f.py", "--specs", "x : real"], 1, "f returns nothing"),
    "a decision": ("def f(x):\n    return x if x > 0 else -x\n", ["f.py", "--specs", "x : real"], 1, "f.py, line 2"),
    "a function of a program": ("", ["m.sg::y"], 2, "symgrad lint m.sg --of y"),
    "specs of a program": ("", ["x**2", "--specs", "x : real"], 2, "--specs is for functions"),
    "names of nothing": ("", ["x**2", "--noise", ","], 2, "--noise names nothing"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_a_message_with_a_place_or_a_cure(lint, case: str) -> None:
    text, arguments, code, said = BAD[case]
    written("f.py", text)
    done = lint(*arguments)
    assert (done.exit_code, "Traceback" in done.output) == (code, False), done.output
    assert said in done.stderr
    assert done.stdout == ""


def test_several_results_are_chosen_among(lint) -> None:
    file = written("f.py", "def f(x):\n    return x*float(x[0]), (x**2)\n")
    specs = ("--specs", "x : real[3]", "--format", "json")
    assert [c for c, _ in codes(lint(file, *specs))] == ["SG501"]  # of the text alone
    other = written("g.py", "def g(x):\n    return x*2, x**2\n")
    wrong = lint(other, *specs)
    assert wrong.exit_code == 2
    assert "--of g_0" in wrong.stderr
    assert lint(other, *specs, "--of", "g_1").exit_code == 0
