"""Divide the domain into regions, each with its own status.

In every region both sides have a value at some point that was tried. A region is refuted if the sides differ at such a
point in it, or at the witness. A proved region lists the points that the proof excludes. A case
of a proof is divided by the sign of one quantity, if that suffices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

from symgrad.checker.balls.programs import context, evaluate
from symgrad.checker.balls.scalar_ops import Value
from symgrad.checker.clock import until
from symgrad.checker.extension_field.ball_values import value_at
from symgrad.checker.extension_field.extension import Contradiction, TooCoarse
from symgrad.checker.extension_field.field import Element, GiveUp, Poly, TooFewGenerators
from symgrad.checker.extension_field.functions import Functions
from symgrad.checker.extension_field.generators import to_fraction
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.step_text import step_text
from symgrad.checker.program.steps import ProofProgram
from symgrad.checker.witness import Witness, certain_entries, disjoint
from symgrad.ir.graph import Node
from symgrad.verification.limits import REGION_POINTS, SIGNED_STEPS, SIGNED_TERMS
from symgrad.verification.points.sampler import points_of
from symgrad.verification.reporting.step_formulas import Wording
from symgrad.verification.search.prove import Attempt, Case, SubCase
from symgrad.verification.verdict import Region, Status

_SIGN_BITS = 256


@dataclass(frozen=True, slots=True)
class Sign:
    """The condition that a quantity is positive, or the condition that it is negative.

    Args:
        text: the quantity, in the names of the program or of the proof's generators.
        positive: True for positive, False for negative.
        kernels: the generators of the proof's polynomials.
        zeros: polynomials in the generators that vanish only where the quantity does not have this sign.
        step: the step of a program that computes the quantity; None if it is the product of the polynomials.
    """

    text: str
    positive: bool
    kernels: Functions
    zeros: tuple[Poly, ...]
    step: tuple[ProofProgram, int] | None = None

    def __str__(self) -> str:
        return f"{self.text} {'>' if self.positive else '<'} 0"

    def holds(self, point: Mapping[str, Any]) -> bool:
        """Tell whether the quantity certainly has this sign at a point."""
        up = self.positive
        for value in self._values(point):
            if value is None or not (value > 0 or value < 0):
                return False
            up = up == bool(value > 0)
        return up

    def _values(self, point: Mapping[str, Any]) -> list[Value]:
        """Return the factors of the quantity."""
        if self.step is None:
            return [value_at(self.kernels, h, point) for h in self.zeros]
        program, at = self.step
        return evaluate(program, point, precision=_SIGN_BITS, wanted=[at])


def parts_of(program: ProofProgram, case: Case, wording: Wording) -> Iterator[tuple[tuple[Sign, ...], bool]]:
    """Yield the parts of a case that may have points, or the whole case, each with whether the claim is proved in it.

    There are two parts if the sign of one quantity separates the proved parts from the others.

    Args:
        program: the steps.
        case: the case.
        wording: the object that writes steps as formulas.
    """
    if not case.parts or case.kernels is None:
        yield (), case.result == "proved"
        return
    found = [*_products(case.kernels, case.parts, wording), *_steps(program, case, case.kernels, wording)]
    if found:
        sign = min(found, key=lambda s: ("|" in s.text, len(s.text)))
        yield (sign,), True
        yield (replace(sign, positive=not sign.positive),), False
        return
    for part in case.parts:
        signs = (
            Sign(wording.formula(case.kernels.field.text(h)), up, case.kernels, (h,)) for h, up in part.signs
        )
        yield tuple(signs), part.proved


def _products(k: Functions, parts: Sequence[SubCase], wording: Wording) -> Iterator[Sign]:
    """Yield products of polynomials, each with the sign that it has exactly where the case is proved."""
    every = [h for h, _ in parts[0].signs]
    for n in range(1, len(every) + 1):
        for which in combinations(range(len(every)), n):
            side = _side(parts, which)
            if side is not None:
                own = tuple(every[i] for i in which)
                texts = [wording.formula(k.field.text(h)) for h in own]
                text = texts[0] if n == 1 else "*".join(f"({t})" if " " in t else t for t in texts)
                yield Sign(text, side, k, own)


def _steps(program: ProofProgram, case: Case, k: Functions, wording: Wording) -> Iterator[Sign]:
    """Yield steps of the program, each with the sign that it has exactly where the case is proved."""
    every = [h for h, _ in case.parts[0].signs]
    for i in list(case.known)[:SIGNED_STEPS]:
        found = _sign(k, case.known[i])
        own = None if found is None else [n for n, h in enumerate(every) if any(h == g for g in found[1])]
        if found is None or own is None or len(own) != len(found[1]):
            continue
        side = _side(case.parts, own)
        text = None if side is None else wording.step(i)
        if side is not None and text is not None:
            yield Sign(text, side == found[0], k, tuple(found[1]), (program, i))


def _side(parts: Sequence[SubCase], which: Sequence[int]) -> bool | None:
    """Return the sign of a product where the case is proved (True: positive).

    The result is None if it has this sign elsewhere, too.
    """
    sides = {(sum(not p.signs[i][1] for i in which) % 2 == 0) == p.proved for p in parts}
    return sides.pop() if len(sides) == 1 and len({p.proved for p in parts}) == 2 else None


def _sign(k: Functions, value: Element) -> tuple[bool, list[Poly]] | None:
    """Write a value as plus or minus a product of polynomials with known signs.

    Return True for plus, and the polynomials.
    """
    F = k.field
    if len(value.num) > SIGNED_TERMS or F.number(value) is not None:
        return None
    try:
        sign = F.reduced(k.sign(value).num)
    except (Contradiction, TooFewGenerators, GiveUp, TooCoarse):
        return None
    degrees = sign.degrees()
    mine = [h for s, h in k.signs if degrees[F.index(s)]]
    if len(sign) != 1 or not mine or len(mine) != sum(1 for d in degrees if d):
        return None
    return bool(sign.leading_coefficient() > 0), mine


_BITS = 128
_STRICT = {True: {"lt", "gt", "ne"}, False: {"le", "ge", "eq"}}
"""Comparisons that hold, or fail, only where their sides differ."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A point at which both sides have a value, and whether they differ there."""

    values: Mapping[str, Any]
    differs: bool


