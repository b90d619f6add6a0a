"""What a formula as people type it became: a text in the notation of programs, and how it was read."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InformalReading:
    """How something was read that programs would write otherwise.

    Args:
        what: as it is typed.
        meaning: as programs write it.
        kind: which habit it is: ``power``, ``product``, ``function``, ``exponential``; ``doubt`` where others may read
            it otherwise, so that each place is told, and ``letters`` of a name that is taken for a product of letters.
    """

    what: str
    meaning: str
    kind: str

    def __str__(self) -> str:
        told = f"{self.what} is read as {self.meaning}"
        if self.kind == "letters":
            return f"{told}; otherwise: a declaration of {self.what}"
        if self.kind == "arguments":
            return f'{told}; otherwise: arguments="factor", or brackets'
        return f"{told}; otherwise: brackets" if self.kind == "doubt" else told


@dataclass(frozen=True, slots=True)
class InformalText:
    """A text in the notation of programs.

    Args:
        text: it.
        readings: what was changed for that.
        places: offsets in it, and for each that in the text as it was typed.
    """

    text: str
    readings: tuple[InformalReading, ...] = ()
    places: tuple[tuple[int, int], ...] = ((0, 0),)

    def typed(self, offset: int) -> int:
        """Return where an offset is in the text as it was typed.

        Example:
            >>> from symgrad.apps.review.formulas.informal_notation import to_notation
            >>> found = to_notation("x^2 + 2y", {"x", "y"}.__contains__, set().__contains__)
            >>> found.text, found.typed(found.text.index("y"))
            ('x**2 + 2*y', 7)
        """
        made, typed = self.places[bisect_right([at for at, _ in self.places], offset) - 1]
        return typed + offset - made
