"""The tokens of formulas as people type them: names, numbers, brackets; sin^-1 and d^2f are one name each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import factorial

from symgrad.apps.review.layout.higher_derivatives import typed_quotients
from symgrad.frontend.expressions.functions import is_function
from symgrad.ir.graph import OPS
from symgrad.support.source import Span


@dataclass(slots=True)
class Typed:
    """A token: what kind it is of, its text, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[∇∂]²?_?\w*|π(?![_'\d])|[^\W\d²³](?:(?![²³])\w)*)|(?P<prime>'+)"
    r"|(?P<square>[²³])|(?P<root>√)|(?P<norm>\|\||‖)|(?P<power>\*\*|\^)|(?P<compared><=|>=|==|!=|[<>])|(?P<space>\s+)|(?P<open>[(\[{])"
    r"|(?P<close>[)\]}])|(?P<other>.)",
    re.DOTALL,
)
# fmt: off
BARE_FUNCTIONS = frozenset((
    "sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "exp", "log", "ln", "lg", "log10", "sqrt", "grad",
    "arcsin", "arccos", "arctan", "asin", "acos", "atan",
))
# fmt: on
"""Functions that are written without brackets, too."""
_INVERSES = {
    **{name: f"a{name}" for name in ("sin", "cos", "tan", "sec", "csc", "cot")},
    **{f"{name}h": f"a{name}h" for name in ("sin", "cos", "tan", "sec", "csc", "cot")},
}
_GLUED = re.compile(
    rf"(?P<before>(?![d∂])[^\W\d_]??)(?P<function>{'|'.join(sorted(BARE_FUNCTIONS - {'grad'}, key=len, reverse=True))})"
    r"(?:(?P<number>\d+)(?P<letter>[^\W\d_]?)|(?P<alone>[^\W\d_]))"
)
_MATRIX_WORDS = frozenset({"det", "trace"})
_LOGARITHMS = {"log_2": "log2", "log_10": "log10", "lg": "log10"}
_D = re.compile(r"[d∂][2-9²³]?")
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
    tokens = list(_with_fractions(_with_quotients(text, [t for t in tokens if t.kind != "space"])))
    tokens = [part for token in tokens for part in _parts_of(token, known)]
    return list(_with_bars(_with_inverses(list(_with_factorials(tokens)), known)))


def _parts_of(token: Typed, known: Callable[[str], bool]) -> list[Typed]:
    """Return a function and its argument, for what is typed without a space between them: sqrt2, sin2x, lnx, √."""
    if token.kind == "root":
        return [Typed("name", "sqrt", token.start, token.end)]
    match = _GLUED.fullmatch(token.text) if token.kind == "name" else None
    if match is None or known(token.text) or is_function(token.text):
        return [token]
    found = list[Typed]()
    for group in ("before", "function", "number", "letter", "alone"):
        start, end = match.span(group)
        if start < end:
            kind = "number" if group == "number" else "name"
            found.append(Typed(kind, match[group], token.start + start, token.start + end))
    return found


def _with_fractions(tokens: Sequence[Typed]) -> Iterator[Typed]:
    """Give tokens in which 75% is the number (75/100), if nothing follows that is divided by: 7 % 3 is a remainder."""
    at = 0
    while at < len(tokens):
        token, behind = tokens[at], [t.kind if t.text != "%" else "%" for t in tokens[at + 1 : at + 3]]
        is_one = token.kind == "number" and behind[:1] == ["%"]
        is_one = is_one and behind[1:] not in (["name"], ["number"], ["open"], ["root"])
        yield Typed("number", f"({token.text}/100)", token.start, tokens[at + 1].end) if is_one else token
        at += 2 if is_one else 1


def _with_factorials(tokens: Sequence[Typed]) -> Iterator[Typed]:
    """Give tokens in which the factorial of a small number is that number."""
    for token, behind in zip(tokens, [*tokens[1:], None], strict=True):
        if token.text == "!" and token.kind == "done":
            continue
        is_one = behind is not None and behind.text == "!" and token.text.isdigit() and len(token.text) < 3
        if is_one and behind is not None:
            behind.kind = "done"
            yield Typed("number", str(factorial(int(token.text))), token.start, behind.end)
        else:
            yield token


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
    """Give tokens in which the bars around an absolute value or a norm are brackets."""
    depth, norms, before = 0, 0, ""
    for token in tokens:
        if token.kind == "norm":
            opens = before not in ("number", "name", "close", "square", "prime") or norms == 0
            norms += 1 if opens else -1
            before = "open" if opens else "close"
            yield Typed(before, "norm(" if opens else ")", token.start, token.end)
            continue
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


