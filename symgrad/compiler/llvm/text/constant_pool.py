"""The constant pool: numbers that instructions read from memory, close to a base register.

An AVX-512 instruction can broadcast an operand from memory. LLVM does that only for a number with a single use. It
loads a number with several uses into a register, by an extra instruction, even if there are too few registers. LLVM
also addresses numbers relative to the instruction, with offsets of four bytes, and the cache of decoded instructions
holds few such instructions. So in long code every use of a number has its own entry in the pool, and the offset from
the base register fits in one byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.compiler.llvm.text.instructions import Instruction, Line, Splat, with_debug_location
from symgrad.compiler.llvm.text.module import Attributes, Function, Global
from symgrad.compiler.llvm.text.types import FloatType

_WINDOW = 256
"""How many numbers a signed byte can address from the base register, since the offset counts numbers."""

_MIN_CONSTANTS = 24
"""A pool pays if the code of a loop has at least so many different numbers; fewer numbers mostly stay in registers."""

_READERS = frozenset({"fmul", "fadd", "fsub", "fdiv", "fcmp", "select", "call"})
"""Instructions that can take an operand from memory."""

_ZERO = "0x0000000000000000"
"""Zero needs no load."""


def pool_constants(
    lines: Sequence[Line], width: int, real: FloatType, name: str
) -> tuple[list[str], list[Line], list[Global]]:
    """Return code that reads its numbers from a pool, or the same code if it has few numbers.

    Args:
        lines: the code of one function, on vectors of one register.
        width: lanes of a vector.
        real: the format of the numbers.
        name: the name of the pool.

    Returns:
        The lines that set up the base registers, the code, and the definition of the pool.
    """
    found = _poolable_operands(lines, real)
    if len({x for numbers in found.values() for x in numbers}) < _MIN_CONSTANTS:
        return [], list(lines), []
    return _load_from_pool(lines, found, width, real, name)


def pool_inlined_constants(
    functions: Sequence[Function], width: int, real: FloatType
) -> tuple[list[Function], list[Global]]:
    """Return the functions, of which the inlined ones now have constant pools, and the definitions of these pools."""
    changed: list[Function] = []
    tables: list[Global] = []
    for k, function in enumerate(functions):
        if function.attributes is Attributes.INLINED:
            entry, *lines = function.body
            before, lines, table = _load_from_pool(
                lines, _poolable_operands(lines, real), width, real, f"numbers.inlined.{k}"
            )
            function = replace(function, body=[entry, *before, *lines])
            tables += table
        changed.append(function)
    return changed, tables


def _poolable_operands(lines: Sequence[Line], real: FloatType) -> dict[int, list[Splat]]:
    """Return the operands that can be read from memory, by the index of their instruction."""
    found: dict[int, list[Splat]] = {}
    for i, line in enumerate(lines):
        if isinstance(line, Instruction):
            for x in line.operands:
                if (
                    isinstance(x, Splat)
                    and x.kind == real.llvm
                    and x.digits != _ZERO
                    and _takes_memory_operand(line)
                ):
                    found.setdefault(i, []).append(x)
    return found


def _takes_memory_operand(line: Instruction) -> bool:
    return line.code.split(" ", 1)[0] in _READERS


def _load_from_pool(
    lines: Sequence[Line], found: Mapping[int, Sequence[Splat]], width: int, real: FloatType, name: str
) -> tuple[list[str], list[Line], list[Global]]:
    vector = f"<{width} x {real.llvm}>"
    numbers: list[str] = []
    made: list[Line] = []

    def moved(x: Splat, at: int) -> str:
        k = len(numbers)
        numbers.append(f"{x.kind} {x.digits}")
        made.extend(
            with_debug_location(text, at)
            for text in (
                f"  %n{k}.p = getelementptr {x.kind}, ptr %near{k // _WINDOW}, i64 {k % _WINDOW - _WINDOW // 2}",
                f"  %n{k}.v = load {x.kind}, ptr %n{k}.p",
                f"  %n{k}.l = insertelement {vector} poison, {x.kind} %n{k}.v, i64 0",
                f"  %n{k} = shufflevector {vector} %n{k}.l, {vector} poison, <{width} x i32> zeroinitializer",
            )
        )
        return f"%n{k}"

    for i, line in enumerate(lines):
        if i in found and isinstance(line, Instruction):
            at, inside = line.at, found[i]
            operands = [moved(x, at) if isinstance(x, Splat) and x in inside else x for x in line.operands]
            line = line._replace(operands=tuple(operands))
        made.append(line)
    if not numbers:
        return [], made, []
    # The empty assembly hides from LLVM that the address is constant; otherwise LLVM would fold the offsets back.
    before = [
        f'  %near{k} = call ptr asm "", "=r,0"'
        f"(ptr getelementptr ({real.llvm}, ptr @{name}, i64 {_WINDOW * k + _WINDOW // 2}))"
        for k in range(-(-len(numbers) // _WINDOW))
    ]
    return (
        before,
        made,
        [Global(name, f"[{len(numbers)} x {real.llvm}]", f"[{', '.join(numbers)}]")],
    )
