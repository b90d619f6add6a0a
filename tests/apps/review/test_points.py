"""Values at which something is claimed: they hold for what is said of them, and for no claim about all values."""

from __future__ import annotations

import pytest

import symgrad as sg

SQUARE = "f(x) = x^2\n"


@pytest.mark.parametrize(
    "text",
    [
        "Evaluate at x = 0 first.\nsin 0 = 0\nsin 2x = 3 sin x",
        "Evaluate at x = 0 first.\nsin 0 = 0\nNow in general:\nsin 2x = 3 sin x",
        "At x = 0 all is well.\ncos 2x = 1 - 5 sin^2 x",
        "For x = 1 we get sin(x) = 0.841.\nFor general x, x^2 = x",
        "Set t = 0, where all is well.\ncos t = 1 + t",
        "Suppose n = 1. Then it holds.\nn² + n = 2n",
        "For x = 1 and y = 1 it holds.\nx^2 = y",
        SQUARE + "At x = 1, f = 1.\nf'(x) = 2",
        SQUARE + "f'(x) = 2 at x = 1\nf'(x) = 2",
        SQUARE + "f'(x) = 2 at x = 1\nIn general df/dx = 2",
        SQUARE + "At x = 1, f = 1.\nf'(x) = 2.0",
        "f(x, y) = x^2 y\nAt (1, 1), f_x = 2.\nx^2 = y",
        "$f(x) = x^2$. At $x = 1$ we have $f(1) = 1$.\nThe derivative is $f'(x) = 2$.",
        "At x = 0:\nf(x) = sin x = 0\n\nf(x) = 2 x",
    ],
)
def test_a_point_proves_nothing_for_all_values(text: str) -> None:
    assert sg.review(text).steps[-1].status in ("refuted", "undecided")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("y = x^2\nWhen x = 3\ndy/dx = 6", "where x = 3"),
        (SQUARE + "At x = 1: f'(x) = 2", "where x = 1"),
        (SQUARE + "At x = 1:\nf(x) = 1\nf'(x) = 2", "where x = 1"),
        (SQUARE + "f'(x) = 2 at x = 1", "where x = 1"),
        (SQUARE + "df/dx = 2 at x = 1\nd2f/dx2 df/dx = 4", "where x = 1"),
        ("At x = 2 we have x^3 + 1 = 9.", "where x = 2"),
        ("For x = 1 we get sin(x) = 0.841.", "0.841 is sin(1), rounded; where x = 1"),
        ("With a = 2, f = a x^2 = 2x^2", "where a = 2"),
    ],
)
def test_a_claim_that_holds_at_a_point_says_so(text: str, said: str) -> None:
    step = [s for s in sg.review(text).steps if s.status][-1]
    assert (step.status, step.message) == ("proved", said)


@pytest.mark.parametrize(
    "text",
    [
        SQUARE + "At x = 1, f = 1.\nf'(x) = 2x",
        "At x = 0 all is well.\ncos 2x = 1 - 2 sin^2 x",
        "At x = 0 all is well.\nIn general d/dx sin 2x = 2 cos 2x",
    ],
)
def test_what_holds_for_all_values_is_proved_without_a_point(text: str) -> None:
    step = sg.review(text).steps[-1]
    assert step.status == "proved"
    assert "where" not in (step.message or "")
