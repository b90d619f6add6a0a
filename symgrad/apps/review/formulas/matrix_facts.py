"""What the words of a document say of its matrices: that one is symmetric, or what declarations have no word for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symgrad.apps.review.formulas.latex_declarations import declared_names

# "positive definite" is said of symmetric matrices, and every covariance is one.
_SYMMETRIC = re.compile(
    r"(?<![\w-])(?:symmetric(?:al)?|positive[- ](?:semi-?)?definite"
    r"|spd|psd|s\.\s?p\.\s?d\.|self-?adjoint|covariance|precision matrix)(?!\w)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?<![\w-])(?:orthogonal|orthonormal|unitary|diagonal|(?:upper|lower)[- ]triangular|triangular|idempotent"
    r"|skew[- ]?symmetric|anti-?symmetric|projections?|unit vectors?|unit norm|unit length|normali[sz]ed"
    r"|(?:row[- ])?stochastic"
    r"|one-?hot)(?!\w)",
    re.IGNORECASE,
)
# How a name is used that is an array.
_LETTER = r"(?:\\?[a-zA-Z](?![a-zA-Z])|\\[a-zA-Z]+|[^\W\d_a-zA-Z])(?:_(?:\{\w+\}|\w))?"
_TOP = r"(?:\^\s*\{?\s*(?:\\top|\\intercal|⊤|\\(?:mathsf|mathrm|rm|text)\s*\{?\s*T\s*\}?)\s*\}?|ᵀ|⊤)"
_CAPITAL_T = r"(?:\^\s*\{?\s*T\s*\}?(?![\w])|\.T\b)"
_OWN_T = re.compile(r"(?<![\w\\^{])T(?!\w)|\\partial\s*T\b|dT\b")
_NORM = re.compile(
    r"(?:\\\||‖|\|\||\\lVert|\\left\\\|)(?P<inner>[^|‖]{1,80}?)(?:\\\||‖|\|\||\\rVert|\\right\\\|)"
)
_TRACE = re.compile(
    r"(?<![a-zA-Z])(?:tr|Tr|trace|\\mathrm\{tr\}|\\operatorname\{tr\})\s*(?:\\left)?[(\[](?P<inner>[^()]{1,80})"
)
_PRODUCT = re.compile(r"(?<![\\a-zA-Z])(?P<matrix>[A-Z])\s?(?P<vector>[a-zA-Z](?![a-zA-Z])|\\[a-z]+)")
_GROUP = re.compile(rf"\((?P<inner>[^()]{{1,60}})\)\s*(?:{_TOP}|{_CAPITAL_T})")
_COMMANDS = frozenset(
    ("left", "right", "frac", "sqrt", "log", "exp", "top", "partial", "nabla", "mathrm", "text", "big")
)
_END = re.compile(r"[.;?!](?=\s|$)|\n[ \t]*\n")
_TOKEN = re.compile(r"\$([^$]+)\$|\\\((.+?)\\\)|`([^`]+)`|([^\W\d]\w*|[,:])", re.DOTALL)
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_DECLARES = re.compile(r"\\in(?![a-zA-Z])|:")
_CASE = re.compile(r"\b(if|when|unless|whenever)\b", re.IGNORECASE)
_FOR = re.compile(r"\bfor(?: an?| the| any| all)?\s*$", re.IGNORECASE)
_REACH = 160  # characters of a sentence on either side of a word
_FILLER_WORDS = """
    is are be being a an the both all each real square matrix matrices which that assumed to also and with
    invertible positive negative definite semidefinite semi spd psd operator operators full rank two some any as
    here has have symmetric covariance precision hessian kernel weight stiffness mass noise measurement process
    prior posterior state error by vector vectors :
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_SENTENCE_WORDS = """
    let if for when since we here where with as because assume suppose not need
"""
_WORDS = frozenset(_SENTENCE_WORDS.split())


@dataclass(frozen=True, slots=True)
class StatedFact:
    """Something that words say of a name.

    Args:
        word: what: ``symmetric``, ``orthogonal``.
        line: where.
        case: whether it is said of one case alone: if A is symmetric.
    """

    word: str
    line: int
    case: bool = False


