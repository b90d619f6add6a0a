"""Which loops compute two vectors side by side, and that nobody can tell from the values."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.llvm.elementwise import emit as module
from symgrad.compiler.lowering.elementwise.limits import limited_by_memory, side_by_side
from symgrad.compiler.lowering.elementwise.schedule import schedule

X, Y = sg.symbols("x y")


def nested(depth: int) -> sg.Expr:
    value = X
    for _ in range(depth):
        value = sg.sin(value) + Y
    return value


def count(*outputs: sg.Expr, rolled: bool = False) -> int:
    return side_by_side(schedule([e.node for e in outputs], [X.node, Y.node], rolled=rolled))


def test_long_chains_are_computed_two_at_a_time() -> None:
    assert count(nested(8)) == 2
    assert count(nested(8), *sg.grad(nested(8), [X, Y])) == 2


def test_short_loops_and_wide_ones_are_not() -> None:
    assert count(X * Y + 1) == 1
    assert count(sg.sin(X)) == 1
    wide = [sg.sin(X + k) * sg.cos(Y + k) for k in range(40)]
    assert count(*wide) == 1
    assert count(nested(3000)) == 1  # compiling twice the code would take too long
    assert count(nested(3000), rolled=True) == 2  # in a loop it is little code


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 15, 16, 17, 33, 1000])
def test_values_have_the_same_bits(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = [nested(8), *sg.grad(nested(8), [X, Y])]
    two = sg.compile(outputs, [X, Y], effort="high")
    monkeypatch.setattr(module, "side_by_side", lambda _: 1)
    one = sg.compile(outputs, [X, Y], effort="high")
    assert two.llvm_ir != one.llvm_ir
    x, y = np.random.default_rng(size).normal(size=(2, size))
    for a, b in zip(two(x, y), one(x, y), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_computes_little_is_limited_by_memory() -> None:
    def limited(*outputs: sg.Expr) -> bool:
        return limited_by_memory(schedule([e.node for e in outputs], [X.node, Y.node]))

    z = sg.sqrt(X**2 * Y)
    assert limited(X * Y + 1)
    assert limited(z, sg.grad(z, X).canonical())
    assert not limited(nested(8))
    assert not limited(sg.sin(X) * sg.exp(Y) + sg.tanh(X * Y))
