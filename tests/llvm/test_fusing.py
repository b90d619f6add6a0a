"""Products and sums that are rounded once together: which are, and that signs are right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.ir.graph import OPS, Node, number, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration
from symgrad.kernel.compile import compile_nodes
from symgrad.llvm.engine.jit import Effort
from symgrad.llvm.engine.target import host
from symgrad.llvm.text.fusing import fused

FMA = "@llvm.fma.v8f64"
V = "<8 x double>"
A, B, C = (symbol(Declaration(n)) for n in "abc")
add, mul, neg = (OPS[n] for n in ("add", "mul", "neg"))


def code(*instructions: str) -> list[str]:
    lines = [f"  %v{k + 3} = {text}" for k, text in enumerate(instructions)]
    return [*lines, f"  store {V} %v{len(lines) + 2}, ptr %p"]


def fmas(lines: list[str]) -> int:
    return sum(FMA in line for line in lines)


PRODUCT, NEGATION = f"fmul contract {V} %v0, %v1", f"fneg {V} %v3"


@pytest.mark.parametrize(
    "last",
    [
        f"fadd contract {V} %v3, %v2",
        f"fadd contract {V} %v2, %v3",
        f"fsub contract {V} %v3, %v2",
        f"fsub contract {V} %v2, %v3",
    ],
)
def test_a_product_that_is_read_once_is_taken_in(last: str) -> None:
    found = fused(code(PRODUCT, last), FMA)
    assert fmas(found) == 1
    assert not any("fmul" in line or "contract" in line for line in found)
    found = fused(code(PRODUCT, NEGATION, last.replace("%v3", "%v4")), FMA)
    assert fmas(found) == 1
    assert not any("fmul" in line for line in found)


def test_what_is_read_twice_or_not_marked_is_not() -> None:
    twice = f"fadd contract {V} %v3, %v3"
    assert fused(code(PRODUCT, twice), FMA) == [
        line.replace(" contract", "") for line in code(PRODUCT, twice)
    ]
    own = PRODUCT.replace(" contract", "")
    assert fmas(fused(code(own, f"fadd contract {V} %v3, %v2"), FMA)) == 0
    assert fmas(fused(code(PRODUCT, f"fadd {V} %v3, %v2"), FMA)) == 0
    divided = code(PRODUCT, f"fdiv contract {V} %v3, %v2")
    assert fmas(fused(divided, FMA)) == 0


def test_without_the_instruction_the_marks_go() -> None:
    lines = code(PRODUCT, f"fadd contract {V} %v3, %v2")
    assert fused(lines, None) == [line.replace(" contract", "") for line in lines]


@st.composite
def sums_of_products(draw: st.DrawFn) -> Node:
    pool = [A, B, C, number(3)]
    for _ in range(draw(st.integers(2, 12))):
        x, y = (draw(st.sampled_from(pool[-5:])) for _ in range(2))
        pool.append(
            draw(st.sampled_from([add(x, y), mul(x, y), neg(x), add(x, neg(y)), add(neg(mul(x, y)), x)]))
        )
    return add(pool[-1], neg(pool[-2]))


@given(sums_of_products(), st.sampled_from(["auto", "high"]))
def test_signs_are_right(node: Node, effort: Effort) -> None:
    """With small integers everything is exact, fused or not."""
    kernel = compile_nodes([node], [A, B, C], fusable=topological([node]), effort=effort)
    points = np.array([[2, -1, 1], [1, 3, -2], [0, 1, 1]], float)
    for point, found in zip(points, kernel(*points.T.copy()), strict=True):
        values = {A: Fraction(point[0]), B: Fraction(point[1]), C: Fraction(point[2])}
        for n in topological([node]):
            if n.is_number():
                values[n] = Fraction(n.value)
            elif n.op is add:
                values[n] = values[n.args[0]] + values[n.args[1]]
            elif n.op is mul:
                values[n] = values[n.args[0]] * values[n.args[1]]
            elif n.op is neg:
                values[n] = -values[n.args[0]]
        if max(map(abs, values.values())) < 2**52:
            assert found == values[node]


@pytest.mark.skipif(not host().target.fused, reason="no such instruction here")
def test_it_is_rounded_once() -> None:
    node = add(mul(A, B), C)
    kernel = compile_nodes([node], [A, B, C], fusable=[node, node.args[0]])
    a = 1 + 2.0**-30
    assert kernel(a, a, -1.0) == float(Fraction(a) ** 2 - 1)
    assert kernel(a, a, -1.0) != a * a - 1
