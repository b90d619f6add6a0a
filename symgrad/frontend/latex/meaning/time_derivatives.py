r"""Dots above letters: the derivative of a formula of t with respect to t."""

from __future__ import annotations

from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.frontend.latex.meaning.lines import LatexReader
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Accent, Tree
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.graph import Node
from symgrad.ir.traverse import substitute


class TimeDerivativeReader(LatexReader):
    r"""Reads ``\dot x`` as the derivative of the value of x, if this is a formula of t."""

    def letter(self, tree: Tree) -> Steps[Term]:
        found = None if self.differentiate is None else self.moved_by_time(tree)
        if found is None:
            return (yield super().letter(tree))
        y, time = found
        by = Term(time, tree.start, tree.end)
        order = 2 if isinstance(tree, Accent) and tree.mark == "ddot" else 1
        return self.differentiated(y, [(by, tree)] * order, tree)

    def _special(self, factor: Tree, after: Tree | None) -> Steps[tuple[Term, int] | None]:
        bracket = self.call_bracket(after)
        found = None if bracket is None or self.differentiate is None else self.moved_by_time(factor)
        if found is None or bracket is None or len(bracket.items) != 1:
            return (yield super()._special(factor, after))
        at = yield self.value(bracket.items[0])
        slope = yield self.value(factor)
        (node,) = (slope.node,) if at.node is found[1] else substitute([slope.node], {found[1]: at.node})
        return self.term(node, factor.start, bracket.end), 2

    def moved_by_time(self, tree: Tree) -> tuple[Term, Node] | None:
        r"""Return the formula of t below a dot, and t, for \dot x and \ddot x; None for any other tree."""
        if (
            not isinstance(tree, Accent)
            or tree.mark not in ("dot", "ddot")
            or self.name_here(tree) is not None
        ):
            return None
        name = self.name_here(tree.body)
        if name is None:
            return None
        y = self.named(name, tree.body)
        time = next((s for s in inputs_of(y.node) if s.name == "t"), None)
        if time is None or y.node is time or not y.node.args:
            return None
        return y, time
