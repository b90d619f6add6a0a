"""The blocks of a report: plain data, independent of the answers.

Report ::= title, Block*
Block  ::= Heading | Paragraph | MathLines | Items | Steps | Table | Figure | Code | Document
         | FindingBlock | Banner
Prose  ::= (text | Maths | Literal)*

No block holds markup, so that each writer has one rule: escape everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

Tone: TypeAlias = OneOf["good", "bad", "warn", "open", "plain"]
"""The meaning of a banner or a line at a glance; words always express it, too."""


@dataclass(frozen=True, slots=True)
class Maths:
    r"""A formula in both notations.

    Args:
        text: in program notation.
        latex: in LaTeX, with amsmath: rows of an alignment are divided by ``\\``, columns by ``&``.
    """

    text: str
    latex: str


@dataclass(frozen=True, slots=True)
class Literal:
    """Verbatim text: a name, a piece of a program.

    Args:
        text: the text.
    """

    text: str


Inline: TypeAlias = str | Maths | Literal
Prose: TypeAlias = tuple[Inline, ...]
"""Text mixed with formulas and literals."""


def prose(*parts: Inline | Sequence[Inline]) -> Prose:
    """Concatenate text, formulas, literals and prose.

    Example:
        >>> prose("at ", Literal("x = 1"))
        ('at ', Literal(text='x = 1'))
    """
    found: list[Inline] = []
    for part in parts:
        found += [part] if isinstance(part, (str, Maths, Literal)) else part
    return tuple(found)


def ticked(text: str) -> Prose:
    """Convert a message to prose: text between backticks is literal.

    Example:
        >>> ticked("the sign of `exp(x)`")
        ('the sign of ', Literal(text='exp(x)'))
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return (text,)
    return tuple(Literal(part) if k % 2 else part for k, part in enumerate(parts) if part)


def plain(words: Iterable[Inline]) -> str:
    """Convert prose to plain text, with formulas in program notation."""
    return "".join(w if isinstance(w, str) else w.text for w in words)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading.

    Args:
        text: the title.
        level: 1 for a section of the report, 2 for a subsection.
    """

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph.

    Args:
        words: the text.
        soft: whether it is a side remark.
    """

    words: Prose
    soft: bool = False


@dataclass(frozen=True, slots=True)
class MathLines:
    """Displayed formulas, aligned at their relations.

    Args:
        rows: the lines.
        label: a description for readers who cannot see the formulas.
    """

    rows: tuple[Maths, ...]
    label: str = "formula"


@dataclass(frozen=True, slots=True)
class Items:
    """A list.

    Args:
        items: the entries.
    """

    items: tuple[Prose, ...]


@dataclass(frozen=True, slots=True)
class StepItem:
    """A step of a derivation.

    Args:
        title: the action, in a few words.
        formula: the result of the action.
        reason: the justification of the step.
        blocks: further remarks.
        steps: the steps inside this step.
    """

    title: str
    formula: Maths | None = None
    reason: Prose = ()
    blocks: tuple[Block, ...] = ()
    steps: tuple[StepItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps that can be folded.

    Args:
        title: the result.
        steps: the steps, in order.
        folded: whether the whole is folded at first.
        left: the number of omitted steps.
    """

    title: str
    steps: tuple[StepItem, ...]
    folded: bool = False
    left: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        title: the head of the column.
        number: whether the column holds numbers, which are aligned right.
    """

    title: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows begin with a row head.

    Args:
        caption: the caption.
        columns: the columns.
        rows: the cells of each row; there are as many as columns.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Prose, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture.

    Args:
        svg: a standalone SVG document; writers remove everything except drawing elements.
        title: the caption.
        description: a text alternative.
    """

    svg: str = field(repr=False)
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class Code:
    """Source code.

    Args:
        text: the code.
        language: ``symgrad``, ``python``, ``c``, ``llvm``, or empty.
        title: the caption.
    """

    text: str
    language: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class LineNote:
    """A note on a line of a document.

    Args:
        line: the number of the line, counted from 1.
        mark: a word next to the line.
        tone: the meaning of the mark.
        spans: the marked columns, counted from 0: pairs of the first column and the column after the last.
        said: the lines below the marked line.
    """

    line: int
    mark: str
    tone: Tone = "plain"
    spans: tuple[tuple[int, int], ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the user, with notes on its lines.

    Args:
        text: the document.
        notes: the notes, in the order of their lines.
        name: the name of the document.
    """

    text: str
    notes: tuple[LineNote, ...]
    name: str = ""

    def notes_by_line(self) -> dict[int, list[LineNote]]:
        """Return, for each line that has notes, these notes."""
        notes: dict[int, list[LineNote]] = {}
        for note in self.notes:
            notes.setdefault(note.line, []).append(note)
        return notes


@dataclass(frozen=True, slots=True)
class FindingBlock:
    """A finding at a place in a text.

    Args:
        title: the finding.
        tone: the severity of the finding.
        place: file, line and column in words; empty if unknown.
        line: the text of the line.
        start: the first marked column, from 0.
        end: the column after the last marked one.
        said: further lines.
    """

    title: Prose
    tone: Tone = "plain"
    place: str = ""
    line: str = ""
    start: int = 0
    end: int = 0
    said: tuple[Prose, ...] = ()

    @property
    def carets(self) -> str:
        """A line of carets below the marked columns."""
        return " " * self.start + "^" * max(1, self.end - self.start)


@dataclass(frozen=True, slots=True)
class Banner:
    """A verdict in large type.

    Args:
        word: the verdict in one or two words.
        tone: the meaning of the verdict.
        said: the reason for the verdict.
    """

    word: str
    tone: Tone
    said: Prose = ()


Block: TypeAlias = (
    Heading | Paragraph | MathLines | Items | Steps | Table | Figure | Code | Document | FindingBlock | Banner
)
