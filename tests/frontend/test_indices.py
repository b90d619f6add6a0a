"""Sums over an index, against loops of Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DomainError, ShapeError, SymgradError, UnknownNameError, UnsupportedError

HEAD = (
    "x, y : real[n]\nz : real[m]\nA : real[m, n]\nB : real[n, n]\nT : real[m, n, 3]\nids : int[m]\nk : int\n"
)
RNG = np.random.default_rng(3)
VALUES: dict[str, Any] = {
    "x": RNG.normal(size=4),
    "y": RNG.normal(size=4),
    "z": RNG.normal(size=2),
    "A": RNG.normal(size=(2, 4)),
    "B": RNG.normal(size=(4, 4)),
    "T": RNG.normal(size=(2, 4, 3)),
    "ids": np.array([3, 1]),
    "k": 1,
}
N, M = range(4), range(2)
Loop = Callable[..., Any]
CASES: list[tuple[str, tuple[range, ...], Loop]] = [
    ("x[i]*y[i], i", (N,), lambda v, i: v["x"][i] * v["y"][i]),
    ("z[i]*A[i, j]*x[j], i, j", (M, N), lambda v, i, j: v["z"][i] * v["A"][i, j] * v["x"][j]),
    ("z[i]*A[i, j]*x[j], j, i", (N, M), lambda v, j, i: v["z"][i] * v["A"][i, j] * v["x"][j]),
    ("B[i, i], i", (N,), lambda v, i: v["B"][i, i]),
    ("B[i, j]*B[j, i], i, j", (N, N), lambda v, i, j: v["B"][i, j] * v["B"][j, i]),
    ("exp(x[i])*i, i", (N,), lambda v, i: np.exp(v["x"][i]) * i),
    ("where(i == j, 2, 1)*B[i, j], i, j", (N, N), lambda v, i, j: (2 if i == j else 1) * v["B"][i, j]),
    ("A[i]*z[i], i", (M,), lambda v, i: v["A"][i] * v["z"][i]),
    ("(A[i]@x - z[i])**2, i", (M,), lambda v, i: (v["A"][i] @ v["x"] - v["z"][i]) ** 2),
    ("A[:, j]*x[j], j", (N,), lambda v, j: v["A"][:, j] * v["x"][j]),
    ("x[ids[i]]*z[i], i", (M,), lambda v, i: v["x"][v["ids"][i]] * v["z"][i]),
    ("A[i, ids[i]], i", (M,), lambda v, i: v["A"][i, v["ids"][i]]),
    ("A[k, j]*x[j], j", (N,), lambda v, j: v["A"][v["k"], j] * v["x"][j]),
    ("T[i, j, 2]*A[i, j], i, j", (M, N), lambda v, i, j: v["T"][i, j, 2] * v["A"][i, j]),
    ("T[i, j]*A[i, j], i, j", (M, N), lambda v, i, j: v["T"][i, j] * v["A"][i, j]),
    ("T[ids[0] - 2, j, k]*x[j], j", (N,), lambda v, j: v["T"][1, j, 1] * v["x"][j]),
    ("(x + y)[i]*(2*x)[i], i", (N,), lambda v, i: (v["x"] + v["y"])[i] * 2 * v["x"][i]),
    ("x[i]*sum(y[i], i), i", (N,), lambda v, i: v["x"][i] * v["y"].sum()),
    ("(sum(A[i, j]*x[j], j) - z[i])**2, i", (M,), lambda v, i: (v["A"][i] @ v["x"] - v["z"][i]) ** 2),
    ("max(A[i, j], j)*z[i], i", (M,), lambda v, i: v["A"][i].max() * v["z"][i]),
]


@pytest.mark.parametrize(("text", "ranges", "summand"), CASES)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
def test_reductions(name: str, text: str, ranges: tuple[range, ...], summand: Loop) -> None:
    p = sg.parse(f"{HEAD}r = {name}({text})")
    parts = np.array([summand(VALUES, *at) for at in itertools.product(*ranges)])
    wanted = getattr(np, name)(parts, axis=0)
    given = {str(e.name): VALUES[str(e.name)] for e in p["r"].inputs}
    for form in (p["r"], p["r"].canonical()):
        np.testing.assert_allclose(form(**given), wanted, rtol=1e-12)
    assert sg.parse(f"{HEAD}r = {p['r']}")["r"].same(p["r"])


def test_they_are_products_and_sums_of_arrays() -> None:
    p = sg.parse(f"{HEAD}a = sum(z[i]*A[i, j]*x[j], i, j); b = sum(B[i, i], i); c = sum(x[i]*y[i], i)")
    assert [str(p[n].canonical()) for n in "abc"] == ["z@A@x", "trace(B)", "x@y"]
    assert str(sg.grad(p["a"], "x")) == "A.T@z"


def test_in_functions_and_lines_of_several() -> None:
    p = sg.parse(f"{HEAD}dot2(u, v) = sum(u[i]*v[i],\n  i)\nr = dot2(x, y) - dot2(z, z)")
    assert str(p["r"].canonical()) == "x@y - sum(z**2)"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("sum(x[i]*z[i], i)", ShapeError, "'i' runs along axes of lengths n and m"),
        ("sum(x[i + 1], i)", UnsupportedError, "'i' is part of a formula in a subscript"),
        ("sum(A[i, j], j)", UnknownNameError, "unknown name 'i'"),
        ("sum(3, i)", UnknownNameError, "unknown name 'i'"),
        ("sum(i, i)", DomainError, "nothing says how far the index 'i' runs"),
        ("sum(x[i], i, j)", UnknownNameError, "unknown name 'j'"),
        ("sum(x[i]*y[i], i) + i", UnknownNameError, "unknown name 'i'"),
        ("sum(x[i], i, axis=0)", UnknownNameError, "unknown name 'i'"),
        ("max(x, q)", UnknownNameError, "unknown name 'q'"),
        ("sum(x[k], k)", DomainError, "axis of sum is not a literal"),
        ("sum(x[i], (i))", UnknownNameError, "unknown name 'i'"),
    ],
)
def test_what_is_no_sum_over_an_index(text: str, error: type[SymgradError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        sg.parse(f"{HEAD}r = {text}")
    assert caught.value.at is not None
    assert caught.value.at.source.line_column(caught.value.at.span.start)[0] == 8
