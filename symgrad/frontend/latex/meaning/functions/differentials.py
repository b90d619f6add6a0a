r"""Derivatives, \frac{\partial^2 f}{\partial x \partial y} and \nabla_w L; the caller provides the differentiation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from symgrad.frontend.latex.meaning.functions.big_operators import BigRules
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.frontend.latex.meaning.names import base_of, spelled_name
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Bracket,
    Command,
    Fraction,
    NumberTree,
    ProductTree,
    Scripted,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.vocabulary import FUNCTIONS
from symgrad.frontend.tokens.terms import Term, Token
from symgrad.ir.graph import OPS, SYMBOL, Node, apply
from symgrad.ir.listing import one_of
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import ShapeError, UnknownNameError, UnsupportedError

Differentiate: TypeAlias = Callable[[Node, Node], Node]
"""A function that maps the differentiated value and the variable to the derivative, whose shape is both shapes one
after the other."""


_COORDINATES = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class LatexDerivative:
    r"""A derivative as it is written.

    Args:
        of: the differentiated formula; None if it comes after the fraction, \frac{d}{dx} f.
        by: the variables; each occurs as often as one differentiates with respect to it.
    """

    of: Tree | None
    by: tuple[Tree, ...]


def sole_input(inputs: Sequence[Node], *, gradient: bool) -> Node | None:
    """Return the input with respect to which a derivative without a variable is taken.

    The result is None if there are several inputs.

    Args:
        inputs: the inputs on which the differentiated value depends.
        gradient: whether it is a gradient: then it is taken with respect to the only vector, if there is one.
    """
    vectors = [s for s in inputs if len(s.shape) == 1]
    if len(inputs) > 1 and gradient and len(vectors) == 1:
        return vectors[0]
    return inputs[0] if len(inputs) == 1 else None


def coordinates_of(node: Node, parameters: Sequence[str], values: Mapping[str, Node]) -> list[Node]:
    """Return the numbers with respect to which a gradient without a subscript is taken: arguments, or else x, y, z.

    Args:
        node: the differentiated value.
        parameters: the arguments, if it is a function.
        values: the values of names.
    """
    names = parameters
    inputs = {s.name for s in inputs_of(node)}
    if not names and inputs <= set(_COORDINATES):
        names = sorted(inputs)
    found = [values.get(name) for name in names]
    return [n for n in found if n is not None and n.op is SYMBOL and not n.shape]


class DifferentialRules(BigRules):
    """The rules for derivatives.

    Attributes:
        differentiate: a function that returns derivatives; None if derivatives are refused.
        differential: a function that returns the differential of a value, if differentials are read.
        varied: the names whose differentials stand in the equation.
        explained: the derivatives that are explained below a formula, by their keys.
    """

    differentiate: Differentiate | None = None
    differential: Callable[[Node], Node] | None = None
    varied: frozenset[str] = frozenset()
    explained: dict[tuple[str | None, ...], Term]

    # ------------------------------------------------------------------------------------------------ how it is written

    def derivative_of(self, tree: Tree) -> LatexDerivative | None:
        """Return a fraction as a derivative; None if it is a quotient."""
        tree = self._bare(tree)
        if not isinstance(tree, Fraction) or tree.binomial:
            return None
        above, below = self._bare(tree.above), self._bare(tree.below)
        top = above.factors if isinstance(above, ProductTree) and not any(above.signs) else (above,)
        bottom = below.factors if isinstance(below, ProductTree) and not any(below.signs) else (below,)
        # Nobody writes a factor d above and below: dC/dd is a derivative by a d that is known.
        known = self.derives and len(top) == len(bottom) == 2 and self._is_letter_d(top[0], bottom[0])
        order = 1 if known else self._differential(top[0])
        if order is None or len(bottom) < 2 or not (known or self._differential(bottom[0]) is not None):
            return None
        by: list[Tree] = []
        i = 0
        while i < len(bottom):
            times = 1 if known else self._differential(bottom[i])
            if times is None or i + 1 == len(bottom):
                return None
            function = self._bare(bottom[i + 1])
            if isinstance(function, Command) and function.name in FUNCTIONS and i + 2 < len(bottom):
                pair = bottom[i + 1 : i + 3]  # \partial \ln P
                by += [ProductTree(function.start, pair[1].end, pair, ("", ""), (False, True))] * times
                i += 3
                continue
            variable, power = self._variable(bottom[i + 1])
            by += [variable] * (power if power > 1 else times)
            i += 2
        if len(by) != order:
            raise self.refuse(
                f"a derivative of order {order} by {len(by)} variable{'s' * (len(by) != 1)}",
                tree,
                expected=r"\frac{\partial^2 f}{\partial x \partial y}, \frac{d^2 f}{dx^2}",
                cure="write the same order above and below",
            )
        of: Tree | None = None
        if len(top) > 1:
            of = (
                top[1]
                if len(top) == 2
                else ProductTree(
                    top[1].start,
                    top[-1].end,
                    top[1:],
                    ("",) * (len(top) - 1),
                    above.adjacent[1:],  # type: ignore[union-attr]
                )
            )
        return LatexDerivative(of, tuple(by))

    def key_of(self, tree: Tree) -> tuple[str | None, ...] | None:
        """Return what identifies a name, or the derivative of a name by names; None for other trees."""
        found = self.derivative_of(tree)
        if found is None:
            name = self.name_here(tree) or spelled_name(tree)
            return None if name is None else (name,)
        return None if found.of is None else self._derivative_key(found, found.of)

    def _derivative_key(self, found: LatexDerivative, of: Tree) -> tuple[str | None, ...] | None:
        names = [spelled_name(self._bare(tree)) for tree in (of, *found.by)]
        return None if None in names else ("d", *names)

    def _bare(self, tree: Tree) -> Tree:
        while isinstance(tree, Bracket) and tree.kind == "{}":
            tree = tree.items[0]
        return tree

    def _differential(self, tree: Tree) -> int | None:
        r"""Return the order for d, \partial or d^2; None for any other factor."""
        tree = self._bare(tree)
        order = 1
        if isinstance(tree, Scripted) and tree.below is None and isinstance(tree.above, NumberTree):
            order = int(tree.above.text) if tree.above.text.isdecimal() else 0
            tree = self._bare(tree.base)
        if isinstance(tree, Command) and tree.name == "partial":
            return order
        if isinstance(tree, Word) and tree.text in ("d", "D") and tree.style in ("", "upright", "operator"):
            known = tree.text in self.defined or tree.text in self.local
            return None if known or self.options["d"] == "name" else order
        return None

    def _is_letter_d(self, *trees: Tree) -> bool:
        """Tell whether trees are the letter d."""
        bare = [self._bare(tree) for tree in trees]
        return self.options["d"] != "name" and all(isinstance(t, Word) and t.text == "d" for t in bare)

    def _variable(self, tree: Tree) -> tuple[Tree, int]:
        r"""Return a variable in a denominator, and how often one differentiates with respect to it: x^2 twice.

        The variable of w^{\top} is w.
        """
        tree = self._bare(tree)
        if isinstance(tree, Scripted) and tree.above is not None and not self.is_mark(tree):
            rest = Scripted(tree.start, tree.end, tree.base, tree.below, None, tree.primes, tree.below_text)
            bare = rest if tree.below is not None or tree.below_text or tree.primes else tree.base
            if isinstance(tree.above, NumberTree) and tree.above.text.isdecimal():
                return bare, int(tree.above.text)
            if (isinstance(tree.above, Command) and tree.above.name == "top") or (
                isinstance(tree.above, Word) and tree.above.text == "T"
            ):
                return bare, 1
        return tree, 1

    def _letter_operator(self, tree: Tree) -> LatexDerivative | None:
        r"""Return the derivative that D_x, where D is no name, or \partial_x^2 is; None for anything else."""
        if not isinstance(tree, Scripted) or not tree.below or self.is_known(tree):
            return None
        base, order = self._bare(tree.base), 1
        if isinstance(base, Command) and base.name == "partial":
            order = self._differential(self._side_of(tree)) or 0
        elif not isinstance(base, Word) or base.text != "D" or self.is_known(base) or tree.above is not None:
            return None
        by = self.index_trees(tree.below, 0)
        if order < 1 or not all(self.is_known(b) for b in by):
            return None
        return LatexDerivative(None, tuple(by) * (order if len(by) == 1 else 1))

    def _side_of(self, tree: Scripted) -> Tree:
        """Return a sign with its exponent, and without what stands below it."""
        return (
            tree.base if tree.above is None else Scripted(tree.start, tree.end, tree.base, None, tree.above)
        )

    def _is_d(self, tree: Tree) -> bool:
        r"""Tell whether a factor is the d or \partial of a differential, dx, and no name of its own."""
        base = tree.base if isinstance(tree, Scripted) and tree.below is None else tree
        if isinstance(base, Command):
            return base.name == "partial"
        return isinstance(base, Word) and base.text == "d" and not self.is_known(base)

    def _moved(self, factor: Tree, after: Tree | None) -> Term | None:
        """Return a differential, dx for a known name x; None for other factors."""
        if (
            after is None
            or self.differential is None
            or not isinstance(factor, Word)
            or not self._is_d(factor)
        ):
            return None
        power = None
        if isinstance(after, Scripted) and not self.is_known(after):  # dx^2 is (dx)^2
            power = after.above if isinstance(after.above, NumberTree) else None
            after = after if power is None else self.without_primes(after)
        name = self.name_here(after)
        new = spelled_name(after) if name is None and factor.end == after.start else None
        if new is not None and len(self.varied) > 1 and new in self.varied and not self.strict:
            name = new  # dU = T dS - p dV, before anything is known of U
            self.kept(self.name(Token("NAME", new, after.start, after.end)))
            self.known.add(new)
        node = None if name is None else self.defined.get(name)
        if node is None:
            return None
        spot = Tree(factor.start, after.end)
        if len(self.varied) == 1:
            raise self.refuse(
                f"{self.text_of(spot)} is the only differential here",
                spot,
                expected="an equation of two or more: dy = 2x dx",
                cure="write the derivative, or the other differentials",
                cls=UnsupportedError,
            )
        found = Term(self.differential(node), spot.start, spot.end)
        if power is not None:
            spot = Tree(factor.start, power.end)
            found = self.kept(self.raise_to(found, self.parameter(int(power.text), power)))
        if not factor.upright:
            said = f"the differential of {name}"
            self.read_as(spot, said if power is None else f"a power of {said}", "a declaration of d")
        return found

    def _is_value_at(self, factor: Tree, after: Tree) -> bool:
        """Tell whether brackets after a name state the argument of which it is a function: y(x).

        Raises:
            UnsupportedError: if the name is an input, for which this is not known.
        """
        bracket = self.call_bracket(after) if self.derives else None
        if bracket is None or bracket.kind != "(" or len(bracket.items) != 1:
            return False
        inner, name = bracket.items[0], self.name_here(factor)
        node = None if name is None else self.defined.get(name)
        if node is None or not isinstance(inner, Word) or (isinstance(factor, Scripted) and factor.above):
            return False
        argument = self.name_here(inner)
        x = None if argument is None else self.defined.get(argument)
        if node.args:
            return x is not None and x in symbols_of([node])
        raise self.refuse(
            f"{self.text_of(factor)} is an input here, and no function of {self.text_of(inner)}",
            Tree(factor.start, after.end),
            expected=f"a formula for {self.text_of(factor)}",
            cure=f"define it as a function of {self.text_of(inner)}",
            cls=UnsupportedError,
        )

    def nabla_of(self, tree: Tree) -> tuple[int, tuple[Tree, ...]] | None:
        r"""Return the order of \nabla, and its variable; None for any other factor."""
        if isinstance(tree, Command) and tree.name == "nabla":
            return 1, ()
        if isinstance(tree, Scripted) and isinstance(tree.base, Command) and tree.base.name == "nabla":
            order = 1
            if tree.above is not None:
                if not isinstance(tree.above, NumberTree) or tree.above.text not in ("1", "2"):
                    raise self.refuse(
                        r"this power of \nabla", tree, r"\nabla or \nabla^2", "write derivatives"
                    )
                order = int(tree.above.text)
            return order, tree.below or ()
        return None

    # ------------------------------------------------------------------------------------------------------ its meaning

    def derivative(self, written: LatexDerivative, of: Tree, whole: Tree) -> Steps[Term]:
        """Return a derivative that is written as a fraction."""
        key = self._derivative_key(written, of)
        if key in self.explained:
            return Term(self.explained[key].node, whole.start, max(whole.end, of.end))
        y = yield self.value(of)
        by = list(zip((yield self.values(written.by)), written.by, strict=True))
        spot = Tree(whole.start, max(whole.end, of.end))
        inner = self._inner(by[0][0].node) if len(by) == 1 and not y.node.shape else None
        if inner is None:
            return self.differentiated(y, by, spot)
        x = Term(inner, spot.start, spot.end)  # by \ln x: the derivative by x over that of \ln x
        slopes = [self.differentiated(term, [(x, by[0][1])], spot) for term in (y, by[0][0])]
        return self.kept(self.divide(*slopes))

    def _inner(self, by: Node) -> Node | None:
        """Return the only input of a formula that a derivative is by, where no name stands for it."""
        if not by.args or by.shape or by in self.defined.values() or by.op is OPS["gather"]:
            return None
        found = inputs_of(by)
        return found[0] if len(found) == 1 and not found[0].shape else None

    def gradient(self, order: int, below: Sequence[Tree], of: Tree, whole: Tree) -> Steps[Term]:
        r"""Return \nabla_w of a value; two of them give the Hessian."""
        y = yield self.value(of)
        spot = Tree(whole.start, of.end)
        if below:
            variables = list(zip((yield self.values(below)), below, strict=True))
        else:
            variables = [(self.only_input(y, of, whole, gradient=True), whole)]
        if len(variables) == order == 2:
            return self.differentiated(y, variables, spot)
        if len(variables) > 1:
            raise self.refuse(
                r"\nabla by several names", whole, r"one name: \nabla_w L", "write one gradient for each"
            )
        return self.differentiated(y, variables * order, spot)

    def only_input(self, y: Term, of: Tree, whole: Tree, *, gradient: bool = False) -> Term:
        r"""Return the input with respect to which a derivative without a variable is taken.

        Args:
            y: the differentiated value.
            of: the formula as it is written.
            whole: the sign of the derivative.
            gradient: whether the sign is \nabla: then the only vector is the variable, even if there are numbers or
                matrices.
        """
        inner = self._bare(of)
        if isinstance(inner, ProductTree) and len(inner.factors) == 2:
            bracket = self.call_bracket(inner.factors[1])
            word = base_of(bracket.items[0]) if bracket is not None and len(bracket.items) == 1 else None
            name = None if word is None or bracket is None else self.name_here(bracket.items[0])
            if name is not None and bracket is not None:
                return self.named(name, bracket.items[0])
        inputs = inputs_of(y.node)
        found = sole_input(inputs, gradient=gradient)
        if found is None or found is y.node:
            said = ", ".join(s.name for s in inputs[:6]) or "nothing"
            depends = "is an input itself" if y.node in inputs else f"depends on {said}"
            choices = [
                rf"\nabla_{{{s.name}}}" if gradient else rf"\frac{{d}}{{d{s.name}}}" for s in inputs[:6]
            ]
            sign = r"\nabla" if gradient else "the prime"
            raise self.refuse(
                f"{sign} says not by what, and {self.text_of(of)} {depends}",
                whole,
                expected=one_of(choices) if choices and y.node not in inputs else r"\nabla_w L",
                cure="write the name below the sign" if gradient else "write the derivative as a fraction",
                cls=UnsupportedError,
            )
        what, otherwise = ("gradient", r"\nabla_{{{}}}") if gradient else ("derivative", r"\frac{{d}}{{d{}}}")
        self.read_as(whole, f"the {what} by {found.name}", otherwise.format(found.name))
        return Term(found, whole.start, whole.end)

    def differentiated(self, y: Term, by: Sequence[tuple[Term, Tree]], whole: Tree) -> Term:
        """Return the derivative with respect to one variable after the other."""
        if self.differentiate is None:
            raise self.refuse(
                "a derivative stands here",
                whole,
                cure="write the formula of the derivative",
                cls=UnsupportedError,
            )
        node = y.node
        for variable, tree in by:
            node = self._by_one(node, variable.node, tree)
        found = self.term(node, whole.start, whole.end)
        self.record_derivative(node, y.node, [variable.node for variable, _ in by])
        return found

    def _by_one(self, y: Node, x: Node, tree: Tree) -> Node:
        assert self.differentiate is not None
        if x.op is OPS["gather"]:  # the entry of the derivative with respect to the array
            array, *places = x.args
            if y.shape:
                raise self.refuse(
                    "the derivative of an array by an entry",
                    tree,
                    expected="a number above",
                    cure="write an entry above",
                    cls=ShapeError,
                )
            return apply(x.op, (self.differentiate(y, array), *places), x.params)
        if x.op is not SYMBOL and (not x.args or x not in self.defined.values()):
            raise self.refuse(
                f"{self.text_of(tree)} is no variable",
                tree,
                expected="a declared or defined name",
                cure="give it a name on a line above",
                cls=UnknownNameError,
            )
        return self.differentiate(y, x)
