"""What the lines of a program define: names, declarations, places, and what is said when one of them is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from lark import Token

import symgrad.ops  # noqa: F401  (the records register on import)
from symgrad.errors import (
    CycleError,
    DomainError,
    ShapeError,
    SymgradError,
    UnknownNameError,
    UnsupportedError,
)
from symgrad.frontend.definitions import Definition, definitions, find_cycle
from symgrad.ir.graph import Node, apply, number
from symgrad.ir.listing import Listing, suggest
from symgrad.ir.op import OPS, Op
from symgrad.ir.types import Number
from symgrad.source import Location, Source, Span

__all__ = ["INFINITIES", "Argument", "Keyword", "Pair", "Scope", "Term", "ends", "literal_value"]


class Term:
    """An operand that has been read: its node, its place, and whether it is a literal such as 3, -0.5 or 1/3."""

    __slots__ = ("end", "literal", "node", "start")

    def __init__(self, node: Node, start: int, end: int, literal: bool = False) -> None:
        self.node = node
        self.start = start
        self.end = end
        self.literal = literal


@dataclass(frozen=True, slots=True)
class Pair:
    """A piece (value, condition) of a Piecewise."""

    value: Term
    condition: Term
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Keyword:
    """An argument name=value."""

    name: Token
    value: Term


Argument: TypeAlias = Term | Pair | Keyword

INFINITIES = ("oo", "inf", "infinity", "Infinity")


class Scope:
    """The state of one reading.

    An error of meaning (an unknown name, a wrong operand) is kept and the reading goes on, because a wrong syntax
    further on is the more basic fault and is reported first; the first error of meaning is raised at the end.

    Args:
        source: the text.
        given: names that mean something before the first line.
        strict: whether names must be known even if the text is one bare expression.
    """

    def __init__(self, source: Source, given: Mapping[str, Node], strict: bool) -> None:
        self.source = source
        self.given = given
        self.defined: dict[str, Node] = dict(given)
        self.symbols: dict[str, Node] = {}
        self.assignments: dict[str, Node] = {}
        self.result: Term | None = None
        self.spans: dict[Node, Span] = {}
        self.name_spans: dict[str, Span] = {}
        self.sizes: set[str] = set()
        self.strict = strict
        self.free: dict[str, Token] = {}
        self.target_name: str | None = None
        self.error: SymgradError | None = None
        self._definitions: dict[str, Definition] | None = None

    # ---------------------------------------------------------------------------------------------- results, errors

    def listing(self) -> Listing:
        """Return what was read.

        Raises:
            SymgradError: the first error of meaning, if there was one.
        """
        if self.error is not None:
            raise self.error
        return Listing(
            self.symbols,
            self.assignments,
            self.result.node if self.result is not None else None,
            self.source,
            self.spans,
            self.name_spans,
        )

    def location(self, start: int, end: int) -> Location:
        """Return a place in the text."""
        return Location(self.source, Span(start, end))

    def wrong(
        self,
        cls: type[SymgradError],
        what: str,
        start: int,
        end: int,
        *,
        expected: str | None = None,
        cure: str | None = None,
    ) -> Term:
        """Keep an error of meaning if it is the first, and return a term to go on with."""
        if self.error is None:
            self.error = cls(what, at=self.location(start, end), expected=expected, cure=cure)
        return Term(number(1), start, end)

    def wrong_token(
        self,
        cls: type[SymgradError],
        what: str,
        token: Token,
        *,
        expected: str | None = None,
        cure: str | None = None,
    ) -> Term:
        """Keep an error that points at a token."""
        start, end = ends(token)
        return self.wrong(cls, what, start, end, expected=expected, cure=cure)

    def term(self, node: Node, start: int, end: int, literal: bool = False) -> Term:
        """Return a term and remember where its node was first written."""
        if node not in self.spans:
            self.spans[node] = Span(start, end)
        return Term(node, start, end, literal)

    def make(
        self, op: Op, terms: Sequence[Term], start: int, end: int, params: tuple[object, ...] = ()
    ) -> Term:
        """Apply an op; an error of kinds or shapes gets its place."""
        if self.error is not None:
            return Term(number(1), start, end)
        try:
            node = apply(op, tuple([t.node for t in terms]), params)
        except DomainError as error:
            for kind, term in zip(op.takes, terms, strict=True):
                if kind == "bool" and term.node.dtype != "bool":
                    start, end = term.start, term.end
                    break
            return self.wrong(DomainError, error.what, start, end, expected=error.expected, cure=error.cure)
        except ShapeError as error:
            return self.wrong(ShapeError, error.what, start, end, expected=error.expected, cure=error.cure)
        return self.term(node, start, end)

    def unknown(self, token: Token) -> Term:
        """Keep the error for a name that nothing defines above its use."""
        if self.error is not None:
            return Term(number(1), *ends(token))
        name = str(token)
        if self._definitions is None:
            self._definitions = definitions(self.source.text)
        later = self._definitions.get(name)
        if later is not None:
            cycle = find_cycle(self._definitions, name, self.target_name)
            if cycle is not None:
                what = f"'{cycle[0]}' is defined by itself"
                if len(cycle) > 1:
                    what += ": " + " -> ".join((*cycle, cycle[0]))
                return self.wrong_token(
                    CycleError,
                    what,
                    token,
                    expected="definitions that do not lead back to themselves",
                    cure=f"use a new name on the left, or declare an input: {name} : real",
                )
            line, _ = self.source.line_column(later.start)
            return self.wrong_token(
                UnknownNameError,
                f"'{name}' is used before its definition in line {line}",
                token,
                expected="names defined above the line that uses them, as in Python",
                cure=f"move line {line} up",
            )
        if name in self.sizes:
            return self.wrong_token(
                UnsupportedError,
                f"'{name}' is the size of an array; sizes as numbers are not in this version",
                token,
                cure=f"declare a symbol for it under another name: count_{name} : positive",
            )
        if name in INFINITIES or name.lower() == "nan":
            cure = "infinities and NaN are no numbers of a formula; take a limit, or guard with where(condition, x, y)"
        elif name in ("e", "E"):
            cure = f"write exp(...) for powers of Euler's number, E() for the number, or declare it: {name} : real"
        elif name in OPS:
            cure = f"call it: {name}(...), or declare it: {name} : real"
        elif name in ("T", "inputs"):
            cure = f"declare it: {name} : real"
        else:
            cure = suggest(name, self.defined) or f"declare it: {name} : real"
        return self.wrong_token(
            UnknownNameError, f"unknown name '{name}'", token, expected=_known(self.defined), cure=cure
        )


def _known(scope: Mapping[str, Node]) -> str | None:
    if not scope:
        return None
    shown = list(scope)[:12]
    return "one of " + ", ".join(shown) + (", ..." if len(scope) > len(shown) else "")


def ends(token: Token) -> tuple[int, int]:
    """Return where a token begins and ends."""
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos


def literal_value(token: Token) -> Number:
    """Return the exact value of a number token."""
    text = str(token)
    if text.isdecimal():
        return int(text)
    value = Fraction(text.replace("_", ""))
    return value.numerator if value.denominator == 1 else value
