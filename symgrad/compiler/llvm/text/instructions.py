"""Instructions as records until they are printed: what reads what is known, and which operands are numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

__all__ = [
    "Instruction",
    "Line",
    "LineGroup",
    "Splat",
    "flatten_lines",
    "format_lines",
    "with_debug_location",
]


class Splat(str):
    """A number for all lanes, as an operand is written.

    Args:
        kind: its type.
        digits: the number as LLVM writes it.

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
    """An instruction, with its operands apart.

    Args:
        name: of its value, empty if it gives none.
        code: its text with ``%s`` for every operand; as it is, if it has none. An `Opcode` has its parts too.
        operands: names or numbers, in this order.
        fuses: whether it may be rounded once together with others.
        at: the number of the place that it comes from (`places.py`), 0 where nobody asks.

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
    """Lines in the place of one, which may be changed when more is known."""

    __slots__ = ()


Line: TypeAlias = "str | Instruction | LineGroup"
"""What code consists of. Text is for what reads no vector that was computed: labels, jumps, addresses."""


def flatten_lines(lines: Iterable[Line]) -> list[str | Instruction]:
    """Return the lines one by one."""
    found: list[str | Instruction] = []
    for line in lines:
        if isinstance(line, LineGroup):
            found += line
        else:
            found.append(line)
    return found


def with_debug_location(text: str, at: int) -> str:
    """Return an instruction with the number of the place that it comes from, if it has one."""
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
