"""Semantic actions of lines: declarations, random inputs, assignments, the result."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symgrad.frontend.expressions.intervals import IntervalEnd, Intervals
from symgrad.frontend.scope import INFINITIES
from symgrad.frontend.tokens.terms import Argument, ItemList, Keyword, Term, Token, span_of
from symgrad.ir.bounds import check_axes
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.listing import suggest
from symgrad.ir.sizes import Shape, Size, nonnegative, size_product
from symgrad.ir.traverse import as_parameter, topological
from symgrad.ir.types import DISTRIBUTIONS, DOMAINS, Declaration, Distribution, Domain
from symgrad.rewrite.facts.distribution_params import misfit
from symgrad.support.errors import (
    Cure,
    DeclarationError,
    InternalError,
    ProgramSyntaxError,
    RedefinitionError,
    ShapeError,
    UnsupportedError,
)
from symgrad.support.source import Span


class DeclarationRules(Intervals):
    """The rules for lines."""

    def start(self, *_: object) -> None:
        """Finish the text as a whole; the work for every line is already done."""

    def names(self, *names: Token) -> tuple[Token, ...]:
        self._begin()
        return names

    def target(self, name: Token) -> Token:
        self._begin()
        self._claim(name)
        self.target_name = str(name)
        return name

    def _begin(self) -> None:
        """Begin a definition.

        With a definition, the text is a program and no longer a bare formula. So names in it that were used without a
        declaration are errors.
        """
        self._only_last()
        self.strict = True
        for token in self.free.values():
            self.unknown(token)

    def _only_last(self) -> None:
        if self.result is not None:
            self.wrong(
                ProgramSyntaxError,
                "an expression without a name stands before the last line",
                self.result.start,
                self.result.end,
                expected="at most one, as the last line: the result",
                cure=f"give it a name: {self.unused('y')} = ...",
            )

    def no_size(self, what: str, term: Term, expected: str) -> None:
        """Record the error for a value that stands where a size is expected."""
        cure = "write a whole number, or the name of a size"
        if term.node.op is SYMBOL and term.node.name in self.defined:
            cure = f"declare it as a size: {term.node.name} : size"
        self.wrong(
            ProgramSyntaxError, f"{what} is no size", term.start, term.end, expected=expected, cure=cure
        )

    def _claim(self, name: Token, node: Node | None = None) -> None:
        """Refuse a name that is in use; an identical declaration of a symbol is allowed."""
        spelled = str(name)
        if spelled == "pi":
            self.wrong_token(
                RedefinitionError, "'pi' is the constant 3.14159...", name, cure="choose another name"
            )
        elif spelled in self.name_spans:
            line, column = self.source.line_column(self.name_spans[spelled].start)
            how = "declared" if spelled in self.symbols else "assigned"
            self.wrong_token(
                RedefinitionError,
                f"'{spelled}' is already {how} in line {line}, column {column}",
                name,
                expected="each name defined once",
                cure=f"choose another name, such as {self.unused(spelled)}",
            )
        elif spelled in self.sizes:
            self.wrong_token(
                RedefinitionError,
                f"'{spelled}' is already the size of an array",
                name,
                expected="one meaning for one name",
                cure=f"choose another name, such as {self.unused('count_' + spelled)}",
            )
        elif spelled in self.given and self.given[spelled] is not node:
            self.wrong_token(
                RedefinitionError,
                f"'{spelled}' is already defined before this text",
                name,
                expected="each name defined once",
                cure=f"choose another name, such as {self.unused(spelled)}",
            )

    def _define(self, name: Token, node: Node) -> None:
        spelled = str(name)
        self.defined[spelled] = node
        self.name_spans[spelled] = Span(*span_of(name))

    def assign(self, name: Token, value: Term) -> None:
        self.target_name = None
        if self.error is None:
            self.assignments[str(name)] = value.node
            self._define(name, self.stands_for(str(name), value.node))

    def stands_for(self, _name: str, node: Node) -> Node:
        """Return the node that stands for an assigned name in the following lines."""
        return node

    def bare(self, value: Term) -> None:
        self._only_last()
        self.result = value

    def declare(
        self,
        names: tuple[Token, ...],
        domain: Token,
        bounds: tuple[IntervalEnd, ...] | None,
        shape: Shape | None,
        fact: Token | None,
    ) -> None:
        if str(domain) == "size" and bounds is None and shape is None:
            for name in names:
                if str(name) not in self.sizes:
                    self._claim(name)
                    self.name_of_size(name)
            return
        found = self._domain(domain, bounds)
        if fact is not None and not self._is_symmetric(fact, shape or ()):
            return
        for name in names:
            self._symbol(name, domain=found, shape=shape or (), symmetric=fact is not None)

    def _is_symmetric(self, fact: Token, shape: Shape) -> bool:
        """Tell whether the word after a shape is valid for this shape."""
        if str(fact) != "symmetric":
            self.wrong_token(
                DeclarationError,
                f"unknown property '{fact}'",
                fact,
                expected="nothing, or symmetric: S : real[n, n] symmetric",
                cure=suggest(str(fact), ["symmetric"]) or f"remove '{fact}', or begin a new line before it",
            )
            return False
        try:
            Declaration("S", shape=shape, symmetric=True)
        except DeclarationError as error:
            self.wrong_token(
                DeclarationError,
                "what is declared symmetric is no square matrix",
                fact,
                expected=error.expected,
                cure=error.cure,
            )
            return False
        except ShapeError:
            pass  # the declaration reports the error
        return self.error is None

    def _symbol(self, name: Token, **declared: Any) -> None:
        try:
            node = symbol(Declaration(str(name), **declared))
        except ShapeError as error:
            self.wrong_token(ShapeError, error.what, name, expected=error.expected, cure=error.cure)
            return
        node = self.declared_as(str(name), node)
        self._claim(name, node)
        if self.error is not None:
            return
        self.symbols[str(name)] = node
        self._define(name, node)
        self.spans.setdefault(node, self.name_spans[str(name)])

    def declared_as(self, _name: str, node: Node) -> Node:
        """Return the node that stands for a declared name."""
        return node

    def _domain(self, name: Token, bounds: tuple[IntervalEnd, ...] | None) -> Domain:
        domain = DOMAINS.get(str(name))
        if domain is None:
            if str(name) == "complex":
                parts = "declare the real and the imaginary part: a, b : real; equal and verify"
                self.wrong_token(
                    UnsupportedError,
                    "complex symbols are not in this version",
                    name,
                    cure=Cure(
                        f"{parts} take domain='complex'",
                        command=f"{parts} take --domain complex",
                    ),
                )
            else:
                other = _DOMAIN_SPELLINGS.get(str(name).lower())
                if other and self.source.text.startswith("[", span_of(name)[1]):
                    other = other.partition("[")[0]
                known = ", ".join((*DOMAINS, "real(0, 1)", "int(0, 9)"))
                self.wrong_token(
                    DeclarationError,
                    f"unknown domain '{name}'",
                    name,
                    expected=f"one of {known}, or u ~ Uniform(0, 1) for a random input",
                    cure=f"write {other}" if other else suggest(str(name), DOMAINS) or "write real",
                )
            return DOMAINS["real"]
        return domain if bounds is None else self.interval(name, domain, bounds)

    def parameters(self, *given: Argument | None) -> tuple[Argument, ...]:
        return tuple(p for p in given if p is not None)

    def draw(
        self, names: tuple[Token, ...], family: Token, given: tuple[Argument, ...] | None, shape: Shape | None
    ) -> None:
        terms = self._parameters(family, given or ())
        if self.error is not None:
            return
        start, end = span_of(family)
        try:
            distribution = Distribution(str(family), tuple(as_parameter(t.node) for t in terms))
        except DeclarationError as error:
            if str(family) in DISTRIBUTIONS:
                cure = f"correct the parameters of {family}"
            else:
                known = suggest(str(family), DISTRIBUTIONS)
                cure = error.cure or known or "write Uniform(low, high) or Normal(mean, sd)"
            self.wrong(DeclarationError, error.what, start, end, expected=error.expected, cure=cure)
            return
        found = misfit(distribution, shape or ())
        if found is not None:
            i, error = found
            self.keep(error, terms[i].start, terms[i].end)
            return
        for name in names:
            self._symbol(name, shape=shape or (), distribution=distribution)

    def _parameters(self, family: Token, given: tuple[Argument, ...]) -> list[Term]:
        """Return the parameters of a distribution in their order; a list becomes an array."""
        named: dict[str, Term] = {}
        terms: list[Term] = []
        for argument in given:
            value = argument.value if isinstance(argument, Keyword) else argument
            if isinstance(value, ItemList):
                value = self.array_of(value)
            if not isinstance(value, Term):
                self.wrong(
                    DeclarationError,
                    f"a parameter of {family} is neither a number nor a formula",
                    value.start,
                    value.end,
                    cure="write a number, or a name that is defined above",
                )
                return terms
            infinite = next(
                (self.infinities[n] for n in topological([value.node]) if n in self.infinities), None
            )
            if infinite is not None:
                self.wrong(
                    DeclarationError,
                    f"a parameter of {family} is infinite",
                    infinite.start,
                    infinite.end,
                    expected="a number such as 2, 0.5 or 1/3, or a formula",
                    cure="write a number",
                )
            if isinstance(argument, Keyword):
                named[str(argument.name)] = value
            else:
                terms.append(value)
        rest = DISTRIBUTIONS[str(family)].parameters[len(terms) :] if str(family) in DISTRIBUTIONS else ()
        strange = next((a.name for a in given if isinstance(a, Keyword) and str(a.name) not in rest), None)
        if strange is not None and self.error is None:
            self.wrong_token(
                DeclarationError,
                f"{family} has no parameter '{strange}'",
                strange,
                expected=", ".join(rest) or "no more parameters",
                cure="write the parameters in their order, without names",
            )
        return [*terms, *(named[n] for n in rest if n in named)]

    def array_of(self, items: ItemList) -> Term:
        """Return the array that a list spells out."""
        raise InternalError(f"a list of {len(items.values)} is read by the rules of expressions")

    def shape(self, *sizes: Size | None) -> Shape:
        return tuple(s for s in sizes if s is not None)

    def size(self, bound: IntervalEnd) -> Size:
        value = bound.value
        if (
            isinstance(value, Fraction)
            or value in INFINITIES
            or (not nonnegative(value) and nonnegative(size_product([-1, value])))
        ):
            self.wrong_token(
                DeclarationError,
                f"'{bound.token if isinstance(value, Fraction) else value}' is no size",
                bound.token,
                expected="a whole number, a name such as n, or a formula of these such as n + 1",
                cure="write real[n] or real[5]",
            )
            return 1
        for token in bound.names:
            self.name_of_size(token)
        try:
            check_axes((value,))
        except ShapeError as error:
            self.wrong_token(ShapeError, error.what, bound.token, expected=error.expected, cure=error.cure)
            return 1
        return value


_DOMAIN_SPELLINGS = {
    "float": "real",
    "double": "real",
    "float64": "real",
    "reals": "real",
    "r": "real",
    "integer": "int",
    "integers": "int",
    "range": "int(0, n - 1), which includes both ends",
    "ints": "int",
    "boolean": "bool",
    "pos": "positive",
    "nonneg": "nonnegative",
    "non_negative": "nonnegative",
    "negative": "real(-oo, 0)",
    "number": "real",
    "scalar": "real",
    "vector": "real[n]",
    "matrix": "real[n, m]",
    "array": "real[n]",
    "tensor": "real[n, m]",
}
