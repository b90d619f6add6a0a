"""Diagnoses: the mistakes that explain a refuted claim, searched for on first access."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.support.source import Location


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake that explains a wrong claim.

    Args:
        kind: the mistake, as one word with hyphens: ``forgot-inner-derivative``.
        message: the mistake and its place in the names of the program: a sentence.
        where: the place in the text of the program, or in the text of the claim, which is then called ``the claim``;
            None for a mistake without a single place.
        corrected: the right formula as text; None if none is known.
    """

    kind: str
    message: str
    where: Location | None = None
    corrected: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis as an object for `json.dumps`.

        Its ``where`` has ``source``, ``line``, ``column`` and ``text``.
        """
        place = None
        if self.where is not None:
            span, text = self.where.span, self.where.source.text
            place = {
                "source": self.where.source.name,
                "line": self.where.line,
                "column": self.where.column,
                "text": text[span.start : span.end],
            }
        return {
            "kind": self.kind,
            "message": self.message,
            "where": place,
            "corrected": self.corrected,
        }


def first_of_each_kind(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Return the first diagnosis of each kind, in order."""
    return [d for k, d in enumerate(diagnoses) if all(d.kind != e.kind for e in diagnoses[:k])]


class Diagnoses:
    """The diagnoses of a claim, best first: the known ones, then others, which are searched for on first access.

    Args:
        known: known diagnoses.
        find: a function that searches for the others; it is called once.

    Example:
        >>> d = Diagnoses([Diagnosis("lost-minus", "the sign is lost")])
        >>> print(*d.all())
        lost-minus: the sign is lost
    """

    __slots__ = ("_find", "_known")

    def __init__(
        self, known: Iterable[Diagnosis] = (), find: Callable[[], Iterable[Diagnosis]] | None = None
    ) -> None:
        self._known = tuple(known)
        self._find = find

    def all(self) -> tuple[Diagnosis, ...]:
        """Return all diagnoses; the result of the search is cached."""
        if self._find is not None:
            self._known, self._find = (*self._known, *self._find()), None
        return self._known

    def with_more(self, find: Callable[[], Iterable[Diagnosis]]) -> Diagnoses:
        """Return these diagnoses, followed by those that a search will find."""
        return Diagnoses(find=lambda: (*self.all(), *find()))

    def __copy__(self) -> Diagnoses:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Diagnoses:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Diagnoses, (self.all(),))
