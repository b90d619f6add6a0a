r"""The meaning of each part of a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symgrad.frontend.latex.meaning.choices import ChoiceRules
from symgrad.frontend.latex.meaning.functions.differentials import Differentiate
from symgrad.frontend.latex.meaning.functions.function_values import LatexFunction
from symgrad.frontend.latex.meaning.letters import RowTerm
from symgrad.frontend.latex.meaning.special_letters import IdentityTerm
from symgrad.frontend.latex.syntax.trampoline import Steps, run_trampoline
from symgrad.frontend.latex.syntax.tree import (
    Accent,
    Bracket,
    Cases,
    Chain,
    Command,
    Factorial,
    Fraction,
    Logic,
    MatrixTree,
    Negation,
    NumberTree,
    ProductTree,
    Root,
    Scripted,
    Slice,
    SumTree,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.vocabulary import CONSTANTS, FUNCTIONS
from symgrad.frontend.tokens.terms import Term, Token
from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.sizes import Shape
from symgrad.ir.types import Declaration
from symgrad.support.source import Source


class FormulaRules(ChoiceRules):
    """The state while one text is read: its names, its lines, and how ambiguous places were read.

    Args:
        source: the text.
        given: names that are known before the text.
        strict: whether names must be declared.
        options: the result of `symgrad.frontend.latex.meaning.readings.checked_options`.
        differentiate: a function that returns the derivative of one node with respect to another.

    Attributes:
        like: the shape of the other side of the equation with this formula, if it is known.
    """

    like: Shape = ()

    def __init__(
        self,
        source: Source,
        given: Mapping[str, Node],
        strict: bool,
        options: Mapping[str, Any],
        differentiate: Differentiate | None = None,
    ) -> None:
        super().__init__(source, given, strict, options)
        self.differentiate = differentiate
        self.defined_here: dict[str, LatexFunction] = {}
        self.explained = {}
        self._rules: dict[type[Tree], Callable[[Any], Steps[Term]]] = {
            NumberTree: self._number,
            Word: self._word,
            Accent: self.letter,
            Command: self._command,
            Scripted: self._scripted,
            Fraction: self._fraction,
            Root: self._root,
            Bracket: self._bracket,
            Factorial: self._factorial,
            ProductTree: self.product,
            SumTree: self._sum,
            Chain: self._chain,
            Logic: self._logic,
            Negation: self._negation,
            Cases: self._cases,
            MatrixTree: self._matrix,
            Slice: self._slice,
        }

    def value(self, tree: Tree) -> Steps[Term]:
        """Return the value of a tree."""
        return self._rules[type(tree)](tree)

    def read(self, tree: Tree) -> Term:
        """Return the value of a whole formula.

        Raises:
            SymgradError: if the formula is wrong; the message has the place.
        """
        found = run_trampoline(self.value(tree))
        if isinstance(found, IdentityTerm) and len(self.like) == 2:
            found = self.sized_identity(
                found, Term(self.array_symbol("__like_", self.like), found.start, found.end)
            )
        if isinstance(found, IdentityTerm):
            raise self.refuse("nothing says the size of the identity matrix", tree, "I_{n}", "write I_{n}")
        return self.kept(found)

    # ------------------------------------------------------------------------------------------------------ statements

    # ---------------------------------------------------------------------------------------------------------- leaves

    def _number(self, tree: NumberTree) -> Steps[Term]:
        return self.number(Token("NUMBER", tree.text, tree.start, tree.end))
        yield

    def _word(self, tree: Word) -> Steps[Term]:
        alone = ProductTree(tree.start, tree.end, (tree,), ("",), (False,))
        special = yield self._special(tree, None)
        if special is not None:
            return special[0]
        if not self.is_known(tree) and self.spelled_function(tree, None) is not None:
            return (yield self.product(alone))
        return (yield self.letter(tree))

    def _command(self, tree: Command) -> Steps[Term]:
        if tree.name == "pi":
            return self.name(Token("NAME", "pi", tree.start, tree.end))
        if tree.name == "infty":
            return self.infinite(tree.start, tree.end)
        if tree.name in ("ldots", "dots", "cdots"):
            raise self.refuse(
                "dots stand for what only a reader can guess",
                tree,
                expected="all terms, or a sum over an index",
                cure=r"write \sum_{i=1}^{n} x_i",
            )
        if tree.name in FUNCTIONS or tree.name in ("sum", "prod", "nabla", "partial"):
            return (yield self.product(ProductTree(tree.start, tree.end, (tree,), ("",), (False,))))
        raise self.refuse(
            f"\\{tree.name} is no value", tree, "a number, a name or a function", "write a value"
        )

    def _scripted(self, tree: Scripted) -> Steps[Term]:
        base = tree.base
        if isinstance(base, Command) and base.name not in CONSTANTS:
            return (yield self.product(ProductTree(tree.start, tree.end, (tree,), ("",), (False,))))
        if isinstance(base, Word):
            special = yield self._special(tree, None)
            if special is not None:
                bare = tree.below is None
                return (
                    special[0]
                    if tree.above is None or not bare
                    else (yield self.raised(special[0], tree.above, tree))
                )
        if isinstance(base, Bracket) and base.kind == "‖":
            return (yield self._norm(base, tree))
        if isinstance(base, Bracket) and base.kind == "[" and tree.below is not None and tree.above is None:
            items = self.index_trees(tree.below, 0)
            words = [i for i in items if isinstance(i, Word)]
            if words and len(words) == len(items) and not any(self.is_known(w) for w in words):
                return (yield self.bracket_over(words, base.items[0]))
        return (yield self.scripted(tree))

    def _slice(self, tree: Slice) -> Steps[Term]:
        raise self.refuse("a section stands outside of a subscript", tree, "x_{1:n}", "write it below a name")
        yield

    # ----------------------------------------------------------------------------------------------------- composites

    def _sum(self, tree: SumTree) -> Steps[Term]:
        total: Term | None = None
        for sign, part in zip(tree.signs, tree.terms, strict=True):
            term = yield self.value(part)
            if total is None:
                if isinstance(term, IdentityTerm) and len(tree.terms) > 1:
                    total = IdentityTerm(
                        (
                            term
                            if sign == "+"
                            else self.minus(Token("MINUS", "-", tree.start, tree.start), term)
                        ).node,
                        term.start,
                        term.end,
                    )
                else:
                    total = (
                        term
                        if sign == "+"
                        else self._like(term, self.minus(Token("MINUS", "-", tree.start, tree.start), term))
                    )
                continue
            total = self._added(total, sign, term)
        assert total is not None
        self.kept(total)
        kind = type(total) if isinstance(total, RowTerm | IdentityTerm) else Term
        return kind(total.node, tree.start, max(tree.end, total.end), total.literal, total.open)

    def _added(self, a: Term, sign: str, b: Term) -> Term:
        if isinstance(a, IdentityTerm) and not isinstance(b, IdentityTerm):
            a = self.sized_identity(a, b)
        elif isinstance(b, IdentityTerm) and not isinstance(a, IdentityTerm):
            b = self.sized_identity(b, a)
        rows = isinstance(a, RowTerm), isinstance(b, RowTerm)
        if rows[0] != rows[1] and a.node.shape and b.node.shape:
            raise self._beside(a, b, "a vector and a transposed vector are added", "both as columns, x + y")
        found = self.kept((self.add if sign == "+" else self.subtract)(a, b))
        if isinstance(a, IdentityTerm) and isinstance(b, IdentityTerm):
            return IdentityTerm(found.node, a.start, b.end)
        return RowTerm(found.node, a.start, b.end) if any(rows) else found

    def _fraction(self, tree: Fraction) -> Steps[Term]:
        if tree.binomial:
            above, below = (yield self.value(tree.above)), (yield self.value(tree.below))
            return self.call_of("binomial", [above, below], tree.start, tree.end)
        written = self.derivative_of(tree)
        if written is not None:
            if written.of is None:
                raise self._of_nothing(tree)
            if "d" not in self.defined and self.source.text[tree.start : tree.end].count("partial") < 2:
                self.read_as(tree, "a derivative", 'd="name", or a declaration of d')
            return (yield self.derivative(written, written.of, tree))
        above, below = (yield self.value(tree.above)), (yield self.value(tree.below))
        if isinstance(above, IdentityTerm):
            return IdentityTerm(
                self.kept(self.divide(Term(above.node, above.start, above.end), below)).node,
                tree.start,
                tree.end,
            )
        if len(below.node.shape) == 2 and above.node.shape and above.node.shape != below.node.shape:
            self.read_as(tree, "a quotient entry by entry", "an inverse, A^{-1} B")
        found = self.kept(self.divide(above, below))
        return self._like(above, Term(found.node, tree.start, tree.end, found.literal))

    def _root(self, tree: Root) -> Steps[Term]:
        body = yield self.value(tree.body)
        if tree.degree is None or (isinstance(tree.degree, NumberTree) and tree.degree.text == "2"):
            return self.kept(self.make(OPS["sqrt"], [body], tree.start, tree.end))
        if isinstance(tree.degree, NumberTree) and tree.degree.text == "3":
            return self.kept(self.make(OPS["cbrt"], [body], tree.start, tree.end))
        degree = yield self.value(tree.degree)
        power = self.divide(self.parameter(1, tree.degree), degree)
        return self.kept(self.make(OPS["pow"], [body, power], tree.start, tree.end))

    def _factorial(self, tree: Factorial) -> Steps[Term]:
        body = yield self.value(tree.body)
        return self.call_of("factorial", [body], tree.start, tree.end)

    # ----------------------------------------------------------------------------------------------- truth, choices

    def array_symbol(self, name: str, shape: Shape) -> Node:
        """Return the symbol of an array."""
        return symbol(Declaration(name, shape=shape))
