"""The answers of an oracle as JSON, and an oracle that replays them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from symgrad.checker.extension_field.field import Element, FractionField, GiveUp, Poly
from symgrad.checker.numbers import number_from_json, rational

_CHUNK = 1024  # number of terms in a chunk
_SECONDS_PER_EXPONENT = 1e-8  # seconds for each exponent of a term


def poly_to_json(ring: FractionField, p: Poly) -> list[Any]:
    """Return the terms: each is a coefficient, then pairs of a generator (numbered by creation) and its exponent."""
    last = ring.capacity - 1
    return [
        [str(c), *([last - i, int(e)] for i, e in enumerate(exponents) if e)] for exponents, c in p.terms()
    ]


def poly_from_json(ring: FractionField, data: Any) -> Poly:
    """Read a polynomial from the format of `poly_to_json`."""
    found = ring.ring.constant(0)
    # A term has an exponent for every generator of the capacity, so a long polynomial is built in chunks.
    for start in range(0, len(data), _CHUNK):
        ring.wait(_CHUNK * ring.capacity * _SECONDS_PER_EXPONENT)
        terms: dict[tuple[int, ...], Any] = {}
        for c, *powers in data[start : start + _CHUNK]:
            exponents = [0] * ring.capacity
            for generator, e in powers:
                if not 0 <= generator < len(ring.names) or not 0 < e < 1_000_000:
                    raise GiveUp("a generator that does not exist")
                exponents[ring.capacity - 1 - generator] += e
            terms[tuple(exponents)] = rational(number_from_json(c))
        found += ring.ring.from_dict(terms)
    return found


def factors_to_json(ring: FractionField, found: Sequence[tuple[Poly, int]] | None) -> Any:
    """Return factors and exponents as JSON; None stays None."""
    return None if found is None else [[poly_to_json(ring, f), e] for f, e in found]


def replay_field(data: Mapping[str, Any], generators: int, deadline: float) -> tuple[FractionField, Replay]:
    """Return the field of a proof, and the oracle that replays its answers.

    Raises:
        GiveUp: if the capacity is not between 1 and ``generators``, or a scale is not positive.
    """
    scales = {(str(kind), int(i)): int(by) for kind, i, by in data["scales"]}
    if not 0 < data["capacity"] <= generators or any(by < 1 for by in scales.values()):
        raise GiveUp("a capacity or a scale out of range")
    return FractionField(data["capacity"], deadline), Replay(data["answers"], scales)


class Replay:
    """An oracle that returns the answers in a proof, one after the other.

    Args:
        answers: in the format of `symgrad.verification.search.steps`.
        scales: the scale of each generator that must be finer than its first occurrence.
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

    # The arguments are ignored: an answer to another question fails its verification.

    def factors(self, ring: FractionField, num: Poly) -> list[tuple[Poly, int]]:  # noqa: ARG002  (of the protocol)
        return [(poly_from_json(ring, f), int(e)) for f, e in self._next()]

    def restate(
        self,
        ring: FractionField,
        h: Poly,  # noqa: ARG002  (of the protocol)
        roots: Sequence[int],  # noqa: ARG002  (of the protocol)
        atoms: Sequence[Poly],  # noqa: ARG002  (of the protocol)
    ) -> list[tuple[Poly, int]] | None:
        answer = self._next()
        return None if answer is None else [(poly_from_json(ring, f), int(e)) for f, e in answer]

    def combination(
        self,
        ring: FractionField,  # noqa: ARG002  (of the protocol)
        target: Element,  # noqa: ARG002  (of the protocol)
        basis: Sequence[Element],  # noqa: ARG002  (of the protocol)
    ) -> list[Fraction] | None:
        answer = self._next()
        return None if answer is None else [number_from_json(c) for c in answer]
