"""Declared sizes that are formulas of named sizes, and the values that calls find for the names."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad import runtime
from symgrad.ir.sizes import size_product, size_sum
from symgrad.ir.values.bound_sizes import lengths_of_names, size_sources
from symgrad.support.errors import MissingInputError, ShapeError

SHIFTED = """
x : real[T + 1]
b : real
h[0] = x[0]
h[t] = tanh(b*h[t-1] + x[t]) for t in 1..T
y = h[T]**2
"""


def shifted(x: np.ndarray, b: float) -> float:
    h = x[0]
    for value in x[1:]:
        h = np.tanh(b * h + value)
    return float(h**2)


def every_way(program, *values):
    """Yield the value of a program's last formula by each way of calling it."""
    y = program["y"]
    kernel = sg.compile(y)
    yield y(*values)
    yield kernel(*values)
    yield kernel.ufunc(*values)
    space: dict = {}
    exec(y.numpy_source(), space)
    yield space["f"](*values)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_size_is_found_from_a_formula_of_it(rows):
    p = sg.parse(SHIFTED)
    x = np.linspace(-1, 1, rows)
    for found in every_way(p, x, 0.5):
        assert found == pytest.approx(shifted(x, 0.5), rel=1e-12)
    gradient = sg.compile(sg.grad(p["y"], "x"))(x, 0.5)
    step = 1e-6
    for k, one in enumerate(np.eye(rows)):
        slope = (shifted(x + step * one, 0.5) - shifted(x - step * one, 0.5)) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-8)


def test_multiples_and_differences():
    p = sg.parse("v : real[2*n - 1, n]\ny = sum(v)*n")
    for found in every_way(p, np.ones((5, 3))):
        assert found == 45.0
    q = sg.parse("v : real[3*n]\ny = sum(v)*n")
    for found in every_way(q, np.ones(6)):
        assert found == 12.0


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        ("x : real[T + 1]\ny = sum(x)*T", [(0,)], r"shape \(0,\), and T \+ 1 is not 0 for any size T"),
        ("x : real[2*n]\ny = sum(x)*n", [(5,)], r"shape \(5,\), and 2\*n is not 5 for any size n"),
        (
            "x : real[2*n + 1]; z : real[n]\ny = sum(x)*sum(z)",
            [(4,), (2,)],
            r"input 'x' has shape \(4,\), and 2\*n \+ 1 is 5, since n is 2 in 'z' of shape \(2,\)",
        ),
        (
            "x : real[n + 1]; z : real[2*n]\ny = sum(x)*sum(z)*n",
            [(4,), (8,)],
            r"input 'z' has shape \(8,\), and 2\*n is 6, since n is 3 in 'x'",
        ),
    ],
)
def test_shapes_that_no_size_has(compiled, text, shapes, message):
    y = sg.parse(text)["y"]
    f = sg.compile(y) if compiled else y
    with pytest.raises(ShapeError, match=message):
        f(*map(np.ones, shapes))


def test_numpy_itself_refuses_shapes_that_no_size_has():
    kernel = sg.compile(sg.parse("x : real[2*n]\ny = sum(x)*n")["y"])
    with pytest.raises(ValueError, match=r"2\*n"):
        kernel.ufunc(np.ones(5))
    late = sg.compile(sg.parse("x : real[T + 3]\ny = sum(x)*T")["y"])
    with pytest.raises(ValueError, match=r"T \+ 3"):
        late.ufunc(np.ones(2))


def test_a_sum_of_two_names_gives_neither():
    p = sg.parse("v : real[n + m]; w : real[m]\ny = sum(v)*m*sum(w)")
    assert p["y"](np.ones(5), np.ones(2)) == 20.0
    with pytest.raises(MissingInputError, match="the size n"):
        sg.compile(p["y"])


def test_saved_kernels_find_the_size(tmp_path):
    p = sg.parse(SHIFTED)
    sg.compile(p["y"]).save(tmp_path / "y.so")
    loaded = runtime.load(tmp_path / "y.so")
    x = np.linspace(-1, 1, 4)
    assert loaded(x, 0.5) == pytest.approx(shifted(x, 0.5), rel=1e-12)
    with pytest.raises(ShapeError, match="for any size T"):
        loaded(np.zeros(0), 0.5)


def test_printed_programs_are_read_again():
    y = sg.parse(SHIFTED)["y"]
    assert sg.parse(str(y)).last.node is y.node
    assert str(y).splitlines()[:3] == ["x : real[T + 1]", "b : real", "h[0] = x[0]"]


def test_claims_over_formulas_of_sizes():
    p = sg.parse("x : real[T + 1]\ny = sum(x[1:]*x[:T])")
    assert sg.verify(p["y"], "x", sg.grad(p["y"], "x")).status == "proved"
    assert sg.verify(p["y"], "x", sg.parse("x : real[T + 1]\n2*x").last).status == "refuted"


def test_size_sources_prefer_axes_that_are_the_name():
    twice = size_product([2, "n"])
    assert size_sources([(twice, "m"), ("n",)])["n"] == (1, 0, 1, 0)
    assert size_sources([(size_sum([twice, -3]),)])["n"] == (0, 0, 2, -3)
    assert size_sources([(size_sum(["n", "m"]), size_product(["n", "n"]), size_product([-1, "k"]))]) == {}
    assert lengths_of_names([(size_sum(["T", 1]), "n"), ("n",)], [(None, None), (7,)]) == {"n": 7}


def test_declared_sizes_may_be_formulas_of_several_kinds():
    for text in ("T + 1", "2*n - 1", "max(n - 1, 0)", "min(m, n) + 2", "n + m", "m*n"):
        p = sg.parse(f"x : real[{text}]; u ~ Normal(0, 1)[{text}]\ny = sum(x*u)")
        assert sg.parse(str(p))["y"].node is p["y"].node
    assert sg.parse("x : real[2*(n + 1) - n]\nx").last.shape == sg.parse("x : real[n + 2]\nx").last.shape
    assert str(sg.parse("x : real(max(1/2, 1/3), 2)\nx")).startswith("x : real(0.5, 2)")
