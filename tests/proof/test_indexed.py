"""Identities that hold for every size are proved, with the claim spelled in its own way; mistakes are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import symgrad as sg
from symgrad.proof.field import GiveUp
from symgrad.proof.indexed import prove_equal, prove_gradient
from symgrad.proof.steps import Program
from symgrad.verify.statement import program_of


def program(text: str, *names: str) -> tuple[Program, list[int]]:
    """Return the steps of a text, and where some of its names stand."""
    listing = sg.parse(text)._listing  # pyright: ignore[reportPrivateUsage]
    known = {**listing.symbols, **listing.assignments}
    return program_of([known[n] for n in names], list(listing.symbols.values()))


def gradient(
    text: str, wrt: str, claim: str, symmetric: Sequence[str] = (), vjp: bool = False
) -> tuple[str, ...]:
    """Prove the derivative of f in a text."""
    steps, at = program(f"{text}\nclaim = {claim}", "f", "claim", *(["G"] if vjp else []))
    return prove_gradient(steps, at[0], wrt, at[1], cotangent=at[2] if vjp else None, symmetric=symmetric)


def equal(text: str, a: str, b: str) -> tuple[str, ...]:
    """Prove that two expressions are equal."""
    steps, (left, right) = program(f"{text}\nleft_ = {a}\nright_ = {b}", "left_", "right_")
    return prove_equal(steps, left, right)


LEAST_SQUARES = "X : real[n, d]\ny : real[n]\nw : real[d]\nf = mean((X@w - y)**2)"


def test_least_squares() -> None:
    assert gradient(LEAST_SQUARES, "w", "2*X.T@(X@w - y)/n") == ()


@pytest.mark.parametrize(
    "claim", ["X.T@(X@w - y)/n", "2*X.T@(X@w + y)/n", "2*X.T@(X@w)/n", "2*X.T@(X@w - y)/d"]
)
def test_least_squares_with_a_mistake(claim: str) -> None:
    with pytest.raises(GiveUp, match="differ"):
        gradient(LEAST_SQUARES, "w", claim)
