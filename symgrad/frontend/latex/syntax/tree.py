r"""The trees of formulas in LaTeX, made before anything is known about their names.

    LatexLine ::= Tree (relation Tree)*            -- y = x^2;  a \le b
    Tree      ::= SumTree | ProductTree | Applied forms below

Factors side by side stay a flat list, because only names tell whether f(x) is a call or a product, and how far the
argument of `\sin` extends.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tree:
    """A part of a formula, and its place."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NumberTree(Tree):
    """Digits, perhaps with a decimal point."""

    text: str


@dataclass(frozen=True, slots=True)
class Word(Tree):
    r"""A letter, a Greek letter, or upright letters that form one word.

    Args:
        text: the letter or the word: x, theta, softmax.
        style: the alphabet in which it is set: mathbf, mathcal, mathtt; empty for none.
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
    r"""A function, a big operator or a constant, by its name: sin, sum, nabla, infty."""

    name: str


@dataclass(frozen=True, slots=True)
class Scripted(Tree):
    """A base with scripts below or above, or with primes.

    Args:
        base: the base; None if nothing precedes the scripts.
        below: the subscript; its items are separated by commas.
        above: the superscript.
        primes: the number of primes.
        below_text, above_text: the scripts as parts of a name, such as ``t_plus_1``; empty if they cannot be one.
    """

    base: Tree
    below: tuple[Tree, ...] | None = None
    above: Tree | None = None
    primes: int = 0
    below_text: str = ""
    above_text: str = ""


@dataclass(frozen=True, slots=True)
class Slice(Tree):
    """A section in a subscript, 1:n:2; a single colon or star has no parts."""

    parts: tuple[Tree | None, ...]
    star: bool = False


@dataclass(frozen=True, slots=True)
class Fraction(Tree):
    """One tree above another; if ``binomial``, without the line between them."""

    above: Tree
    below: Tree
    binomial: bool = False


@dataclass(frozen=True, slots=True)
class Root(Tree):
    """A root; without a degree, the square root."""

    body: Tree
    degree: Tree | None = None


@dataclass(frozen=True, slots=True)
class Bracket(Tree):
    """The content of brackets: items separated by commas.

    Args:
        kind: the opening bracket: ( [ { | ‖ ⟨ ⌊ ⌈.
        items: the trees between the separators.
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
        signs: the sign before each factor: empty, / or the name of an operator such as cdot; empty for the first
            factor.
        adjacent: whether each factor follows the one before it without a space.
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
    r"""A formula at given values of its inputs, \left. f'(x) \right|_{x = 1}.

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
    """The negation of a condition."""

    body: Tree


@dataclass(frozen=True, slots=True)
class Cases(Tree):
    """Values with their conditions; the value without a condition holds otherwise."""

    rows: tuple[tuple[Tree, Tree | None], ...]


@dataclass(frozen=True, slots=True)
class MatrixTree(Tree):
    """Rows of entries."""

    rows: tuple[tuple[Tree, ...], ...]
    bars: bool = False


STEP_ENDS = ("until", "while", "at most")
"""The words of a search: until a condition holds or while it does, and the largest number of steps."""


@dataclass(frozen=True, slots=True)
class LatexLine:
    """One line: sides with relations between them; a single side is an expression.

    Args:
        sides: the trees between the relations.
        relations: ``=``, ``<=``, ``approx`` and so on; there is one fewer than sides.
        start: where the line begins.
        end: where the line ends.
        explains: whether it defines a name of the formulas above it: it follows the word "where".
        word: the word before it in a search: until, while, at most.
    """

    sides: tuple[Tree, ...]
    relations: tuple[str, ...] = field(default=())
    start: int = 0
    end: int = 0
    explains: bool = False
    word: str = ""

    @property
    def defined(self) -> tuple[Tree, ...]:
        """The left sides of what the line defines."""
        return self.sides[:1] if self.relations else ()
