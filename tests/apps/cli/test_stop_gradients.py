"""`symgrad equivalent` and `symgrad effective`: what they print, write and end with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HARD = ("stop_gradient(p*h - p*m) + p*m", "stop_gradient(p*h)")


def test_the_exit_code_of_equivalent_is_the_verdict(call) -> None:
    same = call("equivalent", "stop_gradient(stop_gradient(x)*y)", "stop_gradient(x*y)", "--order", "all")
    assert (same.exit_code, same.stdout.split(":")[0]) == (0, "proved")
    other = call("equivalent", *HARD, "--wrt", "m")
    assert (other.exit_code, other.stdout.split(":")[0]) == (5, "refuted")
    assert "the gradients by m differ" in other.stdout
    assert call("equivalent", *HARD, "--wrt", "h").exit_code == 0


def test_equivalent_to_an_order_and_on_a_domain(call) -> None:
    pair = ("exp(a - stop_gradient(a))", "1 + a - stop_gradient(a)")
    assert call("equivalent", *pair).exit_code == 0
    assert call("equivalent", *pair, "--order", "2").exit_code == 5
    assert call("equivalent", "abs(x)", "x").exit_code == 5
    assert call("equivalent", "abs(x)", "x", "--domain", "x=positive").exit_code == 0


def test_equivalent_of_functions_in_files(call) -> None:
    Path("two.py").write_text(
        "import numpy as np\n\ndef a(x, w):\n    return np.mean((x @ w)**2)\n\n"
        "def b(x, w):\n    h = x @ w\n    return np.mean(h * h)\n"
    )
    specs = ("--specs", "x : real[n, d]; w : real[d]", "--wrt", "w")
    assert call("equivalent", "two.py::a", "two.py::b", *specs, "--order", "all").exit_code == 0
    text = "x : real[n, d]; w : real[d]; mean((stop_gradient(x@w))**2)"
    assert call("equivalent", "two.py::a", text, *specs).exit_code == 5
    done = call("equivalent", "x", "x", "--specs", "x : real")
    assert (done.exit_code, "FILE.py::FUNCTION" in done.stderr) == (2, True)


def test_equivalent_as_json_with_its_proof(call) -> None:
    done = call("equivalent", *HARD, "--wrt", "m", "--format", "json", "--proof", "proof.json")
    assert json.loads(done.stdout)["status"] == "refuted"
    assert call("check", "proof.json").exit_code == 5


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("x", "x", "--order", "0"), 2, "--order is '0'"),
        (("x", "x", "--order", "some"), 2, "a positive integer, or 'all'"),
        (("x", "x", "--wrt", ","), 2, "--wrt names nothing"),
        (("x", "x", "--wrt", "y"), 1, "neither side reads 'y'"),
        (("x +", "x"), 1, "line 1"),
        (("none.sg", "x"), 3, "cannot read none.sg"),
    ],
)
def test_equivalent_says_what_is_wrong_with_the_line(
    call, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = call("equivalent", *arguments)
    assert (done.exit_code, said in done.stderr) == (code, True), done.output


CUBIC = "x : real\ny = x**3*stop_gradient(x)"


def test_effective_prints_value_and_derivatives_without_a_stop(call) -> None:
    done = call("effective", CUBIC, "--order", "2")
    assert done.stdout == "y = x**4\ndy/dx = 3*x**3\nd2y/dx dx = 6*x**2\n"
    Path("p.sg").write_text(CUBIC + "\nz = 2*y\n")
    assert call("effective", "p.sg", "--of", "y", "--wrt", "x").stdout == "y = x**4\ndy/dx = 3*x**3\n"


def test_effective_as_latex(call) -> None:
    done = call("effective", CUBIC, "--format", "latex", "-o", "y.tex")
    assert done.stdout == "wrote y.tex\n"
    text = Path("y.tex").read_text()
    assert r"y &= x^{4} \\" in text
    assert r"\frac{\partial y}{\partial x} &= 3 x^{3}" in text
    assert (
        r"\bar{x} &= " in call("effective", "x : real[n]; y = x*stop_gradient(x)", "--format", "latex").stdout
    )


def test_effective_as_json_has_the_attributes(call) -> None:
    data = json.loads(call("effective", "x : real[n]; y = x*stop_gradient(x)", "--format", "json").stdout)
    assert data["value"]["formula"] == "x**2"
    assert data["cotangent"] == "y_bar"
    assert [(b["wrt"], b["formula"]) for b in data["backward"]] == [("x", "x*y_bar")]
    assert [d["wrt"] for d in data["derivatives"]] == [["x"]]


def test_effective_of_a_function_in_a_file(call) -> None:
    Path("train.py").write_text(
        "import numpy as np\n\ndef loss(w, x):\n    return np.sum((x@w)**2)\n", "utf-8"
    )
    done = call("effective", "train.py::loss", "--specs", "w : real[5]; x : real[n, 5]", "--wrt", "w")
    assert (done.exit_code, done.stdout) == (0, "loss = sum((x@w)**2)\ndloss/dw = 2*x.T@(x@w)\n")
    refused = call("effective", CUBIC, "--specs", "x : real")
    assert refused.exit_code == 2
    assert "--specs is for functions in files of Python's" in refused.stderr
