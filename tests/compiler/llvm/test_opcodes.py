"""What an opcode says of an instruction is what LLVM reads in its text."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg
from symgrad.compiler.llvm.arrays.array_code import array_module
from symgrad.compiler.llvm.engine.binding import llvm, lock
from symgrad.compiler.llvm.engine.target import Target
from symgrad.compiler.llvm.text.instructions import Instruction, flatten_lines
from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.types import float_type
from symgrad.ir.traverse import symbols_of
from symgrad.rewrite.pipeline import canonical

PROGRAM = """x : real[n, d]; W : real[d, c]; A : real[c, c]; t : int[n]; a : bool[n]
z = tanh(x@W)
u = where(a[:, None], exp(z), sin(z)**2)*max(z, axis=1)[:, None]
loss = sum(u[t]*cumsum(z, axis=0)) + sum(solve(A, z.T)) + sum(expm(A)) + argmax(x[0]) - prod(x[:, 0])"""


def said_by_llvm(instruction: Any) -> tuple[object, ...]:
    """What it does, the types of its value and operands, the blocks that it is about, and the function it calls."""
    op, operands = instruction.opcode, list(instruction.operands)
    blocks = [x.name for x in operands if str(x.type) == "label"][::-1]  # LLVM has the other way first
    blocks = [x.name for x in instruction.incoming_blocks] if op == "phi" else blocks
    called = operands.pop().name if op == "call" else ""
    kinds = [str(x.type) for x in operands if str(x.type) != "label"]
    return op, str(instruction.type), [] if op == "alloca" else kinds, blocks, called


def said_by_us(code: Opcode) -> tuple[object, ...]:
    vectors = code.kinds[-1][: -len("i64>")] if code.op == "getelementptr" else ""
    kind = {
        "getelementptr": f"{vectors}ptr>" if vectors else "ptr",
        "alloca": "ptr",
        "store": "void",
        "ret": "void",
    }.get(code.op, code.kind)
    return code.op, kind, list(code.kinds), list(code.labels), code.how if code.op == "call" else ""


@pytest.mark.parametrize(("dtype", "width"), [("float64", 1), ("float32", 1), ("float64", 4)])
def test_codes_say_what_llvm_reads(dtype: str, width: int) -> None:
    p = sg.parse(PROGRAM)
    loss = p["loss"].node
    outputs = list(canonical([loss, *(g.node for g in sg.grad(p["loss"], [p["x"], p["W"], p["A"]]))]).nodes)
    real = float_type(dtype)
    module = array_module(
        outputs, symbols_of(outputs), real, Target(width * real.itemsize, fused=True)
    ).module
    wanted: dict[str, list[Instruction]] = {}
    for item in module.items:
        if isinstance(item, Function):
            wanted[item.name] = [x for x in flatten_lines(item.body) if isinstance(x, Instruction)]
    seen: set[str] = set()
    with lock:
        parsed = llvm.parse_assembly(str(module), llvm.create_context())
        for function in parsed.functions:
            records = wanted.pop(function.name, [])
            found = [i for b in function.blocks for i in b.instructions] if records else []
            assert len(found) == len(records)
            for instruction, record in zip(found, records, strict=True):
                code = record.code
                assert isinstance(code, Opcode)
                seen.add(code.op)
                assert said_by_llvm(instruction) == said_by_us(code), str(instruction)
                assert record.name.removeprefix("%") == instruction.name
                if code.op in ("extractvalue", "insertvalue"):
                    assert str(instruction).endswith(f", {code.how}")
                if code.op in ("icmp", "fcmp"):
                    assert f" = {code.op} {code.how} " in str(instruction)
                if code.op in ("getelementptr", "alloca"):
                    count = f"[{code.how} x {code.kind}]" if code.how else code.kind
                    assert f" = {code.op} {count}," in str(instruction)
    assert not wanted
    assert seen >= {
        "phi",
        "br",
        "ret",
        "call",
        "load",
        "store",
        "alloca",
        "getelementptr",
        "select",
        "icmp",
        "fcmp",
    }
    assert seen >= {
        "insertelement",
        "extractelement",
        "shufflevector",
        "extractvalue",
        "sitofp",
        "fmul",
        "fneg",
    }
