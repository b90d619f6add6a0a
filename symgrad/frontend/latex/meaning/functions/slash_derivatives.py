r"""Derivatives with a slash, dy/dx and \partial^2 f/\partial x \partial y, as fractions."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.frontend.latex.meaning.functions.differentials import DifferentialRules
from symgrad.frontend.latex.syntax.tree import Command, Fraction, NumberTree, ProductTree, Scripted, Tree
from symgrad.frontend.latex.syntax.vocabulary import FUNCTIONS


class SlashDerivativeRules(DifferentialRules):
    """The rules of derivatives with a slash."""

    def _with_quotients(self, tree: ProductTree) -> ProductTree:
        """Return a product with fractions in the place of dy/dx."""
        factors, signs, adjacent = list(tree.factors), list(tree.signs), list(tree.adjacent)
        for i in range(len(factors) - 3, -1, -1):
            slash = next((k for k in range(i + 1, min(i + 4, len(factors))) if signs[k] == "/"), None)
            if slash is None or any(signs[i + 1 : slash]) or not self._is_d(factors[i]):
                continue
            end = self._end_of_variables(factors, signs, slash, self._differential(factors[i]) or 1)
            partial = isinstance(self._without_order(factors[i]), Command)
            of = factors[i + 1 : slash]
            if end is None or not (partial or not of or (len(of) == 1 and self.name_here(of[0]) is not None)):
                continue
            above, below = self._side(factors[i:slash]), self._side(factors[slash:end])
            factors[i:end] = [Fraction(above.start, below.end, above, below)]
            signs[i:end], adjacent[i:end] = [signs[i]], [adjacent[i]]
        return ProductTree(tree.start, tree.end, tuple(factors), tuple(signs), tuple(adjacent))

    def _side(self, factors: Sequence[Tree]) -> Tree:
        """Return the numerator or the denominator of a derivative with a slash."""
        if len(factors) == 1:
            return factors[0]
        count = len(factors)
        adjacent = (False, *(True,) * (count - 1))
        return ProductTree(factors[0].start, factors[-1].end, tuple(factors), ("",) * count, adjacent)

    def _end_of_variables(
        self, factors: Sequence[Tree], signs: Sequence[str], start: int, order: int
    ) -> int | None:
        r"""Return where dx, \partial x \partial y or \partial \ln x ends that begins at a place."""
        k = start
        while order > 0 and k + 1 < len(factors) and self._is_d(factors[k]) and not signs[k + 1]:
            variable = self._bare(factors[k + 1])
            k += 2
            order -= self._variable(variable)[1]
            if isinstance(variable, Command) and variable.name in FUNCTIONS:
                if k == len(factors) or signs[k]:
                    return None
                k += 1
            if order > 0 and k < len(factors) and signs[k]:
                return None
        return k if k > start else None

    def _without_order(self, tree: Tree) -> Tree:
        r"""Return d or \partial of d^2 or \partial^2."""
        is_order = isinstance(tree, Scripted) and tree.below is None and isinstance(tree.above, NumberTree)
        return tree.base if is_order and isinstance(tree, Scripted) else tree
