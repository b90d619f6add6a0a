"""The lexer of the program notation: one regular expression, lines joined inside brackets, early errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symgrad.frontend.limits import NESTING
from symgrad.frontend.tokens.lexer_errors import (
    FORBIDDEN,
    after_number,
    attribute,
    check_name,
    check_size,
    refusal_of,
)
from symgrad.frontend.tokens.lexer_state import LexerState
from symgrad.frontend.tokens.terms import Token
from symgrad.ir.exact import DIGITS
from symgrad.ir.types import NAME
from symgrad.support.errors import NestingError, SymgradError
from symgrad.support.source import Source

KEYWORDS = frozenset({"and", "or", "not", "if", "else", "True", "False", "None"})

# Possessive quantifiers do not backtrack, so they need no memory even for a million digits.
_DIGITS = "[0-9]++(?:_[0-9]++)*+"

_TOKEN = re.compile(
    rf"""
    (?P<space>[ \t]+|\\\r?\n|\#[^\r\n]*)
   |(?P<newline>\r\n?|\n)
   |(?P<semicolon>;)
   |(?P<number>(?:{_DIGITS}(?:\.(?!\.)(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?)
   |(?P<infinity>(?:np|numpy|math)\.inf(?!\w))
   |(?P<name>{NAME})
   |(?P<range>\.\.(?!\.))
   |(?P<transpose>\.[ \t]*T(?!\w))
   |(?P<string>'[\ !\#-&(-\[\]-~]*'|"[\ !\#-&(-\[\]-~]*")
   |(?P<wrong>//=|<<=?|>>=?|:=|->|=>|<>|&&|\|\||\*\*=|[-+*/&|^@%]=)
   |(?P<operator>\*\*|//|<=|>=|==|!=|\.\.\.|[-+*/%@()<>=,:~&|^\[\]])
   |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_LOOP = re.compile(rf"(?<!\w)for[ \t]+{NAME}[ \t]+in[ \t][^;\n]*?\.\.(?!\.)")
INNER_STEPS = re.compile(rf"\(\s*{NAME}[ \t]*\[[^\[\]]*\][ \t]*=(?!=)")
"""The beginning of a recurrence in parentheses: (h[0] = ..."""
_LOOP_WORDS = {"for": "FOR", "in": "IN"}
"""The words of `h[t] = ... for t in 1..T`; elsewhere they are words of Python."""
_SEARCH = "until"
"""The word of `z[k] = ... until abs(z[k]) < 1, at most 9`: it stands after an operand, where no name can stand."""

_RANGED = re.compile(rf"[(,]\s*{NAME}\s*=(?!=)[^=]*\Z")
"""The beginning of a range of an index, t=1, after which `..` stands."""

_CLOSES = {")": "(", "]": "["}


class Lexer(LexerState):
    """Splits a text into tokens, lazily, so that errors come in the order of the text.

    Args:
        source: the text.
        names: maps the spelling of operators and keywords to the terminals of the grammar.
    """

    def __init__(self, source: Source, names: dict[str, str]) -> None:
        super().__init__(source)
        self.names = names

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens; every line ends with a _NEWLINE."""
        text, names, brackets = self.source.text, self.names, self.brackets
        chains = [0]  # for each level of brackets, the number of pending right-nested operators
        chain = 0
        operand = False  # whether the last token ended an operand: then - is a subtraction
        fresh = True  # this is the start of a line
        loop = False  # this is behind the word "for"
        start = 1 if text.startswith("\ufeff") else 0  # a byte order mark
        for match in _TOKEN.finditer(text, start):
            kind = match.lastgroup
            if kind == "space" or (kind == "newline" and (brackets or fresh)):
                continue
            start, end = match.span()
            value = match.group()
            steps = not brackets or INNER_STEPS.match(text, brackets[-1]) is not None
            if kind == "name":
                name = "NAME"
                if value in KEYWORDS:
                    name = names[value]
                    operand = value in ("True", "False", "None")
                    chain = chain + 1 if value == "not" else 0
                else:
                    after, operand = operand, True
                    if value == _SEARCH and after and steps:
                        name = "UNTIL"
                    elif value in _LOOP_WORDS and steps and _LOOP.search(text, max(start - 80, 0), end + 80):
                        name, loop = _LOOP_WORDS[value], True
                    elif value in FORBIDDEN or not value.isascii() or value.startswith("__"):
                        check_name(self, value, start, end)
            elif kind == "infinity":
                name, value, operand = "NAME", "inf", True
            elif kind == "number":
                name = "NUMBER"
                operand = True
                if end - start > 5 and ("e" in value or "E" in value or end - start > DIGITS):
                    check_size(self, value, start, end)
                if (
                    end < len(text)
                    and (text[end].isalnum() or text[end] in "_.")
                    and text[end : end + 2] != ".."
                ):
                    raise after_number(self, value, start, end)
            elif kind == "operator":
                name = names[value]
                if value in "([":
                    brackets.append(start)
                    chains.append(chain)
                    chain = 0
                    operand = False
                    if len(brackets) > NESTING:
                        raise self._too_deep(start)
                elif value in ")]":
                    if not brackets or text[brackets[-1]] != _CLOSES[value]:
                        raise self._unbalanced(value, start)
                    brackets.pop()
                    chain = chains.pop()
                    operand = True
                else:
                    nests = value == "**" or (not operand and value in "+-~")
                    chain = chain + 1 if nests else 0
                    operand = False
            elif kind == "range":
                if not loop and not (brackets and _RANGED.search(text, brackets[-1], start)):
                    raise attribute(self, start)
                name, operand, chain = "RANGE", False, 0
            elif kind == "transpose" or kind == "string":
                name = kind.upper()
                value = ".T" if kind == "transpose" else value
                operand, chain = True, 0
            elif kind in ("newline", "semicolon"):
                if kind == "semicolon" and not steps:
                    raise self._unclosed()
                name = "_NEWLINE"
                operand, chain, loop = False, 0, False
                if fresh:
                    continue
            else:
                raise refusal_of(self, match)
            if chain > NESTING:
                raise self._too_deep(start)
            fresh = name == "_NEWLINE"
            self.before_last, self.last = self.last, Token(name, value, start, end)
            yield self.last
        if brackets:
            raise self._unclosed()
        if not fresh:
            end = len(text)
            self.before_last, self.last = self.last, Token("_NEWLINE", "", end, end)
            yield self.last

    def _too_deep(self, start: int) -> SymgradError:
        return self.error(
            f"nested deeper than {NESTING:,} levels",
            start,
            cls=NestingError,
            expected=f"at most {NESTING:,} open brackets, powers of powers or signs at one place",
            cure="give an inner part a name: t = ..., on a line of its own",
        )

    def _unclosed(self) -> SymgradError:
        start = self.brackets[-1]
        bracket = self.source.text[start]
        closing = {"(": ")", "[": "]"}[bracket]
        return self.error(f"this '{bracket}' is never closed", start, cure=f"add the missing '{closing}'")

    def _unbalanced(self, value: str, start: int) -> SymgradError:
        if not self.brackets:
            return self.error(
                f"this '{value}' closes nothing", start, cure=f"remove it, or open a '{_CLOSES[value]}'"
            )
        opening = self.brackets[-1]
        line, column = self.source.line_column(start)
        return self.error(
            f"this '{self.source.text[opening]}' is closed by '{value}' (line {line}, column {column})",
            opening,
            cure="use the same kind of bracket at both ends",
        )
