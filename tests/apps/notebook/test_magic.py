"""The magics in IPython: names, answers, messages without traceback, commands, completion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("IPython", reason="symgrad[notebook] has it")

from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import symgrad as sg


@pytest.fixture
def shell(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    made: Any = InteractiveShell.instance(user_ns={})
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "symgrad")
    yield made
    made.run_line_magic("unload_ext", "symgrad")
    InteractiveShell.clear_instance()


def ran(shell: Any, source: str, *, fails: bool = False) -> tuple[str, list[Any]]:
    """Run a cell and return what it printed, and what it displayed."""
    with capture_output() as said:
        result = shell.run_cell(source)
    assert result.success is not fails, said.stdout + said.stderr
    return said.stdout + said.stderr, [o.data for o in said.outputs]


PROGRAM = "x : positive\nu ~ Uniform(0.9, 1.1)\ny = sqrt(x**2*u)\n"


def test_a_cell_defines_its_names_and_shows_the_program(shell: Any) -> None:
    _, shown = ran(shell, f"%%symgrad -o p\n{PROGRAM}")
    assert isinstance(shell.user_ns["y"], sg.Expr)
    assert shell.user_ns["p"].names == ("x", "u", "y")
    assert [set(o) for o in shown] == [{"text/plain", "text/html", "text/latex"}]
    assert "Program of y" in shown[0]["text/plain"]


@pytest.mark.parametrize(
    ("options", "titles"),
    [
        ("--wrt x", ["dy/dx = sqrt(u)"]),
        ("--explain", ["y, differentiated by x"]),
        ("--audit --wrt x", ["Audit of y, differentiated by x"]),
        ("--lint", ["no finding"]),
        ("--explain --audit", ["y, differentiated by x", "Audit of y"]),
        ("-q --explain", []),
    ],
)
def test_options_say_what_is_shown(shell: Any, options: str, titles: list[str]) -> None:
    _, shown = ran(shell, f"%%symgrad {options}\n{PROGRAM}")
    assert len(shown) == len(titles)
    for bundle, title in zip(shown, titles, strict=True):
        assert "text/html" in bundle
        if title != "no finding":
            assert title in bundle["text/plain"]


def test_gradients_by_several_and_of_one_name(shell: Any) -> None:
    _, (shown,) = ran(shell, "%%symgrad --wrt a,b --of f\na, b : real\nf = a*b\ng = f**2")
    assert shown["text/plain"].splitlines() == ["df/da = b", "df/db = a"]


def test_cells_continue_earlier_ones(shell: Any) -> None:
    ran(shell, f"%%symgrad\n{PROGRAM}")
    _, (shown,) = ran(shell, "%%symgrad --wrt x\nz = y**2")
    assert shown["text/plain"] == "dz/dx = 2*u*x"


def test_a_mistake_is_told_with_its_caret_and_no_traceback(shell: Any) -> None:
    said, _ = ran(shell, "%%symgrad -o p\nx : real\ny = x + w", fails=True)
    lines = said.splitlines()
    assert "UnknownNameError: unknown name 'w'" in lines
    assert lines[lines.index("    y = x + w") + 1] == "            ^"
    assert "Traceback" not in said
    assert ".py" not in said
    assert not {"x", "y", "p"} & set(shell.user_ns)  # a cell with a mistake defines nothing


def test_a_notebook_shows_a_mistake_as_html_and_one_line(shell: Any) -> None:
    shell.kernel = object()  # what ipykernel has
    try:
        said, (shown,) = ran(shell, "%%symgrad\ny = <b>", fails=True)
    finally:
        del shell.kernel
    assert "<mark>&lt;</mark>" in shown["text/html"]
    assert "    ^" in shown["text/plain"]
    assert said.strip() == "ProgramSyntaxError, line 1, column 5"


@pytest.mark.parametrize(
    "line", ["%%symgrad --nope\nx : real", "%%symgrad -o 1x\nx : real", "%%symgrad --wrt q\nx : real\ny = x"]
)
def test_options_that_make_no_sense_are_refused(shell: Any, line: str) -> None:
    said, _ = ran(shell, line, fails=True)
    assert "Traceback" not in said
    assert "Error" in said


def test_commands_run_in_the_process(shell: Any) -> None:
    assert (
        ran(shell, "%symgrad derive 'x**2' --wrt x")[0] == "dy/dx = 2*x\n"
        or "2*x" in ran(shell, "%symgrad derive 'x**2' --wrt x")[0]
    )
    assert "commands" in ran(shell, "%symgrad")[0].lower()
    assert "proved" in ran(shell, "%symgrad equal 'x*x' 'x**2'")[0]
    # A verdict is an answer, whatever its exit code.
    assert ran(shell, "%symgrad equal 'x*x' 'x**3'")[0].startswith("refuted")


def test_commands_take_programs_by_name(shell: Any) -> None:
    ran(shell, f"%%symgrad -q -o p\n{PROGRAM}")
    assert ran(shell, "%symgrad derive p --wrt x")[0] == "dy/dx = sqrt(u)\n"


def test_commands_take_formulas_of_the_notebook_by_name(shell: Any) -> None:
    ran(shell, "%%symgrad\nx : positive\ny = x**2")
    ran(shell, "%%symgrad\nz = y*log(y)")
    assert ran(shell, "%symgrad derive y")[0] == "dy/dx = 2*x\n"
    assert ran(shell, "%symgrad derive z --wrt x")[0] == "dz/dx = 2*(x + z/x)\n"
    assert "1/x" in ran(shell, "%symgrad derive 'log(y)/2'")[0]
    assert "proved" in ran(shell, "%symgrad verify y --wrt x --claim '2*x'")[0]
    assert ran(shell, "%symgrad derive 't**2'")[0] == "d/dt = 2*t\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("derive 'x**' --wrt x", "    x**\n       ^"),
        ("nope", "No such command 'nope'"),
        ("derive --nope x", "No such option"),
        ("derive 'x", "No closing quotation"),
        ("derive $x", "without dollar signs"),
    ],
)
def test_commands_that_fail_say_why_and_fail_the_cell(shell: Any, line: str, message: str) -> None:
    said, _ = ran(shell, f"%symgrad {line}", fails=True)
    assert message in said
    assert "Traceback" not in said


def completions(shell: Any, text: str) -> set[str]:
    shell.Completer.use_jedi = False  # the same whether it is installed or not
    with provisionalcompleter():
        return {text[: c.start] + c.text for c in shell.Completer.completions(text, len(text))}


def test_names_and_attributes_complete(shell: Any) -> None:
    ran(shell, f"%%symgrad -q -o p\n{PROGRAM}")
    shell.user_ns["verdict"] = sg.equal("x**2", "x*x")
    assert {'p["x', 'p["u', 'p["y'} <= completions(shell, 'p["')
    assert completions(shell, "y.gra") == {"y.graph"}
    assert "verdict.status" in completions(shell, "verdict.st")
    assert completions(shell, "p.res") == {"p.result"}
    for internal in ("y.listings", "y.traces", "p.listing", "p.told_by", "verdict.told_by"):
        assert internal not in completions(shell, internal[:-1])


@pytest.mark.parametrize("name", ["p", "y", "verdict", "y.graph", "p.names", "sg.explain"])
def test_a_question_mark_shows_a_docstring(shell: Any, name: str) -> None:
    ran(shell, f"%%symgrad -q -o p\n{PROGRAM}")
    shell.user_ns |= {"verdict": sg.equal("x**2", "x*x"), "sg": sg}
    found = shell.object_inspect(name)
    assert found["found"]
    assert len(found["docstring"] or found["class_docstring"]) > 40


def test_a_cell_is_reviewed_as_a_derivation(shell: Any) -> None:
    _, (bundle,) = ran(shell, "%%symgrad --review\nf(x) = x^2\nf'(x) = 3x")
    assert "the first wrong line is 2" in bundle["text/plain"]
    assert "<mark>3x</mark>" in bundle["text/html"]
    assert "f" not in shell.user_ns


def test_the_magic_tells_its_options(shell: Any) -> None:
    doc = shell.find_line_magic("symgrad").__doc__
    for option in ("--wrt", "--explain", "--audit", "--lint", "--review", "--output"):
        assert option in doc
