"""Names of functions for what spells them out, and choices that say nothing: rows that make a formula shorter."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from symgrad.ir.graph import Node, apply, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.arith import add, mul, neg, pow
from symgrad.ops.elementary import sqrt
from symgrad.ops.hyperbolic import sech, tanh
from symgrad.ops.logic import gt, where
from symgrad.ops.rounding import relu
from symgrad.rewrite.condition import Conditions
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rules.alternatives import Alternatives
from symgrad.rules.stable import STABLE
from symgrad.rules.variables import a, b, c, one, two, zero

__all__ = ["Spoken"]

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

ROWS = [
    *(STABLE.by_name[name] for name in _OF_STABLE),
    Rule(
        name="sech-by-tanh",
        pattern=pow(sech(a), two),
        replacement=one - tanh(a) ** 2,
        why="cosh**2 - sinh**2 is 1",
    ),
    Rule(
        name="square-of-a-choice",
        pattern=pow(where(c, one, zero), two),
        replacement=where(c, one, zero),
        why="0 and 1 are their own squares",
    ),
    Rule(
        name="roots-of-conjugates",
        pattern=mul(sqrt(add(a, one)), sqrt(add(one, neg(a)))),
        replacement=sqrt(one - a**2),
        why="both roots exist where abs(a) <= 1, as that of the product",
    ),
    Rule(
        name="factor-of-a-choice",
        pattern=mul(a, where(c, one, zero)),
        replacement=where(c, a, zero),
        why="what is not chosen is zero",
    ),
    Rule(
        name="factor-of-a-choice-of-minus-one",
        pattern=mul(a, where(c, as_node(-1), zero)),
        replacement=where(c, neg(a), zero),
        why="what is not chosen is zero",
    ),
    Rule(
        name="relu-where-it-is-not-zero",
        pattern=where(gt(a, zero), mul(b, relu(a)), zero),
        replacement=mul(b, relu(a)),
        why="relu is zero elsewhere",
    ),
    Rule(
        name="relu-where-it-is-not-zero-with-a-sign",
        pattern=where(gt(a, zero), neg(mul(b, relu(a))), zero),
        replacement=neg(mul(b, relu(a))),
        why="relu is zero elsewhere",
    ),
]


_CHOICES = frozenset(row.name for row in ROWS if "choice" in row.name or "relu" in row.name)
"""Rows that move something into a choice or out of it: it has to have a value wherever it is not chosen, too."""

_NAMES = frozenset(row.name for row in ROWS)
"""The rows alone: the laws that `Alternatives` has beside them are for digits, not for readers."""


class Spoken:
    """Puts names of functions into formulas, wherever that makes them shorter.

    Args:
        known: facts, by which conditions of rows are decided.
        length: how long a formula is, in the names of its program.
    """

    def __init__(self, known: Conditions, length: Callable[[Node], float]) -> None:
        self._known = known
        self._alternatives = Alternatives(RuleSet(ROWS), known)
        self._length = length
        self._done: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        """Return a node with every part in its shortest form that a row gives, the innermost first."""
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
        """Tell whether what is chosen in nodes has a value everywhere."""
        chosen = (n.args[1] for n in topological(nodes) if n.op is where)
        return all(self._known.defined(n) == "yes" for n in chosen)
