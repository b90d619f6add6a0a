"""Point masses: the values that a random expression takes with positive probability.

``sign(u)**2`` is 1 except at one point. That point has probability 0 if ``u`` is continuous, but not if ``u`` is an
integer, or if a choice is constant on an interval: ``clip(v, 0, 1)`` is 0 for all v < 0. So a rule that holds almost
everywhere needs a proof that the exception has probability 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from symgrad.ir.graph import Node, truth
from symgrad.ir.traverse import fold, symbols_of, topological
from symgrad.rewrite.facts.inference import Conditions

_COUNTABLE = frozenset({"abs", "cos", "cosh", "cot", "sin", "tan"})
"""Unary ops that are not monotonic and take each value at countably many arguments."""
_SAME_ZEROS = frozenset({"abs", "neg", "sign", "sqrt", "stop_gradient"})
"""Ops with the same zeros as their argument, in addition to increasing odd ops."""


def _is_flat(node: Node) -> bool:
    """Tell whether an op may be constant in a region of its arguments, which gives a value positive probability."""
    return node.dtype != "real" or not node.op.facts.isdisjoint({"chooses", "piecewise-constant"})


@dataclass(frozen=True, slots=True)
class _Law:
    """Facts about the distribution of a node.

    Args:
        sources: the random inputs that it depends on.
        spread: whether each single value has probability 0.
        nonzero: whether 0 has probability 0.
        smooth: whether it depends on no integer random input, and on no random input through a flat op.
    """

    sources: frozenset[Node]
    spread: bool
    nonzero: bool
    smooth: bool


class PointMasses:
    """Cached facts about the point masses of nodes. False means that there is no proof.

    Args:
        sources: the random inputs, which are independent; all other symbols are parameters.
        known: facts about nodes.
        generic: whether to ignore values of parameters at which a formula degenerates: x = 0 in x*u.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("u ~ Normal(0, 1); k ~ Poisson(2); a = 2*u + k; b = maximum(u, 0); c = k + 1")
        >>> masses = PointMasses([p["u"], p["k"]], Conditions())
        >>> [masses.nonzero(p[name]) for name in "ukabc"]
        [True, False, True, False, True]
    """

    def __init__(self, sources: Collection[Node], known: Conditions, *, generic: bool = False) -> None:
        self.sources = frozenset(sources)
        self.known = known
        self.generic = generic
        self._laws: dict[Node, _Law] = {}

    def reads(self, node: Node) -> bool:
        """Tell whether a node depends on a random input."""
        return bool(self._law(node).sources)

    def spread(self, node: Node) -> bool:
        """Tell whether each single value provably has probability 0."""
        return self._law(node).spread

    def nonzero(self, node: Node) -> bool:
        """Tell whether the value 0 provably has probability 0."""
        return self._law(node).nonzero

    def _law(self, node: Node) -> _Law:
        return fold([node], self._of, self._laws)[node]

    def _of(self, node: Node, args: list[_Law]) -> _Law:
        if node in self.sources:
            real = node.dtype == "real"
            return _Law(frozenset([node]), real, real or self._never_zero(node), real)
        sources = frozenset[Node]().union(*[a.sources for a in args])
        if not sources:
            nonzero = self._never_zero(node) or (self.generic and not node.is_number(0))
            return _Law(sources, False, nonzero, True)
        smooth = all(a.smooth for a in args) and not _is_flat(node)
        spread = self._is_spread(node, args) or (self.generic and smooth)
        nonzero = spread or self._never_zero(node) or _is_nonzero(node, args)
        return _Law(sources, spread, nonzero, smooth)

    def _never_zero(self, node: Node) -> bool:
        return node.dtype != "bool" and self.known.nonzero(node) == "yes"

    def _is_spread(self, node: Node, args: list[_Law]) -> bool:
        name, op = node.op.name, node.op
        if not op.pointwise:
            return False
        if len(args) == 1:
            onto = name in _COUNTABLE or name == "stop_gradient" or {"increasing", "decreasing"} & op.facts
            return args[0].spread and bool(onto)
        if name in {"maximum", "minimum"}:
            return all(a.spread for a in args)
        if name == "where":
            return args[1].spread and args[2].spread
        if len(args) != 2:
            return False
        a, b = args
        if name == "pow":
            return a.spread and not b.sources and b.nonzero
        if a.sources & b.sources:
            return name == "mul" and node.args[0] is node.args[1] and a.spread
        # Independent arguments: given the value of one, the other is spread.
        if name == "add":
            return a.spread or b.spread
        if name in {"mul", "div"}:
            return (a.spread and b.nonzero) or (b.spread and a.nonzero)
        return False


def _is_nonzero(node: Node, args: list[_Law]) -> bool:
    name, facts = node.op.name, node.op.facts
    if not node.op.pointwise:
        return False
    if name in {"mul", "maximum", "minimum"}:
        return all(a.nonzero for a in args)
    if name == "where":
        return args[1].nonzero and args[2].nonzero
    if name in {"div", "pow"} or name in _SAME_ZEROS or {"odd", "increasing"} <= facts:
        return args[0].nonzero
    return False


def may_be_zero(node: Node) -> bool:
    """Tell whether a node may be 0 with positive probability, for generic values of parameters."""
    sources = [s for s in symbols_of([node]) if s.declaration.distribution is not None]
    return not PointMasses(sources, Conditions(), generic=True).nonzero(node)


def tied(outputs: Sequence[Node], sources: Collection[Node]) -> dict[Node, Node]:
    """Return the comparisons (eq, ne) in nodes that have one truth value with probability 1, with this value.

    Args:
        outputs: nodes.
        sources: the random inputs.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("t : real; u ~ Normal(0, 1); y = where(u == t, 1, 0) + where(relu(u) == 0, 1, 0)")
        >>> [(equation.args[1].name, truth.value) for equation, truth in tied([p["y"]], [p["u"]]).items()]
        [('t', False)]
    """
    masses = PointMasses(sources, Conditions(), generic=True)
    return {
        n: truth(n.op.name == "ne")
        for n in topological(outputs)
        if n.op.name in {"eq", "ne"}
        and all(a.dtype != "bool" for a in n.args)
        and masses.reads(n)
        and masses.nonzero(n.args[0] - n.args[1])
    }
