"""The blocks that a report is made of: plain data, which know nothing of the answers that they tell.

    Report ::= title, Block*
    Block  ::= Heading | Paragraph | MathLines | Items | Steps | Table | Figure | Code | Document
             | FindingBlock | Banner
    Prose  ::= (text | Maths | Literal)*

Text is text: no block holds markup, so that a writer has one rule, which is to escape everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

__all__ = [
    "Banner",
    "Block",
    "Code",
    "Column",
    "Document",
    "FindingBlock",
    "Maths",
    "MathLines",
    "Heading",
    "Items",
    "LineNote",
    "Literal",
    "Paragraph",
    "Figure",
    "Prose",
    "StepItem",
    "Steps",
    "Table",
    "Tone",
    "plain",
    "prose",
    "ticked",
]

Tone: TypeAlias = OneOf["good", "bad", "warn", "open", "plain"]
"""What a reader is to take from a banner or a line at a glance; it is always said in words, too."""


@dataclass(frozen=True, slots=True)
class Maths:
    r"""A formula, in the notations in which people write it.

    Args:
        text: in program notation.
        latex: in LaTeX, with amsmath: rows of an alignment are divided by ``\\``, columns by ``&``.
    """

    text: str
    latex: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A stretch of text that stands for itself: a name, a piece of a program.

    Args:
        text: what is written.
    """

    text: str


Inline: TypeAlias = str | Maths | Literal
Prose: TypeAlias = tuple[Inline, ...]
"""Words with formulas and literals among them."""


def prose(*parts: Inline | Sequence[Inline]) -> Prose:
    """Return prose of its parts, some of which may be prose themselves.

    Example:
        >>> prose("at ", Literal("x = 1"))
        ('at ', Literal(text='x = 1'))
    """
    found: list[Inline] = []
    for part in parts:
        found += [part] if isinstance(part, (str, Maths, Literal)) else part
    return tuple(found)


def ticked(text: str) -> Prose:
    """Return a message as prose: what stands between backticks in it is literal.

    Example:
        >>> ticked("the sign of `exp(x)`")
        ('the sign of ', Literal(text='exp(x)'))
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return (text,)
    return tuple(Literal(part) if k % 2 else part for k, part in enumerate(parts) if part)


def plain(words: Iterable[Inline]) -> str:
    """Return prose as plain text, formulas in program notation."""
    return "".join(w if isinstance(w, str) else w.text for w in words)


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of what follows.

    Args:
        text: the title.
        level: 1 for a part of the report, 2 for a part of that.
    """

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Words.

    Args:
        words: what is said.
        soft: whether it is a remark, which stands back.
    """

    words: Prose
    soft: bool = False


@dataclass(frozen=True, slots=True)
class MathLines:
    """Formulas on lines of their own, aligned at their relations.

    Args:
        rows: the lines.
        label: what they are, for those who cannot see them.
    """

    rows: tuple[Maths, ...]
    label: str = "formula"


@dataclass(frozen=True, slots=True)
class Items:
    """A list.

    Args:
        items: what is listed.
    """

    items: tuple[Prose, ...]


@dataclass(frozen=True, slots=True)
class StepItem:
    """A step of a derivation.

    Args:
        title: what was done, in a few words.
        formula: what came out of it.
        reason: why that may be done.
        blocks: what there is to say beside.
        steps: the steps within it.
    """

    title: str
    formula: Maths | None = None
    reason: Prose = ()
    blocks: tuple[Block, ...] = ()
    steps: tuple[StepItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps, each of which folds.

    Args:
        title: what they lead to.
        steps: the steps, in order.
        folded: whether the whole of it is folded at first.
        left: how many more there are.
    """

    title: str
    steps: tuple[StepItem, ...]
    folded: bool = False
    left: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        title: its head.
        number: whether it holds numbers, which stand right.
    """

    title: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, the first cell of whose rows says what the row is about.

    Args:
        caption: what it shows.
        columns: the columns.
        rows: the cells of each row, as many as there are columns.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Prose, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture.

    Args:
        svg: a standalone SVG document. What in it is no drawing is left out by the writers.
        title: what it shows.
        description: the same for those who cannot see it.
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
        title: what it is.
    """

    text: str
    language: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class LineNote:
    """What there is to say of a line of a document.

    Args:
        line: its number, from 1.
        mark: a word beside the line.
        tone: how that is meant.
        spans: the columns, from 0, that are marked: the first and the one behind the last.
        said: what stands below it.
    """

    line: int
    mark: str
    tone: Tone = "plain"
    spans: tuple[tuple[int, int], ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the user's, with notes on its lines.

    Args:
        text: the document.
        notes: one for each line that has any, in their order.
        name: what it is called.
    """

    text: str
    notes: tuple[LineNote, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class FindingBlock:
    """What was found at a place of a text.

    Args:
        title: what it is.
        tone: how grave that is.
        place: where: file, line and column in words; empty if that is not known.
        line: the line of the text.
        start: the first column that is meant, from 0.
        end: the one behind the last.
        said: what there is to say of it.
    """

    title: Prose
    tone: Tone = "plain"
    place: str = ""
    line: str = ""
    start: int = 0
    end: int = 0
    said: tuple[Prose, ...] = ()


@dataclass(frozen=True, slots=True)
class Banner:
    """A verdict, which one sees first.

    Args:
        word: the verdict in a word or two.
        tone: how that is meant.
        said: why.
    """

    word: str
    tone: Tone
    said: Prose = ()


Block: TypeAlias = (
    Heading | Paragraph | MathLines | Items | Steps | Table | Figure | Code | Document | FindingBlock | Banner
)
