r"""Letters with a meaning of their own: indicators, identity matrices, ones; and letters that are refused."""

from __future__ import annotations

from symgrad.frontend.latex.meaning.functions.composition import ComposedRules
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Bracket, Command, Scripted, Tree, Word
from symgrad.frontend.latex.syntax.vocabulary import REFUSED
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.graph import OPS
from symgrad.ops.numpy.calls import identity
from symgrad.support.errors import UnsupportedError

_BLACKBOARD = {
    "E": (
        "an expectation does not say over what",
        r"write a mean over an index, \frac{1}{n} \sum_{i}, or the mean itself",
    ),
    "P": (
        "probabilities of events are not read",
        "write the density or the distribution function as a formula",
    ),
    "V": ("a variance does not say over what", r"write \operatorname{var}(x) of an array"),
    "R": ("a set is no number", "declare what is in it: x : real[n]"),
}


class IdentityTerm(Term):
    """The identity matrix, perhaps times a number (its node); its neighbour determines its size."""

    __slots__ = ()


class SpecialRules(ComposedRules):
    """The rules for letters with a meaning of their own."""

    def _special(self, factor: Tree, after: Tree | None) -> Steps[tuple[Term, int] | None]:
        """Return an indicator, an identity matrix or an array of ones, and the number of factors it takes.

        Otherwise return None.
        """
        base = factor.base if isinstance(factor, Scripted) else factor
        if isinstance(base, Command) and base.name == "partial":
            raise self.refuse(
                r"\partial stands alone",
                factor,
                expected=r"\frac{\partial f}{\partial x}",
                cure="write the derivative as a fraction",
            )
        if isinstance(base, Word) and base.style == "operator" and base.text == "Id":
            return (yield self._identity(factor)), 1
        if not isinstance(base, Word) or self.is_declared_letter(factor):
            return None
        if (
            base.style == "blackboard"
            and base.text in _BLACKBOARD
            and not (base.text == "V" and after is None)
        ):
            what, cure = _BLACKBOARD[base.text]
            raise self.refuse(f"{what}: {self.text_of(factor)}", factor, cure=cure, cls=UnsupportedError)
        if base.upright and base.text in REFUSED:
            what, cure = REFUSED[base.text]
            raise self.refuse(f"{what}: {self.text_of(factor)}", factor, cure=cure, cls=UnsupportedError)
        if base.text in ("N", "U") and base.style == "script" and self.call_bracket(after) is not None:
            raise self.refuse(
                f"a distribution is no value: {self.text_of(factor)}",
                factor,
                expected="its density as a formula",
                cure="write the density, or declare a random input: u ~ Normal(0, 1)",
                cls=UnsupportedError,
            )
        if (base.text in ("Cov", "Corr", "KL") and base.upright) or (
            base.text == "D" and isinstance(factor, Scripted) and (factor.below_text == "KL")
        ):
            raise self.refuse(
                f"{self.text_of(factor)} of distributions is not read",
                factor,
                cure="write it as a sum",
                cls=UnsupportedError,
            )
        if (base.text == "1" and base.style in ("blackboard", "bold")) or (
            base.text == "I" and base.style == "blackboard"
        ):
            return (yield self._indicator(factor, after))
        if base.text == "0" and base.style == "bold" and isinstance(factor, Scripted) and factor.below:
            return (yield self._filled("zeros", factor)), 1
        if base.text == "I" and not self._is_current(factor):
            return (yield self._identity(factor)), 1
        if base.text == "delta" and isinstance(factor, Scripted) and factor.below is not None:
            items = self.index_trees(factor.below, 2)
            if len(items) == 2:
                one, other = (yield self.value(items[0])), (yield self.value(items[1]))
                same = self.kept(self.make(OPS["eq"], [one, other], factor.start, factor.end))
                self.read_as(factor, "Kronecker's delta", "a declaration of delta")
                return self._one_if(same, factor), 1
        return None

    def _indicator(self, factor: Tree, after: Tree | None) -> Steps[tuple[Term, int]]:
        if isinstance(factor, Scripted) and factor.below:
            inner = factor.below[0]
            if isinstance(inner, Bracket):
                inner = inner.items[0]
            if type(inner).__name__ in ("Chain", "Logic", "Negation"):
                return self._one_if((yield self.value(inner)), factor), 1
            return (yield self._filled("ones", factor)), 1
        bracket = self.call_bracket(after)
        if bracket is None or len(bracket.items) != 1:
            raise self.refuse(
                f"{self.text_of(factor)} has neither a condition nor a size",
                factor,
                expected=r"\mathbb{1}[x > 0], or \mathbf{1}_{n} for an array of ones",
                cure=r"write the condition in brackets, or the size below",
            )
        condition = yield self.value(bracket.items[0])
        return self._one_if(condition, Tree(factor.start, bracket.end)), 2

    def _one_if(self, condition: Term, tree: Tree) -> Term:
        one, nothing = (self.parameter(k, tree) for k in (1, 0))
        return self.kept(self.make(OPS["where"], [condition, one, nothing], tree.start, tree.end))

    def _filled(self, name: str, factor: Scripted) -> Steps[Term]:
        """Return an array of zeros or ones, with the shape in the subscript."""
        found = yield self._shaped(name, factor.below or (), [], factor.start, factor.end)
        return found if factor.above is None else (yield self.raised(found, factor.above, factor))

    def _is_current(self, factor: Tree) -> bool:
        """Tell whether I with a subscript is not an identity matrix: I_0, which has no size, or I_1 if I is a value."""
        return isinstance(factor, Scripted) and (
            factor.below_text == "0" or self.is_quantity("I", factor, alone=False)
        )

    def _identity(self, factor: Tree) -> Steps[Term]:
        if not isinstance(factor, Scripted) or factor.below is None:
            self.read_as(factor, "the identity matrix", "a declaration of I")
            return IdentityTerm(self.parameter(1, factor).node, factor.start, factor.end)
        parts = [part for item in factor.below for part in self.sizes_in(item)]
        values = yield self.values(parts)
        sizes = [self.size_here(value, part) for value, part in zip(values, parts, strict=True)]
        return self.kept(self.build(lambda: identity(*sizes), [], factor.start, factor.end))
