"""Words between formulas: in lines of plain text they are told apart by what stands beside what, and left alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from symgrad.apps.review.layout.remarks import (
    Vocabulary,
    has_equation_numbers,
    is_item,
    list_labels,
    without_mark,
    without_remarks,
)
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.syntax.vocabulary import GREEK
from symgrad.ir.types import DISTRIBUTIONS, DOMAINS


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


CONDITION_CUES = _any_case(
    r"\b(setting|solve|solves|solving|require|requires|requiring|impose|imposing|such that|satisfies|satisfy|suppose"
    r"|subject to|s\.\s?t\.|constraint|constrained (?:to|by)"
    r"|assume|assuming|if|unless|when)(?:\s+\w+){0,2}\s*$"
)
"""Words right before an equation that is to be solved, or that is asked for, and that is no step."""

ASKED_CUES = _any_case(
    r"\b(set|setting|solve|solves|solving|require|requires|requiring|impose|imposing|subject to|constraint)\b"
)
"""Those of them behind which a value is sought for which the equation holds."""

SOUGHT_CUES = _any_case(
    r"\b(set|setting|equat\w+|solv\w+|requir\w+|optim\w+|minim\w+|maxim\w+|stationar\w+|critical|extrem\w+"
    r"|first.order|vanish\w*|equilibri\w+|steady|subject to|constraint)\b"
)
"""Words in the sentence of an equation with a number on its right that is no step where it does not hold everywhere."""

ZERO_CUES = _any_case(
    r"\b(?:set|sets|setting|equat\w+|put|putting)\s[^.=$]{0,60}?\b(?:to|equals?|equal to)\s+(?:zero|0)\b"
)
"""Words that ask for the zero of the derivative before them."""

EXTREMUM_CUES = _any_case(
    r"\b(?:at|for|the|its|is|have|has|get|a|an)\s+(?:\w+\s+){0,2}?(?:optim\w+|minim\w+|maxim\w+|stationar\w+|critical|extrem\w+)"
    r"(?:\s+[a-zA-Z]\w*){0,4}\W*$"
)
"""Words right before an equation that gives an input the value at which the derivative by it is zero."""

HELD_CUES = _any_case(r"\b(?:fixed|constant|prescribed|held|(?:a|of|for) given)\b(?! (?:by|point))")
"""Words near an equation for a name that is to keep its value while others move."""

VALUE_CUES = _any_case(
    r"\b(at|with|for|take|taking|if|assume|assuming|suppose|when|say|choose|choosing|fix|put|putting|set|setting"
    r"|given|insert\w*|substitut\w+|plug\w*)(?:\s+\w+)?\s*$"
)
"""Words right before an equation that gives an input a value."""

VALUES_CUES = _any_case(r"\b(?:for|when|if|with|at)\b[^.;:\n]*=(?:[^.;:\n]|\.\d)*\band\s*[$(]*$")
"""Words before an equation that gives one more input a value: for x = 1 and."""

LISTED_CUES = _any_case(r"\b(?:for|when|if|with|at)\b[^.;:\n]*=(?:[^.;:\n]|\.\d)*,\s*[$(]*$")
"""Words before an equation that gives one more input a value, where the list goes on: for x = 1, y = 2, z = 3."""

GOES_ON = re.compile(r"[^.;:=\n]{0,15}?(?:,|→|⇒|->|=>)")
"""What stands behind such an equation."""

EXPANSION_CUES = _any_case(r"\b(?:about|around|near)(?:\s+the\s+(?:point|origin))?\W*$")
"""Words before a point near which something is said."""

ALTERNATIVE_CUES = _any_case(r"\bor\b\W*$")
"""Words right before an equation that gives an input another value beside the one before."""

CASE_CUES = _any_case(
    r"\b(for|if|when|where|whenever|case|provided|wherever|region|on|in|as long as|inside|assuming|with)"
    r"(?:\s+(?:all|any|every|that|and))*\s*$"
)
"""Words right before a relation such as ``x > 0`` that is a case, for which alone its sentence is said."""

GENERAL_CUES = _any_case(
    r"\b(let|assume|assuming that|suppose|since|because|given|take|from now on)(?:\s+(?:all|that|and|now))*\s*$"
)
"""Words right before one that is meant from there on."""

WITH_CUES = _any_case(r"[\s$,`)]*\b(?:with|where)\b[\s$`(\\]*")
"""Words between a definition and what is meant of it from there on."""

ANEW_CUES = _any_case(r"\b(?:let|define|consider|take)(?:\s+now)?\s*$")
"""Words right before an equation that gives a name another meaning."""

FACT_CUES = _any_case(
    r"\b(with|where|let|assum\w+|suppose|given|provided|satisf\w+|obey\w*|such|since|because|as)(?:\s+that)?\s*$"
)
"""Words right before an equation of inputs that is known to hold."""

EXPLAINED_CUES = _any_case(r"\b(where|here|with|in which|denotes?|let|define)\s*$")
"""Words right before an equation that explains a name of a formula above."""

FOLLOWS_CUES = _any_case(
    r"(?:\b(?:so|hence|thus|therefore|gives?|giving|yields?|get|obtain|find|implies|solving|rearrang\w+|then)\b|=>|⇒|∴|->|→"
    r"|\\(?:implies|Rightarrow|therefore|to)\b)[\s,:$&(\\]*(?:that|us)?[\s$]*$"
)
"""Words right before an equation that follows from the ones above."""

SELF_CUES = _any_case(
    r"\b(fixed.point|solves|solve|satisfies|satisfy|defined by|root|implicit\w*|equilibrium)\b"
)
"""Words before an equation that defines what stands on both of its sides."""

FAMILIES = {
    "N": "Normal", "Normal": "Normal", "U": "Uniform", "Unif": "Uniform", "Uniform": "Uniform",
    "Exp": "Exponential", "Exponential": "Exponential", "Bernoulli": "Bernoulli", "Bern": "Bernoulli",
    "Ber": "Bernoulli", "Poisson": "Poisson", "Pois": "Poisson", "Poi": "Poisson", "Laplace": "Laplace",
}  # fmt: skip
"""Distributions as documents write them, and their names in programs."""

_WORDS = (
    "also and as because but by can define defines denotes differentiating finally follows for from get gets "
    "give gives have hence here in is it its last let likewise means namely next note now obtain of on or "
    "putting recall satisfies satisfy second since so solve solves that the then there therefore third this "
    "first thus to using we where which with write writing yields "
)
_PROSE = frozenset(_WORDS.split())
_NAME = r"[^\W\d]\w*"
_IF = r"if(?![^\n]*\belse\b)\s+(?=[^\n<>=;]*[^\n<>=;!:]=(?!=))"  # Find y' if x^3 + y^3 = 6xy
_AT = rf"(?<![-+*/=(,]\s)\b(?:(?:at|when(?:ever)?)\s+(?={_NAME}\s*=(?!=))|{_IF})"  # dy/dx = 6 at x = 3
_JOINTS = _any_case(
    rf"(?<![\\/])(?<!/\s)\b(?:{'|'.join(_WORDS.split())})\b(?!\s*\()|{_AT}|(?<!\\)(?<!\\left)(?<!\\right)[.;:,](?=\s|$)|[∴∵⇒⟹←]"
)
_EARLIER = re.compile(rf"(?:^|(?<=\W))({_NAME})(\s*,\s*|\s*,?\s+and\s+|\s*&\s*)$")
_DECLARED = re.compile(
    rf"{_NAME}\s*(?::\s*(?:{'|'.join((*DOMAINS, 'size'))})\b|~\s*(?:{'|'.join((*DISTRIBUTIONS, *FAMILIES))})\b)"
    r"(?:\s*\([^()]*(?:\([^()]*\)[^()]*)*\))?(?:\s*\[[^\]]*\])?(?:\s*symmetric\b)?"
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?![\w'(\[])")
_OTHERWISE = re.compile(r",\s+(?:else|otherwise)(?=\s)")
_OPERATORS = frozenset({"and", "or", "not", "if", "else", "in"})
_DETERMINERS = frozenset(
    ("the", "an", "a", "its", "our", "this", "that", "these", "each", "every", "any", "no")
)
_PREPOSITIONS = frozenset(("in", "for", "of", "on", "by", "from", "with", "at"))
_NAME_BEHIND = re.compile(r"\s+[^\W\d]")
_FORMULA_SIGN = re.compile(r"[+*/^=<>@|]|\d[^\W\d]|[^\W\d]['(\[]|[\d)\]]\s*[(\[]")
_RELATIONS = (
    r"(?:[=<>≤≥≈∝≡≠≃≅]|\\(?:in|sim|leq?|geq?|neq?|approx|simeq|cong|equiv|propto|coloneqq|doteq)(?![a-zA-Z]))"
)
_RELATION = re.compile(_RELATIONS)
_BEGINS = re.compile(rf"[\s&]*(?!=>){_RELATIONS}")
_GOES_ON = re.compile(rf"[\s&]*(?!=>)(?:[-+*/@]\s|{_RELATIONS})")
# Wide blanks before another equation on the line.
_GAP = re.compile(r"(?<=[\w)\]}'²³])(?: {3,}|[ ]*\t[ \t]*)(?=[^\W\d][^=<>;\t]*(?<![<>!:])=(?![=>]))")
# An integral, a limit and a product with their bounds in words: those cut no formula.
_LONG_OPERATORS = re.compile(
    r"(?:[∫∮∏]|\bint\b(?=[^=]*\bd[^\W\d_]\b)|\b(?:integral|limit|product) of(?!\s+[^\W\d]\w*(?:\(\w+\))?\s*=)"
    r"|\bsum of(?=[^=]*\bfrom\b)|\blim(?:\b|_))[^=;]*?(?=[=≈;]|,\s|\.\s*$|$)"
)
# The ends of an interval, at which nothing is said to be: between x = 0 and x = 2.
_END = r"[-−]?[\wπ./√]+"
_RANGE = re.compile(
    rf"(?<!∫\s)\b(?:between|from)\s+({_NAME})\s*=\s*{_END}\s+(?:and|to)\s+(?:\1\s*=\s*)?{_END}(?=[\s.,;:)]|$)"
)
_INTEGRAL = re.compile(r"(?<!\\)\bint(?=_)")
_ARROW = re.compile(r"(\blim\s*_?\s*[({]?\s*[^\W\d]\w*\s*)(->|→)")
_UNIT_NAMES = re.compile(r"[a-z]{3,}(?:\s*/\s*[a-z]+(?:\^?[23]|[²³])?)+")
_POINT = re.compile(r"(?:(?<!\w)[A-Z]\s?)?\(\s*[-−\d./π ]+(?:,\s*[-−\d./π ]+)+\)")  # passes through P(3, 4)
_LONG_ARROW = re.compile(r"(?:--+|==+)>|⟶|⇝")
_LATEX_SIGN = re.compile(r"\\[a-zA-Z]+|[\w)|]_\{|∑")
_DOTS = re.compile(r"(?<=[-+*=,])\s*\.\.\.(?=\s*(?:[-+*=,]|$))", re.MULTILINE)
_SUM = re.compile(r"Σ(?=\s*_|[ᵢⱼₖₙ]|\s*\(|\s+\w+_)|(?<!\\)\bsum(?=_[{a-z])")
# A matrix of that name: its inverse, its definition, the covariance of a distribution.
_SIGMA = re.compile(r"Σ\s*(?:\^|⁻|:?=|:|')|,\s*Σ\s*\)|[|(]\s*Σ\s*[|)]")
_POLICY = re.compile(r"(?:\b(?:log|ln)|[∂∇]\w*)\s*π\s*\(|(?m:^)\s*π\s*\([^\W\d_]\w*[^()]*\)\s*=")
_POLICY_VALUE = re.compile(r"π(?=\s*\(\s*[^\W\d_]\w*\s*[,|;)])")
_INDEXED = re.compile(r"[ᵢⱼₖₗₘₙₜ]|\w_[a-z](?!\w)|[∂d]\w*\s*/\s*[∂d](?!\w*[^\W_\d]\d)")
_MEANT = re.compile(rf"({_NAME})\s*(?:\([^()=]*\)\s*)?(?::=|=|~|:\s*(?:{'|'.join((*DOMAINS, 'size'))})\b)")


def blank_words(text: str) -> str:
    r"""Return lines of plain text with blanks in the place of words, and semicolons where formulas end.

    Args:
        text: the lines.

    Example:
        >>> blank_words("Let z = x**2, as before.\nThen dz/dx\n  = 2*x and that is all.").split()
        ['z', '=', 'x**2;', 'dz/dx', '=', '2*x', ';']
    """
    kept: list[str] = []
    open_brackets, pending, unfinished, indent = 0, False, False, 0
    lines = text.split("\n")
    words = Vocabulary(frozenset(_MEANT.findall(text)) - _PROSE)
    numbered, marks = has_equation_numbers(text), list_labels(lines, words)
    for k, line in enumerate(lines):
        if not (open_brackets or unfinished):
            line = without_mark(line, indent if pending and not is_item(line, marks, words) else None)
        goes_on = open_brackets > 0 or unfinished or (pending and _GOES_ON.match(line) is not None)
        followed = k + 1 < len(lines) and _BEGINS.match(lines[k + 1]) is not None
        shown = _of_line(line, words, numbered=numbered, goes_on=goes_on, followed=followed)
        at = len(shown) - len(shown.lstrip())
        if at and not goes_on and shown[at : at + 1] in tuple("+-*/−") and line[:at].strip():
            shown = f"{shown[: at - 1]};{shown[at:]}"  # words end the formula above: for +50 ≈
        kept.append(shown)
        bare = shown.strip()
        opening, closing = _brackets(bare)
        indent = len(line) - len(line.lstrip()) if bare else indent
        open_brackets = (
            max(0, open_brackets + sum(map(bare.count, opening)) - sum(map(bare.count, closing)))
            if bare
            else 0
        )
        pending = bool(bare) and not bare.endswith(";")
        unfinished = pending and bare[-1] in "+-*/@=,"
    return "\n".join(kept)


def _of_line(line: str, words: Vocabulary, *, numbered: bool, goes_on: bool, followed: bool) -> str:
    code, hash_, _ = _OTHERWISE.sub(lambda m: " else".ljust(len(m[0])), line).partition("#")
    code = without_remarks(code, words, numbered=numbered)
    shown = [" "] * len(line)
    code = _with_signs(code)
    code = _RANGE.sub(lambda m: ";".ljust(len(m[0])), code)
    rest = _LONG_OPERATORS.sub(lambda m: "_" * len(m[0]), code)
    declared: list[tuple[int, int]] = []
    for match in _DECLARED.finditer(code):
        start, code = _with_earlier(code, match.start(), words.names)
        declared.append((start, match.end()))
        rest = f"{rest[:start]}{';' * (match.end() - start)}{rest[match.end() :]}"
    pieces = list(_pieces(rest))
    wanted = [*declared]
    for k, (start, end) in enumerate(pieces):
        part = _without_words(rest, start, end, words)
        has_relation = part is not None and _RELATION.search(_outside(rest[slice(*part)])) is not None
        if part is not None and (has_relation or (goes_on and k == 0) or (followed and k == len(pieces) - 1)):
            wanted.append(part)
    for start, end in sorted(wanted):
        shown[start:end] = code[start:end]
        if code[end:].strip(" .;") or hash_:
            shown[end] = ";"
    return "".join(shown)


def _with_signs(code: str) -> str:
    """Return a line with ∫ for the word, and another arrow for that of a limit, which is no relation: lim x->0 f(x)."""
    code = _LONG_ARROW.sub(lambda m: "⇒".ljust(len(m[0])), _INTEGRAL.sub("∫  ", code))
    return _ARROW.sub(lambda m: f"{m[1]}{'⇾'.ljust(len(m[2]))}", code)


def _with_earlier(code: str, start: int, names: Collection[str]) -> tuple[int, str]:
    """Return where a declaration begins of several names, a, b and c : real, and the line with commas between them."""
    while (match := _EARLIER.search(code[:start])) is not None:
        name = match[1]
        begins = not code[: match.start()].strip() or code[: match.start()].rstrip()[-1] in ";."
        is_name = len(name) <= 3 or not name.isascii() or not name.isalpha() or name in names or begins
        if not is_name or name.lower() in _PROSE:
            break
        code = f"{code[: match.end(1)]}{','.ljust(match.end() - match.end(1))}{code[match.end() :]}"
        start = match.start()
    return start, code


def _pieces(code: str) -> Iterator[tuple[int, int]]:
    start, outside = 0, _outside(code)
    for joint in [*_JOINTS.finditer(outside), None]:
        end = len(code) if joint is None else joint.start()
        for gap in _GAP.finditer(outside, start, end):
            if _RELATION.search(outside, start, gap.start()) is not None:
                yield start, gap.start()
                start = gap.end()
        if end > start:
            yield start, end
        start = end if joint is None else joint.end()


def with_sums(text: str) -> str:
    """Return lines of plain text with ∑ for the Σ, or the word, that is a sum: over an index, or before indexed terms.

    The π of a document that has its logarithm or its derivative is a function, ᴨ, where it has arguments.

    Example:
        >>> with_sums("L = Σ_i x_i"), with_sums("L = sum_i x_i"), with_sums("Σ = A, L = Σ (x)")
        ('L = ∑_i x_i', 'L = ∑  _i x_i', 'Σ = A, L = Σ (x)')
        >>> with_sums("log π(a) = 2π")
        'log ᴨ(a) = 2π'
    """
    if _POLICY.search(text) is not None:
        text = _POLICY_VALUE.sub("ᴨ", text)
    text = _DOTS.sub(
        lambda m: m[0].replace("...", "…  "), text
    )  # which no reader takes for the end of a sentence
    if _SIGMA.search(text) is not None:
        return text
    return _SUM.sub(lambda m: "∑".ljust(len(m[0])), text)


def has_indices(line: str) -> bool:
    """Tell whether a line has entries at indices, or derivatives as quotients: x_i, ∂L/∂p_k."""
    return _INDEXED.search(line) is not None


def is_latex(line: str) -> bool:
    r"""Tell whether a line of plain text is LaTeX without dollars around it: it has a command, or a script in braces.

    Example:
        >>> is_latex(r"y = \frac{1}{x}"), is_latex("x_{n+1} = 2"), is_latex("y = {x^2 if x > 0}")
        (True, True, False)
    """
    return _LATEX_SIGN.search(line) is not None


def _brackets(text: str) -> tuple[str, str]:
    """Return the brackets of a text: braces are some in LaTeX alone."""
    return ("([{", ")]}") if is_latex(text) else ("([", ")]")


def _outside(text: str) -> str:
    """Return a text with what is in brackets blanked, at the same places."""
    shown: list[str] = []
    depth = 0
    opening, closing = _brackets(text)
    for c in text:
        depth -= c in closing and depth > 0
        shown.append(c if depth == 0 else "_")
        depth += c in opening
    return "".join(shown)


def _without_words(code: str, start: int, end: int, words: Vocabulary) -> tuple[int, int] | None:
    """Return a piece without the words of the language before and behind the formula in it; None if nothing is left.

    What stands beyond these words must be prose as well: a piece with formulas on both sides of its words stays whole,
    and no reader of formulas will understand it.
    """
    piece = code[start:end]
    outside = _outside(piece)
    relation = _RELATION.search(outside)
    before = code[:start].split()[-1:]
    prose = list(_prose(piece, outside, words, "".join(before).lower()))
    if relation is None:
        return None if prose else (start, end) if piece.strip() else None
    left = max((m.end() for m in prose if m.end() <= relation.start()), default=0)
    right = min((m.start() for m in prose if m.start() >= relation.end()), default=len(piece))
    if _FORMULA_SIGN.search(_POINT.sub(" ", _UNIT_NAMES.sub(" ", piece[right:]))) is not None:
        right = len(piece)
    if _FORMULA_SIGN.search(piece[:left]) is not None:
        left = 0
    return (start + left, start + right) if piece[left:right].strip() else None


def _prose(piece: str, outside: str, words: Vocabulary, before: str) -> Iterator[re.Match[str]]:
    """Yield the words of the language in a piece: those that are listed, and nouns behind other words.

    A noun stands behind a determiner; or behind a preposition, before another word or name: in deep water k = 2.

    Args:
        piece: it.
        outside: likewise, without what is in brackets.
        words: tells words from names.
        before: the word before the piece.
    """
    follows, after = before in _DETERMINERS | _PREPOSITIONS, before
    for match in _WORD.finditer(outside):
        word, behind = match[0], piece[match.end() :]
        if word in _OPERATORS or not _is_separate(piece, match):
            follows = False
            continue
        noun = follows and len(word) > 3 and word not in words.names
        plain = word.islower() and word.isascii() and word not in GREEK and not is_function(word)
        noun = noun and (after in _DETERMINERS or (plain and _NAME_BEHIND.match(behind) is not None))
        if not noun and not words.is_prose(word, behind):
            follows = False
            continue
        yield match
        after = word.lower()
        follows = follows or after in _DETERMINERS


def _is_separate(piece: str, word: re.Match[str]) -> bool:
    """Tell whether spaces, or nothing, are right before a word, and no sign of an operation."""
    before = piece[: word.start()]
    return not before or (before[-1].isspace() and before.rstrip()[-1:] not in tuple("+-*/^=<>@"))
