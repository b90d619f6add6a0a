"""Sums over an index, against loops of Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DomainError, ShapeError, SymgradError, UnknownNameError, UnsupportedError
from symgrad.ir.traverse import topological

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


RANGED: list[tuple[str, tuple[range, ...], Loop]] = [
    ("x[t]*y[t-1], t=1..3", (range(1, 4),), lambda v, t: v["x"][t] * v["y"][t - 1]),
    ("x[t+1] - x[t], t=0..2", (range(3),), lambda v, t: v["x"][t + 1] - v["x"][t]),
    ("x[2*t]*t, t=0..1", (range(2),), lambda v, t: v["x"][2 * t] * t),
    ("x[3-t]*y[t], t=0..3", (N,), lambda v, t: v["x"][3 - t] * v["y"][t]),
    ("x[3-2*t], t=0..1", (range(2),), lambda v, t: v["x"][3 - 2 * t]),
    ("B[t, t-1], t=1..3", (range(1, 4),), lambda v, t: v["B"][t, t - 1]),
    ("B[3-t, t], t=1..2", (range(1, 3),), lambda v, t: v["B"][3 - t, t]),
    ("B[t-1, 2]*B[1, t], t=1..3", (range(1, 4),), lambda v, t: v["B"][t - 1, 2] * v["B"][1, t]),
    (
        "A[i, t]*z[i]*x[t-1], i, t=1..3",
        (M, range(1, 4)),
        lambda v, i, t: v["A"][i, t] * v["z"][i] * v["x"][t - 1],
    ),
    ("x[s]*y[t-1], s=0..1, t=2..3", (range(2), range(2, 4)), lambda v, s, t: v["x"][s] * v["y"][t - 1]),
    ("outer(B[t], B[t-1]), t=1..3", (range(1, 4),), lambda v, t: np.outer(v["B"][t], v["B"][t - 1])),
    ("B[t]@(B@B[:, t-1]), t=1..2", (range(1, 3),), lambda v, t: v["B"][t] @ (v["B"] @ v["B"][:, t - 1])),
    ("x[t]*sum(y[t-1], t=1..2), t=0..3", (N,), lambda v, t: v["x"][t] * v["y"][:2].sum()),
    ("x[t*t], t=0..1", (range(2),), lambda v, t: v["x"][t * t]),
    ("x[ids[t-1]], t=1..2", (range(1, 3),), lambda v, t: v["x"][v["ids"][t - 1]]),
    ("k**t/t, t=1..5", (range(1, 6),), lambda v, t: v["k"] ** t / t),
    ("k, t=1..5", (range(1, 6),), lambda v, t: v["k"]),
]


@pytest.mark.parametrize(("text", "ranges", "summand"), RANGED)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
def test_ranges_are_slices(name: str, text: str, ranges: tuple[range, ...], summand: Loop) -> None:
    head = HEAD.replace("n]", "4]").replace("m]", "2]").replace("m, ", "2, ").replace("n, ", "4, ")
    e = sg.parse(f"{head}r = {name}({text})")["r"]
    wanted = getattr(np, name)(np.array([summand(VALUES, *at) for at in itertools.product(*ranges)]), axis=0)
    given = {str(x.name): VALUES[str(x.name)] for x in e.inputs}
    np.testing.assert_allclose(e(**given), wanted, rtol=1e-12)
    np.testing.assert_allclose(e.canonical()(**given), wanted, rtol=1e-12)
    looked_up = any(n.op.name == "gather" and n.args[1].shape for n in topological([e.node]))
    assert looked_up == (text.startswith(("x[t*t]", "x[ids")))


def test_ranges_of_named_lengths() -> None:
    p = sg.parse("""
    a : real[T, n]; h : real[T, n]; x : real[T]; g : real
    A = sum(outer(a[t], h[t-1]), t=1..T-1)
    b = sum(x[T-t]*x[t-1], t=1..T)
    c = sum(g**t*x[t], t=0..T-1)
    d = sum(x[t-1], t=1..T)
    """)
    shown = [str(p[name].canonical()) for name in "Abd"]
    assert shown == ["a[1:].T@h[:T - 1]", "x@x[::-1]", "sum(x)"]
    x = np.array([1.0, 2.0, 5.0])
    assert float(p["c"](x=x, g=3.0)) == 1 + 6 + 45
    assert float(p["d"](x=np.array([]))) == 0
    np.testing.assert_allclose(sg.grad(p["c"], "x")(x=x, g=3.0), [1, 3, 9])


def test_a_range_binds_its_index() -> None:
    """The index is neither a variable of the same name, nor the position of a step around the sum."""
    p = sg.parse("""
    t : real; x : real[4]
    y = t*sum(x[t]*t, t=1..3)
    f(t) = t + sum(x[t], t=0..1)
    z = f(10)
    h[0] = 0
    h[t] = h[t-1] + t*sum(x[t], t=0..1) for t in 1..3
    """)
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert float(p["y"](t=0.5, x=x)) == 0.5 * (2 + 6 + 12)
    assert float(p["z"](x=x)) == 13
    assert p["h"](x=x).tolist() == [0, 3, 9, 18]


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
        ("sum(x[i], i=0..2, axis=0)", UnknownNameError, "unknown name 'i'"),
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


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_sums_over_ranges_that_end_before_they_begin_are_zero(count: int) -> None:
    y = sg.parse("x : real[T]\ny = sum(x[t-1]**2*t, t=1..T-3)")["y"]
    x = np.linspace(1, 2, count)
    expected = sum(x[t - 1] ** 2 * t for t in range(1, count - 2))
    assert y(x=x) == pytest.approx(expected)
    assert sg.compile(y)(x=x) == pytest.approx(expected)
