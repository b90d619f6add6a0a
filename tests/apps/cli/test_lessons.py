"""`symgrad explain` as a teacher: what it prints, and ends with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]

PROGRAM = "x : real\ns = x**2\nz = sin(s)\n"


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "chain.sg").write_text(PROGRAM)
    return "chain.sg"


def test_the_last_line_is_hidden(call: Call, program: str) -> None:
    result = call("explain", program, "--hide-last")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-3:] == ["  z_bar = 1", "  s_bar = cos(s)", "  x_bar = ?"]


def test_an_answer_ends_as_a_verdict_does(call: Call, program: str) -> None:
    assert call("explain", program, "--answer", "2*x*cos(s)").exit_code == 0
    wrong = call("explain", program, "--hide-last", "--answer", "x_bar = x*cos(s)")
    assert wrong.exit_code == 5
    assert "factor-2" in wrong.stdout
    assert call("explain", program, "--answer", "2*x*cos(").exit_code == 1


def test_the_next_line_follows_those_of_a_file_or_of_standard_input(
    call: Call, program: str, tmp_path: Path
) -> None:
    assert call("explain", program, "--next-step").stdout == "z_bar = 1\n  rule: the output by itself\n"
    (tmp_path / "lines.txt").write_text("z_bar = 1\n")
    wanted = "s_bar = cos(s)\n  rule: sin\n"
    assert call("explain", program, "--next-step", "--so-far", "lines.txt").stdout == wanted
    assert call("explain", program, "--next-step", "--so-far", "-", stdin="z_bar = 1").stdout == wanted


def test_a_wrong_line_is_a_refutation(call: Call, program: str) -> None:
    result = call("explain", program, "--next-step", "--so-far", "-", stdin="z_bar = 1\nds = -cos(s)\n")
    assert result.exit_code == 5
    assert result.stdout.startswith("line 2 is wrong: ds = -cos(s)\n")


def test_it_comes_as_json(call: Call, program: str) -> None:
    found = json.loads(call("explain", program, "--next-step", "--format", "json").stdout)
    assert found["next"] == {"name": "z_bar", "formula": "1", "rule": "the output by itself"}
    assert json.loads(call("explain", program, "--hide-last", "--format", "json").stdout)["derivation"]
    assert (
        json.loads(call("explain", program, "--answer", "1", "--format", "json").stdout)["status"]
        == "refuted"
    )


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--so-far", "lines.txt"], 2, "add --next-step"),
        (["--next-step", "--hide-last"], 2, "two exercises"),
        (["--next-step", "--answer", "1"], 2, "two exercises"),
        (["--hide-last", "--format", "html"], 2, "an exercise is no html"),
        (["--next-step", "--so-far", "nowhere.txt"], 3, "cannot read nowhere.txt"),
        (["--next-step", "--so-far", "latin.txt"], 3, "latin.txt"),
        (["--next-step", "--so-far", "s_bar = q"], 1, "unknown name 'q'"),
    ],
)
def test_what_cannot_be_asked(
    call: Call, program: str, tmp_path: Path, options: list[str], code: int, said: str
) -> None:
    (tmp_path / "latin.txt").write_bytes(b"s_bar = \xff")
    result = call("explain", program, *options)
    assert result.exit_code == code
    assert said in result.stderr


def test_program_and_lines_are_two_texts(call: Call) -> None:
    result = call("explain", "-", "--next-step", "--so-far", "-", stdin=PROGRAM)
    assert result.exit_code == 2
    assert "both" in result.stderr
