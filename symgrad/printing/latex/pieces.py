"""Parts of LaTeX: precedence of written forms, parentheses, names, numbers, sizes and shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache, reduce
from typing import TypeAlias

from symgrad.ir.notation.literals import ADD, ATOM, MUL, POW, number_text
from symgrad.ir.types import Number

Written: TypeAlias = tuple[str, float]
"""A text and the rank of its outermost form."""

# Ranks of forms, from loose to tight. A signed term binds more tightly than a sum and less tightly than a product: -x y
# needs no parentheses.
OPEN = 0  # choices
SIGNED = (ADD + MUL) / 2
HADAMARD = MUL - 0.1  # an entrywise product; its factors may be arrays times a number
SCALED = MUL + 0.1  # a matrix product times a number
MATRIX = MUL + 0.2

# fmt: off
_GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
    "varepsilon", "vartheta", "varphi", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma",
    "Upsilon", "Phi", "Psi", "Omega",
))
# fmt: on


def within(part: Written, rank: float) -> str:
    """Return a text, in parentheses if its form binds less tightly than a rank."""
    text, own = part
    return text if own >= rank else rf"\left({text}\right)"


_WORD = r"\\mathrm\{\w\w+\}"
_ENDS_WITH_WORD = re.compile(_WORD + r"(?:[_^](?:\{[^{}]*\}|\w))*\Z")
_STARTS_WITH_WORD = re.compile(_WORD)


def juxtapose(factors: Iterable[str]) -> str:
    r"""Return factors side by side, with a thin space next to a name of several letters.

    Example:
        >>> juxtapose(["12", r"\mathrm{fk}^{3}", "x", "y"])
        '12 \\, \\mathrm{fk}^{3} \\, x y'
    """
    text, *others = factors
    for factor in others:
        word = _ENDS_WITH_WORD.search(text) or _STARTS_WITH_WORD.match(factor)
        text += rf" \, {factor}" if word else f" {factor}"
    return text


@lru_cache(maxsize=4096)
def latex_name(name: str) -> str:
    r"""Return a variable's name as LaTeX: Greek letters, subscripts, upright words.

    Example:
        >>> [latex_name(n) for n in ("x", "alpha_1", "z_inner", "w12", "loss", "x_i_j")]
        ['x', '\\alpha_{1}', 'z_{\\mathrm{inner}}', 'w_{12}', '\\mathrm{loss}', 'x_{i, j}']
    """
    head, *subscripts = [part for part in name.split("_") if part] or [r"\_"]
    digits = re.fullmatch(r"(.*?\D)(\d+)", head)
    if digits:
        head, subscripts = digits[1], [digits[2], *subscripts]
    text = _letter(head)
    return f"{text}_{{{', '.join(map(_letter, subscripts))}}}" if subscripts else text


def _letter(part: str) -> str:
    if part in _GREEK:
        return "\\" + part
    return part if len(part) == 1 or part.isdigit() or part == r"\_" else rf"\mathrm{{{part}}}"


_ACCENTED = re.compile(r"(\\?[a-zA-Z]+)_\{((?:\\mathrm\{(?:bar|dot)\}(?:, |(?=\})))+)\}")


def with_accent(name: str) -> str:
    r"""Return the name of an adjoint or tangent with its accents.

    Example:
        >>> [with_accent(name) for name in (r"h_{\mathrm{bar}}", r"h_{\mathrm{bar}, \mathrm{dot}}", "h")]
        ['\\bar{h}', '\\dot{\\bar{h}}', 'h']
    """
    found = _ACCENTED.fullmatch(name)
    accents = [] if found is None else re.findall("bar|dot", found[2])
    return reduce(lambda text, accent: rf"\{accent}{{{text}}}", accents, found[1] if found else name)


ACCENTED = r"(?:\\(?:bar|dot)\{)+\\?[a-zA-Z]+\}+"
"""The pattern of a name with accents."""
_NAMED = re.compile(
    rf"({ACCENTED}|\\?[a-zA-Z]+(?:\{{[^{{}}\d][^{{}}]*\}})?)" + r"(?:_\{((?:[^{}:]|\{[^{}]*\})*)\})?"
)


def entry_text(name: str, position: str) -> str:
    r"""Return an entry of an array with a name, or with a text in parentheses.

    Example:
        >>> entry_text("h", "t-1"), entry_text("x_{1}", "t"), entry_text("x y", "t")
        ('h_{t-1}', 'x_{1, t}', '\\left(x y\\right)_{t}')
    """
    found = _NAMED.fullmatch(name)
    if found is None:
        return rf"\left({name}\right)_{{{position}}}"
    return f"{found[1]}_{{{position if found[2] is None else f'{found[2]}, {position}'}}}"


def latex_number(value: Number, text: str | None = None) -> Written:
    """Return an exact number, with small fractions as fractions.

    Args:
        value: the number.
        text: its spelling, with or without a minus sign; 1e-5 is written as a power of ten.
    """
    text = number_text(abs(value)) if text is None else text.lower().lstrip("-")
    text, rank = f"0{text}" if text[0] == "." else text, float(ATOM)
    if "/" in text:
        text, rank = rf"\frac{{{text.replace('/', '}{')}}}", MUL
    elif "e" in text:
        mantissa, exponent = text.split("e")
        power = f"10^{{{int(exponent)}}}"
        text, rank = (power, POW) if mantissa == "1" else (rf"{mantissa} \cdot {power}", MUL)
    return (f"-{text}", SIGNED) if value < 0 else (text, rank)