def with_orders(
    tokens: list[Typed], is_own: Callable[[str], bool], is_primed: Callable[[str], bool]
) -> list[Typed]:
    """Return tokens in which the order of a derivative in brackets, f^(4), is that many primes.

    Args:
        tokens: of a formula.
        is_own: tells whether a name is a function of the document.
        is_primed: tells whether the document writes derivatives of a name in this way.

    Example:
        >>> tokens = tokens_of("f^(4)(x) + y^{(3)} + z^(2)", set().__contains__)
        >>> [t.text for t in with_orders(tokens, {"f"}.__contains__, {"y"}.__contains__)[:3]]
        ['f', "''''", '(']
    """
    found: list[Typed] = []
    k = 0
    while k < len(tokens):
        behind = [t.text for t in tokens[k : k + 6]]
        braced = behind[1:3] == ["{", "("] and behind[4:6] == [")", "}"]
        length = 6 if braced else 4 if behind[1:2] == ["("] and behind[3:4] == [")"] else 0
        order = behind[3] if braced else behind[2] if length else ""
        name = found[-1].text if found and found[-1].kind == "name" else ""
        is_order = length > 0 and behind[0] in ("^", "**") and order.isdigit() and 0 < int(order) < 10
        called = k + length < len(tokens) and tokens[k + length].text == "("
        if is_order and ((called and is_own(name)) or is_primed(name)):
            found.append(Typed("prime", "'" * int(order), tokens[k].start, tokens[k + length - 1].end))
            k += length
        else:
            found.append(tokens[k])
            k += 1
    return found


def with_exponentials(tokens: Sequence[Typed], known: Callable[[str], bool]) -> Iterator[Typed]:
    """Give tokens in which e before a power is Euler's number, and the letter before it a factor: xe^x, Ce^(2t).

    Example:
        >>> tokens = tokens_of("xe^x + be^2", set().__contains__)
        >>> [t.text for t in with_exponentials(tokens, {"be"}.__contains__)]
        ['x', 'e', '^', 'x', '+', 'be', '^', '2']
    """
    for token, behind in zip(tokens, [*tokens[1:], None], strict=True):
        is_two = (
            token.kind == "name"
            and len(token.text) == 2
            and token.text[1] == "e"
            and token.text[0] not in "d∂"
        )
        if is_two and behind is not None and behind.kind == "power" and not known(token.text):
            yield Typed("name", token.text[0], token.start, token.end - 1)
            yield Typed("name", "e", token.end - 1, token.end)
        else:
            yield token


def _array_letters(
    token: Typed, rank: Callable[[str], int | None], known: Callable[[str], bool]
) -> Iterator[Typed]:
    """Give the letters of a name that nothing is called, where they are names, and one of them an array."""
    letters = token.text if token.kind == "name" and 2 <= len(token.text) <= 3 else ""
    if known(token.text) or not any(map(rank, letters)) or not all(map(known, letters)):
        yield token
        return
    for k, letter in enumerate(letters, token.start):
        yield Typed("name", letter, k, k + 1)


_INVERTED = ("-1", "(-1)", "{-1}", "-T", "(-T)", "{-T}")


def with_matrices(
    tokens: Sequence[Typed],
    rank: Callable[[str], int | None],
    known: Callable[[str], bool],
    is_own: Callable[[str], bool],
) -> Iterator[Typed]:
    """Give tokens in which the power -1 of a matrix is its inverse, tr is the trace, and Ax is A beside x.

    Example:
        >>> tokens = tokens_of("tr(X) + X^-1 + a^-1", set().__contains__)
        >>> found = with_matrices(tokens, lambda n: 2 * (n == "X"), set().__contains__, set().__contains__)
        >>> " ".join(t.text for t in found)
        'trace ( X ) + inv ( X ) + a ^ - 1'
    """
    tokens = [part for token in tokens for part in _array_letters(token, rank, known)]
    k = 0
    while k < len(tokens):
        token = tokens[k]
        k += 1
        if token.text in ("tr", "Tr", "trace") and token.kind == "name" and not is_own(token.text):
            yield Typed("name", "trace", token.start, token.end)
            continue
        raised = k < len(tokens) and tokens[k].kind == "power" and token.kind == "name"
        length = 0
        if raised and token.text not in _MATRIX_WORDS and rank(token.text) == 2:
            for n in (2, 4):
                if k + n < len(tokens) and "".join(t.text for t in tokens[k + 1 : k + 1 + n]) in _INVERTED:
                    length = n
        if not length:
            yield token
            continue
        end, transposed = tokens[k + length].end, any(t.text == "T" for t in tokens[k : k + length + 1])
        k += length + 1
        yield from (
            Typed("name", "inv", token.start, token.start),
            Typed("open", "(", token.start, token.start),
        )
        yield from (token, Typed("close", ")", token.end, end))
        if transposed:
            yield from (Typed("other", ".", end, end), Typed("name", "T", end, end))


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
    return (
        name in BARE_FUNCTIONS
        or name in _MATRIX_WORDS
        or (name in OPS and OPS[name].pointwise and OPS[name].takes == ("number",))
    )


