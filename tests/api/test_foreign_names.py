"""What people write who come from NumPy, torch, TensorFlow and SymPy: it works, or the error says what to write."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.api import foreign_names as habits
from symgrad.errors import SymgradError, UnknownAttributeError, UsageError

x, y = sg.symbols("x y")
X: Any = sg.tensor("X", (2, 3))
S: Any = sg.tensor("S", (3, 3))
Z: Any = x**2 * y
P = sg.parse("x : real\nw : real[5]\nf = sum(w**2)*x + sin(x)\nspeed = x**2")

METHODS: list[Callable[[Any], Any]] = [
    lambda a: a.mT,
    lambda a: a.swapaxes(0, 1),
    lambda a: a[:, None].squeeze(1),
    lambda a: a.ravel(),
    lambda a: a.flatten(),
    lambda a: a.take(np.array([2, 0]) if isinstance(a, np.ndarray) else [2, 0], axis=1),
    lambda a: a.clip(0.2, 0.7),
    lambda a: a.clip(max=0.5),
    lambda a: a.clip(0.5),
    lambda a: a.round(),
    lambda a: a.cumsum(axis=1),
    lambda a: a.cumsum(),
    lambda a: a.argmax(axis=1),
    lambda a: a.argmin(),
]


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_arrays_are_those_of_numpy(method: Callable[[Any], Any]) -> None:
    values = np.random.default_rng(4).normal(size=(2, 3))
    expected = values.T if "mT" in method.__code__.co_names else method(values)  # NumPy 2 has mT
    np.testing.assert_array_equal(method(X)(X=values), expected)


def test_trace() -> None:
    values = np.arange(9.0).reshape(3, 3)
    assert S.trace()(S=values) == values.trace()
    assert x.clip().same(x)


# Expression, attribute, and a cure that works as it stands.
CURES = [
    (x, "detach", "sg.stop_gradient(x)"),
    (Z, "detach", "sg.stop_gradient(y)"),
    (Z, "backward", "sg.grad(y, 'x')"),
    (X**2, "backward", "sg.grad(sg.sum(y), 'X')"),
    (Z, "diff", "sg.grad(y, 'x')"),
    (x, "exp", "sg.exp(x)"),
    (X, "relu", "sg.nn.relu(X)"),
    (X, "view", "X.reshape(shape)"),
    (X, "unsqueeze", "sg.arrays.expand_dims(X, axis)"),
    (X, "pow", "X**other"),
    (S, "I", "sg.linalg.inv(S)"),
    (Z, "lambdify", "sg.compile(y)"),
    (Z, "free_symbols", "y.inputs"),
    (Z, "factor", "y.simplify()"),
    (X, "matmul", "X @ other"),
]


@pytest.mark.parametrize(("expr", "name", "cure"), CURES)
def test_attributes_of_other_libraries(expr: Any, name: str, cure: str) -> None:
    assert not hasattr(expr, name)
    with pytest.raises(UnknownAttributeError) as caught:
        getattr(expr, name)
    assert isinstance(caught.value, AttributeError)
    assert caught.value.cure == cure
    y = expr if expr.name is None else None
    names = {"sg": sg, "x": x, "X": X, "S": S, "y": y, "shape": (6,), "axis": 0, "other": 2}
    if name != "matmul":
        eval(cure, {k: v for k, v in names.items() if v is not None})


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("item", "y(x=..., y=...)"),
        ("clone", "never changes"),
        ("astype", "sg.compile(y, dtype='float32')"),
        ("requires_grad_", "sg.grad(y, 'x')"),
        ("simplfy", "did you mean 'simplify'?"),
    ],
)
def test_attributes_that_have_no_equal(name: str, part: str) -> None:
    with pytest.raises(UnknownAttributeError, match=re.escape(part)):
        getattr(Z, name)


def test_every_cure_names_what_there_is() -> None:
    told = [*habits._ATTRIBUTES.values(), *habits._FUNCTIONS.values()]
    for cure in told:
        for name in re.findall(r"sg\.(\w+)", cure):
            assert hasattr(sg, name), cure
        for name in re.findall(r"\{y\}\.(\w+)", cure):
            assert hasattr(Z, name), cure
    for name in habits._FUNCTIONS:
        assert not hasattr(sg, name), name
    for name in habits._ATTRIBUTES:
        assert not hasattr(Z, name), name


def test_names_that_the_package_does_not_have() -> None:
    for name, cure in {
        "diff": "sg.grad(y, x)",
        "Symbol": "sg.symbols('x y')",
        "grads": "did you mean 'grad'?",
    }.items():
        with pytest.raises(AttributeError, match=re.escape(cure)):
            getattr(sg, name)


def test_looking_for_attributes_prints_nothing_and_copies_stay() -> None:
    derivative = sg.grad(Z, "x")
    assert not hasattr(derivative, "moved")
    assert not hasattr(derivative, "_repr_html_")
    for e in (Z, P):
        copies: list[Any] = [copy.copy(e), copy.deepcopy(e), pickle.loads(pickle.dumps(e))]
        assert len(copies) == 3


def test_programs_have_names_as_keys() -> None:
    program: Any = P
    with pytest.raises(UnknownAttributeError, match=re.escape("program['w']")):
        _ = program.w
    with pytest.raises(UnknownAttributeError, match=re.escape("y = program['speed']")):
        _ = program.grad
    with pytest.raises(UnknownAttributeError, match="did you mean 'inputs'"):
        _ = program.input


MISTAKES: list[tuple[str, Callable[[], Any], str]] = [
    ("swapped", lambda: sg.grad(x, Z), "grad(y, 'x')"),
    ("a function", lambda: sg.grad(cast("Any", np.sin), x), "call it with symbols"),
    ("names in one text", lambda: sg.grad(Z, "x, y"), "give a list: ['x', 'y']"),
    ("a set", lambda: sg.grad(Z, cast("Any", {x, y})), "a list has an order"),
    ("a value", lambda: sg.grad(Z, cast("Any", np.array([1.0]))), "sg.grad(y, 'x')(x=2.0)"),
    ("a beginning", lambda: sg.grad(P["f"], "sp"), "did you mean 'speed'?"),
    ("another letter", lambda: sg.grad(P["f"], "W"), "did you mean 'w'?"),
    ("nothing like it", lambda: sg.grad(P["f"], "q"), "one of its inputs, such as 'x'"),
    ("outside", lambda: sg.grad(P["f"], "w[7]"), "an index from -5 to 4"),
    ("of another", lambda: sg.grad(P["f"], "q[1]"), "one of its inputs, such as 'x'"),
    ("an order", lambda: sg.derivatives(Z, cast("Any", 2), cast("Any", [x])), "order=2"),
    ("of NumPy", lambda: np.gradient(cast("Any", x)), "sg.grad(y, x)"),
    ("an assumption", lambda: sg.symbols("x", positive=True), 'domain="positive"'),  # pyright: ignore[reportArgumentType]
    ("a list of names", lambda: sg.symbols("x-y"), 'sg.symbols("x y")'),
    ("sizes one by one", lambda: sg.tensor("A", 3, cast("Any", 3)), "sg.tensor('A', (3, 3))"),
    ("values", lambda: sg.tensor(cast("Any", [1.0, 2.0])), "e(X=values)"),
    ("a dictionary", lambda: Z({"x": 1.0, "y": 2.0}), "e(**values)"),
    ("of SymPy", lambda: Z.subs(x, 2), "e.subs({x: 2})"),
    ("a subscript", lambda: cast("Any", x)[0], "sg.tensor('x', (3,))"),
    ("an assignment", lambda: X.__setitem__(0, 1), "sg.where(sg.arrays.arange(5) == 2, new, x)"),
    ("a format", lambda: f"{x:.2f}", "format a value"),
    ("one by one", lambda: sg.arrays.stack(X, cast("Any", X)), "stack([a, b])"),
    ("likewise", lambda: sg.arrays.concatenate(X, cast("Any", X)), "concatenate([a, b])"),
    ("and sums", lambda: sg.sum(x, cast("Any", y)), "in parentheses: (a, b)"),
    ("a file", lambda: sg.parse("model.sg"), "sg.parse(open('model.sg').read())"),
    ("LaTeX", lambda: sg.parse(r"\frac{x}{2}"), "write x/2 for"),
    ("a frozen copy", lambda: sg.parse("x : real\ny = detach(x)*x"), "write stop_gradient(...)"),
    ("two signs", lambda: sg.parse("x : real\ny == x**2"), "assign with one =: y = ..."),
    ("rows", lambda: sg.tensor("A", ("n", 3)) * sg.tensor("b", ("n",)), "write b[:, None]"),
    (
        "rows in a program",
        lambda: sg.parse("A : real[n, 3]\nb : real[n]\ny = A*(2*b)"),
        "write (2*b)[:, None]",
    ),
    ("batches", lambda: sg.compile(Z)(np.ones(2), np.ones(3)), "arrays of one shape"),
    ("no unknown", lambda: cast("Any", sg.implicit)(x**2 == 2), "implicit(equation, x, start=1.0)"),
    ("an inequality", lambda: sg.implicit(x**2 < 2, x, 1.0), "x**2 == c"),
]


@pytest.mark.parametrize(("what", "call", "cure"), MISTAKES, ids=[what for what, _, _ in MISTAKES])
def test_mistakes_have_cures(what: str, call: Callable[[], Any], cure: str) -> None:
    with pytest.raises(SymgradError) as caught:
        call()
    assert cure in str(caught.value)


def test_formats_of_text() -> None:
    assert f"{x:>4}|{Z}" == "   x|x**2*y"


def test_cures_that_are_pasted_work() -> None:
    A, b = sg.tensor("A", ("n", 3)), sg.tensor("b", ("n",))
    assert (A * b[:, None]).shape == ("n", 3)
    w = sg.tensor("w", (5,))
    changed = sg.where(sg.arrays.arange(5) == 2, 7, w)
    assert list(changed(w=np.zeros(5))) == [0, 0, 7, 0, 0]
    assert sg.parse("A : real[n, 3]\nb : real[n]\ny = A*(2*b)[:, None]")["y"].shape == ("n", 3)


def test_equations() -> None:
    c = sg.symbols("c")
    root = sg.implicit(x**2 == c, x, start=1.0)
    assert str(root).startswith("x with x**2 - c = 0")
    assert abs(root(c=2.0) - 2**0.5) < 1e-15
    assert str(sg.implicit([x**2 == 0 + c, y - x == 0], [x, y], [1.0, 1.0]).equations[1]) == "y - x"
    with pytest.raises(UsageError, match="solve for"):
        cast("Any", sg.implicit)([])
