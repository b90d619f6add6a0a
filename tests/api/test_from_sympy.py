"""What SymPy gives: matrices, common subexpressions, functions without a definition and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import DeclarationError, RedefinitionError, SymgradError, UnsupportedError, UsageError

S: Any = sympy  # without types
T, X, Y = S.Symbol("t"), S.Symbol("x"), S.Symbol("y")
THETA = S.Function("theta")
M = S.Matrix([[X, Y], [X * Y, 1]])


def _value(e: Any, **values: float) -> Any:
    return e(**{str(i.name): values[str(i.name)] for i in e.inputs})


@pytest.mark.parametrize(
    "matrix",
    [
        M,
        M.as_immutable(),
        M.inv(),
        S.Matrix([X, Y]),
        S.Matrix([[X, Y]]),
        S.SparseMatrix(2, 2, {(0, 1): X}),
        S.Array([[[X, Y]], [[1, 2]]]),
        S.Array([X, 2, Y]),
    ],
    ids=str,
)
def test_matrices(matrix: Any) -> None:
    found = sg.from_sympy(matrix)
    wanted = np.array(matrix.subs({X: 2.0, Y: 3.0}).tolist(), dtype=float)
    assert found.shape == tuple(matrix.shape) == wanted.shape
    np.testing.assert_allclose(_value(found, x=2.0, y=3.0), wanted)
    alone, both = sg.from_sympy([X, matrix])
    assert alone.same(sg.symbols("x"))
    assert both.same(found)


def test_gradients_of_a_determinant() -> None:
    g = sg.grad(sg.linalg.det(sg.from_sympy(M)), "y")
    np.testing.assert_allclose(_value(g, x=2.0, y=3.0), float(M.det().diff(Y).subs({X: 2, Y: 3})))


@pytest.mark.parametrize(
    "formulas",
    [
        [S.sin(X * Y) + S.exp(X * Y), (X * Y) ** 2 + S.sin(X * Y)],
        [S.exp(S.sqrt(X + Y)) * S.sqrt(X + Y), S.sin(S.exp(S.sqrt(X + Y)))],
        [X + 1],
        [M.inv()],
    ],
    ids=str,
)
def test_common_subexpressions(formulas: list[Any]) -> None:
    replacements, reduced = S.cse(formulas)
    found = sg.from_sympy((replacements, reduced))
    assert len(found) == len(formulas)
    for e, formula in zip(found, formulas, strict=True):
        wanted = np.array(
            formula.subs({X: 0.3, Y: 2.0}).tolist() if formula.is_Matrix else formula.subs({X: 0.3, Y: 2.0})
        )
        np.testing.assert_allclose(_value(e, x=0.3, y=2.0), wanted.astype(float))
        assert {str(i.name) for i in e.inputs} <= {"x", "y"}
    for name, _ in replacements:
        assert all(str(name) in listing for e in found for listing in e.listings)


def test_names_of_replacements_are_intermediate_values() -> None:
    (e,) = sg.from_sympy(S.cse(S.exp(X**2) + X**2))
    assert float(sg.grad(e, "x0")(x=0.7)) == pytest.approx(1 + np.exp(0.49), rel=1e-14)
    slope = float((S.exp(X**2) + X**2).diff(X).subs(X, 0.7))
    assert float(sg.grad(e, "x")(x=0.7)) == pytest.approx(slope, rel=1e-14)


def test_mechanics() -> None:
    theta = THETA(T)
    lagrangian = sg.from_sympy(theta.diff(T) ** 2 / 2 + S.cos(theta))
    assert {str(i.name) for i in lagrangian.inputs} == {"theta", "dtheta_dt"}
    assert str(sg.grad(lagrangian, "dtheta_dt")) == "dtheta_dt"
    assert str(sg.grad(lagrangian, "theta")) == "-sin(theta)"
    u = S.Function("u")(X, T)
    wave = sg.from_sympy(u.diff(T, 2) - u.diff(X, 2) + u.diff(X, T))
    assert {str(i.name) for i in wave.inputs} == {"d2u_dt2", "d2u_dx2", "d2u_dtdx"}
    assert str(sg.from_sympy(theta, {"theta": "positive"}).inputs[0].node.declaration) == "theta : positive"


REFUSED: list[tuple[Callable[[], Any], type[SymgradError], str]] = [
    (lambda: THETA(T) ** 2 + T, UnsupportedError, "t stands beside it as a variable"),
    (lambda: [THETA(T), T], UnsupportedError, "t stands beside it as a variable"),
    (lambda: THETA(T) + S.Symbol("theta"), RedefinitionError, "both be inputs named theta"),
    (lambda: S.Symbol("theta") + THETA(T), RedefinitionError, "both be inputs named theta"),
    (lambda: THETA(T) + THETA(X), RedefinitionError, "both be inputs named theta"),
    (lambda: THETA(T).diff(T) + S.Symbol("dtheta_dt"), RedefinitionError, "dtheta_dt"),
    (lambda: THETA(0), UnsupportedError, "without a definition"),
    (lambda: THETA(T + 1), UnsupportedError, "without a definition"),
    (lambda: S.Function("f", real=False)(T), DeclarationError, "not real"),
    (lambda: S.Derivative(S.sin(X), X), UnsupportedError, "doit"),
    (lambda: S.MatrixSymbol("A", 2, 2), UnsupportedError, "symbols"),
    (lambda: S.zeros(0, 2), UsageError, "no arrays"),
    (lambda: S.Matrix([[S.I, 1]]), UnsupportedError, "ImaginaryUnit"),
]


@pytest.mark.parametrize(("make", "error", "message"), REFUSED)
def test_what_is_refused(make: Callable[[], Any], error: type[SymgradError], message: str) -> None:
    with pytest.raises(error, match=message):
        sg.from_sympy(make())
