"""Sums over steps that are computed in the steps: equal values, in fewer operations and less memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.output import arrange_nodes
from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.traverse import topological

DECAY = """
a, b, g : real; x : real[{T}]
h[0] = a
h[t] = g*h[t-1]*x[t-1]/(1 + b*h[t-1]**2) for t in 1..{T}
y = h[{T}]**2 + sum(h[1:]*x)
"""
FILTER = """
z : real[{T}]; q : positive; A : real[{n}, {n}]; c : real[{n}]
m[0] = zeros({n}); P[0] = eye({n}); L[0] = 0
M = A@P[t-1]@A.T + q*eye({n}); p = A@m[t-1]; g = M@c; S = sum(c*g) + 1; v = z[t-1] - sum(c*p); \\
    m[t] = p + g*v/S; P[t] = M - outer(g, g)/S; L[t] = L[t-1] - (log(S) + v**2/S)/2 for t in 1..{T}
y = L[{T}]
"""
DENSE = """
x : real[{T}, {n}]; W : real[{n}, {n}]
h[0] = zeros({n})
h[t] = W@h[t-1] + x[t-1]**2 for t in 1..{T}
y = sum(h[{T}]**2)
"""


def _values(expr: sg.Expr, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = {str(s.name): tuple(n for n in s.shape if isinstance(n, int)) for s in expr.inputs}
    return {name: rng.uniform(0.2, 0.8, shape) for name, shape in shapes.items()}


def _carries(exprs: list[sg.Expr]) -> list[int]:
    nodes = topological(arrange_nodes(exprs, step_sums=True).nodes)
    return [len(n.params[2].carries) for n in nodes if is_recurrence(n)]


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
@pytest.mark.parametrize(
    ("program", "wrt"),
    [(DECAY, ["a", "b", "g"]), (FILTER, ["q", "A", "c"]), (DENSE, ["W"])],
    ids=["decay", "filter", "dense"],
)
def test_gradients_are_those_of_differences(program: str, wrt: list[str], steps: int) -> None:
    text = program.replace("{T}", str(steps)).replace("{n}", "3")
    y = sg.parse(text)["y"]
    given = _values(y, steps)
    grads = sg.grad(y, wrt)
    kernel = sg.compile(list(grads), inputs=y.inputs)
    value = sg.compile(y)
    found = kernel(**given)
    for name, slope in zip(wrt, [found] if len(wrt) == 1 else found, strict=True):
        direction = np.random.default_rng(3).normal(size=np.shape(given[name]))
        moved = [value(**{**given, name: given[name] + s * 1e-5 * direction}) for s in (1, -1)]
        difference = (moved[0] - moved[1]) / 2e-5
        np.testing.assert_allclose(np.sum(slope * direction), difference, rtol=1e-6, atol=1e-8)


def test_the_way_back_adds_to_the_sums() -> None:
    y = sg.parse(DECAY.replace("{T}", "100"))["y"]
    grads = list(sg.grad(y, ["a", "b", "g"]))
    # The way back has its adjoint, and the sums that are the gradients by b and g.
    assert _carries(grads) == [1, 3]


def test_products_of_matrices_stay_products() -> None:
    """sum(outer(h_bar[t], h[t-1])) of long arrays is one product of two matrices."""
    y = sg.parse(DENSE.replace("{T}", "20").replace("{n}", "32"))["y"]
    assert _carries(list(sg.grad(y, ["W"]))) == [1, 1]
    small = sg.parse(DENSE.replace("{T}", "20").replace("{n}", "3"))["y"]
    assert _carries(list(sg.grad(small, ["W"]))) == [1, 2]


def test_sums_take_no_memory_for_their_terms() -> None:
    y = sg.parse(DECAY.replace("{T}", "1000"))["y"]
    one, several = (sg.compile(list(sg.grad(y, wrt))) for wrt in (["a"], ["a", "b", "g"]))
    assert isinstance(one, ArrayKernel)
    assert isinstance(several, ArrayKernel)
    assert several.scratch_bytes() - one.scratch_bytes() < 1000


@pytest.mark.parametrize("program", [DECAY, FILTER], ids=["decay", "filter"])
def test_second_derivatives_and_other_memory(program: str) -> None:
    y = sg.parse(program.replace("{T}", "30").replace("{n}", "2"))["y"]
    name = "b" if program is DECAY else "q"
    first = sg.grad(y, name)
    second = sg.grad(first, name)
    given = _values(y, 1)
    found = sg.compile([first, second], inputs=y.inputs)(**given)
    again = sg.compile([first, second], inputs=y.inputs, memory="sqrt")(**given)
    np.testing.assert_allclose(found, again, rtol=1e-12)
    by_steps = sg.compile(first, inputs=y.inputs)
    moved = [by_steps(**{**given, name: given[name] + s * 1e-5}) for s in (1, -1)]
    np.testing.assert_allclose(found[1], (moved[0] - moved[1]) / 2e-5, rtol=1e-5)


@pytest.mark.parametrize("n", [2, 6])
def test_single_precision(n: int) -> None:
    y = sg.parse(FILTER.replace("{T}", "20").replace("{n}", str(n)))["y"]
    grads = list(sg.grad(y, ["q", "A", "c"]))
    given = _values(y, n)
    exact = sg.compile(grads, inputs=y.inputs)(**given)
    single = sg.compile(grads, inputs=y.inputs, dtype="float32")(
        **{k: np.float32(x) for k, x in given.items()}
    )
    for a, b in zip(exact, single, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_numbers_of_float32_that_begin_with_an_input() -> None:
    y = sg.parse("a : real\nh[0] = a\nh[t] = a*h[t-1] for t in 1..5\ny = h[5]")["y"]
    assert sg.compile(y, dtype="float32")(np.float32(1.5)) == np.float32(1.5**6)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_rows_of_what_stands_among_zeros(count: int) -> None:
    text = "x : real[T]; a : real\nh[0] = 0\nh[t] = a*h[t-1] + x[t] for t in 1..T-1\ny = sum(h[t-1]**2, t=1..T-1)"
    y = sg.parse(text)["y"]
    x = np.linspace(0.3, 1, count)
    slope = sg.compile(sg.grad(y, "a"), inputs=["x", "a"])(x, 0.5)
    np.testing.assert_allclose(slope, (y(x=x, a=0.5 + 1e-6) - y(x=x, a=0.5 - 1e-6)) / 2e-6, rtol=1e-7)


def test_python_source_with_checkpoints(tmp_path: Path) -> None:
    text = "x : real[T]; a : real\nh[0] = a\nh[t] = a*h[t-1] + x[t-1] for t in 1..T\ny = h[T]**2"
    y = sg.parse(text)["y"]
    kernel = sg.compile([y, sg.grad(y, "a")], memory="sqrt")
    kernel.save(tmp_path / "loop.py")
    found: dict[str, Any] = {}
    exec((tmp_path / "loop.py").read_text(), found)
    x = np.linspace(-0.1, 0.1, 2100)
    np.testing.assert_allclose(found["loop"](x, 0.5), kernel(x, 0.5), rtol=1e-12)


@pytest.mark.parametrize("n", [0, 2])
def test_loops_of_empty_arrays(n: int) -> None:
    text = f"""x : real[3, {n}]; a : real
h[0] = zeros({n}); g[0] = zeros(({n}, 2)); k[0] = a
h[t] = h[t-1] + a*x[t-1]; g[t] = a*g[t-1] + outer(h[t-1], ones(2)); k[t] = a*k[t-1] for t in 1..3
y = sum(h[1:]) + sum(g[2]) + k[3]"""
    y = sg.parse(text)["y"]
    x = np.ones((3, n))
    values = [y, sg.grad(y, "a")]
    found = sg.compile(values, inputs=["x", "a"])(x, 0.5)
    np.testing.assert_allclose(found, [v(x=x, a=0.5) for v in values], rtol=1e-14)
