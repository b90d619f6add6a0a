r"""Laws: equations of inputs that cannot follow from what stands above, and hold: p V = n R T, m \ddot x = -k x."""

from __future__ import annotations

import re

from symgrad.apps.review.decisions.conditions import eliminate
from symgrad.apps.review.formulas.related_rates import rate_variables
from symgrad.apps.review.formulas.side_reader import ReadSide
from symgrad.apps.review.layout.prose import FACT_CUES, FOLLOWS_CUES, VALUE_CUES
from symgrad.apps.review.rules.state import ReviewState
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.ir.graph import SYMBOL
from symgrad.ir.traverse import substitute, symbols_of, topological

_DOTTED = re.compile(r"\\d?dot(?![a-z])")


class LawRules(ReviewState):
    """The rules of equations that hold without a reason."""

    def _moves(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation of inputs that move holds at all times: x**2 + y**2 = 100 where dx/dt follows."""
        nodes = [left.expr.node, right.expr.node]
        if left.values or left.slope is not None or self.names.innermost(topological(nodes)):
            return False
        moved = {
            s for x in rate_variables(self.names, nodes) for n in nodes for s in self.names.moved_by(n, x)
        }
        return len(moved) > 1 and not any(moved & c.reads for c in self.names.conditions)

    def _is_known_rate(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation says how fast something moves, which nothing has said before: dV/dt = 100."""
        slope, (a, b) = left.slope, (left.expr.node, right.expr.node)
        given = FACT_CUES.search(self._before) is not None or VALUE_CUES.search(self._before) is not None
        if slope is None or len(slope.by) != 1 or (inputs_of(b) and not given):
            return False
        x = slope.by[0].node
        if not self.names.moved_by(slope.of.node, x):
            return False
        values = {**self.names.fixed, **self._judge.places.at}
        about = [c.where(values) for c in self.names.conditions if not c.asked]
        rates = [s for s in symbols_of([a]) if s not in symbols_of([slope.of.node])]
        others = {s for c in about for s in c.reads if s.name.endswith(f"_d{x.name}")}
        known = eliminate([c for c in about if c.reads & others], [*rates, *others], {})
        # What the document has said settles how fast it is, or this does.
        return known is None or bool(symbols_of(substitute([a], {**values, **known})))

    def _is_motion(self, left: ReadSide, right: ReadSide) -> bool:
        r"""Tell whether an equation says how something moves: m \ddot x = -k x, or what is zero along a motion."""
        nodes = [left.expr.node, right.expr.node]
        if (
            _DOTTED.search(left.text.text) is not None
            and left.slope is not None
            and self._has_new_input(left, right)
        ):
            return True  # \dot q = p/m, of a p that nothing above reads
        before, behind = (" ".join(s.name for s in symbols_of([node])) for node in nodes)
        if not any(mark in before + behind for mark in ("_dot", "_ddot")):
            return False
        derived = left.values or left.slope is not None or right.slope is not None
        return not derived or right.expr.node.is_number(0) or ("_ddot" in before and "dot" not in behind)

    def _is_law(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation has an input of which nothing was read before, p V = n R T: it cannot follow.

        That input stands on one side alone, since (a + b)**2 = a**2 + b**2 is a claim.
        """
        if left.slope is not None or (right.slope is not None and not self._has_new_name(left, right)):
            return False
        differential = left.expr.node.op is SYMBOL  # dU = T dS - p dV
        return (differential or not left.values) and self._has_new_input(left, right)

    def _is_level(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether a formula of several inputs is said to be a number, x + y = 9, and not to follow from others."""
        free = set(symbols_of([left.expr.node])) - self.names.fixed.keys()
        known = {s for c in self.names.conditions for s in c.reads}
        plain = left.slope is None and not left.values and left.text is self._first_side
        numeric = plain and right.expr.node.is_number() and FOLLOWS_CUES.search(self._before) is None
        named = self.names.innermost(topological([left.expr.node]))
        return numeric and len(free) > 1 and not free <= known and not named

    def _has_new_name(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether the left side has an input that nothing above reads, and the right one has none: 1/T = dS/dU."""
        a, b = (set(symbols_of([side.expr.node])) for side in (left, right))
        return any(map(self.names.is_new, a - b)) and not any(map(self.names.is_new, b))

    def _has_new_input(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether several inputs are in an equation, and one side alone has one that no line above reads."""
        a, b = (set(symbols_of([side.expr.node])) for side in (left, right))
        new = {s for s in a ^ b if self.names.is_new(s)}
        return bool(new) and len(a | b) > 1

    def _is_equilibrium(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation is one of two names that the document defines, MR = MC: it asks where it holds."""
        texts = [side.text.text.strip(" &$") for side in (left, right)]
        return all(map(self.names.is_defined, texts))

    def _is_fact(self, left: ReadSide, right: ReadSide) -> bool:
        """Tell whether an equation of inputs alone is one that words say to hold, or the first one of what moves.

        That is what the document differentiates by something that the equation does not have, as in dx/dt.
        """
        nodes = [left.expr.node, right.expr.node]
        if left.values or left.slope is not None or self.names.innermost(topological(nodes)):
            return False
        if FACT_CUES.search(self._before) is not None:
            return True
        moving = {s for s in symbols_of(nodes) if s.name in self._followed} - self.names.implied.keys()
        return bool(moving) and not any(moving & c.reads for c in self.names.conditions)
