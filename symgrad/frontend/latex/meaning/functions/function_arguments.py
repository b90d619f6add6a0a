r"""Functions and their arguments: \sin x, \log_{2}(x), \operatorname{softmax}_{1}(z), f(x) of a definition above."""

from __future__ import annotations

import re

from symgrad.frontend.expressions.calls import call
from symgrad.frontend.expressions.functions import is_function
from symgrad.frontend.latex.meaning.functions.function_values import ORDERED, AppliedRules
from symgrad.frontend.latex.meaning.names import base_of, spelled_name
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Accent,
    Bracket,
    Command,
    Factorial,
    NumberTree,
    ProductTree,
    Scripted,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.vocabulary import CONSTANTS, FUNCTIONS, WORDS
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.frontend.tokens.terms import Term, Token
from symgrad.ir.listing import suggest
from symgrad.support.errors import Cure, UnknownFunctionError

_LETTERS = {
    "sigma": ("sigmoid",),
    "Gamma": ("gamma", "uppergamma"),
    "Phi": ("ndtr",),
    "psi": ("digamma",),
    "zeta": ("zeta", "zeta"),
    "gamma": ("", "lowergamma"),
    "W": ("LambertW",),
    "K": ("ellipk",),
    "E": ("ellipe", "ellipeinc"),
    "F": ("", "ellipkinc"),
    "S": ("fresnels",),
    "C": ("fresnelc",),
    "B": ("", "beta"),
}
"""Letters that are functions before a bracket if nothing else defines them: those with one argument, and those with
two."""

_CALLS = ("(", "[", "{")


