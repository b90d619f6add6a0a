"""Programs to which variables are added: values of recurrences, and rows of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from symgrad.checker.program.builder import Shape, StepBuilder
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.support.traversal import postorder


class ProgramBuilder(StepBuilder):
    """Steps and variables.

    Args:
        symbols: the variables that there are.
    """

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        super().__init__(())
        self._symbols = {s.name: s for s in symbols}
        self._words: dict[str, str] = {}

    def variable(self, word: str, shape: Shape, like: Symbol | None = None, kind: str = "real") -> int:
        """Append a variable.

        Args:
            word: what it stands for.
            shape: its shape.
            like: a variable whose values it has.
            kind: its kind, if there is no such variable.
        """
        name = f"{word} {len(self._symbols)}"  # with a space: no program can declare it
        new = Symbol(name, kind, None, None, shape)
        if like is not None:
            new = Symbol(name, like.kind, like.low, like.high, shape, ends=like.ends)
        self._symbols[name] = new
        self._words[name] = word
        return self.step(ProofStep("symbol", (), (name,), shape, new.kind))

    def position_variable(self, count: int | str) -> int:
        """Append a variable for positions from 0 on, of which there are so many."""
        high, end = (Fraction(count), None) if isinstance(count, int) else (None, count)
        positions = Symbol("", "int", Fraction(-1), high, ends=(None, end))
        return self.variable("position", (), positions)

    def row_variable(self, at: int, axis: int) -> int:
        """Append a variable for an array at one entry of an axis."""
        step = self.steps[at]
        like = self._symbols[step.params[0]] if step.op == "symbol" else None
        kind = "bool" if step.kind == "bool" else "real"
        return self.variable("row", (*step.shape[:axis], *step.shape[axis + 1 :]), like, kind)

    def equality(self, a: int, b: int) -> Equality:
        """Return the claim that two steps are equal, with the steps and variables that they read.

        It depends on these alone, not on what else was appended: a proof refers to steps by their positions.
        """
        place: dict[int, int] = {}
        steps: list[ProofStep] = []
        symbols: dict[str, Symbol] = {}
        for at in postorder([a, b], lambda i: self.steps[i].args):
            step = self.steps[at]
            params = step.params
            if step.op == "symbol":
                symbol = self._symbols[params[0]]
                if symbol.name in self._words:
                    symbol = replace(symbol, name=f"{self._words[symbol.name]} {len(symbols) + 1}")
                symbols[step.params[0]] = symbol
                params = (symbol.name,)
            place[at] = len(steps)
            args = tuple(place[x] for x in step.args)
            steps.append(replace(step, args=args, params=params))
        return Equality(ProofProgram(tuple(steps), tuple(symbols.values())), place[a], place[b])
