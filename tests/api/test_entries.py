"""Derivatives by entries and slices of inputs, and cotangents and tangents that are arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import NotInProgramError, ShapeError, SymgradError, UsageError
from symgrad.ir.values.evaluate import evaluate

P = sg.parse("""
x : real[5]
A : real[4, 3]
B : real[n, 3]
f = sum(x**2)*x[3] + prod(x[1:4])
g = sum(sin(A)@A.T) + A[0, 1]*A[2, 1]
h = sum(B**2)
a = x[2]
k = a**2 + sum(x)
""")
X, A, B = P["x"], P["A"], P["B"]
VALUES: dict[str, Any] = {
    "x": np.array([0.5, -1.0, 2.0, 0.25, 3.0]),
    "A": np.linspace(-1, 2, 12).reshape(4, 3),
    "B": np.arange(6.0).reshape(2, 3),
}
PLACES: dict[str, Any] = {
    "f": [
        lambda x: x[3],
        lambda x: x[-1],
        lambda x: x[1:4],
        lambda x: x[::-2],
        lambda x: x[[0, 3]],
        lambda x: x[None, 1:],
    ],
    "g": [
        lambda x: x[0, 1],
        lambda x: x[2],
        lambda x: x[:, 1],
        lambda x: x.T[1:],
        lambda x: x[1:3, ::2],
        lambda x: x[[3, 0], [1, 1]],
    ],
    "h": [lambda x: x[0, 1], lambda x: x[0], lambda x: x[:, 2]],
}
CASES = [(y, place) for y, places in PLACES.items() for place in places]


def _of(name: str) -> tuple[sg.Expr, Any]:
    return {"f": (X, VALUES["x"]), "g": (A, VALUES["A"]), "h": (B, VALUES["B"])}[name]


@pytest.mark.parametrize(("name", "place"), CASES)
def test_entries_of_the_gradient(name: str, place: Any) -> None:
    whole, value = _of(name)
    found = sg.grad(P[name], place(whole))
    wanted = place(sg.grad(P[name], whole)(value))
    for form in (found, found.canonical(), found.stable()):
        np.testing.assert_allclose(form(value), wanted, rtol=1e-12)
    np.testing.assert_allclose(sg.compile(found)(value), wanted, rtol=1e-12)
    assert found.derived


@pytest.mark.parametrize(("name", "place"), CASES)
def test_entries_of_second_derivatives(name: str, place: Any) -> None:
    whole, value = _of(name)
    entry = place(whole)
    v = sg.tensor("v", entry.shape) if entry.shape else sg.symbols("v")
    rng = np.random.default_rng(7)
    direction = rng.normal(size=place(value).shape)
    at: dict[str, Any] = {str(whole.name): value}
    spread = sg.vjp(place(whole), whole, v)(v=direction, **at) if entry.shape else None
    hessian = sg.hessian(P[name], whole)(**at)
    rows = np.array([place(row) for row in hessian.reshape(-1, *value.shape)]).reshape(
        *value.shape, *place(value).shape
    )
    np.testing.assert_allclose(sg.jacobian(sg.grad(P[name], whole), entry)(**at), rows, atol=1e-10)
    if spread is not None:
        wanted = place(np.tensordot(hessian, spread, value.ndim))
        np.testing.assert_allclose(sg.hvp(P[name], entry, v)(**at, v=direction), wanted, atol=1e-10)
        slope = np.sum(sg.grad(P[name], whole)(**at) * spread)
        np.testing.assert_allclose(sg.jvp(P[name], entry, v)(**at, v=direction), slope, rtol=1e-12)


def test_they_are_printed_as_entries() -> None:
    w = sg.tensor("w", (5,))
    assert str(sg.grad(sg.sum(w**2) * w[3], w[3])) == "sum(w**2) + 2*w[3]**2"
    assert str(sg.grad(sg.sum(sg.sin(w)), w[1:3])) == "cos(w[1:3])"
    assert [str(g) for g in sg.grad(sg.sum(w**3), [w[0], w])] == ["3*w[0]**2", "3*w**2"]
    assert str(sg.grad(sg.sum(sg.exp(w[:2])), w[4])) == "0"
    assert [[str(e) for e in row] for row in sg.hessian(w[0] * w[1] ** 2, [w[0], w[1]])] == [
        ["0", "2*w[1]"],
        ["2*w[1]", "2*w[0]"],
    ]


def test_texts_and_keywords() -> None:
    by_place = sg.grad(P["f"], X[3])
    assert sg.grad(P["f"], "x[3]").same(by_place)
    assert sg.grad(y=P["f"], wrt=X[3]).same(by_place)
    assert sg.value_and_grad(P["f"], "x[3]")[1].same(by_place)
    with pytest.raises(NotInProgramError, match=r"'q.1.' is not in the program"):
        sg.grad(P["f"], "q[1]")
    for wrong, said in {"x[": "never closed", "x[7]": "an index from -", "x[q]": "unknown name 'q'"}.items():
        with pytest.raises(SymgradError, match=said):
            sg.grad(P["f"], wrong)


def test_a_subscript_with_a_name_is_that_intermediate_value() -> None:
    for target in ("a", P["a"], X[2]):
        assert str(sg.grad(P["k"], target)) == "2*a"
    assert [str(g) for g in sg.grad(P["k"], ["a", X[3]])] == ["2*a", "1"]


def test_what_is_not_read_is_disconnected() -> None:
    assert sg.grad(P["g"], X[3]).nothing == "disconnected"


def test_arrays_as_cotangents_and_tangents() -> None:
    x, W = sg.tensor("x", (3,)), sg.tensor("W", (2, 3))
    at = np.array([1.0, -2.0, 0.5])
    seed = np.array([1.0, 0.25, -3.0])
    np.testing.assert_allclose(sg.vjp(x**2, x, seed)(at), 2 * at * seed)
    np.testing.assert_allclose(sg.vjp(x**2, x, cotangent=seed.astype(np.float32))(at), 2 * at * seed)
    np.testing.assert_allclose(sg.jvp(sg.sin(x), x, seed)(at), np.cos(at) * seed)
    np.testing.assert_allclose(sg.hvp(sg.sum(x**3), x, seed)(at), 6 * at * seed)
    np.testing.assert_allclose(
        sg.gradients([x, 2 * x], x, [seed, np.arange(3)])[0](x=at), seed + 2 * np.arange(3)
    )
    moved = sg.jvp(W @ x, [W, x], [np.eye(2, 3), seed])
    w = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(moved(W=w, x=at), np.eye(2, 3) @ at + w @ seed)
    assert str(sg.vjp(x**2, x, np.ones(3))) == "2*x"
    assert str(sg.vjp(x[0] ** 2, x[0], np.array(2.5))) == "5*x[0]"


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (np.arange(4.0), ShapeError, r"a cotangent of shape \(4,\)"),
        (np.array([1.0, np.nan, 2.0]), UsageError, "nan is not a number"),
        (np.array([1j, 2, 3]), UsageError, "complex128"),
        (np.arange(5000.0), UsageError, "5,000 entries"),
        (np.zeros(0), UsageError, "0 entries"),
        (np.array(["a", "b", "c"]), UsageError, "str"),
    ],
)
def test_what_is_no_seed(seed: Any, error: type[Exception], message: str) -> None:
    x = sg.tensor("x", (3,))
    with pytest.raises(error, match=message):
        sg.vjp(x**2, x, seed)


def test_all_partial_derivatives_by_entries() -> None:
    w = sg.tensor("w", (3,))
    ds = sg.derivatives(sg.sum(w**3) + w[0] * w[1], [w[0], w[1]], order=2)
    assert {tuple(str(e) for e in key): str(value.canonical()) for key, value in ds.items() if key} == {
        ("w[0]",): "3*w[0]**2 + w[1]",
        ("w[1]",): "3*w[1]**2 + w[0]",
        ("w[0]", "w[0]"): "6*w[0]",
        ("w[0]", "w[1]"): "1",
        ("w[1]", "w[1]"): "6*w[1]",
    }
    assert str(ds[w[1], w[0]]) == "1"


NAMED = """
x : real[n]
B : real[n, m]
a = x[2]
s = softmax(x)[0]
nrm = norm(x)
k = a**2 + sum(x)
f = sum(x**2)*x[3]
g = sum(sin(x)) + x[0]*x[1]
h = sum(B**2) + B[0, 1]
q = x[1:-1]@x[2:]
r = sum((x[1:] - x[:-1])**2)
w = nrm*a
e = x[-2]*sum(x[1:])
"""


@pytest.mark.parametrize(
    ("name", "entry", "expected"),
    [
        ("k", "x[0]", "1"),
        ("f", "x[3]", "2*x[3]**2 + sum(x**2)"),
        ("f", "x[0]", "2*x[0]*x[3]"),
        ("f", "x[-1]", "2*x[3]*x[-1] + where(n == 4, sum(x**2), 0)"),
        ("g", "x[0]", "x[1] + cos(x[0])"),
        ("g", "x[5]", "cos(x[5])"),
        ("h", "B[0, 1]", "2*B[0, 1] + 1"),
        ("s", "x[0]", "s*(1 - s)"),
        ("w", "x[0]", None),
        ("w", "x[2]", "nrm"),
        ("q", "x[1]", None),
        ("q", "x[3]", None),
        ("r", "x[0]", None),
        ("r", "x[4]", None),
        ("r", "x[-1]", None),
        ("e", "x[-2]", None),
        ("e", "x[0]", None),
        ("e", "x[-1]", None),
    ],
)
def test_entries_of_arrays_with_named_sizes(name: str, entry: str, expected: str | None) -> None:
    program = sg.parse(NAMED)
    found = sg.grad(program[name], entry)
    if expected is not None:
        assert str(found) == expected
    if entry == "x[2]":
        return  # the program names it: the derivative is that by the name
    whole = program[entry.partition("[")[0]]
    read_back = sg.parse(str(found), symbols={n: program[n] for n in (*program, "x", "B")}).last
    rng = np.random.default_rng(3)
    seen = 0
    for n in range(1, 10):
        value = rng.normal(size=(n, 3) if entry[0] == "B" else n)
        try:
            wanted = eval(entry, {}, {entry[0]: sg.grad(program[name], whole)(value)})
        except (SymgradError, IndexError):
            continue
        seen += 1
        for form in (found, read_back):
            got = evaluate([form.node], {program[entry[0]].node: value}, {"n": n, "m": 3})[0]
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-15, err_msg=f"{n}: {found}")
    assert seen > 3


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=3),
    st.sampled_from(["x", "y"]),
    st.integers(-3, 3),
)
def test_entries_of_random_slices(parts: list[tuple[int, int, int]], array: str, at: int) -> None:
    """Whatever sizes are: slices of slices, and their entries."""
    terms = [f"sum({array}[{a}:][:{b}]**2)*sum({array}[{c}:])" for a, b, c in parts]
    program = sg.parse(f"x : real[n]; y : real[4]\nf = {' + '.join(terms)} + 0*sum({array})")
    found = sg.grad(program["f"], f"{array}[{at}]")
    whole = sg.grad(program["f"], array)
    for n in range(1, 12) if array == "x" else (4,):
        if -n <= at < n:
            value = np.linspace(0.5, 2.5, n)
            got, all_ = evaluate([found.node, whole.node], {program[array].node: value}, {"n": n})
            np.testing.assert_allclose(got, all_[at], rtol=1e-12, err_msg=f"{n}: {found}")
