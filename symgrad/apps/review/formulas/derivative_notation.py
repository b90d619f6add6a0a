"""Derivatives as they are written on paper: dL/dw, d/dx f, ∂L/∂w, ∇_w L, L'(x), grad(L, w). Found by their tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from symgrad.support.errors import ProgramSyntaxError, UnknownNameError
from symgrad.support.source import Location, Source, Span


@dataclass(frozen=True, slots=True)
class DerivativeText:
    """A derivative in a text.

    Args:
        span: where it stands.
        of: what is differentiated.
        by: names, one for each time; none for the only name there is.
        order: how often.
        partial: whether it is written with ∂, which holds implicit values fixed.
        at: arguments behind primes, as in f'(2); None where there are none.
        constant: the names below its brackets, which are held constant: (∂F/∂V)_T.
        functions: whether it is made of functions of the document without their arguments: (f*g)'(x), (f ∘ g)(x).
    """

    span: Span
    of: Span
    by: tuple[str, ...]
    order: int = 1
    partial: bool = False
    at: tuple[Span, ...] | None = None
    functions: bool = False
    constant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentCall:
    """A function of the document's, called.

    Args:
        span: where it stands.
        name: of the function.
        arguments: between the brackets.
    """

    span: Span
    name: str
    arguments: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class MomentText:
    """A moment in a text: E[X**2], Var(X).

    Args:
        span: where it stands.
        name: its letters.
        of: what it is of.
    """

    span: Span
    name: str
    of: Span


_TOKEN = re.compile(
    r"(?P<name>[∇∂]²?_?\w*|[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<space>\s+)|(?P<prime>'+)|(?P<other>\*\*|.)"
)
_UPPER = re.compile(r"(?P<d>[d∂])(?P<order>[2-9²³]?)(?P<of>\w*)")
_LOWER = re.compile(r"(?P<d>[d∂])(?P<by>\w+?)(?P<order>[2-9²³]?)")
_SEVERAL = re.compile(r"[d∂]([^\W\d_])([2-9²³]?)")
_NABLA = re.compile(r"∇(?P<order>²?)(?:_(?P<by>\w+))?(?P<of>\w*)")
_OPERATOR = re.compile(r"D_(?P<by>\w+)")
VERBS: Mapping[str, int] = {"grad": 1, "gradient": 1, "diff": 1, "derivative": 1, "jacobian": 1, "hessian": 2}
"""Functions that are derivatives of their first argument, and how often they differentiate."""
_DIGITS = {"": 1, "²": 2, "³": 3, **{str(k): k for k in range(2, 10)}}


@dataclass(frozen=True, slots=True)
class _PaperToken:
    kind: str
    text: str
    start: int
    end: int


def find_parts(
    text: str,
    known: Callable[[str], bool],
    is_function: Callable[[str], bool],
    moments: Collection[str] = (),
) -> list[DerivativeText | DocumentCall | MomentText]:
    """Return the derivatives of a side, and the calls of the document's functions, outermost ones alone.

    Args:
        text: the side.
        known: tells whether a name means something already.
        is_function: tells whether it is a function of the document's.
        moments: the letters of moments, where the document has random inputs.

    Raises:
        ProgramSyntaxError: for a derivative of nothing.
        UnknownNameError: for one of a name that means nothing yet.

    Example:
        >>> [(s.of, s.by) for s in find_parts("x*dL/dw + 1", {"L", "w", "x"}.__contains__, set().__contains__)]
        [(Span(start=3, end=4), ('w',))]
    """
    tokens = [_PaperToken(m.lastgroup or "other", m.group(), *m.span()) for m in _TOKEN.finditer(text)]
    return _Finder(text, [t for t in tokens if t.kind != "space"], known, is_function, moments).found()


class _Finder:
    def __init__(
        self,
        text: str,
        tokens: list[_PaperToken],
        known: Callable[[str], bool],
        is_function: Callable[[str], bool],
        moments: Collection[str],
    ) -> None:
        self._text, self._tokens = text, tokens
        self._known, self._is_function, self._moments = known, is_function, moments

    def found(self) -> list[DerivativeText | DocumentCall | MomentText]:
        parts: list[DerivativeText | DocumentCall | MomentText] = []
        k = 0
        while k < len(self._tokens):
            token = self._tokens[k]
            part = self._at(k) if token.kind == "name" else self._group(k) if token.text == "(" else None
            if part is None:
                k += 1
                continue
            parts.append(part)
            while k < len(self._tokens) and self._tokens[k].start < part.span.end:
                k += 1
        return parts

    def _at(self, k: int) -> DerivativeText | DocumentCall | MomentText | None:
        token = self._tokens[k]
        return (
            self._quotient(k)
            or self._spaced_quotient(k)
            or self._nabla(k)
            or self._operator(k)
            or self._verb(k)
            or self._primed(k)
            or self._call(k, token)
            or self._moment(k, token)
        )

    def _text_at(self, k: int) -> str:
        return self._tokens[k].text if 0 <= k < len(self._tokens) else ""

    def _quotient(self, k: int) -> DerivativeText | None:
        """dL/dw, and d/dw before what it acts on."""
        upper, start = _UPPER.fullmatch(self._text_at(k)), self._tokens[k].start
        if upper is None or self._text_at(k + 1) != "/":
            return None
        lower = _LOWER.fullmatch(self._text_at(k + 2))
        if lower is None or (self._known(self._text_at(k)) and self._known(self._text_at(k + 2))):
            return None
        order = _DIGITS[upper["order"]]
        if order == 1 and not lower["order"] and self._text_at(k + 3) in ("^", "**"):
            raise ProgramSyntaxError(
                "this is a derivative by a power",
                at=Location(Source(self._text), Span(start, self._tokens[k + 3].end)),
                expected="a derivative by a name, or brackets around a power of the derivative",
                cure="give the power a name, and differentiate by that",
            )
        by = self._by(lower, order)
        partial = upper["d"] == "∂"
        if upper["of"]:
            if not (self._known(upper["of"]) or self._is_function(upper["of"])):
                if self._known(self._text_at(k)) or self._known(self._text_at(k + 2)):
                    return None
                raise UnknownNameError(
                    f"this is a derivative of '{upper['of']}', which nothing above defines",
                    at=Location(Source(self._text), Span(start, self._tokens[k + 2].end)),
                    expected=f"{upper['of']} = ... above",
                )
            end = self._tokens[k].end
            of = Span(end - len(upper["of"]), end)
            return DerivativeText(Span(start, self._tokens[k + 2].end), of, by, order, partial)
        if self._known(self._text_at(k + 2)):
            return None
        of, end = self._operand(k + 3)
        return DerivativeText(Span(start, end), of, by, order, partial)

    def _spaced_quotient(self, k: int) -> DerivativeText | None:
        """Return d ln(K)/dT, d(x**2)/dx: a d by itself before what is differentiated, up to its quotient."""
        if self._text_at(k) not in ("d", "∂") or (
            self._known(self._text_at(k)) and self._text_at(k + 1) != "("
        ):
            return None
        depth = 0
        first = k + 2 if self._text_at(k + 1) == "*" else k + 1  # as a product is read before
        for j in range(first, len(self._tokens) - 1):
            text = self._text_at(j)
            depth += (text in ("(", "[")) - (text in (")", "]"))
            if depth < 0 or (depth == 0 and (text in ("+", "-", ",") or text.startswith("'"))):
                return None
            lower = _LOWER.fullmatch(self._text_at(j + 1)) if depth == 0 and text == "/" else None
            if lower is not None and j > first and not self._known(lower.group()):
                inner = [t.text for t in self._tokens[first:j]]
                if not (self._known(lower["by"]) or lower["by"] in inner):
                    return None
                start, end = self._tokens[k].start, self._tokens[j + 1].end
                of = Span(self._tokens[first].start, self._tokens[j].start)
                return DerivativeText(Span(start, end), of, (lower["by"],), 1, self._text_at(k) == "∂")
        return None

    def _by(self, lower: re.Match[str], order: int) -> tuple[str, ...]:
        """Return what a quotient of differentials is by: x and y of dxdy where xdy is nothing."""
        if _DIGITS[lower["order"]] == order:
            by = (lower["by"],) * order
            if order == 1 or self._known(lower["by"]):
                return by
        else:
            by = (lower.group()[1:],) * order
        several = tuple(x for m in _SEVERAL.finditer(lower.group()) for x in (m[1],) * _DIGITS[m[2]])
        is_all = _SEVERAL.sub("", lower.group()) == "" and len(several) == order
        return several if is_all and order > 1 and not self._known(by[0]) else by

    def _nabla(self, k: int) -> DerivativeText | None:
        token = self._tokens[k]
        nabla = _NABLA.fullmatch(token.text)
        if nabla is None:
            return None
        order = _DIGITS[nabla["order"]]
        by = () if nabla["by"] is None else (nabla["by"],) * order
        at = None
        if nabla["of"]:
            of, end = Span(token.end - len(nabla["of"]), token.end), token.end
            if self._is_function(nabla["of"]) and self._text_at(k + 1) == "(":
                at, end = self._arguments(k + 1)
        elif self._text_at(k + 1) in ("(", "["):
            of, end = self._operand(k + 1)
        else:
            of = end = None
            if k + 1 < len(self._tokens) and self._tokens[k + 1].kind == "name":
                of = Span(self._tokens[k + 1].start, self._tokens[k + 1].end)
                end = of.end
        if of is None or end is None:
            raise self._nothing(token)
        return DerivativeText(Span(token.start, end), of, by, order, at=at)

    def _operator(self, k: int) -> DerivativeText | None:
        """D_x f."""
        match = _OPERATOR.fullmatch(self._text_at(k))
        if match is None or self._known(self._text_at(k)) or k + 1 >= len(self._tokens):
            return None
        if self._text_at(k + 1) not in ("(", "[") and self._tokens[k + 1].kind != "name":
            return None
        of, end = self._operand(k + 1)
        return DerivativeText(Span(self._tokens[k].start, end), of, (match["by"],))

    def _verb(self, k: int) -> DerivativeText | None:
        order = VERBS.get(self._text_at(k))
        if order is None or self._text_at(k + 1) != "(" or self._is_function(self._text_at(k)):
            return None
        arguments, end = self._arguments(k + 1)
        if not arguments:
            raise self._nothing(self._tokens[k])
        by = tuple(self._text[a.start : a.end].strip() for a in arguments[1:])
        by = by * order if len(by) == 1 else by
        return DerivativeText(Span(self._tokens[k].start, end), arguments[0], by, max(order, len(by)))

    def _primed(self, k: int) -> DerivativeText | None:
        if k + 1 >= len(self._tokens) or self._tokens[k + 1].kind != "prime":
            return None
        token, prime = self._tokens[k], self._tokens[k + 1]
        if prime.start != token.end:
            return None
        at, end = None, prime.end
        if self._text_at(k + 2) == "(":
            at, end = self._arguments(k + 2)
            inner = " ".join(self._text[a.start : a.end] for a in at)
            if not self._is_function(token.text) and re.search(r"\w\s*[-+*/^]|\w\(", inner) is not None:
                at, end = None, prime.end  # y'*(1 + sin(y))
        of = Span(token.start, token.end)
        return DerivativeText(Span(token.start, end), of, (), len(prime.text), at=at)

    def _group(self, k: int) -> DerivativeText | None:
        """(f*g)'(x) of functions without arguments, (x**2)' of anything else, (∂F/∂V)_T."""
        constant = self._at_constant(k)
        if constant is not None:
            return constant
        inner, end = self._arguments(k)
        close = next(
            (j for j in range(k, len(self._tokens)) if self._tokens[j].end == end), len(self._tokens)
        )
        primes = self._tokens[close + 1] if self._text_at(close + 1).startswith("'") else None
        functions = any(
            self._is_function(t.text) and self._text_at(j) not in ("(", "'")
            for j, t in enumerate(self._tokens[k + 1 : close], k + 2)
        )
        inverse = next(
            (j for j in range(k, close) if self._is_function(self._text_at(j)) and self._is_inverse(j + 1)),
            None,
        )
        if inverse is not None:
            raise ProgramSyntaxError(
                f"'{self._text_at(inverse)}^-1' may be an inverse function",
                at=Location(Source(self._text), Span(self._tokens[inverse].start, end)),
                expected="a function that the document defines",
            )
        behind = close + 1 if primes is None else close + 2
        called = self._text_at(behind) == "("
        if len(inner) != 1 or not (primes is not None or (functions and called)):
            return None
        at, end = self._arguments(behind) if called else (None, self._tokens[behind - 1].end)
        order = 0 if primes is None else len(primes.text)
        return DerivativeText(
            Span(self._tokens[k].start, end), inner[0], (), order, at=at, functions=functions
        )

    def _is_inverse(self, k: int) -> bool:
        """Tell whether a power of -1 stands at a token."""
        signs = "".join(self._text_at(j) for j in range(k, k + 4))
        return signs.startswith(("**-1", "^-1", "**(-1", "^(-1"))

    def _at_constant(self, k: int) -> DerivativeText | None:
        """(∂F/∂V)_T, (∂F/∂V)_{T, N}."""
        if k + 1 >= len(self._tokens) or self._tokens[k + 1].kind != "name":
            return None
        inner = self._quotient(k + 1)
        close = next(
            (j for j in range(k + 1, len(self._tokens)) if inner and self._tokens[j].start >= inner.span.end),
            0,
        )
        close_at = close
        close += self._text_at(close + 1) == "*"  # as a product is read before
        below = self._text_at(close + 1)
        if inner is None or self._text_at(close_at) != ")" or not below.startswith("_") or len(below) < 2:
            return None
        span = Span(self._tokens[k].start, self._tokens[close + 1].end)
        names = (below[1:],) if self._known(below[1:]) else tuple(below[1:])
        return replace(inner, span=span, partial=False, constant=names)

    def _call(self, k: int, token: _PaperToken) -> DocumentCall | None:
        if not self._is_function(token.text) or self._text_at(k + 1) != "(":
            return None
        arguments, end = self._arguments(k + 1)
        return DocumentCall(Span(token.start, end), token.text, arguments)

    def _moment(self, k: int, token: _PaperToken) -> MomentText | None:
        """E[X**2]."""
        behind = k + 2 if self._text_at(k + 1) == "*" else k + 1  # E(X), as a product is read before
        if (
            token.text not in self._moments
            or self._known(token.text)
            or self._text_at(behind) not in ("(", "[")
        ):
            return None
        arguments, end = self._arguments(behind)
        return MomentText(Span(token.start, end), token.text, arguments[0]) if len(arguments) == 1 else None

    def _arguments(self, k: int) -> tuple[tuple[Span, ...], int]:
        """Return what stands between brackets, apart at commas, and where these end."""
        depth, start, found = 0, self._tokens[k].end, list[Span]()
        for token in self._tokens[k:]:
            depth += token.text in ("(", "[")
            depth -= token.text in (")", "]")
            if depth == 0 or (depth == 1 and token.text == ","):
                if self._text[start : token.start].strip():
                    found.append(Span(start, token.start))
                start = token.end
            if depth == 0:
                return tuple(found), token.end
        return tuple(found), len(self._text)

    def _operand(self, k: int) -> tuple[Span, int]:
        """Return what an operator acts on: what is in brackets, else all up to the next + or -, and where it ends."""
        if k >= len(self._tokens):
            raise self._nothing(self._tokens[-1])
        first = self._tokens[k]
        if first.text in ("(", "["):
            arguments, end = self._arguments(k)
            return Span(first.start + 1, max(first.start + 1, end - 1)) if arguments else Span(end, end), end
        depth, before = 0, "*"
        for token in self._tokens[k:]:
            if depth == 0 and (
                token.text in (")", "]", ",") or (token.text in "+-" and before not in "*/@+-**")
            ):
                return Span(first.start, token.start), token.start
            depth += token.text in ("(", "[")
            depth -= token.text in (")", "]")
            before = token.text
        return Span(first.start, len(self._text)), len(self._text)

    def _nothing(self, token: _PaperToken) -> ProgramSyntaxError:
        return ProgramSyntaxError(
            f"'{token.text}' is a derivative of nothing",
            at=Location(Source(self._text), Span(token.start, token.end)),
            expected="what is differentiated, such as d/dx f or grad(f, x)",
        )