def try_points(claim: Equality, deadline: float) -> list[Tried]:
    """Return points at which both sides of a claim have a value.

    Args:
        claim: the claim; all steps of its program are scalars.
        deadline: the time of the end, on the clock of `symgrad.checker.clock`.
    """
    found: list[Tried] = []
    try:
        with until(deadline), context.workprec(_BITS):
            for point in islice(points_of(claim.program), REGION_POINTS):
                both = certain_entries(claim, point.values, {}, precision=_BITS)
                found += [Tried(point.values, disjoint(x, y)) for _, x, y in both]
    except TimeoutError:
        pass
    return found


def regions_of(
    program: ProofProgram,
    inputs: Sequence[Node],
    attempt: Attempt,
    points: Sequence[Tried],
    witness: Witness | None,
    deadline: float,
) -> tuple[Region, ...]:
    """Return the cases of an attempt and their parts; empty if the claim is proved nowhere, or there is only one part.

    Args:
        program: the program.
        inputs: the variables of the program.
        attempt: the attempt to prove the claim.
        points: points at which both sides have a value.
        witness: a point at which the sides differ, if one is known.
        deadline: when to give up, on the clock of `symgrad.checker.clock`.

    Raises:
        GiveUp: at the deadline.
    """
    every = [*points, *([Tried(witness.point, True)] if witness else [])]
    wording = Wording(program, inputs)
    found: list[Region] = []
    covered = witness is None  # whether a refuted region contains the witness
    for case in attempt.cases:
        if case.kernels is not None:
            case.kernels.field.budget.deadline = deadline
        conditions = _conditions(program, case, wording)
        mine = [t for t in every if _comes_out(program, case, t.values)]
        for signs, proved in parts_of(program, case, wording):
            here = [t for t in mine if all(s.holds(t.values) for s in signs)]
            where = " and ".join([*conditions, *map(str, signs)])
            # A case that can hold only on a thin set counts as empty.
            if not here or not where or (case.result == "empty" and not any(t.differs for t in here)):
                continue
            but = _exclusions(program, case, signs) if proved else ()
            # The proof may exclude a point at which the sides differ.
            differs = any(t.differs for t in here) and not but
            status: Status = "refuted" if differs else "proved" if proved else "undecided"
            found.append(Region(status, where, but))
            covered = covered or (differs and here[-1] is every[-1])
    if all(r.status != "proved" for r in found):
        return ()
    if witness is not None and not covered:
        found.append(Region("refuted", " and ".join(f"{n} = {v}" for n, v in witness.point.items())))
    return tuple(found)


