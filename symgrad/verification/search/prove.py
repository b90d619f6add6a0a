"""Search for a proof that two steps of a program are equal: cases, restarts, signs.

Both sides become fractions of polynomials in generators, which the code calls *kernels*: x, exp(x), the root of a
polynomial that is not a square. In a field of such fractions two fractions with the same denominator are equal if and
only if the numerators are; so the proof shows that the difference is 0. Take

    exp(2*x)/exp(x)  =  exp(x)

1. No comparison has to be decided, so there is one case (`branch_on_comparison`).
2. Evaluate the steps in order. exp(2*x) comes first and becomes a generator. exp(x) is not a polynomial in this
   generator, since it has half the exponent: the generator was too coarse (`TooCoarse`), and the proof starts again
   with exp(2*x/2) as the generator.
3. Now the generator is g = exp(x), and exp(2*x) is g**2; the quotient is g**2/g = g, the other side is g, and the
   difference is 0. The proof lists the polynomials that must not vanish: here there are none, since exp is never 0.
4. The checker repeats the evaluation. The proof records the results of searches: how fine the generators are
   (`scales`), and every answer of the oracle (`steps.py`), such as factors. The checker trusts no answer: it multiplies
   factors out.

    >>> from symgrad.checker.clock import now
    >>> from symgrad.frontend.text import parse_program
    >>> from symgrad.verification.decide import equal
    >>> p = parse_program("x : real; a = exp(2*x)/exp(x); b = exp(x)")
    >>> claim = equal(p["a"], p["b"]).equality
    >>> found = prove(claim.program, claim.a, claim.b, now() + 60)
    >>> found.proved, found.excluded, found.cases[0].data["scales"]
    (True, (), [['exp', 0, 2]])
    >>> known = found.cases[0].known
    >>> [(step.op, str(known[i].num)) for i, step in enumerate(claim.program.steps)]
    [('number', '2'), ('symbol', 'g15'), ('mul', '2*g15'), ('exp', 'g14^2'), ('exp', 'g14'), ('div', 'g14')]

A comparison makes two cases, one for each outcome, each with a proof that the sides agree there:

    >>> p = parse_program("x : real; a = where(x > 0, x, -x); b = abs(x)")
    >>> claim = equal(p["a"], p["b"]).equality
    >>> found = prove(claim.program, claim.a, claim.b, now() + 60)
    >>> [(case.result, len(case.outcome)) for case in found.cases]
    [('proved', 1), ('proved', 1)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from symgrad.checker.extension_field.cases import common_exclusions
from symgrad.checker.extension_field.evaluate import branch_on_comparison, evaluate_steps
from symgrad.checker.extension_field.extension import Contradiction, ExtensionField, TooCoarse
from symgrad.checker.extension_field.field import (
    Element,
    FractionField,
    GiveUp,
    Poly,
    TooFewGenerators,
    UndefinedEverywhere,
)
from symgrad.checker.extension_field.functions import Functions
from symgrad.checker.extension_field.generators import to_fraction
from symgrad.checker.extension_field.sign_choices import empty, sign_choices
from symgrad.checker.limits import GENERATORS
from symgrad.checker.program.merge_steps import is_same_step
from symgrad.checker.program.steps import ProofProgram
from symgrad.support.progress import reports_progress
from symgrad.verification.limits import CASES, FARKAS_DENOMINATOR, FIRST_GENERATORS, INEQUALITIES, RESTARTS
from symgrad.verification.search.steps import Search


def weights(k: ExtensionField, quantities: Sequence[Poly]) -> list[Fraction] | None:
    """Propose weights of sum 1 for which no monomial of the weighted sum can be positive.

    Such weights show that a part of a case has no points (Farkas' lemma), and linear programming finds them.
    Monomials count as independent. If the sign of a monomial is known, its coefficient may have the opposite sign;
    otherwise the coefficient must be 0.
    """
    from scipy import optimize  # the import is slow

    columns = [q.to_dict() for q in quantities]
    monomials = sorted({m for c in columns for m in c})
    if not quantities or len(quantities) > INEQUALITIES or len(monomials) > INEQUALITIES:
        return None
    rows: dict[str, list[list[float]]] = {"equal": [[1.0] * len(columns)], "below": []}
    for m in monomials:
        low, high = k.range(k.field.ring.from_dict({m: 1}))
        try:
            row = [float(to_fraction(c[m])) if m in c else 0.0 for c in columns]
        except OverflowError:
            return None
        if low is not None and low >= 0:
            rows["below"].append(row)
        elif high is not None and high <= 0:
            rows["below"].append([-x for x in row])
        else:
            rows["equal"].append(row)
    right = np.zeros(len(rows["equal"]))
    right[0] = 1
    solved = cast(Any, optimize).linprog(
        np.zeros(len(columns)),
        A_eq=np.array(rows["equal"]),
        b_eq=right,
        A_ub=np.array(rows["below"]) if rows["below"] else None,
        b_ub=np.zeros(len(rows["below"])) if rows["below"] else None,
    )
    if not solved.success:
        return None
    return [Fraction(max(float(x), 0.0)).limit_denominator(FARKAS_DENOMINATOR) for x in solved.x]


@dataclass(frozen=True, slots=True)
class SubCase:
    """A part of a case: polynomials with their signs (True: positive), and whether the claim is proved in it."""

    signs: tuple[tuple[Poly, bool], ...]
    proved: bool


@dataclass(frozen=True, slots=True)
class Case:
    """The outcomes of comparisons, and how the proof went for these outcomes.

    Args:
        outcome: the outcomes of the comparisons, by step.
        result: ``proved``, ``empty`` (no point has these outcomes), or the reason if it is neither.
        excluded: conditions that the proof excludes, as text.
        data: the data with which the checker replays the proof.
        thin: whether both sides may be defined and differ at excluded points.
        parts: if the sign of the difference is not decided, the parts of the case that may have points.
        number: the difference, if it is the same nonzero number everywhere.
        nowhere: whether the search ended because a side is undefined everywhere.
        kernels: the generators of the polynomials, if the search got that far.
        known: the values of steps, in terms of the generators.
    """

    outcome: Mapping[int, bool]
    result: str
    excluded: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    thin: bool = False
    parts: tuple[SubCase, ...] = ()
    number: Fraction | None = None
    nowhere: bool = False
    kernels: Functions | None = None
    known: Mapping[int, Element] = field(default_factory=dict[int, Element])


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of a search for a proof, by cases."""

    cases: tuple[Case, ...]

    @property
    def proved(self) -> bool:
        return {"proved"} <= {c.result for c in self.cases} <= {"proved", "empty"}

    @property
    def empty(self) -> bool:
        """Whether there is no point at which both sides are defined."""
        return all(c.result == "empty" or c.nowhere for c in self.cases)

    @property
    def why(self) -> str:
        return next((c.result for c in self.cases if c.result not in {"proved", "empty"}), "")

    @property
    def thin(self) -> bool:
        """Whether both sides may be defined and differ at excluded points."""
        return any(c.thin for c in self.cases)

    @property
    def excluded(self) -> tuple[str, ...]:
        """The excluded conditions of all cases."""
        return tuple(dict.fromkeys(e for c in self.cases for e in c.excluded))


SAME = Attempt((Case({}, "proved", (), {"outcome": [], "capacity": 1, "scales": [], "answers": []}),))
"""The proof that two steps are equal by laws that keep their domain."""


def prove(program: ProofProgram, a: int, b: int, deadline: float) -> Attempt:
    """Try to prove that two steps are equal wherever both are defined, except on listed thin sets."""
    if is_same_step(program, a, b):
        return SAME
    cases: list[Case] = []
    pending: list[dict[int, bool]] = [{}]
    while pending:
        outcome = pending.pop()
        ways = branch_on_comparison(program, [a, b], outcome)
        if ways:
            if len(cases) + len(pending) > CASES:
                return Attempt((*cases, Case(outcome, "too many cases")))
            pending += ways
            continue
        with reports_progress("verdicts", f"proving case {len(cases) + 1}"):
            cases.append(_case(program, a, b, outcome, deadline))
    return Attempt(tuple(cases))


def _case(program: ProofProgram, a: int, b: int, outcome: Mapping[int, bool], deadline: float) -> Case:
    case, first = _run(program, a, b, outcome, deadline, {})
    if case.result != "proved" or first is None or not len(first.poles) == len(first.angles) == 1:
        return case
    # Where the tangent of the half angle is infinite, measure the angle from another origin.
    other, second = _run(program, a, b, outcome, deadline, {("turned", 0): 2})
    if other.result != "proved" or second is None or "parts" in other.data or "parts" in case.data:
        return case
    try:
        excluded = common_exclusions(first, (second, second.field.constant(0)))
    except GiveUp:
        return case
    return replace(case, excluded=excluded, data={**case.data, "turned": other.data})


def _run(
    program: ProofProgram,
    a: int,
    b: int,
    outcome: Mapping[int, bool],
    deadline: float,
    scales: dict[tuple[str, int], int],
) -> tuple[Case, Functions | None]:
    capacity = FIRST_GENERATORS
    while capacity < len(program.symbols):
        capacity *= 2
    for _ in range(RESTARTS):
        search = Search(scales)
        kernels = Functions(FractionField(capacity, deadline), search)
        data = {
            "outcome": [[i, way] for i, way in sorted(outcome.items())],
            "capacity": capacity,
            "scales": [[*key, by] for key, by in scales.items()],
            "answers": search.answers,
        }
        try:
            known: dict[int, Element] = {}
            left, right = evaluate_steps(kernels, program, [a, b], outcome, known)
            case = _judge(kernels, kernels.field.sub(left, right), outcome, data)
            return replace(case, kernels=kernels, known=known), kernels
        except TooFewGenerators:
            capacity *= 2
            if capacity > GENERATORS:
                return Case(
                    outcome, "the search stopped: the formulas contain too many independent functions"
                ), None
        except TooCoarse as finer:
            scales[finer.key] = scales.get(finer.key, 1) * finer.by
        except Contradiction:
            return Case(outcome, "empty", kernels.left_out(), data, bool(kernels.assumed)), kernels
        except GiveUp as why:
            return Case(
                outcome, f"the search stopped: {why}", nowhere=isinstance(why, UndefinedEverywhere)
            ), None
        except KeyError:  # comparisons have no value in the field
            return Case(outcome, "the search stopped: a truth value is used as more than a condition"), None
    return Case(outcome, "the search stopped: it would need exp(u/n) and roots for ever larger n"), None


def _judge(
    kernels: Functions, difference: Element, outcome: Mapping[int, bool], data: Mapping[str, Any]
) -> Case:
    F = kernels.field
    excluded = kernels.left_out()
    number = F.number(difference)
    if number is not None and number != 0:
        return Case(
            outcome,
            "no proof: the difference is another number",
            excluded,
            data,
            number=to_fraction(number),
        )
    if F.is_zero(difference):
        return Case(outcome, "proved", excluded, data, bool(kernels.assumed))
    found, shown = _parts(kernels, difference)
    data, excluded = {**data, "parts": shown}, kernels.left_out()
    if shown and all(p.proved for p in found):
        return Case(outcome, "proved" if found else "empty", excluded, data, bool(kernels.assumed))
    return Case(outcome, "the normal form of the difference is not 0", excluded, data, parts=found)


def _parts(kernels: Functions, difference: Element) -> tuple[tuple[SubCase, ...], list[list[str] | None]]:
    """Return the parts of a case, each with a certificate if it is empty (otherwise None)."""
    found: list[SubCase] = []
    shown: list[list[str] | None] = []
    for signs, zero in sign_choices(kernels, difference):
        proposed: list[Fraction] = []

        def propose(
            k: ExtensionField, quantities: Sequence[Poly], into: list[Fraction] = proposed
        ) -> list[Fraction] | None:
            into += weights(k, quantities) or []
            return into or None

        void = not zero and empty(kernels, propose)
        shown.append([str(w) for w in proposed] if void else None)
        if not void:
            found.append(SubCase(tuple(signs), zero))
    return tuple(found), shown
