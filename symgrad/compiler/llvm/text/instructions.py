"""Instructions as records: their operands, and which of these are numbers, stay known until the text is printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias


class Splat(str):
    """The text of an operand with the same number in all lanes.

    Args:
        kind: the type of the number.
        digits: the number in LLVM's notation.

    Example:
        >>> Splat("double", "0x3FF0000000000000")
        'splat (double 0x3FF0000000000000)'
    """

    __slots__ = ("digits", "kind")

    kind: str
    digits: str

    def __new__(cls, kind: str, digits: str) -> Splat:
        self = super().__new__(cls, f"splat ({kind} {digits})")
        self.kind, self.digits = kind, digits
        return self


class Instruction(NamedTuple):
    """An instruction and its operands.

    Args:
        name: the name of its value; empty if it has no value.
        code: its text, with ``%s`` for every operand. An `Opcode` also has its fields.
        operands: names or numbers, in the order of the text.
        fuses: whether it may be part of a fused multiply-add.
        at: the number of its debug location (`debug_locations.py`); 0 for none.

    Example:
        >>> print(Instruction("%v2", "fadd <4 x double> %s, %s", ("%v0", "%v1")))
          %v2 = fadd <4 x double> %v0, %v1
    """

    name: str
    code: str
    operands: tuple[str, ...] = ()
    fuses: bool = False
    at: int = 0

    def __str__(self) -> str:
        return format_lines([self])[0]


class LineGroup(list["str | Instruction"]):
    """A group of lines in the place of one line; the group may be replaced later."""

    __slots__ = ()


Line: TypeAlias = "str | Instruction | LineGroup"
"""An element of code. Plain text is for lines that read no computed vector: labels, jumps, addresses."""


def flatten_lines(lines: Iterable[Line]) -> list[str | Instruction]:
    """Return the lines with all groups expanded."""
    found: list[str | Instruction] = []
    for line in lines:
        if isinstance(line, LineGroup):
            found += line
        else:
            found.append(line)
    return found


def with_debug_location(text: str, at: int) -> str:
    """Return the text of an instruction with its debug location, if it has one."""
    return f"{text}, !dbg !{at}" if at else text


def format_lines(lines: Iterable[Line]) -> list[str]:
    """Return the lines as text."""
    found: list[str] = []
    for line in lines:
        if isinstance(line, str):
            found.append(line)
        elif isinstance(line, LineGroup):
            found += format_lines(line)
        else:
            name, code, operands, _, at = line
            text = code % operands if operands else code
            if at:
                text = with_debug_location(text, at)
            found.append(f"  {name} = {text}" if name else f"  {text}")
    return found


def eliminate_dead_code(lines: Sequence[str | Instruction]) -> list[str | Instruction]:
    """Drop the instructions whose values are never read. There are no loops, so one backward pass is enough."""
    live: list[str | Instruction] = []
    read: set[str] = set()
    for line in reversed(lines):
        if isinstance(line, Instruction):
            if line.name and line.name not in read:
                continue
            read.update(line.operands)
        live.append(line)
    return live[::-1]
