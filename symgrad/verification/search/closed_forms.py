"""Search for closed forms of the values of recurrences: formulas of inputs and of the position of a value.

A claim `h[T] = a**T` gives the closed form a**t of h[t]. If the claim is `T*a**(T - 1)` for the tangents of
`h[t] = a*h[t-1]`, a step of the tangents, `dh[t] = a*dh[t-1] + h[t-1]`, has one unknown value, h[t-1]: its closed form
is the solution of this equation. If a claim reads several values, those of `h[t] = c*h[t-1] + d` are known: geometric
sums. The checker proves closed forms; here they are only proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from symgrad.checker.induction.claims import Induction
from symgrad.checker.induction.closed_forms import POSITION, ClosedForm
from symgrad.checker.induction.rows import RowBuilder
from symgrad.checker.induction.values import StepRecurrence
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.length_polynomials import ZERO, Size, length_polynomial
from symgrad.checker.program.steps import ProofStep, Symbol, program_to_json
from symgrad.checker.samples import differs_at_samples
from symgrad.support.errors import UsageError

Carry = tuple[int, int]
"""The position of a recurrence, and the number of a value."""
Forms = Mapping[Carry, ClosedForm]


def closed_forms(claim: Equality, known: Callable[[Forms], Induction]) -> Forms:
    """Return closed forms of values that a claim reads, as far as the claim and the steps give them.

    Args:
        claim: the claim that two steps are equal.
        known: a function that returns the induction in which some values have closed forms.
    """
    forms: dict[Carry, ClosedForm] = {}
    while True:
        induction = known(forms)
        new = _of_sides(induction, claim)
        if new is None:
            symbols = claim.program.symbols
            new = _of_steps(induction, symbols, forms) or (
                None if forms else _of_linear_steps(induction, symbols)
            )
        if new is None:
            return forms
        carry, form = new
        forms[carry] = form


def forms_to_json(forms: Forms) -> list[dict[str, Any]]:
    """Return closed forms as data of a proof."""
    return [
        {"of": [*carry], "program": program_to_json(form.program), "result": form.result}
        for carry, form in forms.items()
    ]


def _of_sides(induction: Induction, claim: Equality) -> tuple[Carry, ClosedForm] | None:
    """Return the closed form that the claim states of the only last value that it reads."""
    into = induction.into
    try:
        left, right = induction.position(claim.a), induction.position(claim.b)
    except UsageError:  # they have several values of a recurrence side by side
        return None
    last = {
        induction.last_value(at, k): (at, k)
        for at, r in induction.known.items()
        for k, shape in enumerate(r.shapes)
        if not shape and k not in r.closed
    }
    read = [i for i in into.needed([left, right]) if i in last and into.steps[i].op == "symbol"]
    if len(read) != 1:
        return None
    at, k = last[read[0]]
    solved = _solution(into, read[0], left, right)
    if solved is None:
        return None
    form = _of_last(induction, claim.program.symbols, solved, induction.known[at])
    return None if form is None else ((at, k), form)


def _of_steps(
    induction: Induction, symbols: Sequence[Symbol], forms: Forms
) -> tuple[Carry, ClosedForm] | None:
    """Return a closed form for the only value without one that the new value of a carry with one reads."""
    into = induction.into
    for at, k in forms:
        own = induction.known[at]
        steps = induction.step_values(own.length)
        before = {
            i: (r, j)
            for r in induction.known.values()
            if r.steps == own.steps
            for j, i in enumerate(steps.before(r))
            if into.steps[i].op == "symbol" and j not in r.closed
        }
        result = steps.results(own, steps.before(own))[k]
        read = [i for i in into.needed([result]) if i in before]
        if len(read) == 1:
            found, j = before[read[0]]
            solved = _solution(into, read[0], result, steps.after(own)[k])
            if solved is not None:
                form = _of_position(induction, symbols, solved, steps.rows, found.ends[0])
                if form is not None:
                    return (found.at, j), form
    return None


def _of_linear_steps(induction: Induction, symbols: Sequence[Symbol]) -> tuple[Carry, ClosedForm] | None:
    """Return the closed form of a value to which each step applies the same linear function."""
    into = induction.into
    for at, r in induction.known.items():
        steps = induction.step_values(r.length)
        before = steps.before(r)
        for k, result in enumerate(steps.results(r, before)):
            both = _linear(into, before[k], result) if not r.shapes[k] else None
            if both is None or both[0] is None:
                continue
            slope, rest = both
            made, t = _builder(symbols)
            count = made.op("add", made.length(r.steps), made.op("neg", t)) if r.reverse else t
            parts = [
                None if x is None else _copied(into, made, x, {}, {}) for x in (r.starts[k], slope, rest)
            ]
            start, by, more = parts
            if start is None or by is None or (more is None and rest is not None):
                continue
            power = made.op("pow", by, count)
            value = made.op("mul", start, power)
            if more is not None and made.value(by) == 1:
                value = made.op("add", start, made.op("mul", more, count))
            elif more is not None:
                minus = made.number(-1)
                quotient = made.op("div", made.op("add", power, minus), made.op("add", by, minus))
                value = made.op("add", value, made.op("mul", more, quotient))
            form = _closed(made, value)
            if form is not None:
                return (at, k), form
    return None


def _solution(into: ProgramBuilder, unknown: int, left: int, right: int) -> int | None:
    """Return the value of an unknown of a linear equation; None if it is not linear."""
    if unknown in (left, right):
        return right if left == unknown else left
    slope, rest = _linear(into, unknown, into.op("add", left, into.op("neg", right))) or (None, None)
    if slope is None:
        return None
    if rest is None:
        return into.number(0)
    quotient = _divided(into, rest, slope)
    return into.op("neg", into.op("mul", rest, _reciprocal(into, slope)) if quotient is None else quotient)


def _reciprocal(into: ProgramBuilder, at: int) -> int:
    """Return 1 divided by a step, of which powers get the negative exponent."""
    step = into.steps[at]
    if step.op == "pow":
        return into.op("pow", step.args[0], into.decided(ProofStep("neg", step.args[1:], (), (), "int")))
    if step.op == "mul":
        return into.op("mul", *(_reciprocal(into, a) for a in step.args))
    return into.op("div", into.number(1), at)


def _divided(into: ProgramBuilder, at: int, by: int) -> int | None:
    """Return a product without one of its factors; None if it does not have this factor."""
    step = into.steps[at]
    if at == by:
        return into.number(1)
    for k, a in enumerate(step.args if step.op in ("mul", "neg") else ()):
        found = _divided(into, a, by)
        if found is not None:
            return into.op(step.op, *step.args[:k], found, *step.args[k + 1 :])
    return None


def _linear(into: ProgramBuilder, unknown: int, at: int) -> tuple[int | None, int | None] | None:
    """Return the factor of an unknown in a formula, and the other terms (None: zero); None if it is not linear."""
    parts: dict[int, tuple[int | None, int | None] | None] = {}

    def total(op: str, *args: int | None) -> int | None:
        there = [a for a in args if a is not None]
        if op == "add":
            return (
                into.decided(ProofStep("add", (there[0], there[1])))
                if len(there) == 2
                else next(iter(there), None)
            )
        return into.op(op, *there) if len(there) == len(args) else None

    for i in into.needed([at]):
        step = into.steps[i]
        own = [parts[a] for a in step.args]
        moving = [p is None or p[0] is not None for p in own]
        if i == unknown:
            parts[i] = into.number(1), None
        elif not any(moving):
            parts[i] = None, i
        elif None in own or step.op not in ("add", "neg", "mul", "div"):
            parts[i] = None
        else:
            (a, b), (c, d) = (
                [p or (None, None) for p in own] if len(own) == 2 else [own[0] or (None, None), (None, None)]
            )
            match step.op:
                case "add":
                    parts[i] = total("add", a, c), total("add", b, d)
                case "neg":
                    parts[i] = total("neg", a), total("neg", b)
                case "mul" if not all(moving):
                    parts[i] = total("mul", a if moving[0] else b, c if moving[1] else d), total("mul", b, d)
                case "div" if moving == [True, False]:
                    parts[i] = total("div", a, d), total("div", b, d)
                case _:
                    parts[i] = None
    return parts[at]


def _of_last(
    induction: Induction, symbols: Sequence[Symbol], at: int, recurrence: StepRecurrence
) -> ClosedForm | None:
    """Return the closed form of values of which a formula is the last one, for any number of steps."""
    names = [m for m, _ in recurrence.steps if m]
    if len(names) != 1 or len(names[0]) != 1 or dict(recurrence.steps)[names[0]] != 1:
        return None
    (name,) = names[0]
    into, t = _builder(symbols)
    more = dict(recurrence.steps).get((), 0)
    # After t steps of name + more steps, or after those from the last position back to t.
    if recurrence.reverse:
        steps = into.op("add", into.length(length_polynomial(name)), into.op("neg", t))
    else:
        steps = into.op("add", t, into.number(-more)) if more else t
    return _form(induction.into, into, at, {}, {name: steps})


def _of_position(
    induction: Induction, symbols: Sequence[Symbol], at: int, rows: RowBuilder, end: Size
) -> ClosedForm | None:
    """Return the closed form of values whose row before a step is a formula of the position of this step."""
    into, t = _builder(symbols)
    position = t if end == ZERO else into.op("add", t, into.number(-1))
    return _form(induction.into, into, at, {rows.position(ZERO): position}, {})


def _builder(symbols: Sequence[Symbol]) -> tuple[ProgramBuilder, int]:
    into = ProgramBuilder([*symbols, Symbol(POSITION, "int", None, None)])
    return into, into.step(ProofStep("symbol", (), (POSITION,), (), "int"))


def _form(
    source: ProgramBuilder,
    into: ProgramBuilder,
    at: int,
    known: Mapping[int, int],
    lengths: Mapping[str, int],
) -> ClosedForm | None:
    copied = _copied(source, into, at, known, lengths)
    return None if copied is None else _closed(into, copied)


def _copied(
    source: ProgramBuilder,
    into: ProgramBuilder,
    at: int,
    known: Mapping[int, int],
    lengths: Mapping[str, int],
) -> int | None:
    """Append a formula, with other steps for some steps and lengths; return None if it reads other values."""
    found = dict(known)
    for i in source.needed([at]):
        step = source.steps[i]
        if i in found:
            continue
        if step.shape or (step.op == "symbol" and not into.has_variable(step.params[0])):
            return None
        if step.op == "size":
            length = length_polynomial(step.params[0])
            own = {n: into.length(length_polynomial(n)) for m, _ in length for n in m if isinstance(n, str)}
            found[i] = into.length(length, {**own, **lengths})
        else:
            found[i] = into.decided(replace(step, args=tuple(found[a] for a in step.args)))
    return found[at]


def _closed(into: ProgramBuilder, at: int) -> ClosedForm | None:
    made = into.equality(at, at)
    inputs = [s for s in made.program.symbols if s.name != POSITION]
    program = replace(made.program, symbols=(*inputs, Symbol(POSITION, "int", None, None)))
    form = ClosedForm(program, made.a)
    try:
        zeros = form.zeros()
    except UsageError:  # it may have values at some positions only
        return None
    return form if all(map(differs_at_samples, zeros)) else None
