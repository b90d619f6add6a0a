"""Places in a text, for messages."""

from __future__ import annotations

import linecache
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_WIDTH = 100  # characters of a source line in a message


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets."""

    start: int
    end: int


@dataclass(frozen=True)
class Source:
    """A text with its name (a file name or ``<text>``).

    Args:
        text: the text.
        name: the name in messages.
    """

    text: str
    name: str = "<text>"

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0] + [i + 1 for i, c in enumerate(self.text) if c == "\n"]

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of a character offset."""
        line = bisect_right(self._line_starts, offset) - 1
        return line + 1, offset - self._line_starts[line] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a 1-based line and column, within that line."""
        return self._line_starts[line - 1] + min(column - 1, len(self.line(line)))

    def line(self, number: int) -> str:
        """Return the text of a 1-based line, without its end."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)]


@dataclass(frozen=True)
class Location:
    """A span of a source, the place of an error.

    Example:
        >>> from symgrad.support.source import Location, Source, Span
        >>> print(Location(Source("y = x +* 2"), Span(7, 8)).render())
        <text>, line 1, column 8
            y = x +* 2
                   ^
    """

    source: Source
    span: Span

    @property
    def line(self) -> int:
        """The 1-based line of the first character."""
        return self.source.line_column(self.span.start)[0]

    @property
    def column(self) -> int:
        """The 1-based column of the first character."""
        return self.source.line_column(self.span.start)[1]

    def render(self) -> str:
        """Return file, line, column, the line of text and carets under the span."""
        line, column = self.source.line_column(self.span.start)
        text = self.source.line(line)
        # A generated line can have 100,000 terms: show a window around the place.
        shift = max(0, column - 1 - _WIDTH // 2)
        window = "".join(c if c.isprintable() else " " for c in text[shift : shift + _WIDTH])
        width = max(1, min(self.span.end - self.span.start, len(window) - (column - 1 - shift)))
        caret = " " * (column - 1 - shift) + "^" * width
        return f"{self.source.name}, line {line}, column {column}\n    {window}\n    {caret}"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file in another language, from which a program was imported.

    Args:
        file: the path of the file; empty if unknown.
        line: the number of the line, counted from 1.
        start: the column of the first character, from 0.
        end: the column after the last character, on the same line.
        text: the line at the time of import, without its indentation.
    """

    file: str
    line: int
    start: int = 0
    end: int = 0
    text: str = ""

    @classmethod
    def of(cls, file: str, line: int, start: int | None = None, end: int | None = None) -> Place:
        """Return a place with its text; without columns, the place is the full line."""
        text = linecache.getline(file, line)
        if start is None:
            start, end = len(text) - len(text.lstrip()), None
        end = len(text.rstrip()) if end is None else end
        return cls(file, line, start, max(end, start + 1), text.strip())

    def location(self) -> Location:
        """Return the place as a location in the current file."""
        lines = linecache.getlines(self.file)
        before = sum(map(len, lines[: self.line - 1]))
        return Location(Source("".join(lines), self.file), Span(before + self.start, before + self.end))

    @property
    def told(self) -> str:
        """The place with its line."""
        return f"{self}: {self.text}"

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.file else "an unknown place"
