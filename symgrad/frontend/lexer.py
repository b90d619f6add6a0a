"""Tokens of the program notation: one regular expression, brackets that join lines, what is refused at sight."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from lark import Token
from lark.lexer import PatternStr, TerminalDef

from symgrad.errors import (
    ForbiddenSyntaxError,
    NestingError,
    NumberTooLargeError,
    ProgramSyntaxError,
    SymgradError,
    UnsupportedError,
)
from symgrad.source import Location, Source, Span

__all__ = ["DIGITS", "KEYWORDS", "NESTING", "Lexer", "literal_digits"]

NESTING = 1_000  # open brackets, or powers of powers, signs, `not`, at one place
DIGITS = 4_000  # of a number written out in full; Python's own conversions stop at 4,300

KEYWORDS = frozenset({"and", "or", "not", "if", "else", "True", "False"})

_OTHER_WORDS = "as assert async await break class continue del elif except finally global nonlocal pass raise try with yield"
_FORBIDDEN = {
    "lambda": "as a name write lam; a function is written where it is used",
    "import": "all functions are known without importing them",
    "from": "all functions are known without importing them",
    "def": "write the formula as an assignment: y = ...",
    "return": "end the program with the expression alone on the last line",
    "for": "write each term, or use a loop in Python around symgrad",
    "while": "write each term, or use a loop in Python around symgrad",
    "in": "write a comparison such as 0 < x",
    "is": "write == to compare",
    "None": "leave it out",
    **dict.fromkeys(
        _OTHER_WORDS.split(),
        "choose another name",
    ),
}

_SYMBOLS = {
    "×": "write * for multiplication",
    "·": "write * for multiplication",
    "⋅": "write * for multiplication",
    "∗": "write * for multiplication",
    "÷": "write / for division",
    "⁄": "write / for division",
    "∕": "write / for division",
    "−": "write - (the ASCII hyphen)",
    "–": "write - (the ASCII hyphen)",
    "—": "write - (the ASCII hyphen)",
    "√": "write sqrt(...)",
    "∛": "write cbrt(...)",
    "∞": "write oo, in a declaration such as x : real(0, oo)",
    "≤": "write <=",
    "≥": "write >=",
    "≠": "write !=",
    "∧": "write and",
    "∨": "write or",
    "¬": "write not",
    "∑": "write the terms of the sum",
    "∂": "write d, or another name",
    "½": "write 1/2",
    "∼": "write ~",
    "$": "write the formula without dollar signs",
    "?": "write a if c else b to choose",
    "!": "write gamma(n + 1) for a factorial, not c for a negation",
    "%": "write x - y*floor(x/y) for the remainder",
    "@": None,
    "{": None,
    "}": None,
    ".": None,
}
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

_WRONG_OPERATORS = {
    "//": "write floor(x/y)",
    "<<": "write x*2**n",
    ">>": "write floor(x/2**n)",
    "->": "write y = ... for a result",
    "=>": "write >=",
    "<>": "write !=",
    "&&": "write and",
    "||": "write or",
}

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t]+|\\\r?\n|\#[^\r\n]*)
   |(?P<newline>\r\n?|\n)
   |(?P<semicolon>;)
   |(?P<number>(?:[0-9](?:_?[0-9])*(?:\.(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?)
   |(?P<name>[^\W\d]\w*)
   |(?P<wrong>//=?|<<=?|>>=?|:=|->|=>|<>|&&|\|\||\*\*=|[-+*/&|^@%]=)
   |(?P<operator>\*\*|<=|>=|==|!=|[-+*/()<>=,:~&|^\[\]])
   |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_CLOSES = {")": "(", "]": "["}


class Lexer:
    """Splits one text into tokens, lazily, so that errors come in the order of the text.

    Args:
        source: the text.
        names: from the spelling of operators and keywords to the terminals of the grammar.

    Attributes:
        brackets: places of the brackets open so far.
        last, before_last: the tokens given last.
    """

    def __init__(self, source: Source, names: dict[str, str]) -> None:
        self.source = source
        self.names = names
        self.brackets: list[int] = []
        self.last: Token | None = None
        self.before_last: Token | None = None

    def error(
        self,
        cls: type[SymgradError],
        what: str,
        start: int,
        end: int | None = None,
        *,
        expected: str | None = None,
        cure: str | None = None,
    ) -> SymgradError:
        """Return an error that points at a range of the text."""
        span = Span(start, start + 1 if end is None else end)
        return cls(what, at=Location(self.source, span), expected=expected, cure=cure)

    def tokens(self) -> Iterator[Token]:
        """Give the tokens; every line ends with a _NEWLINE."""
        text, names, brackets = self.source.text, self.names, self.brackets
        chains = [0]  # right-nested operators pending, at each level of brackets
        chain = 0
        operand = False  # whether the last token ended an operand: then - is a subtraction
        fresh = True  # at the start of a line
        start = 1 if text.startswith("\ufeff") else 0  # a byte order mark
        for match in _TOKEN.finditer(text, start):
            kind = match.lastgroup
            if kind == "space" or (kind == "newline" and (brackets or fresh)):
                continue
            start, end = match.span()
            value = match.group()
            if kind == "name":
                name = "NAME"
                if value in KEYWORDS:
                    name = names[value]
                    operand = value in ("True", "False")
                    chain = chain + 1 if value == "not" else 0
                else:
                    operand = True
                    if value in _FORBIDDEN or not value.isascii() or value.startswith("__"):
                        self._check_name(value, start, end)
            elif kind == "number":
                name = "NUMBER"
                operand = True
                if end < len(text) and (text[end].isalnum() or text[end] in "_."):
                    raise self._after_number(value, start, end)
                if end - start > 5 and ("e" in value or "E" in value or end - start > DIGITS):
                    self._check_size(value, start, end)
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
            elif kind in ("newline", "semicolon"):
                if kind == "semicolon" and brackets:
                    raise self._unclosed()
                name = "_NEWLINE"
                operand, chain = False, 0
                if fresh:
                    continue
            else:
                raise self._refused(match)
            if chain > NESTING:
                raise self._too_deep(start)
            fresh = name == "_NEWLINE"
            self.before_last, self.last = self.last, Token(name, value, start, None, None, None, None, end)
            yield self.last
        if brackets:
            raise self._unclosed()
        if not fresh:
            end = len(text)
            self.before_last, self.last = self.last, Token("_NEWLINE", "", end, None, None, None, None, end)
            yield self.last

    def _too_deep(self, start: int) -> SymgradError:
        return self.error(
            NestingError,
            f"nested deeper than {NESTING:,} levels",
            start,
            expected=f"at most {NESTING:,} open brackets, powers of powers or signs at one place",
            cure="give an inner part a name: t = ..., on a line of its own",
        )

    def _unclosed(self) -> SymgradError:
        start = self.brackets[-1]
        bracket = self.source.text[start]
        closing = {"(": ")", "[": "]"}[bracket]
        return self.error(
            ProgramSyntaxError,
            f"this '{bracket}' is never closed",
            start,
            cure=f"add the missing '{closing}'",
        )

    def _unbalanced(self, value: str, start: int) -> SymgradError:
        if not self.brackets:
            return self.error(
                ProgramSyntaxError,
                f"this '{value}' closes nothing",
                start,
                cure=f"remove it, or open a '{_CLOSES[value]}'",
            )
        opening = self.brackets[-1]
        line, column = self.source.line_column(start)
        return self.error(
            ProgramSyntaxError,
            f"this '{self.source.text[opening]}' is closed by '{value}' (line {line}, column {column})",
            opening,
            cure="use the same kind of bracket at both ends",
        )

    def _check_name(self, value: str, start: int, end: int) -> None:
        if value in _FORBIDDEN:
            raise self.error(
                ForbiddenSyntaxError,
                f"'{value}' is a word of Python, not of formulas",
                start,
                end,
                cure=_FORBIDDEN[value],
            )
        if value.startswith("__"):
            raise self.error(
                ForbiddenSyntaxError,
                f"names that start with two underscores, such as '{value}', are Python's",
                start,
                end,
                cure="choose another name",
            )
        for i, character in enumerate(value):
            if character in _SUPERSCRIPTS:
                raise self._superscript(start + i)
        if value == "π":
            raise self.error(ProgramSyntaxError, "'π' is written pi", start, end, cure="write pi")
        plain = normalize("NFKC", value)
        if plain != value or not value.isidentifier():
            raise self.error(
                ProgramSyntaxError,
                f"the name {value!r} has characters that look like others",
                start,
                end,
                cure=f"write {plain}"
                if plain.isidentifier()
                else _SYMBOLS.get(value) or "use letters, digits and _",
            )

    def _superscript(self, start: int) -> SymgradError:
        digit = _SUPERSCRIPTS.index(self.source.text[start])
        return self.error(
            ProgramSyntaxError, "a raised digit is no power", start, cure=f"write **{digit} for the power"
        )

    def _after_number(self, value: str, start: int, end: int) -> SymgradError:
        text = self.source.text
        if text[end] in _SUPERSCRIPTS:
            return self._superscript(end)
        if text[end] == ".":
            return self.error(
                ProgramSyntaxError, f"'{value}.' is no number", start, end + 1, cure="write one decimal point"
            )
        rest = re.compile(r"\w+").match(text, end)
        word = rest.group() if rest else text[end]
        stop = end + len(word)
        if value == "0" and word[0] in "xXbBoO" and word[1:].isalnum():
            return self.error(
                ProgramSyntaxError, "numbers are decimal", start, stop, cure="write the number in base ten"
            )
        if word in ("j", "J"):
            return self.error(
                UnsupportedError,
                "complex numbers are not in this version",
                start,
                stop,
                cure="write the real and the imaginary part as two real formulas",
            )
        return self.error(
            ProgramSyntaxError,
            f"the multiplication in '{value}{word}' is not written",
            start,
            stop,
            cure=f"write {value}*{'pi' if word == 'π' else word}"
            if word[0] != "_"
            else "write _ only between digits",
        )

    def _check_size(self, value: str, start: int, end: int) -> None:
        if literal_digits(value) > DIGITS:
            raise self.error(
                NumberTooLargeError,
                "this number is too long",
                start,
                end,
                expected=f"at most {DIGITS:,} digits when written out in full",
                cure="use a symbol, or a power such as 10**n",
            )

    def _refused(self, match: re.Match[str]) -> SymgradError:
        start, end = match.span()
        value, text = match.group(), self.source.text
        if match.lastgroup == "wrong":
            return self._wrong_operator(value, start, end)
        if value in "'\"`":
            return self.error(
                ForbiddenSyntaxError,
                "texts in quotes (and f-strings) are not part of formulas",
                start,
                cure="write the formula itself",
            )
        if value == ".":
            return self._attribute(start)
        if value == "@":
            return self.error(
                UnsupportedError,
                "the matrix product '@' is an array function: array functions are not in this version",
                start,
                cure="write the product entry by entry",
            )
        if value in "{}":
            return self.error(
                ForbiddenSyntaxError,
                "sets and dictionaries are not part of formulas",
                start,
                cure="write ( and )",
            )
        if value == "\\":
            return self.error(
                ProgramSyntaxError,
                "a backslash continues a line only as its last character",
                start,
                cure="remove what follows it, or the backslash",
            )
        if value in _SUPERSCRIPTS:
            return self._superscript(start)
        cure = _SYMBOLS.get(value)
        if cure is None and value.isspace():
            return self.error(
                ProgramSyntaxError, f"an unusual space, U+{ord(value):04X}", start, cure="write a space"
            )
        if cure is None and not value.isprintable():
            return self.error(
                ProgramSyntaxError, f"a control character, U+{ord(value):04X}", start, cure="remove it"
            )
        if cure is None:
            plain = normalize("NFKC", value)
            same = plain != value and plain.isascii() and plain.isprintable() and plain.strip()
            cure = f"write {plain.strip()}" if same else "remove it"
        return self.error(
            ProgramSyntaxError, f"'{text[start]}' is not part of the notation", start, cure=cure
        )

    def _wrong_operator(self, value: str, start: int, end: int) -> SymgradError:
        if value == ":=":
            return self.error(
                ForbiddenSyntaxError,
                "':=' inside a formula is not allowed",
                start,
                end,
                cure="assign on a line of its own: name = ...",
            )
        cure = _WRONG_OPERATORS.get(value, f"write a new name: y = x {value[:-1]} ...")
        return self.error(
            ProgramSyntaxError, f"'{value}' is not an operator of the notation", start, end, cure=cure
        )

    def _attribute(self, start: int) -> SymgradError:
        word = re.compile(r"\s*(\w*)").match(self.source.text, start + 1)
        name = word.group(1) if word else ""
        end = word.end() if word and name else start + 1
        if name == "T":
            return self.error(
                UnsupportedError,
                "the transpose '.T' is an array function: array functions are not in this version",
                start,
                end,
                cure="write the formula entry by entry",
            )
        before = str(self.last) if self.last is not None and self.last.type == "NAME" else None
        if (
            before in ("np", "numpy", "math", "sp", "sympy", "jnp", "torch", "tf", "scipy", "special")
            and name
        ):
            cure = f"write {name}, without {before}."
        else:
            cure = "write a function call such as sin(x), or a plain name"
        what = f"attributes such as '.{name}' are not part of formulas" if name else "a dot stands alone"
        return self.error(ForbiddenSyntaxError, what, start, end, cure=cure)


def literal_digits(value: str) -> int:
    """Return an upper bound of the digits that a number literal has when written out without an exponent."""
    mantissa, _, exponent = value.lower().partition("e")
    digits = len(mantissa)
    if len(exponent) > 18:
        return 10**18
    return digits + abs(int(exponent)) if exponent else digits


def terminal_names(terminals: list[TerminalDef]) -> dict[str, str]:
    """Return the terminal of every operator and keyword that the grammar spells out."""
    names: dict[str, str] = dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), "COMPARE")
    names.update((t.pattern.value, t.name) for t in terminals if isinstance(t.pattern, PatternStr))
    return names
