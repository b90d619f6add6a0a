"""Answers of an oracle as JSON, and an oracle that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from symgrad.checker.extension_field.field import Element, FractionField, GiveUp, Poly
from symgrad.checker.numbers import number_from_json, rational

__all__ = ["Replay", "factors_to_json", "poly_from_json", "poly_to_json"]

_CHUNK = 1024  # terms
_SECONDS_PER_EXPONENT = 1e-8  # seconds


def poly_to_json(ring: FractionField, p: Poly) -> list[Any]:
    """Terms: a coefficient, then generators (counted in the order in which they were taken) and their exponents."""
    last = ring.capacity - 1
    return [
        [str(c), *([last - i, int(e)] for i, e in enumerate(exponents) if e)] for exponents, c in p.terms()
    ]


def poly_from_json(ring: FractionField, data: Any) -> Poly:
    """Read what `poly_to_json` wrote."""
    found = ring.ring.constant(0)
    # A term has an exponent for every generator that there may be: of a file with many they are not made all at once.
    for start in range(0, len(data), _CHUNK):
        ring.budget.wait(_CHUNK * ring.capacity * _SECONDS_PER_EXPONENT)
        terms: dict[tuple[int, ...], Any] = {}
        for c, *powers in data[start : start + _CHUNK]:
            exponents = [0] * ring.capacity
            for generator, e in powers:
                if not 0 <= generator < len(ring.names) or not 0 < e < 1_000_000:
                    raise GiveUp("a generator that is not there")
                exponents[ring.capacity - 1 - generator] += e
            terms[tuple(exponents)] = rational(number_from_json(c))
        found += ring.ring.from_dict(terms)
    return found


def factors_to_json(ring: FractionField, found: Sequence[tuple[Poly, int]] | None) -> Any:
    """Polynomials and exponents; None stays None."""
    return None if found is None else [[poly_to_json(ring, f), e] for f, e in found]


class Replay:
    """An oracle that gives the answers of a proof, one after the other.

    Args:
        answers: as `symgrad.verification.search.steps` wrote them.
        scales: how fine kernels are to be.
    """

    def __init__(self, answers: Sequence[Any], scales: Mapping[tuple[str, int], int]) -> None:
        self._answers = iter(answers)
        self._scales = scales

    def _next(self) -> Any:
        for answer in self._answers:
            return answer
        raise GiveUp("the proof ends too early")

    def scale(self, kind: str, index: int) -> int:
        return self._scales.get((kind, index), 1)

    # What is asked is not looked at: an answer to another question is refused where it is verified.

    def factors(self, ring: FractionField, num: Poly) -> list[tuple[Poly, int]]:  # noqa: ARG002  (what a search is asked)
        return [(poly_from_json(ring, f), int(e)) for f, e in self._next()]

    def restate(
        self,
        ring: FractionField,
        h: Poly,  # noqa: ARG002  (what a search is asked)
        roots: Sequence[int],  # noqa: ARG002  (what a search is asked)
        atoms: Sequence[Poly],  # noqa: ARG002  (what a search is asked)
    ) -> list[tuple[Poly, int]] | None:
        answer = self._next()
        return None if answer is None else [(poly_from_json(ring, f), int(e)) for f, e in answer]

    def combination(
        self,
        ring: FractionField,  # noqa: ARG002  (what a search is asked)
        target: Element,  # noqa: ARG002  (what a search is asked)
        basis: Sequence[Element],  # noqa: ARG002  (what a search is asked)
    ) -> list[Fraction] | None:
        answer = self._next()
        return None if answer is None else [number_from_json(c) for c in answer]
