"""Divide a case of a proof into parts: by the sign of one quantity, if that suffices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from symgrad.checker.balls.programs import evaluate
from symgrad.checker.balls.scalar_ops import Value
from symgrad.checker.extension_field.ball_values import value_at
from symgrad.checker.extension_field.extension import Contradiction, TooCoarse
from symgrad.checker.extension_field.field import Element, GiveUp, Poly, TooFewGenerators
from symgrad.checker.extension_field.functions import Functions
from symgrad.checker.program.steps import ProofProgram
from symgrad.verification.limits import SIGNED_STEPS, SIGNED_TERMS
from symgrad.verification.reporting.step_formulas import Wording
from symgrad.verification.search.prove import Case, SubCase

_BITS = 256


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
        return evaluate(program, point, precision=_BITS, wanted=[at])


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
