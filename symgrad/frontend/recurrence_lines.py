"""Find the lines of recurrences in a program and give them to the reader.

h[0] = 1
h[t] = h[t-1]/2 for t in 1..T
z[0] = 1
z[k] = cos(z[k-1]) until abs(cos(z[k]) - z[k]) < 1e-9, at most 99
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from symgrad.frontend.expressions.inner_recurrences import InnerLines, InnerRecurrenceRules
from symgrad.frontend.expressions.recurrences import RecurrenceRules, StepDefinition
from symgrad.frontend.tokens.lexer import INNER_STEPS
from symgrad.frontend.tokens.terms import STEP_CLAUSES, Token

_NEWLINE = "_NEWLINE"
_REST = re.compile(r"(?:[^\r\n\\]++|\\\r?\n|\\)*+")
"""The rest of a line and of the lines that continue it."""


_COMMENT = re.compile(r"#.*")


def without_recurrences(tokens: Iterator[Token], reader: RecurrenceRules) -> Iterator[Token]:
    """Yield the tokens of a text, except for lines of recurrences; the reader receives these lines.

    Args:
        tokens: the tokens.
        reader: the reader.
    """
    text = reader.source.text
    fresh = True
    for token in tokens:
        if not fresh or token.type != "NAME":
            fresh = token.type == _NEWLINE
            yield token
            continue
        rest = _rest(text, token.end_pos)
        if not _defines_steps(rest):
            fresh = False
            yield token
            continue
        line = [token]
        while line[-1].type != _NEWLINE or line[-1] == ";":
            line.append(next(tokens))
        fresh = True
        for part in _read(line, reader):
            yield from part


def with_inner_names(tokens: Iterator[Token], reader: InnerRecurrenceRules) -> Iterator[Token]:
    """Yield the tokens of a text with a name for each recurrence in parentheses, whose lines the reader receives."""
    for token in tokens:
        if token != "(" or INNER_STEPS.match(reader.source.text, token.start_pos) is None:
            yield token
            continue
        line: list[Token] = []
        depth, end = 0, token.end_pos
        for other in with_inner_names(tokens, reader):
            end = other.end_pos
            if other == ")" and not depth:
                break
            depth += (other in ("(", "[")) - (other in (")", "]"))
            line.append(other)
        found = InnerLines(token.start_pos, end, reader.sizes)
        found.others = any(True for _ in _read([*line, Token(_NEWLINE, "", end, end)], found))
        name = f"__steps{len(reader.inner)}"
        reader.inner[name] = found
        yield Token("NAME", name, token.start_pos, end)


_CLAUSE = re.compile(r"[ \t]for[ \t].*\.\.|[\w\])][ \t]+until\b")


def _rest(text: str, start: int) -> str:
    """Return the rest of a line, and of the lines that continue it: also those inside of brackets."""
    end, depth = start, 0
    while (found := _REST.match(text, end)) is not None:
        end = found.end()
        depth += sum((c in "([") - (c in ")]") for c in _COMMENT.sub("", found[0]))
        if depth <= 0 or end >= len(text):
            break
        end += 1
    return text[start:end]


_BRACKET = re.compile(r"[\[\]]")
_EQUALS = re.compile(r"[ \t]*=(?!=)")


def _defines_steps(rest: str) -> bool:
    """Tell whether a line defines values at positions, given what follows its first name."""
    if rest.lstrip(" \t").startswith("["):
        depth = 0
        for match in _BRACKET.finditer(rest):
            depth += 1 if match[0] == "[" else -1
            if not depth:
                return _EQUALS.match(rest, match.end()) is not None
        return False
    return _CLAUSE.search(rest) is not None


def _read(line: Sequence[Token], reader: RecurrenceRules | InnerLines) -> Iterator[Sequence[Token]]:
    """Give the definitions of a line to the reader; yield the tokens of all other statements."""
    parts: list[list[Token]] = [[]]
    for token in line:
        parts[-1].append(token)
        if token.type == _NEWLINE:
            parts.append([])
    group: list[StepDefinition] = []
    letter = _letter(parts, reader)
    for k, part in enumerate(parts):
        at = _end_of_formula(part)
        definition = _definition(part if at is None else [*part[:at], part[-1]])
        if definition is None:
            if part:
                yield part
        elif at is not None:
            reader.recurrence([*group, definition], letter, part[at:-1])
            group, letter = [], _letter(parts[k + 1 :], reader)
        elif letter is not None and (definition.subscript is None or definition.reads(letter)):
            group.append(definition)
        elif definition.subscript is not None:
            reader.start_value(definition)
        else:
            yield part


def _end_of_formula(part: Sequence[Token]) -> int | None:
    return next((k for k, token in enumerate(part) if token.type in STEP_CLAUSES), None)


def _letter(parts: Sequence[Sequence[Token]], reader: RecurrenceRules | InnerLines) -> Token | None:
    """Return the name of the position in the definitions of one step: the letter of `for`, or that of a subscript."""
    for part in parts:
        at = _end_of_formula(part)
        if at is None:
            continue
        if part[at].type == "FOR":
            return part[at + 1]
        definition = _definition([*part[:at], part[-1]])
        names = [t for t in (definition and definition.subscript) or () if t.type == "NAME"]
        return next((t for t in names if str(t) not in reader.sizes), None)
    return None


def _definition(part: Sequence[Token]) -> StepDefinition | None:
    """Return a statement as a definition; None for any other statement."""
    if len(part) < 4 or part[0].type != "NAME":
        return None
    end = part[-1].end_pos
    last = Token(_NEWLINE, "", end, end)
    if part[1] == "=":
        return StepDefinition(part[0], None, (*part[2:-1], last))
    depth = 0
    for k, token in enumerate(part[1:], 1):
        depth += (token == "[") - (token == "]")
        if depth == 0:
            if k + 1 < len(part) and token == "]" and part[k + 1] == "=":
                return StepDefinition(part[0], (*part[2:k], last), (*part[k + 2 : -1], last))
            return None
    return None
