"""Gradients of usual losses as one writes them, and the laws that lead there at the values where they are delicate."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.traverse import symbols_of


def canonical(declared: str, y: str, by: str = "x") -> str:
    p = sg.parse(f"{declared}; y = {y}")
    return str(sg.grad(p["y"], p[by]).canonical())


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ("norm(x)**2/2", "x"),
        ("norm(x - t)**2/2", "x - t"),
        ("norm(x)**3", "3*x*norm(x)"),
        ("norm(2*x - t)**2", "4*(2*x - t)"),
        ("sum(norm(X, axis=1)**2)", "2*X"),
        ("norm(X)**4", "4*norm(X)**2*X"),
    ],
)
def test_norms(y: str, expected: str) -> None:
    by = "X" if "X" in y else "x"
    found = canonical("x : real[n]; t : real[n]; X : real[n, m]", y, by)
    p = sg.parse(f"x : real[n]; t : real[n]; X : real[n, m]; e = {expected}")
    assert found == str(p["e"].canonical())


def test_what_may_be_infinite_stays_guarded() -> None:
    """0*exp(t) is no 0 where exp(t) overflows, nor t[0]*0 where t[0] is NaN."""
    p = sg.parse("x : real[n]; t : real[n]; y = where(norm(x) != 0, x*exp(t), 0)")
    assert str(p["y"].canonical()) == "where(norm(x) != 0, x*exp(t), 0)"
    assert list(p["y"].canonical()(x=[0.0, 0.0], t=[1000.0, np.nan])) == [0, 0]
    # The norm of other axes, and of another array, guard nothing.
    p = sg.parse(
        "X : real[n, n]; y = where(norm(X, axis=0) != 0, X, 0); z = where(norm(X, axis=1) != 0, X, 0)"
    )
    assert str(p["y"].canonical()) == "X"
    assert str(p["z"].canonical()) == "where(norm(X, axis=1) != 0, X, 0)"


_ARRAYS = "x : real[n]; t : real[n]; X : real[n, n]; Y : real[n, n]; "
GUARDED = [
    *(
        "norm(t) | x",
        "norm(x + t) | x",
        "norm(x) | x + t",
        "norm(x - t) | x + t",
        "norm(x*t) | x",
        "norm(x) | exp(x)",
    ),
    *(
        "norm(x) | X",
        "norm(X, axis=1) | X",
        "norm(X, axis=0) | Y",
        "norm(X.T, axis=0) | X",
        "norm(X - Y) | X",
    ),
    *("norm(X[0]) | X", "norm(x[1:]) | x", "sum(x) | x", "max(x) | x", "sum(x*t) | x"),
    *("norm(x) | x | 1", "norm(x) | x | t", "x[0] | x[0] | t[0]", "t | t | x", "norm(X) | X | Y"),
]
FREE = [
    *(
        "norm(x) | x",
        "norm(x) | 5*x**3",
        "norm(x + t) | x + t",
        "norm(x - t) | t - x",
        "norm(2*x - t) | 2*x - t",
    ),
    *("norm(X) | X", "norm(X, axis=0) | X", "norm(X, axis=1, keepdims=True) | X"),
    "norm(X - Y, axis=1, keepdims=True) | Y - X",
]


@pytest.mark.parametrize("choice", GUARDED + FREE)
def test_a_norm_guards_what_is_zero_with_it(choice: str) -> None:
    """A guard is dropped if all entries that it chooses, or zero, are among those of the norm; the values tell."""
    guard, value, *other = choice.split(" | ")
    p = sg.parse(f"{_ARRAYS}g = {guard}; y = where(g != 0, {value}, {(other or ['0'])[0]})")
    g, y = p["g"], p["y"]
    after = y.canonical()
    assert ("where" in str(after)) == (choice in GUARDED), str(after)
    rng = np.random.default_rng(0)
    names = [s.name for s in symbols_of([y.node])]
    seen: set[bool] = set()
    for kind in range(24):
        at = {name: rng.normal(size=(3, 3) if name.isupper() else 3) for name in names}
        for name in names:
            if kind % 2:
                at[name][rng.integers(0, 3)] = 0
            if kind % 4 == 3 and rng.integers(0, 2):
                at[name][...] = 0
        if kind % 3 == 2:
            for name in names:
                at[name] = rng.choice([-1, 1]) * at[next(k for k in names if k.isupper() == name.isupper())]
        if kind % 6 == 5:
            at[names[0]][1] = np.nan
        seen.add(bool(np.any(g(**{s.name: at[s.name] for s in symbols_of([g.node])}) == 0)))
        np.testing.assert_array_equal(after(**at), y(**at))
    assert seen == {False, True}


def test_guards_that_are_zero_with_what_they_guard() -> None:
    p = sg.parse("x : real; t : real; y = where(x != 0 and t > 0, 2*x, 0); z = where(x != 0, t/x**2, 0)*x**3")
    assert str(p["y"].canonical()) == "where(t > 0, 2*x, 0)"
    assert str(p["z"].canonical()) == "x*where(x != 0, t, 0)"
    for x in (0.0, 2.0, np.inf, np.nan):
        for t in (-1.0, 3.0, np.nan):
            raw, after = p["y"](x, t), p["y"].canonical()(x=x, t=t)
            assert np.array_equal(raw, after, equal_nan=True)


def test_the_norm_of_what_is_not_always_defined_widens() -> None:
    p = sg.parse("x : real[n]; y = where(norm(log(x)) != 0, log(x), 0)")
    assert str(p["y"].canonical()) == "log(x)"
    assert p["y"].domain_notes == ("also defined where x <= 0",)


def test_cross_entropy() -> None:
    declared = "X : real[n, d]; W : real[d, c]; y : int[n]"
    p = sg.parse(f"{declared}; L = -mean(log_softmax(X@W, axis=1)[arange(n), y])")
    g = sg.grad(p["L"], p["W"])
    assert str(g.canonical()) == (
        "X.T@(softmax(X@W, axis=1) - scatter_add(ones(n), arange(n), y, axes=(0, 1), shape=(n, c)))/n"
    )
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(4, 2)), rng.normal(size=(2, 3))
    e = np.exp(X @ W)
    slope = e / e.sum(axis=1, keepdims=True) - np.eye(3)[[0, 2, -1, -3]]
    for f in (g, g.canonical(), sg.compile(g)):
        found = f(X=X, W=W, y=[0, 2, -1, -3])
        assert np.allclose(found, X.T @ slope / 4)


def test_scattered_rows_sum_to_their_values() -> None:
    p = sg.parse(
        "v : real[n]; y : int[n]; a = sum(scatter_add(v, arange(n), y, axes=(0, 1), shape=(n, 3)), axis=1);"
        "b = sum(scatter_add(v, arange(n), y, axes=(0, 1), shape=(n, 3)), axis=0);"
        "t = sum(scatter_add(v, arange(n), y, axes=(0, 1), shape=(n, 3)))"
    )
    assert str(p["a"].canonical()) == "v"
    assert str(p["t"].canonical()) == "sum(v)"
    for n in (0, 1, 4):
        v, y = np.arange(1.0, n + 1), np.array([2, -1, 0, 2])[:n]
        for name in "abt":
            assert np.array_equal(p[name](v=v, y=y), p[name].canonical()(v=v, y=y))


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ("(A + A.T).T", "A + A.T"),
        ("(A.T + B).T", "A + B.T"),
        ("(A + B).T", "(A + B).T"),
        ("(A + x).T", "(A + x).T"),
        ("(A.T + x[:, None]).T", "A + x"),
        ("(eye(n) - x[:, None]).T", "eye(n) - x"),
        ("(2*A.T - 3*x[:, None]*B + 1).T", None),
    ],
)
def test_transposes_of_sums(y: str, expected: str | None) -> None:
    p = sg.parse(f"A : real[n, n]; B : real[n, n]; x : real[n]; y = {y}")
    found = p["y"].canonical()
    if expected is not None:
        assert str(found) == expected
    rng = np.random.default_rng(1)
    for n in (0, 1, 3):
        at = {"A": rng.normal(size=(n, n)), "B": rng.normal(size=(n, n)), "x": rng.normal(size=n)}
        at = {str(s): at[str(s)] for s in p["y"].inputs}
        assert np.array_equal(found(**at), p["y"](**at))


def test_the_hessian_of_a_quadratic_form_and_the_jacobian_of_softmax() -> None:
    p = sg.parse("x : real[n]; A : real[n, n]; y = x@A@x; s = softmax(x)")
    assert str(sg.hessian(p["y"], p["x"]).canonical()) == "A + A.T"
    assert str(sg.jacobian(p["s"], p["x"]).canonical()) == "softmax(x)[:, None]*(eye(n) - softmax(x))"


def test_a_matrix_of_choices_has_a_normal_form() -> None:
    p = sg.parse("x : real[n]; y : real[n]; L = sum(where(x > y, x**2*y, sin(x)))")
    found = sg.hessian(p["L"], p["x"])
    x, y = np.array([1.0, 2.0, -1.0]), np.array([0.5, 3.0, -2.0])
    assert np.array_equal(found.canonical()(x=x, y=y), np.diag(np.where(x > y, 2 * y, -np.sin(x))))
