"""The claims by which values of recurrences are equal.

Two recurrences with the same number of steps have equal values if their first values are equal, and if one step from
equal values gives equal values, for all values of what it reads. So the values of a recurrence become variables, in
the order of the program, and a recurrence that has the values of an earlier one gets the same variables. What is left
is a claim about a program without recurrences, for all values of these variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symgrad.checker.induction.closed_forms import ClosedForm
from symgrad.checker.induction.rows import RowBuilder
from symgrad.checker.induction.values import StepRecurrence, StepValues, ValuesAt
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.limits import SUM_ENDS
from symgrad.checker.program.builder import Shape
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.length_polynomials import (
    ONE,
    ZERO,
    Size,
    add,
    length_polynomial,
    subtract,
)
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody, Symbol
from symgrad.support.errors import UsageError

Pair = Sequence[Sequence[int]]
"""Two carries, or one, each given by the position of its recurrence and its number."""

_KEEPING = {"add": (0, 1), "neg": (0,), "mul": (0, 1), "div": (0,)}
"""For each op, the arguments that may have any value: the result has one, too."""


class Induction:
    """The claims of a proof by induction, in the order of the recurrences of a program.

    Args:
        program: the steps.

    Attributes:
        into: the steps of the claims.
        known: the recurrences with variables for their values, or closed forms.
        zeros: claims that numbers are zero: about these inputs the closed forms claim nothing.
    """

    def __init__(self, program: ProofProgram) -> None:
        self._program = program
        self.into = ProgramBuilder(program.symbols)
        self._at: dict[int, int] = {}
        self._whole: dict[int, tuple[int, ...]] = {}
        self.known: dict[int, StepRecurrence] = {}
        self._entries = ValuesAt(self.into, self.known)
        self._sizes = {
            n: self.into.variable("size", (), Symbol("", "int", Fraction(0), None)) for n in program.sizes
        }
        self.zeros: list[Equality] = []

    def recurrences(self) -> Iterator[StepRecurrence]:
        """Yield the recurrences in order; `identify` or `keep` follows each."""
        for i, step in enumerate(self._program.steps):
            if step.op == "recurrence":
                length, reverse, body = step.params
                args = [self.position(a) for a in step.args]
                first, second = body.carries, body.carries + body.rows
                parts = tuple(args[:first]), tuple(args[first:second]), tuple(args[second:])
                yield StepRecurrence(i, length, bool(reverse), body, *parts, values=())
            elif step.op == "part" and step.args[0] in self._whole:
                self._at[i] = self._whole[step.args[0]][step.params[0]]
            elif all(a in self._at for a in step.args):
                args = tuple(self._at[a] for a in step.args)
                moved = replace(step, args=args)
                entry = self._entries.read(moved)
                self._at[i] = self.into.step(moved) if entry is None else entry

    def position(self, at: int) -> int:
        """Return the step with the value of a step of the program.

        Raises:
            UsageError: if the step has several values of a recurrence side by side.
        """
        if at not in self._at:
            raise UsageError("several values of a recurrence are read side by side")
        return self._at[at]

    def last_value(self, at: int, number: int) -> int:
        """Return the last value of a carry of a known recurrence."""
        known = self.known[at]
        return self._entries.at(known.values[number], ZERO if known.reverse else known.steps)

    def step_values(self, length: int | str) -> StepValues:
        """Return the values at one step of all known recurrences with a number of steps."""
        return StepValues(self.into, length, self.known.values())

    def _set(self, at: int, values: tuple[int, ...]) -> None:
        self._whole[at] = values
        if len(values) == 1:
            (self._at[at],) = values

    def keep(self, new: StepRecurrence, closed: Mapping[int, ClosedForm] | None = None) -> list[Equality]:
        """Make new variables for the values of a recurrence; return the claims that it has its closed forms.

        Args:
            new: the recurrence.
            closed: closed forms of some of its values, by their number.

        Raises:
            UsageError: if a closed form is not one of numbers that have a value at all positions.
        """
        rows = self._program.steps[new.at].shape[:1]
        earlier = _delayed(new.body)
        values = {
            k: self.into.variable("values", (*rows, *shape))
            for k, shape in enumerate(new.shapes)
            if k not in earlier
        }
        while len(values) < len(new.shapes):  # a carry that has the value of another one a step before
            values.update(
                (k, self._earlier_values(new, k, values[j])) for k, j in earlier.items() if j in values
            )
        found = tuple(values[k] for k in range(len(new.shapes)))
        forms = dict(closed or {})
        self.known[new.at] = known = replace(new, values=found, closed=forms)
        self._set(new.at, found)
        if any(k >= len(found) or k in earlier or new.shapes[k] for k in forms):
            raise UsageError("a closed form of values that are no numbers, or those of another carry")
        for form in forms.values():
            self.zeros += form.zeros()
        first = self.into.length(known.steps if known.reverse else ZERO)
        steps = self.step_values(new.length)
        results = steps.results(known, steps.before(known)) if forms else []
        return [
            self._equality(self.into.full(x, ()), y)
            for k, form in forms.items()
            for x, y in (
                (new.starts[k], form.at(self.into, first)),
                (results[k], steps.after(known)[k]),
            )
        ]

    def _earlier_values(self, recurrence: StepRecurrence, number: int, other: int) -> int:
        """Return all values of a carry that at each step gets the value of another one before the step."""
        start, shape = recurrence.starts[number], self.into.shape(other)
        first = self.into.reshape(self.into.full(start, shape[1:]), (1, *shape[1:]))
        triple = (1, None, 1) if recurrence.reverse else (None, recurrence.length, 1)
        whole = [(None, None, 1)] * (len(shape) - 1)
        rest = self.into.step(
            ProofStep("slice", (other,), ((triple, *whole),), (recurrence.length, *shape[1:]))
        )
        parts = (rest, first) if recurrence.reverse else (first, rest)
        return self.into.step(ProofStep("concatenate", parts, (0,), shape))

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
        steps = self.step_values(old.length)
        # The other recurrence may read the values of the known one, before a step and after it.
        before, after = steps.before(old), steps.after(old)
        claims = [
            *zip(old.starts, new.starts, strict=True),
            *zip(after, steps.results(new, before), strict=True),
        ]
        self._set(new.at, old.values)
        return [self._equality(a, b) for a, b in claims]

    def _equality(self, a: int, b: int) -> Equality:
        """Return the claim that two steps are equal; if both are numbers, lengths in them are variables, too."""
        needed = [*self.into.needed([a, b])]
        sizes = [i for i in needed if self.into.steps[i].op == "size"]
        if not sizes or any(self.into.shape(i) for i in needed):
            return self.into.equality(a, b)
        try:
            new = {
                i: self.into.length(length_polynomial(self.into.steps[i].params[0]), self._sizes)
                for i in sizes
            }
        except UsageError:  # a length that is a maximum
            return self.into.equality(a, b)
        return self.into.equality(self.into.replaced(a, new), self.into.replaced(b, new))

    def side_claims(
        self, a: int, b: int, terms: int | None, pairs: Sequence[Pair] = (), ahead: int = SUM_ENDS
    ) -> list[Equality]:
        """Return the claims by which two steps of the program are equal.

        Products p of pairs of values are summed by parts: for T steps the sum of p[t] - p[t-1] is p[T] - p[0]. So the
        sides are equal if the terms of their sums differ by p[t-1] - p[t] at each step, and what else is added differs
        by p[T] - p[0]. This is how an adjoint recurrence belongs to the recurrence of the tangents. A value that the
        steps add up needs no adjoint: its last one is the first one and the sum of what it gains.

        Args:
            a: the position of one step.
            b: the position of the other step.
            terms: None: that they are; the position of a recurrence: that at each of its steps rows of both are, or
                terms of sums over the steps, and what is added to these sums.
            pairs: values of recurrences with as many steps; the products of the entries of each pair are summed, with
                the other sign if the first of a pair runs back. If it is one alone, the last values are summed that
                the sides read.
            ahead: the most terms that a sum of more terms than there are steps has before those of the steps; the
                others come after them.

        Raises:
            UsageError: if both sides are no arrays of that length, and no sums over the steps.
        """
        left, right = self.position(a), self.position(b)
        if terms is None:
            return [self._equality(left, right)]
        if terms not in self.known:
            raise UsageError(f"step {terms} is no recurrence with values of its own")
        length = self.known[terms].length
        size = length_polynomial(length)
        rows = self.step_values(length).rows
        shape = self.into.shape(left)
        if shape and length_polynomial(shape[0]) == size and not pairs:
            return [self._equality(rows.row(left), rows.row(right))]
        sides = [self._split(rows, side, ahead) for side in (left, right)]
        if not pairs and not any(some for some, _ in sides):
            raise UsageError("no side is a sum over the steps")
        for terms_of, others in sides if pairs else ():
            self._spread(rows, terms_of, others, {at for pair in pairs for at, _ in pair})
            for (alone,) in (pair for pair in pairs if len(pair) == 1):
                self._sum_gains(
                    rows, terms_of, others, self._values(alone, size), self.known[alone[0]].reverse
                )
        for p, q in (pair for pair in pairs if len(pair) == 2):
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
        return [self._equality(x, y) for x, y in both]

    def _spread(self, rows: RowBuilder, terms: list[int], others: list[int], paired: set[int]) -> None:
        """Turn what reads an entry of values into a sum over the steps: of that at the step of the entry, and of zeros.

        An adjoint recurrence adds what reads an entry h[1] of values at the step of this entry, too.
        """
        read = {
            row: (values, place, self.known[at])
            for at in paired
            for values in self.known[at].values
            for row, place in self._entries.entries(values).items()
            if place not in (ZERO, self.known[at].steps) and self.into.steps[row].op == "symbol"
        }
        zero = self.into.number(0)
        for k, part in enumerate(others):
            row = next((i for i in self.into.needed([part]) if i in read), None)
            if row is not None:
                values, place, recurrence = read[row]
                start, end = recurrence.ends[0], recurrence.steps if recurrence.ends[0] == ZERO else ZERO
                number = self.into.length(place)
                here = self.into.op("eq", rows.position(start), number)
                at_step = self.into.replaced(part, {row: rows.row(values, 0, start)})
                terms.append(self.into.op("where", here, at_step, zero))
                last = self.into.op("eq", self.into.length(end), number)
                at_end = self.into.replaced(part, {row: self._entries.at(values, end)})
                others[k] = self.into.op("where", last, at_end, zero)

    def _sum_gains(
        self, rows: RowBuilder, terms: list[int], others: list[int], values: int, reverse: bool
    ) -> None:
        """Turn what reads the last value of a carry into what reads the first one, and a sum over the steps."""
        ends = (ZERO, rows.length)
        last, first = (self._entries.at(values, end) for end in (ends if reverse else ends[::-1]))
        later, earlier = (rows.row(values, 0, end) for end in ((ZERO, ONE) if reverse else (ONE, ZERO)))
        for k, part in enumerate(others):
            if last != first and self._keeps(part, last):
                new, old, others[k] = (self.into.replaced(part, {last: x}) for x in (later, earlier, first))
                terms += [new, self.into.op("neg", old)]

    def _keeps(self, part: int, entry: int) -> bool:
        """Tell whether a step reads an entry, and whatever value this has does not decide whether there is a result."""
        found = {entry}
        for at in self.into.needed([part]):
            step = self.into.steps[at]
            reads = [k for k, a in enumerate(step.args) if a in found]
            if reads:
                found.add(at)
                if step.op != "einsum" and not {*reads} <= {*_KEEPING.get(step.op, ())}:
                    return False
        return part in found

    def _values(self, carry: Sequence[int], size: Size) -> int:
        """Return all values of a carry, given by the position of its recurrence and its number."""
        at, number = carry
        if at not in self.known or self.known[at].steps != size or number >= len(self.known[at].values):
            raise UsageError(f"step {at} is no recurrence with so many steps and values")
        return self.known[at].values[number]

    def _product(self, x: int, y: int, shape: Shape) -> int:
        """Return the sum of the products of all entries of two arrays."""
        labels = tuple(range(len(self.into.shape(x))))
        if self.into.shape(x) != self.into.shape(y) or shape:
            raise UsageError("values of different shapes, or sides with axes")
        return self.into.contract([(x, labels), (y, labels)], ()) if labels else self.into.op("mul", x, y)

    def _split(self, rows: RowBuilder, total: int, ahead: int) -> tuple[list[int], list[int]]:
        """Return the terms that a step adds to a sum, and what else is added."""
        terms: list[tuple[int, bool]] = []
        others: list[tuple[int, bool]] = []
        pending = [(total, False)]
        while pending:
            at, negative = pending.pop()
            step = self.into.steps[at]
            if step.op == "add":
                pending += [(self.into.full(a, step.shape), negative) for a in reversed(step.args)]
            elif step.op == "neg":
                pending.append((step.args[0], not negative))
            elif (found := rows.summand(at)) is not None:
                terms.append((found, negative))
            elif (several := self._longer_sum(rows, step, ahead)) is not None:
                found, *ends = several
                others += [(x, negative) for x in ends]
                terms.append((found, negative))
            elif (parts := self._expanded(step)) is not None:
                pending += [(p, negative) for p in parts]
            else:
                others.append((at, negative))
        signed = ([self.into.op("neg", x) if minus else x for x, minus in some] for some in (terms, others))
        return next(signed), next(signed)

    def _longer_sum(self, rows: RowBuilder, step: ProofStep, ahead: int) -> list[int] | None:
        """Return, for a sum of more terms than there are steps, the term that a step adds, and the other terms."""
        if step.op != "einsum":
            return None
        labels, result = step.params
        for at, own in zip(step.args, labels, strict=True):
            for label, n in zip(own, self.into.shape(at), strict=True):
                more = subtract(length_polynomial(n), rows.length)
                count = next((k for k in range(1, SUM_ENDS + 1) if more == length_polynomial(k)), None)
                if label not in result and count is not None:
                    first, *places = map(length_polynomial, (min(ahead, count), *range(count)))
                    ends = [p if k < ahead else add([rows.length, p]) for k, p in enumerate(places)]
                    builders = [rows, *[self._entries.rows] * count]
                    found = [
                        b.contracted(step, label, k) for b, k in zip(builders, (first, *ends), strict=True)
                    ]
                    return None if None in found else [x for x in found if x is not None]
        return None

    def _expanded(self, step: ProofStep) -> list[int] | None:
        """Return the parts of a product with a sum; None for other steps."""
        if step.op not in ("einsum", "mul"):
            return None
        for k, at in enumerate(step.args):
            own = self.into.steps[at]
            if own.op in ("neg", "add"):
                terms = [self.into.full(a, own.shape) for a in own.args]
                parts = [
                    self.into.step(replace(step, args=(*step.args[:k], a, *step.args[k + 1 :])))
                    for a in terms
                ]
                return [self.into.op("neg", p) for p in parts] if own.op == "neg" else parts
        return None

    def _total(self, parts: Sequence[int], shape: Shape) -> int:
        total = self.into.full(self.into.number(0), shape)
        for part in parts:
            total = self.into.op("add", total, part)
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
