"""Evaluation at two high precisions, and tests whether rounding may have decided something; they work at any scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from symgrad.analysis.explain.noise.sample_points import converted
from symgrad.ir.graph import NUMBER, SIZE, SYMBOL, Node, number, truth
from symgrad.ir.traverse import substitute
from symgrad.ir.values.evaluate import evaluate_mp, exact_number
from symgrad.rewrite.facts.inference import Conditions

_DIGITS, _MOST_DIGITS = 20, 110  # digits of printed values

_GUARD = 10
"""Digits after the random ones."""

_DOUBTFUL = 10**6
"""The factor from the difference between two precisions to a bound on the error: by chance the difference may be far
smaller than the error."""

_BENT = 2.0**-10
"""Deviation from linearity, relative to the change of a function."""

_ROUNDS_NOT = frozenset({"abs", "maximum", "minimum", "neg", "stop_gradient", "where"})


class PrecisionPair:
    """Two precisions whose results must agree, with a criterion for differences that rounding cannot explain.

    At the lower precision every result gets a random last digit, as in discrete stochastic arithmetic (Vignes, A
    stochastic arithmetic for reliable scientific computation, 1993). So a value that has lost its digits differs
    between the precisions by about its error. This works at any scale, and even if both precisions would round alike.
    """

    def __init__(self, digits: tuple[int, int]) -> None:
        import mpmath  # a late import: only programs with random inputs need it

        self.contexts: tuple[Any, Any] = (mpmath.mp.clone(), mpmath.mp.clone())
        for context, places in zip(self.contexts, (digits[0] + _GUARD, digits[1]), strict=True):
            context.dps = places
        self.margin = 10.0 ** -(digits[0] // 2)
        self._random = Random(0)
        self._unit = self.contexts[0].mpf(10) ** -digits[0]

    def evaluate(
        self, order: Sequence[Node], at: Mapping[Node, Any]
    ) -> tuple[dict[Node, Any], dict[Node, Any]]:
        """Return the values of nodes at both precisions.

        Args:
            order: the nodes, each after its arguments.
            at: an exact number, or an array of exact numbers, for every symbol.
        """
        places = has_arrays(order)  # integers may be indices
        coarse, fine = (
            {
                s: converted(v, int if places and s.dtype == "int" else partial(exact_number, mp))
                for s, v in at.items()
            }
            for mp in self.contexts
        )
        low = evaluate_mp(self.contexts[0], order, coarse, self._rounded)
        high = evaluate_mp(self.contexts[1], order, fine)
        return dict(zip(order, low, strict=True)), dict(zip(order, high, strict=True))

    def _rounded(self, node: Node, value: Any) -> Any:
        if node.dtype != "real" or _is_exact(node):
            return value
        return converted(
            value, lambda v: v * (1 + self._unit * self._random.choice((-1, 1)) * (1 + self._random.random()))
        )

    def texts(self, coarse: Sequence[Any], fine: Sequence[Any]) -> tuple[str, str]:
        """Return two different values as text; a value that is only rounding error is written "0".

        There are 20 digits, or more until the two texts differ; if that takes over a hundred, the second text is the
        distance from the first.
        """
        mp = self.contexts[1]
        rounding = [abs(a - b) > abs(b) * self.margin for a, b in zip(coarse, fine, strict=True)]
        for digits in range(_DIGITS, _MOST_DIGITS + 1, 5):
            one, other = ("0" if r else str(mp.nstr(v, digits)) for r, v in zip(rounding, fine, strict=True))
            if one != other:
                return one, other
        gap = fine[1] - fine[0]
        return str(mp.nstr(fine[0], _DIGITS)), f"the first {'-' if gap < 0 else '+'} {mp.nstr(abs(gap), 5)}"

    def doubt(self, coarse: Any, fine: Any) -> Any:
        """Return a bound on the error of a value: half its digits, and many times its difference from the finer one."""
        return self.margin * abs(coarse) + _DOUBTFUL * abs(coarse - fine)

    def differ(self, a: Any, b: Any) -> bool:
        """Tell whether two values differ beyond rounding; NaN differs from no value."""
        return bool(abs(a - b) > max(abs(a), abs(b)) * self.margin)


def _is_exact(node: Node) -> bool:
    """Tell whether an op computes without rounding: the result is one of its arguments up to a sign, or an integer."""
    structure = node.op.structure
    copies = structure is not None and structure.copies
    return copies or node.op.name in _ROUNDS_NOT or "piecewise-constant" in node.op.facts


def has_arrays(order: Sequence[Node]) -> bool:
    """Tell whether some node is an array, a reduction or a size."""
    return any(n.shape or not n.op.pointwise or n.op is SIZE for n in order)


def is_finite(mp: Any, value: Any) -> bool:
    """Tell whether a value is a finite real number or a truth value."""
    return isinstance(value, (bool, int)) or (isinstance(value, mp.mpf) and bool(mp.isfinite(value)))


def settled(
    level: PrecisionPair,
    order: Sequence[Node],
    values: Mapping[Node, Any],
    finer: Mapping[Node, Any],
    at: Mapping[Node, Any],
) -> bool:
    """Tell whether no comparison and no jump is so close to a tie that rounding may decide it."""
    # Exact operands are never in doubt, nor are equal roundings of equal numbers.
    inexact = {a: a.dtype == "real" and a.op not in (SYMBOL, NUMBER) for n in order for a in n.args}

    def doubts(node: Node, inexact: Iterable[bool]) -> list[Any]:
        args = zip(node.args, inexact, strict=True)
        return [level.doubt(values[a], finer[a]) if i else 0 for a, i in args]

    jumping = [n for n in order if n.dtype == "bool" or n.op.kinks]
    near = [n for n in jumping if not _sure(level, n, values, doubts(n, (inexact[a] for a in n.args)))]
    if not near:
        return True
    # The point is exact, so exact arithmetic finds that x - x is 0, or that floor(x) is 1.
    known = Conditions()
    exact = {s: truth(v) if isinstance(v, bool) else number(v) for s, v in at.items()}
    for node, there in zip(near, substitute(near, exact), strict=True):
        decided = known.facts(there).point
        if decided is None or decided != values[node]:
            return False
        points = [known.facts(a).point for a in there.args]
        if any(not is_finite(level.contexts[0], values[a]) for a in node.args):
            return False
        still = [inexact[a] and p is None for a, p in zip(node.args, points, strict=True)]
        if node.dtype != "bool" and not _sure(level, node, values, doubts(node, still)):
            return False
    return True


def _sure(level: PrecisionPair, node: Node, values: Mapping[Node, Any], doubts: Sequence[Any]) -> bool:
    """Tell whether errors of the arguments can neither change a condition nor lead an op across a jump."""
    if not any(doubts):
        return True
    args = [values[a] for a in node.args]
    if node.dtype == "bool":
        a, b = args
        return node.args[0] is node.args[1] or bool(abs(a - b) > sum(doubts))
    return is_continuous_at(level, node, values[node], args, doubts)


def is_continuous_at(
    level: PrecisionPair, node: Node, result: Any, args: Sequence[Any], doubts: Sequence[Any]
) -> bool:
    """Tell whether an op with kinks has no jump and no pole within the errors of its arguments."""
    mp = level.contexts[0]
    if not is_finite(mp, result):
        return True  # an undefined value is in a branch that is not taken
    bounded = "continuous" in node.op.facts and "poles" not in node.op.facts
    if bounded or (node.op.name == "pow" and args[1] > 0):
        return True
    for i, arg in enumerate(args):
        if not doubts[i]:
            continue
        up, down = (
            node.op.reference(mp, *node.params, *args[:i], arg + away, *args[i + 1 :])
            for away in (doubts[i], -doubts[i])
        )
        # Away from jumps and poles, a function is nearly linear over so small a change, at any scale.
        if not abs(up - 2 * result + down) <= _BENT * abs(up - down):
            return False
    return True
