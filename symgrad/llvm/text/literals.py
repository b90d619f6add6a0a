"""Numbers that instructions read from memory, near a base register.

AVX-512's instructions read one number for all lanes from memory. A code generator has them do so only where a number is
used once; any other it brings to a register first, by an instruction of its own, wherever there are more numbers than
registers. And it gives each number's distance from the instruction, in four bytes, of which the cache of decoded
instructions holds few. So in long code each use of a number has a place of its own, within a byte of a register.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from symgrad.llvm.text.module import Attributes, Function, Global
from symgrad.llvm.text.types import FloatType

__all__ = ["in_memory", "in_memory_where_inlined"]

_NEAR = 256
"""Numbers within a byte of a register: the distance counts numbers, and has a sign."""

_FEWEST = 24
"""Different numbers in the code of a loop: of fewer, many stay in registers."""

_READER = re.compile(r"  %\S+ = (?:fmul|fadd|fsub|fdiv|fcmp|select|call) .*splat \(")
_NUMBER = {  # a zero costs nothing
    name: re.compile(rf"splat \({name} (?!0x0{{16}}\))([^)]*)\)") for name in ("float", "double")
}


def in_memory(
    lines: Sequence[str], width: int, real: FloatType, name: str
) -> tuple[list[str], list[str], list[Global]]:
    """Return code that reads its numbers from memory, or the code as it is if it has few.

    Args:
        lines: of one function, an instruction or several each, on vectors of one register.
        width: lanes of a vector.
        real: their format.
        name: for the numbers in memory.

    Returns:
        What is to come before the code, the code, and the definitions of the numbers.
    """
    lines = [line for text in lines for line in text.split("\n")]
    found = {number for line in lines if _READER.match(line) for number in _NUMBER[real.llvm].findall(line)}
    return _read(lines, width, real, name) if len(found) >= _FEWEST else ([], lines, [])


def in_memory_where_inlined(
    functions: Sequence[Function], width: int, real: FloatType
) -> tuple[list[Function], list[Global]]:
    """Return functions, of which those that are inlined read numbers from memory, and definitions of these numbers."""
    changed: list[Function] = []
    tables: list[Global] = []
    for k, function in enumerate(functions):
        if function.attributes is Attributes.INLINED:
            entry, *lines = function.body
            before, lines, table = _read(lines, width, real, f"numbers.inlined.{k}")
            function = replace(function, body=[entry, *before, *lines])
            tables += table
        changed.append(function)
    return changed, tables


def _read(
    lines: Sequence[str], width: int, real: FloatType, name: str
) -> tuple[list[str], list[str], list[Global]]:
    vector = f"<{width} x {real.llvm}>"
    numbers: list[str] = []
    made: list[str] = []

    def read(found: re.Match[str]) -> str:
        k = len(numbers)
        numbers.append(f"{real.llvm} {found[1]}")
        made.append(
            f"  %n{k}.p = getelementptr {real.llvm}, ptr %near{k // _NEAR}, i64 {k % _NEAR - _NEAR // 2}"
        )
        made.append(f"  %n{k}.v = load {real.llvm}, ptr %n{k}.p")
        made.append(f"  %n{k}.l = insertelement {vector} poison, {real.llvm} %n{k}.v, i64 0")
        made.append(
            f"  %n{k} = shufflevector {vector} %n{k}.l, {vector} poison, <{width} x i32> zeroinitializer"
        )
        return f"%n{k}"

    number = _NUMBER[real.llvm]
    for line in lines:
        changed = number.sub(read, line) if _READER.match(line) else line
        made.append(changed)
    if not numbers:
        return [], made, []
    # By the code in between, which is none, the address is no longer known to be a distance from others.
    before = [
        f'  %near{k} = call ptr asm "", "=r,0"'
        f"(ptr getelementptr ({real.llvm}, ptr @{name}, i64 {_NEAR * k + _NEAR // 2}))"
        for k in range(-(-len(numbers) // _NEAR))
    ]
    return (
        before,
        made,
        [Global(name, f"[{len(numbers)} x {real.llvm}]", f"[{', '.join(numbers)}]")],
    )