class DocumentFacts:
    """What is said of names.

    Args:
        found: each name with what is said of it.
        arrays: the names that formulas use as arrays.

    Attributes:
        arrays: likewise.
        held: names that keep their values while others move, with the lines that say it.
    """

    def __init__(
        self, found: Sequence[tuple[str, StatedFact]] = (), arrays: frozenset[str] = frozenset()
    ) -> None:
        self.arrays = arrays
        self.held: dict[str, int] = {}
        self._facts: dict[str, list[StatedFact]] = {}
        for name, fact in found:
            self.add(name, fact)

    def add(self, name: str, fact: StatedFact) -> None:
        """Take in that something holds of a name."""
        self._facts.setdefault(name, []).append(fact)

    def symmetric(self, name: str) -> StatedFact | None:
        """Return what says that a matrix is its own transpose, in all of the document."""
        return next((f for f in self._facts.get(name, ()) if f.word == "symmetric" and not f.case), None)

    def unused(self, name: str) -> str | None:
        """Return what is said of a name and not used here; None for nothing."""
        return next((f.word for f in self._facts.get(name, ()) if f.word != "symmetric"), None)

    def in_case(self, name: str) -> StatedFact | None:
        """Return what says of a case that a matrix is its own transpose there."""
        return next((f for f in self._facts.get(name, ()) if f.word == "symmetric" and f.case), None)


def facts_in(text: str) -> DocumentFacts:
    """Return what the words of a document say of names.

    Example:
        >>> facts = facts_in("Let $A$ be a symmetric matrix, B not symmetric, and Q orthogonal.")
        >>> facts.symmetric("A") is not None, facts.symmetric("B"), facts.unused("Q")
        (True, None, 'orthogonal')
    """
    found: list[tuple[str, StatedFact]] = []
    for pattern in (_SYMMETRIC, _OTHER):
        for match in pattern.finditer(text):
            start, end = match.span()
            word = "symmetric" if pattern is _SYMMETRIC else match[0].lower()
            before = text[max(0, start - _REACH) : start]
            ends = [m.end() for m in _END.finditer(before)]
            before = before[ends[-1] :] if ends else before
            behind = text[end : end + _REACH]
            stop = _END.search(behind)
            behind = behind if stop is None else behind[: stop.start()]
            case = _CASE.search(before) is not None or _FOR.search(before) is not None
            article = before.split() == ["A"]
            named = [] if article else _named(before, reverse=True)
            named = named or _named(behind, reverse=False) or _named(before, reverse=True)
            found += [(name, StatedFact(word, text.count("\n", 0, start) + 1, case)) for name in named]
    return DocumentFacts(found, array_names(text))


def _named(text: str, *, reverse: bool) -> list[str]:
    """Return the names beside a word: the next one, or several of which it is said together."""
    tokens = list(_tokens(_BRACKETS.sub(" ", text)))
    names: list[str] = []
    several = goes_on = linked = article = False
    for is_formula, token in reversed(tokens) if reverse else tokens:
        word = token if len(token) == 1 else token.lower()
        if is_formula or not (token == "," or word in _FILLERS or word in _WORDS):
            if (names and not (several and goes_on)) or (article and reverse and not linked):
                break
            if not is_formula and len(token) > 1 and token.islower():
                break
            names += (declared_names(_DECLARES.split(token)[0]) or []) if is_formula else [token]
            goes_on = False
        elif (
            word in _WORDS
            or (names and word not in ("and", ","))
            or (token == "," and not reverse and not names)
        ):
            break
        else:
            article = article or word == "the"  # K the covariance: no more than words side by side
            linked = linked or word in ("is", "are", "be", "being")
            several = several or word in ("are", "both", "matrices", "be")
            goes_on = goes_on or word in ("and", ",")
    return names


def _tokens(text: str) -> Iterator[tuple[bool, str]]:
    for match in _TOKEN.finditer(text):
        formula = match[1] or match[2] or match[3]
        yield formula is not None, formula or match[4]


def array_names(text: str) -> frozenset[str]:
    r"""Return the names that are transposed somewhere, or stand as a product in a norm or a trace.

    Args:
        text: of a document.

    Example:
        >>> sorted(array_names(r"$f = u^\top M v$ and $g = \|Xw - y\|^2$"))
        ['X', 'u', 'w']
    """
    top = _TOP if _OWN_T.search(text) else f"(?:{_TOP}|{_CAPITAL_T})"
    found = [m[0] for m in re.finditer(rf"{_LETTER}(?=\s*{top})", text)]
    inner = [m["inner"] for m in _NORM.finditer(text)] + [m["inner"] for m in _TRACE.finditer(text)]
    for part in inner:
        found += [letter for m in _PRODUCT.finditer(part) for letter in (m["matrix"], m["vector"])]
    if top is not _TOP or _TOP in top:
        found += [letter for m in _GROUP.finditer(text) for letter in re.findall(_LETTER, m["inner"])]
    names = (name.lstrip("\\").replace("{", "").replace("}", "") for name in found)
    return frozenset(name for name in names if name not in _COMMANDS)