def _exclusions(program: ProofProgram, case: Case, signs: Sequence[Sign]) -> tuple[str, ...]:
    """Return the conditions that a proof excludes in a part of its case.

    Leave out those that the part's signs contradict.
    """
    if case.kernels is None:
        return case.excluded
    F = case.kernels.field
    zeros = {f"{F.text(h)} = 0" for s in signs for h in s.zeros}
    for i, way in case.outcome.items():
        step = program.steps[i]
        if step.op in _STRICT[way] and all(a in case.known for a in step.args):
            zeros.add(f"{F.fraction_text(F.sub(*(case.known[a] for a in step.args)))} = 0")
    zeros |= {f"{F.text(h)} = 0" for h in _never_zero(case.kernels, signs)}
    return tuple(condition for condition in case.excluded if condition not in zeros)


def _never_zero(k: Functions, signs: Sequence[Sign]) -> list[Poly]:
    """Return the excluded polynomials that have no zero in a part, by the signs of the variables."""
    before = dict(k.bounds)
    for s in signs:
        found = _end(k, s.zeros[0]) if len(s.zeros) == 1 and s.step is None else None
        if found is not None:
            at, end, rising = found
            low, high = k.bounds[at]
            k.bounds[at] = (end, high) if s.positive == rising else (low, end)
    every = [*k.field.factors, *(a.value.num for a in k.atoms)]
    found = [h for h in every if k.never_zero(_below_roots(k, h))]
    k.bounds.clear()
    k.bounds.update(before)
    return found


def _end(k: Functions, h: Poly) -> tuple[int, Fraction, bool] | None:
    """Return for a*x + b the position of x, the root -b/a, and whether a > 0; None for other polynomials."""
    slope, constant, at = Fraction(0), Fraction(0), -1
    for exponents, c in h.terms():
        own = [p for p, e in enumerate(exponents) if e]
        if not own:
            constant = to_fraction(c)
        elif at < 0 and sum(exponents) == 1 and k.meaning[own[0]][0] == "symbol":
            slope, at = to_fraction(c), own[0]
        else:
            return None
    return (at, -constant / slope, slope > 0) if at >= 0 else None


def _below_roots(k: Functions, h: Poly) -> Poly:
    """Return the innermost radicand of nested roots, which vanishes where the polynomial does."""
    while True:
        kind, place = k.generator(h)
        if kind != "root":
            return h
        h = k.atoms[place].value.num


def _conditions(program: ProofProgram, case: Case, wording: Wording) -> list[str]:
    """Return the comparisons of a case; those that do not hold in it are negated."""
    found = [
        wording.comparison(i, way=way) or (step_text(program, i) if way else f"not {step_text(program, i)}")
        for i, way in sorted(case.outcome.items())
    ]
    return list(dict.fromkeys(found))


def _comes_out(program: ProofProgram, case: Case, point: Mapping[str, Any]) -> bool:
    """Tell whether the comparisons certainly have the outcomes of the case at a point."""
    values = evaluate(program, point, precision=_BITS, wanted=list(case.outcome))
    return all(value is way for value, way in zip(values, case.outcome.values(), strict=True))
