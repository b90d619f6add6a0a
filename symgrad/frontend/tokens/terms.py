"""Values on the parser's stack: operands, and other items of calls and subscripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from symgrad.ir.graph import Node

STEP_CLAUSES = frozenset({"FOR", "UNTIL"})
"""The types of the words after which a line says which steps a recurrence makes."""


class Token(str):
    """A piece of the text, classified by the grammar.

    Attributes:
        type: the terminal.
        start_pos, end_pos: the place.
    """

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int

    def __new__(cls, type: str, value: str, start_pos: int, end_pos: int) -> Token:
        self = super().__new__(cls, value)
        self.type = type
        self.start_pos = start_pos
        self.end_pos = end_pos
        return self


class Term:
    """An operand that has been read.

    Attributes:
        node: the node of the operand.
        start, end: the place.
        literal: whether it is a literal such as 3, -0.5 or 1/3.
        open: whether it is a product or negation without parentheses around it.
    """

    __slots__ = ("end", "literal", "node", "open", "start")

    def __init__(self, node: Node, start: int, end: int, literal: bool = False, open: bool = False) -> None:
        self.node = node
        self.start = start
        self.end = end
        self.literal = literal
        self.open = open


@dataclass(frozen=True, slots=True)
class ItemList:
    """A tuple (a, b) or a list [a, b]."""

    values: tuple[Item, ...]
    start: int
    end: int
    square: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A text in quotes."""

    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NoneLiteral:
    """The value None in the text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A slice start:stop:step in a subscript."""

    first: Term | None
    last: Term | None
    step: Term | None


@dataclass(frozen=True, slots=True)
class Dots:
    """The dots ... in a subscript."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """An argument with a name: name=value."""

    name: Token
    value: Item


@dataclass(frozen=True, slots=True)
class IndexEnds:
    """An index with its ends: t=1..T."""

    name: Token
    first: Term
    last: Term


Item: TypeAlias = Term | ItemList | Text | NoneLiteral
Argument: TypeAlias = Item | Keyword


def span_of(token: Token) -> tuple[int, int]:
    """Return where a token begins and ends."""
    return token.start_pos, token.end_pos
