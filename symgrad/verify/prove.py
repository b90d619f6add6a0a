"""Looking for a proof that two steps of a program are equal: cases, restarts, signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symgrad.proof.evaluate import COMPARISONS, conditions, values
from symgrad.proof.field import Budget, Element, Field, Full, GiveUp
from symgrad.proof.functions import Functions
from symgrad.proof.kernels import Contradiction, Refine
from symgrad.proof.steps import Program
from symgrad.verify.search import Search

__all__ = ["Attempt", "Case", "prove"]

_CASES = 64
_RESTARTS = 60
_CAPACITY = 16


@dataclass(frozen=True, slots=True)
class Case:
    """How the comparisons come out, and what follows.

    Args:
        outcome: of the comparisons, by step.
        result: ``proved``, ``empty`` (no point has this outcome), or why not.
        excluded: what must not vanish, as text.
        signs: the free signs that the difference depends on, if it is not zero for all of them.
    """

    outcome: Mapping[int, bool]
    result: str
    excluded: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of looking for a proof."""

    cases: tuple[Case, ...]

    @property
    def proved(self) -> bool:
        return {"proved"} <= {c.result for c in self.cases} <= {"proved", "empty"}

    @property
    def empty(self) -> bool:
        """Whether the two are nowhere defined together."""
        return {c.result for c in self.cases} == {"empty"}

    @property
    def why(self) -> str:
        return next((c.result for c in self.cases if c.result not in {"proved", "empty"}), "")


def prove(program: Program, a: int, b: int, deadline: float) -> Attempt:
    """Try to prove that two steps are equal wherever both are defined, but for thin sets that are listed."""
    cases: list[Case] = []
    pending: list[dict[int, bool]] = [{}]
    while pending:
        outcome = pending.pop()
        open_ones = conditions(program, [a, b], outcome)
        if open_ones:
            at = open_ones[0]
            if len(cases) + len(pending) > _CASES:
                return Attempt((*cases, Case(outcome, "too many cases")))
            op = program.steps[at].op
            # Equality holds in a thin set, or everywhere, which the evaluation notices.
            ways = (True, False) if op in COMPARISONS else (op == "ne",)
            pending += [{**outcome, at: way} for way in ways]
            continue
        cases.append(_case(program, a, b, outcome, deadline))
        if cases[-1].result not in {"proved", "empty"}:
            return Attempt(tuple(cases))
    return Attempt(tuple(cases))


def _case(program: Program, a: int, b: int, outcome: Mapping[int, bool], deadline: float) -> Case:
    scales: dict[tuple[str, int], int] = {}
    capacity = _CAPACITY
    for _ in range(_RESTARTS):
        kernels = Functions(Field(capacity, Budget(deadline)), Search(scales))
        try:
            left, right = values(kernels, program, [a, b], outcome)
            difference = kernels.field.sub(left, right)
        except Full:
            capacity *= 2
        except Refine as finer:
            scales[finer.key] = scales.get(finer.key, 1) * finer.by
        except Contradiction:
            return Case(outcome, "empty")
        except GiveUp as why:
            return Case(outcome, f"gave up: {why}")
        else:
            return _judged(kernels, difference, outcome)
    return Case(outcome, "gave up: the kernels grow ever finer")


def _judged(kernels: Functions, difference: Element, outcome: Mapping[int, bool]) -> Case:
    F = kernels.field
    excluded = tuple(F.text(f) for f in F.factors)
    if F.is_zero(difference):
        return Case(outcome, "proved", excluded)
    degrees = difference.num.degrees()
    signs = tuple(F.text(h) for s, h in kernels.signs if degrees[F.index(s)])
    return Case(outcome, "no proof: the difference has another normal form", excluded, signs)


