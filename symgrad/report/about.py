"""What an answer is about, in blocks of a report: made when it is first asked, so that answers cost nothing more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symgrad.report.blocks import Block

__all__ = ["About", "Subject"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What an answer is about.

    Args:
        title: in a line.
        blocks: the question, with its formulas.
        sides: what the two sides of a claim are called.
    """

    title: str
    blocks: tuple[Block, ...] = ()
    sides: tuple[str, str] = ("the first side", "the second side")


class About:
    """Says what an answer is about; what is made the first time is remembered, and travels with the answer.

    Args:
        find: makes it.

    Example:
        >>> About(lambda: Subject("the claim y = x")).subject().title
        'the claim y = x'
    """

    __slots__ = ("_find", "_known")

    def __init__(self, find: Callable[[], Subject] | None = None, known: Subject | None = None) -> None:
        self._find, self._known = find, known

    def subject(self) -> Subject | None:
        """Return what it is about; None if nobody said."""
        if self._find is not None:
            self._known, self._find = self._find(), None
        return self._known

    def __copy__(self) -> About:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> About:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (About, (None, self.subject()))
