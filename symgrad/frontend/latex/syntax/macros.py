r"""Macros that a text defines, \newcommand{\R}[1]{...}: each use is replaced by the tokens of the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from symgrad.frontend.latex.syntax.lexer import LatexToken, latex_error
from symgrad.frontend.limits import BODY_TOKENS
from symgrad.support.errors import NestingError
from symgrad.support.source import Source

_DEFINING = ("newcommand", "renewcommand", "providecommand", "def", "DeclareMathOperator")


@dataclass(frozen=True, slots=True)
class _Macro:
    parameters: int
    body: tuple[LatexToken, ...]


def expand_macros(source: Source, tokens: Sequence[LatexToken]) -> list[LatexToken]:
    r"""Return the tokens without definitions of macros; each use of a macro is replaced by its body.

    Raises:
        ProgramSyntaxError: if a definition is incomplete.
        NestingError: if a macro uses itself, directly or through others.

    Example:
        >>> from symgrad.frontend.latex.syntax.lexer import tokenize
        >>> s = Source(r"\newcommand{\half}[1]{\frac{#1}{2}} \half{x}")
        >>> "".join(t.text for t in expand_macros(s, tokenize(s)))
        'frac{x}{2}'
    """
    macros: dict[str, _Macro] = {}
    pending = list(reversed(tokens))
    found: list[LatexToken] = []
    made = 0
    while pending:
        token = pending.pop()
        if token.kind != "command":
            found.append(token)
        elif token.text.removesuffix("*") in _DEFINING:
            _define(source, token, pending, macros)
        elif token.text in macros:
            macro = macros[token.text]
            arguments = [_argument(source, token, pending) for _ in range(macro.parameters)]
            body = _filled(macro.body, arguments, token)
            made += len(body)
            if made > BODY_TOKENS:
                raise latex_error(
                    source,
                    f"the macros stand for more than {BODY_TOKENS:,} tokens",
                    token.start,
                    token.end,
                    cure="look for a macro that uses itself",
                    cls=NestingError,
                )
            pending += reversed(body)
        else:
            found.append(token)
    return found


def _filled(
    body: Sequence[LatexToken], arguments: Sequence[Sequence[LatexToken]], use: LatexToken
) -> list[LatexToken]:
    found: list[LatexToken] = []
    i = 0
    while i < len(body):
        token = body[i]
        if token.text == "#" and i + 1 < len(body) and body[i + 1].text.isdecimal():
            place = int(body[i + 1].text[0])
            if 1 <= place <= len(arguments):
                found += arguments[place - 1]
            i += 2
            continue
        found.append(replace(token, start=use.start, end=use.end))
        i += 1
    return found


def _argument(source: Source, use: LatexToken, pending: list[LatexToken]) -> list[LatexToken]:
    """Take one argument from the coming tokens: a group without its braces, or a token."""
    while pending and pending[-1].kind in ("newline", "blank"):
        pending.pop()
    if not pending:
        raise latex_error(
            source, f"\\{use.text} lacks an argument", use.start, use.end, cure="add it in braces"
        )
    first = pending.pop()
    if first.kind != "sign" or first.text != "{":
        return [first]
    found: list[LatexToken] = []
    depth = 1
    while pending:
        token = pending.pop()
        depth += (token.kind == "sign") * ((token.text == "{") - (token.text == "}"))
        if not depth:
            break
        found.append(token)
    return found


def _define(
    source: Source, command: LatexToken, pending: list[LatexToken], macros: dict[str, _Macro]
) -> None:
    name = _argument(source, command, pending)
    if len(name) != 1 or name[0].kind != "command":
        raise latex_error(
            source,
            f"\\{command.text} without the name of a macro",
            command.start,
            command.end,
            expected=r"\newcommand{\name}[1]{...}",
            cure="write the macro's name with its backslash",
        )
    parameters = 0
    if command.text == "def":
        while pending and pending[-1].text == "#":
            pending.pop()
            parameters += bool(_argument(source, command, pending))
    elif pending and pending[-1].kind == "sign" and pending[-1].text == "[":
        pending.pop()
        given = ""
        while pending and (token := pending.pop()).text != "]":
            given += token.text
        parameters = int(given) if given.isdecimal() else 0
    body = tuple(_argument(source, command, pending))
    if command.text.startswith("DeclareMathOperator"):
        at = (command.start, command.end)
        body = (
            LatexToken("command", "operatorname", *at),
            LatexToken("sign", "{", *at),
            *body,
            LatexToken("sign", "}", *at),
        )
    macros[name[0].text] = _Macro(parameters, body)
