"""Decimals of documents are read as rounded: right to their digits, wrong beyond them."""

from __future__ import annotations

import pytest

import symgrad as sg

RIGHT = {
    "a root": "x = sqrt(30)\nx = 5.48",
    "a factor": "y = x/3\ny = 0.333 x",
    "two factors": "z = x/3 + y/7 + 1\nz = 0.333x + 0.143y + 1",
    "a rate in an exponent": "y = e^(-ln(2) t)\ny = e^(-0.693 t)",
    "a derivative": "y = e^(0.5 t)\nAt t = 2, y' = 1.36",
    "tiny numbers": "h = 6.62607015e-34, c = 299792458\nE = h c/λ\nE = 1.98644586e-25/λ",
    "a power of ten": r"$E = 6.62607015 \times 10^{-34} \cdot 3$" + "\n" + r"$E = 1.987821 \times 10^{-33}$",
    "an approximation": "k = ln 2/30 ≈ 0.0231",
    "a whole number": "A = 100 sqrt(3)\nA ≈ 173",
    "a solution": "3x + 2 = 9\nx = 2.33",
    "two solutions": "x^2 - 3x + 1 = 0\nx = 2.618 or x = 0.382",
    "later lines": "A = 2.5 * 1.3 = 3.25\nB = A^2 = 10.56\nC = B/3 = 3.52",
}
WRONG = {
    "a root": "x = sqrt(30)\nx = 5.58",
    "a factor": "y = x/3\ny = 0.343 x",
    "two factors": "z = x/3 + y/7 + 1\nz = 0.333x + 0.153y + 1",
    "a rate in an exponent": "y = e^(-ln(3) t)\ny = e^(-0.693 t)",
    "a derivative": "y = e^(0.5 t)\nAt t = 2, y' = 1.63",
    "an approximation": "k = ln 2/30 ≈ 0.0251",
    "a whole number": "A = 100 sqrt(3)\nA ≈ 137",
    "a solution": "3x + 2 = 9\nx = 2.43",
    "an exact number": "y = 0.6 x\ny = 0.5 x",
    "a whole number that is exact": "y = 3 x\ny = 3.1 x",
}
RIGHT["a solution of an equation with a tangent"] = "tan 2t = 2\nt = 0.5536"
WRONG["a pole is no solution"] = "tan 2t = 2\nt = 0.785"
DOUBTFUL = {
    "cut off and not rounded": "x = sqrt(30)\nx = 5.47",
    "one digit": "y = x/3\ny = 0.3 x",
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_decimal_is_right_to_its_digits(name: str) -> None:
    review = sg.review(RIGHT[name])
    assert review.status in ("proved", "supported"), review.text()


@pytest.mark.parametrize("name", WRONG)
def test_a_decimal_is_wrong_beyond_its_digits(name: str) -> None:
    review = sg.review(WRONG[name])
    assert review.status == "refuted", review.text()


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_is_no_rounding_for_sure_is_undecided(name: str) -> None:
    review = sg.review(DOUBTFUL[name])
    assert review.status == "undecided", review.text()


def test_a_step_says_which_number_was_rounded() -> None:
    (step,) = [s for s in sg.review("y = x/3\ny = 0.333 x").steps if s.verdict is not None]
    assert step.message == "0.333 is 1/3, rounded"
