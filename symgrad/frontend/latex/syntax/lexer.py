r"""Tokens of LaTeX: commands, letters, numbers, signs.

Spaces and comments are left out, and environments of lines are opened.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from symgrad.frontend.glyphs import fraction_of, script_of
from symgrad.frontend.latex.syntax.vocabulary import GREEK, LAYOUTS, MATRICES, SKIPPED
from symgrad.frontend.limits import NESTING
from symgrad.ir.notation.name_parts import letter_name
from symgrad.support.errors import NestingError, ProgramSyntaxError
from symgrad.support.source import Location, Source, Span


@dataclass(frozen=True, slots=True)
class LatexToken:
    r"""A piece of LaTeX.

    Args:
        kind: command, letter, number, sign, or row (the end of a line of formulas).
        text: the name of a command without the backslash, or the text as it is written.
        start, end: the place; a token from a macro has the place where the macro is used.
        spaced: whether white space, or a command for a space, precedes the token.
    """

    kind: str
    text: str
    start: int
    end: int
    spaced: bool = False


_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r]*\n[ \t\r]*\n\s*)
   |(?P<newline>[ \t\r]*\n[ \t\r]*)
   |(?P<space>[ \t\r\f\v\u00a0~]+|%[^\n]*)
   |(?P<row>\\\\(?:\*?[ \t]*\[[0-9. a-z-]*\])?|\\cr(?![a-zA-Z])|\\newline(?![a-zA-Z]))
   |\\(?P<command>(?:operatorname|DeclareMathOperator|newcommand|renewcommand|providecommand)\*?|[a-zA-Z]+|.)
   |(?P<number>[0-9]+(?:\{,\}[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)
   |(?P<letter>[^\W\d_])
   |(?P<dollars>\$\$?)
   |(?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_COMMAND_SIGNS = {
    "{": "{", "lbrace": "{", "}": "}", "rbrace": "}", "lbrack": "[", "rbrack": "]", "|": "‖", "Vert": "‖",
    "lVert": "‖", "rVert": "‖", "vert": "|", "lvert": "|", "rvert": "|", "mid": "mid", "langle": "⟨", "rangle": "⟩",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "colon": ":", "slash": "/", "lparen": "(",
    "rparen": ")", "prime": "'", "ast": "*", "backslash": "\\", "%": "%", "_": "_",
}  # fmt: skip
_SIGN_COMMANDS = {
    "·": "cdot", "⋅": "cdot", "×": "times", "⊙": "odot", "∘": "circ", "⊗": "otimes", "∑": "sum", "∏": "prod",
    "∂": "partial", "∇": "nabla", "∞": "infty", "√": "sqrt", "≤": "le", "≥": "ge", "≠": "ne", "≈": "approx",
    "∈": "in", "∝": "propto", "→": "to", "⊤": "top", "∧": "wedge", "∨": "vee", "¬": "neg", "∫": "int", "±": "pm",
}  # fmt: skip
_SIGNS = {"−": "-", "∥": "‖", "∣": "mid", "’": "'", "′": "'", "“": '"'}
_FENCES = frozenset("{}[]()|‖⟨⟩⌊⌋⌈⌉")
_SPACES = frozenset((",", ";", ":", "!", " ", ">", "\n", "quad", "qquad", "enspace", "hfill", "thinspace"))
_INDENTS = frozenset(("quad", "qquad", "hspace", "phantom", "enspace"))
_OPENS = frozenset(("(", "[", "{"))


def latex_error(
    source: Source,
    what: str,
    start: int,
    end: int,
    *,
    expected: str | None = None,
    cure: str | None = None,
    cls: type[ProgramSyntaxError] = ProgramSyntaxError,
) -> ProgramSyntaxError:
    """Return an error that points at a range of the text."""
    return cls(what, at=Location(source, Span(start, max(end, start + 1))), expected=expected, cure=cure)


def tokenize(source: Source) -> list[LatexToken]:
    r"""Return the tokens of a text.

    A brace that groups is the sign ``{``; a brace that is printed, ``\{``, is the command ``{``, which the parser takes
    as a bracket. White space is dropped, except for ends of lines, which `split_rows` judges.

    Raises:
        ProgramSyntaxError: if a brace has no partner, or a character has no meaning.

    Example:
        >>> [t.text for t in tokenize(Source(r"\frac{a}{2} % half"))]
        ['frac', '{', 'a', '}', '{', '2', '}']
    """
    found: list[LatexToken] = []
    braces: list[int] = []
    spaced = False
    for match in _TOKEN.finditer(source.text):
        kind, (start, end) = str(match.lastgroup), match.span()
        text = match[kind]
        if kind == "space":
            spaced = True
            continue
        if (
            kind in ("letter", "sign", "number")
            and not text.isascii()
            and _take_glyph(found, text, start, spaced)
        ):
            spaced = False
            continue
        if kind == "letter" and not text.isascii():
            kind, text = _foreign_letter(source, text, start)
        elif kind == "command" and text in _COMMAND_SIGNS:
            text = _COMMAND_SIGNS[text]
            kind = "letter" if text == "_" else "fence" if text in _FENCES else "sign"
        elif kind == "sign" and text in _SIGN_COMMANDS:
            kind, text = "command", _SIGN_COMMANDS[text]
        elif kind == "sign":
            text = _SIGNS.get(text, text)
            if text == "{":
                braces.append(start)
                if len(braces) > NESTING:
                    raise latex_error(
                        source,
                        f"nested deeper than {NESTING:,} levels",
                        start,
                        end,
                        cure="give an inner part a name, on a line of its own",
                        cls=NestingError,
                    )
            elif text == "}":
                if not braces:
                    raise latex_error(
                        source, "this '}' closes nothing", start, end, cure="remove it, or open a '{'"
                    )
                braces.pop()
            elif text == "\ufeff":
                continue
            elif text not in "+-*/=<>!,;:|()[]'&_^.‖⟨⟩⌊⌋⌈⌉#\"@?`":
                raise latex_error(
                    source,
                    f"the character {text!r} has no meaning in a formula",
                    start,
                    end,
                    cure="remove it",
                )
        elif kind == "number":
            text = text.replace("{,}", "")
        elif kind == "dollars" or (kind == "command" and text in ("[", "]", "(", ")")):
            kind, text = "newline", "$"
        found.append(LatexToken(kind, text, start, end, spaced))
        spaced = kind in ("newline", "blank", "row") or (kind == "command" and text in _SPACES)
    if braces:
        raise latex_error(
            source,
            "this '{' is never closed",
            braces[-1],
            braces[-1] + 1,
            expected="a '}' for each '{'",
            cure="add the missing '}'",
        )
    return found


def _take_glyph(found: list[LatexToken], text: str, start: int, spaced: bool) -> bool:
    """Append the tokens of a script for a raised or lowered character, of a fraction for ½; tell whether it is one."""
    fraction, script = fraction_of(text), script_of(text)
    if fraction is not None:
        parts = [
            ("command", "frac"),
            *(t for n in fraction for t in (("sign", "{"), ("number", n), ("sign", "}"))),
        ]
    elif script is not None:
        mark, plain = script
        inner = ("number" if plain.isdigit() else "letter" if plain.isalpha() else "sign", plain)
        opens = next((k for k in range(len(found) - 1, -1, -1) if found[k].text == "{"), -1)
        ends = found[-1] if found else None
        goes_on = ends is not None and (ends.text, ends.end) == ("}", start) and found[opens - 1].text == mark
        if goes_on and found[opens].start == found[opens - 1].start:  # both stand for one character
            found.pop()
            if inner[0] == "number" == found[-1].kind:
                last = found.pop()
                found.append(LatexToken("number", last.text + plain, last.start, start + 1))
                parts = [("sign", "}")]
            else:
                parts = [inner, ("sign", "}")]
        else:
            parts = [("sign", mark), ("sign", "{"), inner, ("sign", "}")]
    else:
        return False
    for k, (kind, plain) in enumerate(parts):
        found.append(LatexToken(kind, plain, start, start + 1, spaced and not k))
    return True


def _foreign_letter(source: Source, text: str, start: int) -> tuple[str, str]:
    """Return a letter outside ASCII as a token: a Greek letter becomes its command."""
    letter = letter_name(text)
    if letter is not None and letter in GREEK:
        return "command", letter
    plain = unicodedata.normalize("NFKC", text)
    if len(plain) == 1 and plain.isascii():
        return "letter", plain
    raise latex_error(
        source,
        f"the letter {text!r} has no meaning in a formula",
        start,
        start + 1,
        expected="letters from a to z, and Greek ones",
        cure=r"write a word in such letters: \mathrm{name}",
    )


def split_rows(source: Source, tokens: Sequence[LatexToken]) -> list[LatexToken]:
    r"""Return the tokens with environments of lines opened, and a ``row`` wherever one formula may end.

    The end of a line of the text is such a place if a formula with = begins after it, or if it follows an empty line; a
    text with ``\\`` and & is divided as its author divided it.
    """
    found: list[LatexToken] = []
    environments: list[LatexToken] = []  # open environments that are kept, such as matrices
    depth = 0
    layouts = 0
    i = 0
    while i < len(tokens):
        token = tokens[i]
        i += 1
        if token.kind == "command" and token.text in ("begin", "end"):
            name, i = _environment(source, tokens, token, i)
            base = name.text.removesuffix("*")
            if token.text == "begin" and base in (*LAYOUTS, *MATRICES):
                i = _options(tokens, i, base)
            if base in LAYOUTS:
                layouts += 1 if token.text == "begin" else -1
                found.append(LatexToken("row", "", token.start, name.end))
            elif base in MATRICES or base in ("cases", "dcases", "rcases"):
                if token.text == "begin":
                    environments.append(name)
                elif not environments or environments.pop().text != name.text:
                    raise latex_error(
                        source,
                        f"\\end{{{name.text}}} without its \\begin",
                        token.start,
                        name.end,
                        cure=f"add \\begin{{{name.text}}}",
                    )
                found.append(LatexToken(token.text, base, token.start, name.end, token.spaced))
            elif base not in ("document", "proof", "remark", "center"):
                raise latex_error(
                    source,
                    f"the environment '{name.text}' is no formula",
                    token.start,
                    name.end,
                    expected="equation, align, aligned, cases, pmatrix and their like",
                    cure="write the formula alone",
                )
            continue
        if token.kind in ("newline", "blank"):
            ends = token.kind == "blank" or token.text == "$" or _defines(tokens, i)
            if ends and not depth and not layouts and not environments:
                found.append(LatexToken("row", "newline", token.start, token.end))
            continue
        if token.kind == "sign":
            depth += (token.text in _OPENS) - (token.text in (")", "]", "}"))
            depth = max(depth, 0)
            if token.text == "&" and not environments:
                continue
        if token.kind == "row" and not environments:
            after = tokens[i : i + 6]
            indented = any(t.kind == "command" and t.text in _INDENTS for t in _before_formula(after))
            token = LatexToken("row", "indented" if indented else "row", token.start, token.end)
        if token.kind == "command" and token.text in (
            "label",
            "tag",
            "tag*",
            "hspace",
            "vspace",
            "phantom",
            "color",
        ):
            i = _past_group(tokens, i)
            continue
        if token.kind == "command" and token.text in SKIPPED:
            if token.text in _INDENTS and not depth and not environments and _begins_range(tokens, i):
                found.append(LatexToken("row", "row", token.start, token.end))
            continue
        found.append(token)
    if environments:
        name = environments[-1]
        raise latex_error(
            source,
            f"\\begin{{{name.text}}} is never ended",
            name.start,
            name.end,
            cure=f"add \\end{{{name.text}}}",
        )
    return found


def _begins_range(tokens: Sequence[LatexToken], i: int) -> bool:
    r"""Tell whether the positions of a recurrence begin here: t = 1, \dots, T."""
    named = [t.kind for t in tokens[i : i + 1]] == ["letter"] and [t.text for t in tokens[i + 1 : i + 2]] == [
        "="
    ]
    ends = ("newline", "blank", "row")
    rest = takewhile(lambda t: t.kind not in ends, tokens[i:]) if named else ()
    return any(t.kind == "command" and t.text in ("dots", "ldots", "cdots") for t in rest)


def _before_formula(tokens: Sequence[LatexToken]) -> Iterator[LatexToken]:
    """Yield the tokens of alignment and space before the formula of a line."""
    for token in tokens:
        if token.kind == "newline" or (token.kind == "sign" and token.text in "&{}"):
            continue
        if token.kind == "command" and (token.text in SKIPPED or token.text in _INDENTS):
            yield token
            continue
        return


def _environment(
    source: Source, tokens: Sequence[LatexToken], opening: LatexToken, i: int
) -> tuple[LatexToken, int]:
    """Return the name of an environment as one token, and where the tokens continue."""
    if i >= len(tokens) or tokens[i].text != "{":
        raise latex_error(
            source,
            f"\\{opening.text} without the name of an environment",
            opening.start,
            opening.end,
            expected=r"\begin{cases}",
            cure="add the name in braces",
        )
    last = i
    while last < len(tokens) and not (tokens[last].kind == "sign" and tokens[last].text == "}"):
        last += 1
    if last == len(tokens):
        raise latex_error(
            source, "this '{' is never closed", tokens[i].start, tokens[i].end, cure="add the missing '}'"
        )
    text = "".join(t.text for t in tokens[i + 1 : last])
    return LatexToken("name", text, opening.start, tokens[last].end), last + 1


def _options(tokens: Sequence[LatexToken], i: int, environment: str) -> int:
    """Return where the tokens continue after [t] and the columns of an array."""
    if i < len(tokens) and tokens[i].kind == "sign" and tokens[i].text == "[":
        while i < len(tokens) and tokens[i].text != "]":
            i += 1
        i += 1
    return _past_group(tokens, i) if environment in ("array", "alignat", "alignedat") else i


def _past_group(tokens: Sequence[LatexToken], i: int) -> int:
    """Return where the tokens continue after a group in braces; if no group begins here, return the same position."""
    if i >= len(tokens) or tokens[i].kind != "sign" or tokens[i].text != "{":
        return i
    depth = 0
    while i < len(tokens):
        if tokens[i].kind == "sign":
            depth += (tokens[i].text == "{") - (tokens[i].text == "}")
        i += 1
        if not depth:
            break
    return i


def _defines(tokens: Sequence[LatexToken], i: int) -> bool:
    """Tell whether a line of the text has a relation that is not at its beginning and not inside brackets."""
    depth = 0
    first = True
    for token in tokens[i:]:
        if token.kind in ("newline", "blank", "row"):
            return False
        if token.kind == "sign":
            depth += (token.text in _OPENS) - (token.text in (")", "]", "}"))
            if token.text == "=" and depth <= 0:
                return not first
            if token.text == "&":
                continue
        first = False
    return False
