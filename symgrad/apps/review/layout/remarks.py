"""What people write beside formulas in plain text: bullets, numbers of lines, remarks; and what is a factor."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from symgrad.apps.review.layout.english import is_english, is_operation
from symgrad.apps.review.layout.quantities import is_unit
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.syntax.vocabulary import GREEK

_NAME = re.compile(r"[^\W\d]\w*")
_ARTICLES = frozenset({"a", "A", "I"})


# A word before the name of a quantity: Period T = ..., bandwidth Δf = ...
_LABELLED = re.compile(r"\s+[^\W\d_]{1,2}(?:_?\w{1,3})?\s*[=≈](?!=)")


_APPLIED = frozenset(
    ("grad", "curl", "rank", "diag", "trace", "hess", "hbar", "prob", "prox", "proj", "conj", "half")
)
"""Words before a name that are operations or names, in no list of functions."""


def is_label(word: str) -> bool:
    """Tell whether a word before the name of a quantity says what that is, in a language or a field.

    Example:
        >>> [is_label(w) for w in ("Period", "curvature", "lambda", "curl", "cosh", "kT")]
        [True, True, False, False, False, False]
    """
    plain = word.isascii() and word.isalpha() and word[1:].islower() and len(word) > 3
    return plain and not (
        word in GREEK or word.lower() in _APPLIED or is_function(word) or is_operation(word)
    )


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Tells the words of a document from the names of its formulas.

    Args:
        names: those that the document gives a meaning.
    """

    names: frozenset[str]

    def is_prose(self, word: str, behind: str) -> bool:
        """Tell whether a word is English, and no name or function.

        Args:
            word: it.
            behind: the text behind it.

        Example:
            >>> words = Vocabulary(frozenset({"loss"}))
            >>> [words.is_prose(w, "") for w in ("everywhere", "loss", "erf")], words.is_prose("sum", "(w)")
            ([True, False, False], False)
        """
        if word in self.names or behind[:1] in ("(", "[", "'", "_"):
            return False
        if _LABELLED.match(behind) is not None and is_label(word):
            return True
        if word in _ARTICLES:
            following = _NAME.match(behind.lstrip())
            return following is not None and is_english(following[0]) and following[0] not in self.names
        return is_english(word)


_FORMULA = re.compile(
    r"(?:[d∂][2-9²³]?\w*\s*/\s*[d∂]\w+|∇\w*(?:\s+\w+)?|d/d\w+\s.*|[^\W\d]\w*'*(?:\([^()=]*\))?)\s*(?::=|=|~|:\s)"
)
_ORDINAL = r"(?:\d{1,3}(?:\.\d{1,2})*[a-z]?|[ivx]{1,5}|[a-zA-Z])"
# 1. and 2a) and iv) and (b), #1), Q4, Q4 (a), Example 2., Step 3:, Part (b), and several of them.
_PART = rf"(?:\(\s?{_ORDINAL}\s?\)|{_ORDINAL}\)|\d{{1,3}}[a-z]?[.:])"
_MARK = re.compile(
    r"\s*(?:(?:[•–—‣▪◦✓✔☑✗✘]"
    rf"|(?:#\s?|[QPE](?=\d))?{_PART}|[QPE#]\d{{1,3}}[a-z]?(?:[.:)]|(?=\s+{_PART}))"
    rf"|[A-Z][a-z]{{2,}}\.?\s+(?:\d{{1,3}}(?:\.\d{{1,2}})*[a-z]?(?:[.:)]|(?=\s+{_PART})|(?=\s+[A-Z][a-z]{{2,}}\b))|{_PART}[.:]?)"
    r")\s+|(?:=>|⇒|⟹|∴|→|->)\s*)+"
)
# A tick, with the mark that it gives: ✓ M1.
_TICKS = re.compile(r"[✓✔☑✅✗✘❌∎■□◻◼▮]\ufe0f?(?:\s*\[?[A-Z]{1,2}\d\]?(?=\s|$))?")
_SIGN = re.compile(r"(?P<indent>\s*)(?P<sign>[-*+])\s+(?=(?P<word>[^\W\d_]*)(?P<behind>.*))")
_RELATION = re.compile(r"[=≈≤≥<>]")


