"""Blocks and jumps as C: random ones, few of which are loops and branches alone, go the way that a simulation goes."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symgrad.compiler.c.arrays.function import CFunction
from symgrad.compiler.c.arrays.instructions import read_function
from symgrad.compiler.c.arrays.operations import FileNames
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.opcodes import Label, Opcode
from tests.compiler.kernels.c_libraries import STRICT
from tests.compiler.kernels.test_artefact import CC, needs_cc

pytestmark = needs_cc

COUNT = 100
_CELLS = ("x", "v", "y", "left")


@dataclass(frozen=True)
class Drawn:
    """Blocks by numbers: 0 is the entry, the last one returns, and all between go there when the fuel is spent.

    Attributes:
        goes: the blocks after each: two, or one.
        takes: whose value each reads: one that is computed before, on every way.
        swaps: those that exchange two numbers on the way in.
        stored: whether numbers lie in memory, so that nothing is to be done on the way.
    """

    goes: Sequence[tuple[int, ...]]
    takes: Sequence[int]
    swaps: Sequence[bool]
    stored: bool

    def before(self, k: int) -> list[tuple[int, str]]:
        """The blocks before one, and what the jump stands in: the block, or its decision."""
        found = [(j, f"g{j}" if j else "entry") for j, goes in enumerate(self.goes) if k in goes]
        end = len(self.goes) - 1
        return found + [(j, f"b{j}") for j in range(1, end)] if k == end else found


def drawn(seed: int) -> Drawn:
    rng = random.Random(seed)
    n = rng.randint(3, 10)
    near = rng.random() < 0.6  # most jumps to neighbours, as in programs
    goes: list[tuple[int, ...]] = [(rng.randint(1, n - 1) if not near else 1,)]
    for k in range(1, n - 1):
        first = k + 1 if near and rng.random() < 0.8 else rng.randint(1, n - 1)
        second = max(1, min(n - 1, k + rng.randint(-3, 3))) if near else rng.randint(1, n - 1)
        goes.append((first,) if first == second or rng.random() < 0.2 else (first, second))
    blocks = Drawn([*goes, ()], [], [rng.random() < 0.3 for _ in range(n)], rng.random() < 0.5)
    above = [set(range(n)) for _ in range(n)]  # the blocks on every way to one, and itself
    above[0] = {0}
    for _ in range(n):
        for k in range(1, n):
            above[k] = {k}.union(set(range(n)).intersection(*(above[j] for j, _ in blocks.before(k))))
    return Drawn(
        blocks.goes,
        [rng.choice(sorted(above[k] - {k}) or [0]) for k in range(n)],
        blocks.swaps,
        blocks.stored,
    )


def function(name: str, d: Drawn) -> Function:
    """Every block computes y from x and an earlier y, and a bit of it decides."""
    lines: list[str | Instruction] = [Label("entry")]

    def put(name: str, code: Opcode, *operands: str) -> None:
        lines.append(Instruction(name, code, operands))

    def whole(name: str, op: str, a: str, b: int | str) -> None:
        put(name, Opcode.binary(op, "i64"), a, str(b))

    put("%at", Opcode.address("ptr"), "%table", "0")
    put("%out", Opcode.load("ptr"), "%at")
    put("%n.at", Opcode.address("i64"), "%sizes", "0")
    put("%n", Opcode.load("i64"), "%n.at")
    for c, start in zip(_CELLS, (7, 11, 5, 60), strict=True):
        whole(f"%{c}0", "add", "%n", start)
    if d.stored:
        for c in _CELLS:
            put(f"%{c}.cell", Opcode.alloca("i64"))
            put("", Opcode.store("i64"), f"%{c}0", f"%{c}.cell")
    put("", Opcode.jump(f"b{d.goes[0][0]}"))
    end = len(d.goes) - 1
    for k, goes in enumerate(d.goes[1:], 1):
        ways = d.before(k)
        own = ("v", "x", "left") if d.swaps[k] else ("y", "v", "left")
        lines.append(Label(f"b{k}"))
        for to, of in zip(("x", "v", "fuel"), own, strict=True):
            if d.stored:
                put(f"%{to}{k}", Opcode.load("i64"), f"%{of}.cell")
            else:
                phi = Opcode.phi("i64", [block for _, block in ways] or ["entry"])
                put(f"%{to}{k}", phi, *([f"%{of}{j}" for j, _ in ways] or ["0"]))
        whole(f"%left{k}", "sub", f"%fuel{k}", 1)
        whole(f"%t{k}", "mul", f"%x{k}", 3)
        whole(f"%s{k}", "add", f"%t{k}", f"%y{d.takes[k]}")
        whole(f"%y{k}", "and", f"%s{k}", 1023)
        if d.stored:
            for c in _CELLS:
                put("", Opcode.store("i64"), f"%{c}{k}", f"%{c}.cell")
        if k == end:
            for i, value in enumerate((f"%y{k}", f"%v{k}", f"%left{k}")):
                put(f"%p{i}", Opcode.address("i64"), "%out", str(i))
                put("", Opcode.store("i64"), value, f"%p{i}")
            put("", Opcode.ret())
            continue
        put(f"%e{k}", Opcode.compare("icmp", "sgt", "i64"), f"%left{k}", "0")
        put("", Opcode.branch(f"g{k}", f"b{end}"), f"%e{k}")
        lines.append(Label(f"g{k}"))
        if len(goes) == 1:
            put("", Opcode.jump(f"b{goes[0]}"))
        else:
            whole(f"%bit{k}", "and", f"%y{k}", 1 << k % 4)
            put(f"%c{k}", Opcode.compare("icmp", "ne", "i64"), f"%bit{k}", "0")
            put("", Opcode.branch(f"b{goes[0]}", f"b{goes[1]}"), f"%c{k}")
    return Function(name, "void", ("ptr %table", "ptr %sizes"), lines, "internal")


def simulated(d: Drawn) -> list[int]:
    end = len(d.goes) - 1
    y = {0: 5}
    values, k = (7, 11, 5, 60), d.goes[0][0]
    while True:
        x, v, before, left = values
        x, v = (v, x) if d.swaps[k] else (before, v)
        y[k] = (x * 3 + y[d.takes[k]]) & 1023
        values = (x, v, y[k], left - 1)
        if k == end:
            return [y[k], v, left - 1]
        goes = d.goes[k]
        k = end if left - 1 <= 0 else goes[0] if len(goes) == 1 or y[k] & (1 << k % 4) else goes[1]


def test_random_blocks_and_jumps(tmp_path: Path) -> None:
    every = [drawn(seed) for seed in range(COUNT)]
    names = FileNames({}, ["out"], ["n"])
    parts = ["#include <stdint.h>\n"]
    for i, d in enumerate(every):
        code = read_function(function(f"step.{i}", d))
        head = f"\nvoid step_{i}(void **table, const int64_t *sizes);"
        parts.append(CFunction(code, names).text(f"{head}{head[:-1]}"))
    source = tmp_path / "flow.c"
    source.write_text("\n".join(parts))
    assert all(word in source.read_text() for word in ("goto ", "break;", "continue;", "else", "old0"))
    subprocess.run(
        [
            CC,
            *STRICT,
            "-Wno-unused-but-set-variable",
            "-O1",
            "-shared",
            "-fPIC",
            source,
            "-o",
            tmp_path / "flow.so",
        ],
        check=True,
    )
    made = ctypes.CDLL(str(tmp_path / "flow.so"))
    for i, d in enumerate(every):
        out = np.zeros(3, np.int64)
        getattr(made, f"step_{i}")((ctypes.c_void_p * 1)(out.ctypes.data), (ctypes.c_int64 * 1)(0))
        assert out.tolist() == simulated(d), (i, d)
