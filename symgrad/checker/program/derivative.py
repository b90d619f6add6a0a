"""Forward derivatives of programs: steps for the tangent of each step that depends on a variable.

The rules are the checker's own: those of scalar functions are in `symgrad/checker/program/scalar_derivatives.py`, those
of arrays in `symgrad/checker/program/array_derivatives.py`. Where a function has a kink or a jump, no derivative is
claimed: a step that the derivative reads is undefined there, in the strict sense of
`symgrad.checker.balls.programs.evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.checker.program.array_derivatives import ARRAY_DERIVATIVES
from symgrad.checker.program.builder import StepBuilder
from symgrad.checker.program.equality import Equality, Tangents
from symgrad.checker.program.scalar_derivatives import (
    LOCALLY_CONSTANT_OPS,
    PIECEWISE_OPS,
    SCALAR_DERIVATIVES,
    piecewise_tangent,
)
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody, Symbol
from symgrad.support.errors import UsageError


def differentiate(
    program: ProofProgram, y: int, wrt: str, direction: str | None = None
) -> tuple[ProofProgram, int]:
    """Append the steps of a derivative to a program.

    Args:
        program: the steps, which keep their positions.
        y: the position of the differentiated step, of any shape.
        wrt: the name of a variable. If it is an array, the result is a directional derivative; in the unit direction of
            an entry this is the partial derivative with respect to the entry.
        direction: the name of the new variable for the direction; by default an unused name. It is the last symbol
            of the result.

    Returns:
        The program and the position of the derivative, which has the shape of y. The derivative of ``stop_gradient`` is
            0.

    Raises:
        UsageError: if there is no such variable, if the variable is an integer, or if an op has no rule.

    Example:
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("sin", (0,)), ProofStep("mul", (1, 1)))
        >>> made, at = differentiate(ProofProgram(steps, (Symbol("x", "real", None, None),)), 2, "x")
        >>> [(s.op, s.args) for s in made.steps[3:]]
        [('number', ()), ('cos', (0,)), ('mul', (1, 4)), ('add', (5, 5))]
    """
    made, (at,), _ = _differentiate_all(program, (y,), wrt, direction)
    return made, at


def _differentiate_all(
    program: ProofProgram, ys: Sequence[int], wrt: str, direction: str | None = None
) -> tuple[ProofProgram, list[int], str | None]:
    """Append several derivatives; return the program, their positions, and the name of the direction."""
    symbol = next((s for s in program.symbols if s.name == wrt), None)
    if symbol is None:
        raise UsageError(f"the program has no variable '{wrt}'", expected="the name of one of its symbols")
    if symbol.kind not in {"real", "complex"}:
        raise UsageError(f"'{wrt}' takes no real values: there is no derivative by it")
    into = StepBuilder(program.steps)
    symbols = program.symbols
    name: str | None = None
    if symbol.shape:
        name = _fresh_name(program, direction or f"d{wrt}")
        symbols = (*symbols, Symbol(name, "real", None, None, symbol.shape))
        seed = into.step(ProofStep("symbol", (), (name,), symbol.shape))
    else:
        seed = into.number(1)
    steps = program.steps[: max(ys) + 1]
    tangents = {i: seed for i, step in enumerate(steps) if step.op == "symbol" and step.params[0] == wrt}
    _add_tangents(into, steps, tangents)
    ends = [tangents[y] if y in tangents else into.full(into.number(0), program.steps[y].shape) for y in ys]
    return ProofProgram(tuple(into.steps), symbols), ends, name


def _add_tangents(into: StepBuilder, steps: Sequence[ProofStep], tangents: dict[int, int]) -> None:
    """Append the tangents of steps; they are added to those of variables. A step without one has the tangent zero."""
    carries: dict[int, Mapping[int, int]] = {}
    for i, step in enumerate(steps):
        moving = [tangents.get(a) for a in step.args]
        if step.op == "recurrence":
            found = _recurrence_tangents(into, i, step, moving)
            if step.params[2].carries > 1:
                carries[i] = found
            elif found:
                tangents[i] = found[0]
        elif step.op == "part" and step.args[0] in carries:
            if step.params[0] in carries[step.args[0]]:
                tangents[i] = carries[step.args[0]][step.params[0]]
        elif any(carries.get(a) for a in step.args):
            raise UsageError("several values of a recurrence are read side by side")
        elif any(m is not None for m in moving):
            tangent = _step_tangent(into, i, step, moving)
            if tangent is not None:
                tangents[i] = into.full(tangent, step.shape)


def _recurrence_tangents(
    into: StepBuilder, at: int, step: ProofStep, moving: Sequence[int | None]
) -> dict[int, int]:
    """Append the recurrence of the tangents, which reads the values before each step; return it for each carry."""
    length, reverse, body = step.params
    first, second = body.carries, body.carries + body.rows
    symbols = body.program.symbols
    varies = {k for k, m in enumerate(moving) if m is not None}
    while True:
        inner = StepBuilder(body.program.steps)
        seeds = {k: Symbol(f"d{symbols[k].name}", "real", None, None, symbols[k].shape) for k in varies}
        tangents: dict[int, int] = {}
        for i, own in enumerate(body.program.steps):
            k = next((k for k in varies if own.op == "symbol" and own.params[0] == symbols[k].name), None)
            if k is not None:
                tangents[i] = inner.step(ProofStep("symbol", (), (seeds[k].name,), seeds[k].shape))
        _add_tangents(inner, body.program.steps, tangents)
        more = {k for k, r in enumerate(body.results) if r in tangents} - varies
        if not more:
            break
        varies |= more
    carries = sorted(k for k in varies if k < first)
    if not carries:
        return {}
    rows, same = (list(range(*ends)) for ends in ((first, second), (second, len(symbols))))
    order = [
        *(seeds[k] for k in carries),
        *symbols[:second],
        *(seeds[k] for k in rows if k in varies),
        *symbols[second:],
        *(seeds[k] for k in same if k in varies),
    ]
    triple = (1, None, 1) if reverse else (None, length, 1)
    shapes = tuple(s.shape for s in symbols[:first])

    def before(k: int) -> int:
        values = (
            at
            if first == 1
            else into.step(ProofStep("part", (at,), (k, shapes, 1), (step.shape[0], *shapes[k])))
        )
        slices = (triple, *((None, None, 1) for _ in shapes[k]))
        return into.step(ProofStep("slice", (values,), (slices,), (length, *shapes[k])))

    def start(k: int) -> int:
        found = moving[k]
        return into.full(into.number(0), shapes[k]) if found is None else found

    args = [
        *map(start, carries),
        *map(before, range(first)),
        *step.args[first:second],
        *(m for k in rows if (m := moving[k]) is not None),
        *step.args[second:],
        *(m for k in same if (m := moving[k]) is not None),
    ]
    results = [body.results[k] for k in carries]
    ends = [
        tangents[r] if r in tangents else inner.full(inner.number(0), shapes[k])
        for k, r in zip(carries, results, strict=True)
    ]
    count = second + sum(k in varies for k in rows)
    made = StepBody(ProofProgram(tuple(inner.steps), tuple(order)), len(carries), count, tuple(ends))
    own = tuple(shapes[k] for k in carries)
    whole = own[0] if len(own) == 1 else (" + ".join("*".join(("1", *(f"({n})" for n in s))) for s in own),)
    found = into.step(ProofStep("recurrence", tuple(args), (length, reverse, made), (step.shape[0], *whole)))
    if len(own) == 1:
        return {carries[0]: found}
    return {
        k: into.step(ProofStep("part", (found,), (j, own, 1), (step.shape[0], *shapes[k])))
        for j, k in enumerate(carries)
    }


def _fresh_name(program: ProofProgram, name: str) -> str:
    taken = {s.name for s in program.symbols}
    while name in taken:
        name += "_"
    return name


def _step_tangent(into: StepBuilder, i: int, step: ProofStep, moving: list[int | None]) -> int | None:
    """Return the tangent of a step; None if it is zero."""
    if step.op in LOCALLY_CONSTANT_OPS:
        return None
    if step.op in PIECEWISE_OPS:
        return piecewise_tangent(into, step, moving)
    if step.op in ARRAY_DERIVATIVES:
        return ARRAY_DERIVATIVES[step.op](into, i, step, moving)
    if step.op not in SCALAR_DERIVATIVES:
        raise UsageError(f"no rule to differentiate '{step.op}'", cure="write it with other functions")
    total: int | None = None
    for slope, moved in zip(SCALAR_DERIVATIVES[step.op], moving, strict=True):
        if moved is not None:
            term = slope(into, i, step, moved)
            if term is not None:
                total = term if total is None else into.op("add", total, term)
    return total


def directional_claim(program: ProofProgram, claim: int, direction: str) -> tuple[ProofProgram, int]:
    """Contract a claimed derivative with respect to an array with a direction.

    Args:
        program: the result of `differentiate`.
        claim: the position of the claim, whose last axes are those of the variable.
        direction: the name of the direction, a symbol of the program.

    Returns:
        A program, and the position of the contraction. The claim is right exactly if, for every direction, the
        contraction is the directional derivative.
    """
    into = StepBuilder(program.steps)
    shape = next(s.shape for s in program.symbols if s.name == direction)
    moved = into.step(ProofStep("symbol", (), (direction,), shape))
    whole = into.steps[claim].shape
    if len(whole) < len(shape) or whole[len(whole) - len(shape) :] != shape:
        raise UsageError(f"a claim of shape {whole}", expected=f"last axes {shape}, those of the variable")
    lead = len(whole) - len(shape)
    labels = tuple(range(len(whole)))
    params = ((labels, labels[lead:]), labels[:lead])
    at = into.step(ProofStep("einsum", (claim, moved), params, whole[:lead]))
    return ProofProgram(tuple(into.steps), program.symbols), at


def derivative_claim(program: ProofProgram, y: int, wrt: str, claim: int) -> Equality:
    """Reduce the statement "claim is the derivative of y with respect to wrt" to the equality of two steps.

    Args:
        program: the steps.
        y: the position of the differentiated step.
        wrt: the name of a variable.
        claim: the position of the claim, which has the axes of y, then those of the variable.

    Raises:
        UsageError: if the claim has a wrong shape; and the errors of `differentiate`.
    """
    made, tangent = differentiate(program, y, wrt)
    shape = next(s.shape for s in program.symbols if s.name == wrt)
    wanted = program.steps[y].shape + shape
    if program.steps[claim].shape != wanted:
        raise UsageError(f"a claim of shape {program.steps[claim].shape}", expected=f"the shape {wanted}")
    first = len(program.steps)
    if not shape:
        return Equality(made, tangent, claim, (y,), wrt, claim, Tangents(wrt, None, (y,), first))
    direction = made.symbols[-1].name
    stated, change = directional_claim(made, claim, direction)
    return Equality(stated, tangent, change, (y,), wrt, change, Tangents(wrt, direction, (y,), first))


def gradient_claim(program: ProofProgram, a: int, b: int, wrt: str) -> Equality:
    """Reduce the statement "a and b have the same derivative with respect to wrt" to the equality of two steps.

    Args:
        program: the steps.
        a: the position of one differentiated step.
        b: the position of the other differentiated step, of the same shape.
        wrt: the name of a variable.

    Raises:
        UsageError: if the shapes differ; and the errors of `differentiate`.

    Example:
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("stop_gradient", (0,)))
        >>> found = gradient_claim(ProofProgram(steps, (Symbol("x", "real", None, None),)), 0, 1, "x")
        >>> [found.program.steps[at].params for at in (found.a, found.b)]
        [(Fraction(1, 1),), (Fraction(0, 1),)]
    """
    if program.steps[a].shape != program.steps[b].shape:
        raise UsageError("the two sides have different shapes")
    made, (left, right), direction = _differentiate_all(program, (a, b), wrt)
    tangents = Tangents(wrt, direction, (a, b), len(program.steps))
    return Equality(made, left, right, (a, b), wrt, tangents=tangents)
