"""The subject of an answer, as blocks of a report; it is made on demand, so that answers cost no additional time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symgrad.report.blocks import Block


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of an answer.

    Args:
        title: the title, one line.
        blocks: the question, with its formulas.
        sides: names for the two sides of a claim.
    """

    title: str
    blocks: tuple[Block, ...] = ()
    sides: tuple[str, str] = ("the first side", "the second side")


class About:
    """The subject of an answer, made at first use and then stored with the answer.

    Args:
        find: a function that makes the subject.
        known: the subject, if it exists already.

    Example:
        >>> About(lambda: Subject("the claim y = x")).subject().title
        'the claim y = x'
    """

    __slots__ = ("_find", "_known")

    def __init__(self, find: Callable[[], Subject] | None = None, known: Subject | None = None) -> None:
        self._find, self._known = find, known

    def subject(self) -> Subject | None:
        """Return the subject; None if there is none."""
        if self._find is not None:
            self._known, self._find = self._find(), None
        return self._known

    def __copy__(self) -> About:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> About:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (About, (None, self.subject()))
