"""The oracle of a proof: factors, decompositions, and how fine the generators must be."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import Element, FractionField, Poly
from symgrad.checker.extension_field.replay import factors_to_json
from symgrad.checker.numbers import flint, number_to_json
from symgrad.verification.limits import (
    COMBINED_TERMS,
    COMBINED_WORK,
    FACTORED_DEGREE,
    FACTORED_TERMS,
    RESTATED_TERMS,
)

_MANY, _FEW, _LOW = 10, 40, 4  # number of generators, number of terms, and degree in one generator
_SLOW, _SLOWER = 1e-5, 5e-5  # seconds of a factorisation by terms and degree; in more than four generators
_SELDOM = 0.1  # this share of the longest time that a factorisation may take is counted
_PER_ENTRY = 1e-6  # seconds of an elimination, by rows and the square of columns


class Search:
    """An oracle that computes its answers and records them.

    Args:
        scales: factors by which the exponents of generators are finer than at their first occurrence.
    """

    def __init__(self, scales: dict[tuple[str, int], int]) -> None:
        self.scales = scales
        self.answers: list[Any] = []
        self._known: dict[str, list[tuple[Poly, int]]] = {}

    def scale(self, kind: str, index: int) -> int:
        return self.scales.get((kind, index), 1)

    def factors(self, ring: FractionField, num: Poly) -> list[tuple[Poly, int]]:
        text = str(num)
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = _factors(ring, num)
        self.answers.append(factors_to_json(ring, found))
        return found

    def restate(
        self, ring: FractionField, h: Poly, roots: Sequence[int], atoms: Sequence[Poly]
    ) -> list[tuple[Poly, int]] | None:
        found = _restated(ring, h, roots, atoms)
        self.answers.append(factors_to_json(ring, found))
        return found

    def combination(
        self, ring: FractionField, target: Element, basis: Sequence[Element]
    ) -> list[Fraction] | None:
        found = _combination(ring, target, basis)
        self.answers.append(None if found is None else [number_to_json(c) for c in found])
        return found


def _restated(
    ring: FractionField, h: Poly, roots: Sequence[int], atoms: Sequence[Poly]
) -> list[tuple[Poly, int]] | None:
    """Write h as a known factor times a quotient such that fewer roots remain, or as a product with a square.

    With p**2 - q**2*k**2 a square d**2, p + q*k is (p + d + q*k)**2/(2*(p + d)).
    """
    if len(h) > RESTATED_TERMS:
        return None
    mine = sum(1 for p in roots if h.degrees()[p])
    for other in atoms:
        degrees = other.degrees()
        if other == h or len(other) > RESTATED_TERMS or not any(degrees[p] for p in roots):
            continue
        product = ring.reduced(h * other)
        left = product.degrees()
        if sum(1 for p in roots if left[p]) < mine:
            return [(product, 1), (other, -1)]
    top = min(roots)
    if h.degrees()[top] != 1:
        return None
    k = ring.ring.gen(top)
    q, p = divmod(h, k)
    d = _square_root(ring, ring.reduced(p * p - q * q * k * k))
    return None if d is None else [(p + d + q * k, 2), (p + d, -1)]


def _combination(ring: FractionField, target: Element, basis: Sequence[Element]) -> list[Fraction] | None:
    if not basis:
        return None
    which = list(range(len(basis)))
    if _cost(ring, [target, *basis]) > COMBINED_TERMS:
        which = _tied(ring, target, basis)
        if not which or _cost(ring, [target, *(basis[i] for i in which)]) > COMBINED_WORK:
            return None
    den: dict[int, int] = {}
    some = [basis[i] for i in which]
    for e in (target, *some):
        for i, n in e.den:
            den[i] = max(den.get(i, 0), n)
    columns: list[dict[Any, Any]] = []
    for e in (*some, target):
        own = dict(e.den)
        num = e.num
        for i, n in den.items():
            for _ in range(n - own.get(i, 0)):
                ring.spend(len(num) * len(ring.factors[i]))
                num = num * ring.factors[i]
        columns.append(ring.reduced(num).to_dict())
    rows = sorted({m for c in columns for m in c})
    if len(rows) * len(columns) ** 2 > COMBINED_WORK:
        return None
    ring.wait(_PER_ENTRY * len(rows) * len(columns) ** 2)
    matrix = flint.fmpq_mat(len(rows), len(columns), [c.get(m, 0) for m in rows for c in columns])
    echelon, rank = matrix.rref()
    solution = [Fraction(0)] * len(basis)
    for r in range(rank):
        pivot = next(c for c in range(len(columns)) if echelon[r, c] != 0)
        if pivot == len(some):
            return None
        value = echelon[r, len(some)]
        solution[which[pivot]] = Fraction(int(value.p), int(value.q))
    return solution


def _cost(ring: FractionField, fractions: Sequence[Element]) -> int:
    """Bound the number of terms of fractions over their common denominator."""
    den: dict[int, int] = {}
    for a in fractions:
        for i, n in a.den:
            den[i] = max(den.get(i, 0), n)
    cost = sum(len(a.num) for a in fractions)
    for i, n in den.items():
        cost *= len(ring.factors[i]) ** min(n, 64)
        if cost > COMBINED_WORK:
            break
    return cost


def _tied(ring: FractionField, target: Element, basis: Sequence[Element]) -> list[int]:
    """Return the positions, in the basis, of the elements that are linked to the target by common generators."""
    reached = _generators(ring, target)
    left = {i: _generators(ring, b) for i, b in enumerate(basis)}
    found: list[int] = []
    while True:
        more = [i for i, own in left.items() if own & reached]
        if not more:
            return sorted(found)
        for i in more:
            reached |= left.pop(i)
        found += more


def _generators(ring: FractionField, a: Element) -> set[int]:
    polys = [a.num, *(ring.factors[i] for i, _ in a.den)]
    return {p for h in polys for p, e in enumerate(h.degrees()) if e}


def _square_root(ring: FractionField, square: Poly) -> Poly | None:
    if not square or not _is_soon_factored(ring, square):
        return None
    unit, factors = square.factor()
    upper, lower = flint.fmpz(unit.p), flint.fmpz(unit.q)
    if unit < 0 or any(e % 2 for _, e in factors) or not (_is_square(upper) and _is_square(lower)):
        return None
    root = ring.ring.constant(flint.fmpq(upper.isqrt(), lower.isqrt()))
    for f, e in factors:
        root = root * f ** (int(e) // 2)
    return root


def _is_square(n: Any) -> bool:
    return bool(n.isqrt() ** 2 == n)


def _factors(ring: FractionField, num: Poly) -> list[tuple[Poly, int]]:
    if len(num) == 1 or _is_soon_factored(ring, num):
        return [(f, int(e)) for f, e in num.factor()[1]]
    found: list[tuple[Poly, int]] = []
    generators = [g for g, d in zip(ring.ring.gens(), num.degrees(), strict=True) if d]
    for divisor in [*generators, *ring.factors]:
        count = 0
        while not divisor.is_constant():
            quotient = ring.quotient(num, divisor)
            if quotient is None:
                break
            num, count = quotient, count + 1
        if count:
            found.append((divisor, count))
    if not num.is_constant():
        found.append((num, 1))
    return found


def _is_soon_factored(ring: FractionField, num: Poly) -> bool:
    """Tell whether factoring a polynomial is quick enough: nothing can interrupt it."""
    terms, degree = len(num), int(num.total_degree())
    if terms > FACTORED_TERMS or degree > FACTORED_DEGREE:
        return False
    degrees = [int(d) for d in num.degrees() if d]
    # A polynomial with many factors, in many generators and of higher degree, may take hours.
    if len(degrees) > _MANY and terms > _FEW and max(degrees) > _LOW:
        return False
    longest = terms * degree * (_SLOWER if len(degrees) > 4 else _SLOW)
    return now() + longest <= ring.budget.deadline and ring.budget.allows(seconds=longest * _SELDOM)
