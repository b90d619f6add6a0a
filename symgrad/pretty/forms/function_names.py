"""Rows that make a formula shorter: names of functions in place of definitions, and choices that are not needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.scalar.arith import pow
from symgrad.ops.scalar.elementary import exp, expm1, sigmoid, sqrt
from symgrad.ops.scalar.hyperbolic import sech, tanh
from symgrad.ops.scalar.logic import gt, where
from symgrad.ops.scalar.rounding import relu
from symgrad.ops.special.gamma import erf, erfc
from symgrad.rewrite.choice.alternatives import Alternatives
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.rule import RuleSet
from symgrad.rewrite.rules.stable import STABLE
from symgrad.rewrite.rules.variables import a, b, c, one, row, zero

_OF_STABLE = (
    "softplus",
    "softplus-of-log1p",
    "sigmoid",
    "sigmoid-of-minus",
    "sigmoid-with-exp",
    "sigmoid-slope",
    "sigmoid-from-complement",
    "tanh",
)

_CHOSEN, _SCALED = where(c, one, zero), b * relu(a)

ROWS = [
    *(STABLE.by_name[name] for name in _OF_STABLE),
    row("sech-by-tanh", sech(a) ** 2, 1 - tanh(a) ** 2, "cosh**2 - sinh**2 is 1"),
    row("square-of-a-choice", _CHOSEN**2, _CHOSEN, "0 and 1 are their own squares"),
    row(
        "roots-of-conjugates",
        sqrt(a + 1) * sqrt(1 - a),
        sqrt(1 - a**2),
        "both roots exist where abs(a) <= 1, as that of the product",
    ),
    row("factor-of-a-choice", a * _CHOSEN, where(c, a, zero), "what is not chosen is zero"),
    row(
        "factor-of-a-choice-of-minus-one",
        a * where(c, as_node(-1), zero),
        where(c, -a, zero),
        "what is not chosen is zero",
    ),
    row("relu-where-it-is-not-zero", where(gt(a, zero), _SCALED, zero), _SCALED, "relu is zero elsewhere"),
    row(
        "relu-where-it-is-not-zero-with-a-sign",
        where(gt(a, zero), -_SCALED, zero),
        -_SCALED,
        "relu is zero elsewhere",
    ),
]


_CHOICES = frozenset(row.name for row in ROWS if "choice" in row.name or "relu" in row.name)
"""Rows that move a factor into a choice or out of it: the factor must also have a value where its branch is not
taken."""

_NAMES = frozenset(row.name for row in ROWS)
"""Only the rows: the laws that `Alternatives` applies in addition are for accuracy, not for readers."""


def complementary_forms(form: Node, name: Node) -> Iterator[tuple[Node, Node]]:
    """Yield further forms that a name gives: if z is the name of sigmoid(u), sigmoid(-u) is 1 - z.

    The two formulas of each pair are equal wherever either has a value.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> u, z = symbol(Declaration("u")), symbol(Declaration("z"))
        >>> list(complementary_forms(sigmoid(u), z)) == [(sigmoid(-u), 1 - z)]
        True
    """
    if form.op in (sigmoid, erf, erfc, exp, expm1, tanh):
        (u,) = form.args
        if form.op is sigmoid:
            yield sigmoid(-u), 1 - name
        elif form.op is erf:
            yield erfc(u), 1 - name
        elif form.op is erfc:
            yield erf(u), 1 - name
            yield erfc(-u), 2 - name
        elif form.op is exp:
            yield exp(-u), 1 / name
        elif form.op is expm1:
            yield exp(u), 1 + name
        else:
            yield sech(u) ** 2, 1 - name**2


def without_sech(node: Node) -> Node:
    """Return a node with even powers of sech written with tanh, which NumPy has: `1 - tanh(u)**2`."""
    table: dict[Node, Node] = {}
    for n in topological([node]):
        if n.op is pow and n.args[0].op is sech and n.args[1].is_number():
            half, rest = divmod(n.args[1].value, 2)
            square = 1 - tanh(n.args[0].args[0]) ** 2
            if not rest and half > 0:
                table[n] = square if half == 1 else square**half
    return substitute([node], table)[0] if table else node


class Spoken:
    """Puts names of functions into formulas, wherever this makes the formulas shorter.

    Args:
        known: facts, which decide the conditions of rows.
        length: a function that measures how long a formula is in the names of its program.
    """

    def __init__(self, known: Conditions, length: Callable[[Node], float]) -> None:
        self._known = known
        self._alternatives = Alternatives(RuleSet(ROWS), known)
        self._length = length
        self._done: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        """Return a node in which every part has the shortest form that a row gives; inner parts come first."""
        for n in topological([node], until=self._done):
            if n not in self._done:
                args = tuple(self._done[x] for x in n.args)
                self._done[n] = self._shortest(n if args == n.args else apply(n.op, args, n.params))
        return self._done[node]

    def _shortest(self, node: Node) -> Node:
        while node.op.pointwise and node.dtype != "bool":
            others = [
                step.after
                for step in self._alternatives.of(node)
                if step.rule in _NAMES and (step.rule not in _CHOICES or self._defined((node, step.after)))
            ]
            best = min(others, key=self._length, default=node)
            if self._length(best) >= self._length(node):
                break
            node = best
        return node

    def _defined(self, nodes: Iterable[Node]) -> bool:
        """Tell whether the branches of choices in nodes have values everywhere."""
        chosen = (n.args[1] for n in topological(nodes) if n.op is where)
        return all(self._known.defined(n) == "yes" for n in chosen)
