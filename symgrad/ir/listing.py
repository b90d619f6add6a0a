"""A program as it was written: the graph with the names and places of its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import NotInProgramError
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import flatten, rebuild
from symgrad.source import Location, Source, Span

__all__ = ["Listing", "one_of", "suggest"]

_SHOWN = 30  # names of many
_LONG = 60  # characters of a name


def one_of(names: Iterable[str]) -> str | None:
    """Return what is expected where names are known, shortened if they are many or long; None if there are none.

    Example:
        >>> one_of(["x", "y"])
        'one of x, y'
        >>> one_of(f"x{k}" for k in range(10_000))[-31:]
        ', x28, x29, ... (10,000 in all)'
    """
    known = list(names)
    if not known:
        return None
    more = f", ... ({len(known):,} in all)" if len(known) > _SHOWN else ""
    short = (name if len(name) <= _LONG else f"{name[:_LONG]}..." for name in known[:_SHOWN])
    return "one of " + ", ".join(short) + more


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
        undeclared: names that a text of one bare expression reads without declaring them.
        given: what names meant before the text.
    """

    symbols: Mapping[str, Node]
    assignments: Mapping[str, Node]
    result: Node | None = None
    source: Source | None = None
    spans: Mapping[Node, Span] = field(default_factory=dict[Node, Span])
    name_spans: Mapping[str, Span] = field(default_factory=dict[str, Span])
    undeclared: tuple[str, ...] = ()
    given: Mapping[str, Node] = field(default_factory=dict[str, Node])

    def __reduce__(self) -> tuple[object, ...]:
        # One flat list for all nodes: shared equations are written once, deep ones without recursion.
        spans = list(self.spans.items())
        nodes = [
            *self.symbols.values(),
            *self.assignments.values(),
            *self.given.values(),
            *(n for n, _ in spans),
        ]
        result = () if self.result is None else (self.result,)
        names = (tuple(self.symbols), tuple(self.assignments), tuple(self.given))
        return (
            _unpickle,
            (
                flatten([*nodes, *result]),
                names,
                [s for _, s in spans],
                bool(result),
                self.source,
                dict(self.name_spans),
                self.undeclared,
            ),
        )

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
            expected=one_of(known),
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


def _unpickle(
    flat: list[tuple[Any, ...]],
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
    spans: list[Span],
    has_result: bool,
    source: Source | None,
    name_spans: Mapping[str, Span],
    undeclared: tuple[str, ...] = (),
) -> Listing:
    nodes = iter(rebuild(flat) if any(names) or spans or has_result else [])
    symbols, assignments, given = ({name: next(nodes) for name in group} for group in names)
    placed = {next(nodes): span for span in spans}
    result = next(nodes) if has_result else None
    return Listing(symbols, assignments, result, source, placed, name_spans, undeclared, given)
