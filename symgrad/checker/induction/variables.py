"""Programs to which variables are added: values of recurrences, and rows of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from math import prod

from symgrad.checker.program.builder import Shape, StepBuilder
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.length_polynomials import (
    ZERO,
    Size,
    add,
    length_polynomial,
    length_text,
    subtract,
)
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.support.errors import UsageError
from symgrad.support.traversal import postorder

COMPARISONS: Mapping[str, Callable[..., bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


class ProgramBuilder(StepBuilder):
    """Steps and variables.

    Args:
        symbols: the variables that there are.
        steps: the steps that there are; they keep their positions.
    """

    def __init__(self, symbols: Sequence[Symbol], steps: Sequence[ProofStep] = ()) -> None:
        super().__init__(steps)
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

    def length(self, length: Size, of: Mapping[str, int] | None = None) -> int:
        """Append a length as a number.

        Args:
            length: the length.
            of: the steps that names of lengths are; by default the length is one step.

        Raises:
            UsageError: if the length is no polynomial in names.
        """
        if not any(monomial for monomial, _ in length):
            return self.number(dict(length).get((), 0))
        if of is None:
            return self.step(ProofStep("size", (), (length_text(length),), (), "int"))
        total: int | None = None
        for monomial, c in length:
            if not all(isinstance(x, str) for x in monomial):
                raise UsageError("a length that is no polynomial")
            term = reduce(partial(self._integer_op, "mul"), (of[x] for x in monomial), self.number(c))
            total = term if total is None else self._integer_op("add", total, term)
        return self.number(0) if total is None else total

    def _integer_op(self, op: str, a: int, b: int) -> int:
        if op == "mul" and self.value(a) == 1:
            return b
        return self.decided(ProofStep(op, (a, b), (), (), "int"))

    def as_length(self, at: int) -> Size | None:
        """Return an integer as a length, if it is a sum of numbers and lengths; otherwise None."""
        step, value = self.steps[at], self.value(at)
        if value is not None:
            return length_polynomial(int(value)) if value.denominator == 1 else None
        if step.op == "size":
            return length_polynomial(step.params[0])
        parts = (
            [self.as_length(a) for a in step.args] if step.op in ("add", "neg") and not step.shape else [None]
        )
        known = [p for p in parts if p is not None]
        if len(known) < len(parts):
            return None
        return add(known) if step.op == "add" else subtract(ZERO, known[0])

    def row_variable(self, at: int, axis: int) -> int:
        """Append a variable for an array at one entry of an axis."""
        step = self.steps[at]
        like = self._symbols[step.params[0]] if step.op == "symbol" else None
        kind = "bool" if step.kind == "bool" else "real"
        return self.variable("row", (*step.shape[:axis], *step.shape[axis + 1 :]), like, kind)

    def needed(self, at: Sequence[int]) -> Iterable[int]:
        """Return some steps and those that they read, each after what it reads."""
        return postorder(at, lambda i: self.steps[i].args)

    def replaced(self, at: int, new: Mapping[int, int]) -> int:
        """Return a step that reads new steps where it read others, of the same shapes, and decides what is known."""
        found = dict(new)
        for i in self.needed([at]):
            if i not in found:
                args = tuple(found[a] for a in self.steps[i].args)
                found[i] = (
                    self.decided(replace(self.steps[i], args=args)) if args != self.steps[i].args else i
                )
        return found[at]

    def inlined(self, program: ProofProgram, inputs: Mapping[str, int], wanted: Sequence[int]) -> list[int]:
        """Append the steps of a program, whose variables are known steps; return the positions of some of them."""
        at: dict[int, int] = {}
        for i in program.needed(wanted):
            step = program.steps[i]
            moved = replace(step, args=tuple(at[a] for a in step.args))
            at[i] = inputs[step.params[0]] if step.op == "symbol" else self.decided(moved)
        return [at[i] for i in wanted]

    def _constant(self, at: int) -> Fraction | bool | None:
        """Return the number, or the truth value, that all entries of a step are, otherwise None."""
        while self.steps[at].op in ("reshape", "broadcast_to"):
            (at,) = self.steps[at].args
        return self.steps[at].params[0] if self.steps[at].op == "number" else None

    def decided(self, step: ProofStep) -> int:
        """Append a step; a comparison of numbers, and a choice with a known condition, become what they are."""
        values = [self._constant(a) for a in step.args]
        if step.op == "where" and values[0] is not None:
            return self.full(step.args[1 if values[0] else 2], step.shape)
        if step.op in COMPARISONS and None not in values:
            truth = self.step(ProofStep("number", (), (COMPARISONS[step.op](*values),), (), "bool"))
            spread = ProofStep("broadcast_to", (truth,), (step.shape,), step.shape, "bool")
            return self.step(spread) if step.shape else truth
        numbers = [v for a in step.args if (v := self.value(a)) is not None]
        if step.op in ("add", "mul") and not step.shape and len(numbers) == 2:
            return self.number(sum(numbers) if step.op == "add" else prod(numbers))
        return self.step(step)

    def has_variable(self, name: str) -> bool:
        """Tell whether there is a variable with a name."""
        return name in self._symbols

    def allows(self, variable: int, value: int) -> bool:
        """Tell whether a variable may have a value: a number may lie outside its interval."""
        symbol, number = self._symbols[self.steps[variable].params[0]], self.value(value)
        if number is None:
            return True
        if symbol.kind == "int" and number.denominator != 1:
            return False
        return (symbol.low is None or symbol.low < number) and (symbol.high is None or number < symbol.high)

    def equality(self, a: int, b: int) -> Equality:
        """Return the claim that two steps are equal, with the steps and variables that they read.

        It depends on these alone, not on what else was appended: a proof refers to steps by their positions.
        """
        place: dict[int, int] = {}
        steps: list[ProofStep] = []
        symbols: dict[str, Symbol] = {}
        for at in self.needed([a, b]):
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