def list_labels(lines: Sequence[str], words: Vocabulary) -> Collection[str]:
    """Return the marks that are bullets, with the blanks before them: of several lines, or where no formula goes on.

    Example:
        >>> words = Vocabulary(frozenset())
        >>> list_labels(["Facts:", "- a = b", "- c = d", "  * x"], words), list_labels(["x = 1", "- y = 2"], words)
        ({'-'}, set())
    """
    counts, found = Counter[str](), set[str]()
    for line, before in zip(lines, ["", *lines], strict=False):
        match = _SIGN.match(line)
        if match is None:
            continue
        mark = match["indent"] + match["sign"]
        if (
            not before.strip()
            or before.rstrip().endswith(":")
            or words.is_prose(match["word"], match["behind"])
        ):
            found.add(mark)
        counts[mark] += _RELATION.search(match["behind"]) is not None
    return found | {mark for mark, count in counts.items() if count > 1}


def is_item(line: str, marks: Collection[str], words: Vocabulary) -> bool:
    """Tell whether a line is an item of a list: it begins with a bullet, and is a sentence or has a relation."""
    match = _SIGN.match(line)
    if match is None or match["indent"] + match["sign"] not in marks:
        return False
    return words.is_prose(match["word"], match["behind"]) or _RELATION.search(match["behind"]) is not None


def with_all_items(text: str) -> str:
    r"""Return lines in which each sign before an equation may be a bullet, and is one.

    Example:
        >>> with_all_items("x = 1\n- y = 2\n- 1")
        'x = 1\n  y = 2\n- 1'
    """
    lines = text.split("\n")
    for k, before in enumerate(["", *lines[:-1]]):
        match = _SIGN.match(lines[k])
        if match is not None and "=" in match["behind"]:
            deeper = len(match["indent"]) > len(before) - len(before.lstrip())
            lines[k] = lines[k] if deeper else lines[k].replace(match["sign"], " ", 1)
    return "\n".join(lines)


def without_mark(line: str, indent: int | None) -> str:
    """Return a line with blanks in the place of a bullet, a number, or a sign that something follows.

    Args:
        line: the line.
        indent: how far the line before is indented, if this one may go on with its formula.

    Example:
        >>> without_mark("- dL/dw = 2*w", 0), without_mark("  - 2*w", 0), without_mark("(a) f = 2", None)
        ('  dL/dw = 2*w', '  - 2*w', '    f = 2')
        >>> [without_mark(t, None).strip() for t in ("Q4 (a) f = 2 ✓", "Example 2. f = 2", "iv) f = 2", "T 2 = f")]
        ['f = 2', 'f = 2', 'f = 2', 'T 2 = f']
    """
    line = _TICKS.sub(lambda m: " " * len(m[0]), line)
    if line.lstrip().startswith("> "):  # of a quotation
        line = line.replace(">", " ", 1)
    sign = _SIGN.match(line)
    if sign is not None:
        deeper = indent is not None and len(sign["indent"]) > indent
        if indent is None or (not deeper and _FORMULA.match(line, sign.end()) is not None):
            line = " " * sign.end() + line[sign.end() :]
    mark = _MARK.match(line)
    return line if mark is None else " " * mark.end() + line[mark.end() :]


_CUE = re.compile(
    r"\s*(?:since|because|by|using|from|see|via|where|note|recall|as|eqn?|eq\.|equation|step|line|cf|use|apply|chain"
    r"|product|quotient|power|sum|qed)\b\.?\s*(?![-+*/^=<>,([]|$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s*(\d{1,3})(?:\.\d{1,3})*[a-d]?'*\s*|\s*(?:i{1,3}|i[vx]|vi{0,3})\s*")
