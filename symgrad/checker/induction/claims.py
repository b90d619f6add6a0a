"""The claims by which values of recurrences are equal.

Two recurrences with the same number of steps have equal values if their first values are equal, and if one step from
equal values gives equal values, for all values of what it reads. So the values of a recurrence become variables, in
the order of the program, and a recurrence that has the values of an earlier one gets the same variables. What is left
is a claim about a program without recurrences, for all values of these variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from symgrad.checker.induction.rows import RowBuilder
from symgrad.checker.induction.values import StepRecurrence, StepValues, ValuesAt
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.builder import Shape
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.length_polynomials import (
    ONE,
    ZERO,
    Size,
    length_polynomial,
    subtract,
)
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody
from symgrad.support.errors import UsageError

Pair = Sequence[Sequence[int]]
"""Two carries, each given by the position of its recurrence and its number."""


class Induction:
    """The claims of a proof by induction, in the order of the recurrences of a program.

    Args:
        program: the steps.
    """

    def __init__(self, program: ProofProgram) -> None:
        self._program = program
        self._into = ProgramBuilder(program.symbols)
        self._at: dict[int, int] = {}
        self._whole: dict[int, tuple[int, ...]] = {}
        self.known: dict[int, StepRecurrence] = {}
        self._entries = ValuesAt(self._into, self.known)

    def recurrences(self) -> Iterator[StepRecurrence]:
        """Yield the recurrences in order; `identify` or `keep` follows each."""
        for i, step in enumerate(self._program.steps):
            if step.op == "recurrence":
                length, reverse, body = step.params
                args = [self._position(a) for a in step.args]
                first, second = body.carries, body.carries + body.rows
                parts = tuple(args[:first]), tuple(args[first:second]), tuple(args[second:])
                yield StepRecurrence(i, length, bool(reverse), body, *parts, values=())
            elif step.op == "part" and step.args[0] in self._whole:
                self._at[i] = self._whole[step.args[0]][step.params[0]]
            elif all(a in self._at for a in step.args):
                args = tuple(self._at[a] for a in step.args)
                moved = replace(step, args=args)
                entry = self._entries.read(moved)
                self._at[i] = self._into.step(moved) if entry is None else entry

    def _position(self, at: int) -> int:
        if at not in self._at:
            raise UsageError("several values of a recurrence are read side by side")
        return self._at[at]

    def _set(self, at: int, values: tuple[int, ...]) -> None:
        self._whole[at] = values
        if len(values) == 1:
            (self._at[at],) = values

    def keep(self, new: StepRecurrence) -> None:
        """Make new variables for the values of a recurrence."""
        rows = self._program.steps[new.at].shape[:1]
        earlier = _delayed(new.body)
        values = {
            k: self._into.variable("values", (*rows, *shape))
            for k, shape in enumerate(new.shapes)
            if k not in earlier
        }
        while len(values) < len(new.shapes):  # a carry that has the value of another one a step before
            values.update(
                (k, self._earlier_values(new, k, values[j])) for k, j in earlier.items() if j in values
            )
        found = tuple(values[k] for k in range(len(new.shapes)))
        self.known[new.at] = replace(new, values=found)
        self._set(new.at, found)

    def _earlier_values(self, recurrence: StepRecurrence, number: int, other: int) -> int:
        """Return all values of a carry that at each step gets the value of another one before the step."""
        start, shape = recurrence.starts[number], self._into.shape(other)
        first = self._into.reshape(self._into.full(start, shape[1:]), (1, *shape[1:]))
        triple = (1, None, 1) if recurrence.reverse else (None, recurrence.length, 1)
        whole = [(None, None, 1)] * (len(shape) - 1)
        rest = self._into.step(
            ProofStep("slice", (other,), ((triple, *whole),), (recurrence.length, *shape[1:]))
        )
        parts = (rest, first) if recurrence.reverse else (first, rest)
        return self._into.step(ProofStep("concatenate", parts, (0,), shape))

    def identify(self, new: StepRecurrence, known: int) -> list[Equality]:
        """Give a recurrence the variables of a known one; return the claims by which it has the same values.

        Args:
            new: the recurrence.
            known: the position of the other one.

        Raises:
            UsageError: if their numbers of steps or the shapes of their values differ.
        """
        old = self.known.get(known)
        if old is None or not are_alike(old, new):
            raise UsageError(f"the recurrences of step {known} and step {new.at} have different values")
        steps = StepValues(self._into, old.length, self.known.values())
        # The other recurrence may read the values of the known one, before a step and after it.
        before, after = steps.before(old), steps.after(old)
        claims = [
            *zip(old.starts, new.starts, strict=True),
            *zip(after, steps.results(new, before), strict=True),
        ]
        self._set(new.at, old.values)
        return [self._into.equality(a, b) for a, b in claims]

    def side_claims(self, a: int, b: int, terms: int | None, pairs: Sequence[Pair] = ()) -> list[Equality]:
        """Return the claims by which two steps of the program are equal.

        Products p of pairs of values are summed by parts: for T steps the sum of p[t] - p[t-1] is p[T] - p[0]. So the
        sides are equal if the terms of their sums differ by p[t-1] - p[t] at each step, and what else is added differs
        by p[T] - p[0]. This is how an adjoint recurrence belongs to the recurrence of the tangents.

        Args:
            a: the position of one step.
            b: the position of the other step.
            terms: None: that they are; the position of a recurrence: that at each of its steps rows of both are, or
                terms of sums over the steps, and what is added to these sums.
            pairs: values of recurrences with as many steps; the products of the entries of each pair are summed, with
                the other sign if the first of a pair runs back.

        Raises:
            UsageError: if both sides are no arrays of that length, and no sums over the steps.
        """
        left, right = self._position(a), self._position(b)
        if terms is None:
            return [self._into.equality(left, right)]
        if terms not in self.known:
            raise UsageError(f"step {terms} is no recurrence with values of its own")
        length = self.known[terms].length
        size = length_polynomial(length)
        rows = StepValues(self._into, length, self.known.values()).rows
        shape = self._into.shape(left)
        if shape and length_polynomial(shape[0]) == size and not pairs:
            return [self._into.equality(rows.row(left), rows.row(right))]
        sides = [self._split(rows, side) for side in (left, right)]
        if not pairs and not any(some for some, _ in sides):
            raise UsageError("no side is a sum over the steps")
        for p, q in pairs:
            x, y = self._values(p, size), self._values(q, size)
            earlier, later = (self._product(rows.row(x, 0, k), rows.row(y, 0, k), shape) for k in (ZERO, ONE))
            first, last = (
                self._product(self._entries.at(x, k), self._entries.at(y, k), shape) for k in (ZERO, size)
            )
            products = (later, first), (earlier, last)
            for side, own in zip(
                sides, products[::-1] if self.known[p[0]].reverse else products, strict=True
            ):
                for part, product in zip(side, own, strict=True):
                    part.append(product)
        both = zip(*([self._total(part, shape) for part in side] for side in sides), strict=True)
        return [self._into.equality(x, y) for x, y in both]

    def _values(self, carry: Sequence[int], size: Size) -> int:
        """Return all values of a carry, given by the position of its recurrence and its number."""
        at, number = carry
        if at not in self.known or self.known[at].steps != size or number >= len(self.known[at].values):
            raise UsageError(f"step {at} is no recurrence with so many steps and values")
        return self.known[at].values[number]

    def _product(self, x: int, y: int, shape: Shape) -> int:
        """Return the sum of the products of all entries of two arrays."""
        labels = tuple(range(len(self._into.shape(x))))
        if self._into.shape(x) != self._into.shape(y) or shape:
            raise UsageError("values of different shapes, or sides with axes")
        return self._into.contract([(x, labels), (y, labels)], ()) if labels else self._into.op("mul", x, y)

    def _split(self, rows: RowBuilder, total: int) -> tuple[list[int], list[int]]:
        """Return the terms that a step adds to a sum, and what else is added."""
        terms: list[tuple[int, bool]] = []
        others: list[tuple[int, bool]] = []
        pending = [(total, False)]
        while pending:
            at, negative = pending.pop()
            step = self._into.steps[at]
            if step.op == "add" and all(self._into.shape(a) == step.shape for a in step.args):
                pending += [(a, negative) for a in reversed(step.args)]
            elif step.op == "neg":
                pending.append((step.args[0], not negative))
            elif (found := rows.summand(at)) is not None:
                terms.append((found, negative))
            elif (several := self._longer_sum(rows, step)) is not None:
                *first, last = several
                others += [(x, negative) for x in first]
                terms.append((last, negative))
            elif (parts := self._expanded(step)) is not None:
                pending += [(p, negative) for p in parts]
            else:
                others.append((at, negative))
        signed = ([self._into.op("neg", x) if minus else x for x, minus in some] for some in (terms, others))
        return next(signed), next(signed)

    def _longer_sum(self, rows: RowBuilder, step: ProofStep) -> list[int] | None:
        """Return the first terms of a sum of more terms than there are steps, and the term that a step adds."""
        if step.op != "einsum":
            return None
        labels, result = step.params
        for at, own in zip(step.args, labels, strict=True):
            for label, n in zip(own, self._into.shape(at), strict=True):
                more = subtract(length_polynomial(n), rows.length)
                count = next((k for k in (1, 2, 3) if more == length_polynomial(k)), None)
                if label not in result and count is not None:
                    places = [length_polynomial(k) for k in range(count + 1)]
                    builders = [*[self._entries.rows] * count, rows]
                    found = [b.contracted(step, label, k) for b, k in zip(builders, places, strict=True)]
                    return None if None in found else [x for x in found if x is not None]
        return None

    def _expanded(self, step: ProofStep) -> list[int] | None:
        """Return the parts of a product with a sum; None for other steps."""
        if step.op not in ("einsum", "mul"):
            return None
        for k, at in enumerate(step.args):
            own = self._into.steps[at]
            if own.op == "neg" or (
                own.op == "add" and all(self._into.shape(a) == own.shape for a in own.args)
            ):
                parts = [
                    self._into.step(replace(step, args=(*step.args[:k], a, *step.args[k + 1 :])))
                    for a in own.args
                ]
                return [self._into.op("neg", p) for p in parts] if own.op == "neg" else parts
        return None

    def _total(self, parts: Sequence[int], shape: Shape) -> int:
        total = self._into.full(self._into.number(0), shape)
        for part in parts:
            total = self._into.op("add", total, part)
        return total


def _delayed(body: StepBody) -> dict[int, int]:
    """Return the carries whose new values are those that other carries had before, each with the other one.

    None of them is its own earlier value, by any number of steps.
    """
    names = {s.name: k for k, s in enumerate(body.program.symbols[: body.carries])}
    steps = [body.program.steps[i] for i in body.results]
    found = {k: names[s.params[0]] for k, s in enumerate(steps) if s.op == "symbol" and s.params[0] in names}

    def is_computed(k: int) -> bool:
        seen: set[int] = set()
        while k in found and k not in seen:
            seen.add(k)
            k = found[k]
        return k not in found

    return {k: j for k, j in found.items() if is_computed(k)}


def are_alike(a: StepRecurrence, b: StepRecurrence) -> bool:
    """Tell whether two recurrences have as many steps, in one direction, and values of the same shapes."""
    shapes = [[tuple(map(length_polynomial, s)) for s in r.shapes] for r in (a, b)]
    return a.steps == b.steps and a.reverse == b.reverse and shapes[0] == shapes[1]
