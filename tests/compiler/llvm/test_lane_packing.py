"""Rows of small arrays as vectors in the steps of recurrences: the same bits, and faster than entry by entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.compiler.llvm.arrays.library import loops_of_steps
from symgrad.compiler.llvm.equations import lane_packing
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.equations.lane_packing import VectorBlock, pack_lanes
from symgrad.compiler.llvm.text.instructions import Instruction, Line, format_lines
from symgrad.compiler.llvm.text.opcodes import Opcode

LANE = "<1 x double>"
ADD, MUL, DIV = (Opcode.binary(op, LANE) for op in ("fadd", "fmul", "fdiv"))
EXTRACT, STORE = Opcode.extract(LANE, "double"), Opcode.store("double", 8)
ADDRESS, LOAD = Opcode.address("double"), Opcode.load("double", 8)
INSERT = Opcode.insert(LANE, "double")
SPLAT = Opcode.shuffle(LANE, "<1 x i32> zeroinitializer")
MASK = re.compile(r"<(\d+) x double>")

Rows = Sequence[tuple[str, ...]]


def entry(name: str, base: str, place: int) -> list[Line]:
    """Load an entry as the steps of recurrences do."""
    return [
        Instruction(f"{name}.p", ADDRESS, (base, str(place))),
        Instruction(f"{name}.r", LOAD, (f"{name}.p",)),
        Instruction(f"{name}.i", INSERT, ("poison", f"{name}.r", "0")),
        Instruction(name, SPLAT, (f"{name}.i", "poison")),
    ]


def stored(name: str, base: str, place: int) -> list[Line]:
    return [
        Instruction(f"{name}.x", EXTRACT, (name, "0")),
        Instruction(f"{name}.a", ADDRESS, (base, str(place))),
        Instruction("", STORE, (f"{name}.x", f"{name}.a")),
    ]


def products(
    n: int, base: str = "%in", *, by_columns: bool = False
) -> tuple[list[Any], list[tuple[str, ...]]]:
    """Return code of y = W@h with n rows of W, and the rows of it."""
    lines: list[Any] = [Instruction(base, ADDRESS, ("%memory", "%i"))] if base != "%outside" else []
    lines.append(Instruction("%out", ADDRESS, ("%memory", "%next")))
    for k in range(n):
        lines += entry(f"%h{k}", "%out", 100 + k)
    for i in range(n):
        for k in range(n):
            lines += entry(f"%w{i}_{k}", base, k * n + i if by_columns else i * n + k)
            lines.append(Instruction(f"%t{i}_{k}", MUL, (f"%w{i}_{k}", f"%h{k}")))
        for k in range(1, n):
            before = f"%s{i}_{k - 1}" if k > 1 else f"%t{i}_0"
            lines.append(Instruction(f"%s{i}_{k}", ADD, (before, f"%t{i}_{k}")))
    for i in range(n):
        lines += stored(f"%s{i}_{n - 1}", "%out", i)
    return lines, [tuple(f"%s{i}_{n - 1}" for i in range(n))]


def packed(lines: list[Any], rows: Rows) -> tuple[list[str], list[str]]:
    found = pack_lanes(lines, rows, Declarations())
    return format_lines(found.before), format_lines(found.lines)


def test_a_product_with_a_matrix_has_one_vector_for_each_column_and_one_store() -> None:
    before, lines = packed(*products(8, by_columns=True))
    assert not before
    assert sum("load <8 x double>" in line for line in lines) == 8
    assert sum("fmul <8 x double>" in line for line in lines) == 8
    assert sum("fadd <8 x double>" in line for line in lines) == 7
    assert not any("fmul <1 x" in line or "fadd <1 x" in line for line in lines)
    assert sum(line.startswith("  store") for line in lines) == 1
    assert any(line.startswith("  store <8 x double>") for line in lines)


def test_what_is_loaded_from_outside_is_put_side_by_side_before_the_block() -> None:
    before, lines = packed(*products(8, "%outside"))
    assert sum("load double" in line for line in before) == 64
    assert sum("insertelement <8 x double>" in line for line in before) == 64
    assert not any("insertelement <8 x double>" in line for line in lines)


def test_what_takes_as_long_to_put_side_by_side_as_it_saves_stays() -> None:
    lines, rows = products(8)
    assert pack_lanes(lines, rows, Declarations()) == VectorBlock([], lines)


def test_a_short_block_is_unchanged() -> None:
    lines, rows = products(3)
    assert pack_lanes(lines, rows, Declarations()) == VectorBlock([], lines)


def test_every_value_is_written_before_it_is_read() -> None:
    for n in (9, 8, 11):
        _, lines = packed(*products(n, by_columns=n > 8))
        assert n == 8 or any(f"<{n} x double>" in line for line in lines)
        seen = {"%memory", "%i", "%next"}
        for line in lines:
            name, _, text = line.strip().rpartition(" = ")
            assert set(re.findall(r"%[\w.]+", text or name)) <= seen, line
            seen.add(name)


def chain_of(row: Sequence[str], count: int, name: str) -> tuple[list[Any], tuple[str, ...]]:
    """Return code that squares the values of a row again and again."""
    lines: list[Any] = []
    for step in range(count):
        lines += [Instruction(f"%{name}{step}_{k}", MUL, (x, x)) for k, x in enumerate(row)]
        row = [f"%{name}{step}_{k}" for k in range(len(row))]
    return lines, tuple(row)


def test_rows_that_read_one_another_in_a_circle_are_not_both_vectors() -> None:
    names = [f"%x{k}" for k in range(4)]
    lines: list[Any] = [Instruction("%b", ADDRESS, ("%memory", "%i"))]
    for k, name in enumerate(names):
        lines += entry(name, "%b", k)
    # In u each lane reads the lane of v before it, in v the lane of u at the same place.
    lines.append(Instruction("%u0", MUL, ("%x0", "%x1")))
    for k in range(4):
        lines.append(Instruction(f"%v{k}", DIV, (f"%u{k}", "%x1")))
        if k < 3:
            lines.append(Instruction(f"%u{k + 1}", MUL, (f"%v{k}", f"%x{k + 1}")))
    more, last = chain_of(names, 40, "m")
    lines += more
    for k in range(4):
        lines += [*stored(f"%v{k}", "%b", 8 + k), *stored(last[k], "%b", 16 + k)]
    _, found = packed(lines, [tuple(f"%u{k}" for k in range(4)), tuple(f"%v{k}" for k in range(4)), last])
    assert sum("fmul <4 x double>" in line for line in found) == 40
    assert not ("%u0.r" in "".join(found) and "%v0.r" in "".join(found))


FILTER = """
z : real[T]; A, P0 : real[{n}, {n}]; c : real[{n}]; q : positive
m[0] = zeros({n}); P[0] = P0; L[0] = 0
M = A@P[t-1]@A.T + q*eye({n}); p = A@m[t-1]; g = M@c; S = sum(c*g) + 1; v = z[t-1] - sum(c*p); \\
    m[t] = p + g*v/S; P[t] = M - outer(g, g)/S; L[t] = L[t-1] - (log(S) + v**2/S)/2 for t in 1..T
