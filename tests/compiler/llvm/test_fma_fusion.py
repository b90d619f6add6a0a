"""Products and sums that are rounded once together: which are, and that signs are right."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.engine.jit import Effort
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.llvm.equations.builder import VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.fma_fusion import fuse_multiply_adds
from symgrad.compiler.llvm.text.instructions import Instruction, Line, flatten_lines, format_lines
from symgrad.compiler.llvm.text.types import FLOAT64
from symgrad.ir.graph import OPS, Node, number, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration

FMA = "@llvm.fma.v8f64"
V = "<8 x double>"
A, B, C = (symbol(Declaration(n)) for n in "abc")
add, mul, neg = (OPS[n] for n in ("add", "mul", "neg"))


class Of(NamedTuple):
    """An instruction but for its name."""

    code: str
    operands: tuple[str, ...]
    fuses: bool = True


def code(*given: Of) -> list[Line]:
    lines = [
        Instruction(f"%v{k + 3}", f"{i.code} {V} {', '.join(['%s'] * len(i.operands))}", *i[1:])
        for k, i in enumerate(given)
    ]
    return [*lines, Instruction("", f"store {V} %s, ptr %s", (f"%v{len(lines) + 2}", "%p"))]


def result(lines: list[Line]) -> list[str]:
    return format_lines(fuse_multiply_adds(flatten_lines(lines), V, FMA))


def fmas(lines: list[str]) -> int:
    return sum(FMA in line for line in lines)


PRODUCT, NEGATION = Of("fmul", ("%v0", "%v1")), Of("fneg", ("%v3",), False)


@pytest.mark.parametrize(
    "last",
    [
        Of("fadd", ("%v3", "%v2")),
        Of("fadd", ("%v2", "%v3")),
        Of("fsub", ("%v3", "%v2")),
        Of("fsub", ("%v2", "%v3")),
    ],
)
def test_a_product_that_is_read_once_is_taken_in(last: Of) -> None:
    found = result(code(PRODUCT, last))
    assert fmas(found) == 1
    assert not any("fmul" in line or "contract" in line for line in found)
    negated = last._replace(operands=tuple("%v4" if x == "%v3" else x for x in last.operands))
    found = result(code(PRODUCT, NEGATION, negated))
    assert fmas(found) == 1
    assert not any("fmul" in line for line in found)


def test_what_is_read_twice_or_not_marked_is_not() -> None:
    twice = Of("fadd", ("%v3", "%v3"))
    assert result(code(PRODUCT, twice)) == [
        f"  %v3 = fmul {V} %v0, %v1",
        f"  %v4 = fadd {V} %v3, %v3",
        f"  store {V} %v4, ptr %p",
    ]
    assert fmas(result(code(PRODUCT._replace(fuses=False), Of("fadd", ("%v3", "%v2"))))) == 0
    assert fmas(result(code(PRODUCT, Of("fadd", ("%v3", "%v2"), False)))) == 0
    assert fmas(result(code(PRODUCT, Of("fdiv", ("%v3", "%v2"))))) == 0


@pytest.mark.parametrize("has", [True, False])
def test_nothing_fuses_without_the_instruction(has: bool) -> None:
    builder = VectorBuilder(FLOAT64, 8, Declarations(fused=has))
    a, b, c = (builder.fresh(f"load {V}, ptr %{name}") for name in "abc")
    builder.fuses = True
    builder.add(builder.mul(a, b), c)
    found = format_lines(builder.finished())
    assert not any("contract" in line for line in found)
    assert fmas(found) == has
    last = f"call {V} {FMA}({V} %v0, {V} %v1, {V} %v2)" if has else f"fadd {V} %v3, %v2"
    assert found[3:] == ([] if has else [f"  %v3 = fmul {V} %v0, %v1"]) + [f"  %v4 = {last}"]
    assert ("llvm.fma.v8f64" in builder.declarations.declared) == has


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
