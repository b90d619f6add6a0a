r"""Declarations in LaTeX such as x \in \mathbb{R}^n, as programs write them; the macros of a document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from symgrad.frontend.latex.document import latex_statements
from symgrad.frontend.latex.meaning.names import spelled_name
from symgrad.frontend.latex.syntax.tree import Tree
from symgrad.support.errors import SymgradError
from symgrad.support.source import Source

_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_PLAIN_BODY = re.compile(r"^\\(?:\w+)\s*(?:\{\s*\\\w+\s*\}|\\\w+)\s*\{(.*)\}$", re.DOTALL)
_MACRO = re.compile(
    rf"\\(?:re|provide)?(?:newcommand|command)\*?\s*(?:\{{\s*\\(?P<a>\w+)\s*\}}|\\(?P<b>\w+))\s*(?:\[\d\])?\s*{_BRACED}"
    rf"|\\def\s*\\(?P<c>\w+)(?:#\d)*\s*{_BRACED}|\\DeclareMathOperator\*?\s*\{{\s*\\(?P<e>\w+)\s*\}}\s*{_BRACED}"
)


def macros_of(text: str) -> dict[str, str]:
    r"""Return the macros that a document defines, each with its definition.

    Example:
        >>> macros_of(r"\newcommand{\R}{\mathbb{R}} so $x \in \R$")
        {'R': '\\newcommand{\\R}{\\mathbb{R}}'}
    """
    found: dict[str, str] = {}
    for match in _MACRO.finditer(text):
        name = next(n for n in match.groups() if n is not None)
        found[name] = match.group()
    return found


def without_macros(text: str, macros: Mapping[str, str]) -> str:
    r"""Return a text with the bodies of macros that have no arguments.

    Example:
        >>> without_macros(r"\R^n", macros_of(r"\newcommand{\R}{\mathbb{R}}"))
        '\\mathbb{R}^n'
    """

    def body(match: re.Match[str]) -> str:
        found = _PLAIN_BODY.search(macros.get(match[1], ""))
        return match[0] if found is None else found[1]

    return _COMMAND.sub(body, text)


# ------------------------------------------------------------------------------------------------------- declarations

_SETS = re.compile(
    r"\s*\\(?:mathbb|mathds|Bbb)\s*\{?\s*(?P<letter>[RZNS])\s*\}?"
    r"\s*(?P<sign>_\s*(?:\{\s*(?:>|\\geq?|\\ge|\+|\+\+)\s*0?\s*\}|\+))?"
    r"\s*(?:\^\s*(?P<size>\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\w))?\s*(?P<later>_\s*(?:\{\s*(?:>|\\geq?|\+|\+\+)\s*0?\s*\}|\+))?\s*"
)
_WITHOUT = re.compile(
    r"\s*\\(?:setminus|backslash|smallsetminus)\s*(?:\\\{[^{}]*\\\}|\{\s*\\\{[^{}]*\\\}\s*\}|0)\s*$"
)
_INTERVAL = re.compile(
    r"\s*(?:\\left)?[(\[]\s*(?P<low>-?[\d./]+)\s*,\s*(?P<high>-?[\d./]+)\s*(?:\\right)?[)\]]\s*"
)
_LABELS = re.compile(r"\s*\\\{\s*0\s*,\s*1\s*\\\}\s*(?:\^\s*(?P<size>\{[^{}]*\}|\w))?\s*")
_TIMES = re.compile(r"\\times|,")


def domain_of(text: str) -> str | None:
    r"""Return a set as programs write a domain; None for one that they have no word for.

    Example:
        >>> domain_of(r"\mathbb{R}^{n \times d}"), domain_of(r"\mathbb{R}_{>0}"), domain_of("(0, 1)"), domain_of("X")
        ('real[n, d]', 'positive', 'real(0, 1)', None)
    """
    found = _SETS.fullmatch(_WITHOUT.sub("", text))
    if found is not None:
        sign = found["sign"] or found["later"] or ""
        shape = _shape(found["size"])
        if found["letter"] == "S":
            return None if shape is None else f"real[{shape}, {shape}] symmetric"
        kinds = {"R": "real", "Z": "int", "N": "int(0, oo)"}
        kind = kinds[found["letter"]]
        if sign and found["letter"] == "R":
            kind = "nonnegative" if "ge" in sign else "positive"
        return kind if shape is None else f"{kind}[{shape}]"
    interval = _INTERVAL.fullmatch(text)
    if interval is not None:
        return f"real({interval['low']}, {interval['high']})"
    labels = _LABELS.fullmatch(text)
    if labels is not None:
        shape = _shape(labels["size"])
        return "int(0, 1)" if shape is None else f"int(0, 1)[{shape}]"
    return None


def _shape(size: str | None) -> str | None:
    if size is None:
        return None
    return ", ".join(" ".join(part.split()) for part in _TIMES.split(size.strip("{}")))


def declared_names(text: str) -> list[str] | None:
    r"""Return the names of a list such as ``x, \hat{y}``; None if one is none.

    Example:
        >>> declared_names(r"x, \hat{y}")
        ['x', 'y_hat']
    """
    found: list[str] = []
    for part in text.split(","):
        try:
            lines = latex_statements(Source(part))
        except SymgradError:
            return None
        tree: Tree | None = lines[0].sides[0] if len(lines) == 1 and not lines[0].relations else None
        name = None if tree is None else spelled_name(tree)
        if name is None:
            return None
        found.append(name)
    return found


_D = r"(?=\{\s*(?:d(?![a-zA-Z]{3})|\\partial|\\(?:mathrm|text|operatorname)\{d\}))"
_QUOTIENTS = re.compile(rf"\\[dt]?frac\s*{_D}{_BRACED}\s*{_D}{_BRACED}|[d∂]\w*\s*/\s*[d∂]\w+")
_DIFFERENTIALS = re.compile(
    r"(?<![a-zA-Z\\^_])(?:[a-zA-Z]{1,3}(?=d[a-zA-Z](?![a-zA-Z])))?(?:\\(?:mathrm|text|operatorname)\{d\}|d)\s*(?:\\(?:mathbf|bm|vec)\{)?\\?([a-zA-Z]\w*)"
)


def varied_in(sides: Sequence[str]) -> frozenset[str]:
    r"""Return the names whose differentials stand in the sides of an equation, but for quotients of them.

    Example:
        >>> sorted(varied_in(["df", r"\frac{df}{dy} dx + 2 \mathrm{d}\theta"]))
        ['f', 'theta', 'x']
    """
    return frozenset(name for side in sides for name in _DIFFERENTIALS.findall(_QUOTIENTS.sub(" ", side)))


_DEFINED_WORD = re.compile(
    r"(?:^|[$&\[(])\s*([a-zA-Z]{2,8})\s*(?:\([^()=]*\)\s*)?&?\s*:?=|\\partial\s*([a-zA-Z]{2,8})\b",
    re.MULTILINE,
)


def words_in(document: str) -> list[str]:
    """Return the words in math italics that a document uses as names: KL = ..., if K and L do not stand alone in it."""
    if "\\" not in document:
        return []
    found = dict.fromkeys(m[1] or m[2] for m in _DEFINED_WORD.finditer(document))
    return [
        w
        for w in found
        if not _is_differential(w, document)
        and any(re.search(rf"(?<![a-zA-Z\\]){c}(?![a-zA-Z])", document) is None for c in w)
    ]


def _is_differential(word: str, document: str) -> bool:
    r"""Tell whether a word is the differential of a letter that a document has elsewhere: dx, with x in it."""
    if len(word) != 2 or word[0] != "d":
        return False
    return re.search(rf"(?<![a-zA-Z\\]){word[1]}(?![a-zA-Z])", document) is not None


# What is written of matrices, or a product that has an inverse; without it I is a current or an investment.
_MATRICES = re.compile(
    r"\\(?:top|intercal|mathbb|mathds|Bbb|mathbf|boldsymbol|bm|det|nabla|Sigma|Lambda|begin\{[a-zA-Z]?matrix)\b|\\\||‖"
    r"|\btr\b|[A-Z)\]}]\s*\^\s*(?:\{\s*)?(?:T\b|-\s*1|\\mathsf|\\mathrm)|:\s*real\[|\b[Mm]atri|\b[Vv]ector|\b[Hh]essian|\b[Ee]igen"
    r"|\b[Ii]dentity|(?<![a-zA-Z\\])[A-Z]\s*I\b|I\s*-\s*[A-Z](?![a-zA-Z])"
    r"|(?:=|\\(?!partial)[a-z]+(?:\^2)?)\s*I\s*(?:[-+=)\]}.,$&]|\\\\|\\right|\Z)"
)
# A factor behind a number, where no other \pi stands alone: then that is a name.
_PI_BESIDE_NUMBERS = re.compile(
    r"\A(?!.*\\pi\s*(?:_|\\in\b|&?\s*:?=))(?!.*(?:\\partial|\bd)\s*\\pi\b).*\d\s*\\pi(?!\s*[\w(_'^])",
    re.DOTALL,
)


def has_matrices(document: str) -> bool:
    r"""Tell whether a document writes of matrices.

    Example:
        >>> has_matrices(r"$V = IR$"), has_matrices(r"$A + \lambda I$")
        (False, True)
    """
    return _MATRICES.search(document) is not None


def calls_pi(document: str) -> bool:
    r"""Tell whether \pi alone is the number in a document, and not the name of a function that it has.

    Example:
        >>> calls_pi(r"$\pi(a) = \log(2\pi)$"), calls_pi(r"$\pi = 2\pi_1$")
        (True, False)
    """
    return _PI_BESIDE_NUMBERS.search(document) is not None
