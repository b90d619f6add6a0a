"""What people write beside formulas in plain text: bullets, numbers of lines, remarks; and what is a factor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from symgrad.frontend.latex.syntax.vocabulary import FUNCTIONS, GREEK

__all__ = ["Vocabulary", "without_mark", "without_remarks"]

_LETTER = re.compile(r"[^\W\d_](?:['_\d]\w*)?")
_FUNCTIONS = frozenset({*FUNCTIONS, "sqrt", "grad"})
_GREEK = GREEK | {"lam"}
_ARTICLES = frozenset({"a", "A", "I"})
_PAIR = re.compile(
    r"(?!(?:is|of|at|to|in|on|or|as|by|so|it|be|we|if|an|do|no|my|up|its)$)[a-zA-Z]{2,3}"
)  # sin xy
_QUOTIENT = re.compile(r"[d∂][2-9²³]?\w*\s*/\s*[d∂]\w")
_NEXT = re.compile(r"\s*([^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What tells names of a document from words.

    Args:
        names: those that it gives a meaning.
    """

    names: frozenset[str]

    def are_factors(self, first: str, second: str, behind: str) -> bool:
        """Tell whether two that stand beside each other are factors, or a function and its argument.

        Args:
            first: a name, or the end of a number or a bracket.
            second: a name.
            behind: what follows.

        Example:
            >>> words = Vocabulary(frozenset({"loss"}))
            >>> words.are_factors("2", "loss", ""), words.are_factors("2", "everywhere", "")
            (True, False)
        """
        following = _NEXT.match(behind)
        word = "" if following is None else following[1]
        if second in _ARTICLES and second not in self.names and word and not self._is_operand(word):
            return False  # 2 a constant
        if _QUOTIENT.match(second + behind) is not None:  # 2y dy/dx
            return not first[0].isalpha() or first in _FUNCTIONS or self._is_operand(first)
        if first in _FUNCTIONS and _PAIR.fullmatch(second) is not None:
            return True
        return (
            not first[0].isalpha() or first in _FUNCTIONS or self._is_operand(first)
        ) and self._is_operand(second)

    def _is_operand(self, name: str) -> bool:
        return (
            name in self.names
            or _LETTER.fullmatch(name) is not None
            or name in _GREEK
            or name in _FUNCTIONS
            or (name[0] in "d∂" and name[1:] in self.names)
        )

    def is_word(self, name: str) -> bool:
        """Tell whether a name is a word, as far as can be told from it alone."""
        return len(name) > 2 and name.isalpha() and not self._is_operand(name)


_FORMULA = re.compile(
    r"(?:[d∂][2-9²³]?\w*\s*/\s*[d∂]\w+|∇\w*(?:\s+\w+)?|d/d\w+\s.*|[^\W\d]\w*'*(?:\([^()=]*\))?)\s*(?::=|=|~|:\s)"
)
_MARK = re.compile(
    r"\s*(?:(?:[•–—‣▪◦]|\d{1,3}[.)]|\((?:[a-zA-Z]|[ivx]{1,4}|\d{1,3})\)|[a-zA-Z]\))\s+|(?:=>|⇒|⟹|∴|→|->)\s*)+"
)
_SIGN = re.compile(r"\s*[-*+]\s+")


def without_mark(line: str, indent: int | None) -> str:
    """Return a line with blanks in the place of a bullet, a number, or a sign that something follows.

    Args:
        line: the line.
        indent: how far the line before is indented, if this one may go on with its formula.

    Example:
        >>> without_mark("- dL/dw = 2*w", 0), without_mark("  - 2*w", 0), without_mark("(a) f = 2", None)
        ('  dL/dw = 2*w', '  - 2*w', '    f = 2')
    """
    sign = _SIGN.match(line)
    if sign is not None:
        deeper = indent is not None and len(line) - len(line.lstrip()) > indent
        if indent is None or (not deeper and _FORMULA.match(line, sign.end()) is not None):
            line = " " * sign.end() + line[sign.end() :]
    mark = _MARK.match(line)
    return line if mark is None else " " * mark.end() + line[mark.end() :]


_CUE = re.compile(
    r"\s*(?:since|because|by|using|from|see|via|where|note|recall|as|eqn?|eq\.|equation|step|line|cf|use|apply|chain"
    r"|product|quotient|power|sum|qed)\b\.?\s*(?![-+*/^=<>,([]|$)",
    re.IGNORECASE,
)
_TAG = re.compile(r"\s*(?:\d{1,3}(?:\.\d{1,3})*[a-z']*|\*+|i{2,3}|i[vx]|vi{1,3})\s*")
_BESIDE = re.compile(r"([^\W\d]\w*|[\d)\]]+)\s+([^\W\d]\w*)")
_ALONE = re.compile(r"\s*([^\W\d_]{4,})[.!]?\s*")


def without_remarks(code: str, words: Vocabulary) -> str:
    """Return a line with blanks in the place of remarks in brackets: why something holds, the number of an equation.

    Example:
        >>> without_remarks("f = 2*(x + 1)  (by the chain rule) (3)", Vocabulary(frozenset())).rstrip()
        'f = 2*(x + 1)'
    """
    shown = code
    for start, end in _brackets(code):
        inner = code[start + 1 : end - 1]
        at_end = not code[end:].strip(" .,;") or code[end:].lstrip()[0] in "(["
        behind_formula = bool(code[:start].strip()) and code[:start].rstrip()[-1] not in "=+-*/@^,(["
        if _is_remark(inner, words, last=at_end and behind_formula):
            shown = shown[:start] + " " * (end - start) + shown[end:]
    return shown


def _is_remark(inner: str, words: Vocabulary, *, last: bool) -> bool:
    if _CUE.match(inner) is not None:
        return True
    if last and _TAG.fullmatch(inner) is not None:
        return True
    alone = _ALONE.fullmatch(inner)
    if last and alone is not None and words.is_word(alone[1]):
        return True
    at = 0
    while (match := _BESIDE.search(inner, at)) is not None:
        first, second = match.groups()
        if {first, second} & {"if", "else", "and", "or", "not", "in", "for"}:
            at = match.start(2)
            continue
        if not words.are_factors(first, second, inner[match.end(2) :]) and (
            words.is_word(first) or words.is_word(second)
        ):
            return True
        at = match.start(2)
    return False


def _brackets(code: str) -> Iterator[tuple[int, int]]:
    """Yield where the outermost brackets stand that nothing is right before."""
    depth, start = 0, 0
    for k, c in enumerate(code):
        if c in "([":
            if not depth:
                start = k
            depth += 1
        elif c in ")]" and depth:
            depth -= 1
            if not depth and (not start or code[start - 1].isspace()):
                yield start, k + 1
