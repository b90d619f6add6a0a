r"""Functions of values: with an index, an exponent or primes, and functions that the text defines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgrad.frontend.expressions.calls import call
from symgrad.frontend.latex.meaning.names import spelled_name
from symgrad.frontend.latex.meaning.scripts import ScriptRules
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Bracket,
    Command,
    NumberTree,
    ProductTree,
    Scripted,
    Slice,
    SumTree,
    Tree,
    Word,
)
from symgrad.frontend.limits import CALL_DEPTH
from symgrad.frontend.tokens.terms import Argument, ItemList, Keyword, NoneLiteral, Term, Token
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Declaration
from symgrad.ops.array.layout import expand
from symgrad.support.errors import Cure, NestingError, ShapeError, UnsupportedError

_INVERSES = {
    "sin": "asin", "cos": "acos", "tan": "atan", "sec": "asec", "csc": "acsc", "cot": "acot", "sinh": "asinh",
    "cosh": "acosh", "tanh": "atanh", "coth": "acoth", "erf": "erfinv", "erfc": "erfcinv", "ndtr": "ndtri",
    "sigmoid": "logit", "sech": "asech", "csch": "acsch",
}  # fmt: skip

_OF_ENTRIES = {"mean": "mean", "var": "variance", "std": "standard deviation"}
_SHAPED = ("reshape", "broadcast_to", "transpose", "one_hot", "scatter_add")


@dataclass(frozen=True, slots=True)
class LatexFunction:
    """The definition of a function in a text: f(x) = x^2.

    Args:
        name: the name of the function.
        parameters: the names of its arguments.
        body: the formula, which is read anew at every call.
    """

    name: str
    parameters: tuple[str, ...]
    body: Tree


ORDERED = {
    "J": "jv", "Y": "yv", "I": "iv", "K": "kv", "j": "spherical_jn", "E": "expint", "Li": "polylog",
}  # fmt: skip
"""Functions with their first argument as a subscript."""


class AppliedRules(ScriptRules):
    """The rules for functions of values."""

    defined_here: dict[str, LatexFunction]
    _calls = 0

    def differentiated(self, y: Term, by: Sequence[tuple[Term, Tree]], whole: Tree) -> Term:
        """Return a derivative."""
        raise NotImplementedError

    def function_here(self, tree: Tree) -> LatexFunction | None:
        """Return the function of the text that a factor names; scripts above it are ignored."""
        plain = tree
        if isinstance(tree, Scripted):
            plain = Scripted(tree.start, tree.end, tree.base, tree.below, None, 0, tree.below_text)
            if tree.below is None and not tree.below_text:
                plain = tree.base
        spelled = spelled_name(plain, apart=self.options["styles"] == "apart")
        return None if spelled is None else self.defined_here.get(spelled)

    def applied(self, spelled: str, function: Tree, bracket: Bracket, end: int) -> Steps[Term]:
        """Return a function of the values in brackets."""
        if spelled in ("pad", "unslice") and isinstance(function, Scripted) and function.below:
            return (yield self._padded(function, bracket, end))
        values = yield self.values(bracket.items)
        if "|" in bracket.separators and spelled not in ("ellipkinc", "ellipeinc"):
            raise self.refuse(
                "a bar in the arguments of a function",
                bracket,
                expected="commas",
                cure="write f(x, y), or the density itself",
            )
        return (yield self._made(spelled, function, values, end))

    def _padded(self, function: Scripted, bracket: Bracket, end: int) -> Steps[Term]:
        r"""Return values at the places of a section, and zeros elsewhere: \operatorname{pad}_{n}(x; 1:)."""
        value = yield self.value(bracket.items[0])
        triples: list[ItemList] = []
        for item in bracket.items[1:]:
            parts = item.parts if isinstance(item, Slice) else (item,)
            nothing = NoneLiteral(item.start, item.end)
            given = iter((yield self.values(part for part in parts if part is not None)))
            found = [nothing if part is None else next(given) for part in parts]
            if isinstance(item, NumberTree):
                found.append(self.parameter(int(item.text) + 1, item))
            found += [nothing] * (3 - len(found))
            triples.append(ItemList(tuple(found), item.start, item.end, False))
        sizes = yield self._sizes(function.below or ())
        start = function.start
        shape = ItemList(tuple(sizes), start, end, False)
        return self.call_of(
            "unslice", [value, ItemList(tuple(triples), start, end, False), shape], start, end
        )

    def _made(self, spelled: str, function: Tree, values: list[Term], end: int) -> Steps[Term]:
        """Return a function of values, with the scripts that are attached to the function."""
        scripts = (
            function if isinstance(function, Scripted) else Scripted(function.start, function.end, function)
        )
        start = function.start
        here = self.function_here(function)
        if scripts.primes or self.order_above(scripts.above) is not None:
            times = scripts.primes or self.order_above(scripts.above) or 1
            if spelled == "digamma" and not scripts.primes:
                order = self.parameter(times, scripts)
                return self.call_of("polygamma", [order, *values], start, end)
            if spelled in ("airyai", "airybi") and times == 1:
                return self.call_of(f"{spelled}prime", values, start, end)
            return (yield self._slope(spelled, scripts, here, values, times, end))
        above = scripts.above
        if isinstance(above, Command) and above.name == "leftarrow":
            flag = Keyword(Token("NAME", "reverse", start, end), self.true(Token("TRUE", "True", start, end)))
            return self.call_of(spelled, [*values, *self._axes(scripts, start, end), flag], start, end)
        if here is not None:
            if self.derives and isinstance(above, Bracket) and above.kind == "(":
                raise self.refuse(
                    f"{self.text_of(function)} is a derivative whose order is no number",
                    function,
                    expected=f"{here.name}^{{(2)}}",
                    cure="write the order as a number",
                    cls=UnsupportedError,
                )
            result = yield self.expanded(here, values, function, end)
        else:
            if self._is_inverse(above) and not scripts.below and self.options["inverse"] == "function":
                other = _INVERSES.get(spelled)
                if other is None:
                    raise self.refuse(
                        f"{self.text_of(function)}: the inverse function of {spelled} has no name here",
                        function,
                        cure=Cure(
                            f'write 1/{spelled}(x) as a fraction, or inverse="reciprocal"',
                            command=f"write 1/{spelled}(x) as a fraction, or --read inverse=reciprocal",
                        ),
                        cls=UnsupportedError,
                    )
                self.read_as(function, f"the inverse function {other}", 'inverse="reciprocal"')
                return self.call_of(other, values, start, end)
            result = yield self._with_index(spelled, scripts, values, end)
        if above is None:
            return result
        if isinstance(above, NumberTree):  # \sin^2 is the square of each value, also for a matrix
            return self.kept(self.raise_to(result, (yield self.value(above))))
        return (yield self.raised(result, above, scripts))

    def _is_inverse(self, above: Tree | None) -> bool:
        if not isinstance(above, SumTree) or above.signs != ("-",):
            return False
        one = above.terms[0]
        return isinstance(one, NumberTree) and one.text == "1"

    def parameter(self, value: int, tree: Tree) -> Term:
        return self.number(Token("NUMBER", str(value), tree.start, tree.end))

    def call_of(self, spelled: str, arguments: Sequence[Argument], start: int, end: int) -> Term:
        return self.kept(call(self, Token("NAME", spelled, start, end), arguments, end))

    def _axes(self, scripts: Scripted, start: int, end: int) -> list[Keyword]:
        """Return the axes in a subscript, as an argument."""
        if scripts.below is None:
            return []
        axes: list[Term] = []
        for item in scripts.below:
            if not isinstance(item, NumberTree) or not item.text.isdecimal():
                raise self.refuse(
                    f"{self.text_of(item)} is no axis",
                    item,
                    expected="the number of an axis, from 0",
                    cure="write a number",
                )
            axes.append(self.parameter(int(item.text), item))
        value = axes[0] if len(axes) == 1 else ItemList(tuple(axes), start, end, False)
        return [Keyword(Token("NAME", "axis", start, end), value)]

    def _with_index(self, spelled: str, scripts: Scripted, values: list[Term], end: int) -> Steps[Term]:
        """Return a call with the subscript of the function: a base, an order, a shape, or axes."""
        start, below = scripts.start, scripts.below
        if spelled in ("log", "log10", "log2") and len(values) == 1:
            return (yield self._logarithm(spelled, below, values[0], start, end))
        if spelled in ORDERED.values() and below is not None:
            order = yield self.value(below[0])
            if spelled == "expint" and order.node.is_number(1):
                return self.call_of("exp1", values, start, end)
            return self.call_of(spelled, [order, *values], start, end)
        if spelled == "dawsn" or spelled.endswith("_frechet"):
            return self.call_of(spelled, values, start, end)
        if spelled in _SHAPED and below is not None:
            return (yield self._shaped(spelled, below, values, start, end))
        if spelled == "concatenate":
            if any(v.node.shape for v in values):  # a number is one more entry
                values = [v if v.node.shape else Term(expand(v.node, [0]), v.start, v.end) for v in values]
            items = ItemList(tuple(values), start, end, False)
            return self.call_of(spelled, [items, *self._axes(scripts, start, end)], start, end)
        if spelled in ("max", "min") and len(values) > 1 and below is None:
            return self.call_of(f"{spelled}imum", values, start, end)
        if spelled in ("max", "min") and below is None and not values[0].node.shape:
            return values[0]
        if spelled in ("mean", "var", "std") and not values[0].node.shape:
            raise self.refuse(
                f"a {_OF_ENTRIES[spelled]} of one number",
                scripts,
                expected="an array",
                cure=f"declare the array, or write the {_OF_ENTRIES[spelled]} out",
                cls=ShapeError,
            )
        if spelled in ("softmax", "log_softmax") and below is None and len(values[0].node.shape) > 1:
            self.read_as(scripts, "over all entries", rf"\operatorname{{{spelled}}}_{{1}} for each row")
        return self.call_of(spelled, [*values, *self._axes(scripts, start, end)], start, end)

    def _logarithm(
        self, spelled: str, below: tuple[Tree, ...] | None, value: Term, start: int, end: int
    ) -> Steps[Term]:
        if below is None:
            base = self.options["log"]
            if spelled == "log" and base != "e":
                return self.call_of(f"log{base}", [value], start, end)
            return self.call_of(spelled, [value], start, end)
        base = below[0]
        if isinstance(base, Word) and base.text == "e" and not self.is_known(base):
            return self.call_of("log", [value], start, end)
        if isinstance(base, NumberTree) and base.text in ("2", "10"):
            return self.call_of(f"log{base.text}", [value], start, end)
        return self.call_of("log", [value, (yield self.value(base))], start, end)

    def _shaped(
        self, spelled: str, below: tuple[Tree, ...], values: list[Term], start: int, end: int
    ) -> Steps[Term]:
        r"""Return a call whose subscript is a shape: \operatorname{reshape}_{n \times 5}(x)."""
        sizes = yield self._sizes(below)
        shape = ItemList(tuple(sizes), start, end, False)
        if spelled == "one_hot":
            return self.call_of(spelled, [*values, sizes[0]], start, end)
        if spelled == "scatter_add":
            axes = [self.parameter(k, below[0]) for k in range(len(values) - 1)]
            which = axes[0] if len(axes) == 1 else ItemList(tuple(axes), start, end, False)
            named = [
                Keyword(Token("NAME", "axes", start, end), which),
                Keyword(Token("NAME", "shape", start, end), shape),
            ]
            return self.call_of(spelled, [*values, *named], start, end)
        return self.call_of(spelled, [*values, shape], start, end)

    def _sizes(self, below: Sequence[Tree]) -> Steps[list[Term]]:
        return (yield self.values(part for item in below for part in self.sizes_in(item)))

    def sizes_in(self, tree: Tree) -> tuple[Tree, ...]:
        r"""Return the sizes of a shape n \times 5."""
        if (
            isinstance(tree, ProductTree)
            and all(s in ("", "times") for s in tree.signs)
            and "times" in tree.signs
        ):
            return tree.factors
        return (tree,)

    def read_as(self, tree: Tree, meaning: str, option: str) -> None:
        """Note how an ambiguous place was read.

        In the body of a function this is done where the function is defined.
        """
        if not self._calls:
            super().read_as(tree, meaning, option)

    def expanded(self, function: LatexFunction, values: list[Term], tree: Tree, end: int) -> Steps[Term]:
        """Return the body of a function of the text for given arguments."""
        count = len(function.parameters)
        if len(values) != count:
            raise self.refuse(
                f"{function.name} takes {count} argument{'s' * (count != 1)}, got {len(values)}",
                tree,
                expected=f"{function.name}({', '.join(function.parameters)})",
                cure="write a value for each of its arguments",
            )
        self._calls += 1
        if self._calls > CALL_DEPTH:
            raise self.refuse(
                f"calls inside calls, more than {CALL_DEPTH} deep",
                tree,
                cure="give values names that are used more than once",
                cls=NestingError,
            )
        given = dict(zip(function.parameters, values, strict=True))
        places = self._own_inputs(given) if self.derives else {}
        kept = {name: Term(x, tree.start, end) for name, x in places.items()}
        outer, self.local = self.local, {**given, **kept}
        found = yield self.value(function.body)
        self.local = outer
        self._calls -= 1
        (node,) = substitute([found.node], {x: given[name].node for name, x in places.items()})
        return type(found)(node, tree.start, end)

    def _own_inputs(self, given: Mapping[str, Term]) -> dict[str, Node]:
        """Return the inputs that parameters are outside of a call: names in the body may be formulas of them."""
        known = {name: self.defined.get(name) for name in given}
        return {
            name: x
            for name, x in known.items()
            if x is not None and x.op is SYMBOL and x.shape == given[name].node.shape
        }

    def _slope(
        self,
        spelled: str,
        scripts: Scripted,
        here: LatexFunction | None,
        values: list[Term],
        times: int,
        end: int,
    ) -> Steps[Term]:
        """Return the derivative of a function at an argument: f'(x)."""
        if len(values) != 1:
            raise self.refuse(
                f"{self.text_of(scripts)}: the derivative of a function of {len(values)} arguments",
                scripts,
                expected="one argument before a prime",
                cure=r"write \frac{\partial f}{\partial x}",
            )
        at = values[0]
        if at.node.shape:
            raise self.refuse(
                f"{self.text_of(scripts)} at an array",
                scripts,
                expected="a number as the argument",
                cure=r"write \frac{\partial f}{\partial x}, or \nabla f(x)",
                cls=ShapeError,
            )
        inner = Term(symbol(Declaration("__at_")), at.start, at.end)
        bare = Scripted(scripts.start, scripts.end, scripts.base, scripts.below, None, 0, scripts.below_text)
        if here is not None:
            body = yield self.expanded(here, [inner], scripts, end)
        else:
            body = yield self._with_index(spelled, bare, [inner], end)
        return self.slope_at(body, inner, at, times, scripts, end)

    def slope_at(self, body: Term, inner: Term, at: Term, times: int, scripts: Scripted, end: int) -> Term:
        """Return the derivative at a value of a formula of ``inner``, a variable that no other formula reads."""
        place = inner.node
        if at.node.op is SYMBOL and at.node not in set(symbols_of([body.node])):
            # The derivative is taken with respect to a name, as in df/dx, which `differentiate` then receives.
            value = self.term(substitute([body.node], {place: at.node})[0], at.start, at.end)
            return self.differentiated(value, [(at, scripts)] * times, scripts)
        slope = self.differentiated(body, [(inner, scripts)] * times, scripts)
        found: Node = substitute([slope.node], {place: at.node})[0]
        return self.term(found, scripts.start, end)
