"""Split a case by the undecided signs: for each choice of signs the difference must be zero, or the choice is empty.

By the lemma of Farkas, a choice is empty if some quantities that are positive in it have a nonnegative combination that
cannot be positive.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import product

from symgrad.checker.extension_field.extension import ExtensionField
from symgrad.checker.extension_field.field import Element, Poly
from symgrad.checker.limits import FREE_SIGNS
from symgrad.checker.numbers import rational

Weights = Callable[[ExtensionField, Sequence[Poly]], "Sequence[Fraction] | None"]
"""Proposes nonnegative weights such that the weighted sum of the positive quantities cannot be positive."""


def undecided_signs(k: ExtensionField, difference: Element) -> list[tuple[Poly, Poly]]:
    """Return the undecided signs on which a difference, or a quantity of known sign, depends."""
    F = k.field
    concerned = [difference.num]
    for atom in k.atoms:
        sign = F.reduced(atom.sign.num)
        concerned += [F.reduced(atom.value.num)] if sign.is_constant() else []
    degrees = [p.degrees() for p in concerned]
    return [(s, h) for s, h in k.signs if any(d[F.index(s)] for d in degrees)]


def sign_choices(k: ExtensionField, difference: Element) -> Iterator[tuple[list[tuple[Poly, bool]], bool]]:
    """Yield each choice of the undecided signs, with these signs set, and tell whether the difference is zero."""
    free = undecided_signs(k, difference)
    if len(free) > FREE_SIGNS:
        return
    for ups in product((True, False), repeat=len(free)):
        with _assume_signs(k, [(s, up) for (s, _), up in zip(free, ups, strict=True)]):
            yield (
                [(h, up) for (_, h), up in zip(free, ups, strict=True)],
                not k.field.reduced(difference.num),
            )


@contextmanager
def _assume_signs(k: ExtensionField, signs: Sequence[tuple[Poly, bool]]) -> Generator[None]:
    before = list(k.field.relations)
    for s, up in signs:
        k.field.add_relation(s, 1, s - (1 if up else -1))
    try:
        yield
    finally:
        k.field.relations[:] = before


def positive_quantities(k: ExtensionField) -> list[Poly]:
    """Return the polynomials of known sign, each with the sign that makes it positive."""
    found: list[Poly] = []
    for atom in k.atoms:
        sign = k.field.reduced(atom.sign.num)
        h = k.field.reduced(atom.value.num)
        if sign.is_constant() and h and not h.is_constant():
            found.append(h * sign)
    return found


def empty(k: ExtensionField, weights: Weights) -> bool:
    """Tell whether a choice of signs has no points; the proposed weights are verified."""
    quantities = positive_quantities(k)
    found = weights(k, quantities)
    if (
        found is None
        or len(found) != len(quantities)
        or min(found, default=Fraction(-1)) < 0
        or not any(found)
    ):
        return False
    total = k.field.ring.constant(0)
    for w, q in zip(found, quantities, strict=True):
        total = total + q * rational(w)
    high = k.range(total)[1]
    if total and (high is None or high > 0):
        return False
    if not total or not k.never_zero(total):
        _leave_out_zeros(k, [q for w, q in zip(found, quantities, strict=True) if w])
    return True


def _leave_out_zeros(k: ExtensionField, quantities: Sequence[Poly]) -> None:
    """Exclude the points at ends of domains where all quantities are zero at once, unless one of them is never zero."""
    known = set(k.left_out())
    for q in quantities:
        h = q / q.leading_coefficient()
        if k.never_zero(h) or h in k.field.factors or f"{k.field.text(h)} = 0" in known:
            return
    k.exclude_zeros(quantities[0] / quantities[0].leading_coefficient())
