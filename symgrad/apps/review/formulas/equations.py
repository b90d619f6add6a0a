"""The equations that a document takes to hold, and the values that it gives to inputs."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from symgrad.apps.review.assumptions import Assumption, Condition
from symgrad.ir.graph import Node
from symgrad.ir.traverse import substitute, symbols_of, topological


class DocumentEquations:
    """The equations of a document.

    Attributes:
        fixed: symbols that the document gives a value from some line on.
        moving: those of them whose values are formulas of variables.
        units: inputs whose names may be units behind numbers: m, in r = 0.5 m.
        points: those of them whose values words give, as in "at x = 3", with the last lines that these words are about.
        conditions: the equations that are taken to hold, or are asked for.
        solved: by symbols, the equations by which they were found.
        assumptions: what verdicts rest on, by its text.
    """

    def __init__(self) -> None:
        self.fixed: dict[Node, Node] = {}
        self.moving: set[Node] = set()
        self.units: set[Node] = set()
        self.points: dict[Node, int] = {}
        self.conditions: list[Condition] = []
        self.solved: dict[Node, list[Condition]] = {}
        self.assumptions: dict[str, Assumption] = {}
        self._assumed: dict[Node, str] = {}  # of the symbols that are fixed

    def fix(self, symbol: Node, value: Node, assumption: Assumption) -> None:
        """Give an input a value for all that is below, and for the values that others have by it."""
        self.assumptions.setdefault(assumption.text, assumption)
        self._assumed[symbol] = assumption.text
        (value,) = substitute([value], {s: v for s, v in self.fixed.items() if s is not symbol})
        self.fixed = {s: substitute([v], {symbol: value})[0] for s, v in self.fixed.items()}
        self.fixed[symbol] = value

    @contextmanager
    def for_all_values(self, *, everywhere: bool = False) -> Generator[None]:
        """Read and judge without the values of inputs, within a with statement; everywhere: without equations, too."""
        values, conditions = self.fixed, self.conditions
        self.fixed = {}
        if everywhere:
            self.conditions = []
        try:
            yield
        finally:
            self.fixed = values
            if everywhere:
                self.conditions = conditions

    def release(self, symbol: Node) -> None:
        """Take back the value of an input, which has others as well."""
        self.fixed.pop(symbol, None)
        self.points.pop(symbol, None)
        self.assumptions.pop(self._assumed.pop(symbol, ""), None)

    def following(self, node: Node, by: Sequence[Node]) -> Node:
        """Return a formula where inputs that the document found as formulas of a variable are these formulas.

        What follows x is differentiated by x with it: A = x*y, and y = 20 - x from a line above.
        """
        found = {s: v for s, v in self.fixed.items() if s in self.moving and s not in by}
        found = {s: v for s, v in found.items() if not set(by).isdisjoint(topological([v]))}
        return substitute([node], found)[0] if found else node

    def hold(self, condition: Condition) -> None:
        """Take an equation to hold from here on."""
        self.conditions.append(condition)

    def sought(self) -> list[Condition]:
        """Return the equations that are to be solved, also those that are by now."""
        every = [*self.conditions, *(c for solved in self.solved.values() for c in solved)]
        return [c for c in every if c.asked]

    def settle(self, symbol: Node, conditions: Iterable[Condition]) -> None:
        """Remember by which equations a symbol was found; what they ask for is answered."""
        answered = [c for c in conditions if c.asked]
        self.solved.setdefault(symbol, []).extend(answered)
        self.conditions = [c for c in self.conditions if c not in answered]

    def asked_of(self, symbol: Node) -> list[Condition]:
        """Return the equations that ask for a symbol, the last one first; also those that were answered."""
        fixed = {s: v for s, v in self.fixed.items() if s is not symbol}
        found = [c for c in reversed(self.conditions) if c.asked and symbol in set(symbols_of(c.at(fixed)))]
        return found + [c for c in self.solved.get(symbol, ()) if c not in found]
