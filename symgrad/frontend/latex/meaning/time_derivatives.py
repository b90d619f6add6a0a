r"""Dots above letters: the derivative of a formula of t by t."""

from __future__ import annotations

from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.frontend.latex.meaning.lines import LatexReader
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Accent, Tree
from symgrad.frontend.tokens.terms import Term

__all__ = ["TimeDerivativeReader"]


class TimeDerivativeReader(LatexReader):
    r"""Reads ``\dot x`` as the derivative of what x stands for, where that is a formula of t."""

    def letter(self, tree: Tree) -> Steps[Term]:
        rate = self.rate_of(tree)
        return rate if rate is not None else (yield super().letter(tree))

    def rate_of(self, tree: Tree) -> Term | None:
        r"""Return the derivative by time that a dot above a formula of t means: \dot x, \ddot x."""
        if (
            not isinstance(tree, Accent)
            or tree.mark not in ("dot", "ddot")
            or self.name_here(tree) is not None
        ):
            return None
        name = self.name_here(tree.body)
        if name is None or self.differentiate is None:
            return None
        y = self.named(name, tree.body)
        time = next((s for s in inputs_of(y.node) if s.name == "t"), None)
        if time is None or y.node is time or not y.node.args:
            return None
        by = Term(time, tree.start, tree.end)
        return self.differentiated(y, [(by, tree)] * (2 if tree.mark == "ddot" else 1), tree)
