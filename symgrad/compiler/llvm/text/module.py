"""A module as records: functions, globals and declarations, with name, linkage and attributes as fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, NamedTuple, TypeAlias

from symgrad.compiler.llvm.text.instructions import Line, format_lines

Linkage: TypeAlias = Literal["internal", "external"]


class Attributes(IntEnum):
    """The groups of function attributes that every module defines."""

    USUAL = 0
    INLINED = 1
    AS_WRITTEN = 2
    """Neither optimised nor inlined."""
    REALIGNED = 3
    """A function that spills many values aligns its stack frame. Otherwise LLVM leaves the frame at a multiple of 16
    bytes, and in three of four processes every spilled vector crosses a cache line. A loop over thousands of equations
    then takes a third longer."""


_GROUPS = {
    Attributes.USUAL: "nounwind",
    Attributes.INLINED: "alwaysinline nounwind",
    Attributes.AS_WRITTEN: "noinline nounwind optnone",
    Attributes.REALIGNED: 'nounwind "stackrealign"',
}

ATTRIBUTES = "".join(f"attributes #{group:d} = {{ {names} }}\n" for group, names in _GROUPS.items())
"""The last lines of every module: the definitions of the groups."""


def _internal(linkage: Linkage) -> str:
    return "internal " if linkage == "internal" else ""


class FunctionDeclaration(NamedTuple):
    """A function that a module calls but does not define: its name without ``@``, and its types.

    Example:
        >>> print(FunctionDeclaration("sin", "double", ("double",), Attributes.USUAL))
        declare double @sin(double) #0
    """

    name: str
    returns: str
    parameters: Sequence[str]
    attributes: Attributes | None = None

    def __str__(self) -> str:
        group = "" if self.attributes is None else f" #{self.attributes:d}"
        return f"declare {self.returns} @{self.name}({', '.join(self.parameters)}){group}"


class Global(NamedTuple):
    """A constant or a variable: its name without ``@``, its type and its value.

    Example:
        >>> print(Global("left", "i64", "7", variable=True))
        @left = internal global i64 7
    """

    name: str
    kind: str
    value: str
    linkage: Linkage = "internal"
    variable: bool = False

    def __str__(self) -> str:
        what = "global" if self.variable else "constant"
        return f"@{self.name} = {_internal(self.linkage)}{what} {self.kind} {self.value}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a module defines.

    Args:
        name: the name without ``@``.
        returns: the type of the result.
        parameters: each as type and name.
        body: the lines of its code.
        linkage: external if other modules call it.
        attributes: its group of attributes.
        place: the number of its debug location (`debug_locations.py`); 0 for none.

    Example:
        >>> print(Function("same", "i64", ("i64 %x",), ["  ret i64 %x"], attributes=Attributes.INLINED))
        define internal i64 @same(i64 %x) #1 {
          ret i64 %x
        }
    """

    name: str
    returns: str
    parameters: Sequence[str]
    body: Sequence[Line]
    linkage: Linkage = "internal"
    attributes: Attributes = Attributes.USUAL
    place: int = 0

    @property
    def declaration(self) -> FunctionDeclaration:
        """The declaration for a module that only calls the function."""
        return FunctionDeclaration(self.name, self.returns, self.parameters, self.attributes)

    def __str__(self) -> str:
        head = f"{self.returns} @{self.name}({', '.join(self.parameters)}) #{self.attributes:d}"
        if self.place:
            head += f" !dbg !{self.place}"
        return "\n".join([f"define {_internal(self.linkage)}{head} {{", *format_lines(self.body), "}"])


Item: TypeAlias = "Function | Global | FunctionDeclaration | str"
"""An element of a module; plain text is a fixed part from a template (`templates.py`)."""


class Module:
    """The definitions and declarations of a module, in the order of the text."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = tuple(items)

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the functions that the module declares, without LLVM's intrinsics."""
        declared = (d.name for d in self.items if isinstance(d, FunctionDeclaration))
        return tuple(name for name in declared if not name.startswith("llvm."))

    def __str__(self) -> str:
        return "\n".join([*map(str, self.items), ATTRIBUTES])