class ApplicationRules(AppliedRules):
    """The rules for functions."""

    def spelled_function(self, tree: Tree, after: Tree | None) -> str | None:
        """Return the name that a function has in the program notation; None if a factor is not a function.

        Args:
            tree: the factor.
            after: the factor after it, if both stand side by side.
        """
        base = tree.base if isinstance(tree, Scripted) else tree
        if isinstance(base, Command):
            return FUNCTIONS.get(base.name)
        word = base_of(base)
        if word is None or isinstance(base, Accent):
            return None
        bracket = self.call_bracket(after)
        is_operator = word.style == "operator" and bracket is not None
        if self.constant_here(base):
            return None
        here = self.function_here(tree)
        if here is not None:
            return here.name if bracket is not None else None
        if (self.is_declared_letter(tree) or self.is_known(base)) and not is_operator:
            return None
        if word.upright and len(word.text) > 1:
            spelled = word.text.replace("-", "_")
            if spelled in ORDERED and isinstance(tree, Scripted) and tree.below is not None:
                return ORDERED[spelled]
            found = WORDS.get(spelled, spelled)
            if not is_function(found) and is_function(found.lower()):
                found = found.lower()
            if found and is_function(found):
                return found
            if self.is_known(base):
                return None
        if bracket is None or word.style in ("blackboard", "script", "bold", "fraktur"):
            return None
        if isinstance(tree, Scripted) and tree.below is not None and word.text in ORDERED:
            if word.text == "I" and isinstance(tree.below[0], Word) and tree.below[0].text in self.sizes:
                return None
            if self.is_quantity(word.text, tree):
                self.read_as(tree, "a name", f"{ORDERED[word.text]}(...)")
                return None
            self.read_as(tree, f"the function {ORDERED[word.text]}", f"a declaration of {self.text_of(tree)}")
            return ORDERED[word.text]
        if isinstance(tree, Scripted) and word.text == "D" and tree.below_text == "plus":
            return "dawsn"
        if isinstance(tree, Scripted) and word.text == "L" and is_function(f"{tree.below_text}_frechet"):
            return f"{tree.below_text}_frechet"
        if isinstance(tree, Scripted) and (tree.below is not None or tree.below_text):
            return None
        return self._letter_function(word, bracket)

    def is_quantity(self, letter: str, tree: Tree, *, alone: bool = True) -> bool:
        """Tell whether a text uses a letter with its subscript as a value: the current I_0 in I = I_0 (e^v - 1).

        Args:
            letter: the letter.
            tree: the letter with its subscript.
            alone: whether it is enough that the two occur without a bracket after them; otherwise an equation must
                define the letter.
        """
        if not isinstance(tree, Scripted) or tree.below is None:
            return False
        inside = self.source.text[tree.below[0].start : tree.below[-1].end].strip()
        below = re.escape(inside[1:-1].strip() if inside.startswith("{") else inside)
        scripted = rf"(?<![\\\w]){letter}_(?:\{{\s*{below}\s*\}}|{below})(?!\w)"
        found = rf"(?<![\\\w]){letter}\s*&?\s*=(?!=)(?!\s*{letter}_[^=+*/-]*(?:[$.,;&]|\\\\|$))"  # do not match I = I_n
        if alone:
            found += rf"|{scripted}(?!\s*(?:\\left|\\[bB]ig+l?|\\,)*\s*[(\[])"
        return re.search(found, self.around) is not None

    def _letter_function(self, word: Word, bracket: Bracket) -> str | None:
        found = _LETTERS.get(word.text)
        if found is None or (word.text == "sigma" and self.options["sigma"] == "name"):
            return None
        if not self.strict and word.text.isascii() and len(word.text) == 1:
            return None
        count = len(bracket.items)
        spelled = found[count - 1] if count <= len(found) else ""
        if spelled:
            option = (
                'sigma="name", or a declaration of sigma'
                if word.text == "sigma"
                else f"a declaration of {word.text}"
            )
            self.read_as(word, f"the function {spelled}", option)
        return spelled or None

    def call_bracket(self, tree: Tree | None) -> Bracket | None:
        """Return the brackets of a call, without scripts above them."""
        while isinstance(tree, Scripted | Factorial):
            tree = tree.base if isinstance(tree, Scripted) else tree.body
        return tree if isinstance(tree, Bracket) and tree.kind in _CALLS else None

    # -------------------------------------------------------------------------------------------------------- arguments

    def application(self, spelled: str, tree: ProductTree, i: int) -> Steps[tuple[Term, int]]:
        """Return a function of the factors after it, and the position at which the factors continue."""
        function, j = tree.factors[i], i + 1
        if j == len(tree.factors) or tree.signs[j]:
            raise self.refuse(
                f"{self.text_of(function)} lacks its argument",
                function,
                expected=f"{self.text_of(function)} and a value",
                cure=f"write {self.text_of(function)}(x), or declare a name of this kind",
            )
        after = tree.factors[j]
        bracket = self.call_bracket(after)
        if bracket is not None:
            result = yield self.applied(spelled, function, bracket, bracket.end)
            return (yield self._behind(result, after, bracket)), j + 1
        k = self._reach(tree, j)
        if k == j + 1 and not self._is_operator(tree, j):
            argument = yield self.value(after)
        else:
            inner = tree.factors[j:k]
            argument = yield self.value(
                ProductTree(
                    inner[0].start, inner[-1].end, inner, ("", *tree.signs[j + 1 : k]), tree.adjacent[j:k]
                )
            )
        made = yield self._made(spelled, function, [argument], argument.end)
        inner = tree.factors[j:k]
        if sum(not isinstance(f, NumberTree) for f in inner) > 1 and not self._is_operator(tree, j):
            whole = ProductTree(function.start, inner[-1].end, inner, (), ())
            self.read_as(whole, self.said(made.node), 'arguments="factor", or brackets')
        behind = self.call_bracket(tree.factors[k]) if k < len(tree.factors) and not tree.signs[k] else None
        if behind is not None and inner and base_of(inner[-1]) is not None:
            whole = Tree(function.start, behind.end)
            self.read_as(
                whole, f"{self.said(made.node)} times what is in brackets", "brackets around the argument"
            )
        return made, k

    def _behind(self, value: Term, tree: Tree, bracket: Bracket) -> Steps[Term]:
        """Return a call, with the script above its closing bracket: f(x)^2."""
        if tree is bracket:
            return value
        if isinstance(tree, Factorial):
            inner = yield self._behind(value, tree.body, bracket)
            return self.kept(call(self, Token("NAME", "factorial", tree.start, tree.end), [inner], tree.end))
        assert isinstance(tree, Scripted)
        if tree.base is not bracket:
            value = yield self._behind(value, tree.base, bracket)
        if tree.primes:
            raise self.refuse("a prime after a call", tree, "f'(x)", "write the prime before the bracket")
        if tree.below is not None or tree.below_text:
            value = yield self.entry(value, tree)
        return value if tree.above is None else (yield self.raised(value, tree.above, tree))

    def _is_operator(self, tree: ProductTree, i: int) -> bool:
        """Tell whether a factor takes the factors after it as its argument: a function or a sum."""
        after = tree.factors[i + 1] if i + 1 < len(tree.factors) and not tree.signs[i + 1] else None
        factor = tree.factors[i]
        base = factor.base if isinstance(factor, Scripted) else factor
        return (isinstance(base, Command) and base.name not in CONSTANTS) or (
            self.spelled_function(factor, after) is not None
        )

    def _reach(self, tree: ProductTree, j: int) -> int:
        """Return the position at which the argument of a function without brackets ends."""
        count = len(tree.factors)
        while self._is_operator(tree, j):
            factor = tree.factors[j]
            base = factor.base if isinstance(factor, Scripted) else factor
            if isinstance(base, Command) and base.name in ("sum", "prod"):
                return count
            if j + 1 == count or tree.signs[j + 1]:
                return j + 1
            if self.call_bracket(tree.factors[j + 1]) is not None:
                return j + 2
            j += 1
        first, k = tree.factors[j], j + 1
        if self.options["arguments"] == "factor" or not self._is_plain(first):
            return k
        while k < len(tree.factors) and not tree.signs[k] and self._is_plain(tree.factors[k]):
            if self._is_operator(tree, k):
                break
            k += 1
        return k

    def _is_plain(self, tree: Tree) -> bool:
        """Tell whether a factor is a number or a name, perhaps with scripts."""
        while isinstance(tree, Scripted | Factorial | Accent):
            tree = tree.base if isinstance(tree, Scripted) else tree.body
        return isinstance(tree, NumberTree | Word) or (isinstance(tree, Command) and tree.name == "pi")

    # ------------------------------------------------------------------------------------------------------------ calls

    # ------------------------------------------------------------------------------------------- functions of the text

    # ------------------------------------------------------------------------------------------------ not a function

    def check_factor(self, tree: Tree, after: Tree | None, adjacent: bool) -> None:
        """Refuse a name before brackets that nothing defines as a function, or note how it is read."""
        bracket = self.call_bracket(after)
        word = base_of(tree)
        if bracket is None or word is None or bracket.kind != "(":
            return
        if isinstance(tree, Scripted) and tree.above is not None and not self.is_mark(tree):
            return
        names = all(isinstance(item, Word | Accent) or base_of(item) is not None for item in bracket.items)
        own = any(isinstance(t, Word) and t.text == word.text for t in trees_in(bracket.items))
        if own and not names and len(bracket.items) == 1 and not self.is_known(tree):  # p(1 - p)
            self.read_as(
                bracket, f"a product with {self.text_of(tree)}", f"a definition of {self.text_of(tree)}(...)"
            )
            return
        what = f"{self.text_of(tree)}{self.text_of(bracket)}"
        if self.is_declared_letter(tree) or self.constant_here(tree):
            if len(bracket.items) > 1:
                raise self.refuse(
                    f"'{self.text_of(tree)}' is a name, and no function",
                    tree,
                    expected="one value in brackets after a factor",
                    cure=f"define it: {self.text_of(tree)}(a, b) = ...",
                    cls=UnknownFunctionError,
                )
            if names and adjacent:
                self.read_as(
                    bracket,
                    f"a product with {self.text_of(tree)}",
                    f"a definition of {self.text_of(tree)}(...)",
                )
            return
        letters = (
            word.text in ("f", "g", "h", "F", "G", "H", "p", "q", "P", "u", "phi", "psi", "ell")
            or word.upright
        )
        if self.options["calls"] == "product" and len(bracket.items) == 1 and not self.strict:
            self.read_as(bracket, f"a product with {self.text_of(tree)}", 'calls="refused"')
            return
        if names or letters or len(bracket.items) > 1:
            spelled = spelled_name(tree) or self.text_of(tree)
            known = [*FUNCTIONS, *self.defined_here]
            meant = suggest(word.text, known) if len(word.text) > 2 else None
            raise self.refuse(
                f"{what}: nothing defines the function '{spelled}'",
                tree,
                expected="a function that is known, or defined on a line above",
                cure=meant
                or Cure(
                    f'define it: {spelled}(t) = ..., or declare {spelled} for a product (calls="product")',
                    command=f"define it: {spelled}(t) = ..., or --declare '{spelled} : real' for a product "
                    "(--read calls=product)",
                ),
                cls=UnknownFunctionError,
            )
        if not self.strict and adjacent:
            self.read_as(
                bracket, f"a product with {self.text_of(tree)}", f"a definition of {self.text_of(tree)}(...)"
            )
