"""The order of factors and terms: entries of one array are in the order of their indices."""

from __future__ import annotations

from itertools import permutations
from math import prod

import pytest

import symgrad as sg

V, W = sg.tensor("v", (12,)), sg.tensor("w", ("n",))
A = sg.tensor("A", (3, 12))
X = sg.symbols("x")


@pytest.mark.parametrize(
    ("factors", "text"),
    [
        ([V[0], V[1], V[10]], "v[0]*v[1]*v[10]"),
        ([V[0] ** 2, V[2], V[10]], "v[0]**2*v[2]*v[10]"),
        ([W[0], W[2], W[10]], "w[0]*w[2]*w[10]"),
        ([A[0, 2], A[0, 10], A[2, 0]], "A[0, 2]*A[0, 10]*A[2, 0]"),
        ([2 * X, V[0], V[1]], "2*x*v[0]*v[1]"),
        ([V[:3], V[1:4], V[9:]], "v[:3]*v[1:4]*v[9:]"),
    ],
)
def test_factors_are_in_the_order_of_their_indices(factors: list[sg.Expr], text: str) -> None:
    found = {str(prod(some).canonical()) for some in permutations(factors)}  # type: ignore[union-attr]
    assert found == {text}


def test_a_quotient_has_its_factors_in_order() -> None:
    assert str((V[1] * V[0] / (V[11] * V[2])).canonical()) == "v[0]*v[1]/(v[2]*v[11])"


def test_terms_are_in_the_order_of_their_indices() -> None:
    assert str((V[10] + V[2] + V[0]).canonical()) == "v[0] + v[2] + v[10]"
    assert str((V[1] * V[2] + V[1] * V[0]).canonical()) == "v[0]*v[1] + v[1]*v[2]"


def test_latex_is_in_the_same_order() -> None:
    assert (2 * V[10] * V[0] * V[2]).canonical().latex() == "2 v_{0} v_{2} v_{10}"