loss = L[T]
"""
DESCENT = """
A : real[{n}, {n}]; b, x0 : real[{n}]; T : size
x[0] = x0; m[0] = zeros({n}); v[0] = zeros({n})
g = A@x[t-1] - b; m[t] = 0.9*m[t-1] + 0.1*g; v[t] = 0.99*v[t-1] + 0.01*g**2; \\
    x[t] = where(x[t-1] > 1, x[t-1] - 0.01*m[t]/sqrt(v[t] + 1), x[t-1]/2 - m[t]) for t in 1..9
loss = sum(x[9]**2)
"""


def filter_values(n: int, rng: Any) -> dict[str, Any]:
    a = 0.5 * np.eye(n) + 0.1 * rng.normal(size=(n, n))
    return {"z": rng.normal(size=20), "A": a, "P0": np.eye(n), "c": rng.normal(size=n), "q": 0.5}


def descent_values(n: int, rng: Any) -> dict[str, Any]:
    return {"A": rng.normal(size=(n, n)), "b": rng.normal(size=n), "x0": 2 * rng.normal(size=n)}


@pytest.mark.parametrize(("n", "dtype"), [(3, "float64"), (5, "float64"), (5, "float32")])
@pytest.mark.parametrize(
    ("text", "wrt", "values"), [(FILTER, "q A P0 c z", filter_values), (DESCENT, "x0 b A", descent_values)]
)
def test_all_bits_are_those_of_the_entries_one_by_one(
    text: str,
    wrt: str,
    values: Callable[..., dict[str, Any]],
    n: int,
    dtype: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loss = sg.parse(text.replace("{n}", str(n)))["loss"]
    outputs = [loss, *sg.grad(loss, wrt.split())]
    known = values(n, np.random.default_rng(n))
    given = [np.asarray(known[str(x.name)], dtype) for x in loss.inputs]
    vectors = sg.compile(outputs, inputs=loss.inputs, dtype=dtype)
    assert n == 3 or max(map(int, MASK.findall(vectors.llvm_ir.partition("fma.v")[0])), default=0) >= n
    calls: list[int] = []

    def one_by_one(lines: Any, rows: Any, _: Any) -> VectorBlock:
        calls.append(len(rows))
        return VectorBlock([], lines)

    monkeypatch.setattr(loops_of_steps, "pack_lanes", one_by_one)
    entries = sg.compile(outputs, inputs=loss.inputs, dtype=dtype)
    assert sum(calls)
    for mine, other in zip(vectors(*given), entries(*given), strict=True):
        assert np.isfinite(mine).all()
        np.testing.assert_array_equal(mine, other)


@given(st.data())
def test_any_block_with_any_rows_has_its_values(data: st.DataObject) -> None:
    """Values by a reading of the instructions in Python, before and after."""
    n = data.draw(st.integers(3, 5))
    lines: list[Any] = [
        Instruction("%b", ADDRESS, ("%memory", "%i")),
        Instruction("%o", ADDRESS, ("%memory", "%j")),
    ]
    names: list[str] = []
    for k in range(2 * n):
        lines += entry(f"%x{k}", data.draw(st.sampled_from(["%b", "%b", "%outside"])), k)
        names.append(f"%x{k}")
    rows: list[tuple[str, ...]] = []
    for step in range(data.draw(st.integers(4, 24))):
        code = data.draw(st.sampled_from([ADD, MUL]))
        shape = data.draw(st.sampled_from(["row", "row", "any", "one"]))
        old = data.draw(st.sampled_from([names[:n], *map(list, rows)]))
        other = data.draw(st.sampled_from([names[n : 2 * n], *map(list, rows)]))
        if shape == "one":
            other = [data.draw(st.sampled_from(names))] * n
        if shape == "any":
            other = [data.draw(st.sampled_from(names)) for _ in range(n)]
        row = tuple(f"%y{step}_{k}" for k in range(n))
        for name, a, b in zip(row, old, other, strict=True):
            lines.append(Instruction(name, code, (a, b)))
        rows.append(row)
        names += row
    for k, name in enumerate(rows[-1] + data.draw(st.sampled_from(rows))):
        if name not in {line.operands[0] for line in lines if line.code == EXTRACT}:
            lines += stored(name, "%o", 1000 + k)
    with patch.object(lane_packing, "_LEAST", 1):
        found = pack_lanes(lines, rows, Declarations())
    assert run([*found.before, *found.lines]) == run(lines)


def run(lines: Sequence[Any]) -> dict[str, float]:
    """Return what a block stores, by the text of the address."""
    values: dict[str, Any] = {"poison": [None] * 64}
    memory: dict[str, float] = {}

    def load(address: str) -> float:
        return memory.get(address, 1 + hash_of(address) % 97 / 128)

    for line in lines:
        code, operands = line.code, line.operands
        at = [values.get(o, o) for o in operands]
        if code.op == "getelementptr":
            base = at[0] if isinstance(at[0], str) else operands[0]
            values[line.name] = f"{base}+{operands[1]}"
        elif code.op == "load":
            count = int(MASK.findall(code.kind)[0]) if "x" in code.kind else 0
            base, _, first = at[0].rpartition("+")
            cells = [load(f"{base}+{int(first) + k}") for k in range(count)] if count else load(at[0])
            values[line.name] = cells
        elif code.op == "insertelement":
            lanes = list(at[0][: int(MASK.findall(code.kind)[0])])
            lanes[int(operands[2])] = at[1]
            values[line.name] = lanes
        elif code.op == "extractelement":
            values[line.name] = at[0][int(operands[1])]
        elif code.op == "shufflevector":
            mask = (
                str(code).rpartition(", ")[2] if "zeroinitializer" in code else str(code).split("i32> <")[1]
            )
            places = [int(p) for p in re.findall(r"i32 (\d+)", mask)] or [0]
            values[line.name] = [at[0][p] for p in places]
        elif code.op == "store":
            base, _, first = at[1].rpartition("+")
            for k, x in enumerate(np.atleast_1d(at[0]).tolist()):
                memory[f"{base}+{int(first) + k}"] = x
        else:
            a, b = at
            values[line.name] = [x + y if code.op == "fadd" else x * y for x, y in zip(a, b, strict=True)]
    return memory


def hash_of(text: str) -> int:
    return sum(ord(c) * 31**k for k, c in enumerate(text))
