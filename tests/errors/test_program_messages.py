"""Every message of the program notation: its class, its place, its text and its cure."""

from __future__ import annotations

import pytest

from symgrad import errors
from symgrad.errors import NestingError, NumberTooLargeError, ProgramSyntaxError, SymgradError, UsageError
from symgrad.frontend import text as notation
from symgrad.frontend.text import parse_expression, parse_program
from tests.errors.program_messages import (
    calls,
    characters,
    declarations,
    grammar,
    meaning,
    python,
    recurrences,
)

KINDS = (characters, grammar, calls, declarations, python, meaning, recurrences)
CASES = [case for kind in KINDS for case in kind.CASES]


@pytest.mark.parametrize(("text", "name", "line", "column", "what", "cure"), CASES)
def test_message(text: str, name: str, line: int, column: int, what: str, cure: str) -> None:
    with pytest.raises(SymgradError) as caught:
        parse_program(text)
    error = caught.value
    assert type(error) is getattr(errors, name)
    assert error.at is not None
    assert (error.at.line, error.at.column) == (line, column)
    assert error.what == what
    assert error.cure == cure
    shown = str(error).splitlines()
    assert shown[0] == what
    assert shown[1] == f"<text>, line {line}, column {column}"
    assert shown[3].strip("^").strip(" ") == ""
    assert shown[-1] == f"  try: {cure}"


def test_caret_stands_under_the_place() -> None:
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_program("x : real\ny = x +* 2", name="file.sg")
    assert str(caught.value) == (
        "'*' stands where a value is expected after '+'\n"
        "file.sg, line 2, column 8\n"
        "    y = x +* 2\n"
        "           ^\n"
        "  expected: a number, a name, a call or (\n"
        "  try: write a value before '*', or remove one operator"
    )


def test_syntax_comes_before_meaning() -> None:
    # x is unknown in line 1, and line 2 is not in the notation: the second is the more basic fault.
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_program("y = x\nz = y +* 2")
    assert caught.value.at is not None
    assert caught.value.at.line == 2


def test_the_first_error_of_meaning_is_reported() -> None:
    with pytest.raises(SymgradError, match="unknown name 'a'"):
        parse_program("y = a + b\nz = q(c)")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1001 + "x" + ")" * 1001,
        "x" + "**x" * 1001,
        "-" * 1001 + "x",
        "not " * 1001 + "(x > 0)",
        "(" * 10**6,
    ],
)
def test_deep_nesting(text: str) -> None:
    with pytest.raises(NestingError) as caught:
        parse_program(text)
    assert caught.value.what == "nested deeper than 1,000 levels"
    assert caught.value.at is not None
    assert caught.value.at.column < 5000
    assert caught.value.cure == "give an inner part a name: t = ..., on a line of its own"


@pytest.mark.parametrize(
    "text", ["1e4000", "1e-4000", "1e999999999", "1e" + "9" * 10**5, "9" * 4001, "0." + "1" * 5000]
)
def test_long_numbers(text: str) -> None:
    with pytest.raises(NumberTooLargeError) as caught:
        parse_program(f"x + {text}")
    assert caught.value.what == "this number is too long"
    assert caught.value.at is not None
    assert caught.value.at.column == 5


def test_texts_that_are_not_text() -> None:
    with pytest.raises(UsageError) as caught:
        parse_program(b"x + 1")  # type: ignore[arg-type]
    assert caught.value.what == "a program is a text (str), not bytes"
    with pytest.raises(UsageError, match="not int"):
        parse_expression(3, {})  # type: ignore[arg-type]


def test_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notation, "TEXT_CHARACTERS", 10)
    assert parse_program("x + 123456").result is not None
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_program("x + 1234567")
    assert caught.value.what == "the text has 11 characters"


def test_a_claim_is_one_expression() -> None:
    x = parse_program("x : real")["x"]
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_expression("z = 2*x", {"x": x})
    assert caught.value.what == "one expression is expected, and this text defines names"
    with pytest.raises(ProgramSyntaxError, match="this text defines names"):
        parse_expression("z = 2*x\nz*a\nwhere\n  a = x", {"x": x})
    assert parse_expression("2*a\nwhere\n  a = sin(b)\n  b = x**2", {"x": x}).op.name == "mul"
    with pytest.raises(SymgradError, match="unknown name 'y'"):
        parse_expression("x + y", {"x": x})


def test_names_given_beforehand_are_not_redefined() -> None:
    x = parse_program("x : real")["x"]
    with pytest.raises(errors.RedefinitionError) as caught:
        parse_program("x : positive", symbols={"x": x})
    assert caught.value.what == "'x' is already defined before this text"
    # The same declaration again says nothing new: what a long expression prints declares its inputs.
    assert parse_program("x : real\ny = x", symbols={"x": x})["y"] is x


def test_a_lone_surrogate_can_be_shown() -> None:
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_program("x + \ud800")
    str(caught.value).encode("utf-8")
