r"""Combinations of functions that the text defines, (f \circ g)(x), and derivatives of a bracket, (fg)'(x)."""

from __future__ import annotations

from typing import Any, cast

from symgrad.frontend.latex.meaning.functions.differentials import sole_input
from symgrad.frontend.latex.meaning.functions.function_values import LatexFunction
from symgrad.frontend.latex.meaning.functions.slash_derivatives import SlashDerivativeRules
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.frontend.latex.meaning.names import base_of
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Bracket, ProductTree, Scripted, Tree, Word
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.graph import symbol
from symgrad.ir.traverse import substitute
from symgrad.ir.types import Declaration


class ComposedRules(SlashDerivativeRules):
    """The rules for combinations of functions."""

    def combines_functions(self, tree: Tree) -> bool:
        r"""Tell whether a factor is a bracket of combined functions, (f \circ g) or (fg)', and not a value."""
        if isinstance(tree, Scripted):
            return (
                tree.primes > 0 and base_of(tree.base) is None and tree.below is None and tree.above is None
            )
        return isinstance(tree, Bracket) and self._composed(tree.items[0]) is not None

    def combined_functions(self, tree: Tree, bracket: Bracket | None, end: int) -> Steps[Term]:
        """Return the value of combined functions of the text, or of their derivative, at the value in a bracket.

        Args:
            tree: the combined functions in brackets, perhaps with primes.
            bracket: the value; None for the argument of the functions themselves.
            end: where the whole ends.
        """
        scripts = tree if isinstance(tree, Scripted) else Scripted(tree.start, tree.end, tree)
        formula = scripts.base
        while isinstance(formula, Bracket) and formula.kind in ("(", "[", "{}") and len(formula.items) == 1:
            formula = formula.items[0]
        own = self._functions_in(formula)
        if not own:
            return (yield self._slope_of_value(scripts, formula))
        several = next((f for f in own if len(f.parameters) != 1), None)
        if several is not None:
            raise self.refuse(
                f"{several.name} takes {len(several.parameters)} arguments",
                tree,
                expected="functions of one argument",
                cure=r"write \frac{\partial f}{\partial x}",
            )
        inner = Term(symbol(Declaration("__at_")), tree.start, tree.end)
        chain = self._composed(formula)
        if chain is not None:
            body = inner
            for function in reversed(chain):
                body = yield self.expanded(function, [body], tree, end)
        else:
            values: dict[str, Term] = {}
            for function in own:
                values[function.name] = yield self.expanded(function, [inner], tree, end)
            outer, self.local = self.local, {**self.local, **values}
            body = yield self.value(formula)
            self.local = outer
        if bracket is not None:
            (at,) = yield self.values(bracket.items[:1])
        else:
            at = self.named(own[-1].parameters[0], Tree(tree.start, end))
        if not scripts.primes:
            (found,) = substitute([body.node], {inner.node: at.node})
            return self.term(found, tree.start, end)
        return self.slope_at(body, inner, at, scripts.primes, scripts, end)

    def slope_of_name(self, tree: Scripted) -> Term | None:
        """Return the derivative of a value that the text defines, f', by what its function is of, or its only input."""
        bare = self.without_primes(tree)
        name = self.name_here(bare)
        if name is None or self.differentiate is None:
            return None
        y = self.named(name, bare)
        here = self.function_here(bare)
        if here is not None:
            of = [x for x in inputs_of(y.node) if (x.name,) == here.parameters]
            if not of:
                return None
            by = Term(of[0], tree.start, tree.end)
        elif y.node.args and not y.node.shape and sole_input(inputs_of(y.node), gradient=False) is not None:
            by = self.only_input(y, bare, tree)
        else:
            return None
        return self.differentiated(y, [(by, tree)] * tree.primes, tree)

    def _slope_of_value(self, scripts: Scripted, formula: Tree) -> Steps[Term]:
        body = yield self.value(formula)
        by = self.only_input(body, formula, scripts)
        return self.differentiated(body, [(by, scripts)] * scripts.primes, scripts)

    def _composed(self, tree: Tree) -> list[LatexFunction] | None:
        r"""Return the functions in f \circ g, the outer one first; None for any other tree."""
        if not isinstance(tree, ProductTree) or any(s != "odot" for s in tree.signs[1:]):
            return None
        between = zip(tree.factors, tree.factors[1:], strict=False)
        if any(self.source.text[a.end : b.start].strip() not in (r"\circ", "∘") for a, b in between):
            return None
        found = [self.function_here(f) for f in tree.factors]
        return None if None in found else [f for f in found if f is not None]

    def _functions_in(self, tree: Tree) -> list[LatexFunction]:
        """Return the functions of the text whose names occur in a formula without arguments."""
        found: dict[str, LatexFunction] = {}
        pending: list[Any] = [tree]
        while pending:
            top = pending.pop()
            if isinstance(top, tuple):
                pending += list(cast("tuple[Any, ...]", top))[::-1]
                continue
            if not isinstance(top, Tree):
                continue
            here = self.function_here(top) if isinstance(top, Word | Scripted) else None
            if here is not None and not (isinstance(top, Scripted) and top.primes):
                found[here.name] = here
            elif isinstance(top, ProductTree):
                pairs = zip(top.factors, (*top.factors[1:], None), strict=True)
                called = [
                    self.function_here(f) is not None and isinstance(after, Bracket) for f, after in pairs
                ]
                pending += [f for f, is_called in zip(top.factors, called, strict=True) if not is_called][
                    ::-1
                ]
            else:
                pending += [getattr(top, field) for field in top.__dataclass_fields__]
        return [*found.values()]
