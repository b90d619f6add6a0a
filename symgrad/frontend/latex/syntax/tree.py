r"""What a formula in LaTeX consists of, before anything is known of its names.

    LatexLine ::= Tree (relation Tree)*            -- y = x^2;  a \le b
    Tree      ::= SumTree | ProductTree | Applied forms below

Factors side by side stay a flat list, since only names tell whether f(x) is a call or a product, and how far the
argument of `\sin` reaches.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "Accent",
    "Bracket",
    "Cases",
    "Chain",
    "Command",
    "Evaluated",
    "Factorial",
    "Fraction",
    "Logic",
    "MatrixTree",
    "Negation",
    "NumberTree",
    "ProductTree",
    "Root",
    "Scripted",
    "Slice",
    "LatexLine",
    "SumTree",
    "Tree",
    "Word",
]


@dataclass(frozen=True, slots=True)
class Tree:
    """A part of a formula, and where it stands."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NumberTree(Tree):
    """Digits, perhaps with a decimal point."""

    text: str


@dataclass(frozen=True, slots=True)
class Word(Tree):
    r"""A letter, a Greek letter, or upright letters that are one word.

    Args:
        text: x, theta, softmax.
        style: the alphabet it is set in: mathbf, mathcal, mathtt; empty for none.
        upright: whether it is a word such as \mathrm{loss} or \operatorname{softmax}.
    """

    text: str
    style: str = ""
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Accent(Tree):
    r"""A letter below a mark: \hat{y}."""

    mark: str
    body: Tree


@dataclass(frozen=True, slots=True)
class Command(Tree):
    r"""A function, a big operator or a constant by its name: sin, sum, nabla, infty."""

    name: str


@dataclass(frozen=True, slots=True)
class Scripted(Tree):
    """What has something below, above, or primes.

    Args:
        base: what carries the scripts; None where nothing stands before them.
        below: what stands in the subscript, items separated by commas.
        above: what stands in the superscript.
        primes: how many primes there are.
        below_text, above_text: these as parts of a name, such as ``t_plus_1``; empty if they are none.
    """

    base: Tree
    below: tuple[Tree, ...] | None = None
    above: Tree | None = None
    primes: int = 0
    below_text: str = ""
    above_text: str = ""


@dataclass(frozen=True, slots=True)
class Slice(Tree):
    """A section in a subscript, 1:n:2; a lone colon or star has no parts."""

    parts: tuple[Tree | None, ...]
    star: bool = False


@dataclass(frozen=True, slots=True)
class Fraction(Tree):
    """One tree above another; ``binomial`` without the line between them."""

    above: Tree
    below: Tree
    binomial: bool = False


@dataclass(frozen=True, slots=True)
class Root(Tree):
    """A root; without a degree the square root."""

    body: Tree
    degree: Tree | None = None


@dataclass(frozen=True, slots=True)
class Bracket(Tree):
    """What stands in brackets: items separated by commas.

    Args:
        kind: the opening one: ( [ { | ‖ ⟨ ⌊ ⌈.
        items: what stands between the separators.
        separators: commas, semicolons and bars between the items.
    """

    kind: str
    items: tuple[Tree, ...]
    separators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Factorial(Tree):
    """n!"""

    body: Tree


@dataclass(frozen=True, slots=True)
class ProductTree(Tree):
    r"""Factors in the order of the text.

    Args:
        factors: the factors.
        signs: what stands before each of them: nothing, / or the name of an operator such as cdot; nothing before the
            first.
        adjacent: whether each stands next to the one before it, without a space between them.
    """

    factors: tuple[Tree, ...]
    signs: tuple[str, ...]
    adjacent: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class SumTree(Tree):
    """Terms with their signs, + or -."""

    terms: tuple[Tree, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain(Tree):
    """Sides with relations between them: 0 < x < 1."""

    sides: tuple[Tree, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluated(Tree):
    r"""A formula at values of its inputs, \left. f'(x) \right|_{x = 1}.

    Args:
        body: the formula.
        at: an equation for each input.
    """

    body: Tree
    at: tuple[Chain, ...]


@dataclass(frozen=True, slots=True)
class Logic(Tree):
    """Conditions joined by one of and_, or_, xor."""

    op: str
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Negation(Tree):
    """A condition denied."""

    body: Tree


@dataclass(frozen=True, slots=True)
class Cases(Tree):
    """Values with their conditions; the one without a condition holds otherwise."""

    rows: tuple[tuple[Tree, Tree | None], ...]


@dataclass(frozen=True, slots=True)
class MatrixTree(Tree):
    """Rows of entries."""

    rows: tuple[tuple[Tree, ...], ...]
    bars: bool = False


@dataclass(frozen=True, slots=True)
class LatexLine:
    """One line: sides with the relations between them; a lone side is an expression.

    Args:
        sides: what stands between the relations.
        relations: ``=``, ``<=``, ``approx`` and so on, one fewer than sides.
        start: where it begins.
        end: where it ends.
    """

    sides: tuple[Tree, ...]
    relations: tuple[str, ...] = field(default=())
    start: int = 0
    end: int = 0
