r"""Derivatives as derivations write them: at a point, of Jacobians, in coordinates, and with dots for time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from symgrad.frontend.latex.meaning.functions.differentials import LatexDerivative, coordinates_of
from symgrad.frontend.latex.meaning.functions.function_values import LatexFunction
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.frontend.latex.meaning.lines import LatexReader
from symgrad.frontend.latex.meaning.names import base_of, entry_name, spelled_name
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Accent,
    Bracket,
    Command,
    Evaluated,
    NumberTree,
    ProductTree,
    Scripted,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.frontend.tokens.terms import ItemList, Term
from symgrad.ir.graph import OPS, SYMBOL, Node, number
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.traverse import substitute, topological
from symgrad.support.errors import UnsupportedError, placed_error
from symgrad.support.source import Span


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


_SIGMA = re.compile(r"(?<![$(])\\sigma(?:\^\{?\d\}?)?(?!\s*(?:\\left)?\s*[(\[]|\s*[_'^\\]|[a-zA-Z\d])")


@dataclass(frozen=True, slots=True)
class _BodyElsewhere(Tree):
    """Stands for the formula of a function that is defined elsewhere."""

    name: str


class DerivationReader(TimeDerivativeReader):
    r"""Reads f'|_{x=1}, (\partial F/\partial V)_T, \nabla f(x, y), \Delta u, \partial(x, y)/\partial(r, s).

    Attributes:
        infers: whether letters beside arrays may be vectors.
        inferred: whether one was taken to be one.
        has_matrices: whether the text has any; else I is a name like others.
        constants: the names that the current derivative holds constant.
        moments: functions that return moments over random inputs, by their letters: E, Var.
        functions_elsewhere: the arguments of functions that are defined elsewhere, by the names of the functions.
        values_elsewhere: the values of these names and arguments.
    """

    infers = True
    inferred = False
    has_matrices = True
    constants: Sequence[str] = ()
    moments: Mapping[str, Callable[[Node], Node]] = {}
    functions_elsewhere: Mapping[str, Sequence[str]] = {}
    values_elsewhere: Mapping[str, Node] = {}

    def value(self, tree: Tree) -> Steps[Term]:
        if isinstance(tree, Evaluated):
            return self._evaluated(tree)
        if isinstance(tree, _BodyElsewhere):
            return self._body(tree)
        return super().value(tree)

    def function_here(self, tree: Tree) -> LatexFunction | None:
        found = super().function_here(tree)
        if found is not None:
            return found
        base = tree.base if isinstance(tree, Scripted) and tree.below is None else tree
        name = spelled_name(base)
        parameters = self.functions_elsewhere.get(name or "")
        if name is None or parameters is None:
            return None
        return LatexFunction(name, tuple(parameters), _BodyElsewhere(tree.start, tree.end, name))

    def _body(self, tree: _BodyElsewhere) -> Steps[Term]:
        """Return the value of a function that is defined elsewhere, for the arguments of the current call."""
        values = self.values_elsewhere
        places = {values[p]: self.local[p].node for p in self.functions_elsewhere[tree.name]}
        return self.term(substitute([values[tree.name]], places)[0], tree.start, tree.end)
        yield

    def _is_current(self, factor: Tree) -> bool:
        return not self.has_matrices or super()._is_current(factor)

    def letter(self, tree: Tree) -> Steps[Term]:
        mean = self._mean(tree)
        return (yield super().letter(tree)) if mean is None else mean

    def _mean(self, tree: Tree) -> Term | None:
        r"""Return the mean that a bar above the name of a list of numbers is, where nothing defines it."""
        if not isinstance(tree, Accent) or tree.mark != "bar" or self.name_here(tree) is not None:
            return None
        name = self.name_here(tree.body)
        array = None if name is None else self.defined.get(name)
        if name is None or array is None or len(array.shape) != 1:
            return None
        self.read_as(tree, f"the mean of {name}", f"a definition of {spelled_name(tree)}")
        return self.call_of("mean", [Term(array, tree.start, tree.end)], tree.start, tree.end)

    def _evaluated(self, tree: Evaluated) -> Steps[Term]:
        body = yield self.value(tree.body)
        places: dict[Node, Node] = {}
        for point in tree.at:
            x = self._input(point.sides[0])
            if x is None:
                raise self.refuse(
                    f"{self.text_of(point.sides[0])} is no input here",
                    point,
                    expected="an input, and its value: x = 1",
                    cure="write the value of a name that the formula reads",
                )
            places[x] = (yield self.value(point.sides[1])).node
        return self.term(substitute([body.node], places)[0], tree.start, tree.end)

    def _input(self, tree: Tree) -> Node | None:
        name = self.name_here(tree)
        node = None if name is None else self.defined.get(name)
        return node if node is not None and node.op is SYMBOL else None

    def _letter_function(self, word: Word, bracket: Bracket) -> str | None:
        if word.text == "sigma" and _SIGMA.search(self.around) is not None:
            return None  # \sigma^2 (x - \mu)^2 where \sigma is a value elsewhere
        return super()._letter_function(word, bracket)

    def spelled_function(self, tree: Tree, after: Tree | None) -> str | None:
        is_moment = isinstance(tree, Word) and tree.text in self.moments
        return None if is_moment or self._stands_in(tree, after) else super().spelled_function(tree, after)

    def _stands_in(self, tree: Tree, after: Tree | None) -> bool:
        """Tell whether a function stands in the brackets behind it without an argument: f(1 - f) is a product."""
        bracket, here = self.call_bracket(after), self.function_here(tree)
        if bracket is None or here is None or here.name not in self.defined:
            return False
        if isinstance(tree, Scripted) and (tree.primes or tree.above is not None):
            return False
        if not any(self._is_value_in(here.name, item) for item in bracket.items):
            return False
        self.read_as(Tree(tree.start, bracket.end), "a product", "another name for the function")
        return True

    def _is_value_in(self, name: str, tree: Tree) -> bool:
        """Tell whether the name of a function stands in a tree as a value, with no brackets behind it."""
        called: set[int] = set()
        for part in trees_in([tree]):
            if isinstance(part, ProductTree):
                pairs = pairwise(part.factors)
                called |= {f.start for f, after in pairs if isinstance(after, Bracket)}
            here = self.function_here(part) if isinstance(part, Word | Scripted) else None
            if here is not None and here.name == name and part.start not in called:
                return True
        return False

    def infer_arrays(self, trees: Sequence[Tree]) -> None:
        r"""Declare vectors beside arrays, c of c^{\top} v and q of K q, where nothing is declared."""
        super().infer_arrays(trees)
        for part in trees_in(trees):
            if not isinstance(part, ProductTree) or not self.infers:
                continue
            for k, (one, other) in enumerate(pairwise(part.factors)):
                if not part.signs[k + 1]:
                    self._infer_transposed(one, other)
                    self._infer_behind(one, other)

    def _infer_transposed(self, one: Tree, other: Tree) -> None:
        """Declare a transposed letter before an array as a vector."""
        shape = self._shape_of(other)
        top = isinstance(one, Scripted) and isinstance(one.above, Command) and one.above.name == "top"
        if top and isinstance(one, Scripted) and shape:
            self._declare_vector(self.without_primes(one), shape[0])

    def _infer_behind(self, one: Tree, other: Tree) -> None:
        """Declare a letter behind a matrix, where numbers do not stand, as a vector; t is a time, as in e^{At}."""
        turned = isinstance(one, Scripted) and one.above is not None and one.below is None
        shape = self._shape_of(one.base if turned and isinstance(one, Scripted) else one)
        if len(shape) != 2 or spelled_name(other) == "t":
            return
        if turned and isinstance(one, Scripted):
            if not isinstance(one.above, Command) or one.above.name != "top":
                return
            shape = shape[::-1]
        self._declare_vector(other, shape[1])

    def _shape_of(self, tree: Tree) -> Shape:
        name = self.name_here(tree)
        node = None if name is None else self.defined.get(name)
        return () if node is None else node.shape

    def _declare_vector(self, tree: Tree, size: Size) -> None:
        """Declare a small letter that nothing is known of as a vector."""
        spelled = spelled_name(tree)
        indexed = isinstance(tree, Scripted) and any(not isinstance(i, NumberTree) for i in tree.below or ())
        if spelled is None or indexed or not spelled[0].islower() or self.is_known(tree):
            return
        parts = entry_name(tree)
        if parts is not None and self._shape_of(parts[0]):
            return  # an entry of a known array
        word = base_of(tree)
        if word is not None and not word.upright:
            self.declare_array(Word(tree.start, tree.end, spelled), (size,), Span(tree.start, tree.end))
            self.inferred = True

    def _special(self, factor: Tree, after: Tree | None) -> Steps[tuple[Term, int] | None]:
        make = (
            self.moments.get(factor.text) if isinstance(factor, Word) and not self.is_known(factor) else None
        )
        bracket = after.base if isinstance(after, Scripted) and after.below is None else after
        if make is None or not isinstance(bracket, Bracket) or len(bracket.items) != 1:
            return (yield super()._special(factor, after))
        inner = yield self.value(bracket.items[0])
        try:
            found = self.term(make(inner.node), factor.start, bracket.end)
        except UnsupportedError as error:
            raise placed_error(error, self.location(factor.start, bracket.end)) from None
        if isinstance(after, Scripted) and after.above is not None:
            found = yield self.raised(found, after.above, after)
        return found, 2

    def scripted(self, tree: Scripted) -> Steps[Term]:
        base = tree.base
        if (
            isinstance(base, Bracket)
            and len(base.items) == 1
            and tree.above is None
            and tree.below
            and self.derivative_of(base.items[0]) is not None
        ):
            self._check_constant(tree.below)
            self.constants = [
                n for i in self.index_trees(tree.below, 0) if (n := spelled_name(i)) is not None
            ]
            found = yield self.value(base)
            self.constants = ()
            return found
        return (yield super().scripted(tree))

    def _check_constant(self, below: Sequence[Tree]) -> None:
        """Refuse to hold a computed value constant: the derivative would be in other coordinates."""
        for item in self.index_trees(below, 0):
            name = self.name_here(item)
            if name is not None and name in self.defined and self._input(item) is None:
                raise self.refuse(
                    f"{self.text_of(item)} is held constant, and is a formula of other inputs here",
                    item,
                    expected="an input",
                    cure=f"write the formula above as a function of {self.text_of(item)}",
                    cls=UnsupportedError,
                )

    def gradient(self, order: int, below: Sequence[Tree], of: Tree, whole: Tree) -> Steps[Term]:
        if below:
            return (yield super().gradient(order, below, of, whole))
        y = yield self.value(of)
        laplacian = isinstance(whole, Word) and whole.text == "Delta"
        if laplacian and not y.node.shape and any(len(s.shape) == 1 for s in inputs_of(y.node)):
            hessian = yield super().gradient(order, below, of, whole)
            if any(n.op is OPS["where"] for n in topological([hessian.node])):
                raise self.refuse(
                    f"the Laplacian of {self.text_of(of)}, which has no second derivative everywhere",
                    Tree(whole.start, of.end),
                    expected=r"a formula without \|x\|",
                    cure="write the formula in coordinates",
                    cls=UnsupportedError,
                )
            return self.call_of("trace", [hessian], whole.start, of.end)
        by = [] if y.node.shape else self._coordinates(y.node, of)
        if len(by) < 2:
            return (yield super().gradient(order, below, of, whole))
        spot = Tree(whole.start, of.end)
        slopes = [self.differentiated(y, [(x, whole)], spot) for x in by]
        self.read_as(whole, f"by {', '.join(self.said(x.node) for x in by)}", r"\nabla_w with a name below")
        if order == 1:
            return self._stacked(slopes, spot)
        if len(self.like) == 2:
            rows = [[self.differentiated(d, [(x, whole)], spot) for x in by] for d in slopes]
            return self._stacked([self._stacked(row, spot) for row in rows], spot)
        total, *rest = (self.differentiated(d, [(x, whole)], spot) for d, x in zip(slopes, by, strict=True))
        for term in rest:
            total = self.add(total, term)
        return self.kept(total)

    def _stacked(self, terms: Sequence[Term], spot: Tree) -> Term:
        return self.call_of(
            "stack", [ItemList(tuple(terms), spot.start, spot.end, False)], spot.start, spot.end
        )

    def _coordinates(self, y: Node, of: Tree) -> list[Term]:
        function = of.factors[0] if isinstance(of, ProductTree) else of
        name = self.name_here(function)
        here = None if name is None else self.defined_here.get(name)
        parameters = self.functions_elsewhere.get(name or "", ()) if here is None else here.parameters
        return [Term(n, of.start, of.end) for n in coordinates_of(y, parameters, self.defined)]

    def laplacian_of(self, factor: Tree, after: Tree | None) -> bool:
        r"""Tell whether \Delta stands before a formula: then it is the Laplacian."""
        if not isinstance(factor, Word) or factor.text != "Delta" or after is None or self.is_known(factor):
            return False
        name = self.name_here(after)
        node = None if name is None else self.defined.get(name)
        return node is not None and bool(node.args) and not node.shape

    def derivative(self, written: LatexDerivative, of: Tree, whole: Tree) -> Steps[Term]:
        above, below = of, written.by[0]
        if not (
            isinstance(above, Bracket)
            and isinstance(below, Bracket)
            and len(written.by) == 1
            and len(above.items) == len(below.items) > 1
        ):
            return (yield super().derivative(written, of, whole))
        values, by = (yield self.values(above.items)), (yield self.values(below.items))
        spot = Tree(whole.start, max(whole.end, of.end))
        rows = [
            [self.differentiated(y, [(x, tree)], spot).node for x, tree in zip(by, below.items, strict=True)]
            for y in values
        ]
        return self.term(_determinant(rows), spot.start, spot.end)


def _determinant(rows: Sequence[Sequence[Node]]) -> Node:
    """Return the determinant by expansion along the first row: a product of numbers for each permutation."""
    if len(rows) == 1:
        return rows[0][0]
    total = number(0)
    for k, entry in enumerate(rows[0]):
        minor = _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
        total = OPS["add"](total, OPS["mul"](entry, OPS["mul"](number(-1 if k % 2 else 1), minor)))
    return total
