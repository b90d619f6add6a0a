"""Listings: a graph with the names and places of its program text, and suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from symgrad.ir.body import Body, StepNotation
from symgrad.ir.graph import SYMBOL, Node, number
from symgrad.ir.traverse import flatten, rebuild
from symgrad.ir.types import Number
from symgrad.support.errors import NotInProgramError
from symgrad.support.source import Location, Place, Source, Span

_SHOWN = 30  # names in a message
_LONG = 60  # characters of a name in a message
_INDEXED = 12  # characters of the longest name whose deletions are indexed


def one_of(names: Iterable[str]) -> str | None:
    """Return the text of a choice of names, shortened if the names are many or long; None if there are no names.

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
    """Return "did you mean 'x'?" for the closest known name, or None.

    Example:
        >>> suggest("heigth", ["x", "height"]), suggest("v", ["x", "V"]), suggest("sigma", ["sinm"])
        ("did you mean 'height'?", "did you mean 'V'?", None)
        >>> suggest("sine", ["sinh", "sin"])
        "did you mean 'sin'?"
    """
    names = list(known)
    close = [n for n in names if name and n.lower() == name.lower()]
    return _question(close[0]) if close else _nearest(name, enumerate(names))


class Suggestions:
    """An index of known names for many suggestions; `suggest` itself compares each name with all known names.

    If two words differ by d slips, at most d deletions from each lead to a common word, so an index by deletions finds
    all candidates (the algorithm of SymSpell).

    Args:
        known: the names.

    Example:
        >>> names = Suggestions(["x", "height"])
        >>> names.suggest("heigth"), names.suggest("width")
        ("did you mean 'height'?", None)
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._names = list(known)
        self._by_case: dict[str, str] = {}
        self._by_deletion: dict[str, list[int]] = {}
        self._long: list[int] = []
        for k, name in enumerate(self._names):
            self._by_case.setdefault(name.lower(), name)
            if len(name) > _INDEXED:
                self._long.append(k)
            else:
                for key in _deletions(name):
                    self._by_deletion.setdefault(key, []).append(k)

    def suggest(self, name: str) -> str | None:
        """Return the result of the function `suggest` for the known names."""
        if name and name.lower() in self._by_case:
            return _question(self._by_case[name.lower()])
        if len(name) > _INDEXED:
            return _nearest(name, enumerate(self._names))
        near = {k for key in _deletions(name) for k in self._by_deletion.get(key, ())}
        return _nearest(name, ((k, self._names[k]) for k in sorted({*near, *self._long})))


def _deletions(name: str) -> set[str]:
    """Return the words after deleting at most as many letters as a name may have slips, and merging doubled letters."""
    found = level = {name}
    # A word with d slips is at most d letters longer, so d <= (length + d) // 4.
    for _ in range(len(name) // 3):
        level = {w[:k] + w[k + 1 :] for w in level for k in range(len(w))}
        found = found | level
    return found | {_undoubled(name)}


def _question(name: str) -> str:
    return f"did you mean '{name}'?"


def _nearest(name: str, known: Iterable[tuple[int, str]]) -> str | None:
    """Return the question for the near name with the fewest slips; None if no name is near."""
    # Near means one slip in up to seven letters, two slips in up to eleven letters, and so on.
    slips = ((_slips(name, n), k, n) for k, n in known)
    near = [(d, -_prefix(name, n), not name.startswith(n), k, n) for d, k, n in slips if _is_near(name, n, d)]
    return _question(min(near)[-1]) if near else None


def _prefix(a: str, b: str) -> int:
    """Return the length of the common prefix of two words."""
    return next((i for i, (p, q) in enumerate(zip(a, b, strict=False)) if p != q), min(len(a), len(b)))


def _is_near(name: str, other: str, slips: int) -> bool:
    longest = max(len(name), len(other))
    if slips <= longest // 4 or (slips == 1 and longest == 3 and name[:1] == other[:1]):
        return True
    return _undoubled(name) == _undoubled(other)


def _undoubled(name: str) -> str:
    """Return a name in which each run of a letter is reduced to one letter."""
    return "".join(letter for letter, _ in groupby(name))


def _slips(a: str, b: str) -> int:
    """Return the Damerau-Levenshtein distance of two words: insertions, deletions, substitutions, transpositions."""
    rows = [list(range(len(b) + 1))]
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != other))
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


@dataclass(frozen=True, slots=True)
class Derivative:
    """The record that a node is a derivative.

    Args:
        y: the value that is differentiated.
        by: the variables, one after another.
    """

    y: Node
    by: tuple[Node, ...]

    @property
    def is_simple(self) -> bool:
        """Whether it is a gradient, or a derivative of any order of one number by numbers."""
        return not self.y.shape and (len(self.by) < 2 or not any(b.shape for b in self.by))


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Listing:
    """Declarations and assignments in the order of the text.

    Args:
        symbols: declared names (and random inputs) with their symbol nodes.
        assignments: assigned names with their nodes.
        result: the bare expression that ends the text, or None.
        source: the text, or None for programs built in Python.
        spans: for each node, its first place in the text.
        name_spans: for each declared or assigned name, the place of its definition.
        undeclared: names that a text of one bare expression uses without a declaration.
        given: the names that were defined before the text, with their nodes.
        places: for each node of a program that was imported from other code, the line of code that computes it.
        framework: the framework of this code, such as ``"torch"``; None for NumPy and other programs.
        derivatives: the nodes that the text writes as derivatives, such as grad(f, x).
        decimals: the positive numbers that are written as decimals where a formula first has them, each with its text.
        steps: how the text writes the steps of recurrences.
        sizes: the names of sizes, also of those that no array has.
    """

    symbols: Mapping[str, Node]
    assignments: Mapping[str, Node]
    result: Node | None = None
    source: Source | None = None
    spans: Mapping[Node, Span] = field(default_factory=dict[Node, Span])
    name_spans: Mapping[str, Span] = field(default_factory=dict[str, Span])
    undeclared: tuple[str, ...] = ()
    given: Mapping[str, Node] = field(default_factory=dict[str, Node])
    places: Mapping[Node, Place] = field(default_factory=dict[Node, Place])
    framework: str | None = None
    derivatives: Mapping[Node, Derivative] = field(default_factory=dict[Node, Derivative])
    decimals: Mapping[Number, str] = field(default_factory=dict[Number, str])
    steps: Mapping[Body, StepNotation] = field(default_factory=dict[Body, StepNotation])
    sizes: frozenset[str] = frozenset()
    _spellings: list[dict[Node, str]] = field(
        default_factory=list[dict[Node, str]], init=False, repr=False, compare=False
    )

    def __reduce__(self) -> tuple[object, ...]:
        # All nodes are in one flat list, so shared equations are written once, and deep equations without recursion.
        spans, places = list(self.spans.items()), list(self.places.items())
        nodes = [
            *self.symbols.values(),
            *self.assignments.values(),
            *self.given.values(),
            *(n for n, _ in spans),
            *(n for n, _ in places),
            *(n for made, d in self.derivatives.items() for n in (made, d.y, *d.by)),
        ]
        result = () if self.result is None else (self.result,)
        names = (tuple(self.symbols), tuple(self.assignments), tuple(self.given))
        return (
            _unpickle,
            (
                flatten([*nodes, *result]),
                names,
                [s for _, s in spans],
                [p for _, p in places],
                bool(result),
                self.source,
                dict(self.name_spans),
                self.undeclared,
                self.framework,
                [len(d.by) for d in self.derivatives.values()],
                dict(self.decimals),
                dict(self.steps),
                self.sizes,
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
        """Return the name of every named node.

        If a node has several names, the first is returned; a symbol keeps its own name.
        """
        named: dict[Node, str] = {}
        for name, node in self.assignments.items():
            if node.op is not SYMBOL:
                named.setdefault(node, name)
        named.update((node, name) for name, node in self.symbols.items())
        return named

    @property
    def spellings(self) -> Mapping[Node, str]:
        """The texts of decimals, also with a minus sign; an integer stays one, unless its text is shorter: 1e9."""
        if not self._spellings:
            texts = {v: t for v, t in self.decimals.items() if v.denominator > 1 or len(t) < len(str(v))}
            signed = {number(s * v): "-" * (s < 0) + text for v, text in texts.items() for s in (1, -1)}
            self._spellings.append(signed)
        return self._spellings[0]

    def location(self, node: Node) -> Location | None:
        """Return the first place of a node in the text, or in the code from which the program was imported."""
        if node in self.places:
            return self.places[node].location()
        span = self.spans.get(node)
        return Location(self.source, span) if self.source is not None and span is not None else None


def spellings_of(listings: Sequence[Listing]) -> Mapping[Node, str]:
    """Return how programs spell numbers; the first program takes precedence."""
    if len(listings) == 1:
        return listings[0].spellings
    return {n: text for listing in reversed(listings) for n, text in listing.spellings.items()}


def _unpickle(
    flat: list[tuple[Any, ...]],
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
    spans: list[Span],
    places: list[Place],
    has_result: bool,
    source: Source | None,
    name_spans: Mapping[str, Span],
    undeclared: tuple[str, ...] = (),
    framework: str | None = None,
    orders: Sequence[int] = (),
    decimals: Mapping[Number, str] = {},
    steps: Mapping[Body, StepNotation] = {},
    sizes: frozenset[str] = frozenset(),
) -> Listing:
    nodes = iter(rebuild(flat) if any(names) or spans or places or has_result else [])
    symbols, assignments, given = ({name: next(nodes) for name in group} for group in names)
    spanned = {next(nodes): span for span in spans}
    placed = {next(nodes): place for place in places}
    derivatives = {
        next(nodes): Derivative(next(nodes), tuple(next(nodes) for _ in range(order))) for order in orders
    }
    result = next(nodes) if has_result else None
    parts = (
        source,
        spanned,
        name_spans,
        undeclared,
        given,
        placed,
        framework,
        derivatives,
        decimals,
        steps,
        sizes,
    )
    return Listing(symbols, assignments, result, *parts)
