"""A program as it was written: the graph with the names and places of its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from symgrad.errors import NotInProgramError
from symgrad.ir.graph import SYMBOL, Node
from symgrad.source import Location, Source, Span

__all__ = ["Listing", "suggest"]


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Return "did you mean 'x'?" for the closest known name, or None."""
    from difflib import get_close_matches  # only ever needed for a message

    close = get_close_matches(name, list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else None


@dataclass(frozen=True, slots=True)
class Listing:
    """Declarations and assignments in the order of the text.

    Args:
        symbols: declared names (and random inputs) with their symbol nodes.
        assignments: assigned names with their nodes.
        result: the bare expression that ends the text, or None.
        source: the text, or None for programs built in Python.
        spans: for each node, where the text first writes it.
        name_spans: for each declared or assigned name, where it is defined.
    """

    symbols: Mapping[str, Node]
    assignments: Mapping[str, Node]
    result: Node | None = None
    source: Source | None = None
    spans: Mapping[Node, Span] = field(default_factory=dict[Node, Span])
    name_spans: Mapping[str, Span] = field(default_factory=dict[str, Span])

    def __getitem__(self, name: str) -> Node:
        """Return the node of a declared or assigned name.

        Raises:
            NotInProgramError: if the program has no such name.
        """
        if name in self.assignments:
            return self.assignments[name]
        if name in self.symbols:
            return self.symbols[name]
        known = (*self.symbols, *self.assignments)
        raise NotInProgramError(
            f"the program has no '{name}'",
            expected="one of " + ", ".join(known) if known else None,
            cure=suggest(name, known),
        )

    def __contains__(self, name: object) -> bool:
        return name in self.assignments or name in self.symbols

    @property
    def names(self) -> tuple[str, ...]:
        """All names, declarations first, in the order of the text."""
        return (*self.symbols, *self.assignments)

    def name_of(self) -> dict[Node, str]:
        """Return the name of every named node; the first name wins, and a symbol keeps its own."""
        named: dict[Node, str] = {}
        for name, node in self.assignments.items():
            if node.op is not SYMBOL:
                named.setdefault(node, name)
        named.update((node, name) for name, node in self.symbols.items())
        return named

    def location(self, node: Node) -> Location | None:
        """Return where the text first writes a node."""
        span = self.spans.get(node)
        return Location(self.source, span) if self.source is not None and span is not None else None
