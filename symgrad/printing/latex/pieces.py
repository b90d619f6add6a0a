"""Parts of LaTeX: precedence of written forms, parentheses, names, numbers, sizes and shapes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import TypeAlias

from symgrad.ir.graph import Node
from symgrad.ir.notation.literals import ADD, ATOM, MUL, POW, number_text
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.types import NAME, Number

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


_LETTER = r"\\(?:operatorname|mathrm)\{+([A-Za-z]\w*)\}+|\\[A-Za-z]+|(?<![A-Za-z\\])[A-Za-z]"
_BASE = re.compile(_LETTER)
_SCRIPT = r"[_^](?:\{+(?:[^{}]|\{[^{}]*\})*\}+|[\w+])"
_CALLED = re.compile(rf"(?:{_LETTER})(?=(?:{_SCRIPT})*\\left\()")


def base_letter(text: str) -> str | None:
    r"""Return the letter or word with which a name begins; None for other texts.

    Example:
        >>> [base_letter(t) for t in (r"\psi_{1}", r"\mathrm{Si}", "x", "-x")]
        ['\\psi', 'Si', 'x', None]
    """
    found = _BASE.match(text)
    return None if found is None else found[1] or found[0]


@cache
def called_letters(template: str) -> frozenset[str]:
    r"""Return the letters and words before the brackets of calls in a template.

    Example:
        >>> sorted(called_letters(r"\log \Gamma\left({0}\right) + \operatorname{{Si}}_{{1}}\left({0}\right)"))
        ['Si', '\\Gamma']
    """
    return frozenset(found[1] or found[0] for found in _CALLED.finditer(template))


def function_latex_by_name(name: str, count: int, parameters: Iterable[object] = ()) -> str:
    r"""Return the template of a function that is written by its name in programs, after static parameters.

    Example:
        >>> function_latex_by_name("jv", 2)
        '\\operatorname{{jv}}\\left({0}, {1}\\right)'
    """
    arguments = ", ".join([*map(str, parameters), *(f"{{{k}}}" for k in range(count))])
    return rf"\operatorname{{{{{name.replace('_', chr(92) + '_')}}}}}\left({arguments}\right)"


def latex_number(value: Number, text: str | None = None) -> Written:
    """Return an exact number, with small fractions as fractions.

    For a literal, return its number, with 1e-5 as a power of ten.
    """
    text = number_text(abs(value)) if text is None else text.lower()
    rank: float = ATOM
    if "/" in text:
        text, rank = rf"\frac{{{text.replace('/', '}{')}}}", MUL
    elif "e" in text:
        mantissa, exponent = text.split("e")
        power = f"10^{{{exponent}}}"
        text, rank = (power, POW) if mantissa == "1" else (rf"{mantissa} \cdot {power}", MUL)
    return (f"-{text}", SIGNED) if value < 0 else (text, rank)


def latex_size(size: Size) -> str:
    r"""Return the size of an axis.

    Example:
        >>> from symgrad.ir.sizes import size_sum
        >>> latex_size("n_rows"), latex_size(size_sum(["n", 1]))
        ('n_{\\mathrm{rows}}', 'n + 1')
    """
    if isinstance(size, int):
        return str(size)
    if isinstance(size, str):
        return latex_name(size)
    text = re.sub(NAME, lambda m: _FUNCTIONS.get(m[0]) or latex_name(m[0]), str(size))
    return text.replace("*", " ")


_FUNCTIONS = {"max": r"\max", "min": r"\min", "ceil": r"\operatorname{ceil}"}


def latex_shape(shape: Shape) -> str:
    r"""Return a shape.

    Example:
        >>> latex_shape(("n", 5))
        'n \\times 5'
    """
    return r" \times ".join(map(latex_size, shape)) or "1"


class Texts(dict[Node, Written]):
    """The text of each node so far; ``opaque`` nodes are written as names."""

    def __init__(self) -> None:
        super().__init__()
        self.opaque: set[Node] = set()
        self.letters: Collection[str] = ()  # with which names begin
        self.upright_e = False  # for Euler's number, where a value may be called e

    def template(self, node: Node, template: str) -> str:
        """Return the template of a node, which is written by its name if its letter is that of a variable."""
        if template.startswith("e^") and self.upright_e:
            template = rf"\mathrm{{{{e}}}}{template[1:]}"
        if not node.op.pointwise or called_letters(template).isdisjoint(self.letters):
            return template
        return function_latex_by_name(node.op.name, len(node.args), node.params)
