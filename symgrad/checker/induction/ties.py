"""The claims about the points at which a comparison of a claim is a tie, or has one outcome.

A proof by normal forms excludes the points at which both sides of a comparison are equal. If one of the variables is a
number there, by a linear equation, the claim with this number instead of the variable is about these points. Where no
comparison is a tie, the sides of a claim are formulas in the neighbourhood of each point.

If the sides are equal for both outcomes of a comparison, whatever its sides are, there is no need to know where it has
which outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.induction.variables import COMPARISONS, ProgramBuilder
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.scalar_derivatives import is_piecewise, jumps
from symgrad.checker.program.steps import ProofStep

_Linear: TypeAlias = "Mapping[int, Fraction]"
"""The coefficients of a linear formula by the steps that they multiply; those of 1 by the position of this number."""

_COMPARED = frozenset({*COMPARISONS, "maximum", "minimum"})
_SIGNED = frozenset({"abs", "sign", "relu"})
_LOGIC = frozenset({"and_", "or_", "xor", "not_"})


_OWN_VARIABLE = re.compile(r"\b(?:before|position|row|size|sum|values) \d|\.\.\.")
"""A variable of a claim that is no variable of the program, or a text that is not complete."""

AT_A_STEP = " at a step"
"""What is added to a condition about values of a step."""


def needs_ties(claim: Equality, left_out: Sequence[str]) -> bool:
    """Tell whether a proof excludes points of a claim at which both sides may be defined and differ.

    Where the sides of a claim jump at the base 0 of powers only, conditions on inputs alone exclude the same inputs at
    each step; they are told with the proof.

    Args:
        claim: the claim.
        left_out: the conditions that its proof excludes.
    """
    if not left_out or not is_piecewise(claim.program):
        return False
    powers = all(
        s.op == "pow" or not (s.op == "recurrence" or jumps(claim.program, s)) for s in claim.program.steps
    )
    return not powers or any(map(_OWN_VARIABLE.search, left_out))


def at_each_step(condition: str) -> str:
    """Return an excluded condition of one claim as one of a whole proof."""
    return f"{condition}{AT_A_STEP}" if _OWN_VARIABLE.search(condition) else condition


def tie_claims(claim: Equality) -> list[Equality]:
    """Return the claims about the points at which sides of comparisons are equal, or a sign changes.

    Args:
        claim: the claim, about numbers.

    Raises:
        GiveUp: if the equation of such points is not linear in a variable, or a step jumps without a comparison.
    """
    into = ProgramBuilder(claim.program.symbols, claim.program.steps)
    one = into.number(1)
    found: dict[tuple[int, int], None] = {}
    for at in claim.program.needed([claim.a, claim.b]):
        step = claim.program.steps[at]
        if step.op in _COMPARED:
            difference = _sum(
                [_linear(into, step.args[0], one), _scaled(_linear(into, step.args[1], one), -1)]
            )
        elif step.op in _SIGNED:
            difference = _linear(into, step.args[0], one)
        elif step.op in _LOGIC or not (step.op == "recurrence" or jumps(claim.program, step)):
            continue
        else:
            raise GiveUp(f"the points at which the op {step.op} jumps")
        if step.shape or any(into.steps[a].kind == "bool" for a in step.args):
            raise GiveUp("ties of entries of arrays, or of truth values")
        for equation in _signed_equations(into, difference, one):
            if {*equation} <= {one}:
                continue
            found.setdefault(_solved(into, equation, one))
    sides = (
        (into.replaced(claim.a, {at: value}), into.replaced(claim.b, {at: value}))
        for at, value in found
        if into.allows(at, value)
    )
    return [into.equality(a, b) for a, b in sides]


def outcome_claims(claim: Equality) -> list[Equality]:
    """Return the claims with both outcomes of the first comparison of numbers; [] if there is none.

    Args:
        claim: the claim that two steps are equal.
    """
    into = ProgramBuilder(claim.program.symbols, claim.program.steps)
    compared = (i for i in claim.program.needed([claim.a, claim.b]) if into.steps[i].op in COMPARISONS)
    at = next((i for i in compared if not into.steps[i].shape), None)
    if at is None:
        return []
    ways = (into.step(ProofStep("number", (), (way,), (), "bool")) for way in (True, False))
    return [
        into.equality(into.replaced(claim.a, {at: way}), into.replaced(claim.b, {at: way})) for way in ways
    ]


def _sum(several: Sequence[_Linear]) -> _Linear:
    total: dict[int, Fraction] = {}
    for own in several:
        for at, c in own.items():
            total[at] = total.get(at, Fraction(0)) + c
    return {at: c for at, c in total.items() if c}


def _scaled(a: _Linear, by: Fraction | int) -> _Linear:
    return {at: c * by for at, c in a.items() if by}


def _linear(into: ProgramBuilder, at: int, one: int) -> _Linear:
    """Return a step as a linear formula of other steps."""
    forms: dict[int, _Linear] = {}
    for i in list(into.needed([at])):
        step, value = into.steps[i], into.value(i)
        args = [forms[a] for a in step.args]
        forms[i] = {i: Fraction(1)}
        if value is not None:
            forms[i] = _scaled({one: Fraction(1)}, value)
        elif step.op == "add":
            forms[i] = _sum(args)
        elif step.op == "neg":
            forms[i] = _scaled(args[0], -1)
        elif step.op == "mul":
            for x, y in (args, args[::-1]):
                if {*y} <= {one}:
                    forms[i] = _scaled(x, y.get(one, 0))
        elif step.op == "div" and {*args[1]} == {one}:
            forms[i] = _scaled(args[0], 1 / args[1][one])
    return forms[at]


def _signed_equations(into: ProgramBuilder, equation: _Linear, one: int) -> Iterator[_Linear]:
    """Yield the equations that hold where an equation does, with both signs of what has an absolute value."""
    at = next((i for i in equation if into.steps[i].op == "abs"), None)
    if at is None:
        yield equation
        return
    own = _linear(into, into.steps[at].args[0], one)
    for sign in (1, -1):
        rest = {i: c for i, c in equation.items() if i != at}
        yield from _signed_equations(into, _sum([rest, _scaled(own, sign * equation[at])]), one)


def _solved(into: ProgramBuilder, equation: _Linear, one: int) -> tuple[int, int]:
    """Return a variable and the number that it is where an equation holds."""
    for at, slope in equation.items():
        rest = [i for i in equation if i != at]
        if into.steps[at].op == "symbol" and at not in set(into.needed(rest)):
            value = into.number(-equation.get(one, Fraction(0)) / slope)
            for i in rest:
                if i != one:
                    value = into.op("add", value, into.op("mul", into.number(-equation[i] / slope), i))
            return at, value
    raise GiveUp("a tie whose equation is not linear in a variable")
