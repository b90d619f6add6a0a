"""Values at the command line: what is a number is read exactly, everything else is told in a line."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import symgrad as sg
from symgrad.apps.cli import main
from symgrad.apps.cli.inputs.numbers import read_number
from symgrad.apps.cli.inputs.values import read_values
from symgrad.errors import NumberTooLargeError, SymgradError


def run(*args: str) -> Any:
    return CliRunner().invoke(main, args)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        (" -0 ", 0),
        ("+7", 7),
        ("1_000", 1000),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", 2.0**63),
        ("1" + "0" * 300, 1e300),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-2.5E-3", -0.0025),
        ("1e-400", 0.0),
        ("inf", np.inf),
        ("-Infinity", -np.inf),
        ("True", True),
        ("False", False),
    ],
)
def test_numbers(text: str, value: Any) -> None:
    found = read_number(text)
    assert (found, type(found)) == (value, type(value))
    assert np.isnan(read_number("NaN"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one",
        "1__0",
        "_1",
        "1_",
        "0x10",
        "1e",
        "e5",
        "1.2.3",
        "1 2",
        "٣",
        "１",
        "½",
        "true",
        "1j",
        "++1",
        ".",
    ],
)
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        read_number(text)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1" + "0" * 400, "9" * 5000])
def test_numbers_that_no_float_holds(text: str) -> None:
    with pytest.raises(NumberTooLargeError):
        read_number(text)


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        ("x=1e400", 1, "too large for a float"),
        ("x=" + "9" * 5000, 1, "(5,000 characters) is too large"),
        ("x=", 2, "gives no value"),
        ("=3", 2, "gives no value"),
        ("x", 2, "gives no value"),
        ("x=1,2,,3", 2, "is not a value"),
        ("x=[[1,2],[3]]", 1, "different lengths"),
        ("x=[[1,2],3]", 1, "different lengths"),
        ("x=[1,2", 2, "is not a value"),
        ("x=[1 2]", 2, "is not a value"),
        ("x=[1,]", 2, "is not a value"),
        ("x=[1]]", 2, "is not a value"),
        ("x=[None]", 2, "is not a value"),
        ("x=[{}]", 2, "is not a value"),
        ("x=" + "[" * 70 + "1" + "]" * 70, 1, "nest too deeply"),
        ("x=" + "[" * 100_000, 2, "is not a value"),
        ("x=" + "[" * 100_000 + "]" * 100_000, 2, "is not a value"),
        ("x=\u0663", 2, "is not a value"),
        ("x=\x1b[31m", 2, "'\\x1b[31m' is not a value"),
        ("x=\udcff", 2, "'\\udcff' is not a value"),
        ("\x1b[31m=1", 1, "'\\x1b[31m' is not an input"),
        ("x=.npy", 3, ".npy"),
        ("x=a\0b.npy", 3, "null"),
        ("x=a\0b.csv", 3, "null"),
        ("x=" + "a" * 5000 + ".npz", 3, "too long"),
    ],
)
def test_values_that_are_none(value: str, code: int, text: str) -> None:
    result = run("run", "x**2", value)
    assert (result.exit_code, result.stdout) == (code, ""), result.output[:500]
    assert text in result.stderr
    assert len(result.stderr) < 10_000
    assert "Traceback" not in result.stderr


def test_whole_numbers_keep_their_digits() -> None:
    text = "i : int[m]; x : real[n]; sum(x[i])"
    for given in ("1234567890123456789", "[1234567890123456789]"):
        result = run("run", text, f"i={given}", "x=1,2", "--wrt", "x")
        assert "1234567890123456789" in result.stderr
    result = run("run", text, "i=99999999999999999999", "x=1,2", "--wrt", "x")
    assert (result.exit_code, "whole numbers that int64 holds" in result.stderr) == (1, True)


def test_a_narrow_kernel_refuses_what_it_cannot_hold() -> None:
    result = run("run", "x**2", "x=1,1e39", "--dtype", "float32")
    assert (result.exit_code, "'x' is 1e+39, which is too large for float32" in result.stderr) == (1, True)
    lines = run("run", "x + 0", "x=inf,nan,1e-60", "--dtype", "float32", "--no-gradient").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["inf", "nan", "0.0"]


def test_long_lists() -> None:
    numbers = np.arange(100_000.0).reshape(-1, 100)
    text = json.dumps(numbers.tolist())
    assert len(text) > 800_000
    found = read_values([f"X={text}"], [sg.tensor("X", ("n", 100))])
    assert np.array_equal(found["X"], numbers)
    with pytest.raises(SymgradError) as caught:
        read_values([f"X={text[:-1]}"], [sg.tensor("X", ("n", 100))])
    assert len(str(caught.value)) < 1000
