"""The tokens of formulas as people type them: names, numbers, brackets; sin^-1 and d^2f are one name each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from symgrad.apps.review.formulas.higher_derivatives import typed_quotients
from symgrad.ir.graph import OPS
from symgrad.support.source import Span

__all__ = [
    "BARE_FUNCTIONS",
    "SQUARES",
    "Typed",
    "argument_spans",
    "is_bare_function",
    "program_name",
    "tokens_of",
]


@dataclass(slots=True)
class Typed:
    """A token: what kind it is of, its text, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[∇∂]²?_?\w*|π(?![_'\d])|[^\W\d²³](?:(?![²³])\w)*)|(?P<prime>'+)"
    r"|(?P<square>[²³])|(?P<power>\*\*|\^)|(?P<compared><=|>=|==|!=|[<>])|(?P<space>\s+)|(?P<open>[(\[{])"
    r"|(?P<close>[)\]}])|(?P<other>.)",
    re.DOTALL,
)
# fmt: off
BARE_FUNCTIONS = frozenset((
    "sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "exp", "log", "ln", "sqrt", "grad",
    "arcsin", "arccos", "arctan", "asin", "acos", "atan",
))
# fmt: on
"""Functions that are written without brackets, too."""
_INVERSES = {
    **{name: f"a{name}" for name in ("sin", "cos", "tan", "sec", "csc", "cot")},
    **{f"{name}h": f"a{name}h" for name in ("sin", "cos", "tan", "sec", "csc", "cot")},
}
_LOGARITHMS = {"log_2": "log2", "log_10": "log10"}
SQUARES = {"²": "2", "³": "3"}
_HIGHER = re.compile(r"[d∂]\s*(?:[2-9²³]|\^|\*\*)")


def tokens_of(text: str, known: Callable[[str], bool]) -> list[Typed]:
    """Return the tokens of a formula, without the spaces between them.

    Args:
        text: the formula.
        known: tells whether a name means something.

    Example:
        >>> [t.text for t in tokens_of("2 sin^-1(x)", set().__contains__)]
        ['2', 'asin', '(', 'x', ')']
    """
    tokens = [Typed(m.lastgroup or "other", m.group(), *m.span()) for m in _TOKEN.finditer(text)]
    tokens = _with_quotients(text, [t for t in tokens if t.kind != "space"])
    return list(_with_bars(_with_inverses(tokens, known)))


def _with_inverses(tokens: list[Typed], known: Callable[[str], bool]) -> list[Typed]:
    """Return tokens in which sin^-1, sin^(-1) and log_2 are the name of one function, and sin² is sin^2."""
    found: list[Typed] = []
    k = 0
    while k < len(tokens):
        token, length = tokens[k], 1
        name = token.text if token.kind == "name" and not known(token.text) else ""
        behind = [t.text for t in tokens[k + 1 : k + 6]]
        if name in _INVERSES and behind[:1] in (["^"], ["**"]):
            if behind[1:3] == ["-", "1"]:
                length = 4
            elif behind[1:5] in (["(", "-", "1", ")"], ["{", "-", "1", "}"]):
                length = 6
        squared = found[-1:] and token.kind == "square" and is_bare_function(found[-1].text)
        name = _INVERSES[name] if length > 1 else _LOGARITHMS.get(name, "")
        if squared:  # sin² x is sin^2 x
            found.append(Typed("power", "^", token.start, token.end))
            found.append(Typed("number", SQUARES[token.text], token.end, token.end))
        else:
            found.append(Typed("name", name, token.start, tokens[k + length - 1].end) if name else token)
        k += length
    return found


def _with_bars(tokens: list[Typed]) -> Iterator[Typed]:
    """Give tokens in which the bars around an absolute value are brackets."""
    depth, before = 0, ""
    for token in tokens:
        if token.text != "|":
            yield token
            before = token.kind if token.kind != "other" else token.text
            continue
        opens = before in ("", "open", "compared", "power", "+", "-", "*", "/", "=", ",", "@")
        opens = opens or (depth == 0 and before in ("number", "name", "close", "square"))
        depth += 1 if opens else -1
        before = "open" if opens else "close"
        yield Typed(before, "abs(" if opens else ")", token.start, token.end)


def _with_quotients(text: str, tokens: list[Typed]) -> list[Typed]:
    """Return tokens in which what stands above and below in a derivative of higher order is one name each."""
    if not _HIGHER.search(text):
        return tokens
    for start, end, word in typed_quotients(text):
        inside = [k for k, t in enumerate(tokens) if start <= t.start and t.end <= end]
        if inside and (tokens[inside[0]].start, tokens[inside[-1]].end) == (start, end):
            tokens = [
                *tokens[: inside[0]],
                Typed("name", word, start, end),
                *tokens[inside[-1] + 1 :],
            ]
    return tokens


def program_name(name: str) -> str:
    """Return how programs spell a name, or a differential of it: ``lambda`` is a word of theirs.

    Example:
        >>> program_name("lambda"), program_name("dlambda"), program_name("mu")
        ('lambda_', 'dlambda_', 'mu')
    """
    if name == "π":
        return "pi"
    return f"{name}_" if name.removeprefix("d").removeprefix("∂").removeprefix("∇_") == "lambda" else name


def is_bare_function(name: str) -> bool:
    """Tell whether people write a function before its argument without brackets: sin x, tanh x, erf x."""
    return name in BARE_FUNCTIONS or (name in OPS and OPS[name].pointwise and OPS[name].takes == ("number",))


def argument_spans(text: str) -> list[Span]:
    """Return what stands between the commas of a text that are outside of brackets.

    Example:
        >>> [(s.start, s.end) for s in argument_spans("a, f(b, c)")]
        [(0, 1), (2, 10)]
    """
    found, depth, start = list[Span](), 0, 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            found.append(Span(start, k))
            start = k + 1
    return [*found, Span(start, len(text))]
