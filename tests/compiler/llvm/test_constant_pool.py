"""Numbers in memory: the same bits, an instruction less for each, and only where there are many."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.engine.jit import Effort
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.llvm.text.constant_pool import pool_constants, pool_inlined_constants
from symgrad.compiler.llvm.text.instructions import Instruction, Line, Splat, format_lines
from symgrad.compiler.llvm.text.module import Attributes, Function
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64
from symgrad.ir.graph import Node, number, symbol
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add, mul

V = "<8 x double>"
X = symbol(Declaration("x"))
needs_avx512 = pytest.mark.skipif(not host().target.estimates, reason="this processor has no AVX-512")


def long_code(count: int, vector: str = V, kind: str = "double") -> list[Line]:
    return [
        Instruction(f"%v{k + 1}", f"fmul {vector} %s, %s", (f"%v{k}", Splat(kind, f"{k}.5")))
        for k in range(count)
    ]


def test_every_use_has_a_place_near_a_register() -> None:
    lines = long_code(600) + long_code(600)
    before, moved, (table,) = pool_constants(lines, 8, FLOAT64, "numbers.0")
    made = format_lines(moved)
    assert len(before) == -(-1200 // 256)
    assert not any("splat" in line for line in made)
    assert re.findall(r"double (\d+\.5)", str(table)) == [f"{k}.5" for k in range(600)] * 2
    reads = [re.fullmatch(r"  %n\d+\.p = getelementptr double, ptr %near(\d+), i64 (-?\d+)", x) for x in made]
    places = [256 * int(r[1]) + int(r[2]) + 128 for r in reads if r]
    assert places == list(range(1200))
    assert all(-128 <= int(r[2]) < 128 for r in reads if r)


def test_few_numbers_and_zeros_and_stores_stay() -> None:
    few = long_code(10) * 20
    assert pool_constants(few, 8, FLOAT64, "n") == ([], few, [])
    zero = [
        Instruction("%z", f"fadd {V} %s, %s", ("%v0", Splat("double", "0x0000000000000000"))),
        Instruction("", f"store {V} %s, ptr %s", (Splat("double", "7.0"), "%p")),
    ]
    _, made, _ = pool_constants([*long_code(50), *zero], 8, FLOAT64, "n")
    assert made[-2:] == zero


def test_only_functions_that_are_inlined_change() -> None:
    called = Function("f", V, [f"{V} %v0"], ["entry:", *long_code(3), f"  ret {V} %v3"])
    inlined = replace(called, attributes=Attributes.INLINED)
    (first, second), (table,) = pool_inlined_constants([called, inlined], 8, FLOAT64)
    assert first == called
    assert str(second).split("\n")[:2] == str(inlined).split("\n")[:2]
    assert "splat" not in str(second)
    assert str(table).count("double") == 4  # the type of the array, and three numbers


def formula() -> Node:
    """Return a formula with forty numbers, of which each is read twice."""
    square = mul(X, X)
    return reduce(add, [mul(add(X, number(k)), add(square, number(k))) for k in range(2, 42)])


def test_numbers_of_another_format_stay() -> None:
    lines = long_code(30, "<16 x float>", "float")
    wide = Instruction("%w", "fmul <16 x double> %s, %s", ("%v0", Splat("double", "3.0")))
    _, made, (table,) = pool_constants([*lines, wide], 16, FLOAT32, "n")
    assert made[-1] == wide
    assert str(table).count("float") == 31


@needs_avx512
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_and_instructions(dtype: str) -> None:
    node = formula()
    efforts: tuple[Effort, Effort] = ("auto", "high")
    quick, better = (compile_nodes([node], [X], dtype=dtype, effort=e) for e in efforts)
    assert "@numbers" in better.llvm_ir
    at = np.linspace(-2, 0.5, 1003).astype(dtype)
    np.testing.assert_array_equal(better(at), quick(at))
    # Each addition of a number is one instruction, which is told where the number is in one byte.
    lanes = 64 // np.dtype(dtype).itemsize
    body = better.asm.split("ufunc.body:")[1].split(".cfi_endproc")[0]
    assert len(re.findall(rf"\tvadd\S+\s+-?\d*\(%r\w+\)\{{1to{lanes}\}}", body)) >= 60
