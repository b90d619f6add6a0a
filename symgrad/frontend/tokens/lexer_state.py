"""The position of a lexer in its text, for error messages."""

from __future__ import annotations

from symgrad.frontend.tokens.terms import Token
from symgrad.support.errors import ProgramSyntaxError, SymgradError
from symgrad.support.source import Location, Source, Span


class LexerState:
    """The state of the lexer: the text, the open brackets and the last tokens.

    Args:
        source: the text.

    Attributes:
        brackets: the places of the open brackets.
        last, before_last: the last two tokens.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.brackets: list[int] = []
        self.last: Token | None = None
        self.before_last: Token | None = None

    def error(
        self,
        what: str,
        start: int,
        end: int | None = None,
        *,
        cls: type[SymgradError] = ProgramSyntaxError,
        expected: str | None = None,
        cure: str | None = None,
    ) -> SymgradError:
        """Return an error that points at a range of the text."""
        span = Span(start, start + 1 if end is None else end)
        return cls(what, at=Location(self.source, span), expected=expected, cure=cure)