def is_squared(name: str) -> bool:
    """Tell whether people write the square of a function with its exponent behind its name: sin^2 x."""
    return name in _INVERSES


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


class TypedRow:
    """Tokens with what is put between them.

    Args:
        tokens: of a formula, without the spaces between them.
    """

    def __init__(self, tokens: Sequence[Typed]) -> None:
        self._tokens = tokens
        self._before = [""] * len(tokens)  # what is put before a token
        self._pairs = self._paired()
        self._pairs_of_bare: dict[int, int] = {}

    def _operand_before(self, k: int) -> int:
        """Return the first token of the operand that ends with one, with the power that it is."""
        while True:
            k = max(0, k - (self._kind(k) == "square"))
            k -= 2 * (k > 1 and self._text_at(k) == "T" and self._text_at(k - 1) == ".")
            k = self._pairs.get(k, k)
            called = self._text_at(k) in ("(", "[") and self._before[k] != "*"
            if k > 0 and called and self._tokens[k - 1].end == self._tokens[k].start:
                k -= self._kind(k - 1) == "prime"
                k -= self._kind(k - 1) == "name"
            if k < 2 or self._kind(k - 1) != "power":
                return k
            k -= 2

    def _operand_behind(self, k: int) -> int:
        """Return the last token of the operand that begins with one, with the power that it is."""
        last = len(self._tokens) - 1
        while True:
            while k < last and self._text_at(k) in ("-", "+"):
                k += 1
            k = min(k, last)
            if k in self._pairs_of_bare:
                return self._pairs_of_bare[k]
            if self._kind(k) == "name" and self._kind(k + 1) == "prime":
                k += 1
            if self._kind(k) in ("name", "prime") and self._text_at(k + 1) in ("(", "["):
                called = self._kind(k) == "prime" or self._before[k + 1] != "*"
                k += called and self._tokens[k + 1].start == self._tokens[k].end
            k = self._pairs.get(k, k)
            k += self._kind(k + 1) == "square"
            if self._kind(k + 1) != "power" or k + 2 > last:
                return k
            k += 2

    def _paired(self) -> dict[int, int]:
        found, stack = dict[int, int](), list[int]()
        for k, token in enumerate(self._tokens):
            if token.kind == "open":
                stack.append(k)
            elif token.kind == "close" and stack:
                found[k] = stack[-1]
                found[stack.pop()] = k
        return found

    def _has_sum(self, k: int) -> bool:
        """Tell whether the brackets that begin with a token have a sum in them."""
        return any(self._text_at(j) in ("+", "-") for j in range(k + 2, self._pairs.get(k, k)))

    def _squared_norms(self) -> dict[int, str]:
        """Return what is put for the tokens of squares of norms: a sum of squares, which is smooth at zero, too."""
        found: dict[int, str] = {}
        for close, k in self._pairs.items():
            behind = close + 1 if self._kind(close + 1) == "square" else close + 2
            squared = self._text_at(behind) in ("²", "2") and self._kind(close + 1) in ("square", "power")
            if self._text_at(k) == "norm(" and squared:
                found |= {k: "sum((", close: ")**2)", **dict.fromkeys(range(close + 1, behind + 1), "")}
        return found

    def _text_at(self, k: int) -> str:
        return self._tokens[k].text if 0 <= k < len(self._tokens) else ""

    def _kind(self, k: int) -> str:
        return self._tokens[k].kind if 0 <= k < len(self._tokens) else ""

    def _last_power(self, k: int) -> int:
        """Return the sign of a power whose exponent is a number that ends at a token, as 2 of e^2x; -1 for none."""
        return k - 1 if k > 0 and self._kind(k) == "number" and self._kind(k - 1) == "power" else -1

    def _exponent_of(self, k: int) -> bool:
        """Tell whether a token is an exponent, perhaps with a sign before it."""
        while self._text_at(k - 1) in ("-", "+"):
            k -= 1
        return self._kind(k - 1) == "power"

    def _acts(self, k: int) -> bool:
        """Tell whether a name is the end of d/dx, which acts on what follows."""
        return k > 1 and self._text_at(k - 1) == "/" and _D.fullmatch(self._text_at(k - 2)) is not None
