"""Recurrences in segments have the values of those that store everything, and take less memory."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.autodiff.checkpoints import with_checkpoints
from symgrad.autodiff.recurrences import recurrence
from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.ir.graph import Node
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from tests.autodiff.test_recurrences import close, every_recurrence, gradients, program_of, sized, values_for

BACK = {"Horner's scheme", "Clenshaw's scheme", "continued fraction", "advantage"}
"""Recurrences that run back."""

READ = {"autoregression", "GRU", "tridiagonal system"}
"""Recurrences all of whose values are read."""

SHORT = {"Runge and Kutta", "Fibonacci", "Levinson's recursion", "conjugate gradients", "secant method"}
"""Recurrences with few steps, whose values take less memory than the sums."""


def bytes_of(outputs: list[sg.Expr], memory: str | int) -> int:
    kernel = sg.compile(outputs, memory=memory)
    assert isinstance(kernel, ArrayKernel)
    return kernel.scratch_bytes()


def value_and_gradients(name: str) -> tuple[list[Node], list[Node]]:
    y = program_of(name)["y"].node
    xs = symbols_of([y])
    return [y, *gradients(y, [x for x in xs if "T" not in names_of(x.shape)])], xs


@every_recurrence
@pytest.mark.parametrize("segment", [2, 3])
def test_values_and_gradients(name: str, segment: int) -> None:
    outputs, xs = value_and_gradients(name)
    changed, segments = with_checkpoints(outputs, segment)
    assert bool(segments) == (name not in BACK | READ | SHORT)
    values = dict(zip(xs, values_for(sized(outputs[:1])).values(), strict=True))
    wanted = evaluate(outputs, values)
    close(evaluate(changed, values), wanted)
    if segment == 3:
        return
    found = compile_nodes(changed, xs)(*(values[x] for x in xs))
    close(list(found) if len(outputs) > 1 else [found], wanted)


LOSS = "a, b : real; x : real[{T}]\nh[0] = a\nh[t] = h[t-1] + sin(b*h[t-1] + x[t-1])/100 for t in 1..{T}\ny = h[{T}]**2"


@pytest.mark.parametrize("length", [1, 2, 9, 10, 1000])
def test_memory_of_a_kernel(length: int) -> None:
    p = sg.parse(LOSS.replace("{T}", str(length)))
    outputs = [p["y"], *sg.grad(p["y"], ["a", "b"])]
    x = np.linspace(-1, 1, length)
    stored, again = (sg.compile(outputs, ["a", "b", "x"], memory=m) for m in ("store", "sqrt"))
    np.testing.assert_allclose(again(0.5, 2.0, x), stored(0.5, 2.0, x), rtol=1e-13)
    if length == 1000:
        assert bytes_of(outputs, "sqrt") < bytes_of(outputs, "store") / 5
        assert "kept after every 31 steps" in str(again.report())
        assert "kept after" not in str(stored.report())


def test_a_number_of_bytes() -> None:
    p = sg.parse(LOSS.replace("{T}", "1000"))
    outputs = [p["y"], *sg.grad(p["y"], ["a", "b"])]
    large, small = (bytes_of(outputs, m) for m in (10**6, 5000))
    assert 5000 < large < 10**6
    assert small < 5000
    with pytest.raises(sg.errors.UsageError, match="a call needs more"):
        sg.compile(outputs, memory=100)


@pytest.mark.parametrize("memory", ["sqr", 0, -1, True, 1.5, None])
def test_other_memory(memory: object) -> None:
    with pytest.raises(sg.errors.UsageError, match="memory="):
        sg.compile("x**2", memory=memory)  # pyright: ignore[reportArgumentType]


def test_a_named_number_of_steps() -> None:
    p = sg.parse(LOSS.replace("{T}", "T"))
    outputs = [p["y"], sg.grad(p["y"], "b")]
    stored, again = (sg.compile(outputs, ["a", "b", "x"], memory=m) for m in ("store", "sqrt"))
    for length in (0, 1, 999, 1000, 1001, 2500):
        x = np.linspace(-1, 1, length)
        np.testing.assert_allclose(again(0.5, 2.0, x), stored(0.5, 2.0, x), rtol=1e-13)


def test_weights_of_few_steps_are_not_summed_by_segments() -> None:
    p = sg.parse(
        "x : real[9, 50]; W : real[50, 50]\nh[0] = x[0]\nh[t] = tanh(W@h[t-1] + x[t-1]) for t in 1..9\ny = sum(h[9])"
    )
    outputs = [p["y"].node, sg.grad(p["y"], "W").node]
    assert with_checkpoints(outputs) == (outputs, [])
    assert sum(n.op is recurrence for n in topological(outputs)) == 2