_STARS = re.compile(r"\s*(?:\*+|[†‡]+)\s*")
_BEHIND = re.compile(r"(?<=\S)\s+(?:--+|–|—|//|<--?|←|\|)\s+(?=[^\W\d])")
_DIGITS = re.compile(
    r"\s*(?:to\s+)?\d+\s*(?:d\.?\s?p|s\.?\s?f|sig\.?\s?figs?|sig\.?|decimals?)\.?\s*", re.IGNORECASE
)
_LONE_WORD = re.compile(r"[a-z]{5,}")  # F = -k x (attractive)
_LABEL = re.compile(r"\s*(?:[A-Z]{1,3}\d{1,2}|[^\W\d]{3,}(?:[- ][^\W\d]+)*|\d+(?:\s*marks?)?)\s*")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_GIVEN = re.compile(r"\s*[^\W\d]\w*\s*=\s*[-−]?[\w.]+\s*")
_AT_END = re.compile(r"\((\d{1,3})\)[ \t]*[.,;]?[ \t]*$", re.MULTILINE)


def has_equation_numbers(text: str) -> bool:
    r"""Tell whether the bracketed numbers at the ends of lines number equations: they count up from (1).

    Example:
        >>> has_equation_numbers("y = x (1)\nz = y (2)"), has_equation_numbers("y = 3 x (3)")
        (True, False)
    """
    found = [int(n) for n in _AT_END.findall(text)]
    return bool(found) and found == list(range(1, len(found) + 1))


def without_remarks(code: str, words: Vocabulary, *, numbered: bool = False) -> str:
    """Return a line with blanks in the place of remarks in brackets: why something holds, the number of an equation.

    A number in brackets is a factor, except where the lines of the document are numbered, or behind two spaces.

    Args:
        code: the line.
        words: tells words from names.
        numbered: whether bracketed numbers at the ends of lines are those of equations.

    Example:
        >>> words = Vocabulary(frozenset())
        >>> [without_remarks(t, words).rstrip() for t in ("f = 2*x (by the chain rule)", "f = 4 x (3)", "f = x  (3)")]
        ['f = 2*x', 'f = 4 x (3)', 'f = x']
    """
    remark = _BEHIND.search(code)
    if remark is not None and _is_reason(code[remark.end() :], words):
        code = code[: remark.start()].ljust(len(code))
    shown = code
    for start, end in _brackets(code):
        inner = code[start + 1 : end - 1]
        before = code[:start].rstrip()
        last = not code[end:].strip(" .,;") and bool(before) and before[-1] not in "=+-*/@^,(["
        apart = code[len(before) : start] not in ("", " ")
        labelled = code[start] == "[" and _is_label(inner, words)
        labelled = labelled or any(p.fullmatch(inner) is not None for p in (_DIGITS, _STARS))
        lone = inner.strip()
        labelled = labelled or (_LONE_WORD.fullmatch(lone) is not None and lone not in {*words.names, *GREEK})
        counted = (numbered or apart) and _NUMBER.fullmatch(inner) is not None
        word = _LAST_WORD.search(before)
        if word is not None and is_english(word[0]) and _GIVEN.fullmatch(inner) is not None:
            closing = ";" if code[end : end + 1] in ("", " ") else " "  # Range (y = 0): x = 3
            shown = f"{before};".ljust(start + 1) + f"{inner}{closing}{shown[end:]}"
        elif _is_remark(inner, words) or (last and (labelled or counted)):
            shown = shown[:start] + " " * (end - start) + shown[end:]
    return shown


def _is_reason(text: str, words: Vocabulary) -> bool:
    """Tell whether a text behind two dashes or strokes is a remark: it is of words, and has no equation."""
    found = [w for w in _NAME.findall(text) if len(w) > 2 and w not in words.names]
    return bool(found) and re.search(r"[=<>+*^]", text) is None


def _is_label(inner: str, words: Vocabulary) -> bool:
    """Tell whether what stands in [ ] behind a formula is a label, a mark or a unit: [M1], [Lineweaver-Burk], [m/s]."""
    if inner.strip() in words.names:
        return False
    return _LABEL.fullmatch(inner) is not None or is_unit(inner.strip())


def _is_remark(inner: str, words: Vocabulary) -> bool:
    """Tell whether a text in brackets has words in it, beside those that conditions of choices are made of."""
    if _CUE.match(inner) is not None:
        return True
    found = [m[0] for m in _NAME.finditer(inner) if words.is_prose(m[0], inner[m.end() :])]
    return any(w not in {"if", "else", "and", "or", "not", "in", "for"} for w in found)


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
