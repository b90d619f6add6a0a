"""Debug locations: LLVM's assembly then shows for each instruction the equation that it comes from.

A debug location of LLVM is a line of a file; here the line number stands for an equation.
"""

from __future__ import annotations

from symgrad.ir.graph import Node

_FIRST = 10
"""The first number of a location; smaller numbers belong to the metadata that every module has."""


class DebugLocations:
    """The debug locations of the instructions of a module, by number.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> places = DebugLocations()
        >>> x = symbol(Declaration("x"))
        >>> places.number("body", x) == places.number("body", x)
        True
        >>> places.node(places.number("body", x)) is x
        True
    """

    def __init__(self) -> None:
        self._functions: dict[str, int] = {}
        self._numbers: dict[tuple[int, Node | None], int] = {}
        self._nodes: dict[int, Node | None] = {}

    def function(self, name: str) -> int:
        """Return the number of a function."""
        if name not in self._functions:
            self._functions[name] = self._next()
        return self._functions[name]

    def number(self, function: str, node: Node | None) -> int:
        """Return the number of an equation in a function; None stands for the code of its loops."""
        key = self.function(function), node
        if key not in self._numbers:
            self._numbers[key] = self._next()
            self._nodes[self._numbers[key]] = node
        return self._numbers[key]

    def _next(self) -> int:
        return _FIRST + len(self._functions) + len(self._numbers)

    def node(self, number: int) -> Node | None:
        """Return the equation with a number, or None."""
        return self._nodes.get(number)

    def metadata(self) -> str:
        """Return the metadata at the end of a module with debug locations."""
        lines = [
            "!llvm.dbg.cu = !{!0}",
            "!llvm.module.flags = !{!2}",
            "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)",
            '!1 = !DIFile(filename: "program", directory: "")',
            '!2 = !{i32 2, !"Debug Info Version", i32 3}',
            "!3 = !DISubroutineType(types: !{})",
        ]
        about = "scope: !1, file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition"
        lines += [
            f'!{k} = distinct !DISubprogram(name: "{name}", {about})' for name, k in self._functions.items()
        ]
        lines += [
            f"!{k} = !DILocation(line: {k}, scope: !{function})" for (function, _), k in self._numbers.items()
        ]
        return "\n".join(lines)
