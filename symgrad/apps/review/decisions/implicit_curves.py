"""Curves F(x, y) = c: equations of inputs by which one follows another, and the points at which they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from symgrad.api.functions.elementary import sqrt
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import ImplicitCurve
from symgrad.apps.review.decisions.conditions import solution
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.layout.statements import ChainText
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.ir.graph import OPS, Node, number
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import REAL
from symgrad.support.errors import SymgradError

_LETTERS = r"[^\W\d_](?:_?[^\W_]\w*)?"
_ORDER = r"(?:\s*\^?\s*[2-9²³])?"
_PLAIN = re.compile(rf"(?<!\w)d{_ORDER}\s*({_LETTERS})\s*/\s*d([^\W\d_](?:_?[^\W_\d]\w*)?){_ORDER}(?!\w)")
_PAPER = re.compile(
    r"\\[dt]?frac\s*\{\s*(?:d|\\(?:mathrm|text)\{d\})" + _ORDER + r"\s*\\?([a-zA-Z]+)\s*\}"
    r"\s*\{\s*(?:d|\\(?:mathrm|text)\{d\})\s*\\?([a-zA-Z]+)" + _ORDER + r"\s*\}"
)
_VARIABLE = re.compile(
    r"/\s*[d∂]([^\W\d_](?:(?!d[^\W\d_])[^\W\d_])*)|\{\s*(?:d|\\partial)\s*\\?([a-zA-Z]+)\s*\}|\)\s*_\{?\s*\\?([a-zA-Z]+)"
)
_PRIMED = re.compile(r"(?<![\w\\])([^\W\d_])(?:'+|\^\{?\\prime\}?)(?!\s*\()")
_LINE = re.compile(r"(?:[-+−\d./*()\s,$]|sqrt|√|pi|\\frac|[{}]|x(?!\s*\*?[\^*²³\w]))+")
_DIFFERENTIAL = re.compile(r"(?<![a-zA-Z])[d∂]\\?[^\W\d_]|['′]|\\partial|\\d?dot")
_NUMBER = re.compile(r"[\s.$]*[-+]?\d[\d.]*[\s.,$]*")
_LONE = re.compile(rf"\s*({_LETTERS})\s*(?:\([^()=]*\))?\s*")


def dependent_names(statements: Iterable[ChainText]) -> dict[str, str | None]:
    r"""Return the names that a document differentiates and never defines, each with what by, None if that is not said.

    Example:
        >>> from symgrad.apps.review.layout.passages import passages
        >>> from symgrad.apps.review.layout.statements import statements
        >>> page = "x^2 + y^2 = 25\n2x + 2y dy/dx = 0\nu = v'"
        >>> dependent_names(statements(page, passages(page, "text")))
        {'y': 'x', 'v': None}
    """
    found: dict[str, str | None] = {}
    defined: set[str] = set()
    related = ""  # the equations so far without differentials, in which no name stands alone
    for statement in statements:
        for side in statement.sides:
            found.update((_PAPER if side.notation == "latex" else _PLAIN).findall(side.text))
            for name in _PRIMED.findall(side.text):
                found.setdefault(name, None)
        lone = None if statement.continues else _LONE.fullmatch(statement.sides[0].text)
        gives = statement.relations and statement.relations[0].kind in ("equal", "define")
        # r = 3 is where dr/dt is asked for, and no definition.
        whole = " ".join(side.text for side in statement.sides)
        if lone is None and gives:  # an equation with dy in it may have y as its solution
            related += "" if _DIFFERENTIAL.search(whole) else whole
        elif lone is not None and gives and _NUMBER.fullmatch(statement.sides[1].text) is None:
            # What x**2 + x*y = 3 relates to x may have a formula below, at a point or of a tangent.
            above = re.search(rf"(?<![^\W\d_]{{2}}){re.escape(lone[1])}(?![^\W\d_]{{2}}|['/(])", related)
            is_point = above is not None and _LINE.fullmatch(statement.sides[1].text) is not None
            defined.update([] if is_point else [lone[1]])
    return {name: by for name, by in found.items() if name not in defined and name != by}


def variables_in(statements: Iterable[ChainText]) -> frozenset[str]:
    r"""Return the names that derivatives are by, or hold constant: V and T of (\partial p/\partial V)_T."""
    sides = [side.text for statement in statements for side in statement.sides]
    return frozenset(name for text in sides for found in _VARIABLE.findall(text) for name in found if name)


def dependence(left: Node, right: Node, followed: dict[str, str | None]) -> tuple[Node, Node] | None:
    """Return the input that an equation defines by another, and that one; None where the document has none in it.

    Args:
        left: a side of an equation of inputs.
        right: the other one.
        followed: what the document differentiates, with what by.
    """
    inputs = list(dict.fromkeys(inputs_of(left) + inputs_of(right)))
    if any(s.shape for s in inputs):
        return None
    for y in inputs:
        if y.name not in followed:
            continue
        others = [s for s in inputs if s is not y]
        by = followed[y.name]
        meant = [s for s in others if s.name == by] if by is not None else others
        if len(meant) > 1:
            meant = [s for s in meant if s.name in ("x", "t")]
        if len(meant) == 1:
            return y, meant[0]
    return None


@dataclass(frozen=True, slots=True)
class Branch:
    """An input of a curve, solved for.

    Args:
        unknown: it.
        value: what it is.
        inside: where that is a number, as a truth value; None for everywhere.
    """

    unknown: Node
    value: Node
    inside: Node | None = None

    def __str__(self) -> str:
        return f"{self.unknown.name} = {Expr(self.value)}"


def branches(curve: ImplicitCurve) -> tuple[Branch, ...]:
    """Solve a curve for one of its inputs: all values of that, or none where it is not solved.

    It is solved for one in which it is linear, else for one in which it is of second degree.

    Example:
        >>> import symgrad as sg
        >>> x, y = sg.symbols("x y")
        >>> for branch in branches(ImplicitCurve((x**2 + y**2).node, number(25), y.node, x.node)):
        ...     print(branch)
        y = sqrt(25 - x**2)
        y = -sqrt(25 - x**2)
    """
    sides = (curve.left, curve.right)
    inputs = [s for s in symbols_of(sides) if s.declaration.values == REAL and not s.shape]
    inputs.sort(key=lambda s: (s in (curve.x, curve.y), s is not curve.y, s.name))
    for unknown in inputs:
        value = solution(sides, unknown)
        if value is not None:
            return (Branch(unknown, value),)
    for unknown in inputs:
        found = tuple(_of_second_degree(sides, unknown))
        if found:
            return found
    return ()


def _of_second_degree(sides: tuple[Node, Node], unknown: Node) -> Iterator[Branch]:
    residual = (Expr(sides[0]) - Expr(sides[1])).canonical()
    try:
        slope = derivative(residual, (Expr(unknown),)).canonical()
        half = derivative(slope, (Expr(unknown),)).canonical() / 2
    except SymgradError:
        return
    if unknown in symbols_of([half.node]) or half.node.is_number(0):
        return
    at = {unknown: number(0)}
    b, c = (Expr(n).canonical() for n in substitute([slope.node, residual.node], at))
    inside = (b**2 - 4 * half * c).canonical()
    for sign in (1, -1):
        value = ((-b + sign * sqrt(inside)) / (2 * half)).canonical()
        yield Branch(unknown, value.node, OPS["ge"](inside.node, number(0)))
