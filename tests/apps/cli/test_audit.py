"""The command `symgrad audit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PROGRAM = "x : real; u ~ Uniform(0.9, 1.1); sqrt(stop_gradient(x**2*u - x**2) + x**2)"


def test_moments_as_formulas_and_in_numbers(call) -> None:
    result = call("audit", PROGRAM, "x=2.0")
    assert result.exit_code == 0
    assert "mean       sign(x)*(sqrt(110) - 3*sqrt(10)), about 1.00126*sign(x)" in result.output
    assert "bias           0.001256  in [0.001256, 0.001256]  (closed form)" in result.output


def test_json_has_what_text_has(call) -> None:
    result = call("audit", PROGRAM, "x=-1", "--wrt", "x", "--format", "json", "--reference", "expected value")
    found = json.loads(result.output)
    assert found["against"] == "expected value"
    assert found["inputs"]["u"]["enters"] is True
    assert found["at"]["expectation"]["value"] == pytest.approx(-1.0012555)
    assert found["at"]["expectation"]["how"] == "closed form"


def test_a_function_in_a_file(call) -> None:
    Path("train.py").write_text(
        "import numpy as np\n\ndef loss(x, w, keep):\n    return np.sum((2 * keep * x) @ w)**2\n"
    )
    specs = "x : real[n, d]; w : real[d]; keep ~ Bernoulli(1/2)[n, d]"
    result = call("audit", "train.py::loss", "--specs", specs, "--wrt", "w")
    assert result.exit_code == 0, result.output
    assert "bias       2*w*sum(x**2, axis=0)" in result.output
    assert call("audit", PROGRAM, "--specs", specs).exit_code == 2


def test_several_inputs(call) -> None:
    result = call("audit", "x, k : real; u ~ Normal(0, 1); k*x*u", "x=2", "k=3")
    assert "variance by x" in result.output
    assert "  variance by k  4. in [4., 4.]  (closed form)".replace(" ", "") in result.output.replace(" ", "")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["x : real; u ~ Normal(0, 1); x*u", "--wrt", "u"], 2, "'u' is a random input itself"),
        (["x : real; x**2", "y=1"], 1, "'y' is not an input"),
        (["x : real; u ~ Normal(0, 1); x*u", "--reference", "median"], 2, "noise at its mean"),
        (["x : real[3]; u ~ Normal(0, 1); x*u"], 1, "sum"),
    ],
)
def test_what_cannot_be_asked(call, args: list[str], code: int, said: str) -> None:
    result = call("audit", *args)
    assert result.exit_code == code
    assert said in result.output


def test_the_help_has_examples(call) -> None:
    said = call("audit", "--help").stdout
    assert "symgrad audit model.sg --of loss --wrt w" in said
    assert "symgrad audit model.sg --reference 'expected value' x=2.0" in said
