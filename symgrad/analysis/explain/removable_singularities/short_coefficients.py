"""Simplification of coefficients: constants are often rational numbers, and long formulas are often 0."""

from __future__ import annotations

from fractions import Fraction

from symgrad.analysis.explain.limits import LARGEST_NUMBER_TOLD, RECOGNISED_DENOMINATOR
from symgrad.analysis.explain.noise.sample_points import value_at
from symgrad.analysis.explain.removable_singularities.points import DIGITS, POINTS, is_real, precise
from symgrad.analysis.explain.removable_singularities.series import NoSeries
from symgrad.checker.clock import is_late
from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.values.evaluate import evaluate_mp, exact_number
from symgrad.ops.scalar.arith import pow
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.rational.read import PLAIN, rational_of


class Shortener:
    """Simplify formulas until a deadline on the clock of `symgrad.checker.clock`.

    Args:
        end: the deadline.

    Raises:
        NoSeries: after the deadline, or if a formula is undefined.
    """

    def __init__(self, end: float) -> None:
        self._end = end
        self._mp = precise()
        self._small = self._mp.mpf(10) ** (-DIGITS // 2)

    def __call__(self, n: Node) -> Node:
        """Return a short form of a formula; 0 if the formula is 0 at all sample points."""
        short = self.plainly(n)
        return as_node(0) if not short.is_number() and self._is_zero(short) else short

    def plainly(self, n: Node) -> Node:
        """Return a short form that the rules give."""
        if is_late(self._end * len(topological([n]))):
            raise NoSeries("the search took too long")
        if n.is_number():
            return n
        known = Conditions()
        values = {x: known.point(x) for x in topological([n]) if x.args and x.dtype == "real"}
        values |= self._rational([x for x, v in values.items() if v is None])
        n = substitute([n], {x: as_node(v) for x, v in values.items() if v is not None})[0]
        (short,) = canonical([n]).nodes
        quotient = rational_of(short, reading=PLAIN)
        others = canonical([quotient.node()]).nodes if quotient else ()
        return min([short, *others], key=lambda x: len(topological([x])))

    def _rational(self, nodes: list[Node]) -> dict[Node, Fraction]:
        """Return the constants that are rational up to all digits: cos(0), hypot(1, 0), log(1)."""
        fixed: dict[Node, bool] = {}
        for x in topological(nodes):
            # An mpmath function with a huge order may take forever.
            huge = x.is_number() and abs(x.value) > LARGEST_NUMBER_TOLD
            fixed[x] = x.op is not SYMBOL and not huge and all(fixed[a] for a in x.args)
        constant = [x for x in nodes if fixed[x]]
        found: dict[Node, Fraction] = {}
        for x, v in zip(constant, evaluate_mp(self._mp, constant, {}), strict=True):
            whole = v * RECOGNISED_DENOMINATOR if is_real(self._mp, v) and abs(v) < 1e6 else None
            if whole is not None and abs(whole - self._mp.nint(whole)) < self._small:
                found[x] = Fraction(int(self._mp.nint(whole)), RECOGNISED_DENOMINATOR)
        return found

    def _is_zero(self, n: Node) -> bool:
        real = False
        for k in range(POINTS):
            point = {s: exact_number(self._mp, value_at(s, k)) for s in symbols_of([n])}
            (found,) = evaluate_mp(self._mp, [n], point)
            if not is_real(self._mp, found):
                continue
            real = True
            if abs(found) > self._small:
                return False
        if not real:
            raise NoSeries("a coefficient has no value")
        return True


def opened(n: Node) -> Node:
    """Rewrite (a**m)**p as a**(m*p) for positive a: substitution creates such powers."""
    known = Conditions()
    table = {
        x: pow(x.args[0].args[0], x.args[0].args[1] * x.args[1])
        for x in topological([n])
        if x.op is pow and x.args[0].op is pow and known.positive(x.args[0].args[0]) == "yes"
    }
    return substitute([n], table)[0]
