"""The scope of a program: names, declarations, places, and the errors about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, count
from typing import Any

import symgrad.ops  # noqa: F401  (the records register on import)
from symgrad.frontend.definitions import Definition, definitions, find_cycle
from symgrad.frontend.indices import IndexedReduction, bound_names
from symgrad.frontend.limits import QUOTED_CHARACTERS
from symgrad.frontend.tokens.foreign_syntax import operand_before
from symgrad.frontend.tokens.terms import Term, Token, span_of
from symgrad.frontend.usage_inference import declared_as_arrays, likely_domain
from symgrad.ir.body import Body, StepNotation
from symgrad.ir.composite import WRITTEN
from symgrad.ir.graph import NUMBER, OPS, SYMBOL, Node, Op, apply, number, size_node, symbol
from symgrad.ir.listing import Derivative, Listing, suggest
from symgrad.ir.shapes import broadcast_shapes, fitting
from symgrad.ir.sizes import Size, names_of
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration, Number
from symgrad.ops.array.layout import shape_text
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.scalar.logic import not_, where_infinite
from symgrad.support.errors import (
    CycleError,
    DomainError,
    RedefinitionError,
    ShapeError,
    SymgradError,
    UnknownNameError,
    UnsupportedError,
)
from symgrad.support.source import Location, Source, Span

PARAMETER = "__parameter"
"""How the names of symbols begin that stand for the parameters of a function."""

INFINITIES = ("oo", "inf", "infinity", "Infinity")
_INFINITY = "oo"  # an infinity, which is never in a graph: a choice takes it, or it is an error


class Scope:
    """The state of a parse: the symbol table and the first semantic error.

    A semantic error (an unknown name, a wrong operand) is recorded, and the parse continues: a later syntax error is
    more basic, and is reported first. The first semantic error is raised at the end.

    Args:
        source: the text.
        given: the names that are known before the first line.
        strict: whether names must be known even if the text is a single expression.
    """

    def __init__(self, source: Source, given: Mapping[str, Node], strict: bool) -> None:
        self.source = source
        self.given = given
        self.defined: dict[str, Node] = dict(given)
        self.symbols: dict[str, Node] = {}
        self.assignments: dict[str, Node] = {}
        self.result: Term | None = None
        self.spans: dict[Node, Span] = {}
        self.derivatives: dict[Node, Derivative] = {}
        self.steps: dict[Body, StepNotation] = {}
        self.later: dict[
            Node, tuple[Node, Size]
        ] = {}  # symbols for arrays whose positions begin later, with both
        self.numbers: list[tuple[Number, str | None, int]] = []  # the text of a quotient is None
        self.name_spans: dict[str, Span] = {}
        self.sizes = {*names_of(*(node.shape for node in given.values()))}
        declared = (node.declaration.values for node in given.values() if node.op is SYMBOL)
        self.sizes |= {name for domain in declared for name in domain.sizes}
        self.strict = strict
        self.free: dict[str, Token] = {}
        self.infinities: dict[Node, Span] = {}
        self.free_sizes: dict[Node, None] = {}
        self.target_name: str | None = None
        self.error: SymgradError | None = None
        self._bound: tuple[IndexedReduction, ...] | None = None
        self._definitions: dict[str, Definition] | None = None
        for name in self.sizes & given.keys():
            if given[name] is not size_node(name):
                self.wrong(
                    RedefinitionError,
                    f"'{name}' is a given symbol, and the size of a given array",
                    0,
                    0,
                    expected="one meaning for one name",
                    cure=f"give one of them another name, such as {self.unused('count_' + name)}",
                )

    # ---------------------------------------------------------------------------------------------- results, errors

    def listing(self) -> Listing:
        """Return the listing.

        Raises:
            SymgradError: the first semantic error, if any.
        """
        self._drop_sizes()
        self._check_infinities()
        self.check_starts()
        if self.error is not None:
            raise self.error
        return Listing(
            self.symbols,
            self.assignments,
            self.result.node if self.result is not None else None,
            self.source,
            self.spans,
            self.name_spans,
            tuple(name for name in self.free if name in self.symbols),
            self.given,
            derivatives=self.derivatives,
            decimals=self._decimals(),
            steps=self.steps,
            sizes=frozenset(self.sizes),
        )

    def size_of(self, node: Node) -> Size | None:
        """Return the size of a node; an undeclared name is a size if one is expected."""
        found = as_size(node)
        if found is None and self.free and node.op is not NUMBER:
            free = [s for s in symbols_of([node]) if s.name in self.free]
            found = as_size(substitute([node], {s: size_node(s.name) for s in free})[0])
            if found is not None:
                self.free_sizes.update(dict.fromkeys(free))
        return found

    def check_starts(self) -> None:
        """Record the error for first values without a recurrence."""

    def _drop_sizes(self) -> None:
        """Remove the symbols that turned out to be sizes."""
        if self.error is not None or not self.free_sizes or self.result is None:
            return
        numbers = set(symbols_of([self.result.node]))
        for node in self.free_sizes:
            if node in numbers:
                self.wrong_token(
                    RedefinitionError,
                    f"'{node.name}' is a number here and a size elsewhere",
                    self.free[node.name],
                    expected="one meaning for one name",
                    cure=f"say that it is a size, on a line above: {node.name} : size",
                )
                return
            del self.symbols[node.name], self.name_spans[node.name]
            self.spans.pop(node, None)

    def location(self, start: int, end: int) -> Location:
        """Return a place in the text."""
        return Location(self.source, Span(start, end))

    def wrong(
        self,
        cls: type[SymgradError],
        what: str,
        start: int,
        end: int,
        *,
        expected: str | None = None,
        cure: str | None = None,
    ) -> Term:
        """Record a semantic error if it is the first, and return a term with which to continue."""
        if self.error is None:
            self.error = cls(what, at=self.location(start, end), expected=expected, cure=cure)
        return Term(number(1), start, end)

    def wrong_token(
        self,
        cls: type[SymgradError],
        what: str,
        token: Token,
        *,
        expected: str | None = None,
        cure: str | None = None,
    ) -> Term:
        """Record an error that points at a token."""
        start, end = span_of(token)
        return self.wrong(cls, what, start, end, expected=expected, cure=cure)

    def term(self, node: Node, start: int, end: int, literal: bool = False) -> Term:
        """Return a term, and record the first place of its node."""
        if self.derivatives:
            self.derivatives.pop(node, None)  # a formula of the user, which stays as it is written
        if node not in self.spans:
            self.spans[node] = Span(start, end)
        return Term(node, start, end, literal)

    def literal_value(self, token: Token) -> Number:
        """Return the exact value of a number token, and record the text of a decimal."""
        text = str(token)
        if text.isdecimal():
            return int(text)
        text = text.replace("_", "")
        exact = Fraction(text)
        value = exact.numerator if exact.denominator == 1 else exact
        is_known = isinstance(value, int) and number(value) in self.spans
        self.numbers.append((value, str(value) if is_known else text, token.start_pos))
        return value

    def _decimals(self) -> dict[Number, str]:
        """Return the decimals of the text: of several spellings the first one in a formula, else in a declaration."""
        declared = {self._line(self.name_spans[name].start) for name in self.symbols if name not in self.free}
        found: dict[Number, str | None] = {}
        for value, text, _ in sorted(self.numbers, key=lambda number: self._line(number[2]) in declared):
            found.setdefault(value, text)
        return {value: text for value, text in found.items() if text is not None}

    def _line(self, place: int) -> int:
        return self.source.line_column(place)[0]

    def make(
        self, op: Op, terms: Sequence[Term], start: int, end: int, params: tuple[object, ...] = ()
    ) -> Term:
        """Apply an op; add the place to an error about kinds or shapes."""
        if self.error is not None:
            return Term(number(1), start, end)
        if self.infinities and op.name == "where":
            infinite = self._where_infinite(terms)
            if infinite is not None:
                return self.build(infinite, terms, start, end)
        try:
            node = apply(op, tuple([t.node for t in terms]), params)
        except DomainError as error:
            for kind, term in zip(op.takes, terms, strict=True):
                if kind == "bool" and term.node.dtype != "bool":
                    start, end = term.start, term.end
                    break
            return self.wrong(DomainError, error.what, start, end, expected=error.expected, cure=error.cure)
        except ShapeError as error:
            return self.misfit(error, terms, start, end)
        return self.term(node, start, end)

    def record_derivative(self, node: Node, y: Node, by: Sequence[Node]) -> None:
        """Record what a node is the derivative of, unless a line may contain it as a formula."""
        parameters = [b for b in by if b.op is SYMBOL and b.name.startswith(PARAMETER)]
        variables = all(b in parameters or b in self.defined.values() for b in by)
        if self.error is None and node.args and variables and node not in topological([y]):
            self.derivatives[node] = Derivative(y, tuple(by))

    def opened(self, y: Node, by: Sequence[Node]) -> tuple[Node, Callable[[Node], Node]]:
        """Return a value as a formula of variables, which it is here, and what puts names into its derivative."""
        del by
        return y, lambda derivative: derivative

    def infinite(self, start: int, end: int) -> Term:
        """Return the infinity, which may only be the branch of a choice."""
        node = symbol(Declaration(_INFINITY))
        self.infinities.setdefault(node, Span(start, end))
        return Term(node, start, end)

    def _where_infinite(self, terms: Sequence[Term]) -> Callable[..., Node] | None:
        """Return the builder of a choice with an infinite branch; None if no branch is infinite."""
        _, first, second = (self._sign(t.node) for t in terms)
        if bool(first) == bool(second):
            return None

        def build(c: Node, x: Node, y: Node) -> Node:
            return where_infinite(c, x, second) if second else where_infinite(not_(c), y, first)

        return build

    def _sign(self, node: Node) -> int:
        if node.op is OPS["neg"]:
            return -self._sign(node.args[0])
        return int(node in self.infinities)

    def _check_infinities(self) -> None:
        """Record the error for an infinity that remains at any other place."""
        if self.error is not None or not self.infinities:
            return
        roots = [*self.assignments.values(), *([self.result.node] if self.result is not None else [])]
        reached = topological(roots)
        for node, span in self.infinities.items():
            if node in reached:
                self.wrong(
                    UnsupportedError,
                    "an infinity stands where a number is needed",
                    span.start,
                    span.end,
                    expected="a branch of a choice: softmax(where(mask, scores, -oo))",
                    cure="take a limit, or guard with where(condition, x, y)",
                )

    def build(
        self, function: Callable[..., Node], terms: Sequence[Term], start: int, end: int, *rest: Any
    ) -> Term:
        """Apply a builder of `symgrad.ops` to terms and other arguments; add the place to its errors."""
        if self.error is not None:
            return Term(number(1), start, end)
        try:
            node = function(*(t.node for t in terms), *rest)
        except SymgradError as error:
            what, cure = error.what, error.cure
            if isinstance(error, ShapeError) and len(terms) > 1:
                what = self._naming(what, terms)
            free = [t.node for t in terms if t.node.op is SYMBOL and t.node.name in self.free]
            nodes = [t.node for t in terms]
            cure = declared_as_arrays(lambda found: function(*found, *rest), nodes, free, self.unused) or cure
            placed = type(error)(what, at=error.at, expected=error.expected, cure=cure)
            return self.keep(placed, start, end)
        return self.term(node, start, end)

    def keep(self, error: SymgradError, start: int, end: int) -> Term:
        """Record an error, with a place if it has none."""
        if error.at is not None:
            self.error = self.error or error
            return Term(number(1), start, end)
        cure = error.cure or "check the arguments and the declared shapes"
        return self.wrong(type(error), error.what, start, end, expected=error.expected, cure=cure)

    def misfit(self, error: ShapeError, terms: Sequence[Term], start: int, end: int) -> Term:
        """Record the error of an op whose operands do not broadcast.

        It names two of the operands as the text spells them.
        """
        for i, b in enumerate(terms):
            for a in terms[:i]:
                try:
                    broadcast_shapes([a.node.shape, b.node.shape])
                except ShapeError:
                    what = (
                        f"the shapes of {self.quote(a)} and {self.quote(b)} do not broadcast: "
                        f"{shape_text(a.node.shape)} and {shape_text(b.node.shape)}"
                    )
                    told = [(self.quote(t)[1:-1], t.node.shape) for t in (a, b)]
                    shown = not any(spelled.endswith("...") for spelled, _ in told)
                    cure = (fitting(*told) if shown else None) or error.cure
                    return self.wrong(ShapeError, what, start, end, expected=error.expected, cure=cure)
        return self.keep(error, start, end)

    def _naming(self, what: str, terms: Sequence[Term]) -> str:
        """Return a message about shapes, with the source text of the arrays that have these shapes."""
        shown = [(self.quote(t), shape_text(t.node.shape)) for t in terms]
        for i, (b, q) in enumerate(shown):
            for a, p in shown[:i]:
                for noun in ("arrays", "operands"):
                    if f"{noun} of shapes {p} and {q}" in what:
                        return what.replace(
                            f"{noun} of shapes {p} and {q}", f"{a} of shape {p} and {b} of shape {q}"
                        )
        if len({shape for _, shape in shown}) == 1:
            return what
        return f"{what}; " + ", ".join(f"{name} is {shape}" for name, shape in shown)

    def is_index(self, token: Token) -> bool:
        """Tell whether an undefined name is the index of a surrounding sum: i in sum(x[i]*y[i], i)."""
        if self._bound is None:
            self._bound = tuple(bound_names(self.source.text))
        return any(b.start < token.start_pos < b.end and token in b.names for b in self._bound)

    def has_range(self, token: Token) -> bool:
        """Tell whether a name is an index with a range, t in sum(x[t], t=1..T), whatever else has this name."""
        return self.is_index(token) and any(
            b.start < token.start_pos < b.end and token in b.with_ends for b in self._bound or ()
        )

    def quote(self, term: Term) -> str:
        """Return the source text of a term in quotes, shortened."""
        text = " ".join(self.source.text[term.start : term.end].split())
        return f"'{text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 3] + '...'}'"

    def unused(self, name: str) -> str:
        """Return an unused name: the given name, or the name followed by a number."""
        taken = {*re.findall(r"\w+", self.source.text), *self.given, *self.sizes, *OPS, *WRITTEN}
        numbered = (self.numbered(name, k) for k in count(2))
        return next(n for n in chain([name], numbered) if n not in taken)

    def numbered(self, name: str, number: int) -> str:
        """Return a name followed by a number, in the notation."""
        return f"{name}{number}"

    def unknown(self, token: Token) -> Term:
        """Record the error for a name that nothing defines above its use."""
        if self.error is not None:
            return Term(number(1), *span_of(token))
        name = str(token)
        if self._definitions is None:
            self._definitions = definitions(self.source.text)
        later = self._definitions.get(name)
        if later is not None:
            cycle = find_cycle(self._definitions, name, self.target_name)
            if cycle is not None:
                what = f"'{cycle[0]}' is defined by itself"
                if len(cycle) > 1:
                    what += ": " + " -> ".join((*cycle, cycle[0]))
                return self.wrong_token(
                    CycleError,
                    what,
                    token,
                    expected="definitions that do not lead back to themselves",
                    cure=f"use a new name on the left, or declare an input: {name} : real",
                )
            line, _ = self.source.line_column(later.start)
            here, _ = self.source.line_column(span_of(token)[0])
            return self.wrong_token(
                UnknownNameError,
                f"'{name}' is used before its definition in line {line}",
                token,
                expected="names defined above the line that uses them, as in Python",
                cure=f"move line {line} up" if line != here else f"move the definition of {name} before this",
            )
        if name.lower() == "nan":
            cure = "NaN is no number of a formula; take a limit, or guard with where(condition, x, y)"
        elif name.lower() in ("true", "false"):
            cure = f"write {name.capitalize()}"
        elif name == "T" and (raised := _RAISED.search(self.source.text[: span_of(token)[0]])):
            cure = f"write {operand_before(self.source.text, raised.start()) or 'x'}.T for the transpose"
        elif name in ("e", "E"):
            cure = f"write exp(...) for powers of Euler's number, E() for the number, or declare it: {name} : real"
        elif name in OPS:
            cure = f"call it: {name}(...), or declare it: {name} : real"
        else:
            start, end = span_of(token)
            first = self.source.text.rfind("\n", 0, start) + 1
            line = self.source.text[first:].partition("\n")[0]
            assigned = line[: end - first].strip() == name and line[end - first :].lstrip().startswith("==")
            cure = f"declare it: {name} : {likely_domain(line, start - first, end - first)}"
            if _POSITION.match(line, 0, start - first) and _REST_OF_POSITION.match(line, end - first):
                cure = f"write the positions behind the formula: for {name} in 1..T"
            elif name not in ("T", "inputs"):
                cure = f"assign with one =: {name} = ..." if assigned else suggest(name, self.defined) or cure
        return self.wrong_token(
            UnknownNameError, f"unknown name '{name}'", token, expected=_known(self.defined), cure=cure
        )


_POSITION = re.compile(r"\s*\w+\[[^\]=]*\Z")
_REST_OF_POSITION = re.compile(r"[^\[=]*\]\s*=(?!=)")
_RAISED = re.compile(r"(\*\*|\^)\s*$")


def _known(scope: Mapping[str, Node]) -> str | None:
    if not scope:
        return None
    shown = list(scope)[:12]
    return "one of " + ", ".join(shown) + (", ..." if len(scope) > len(shown) else "")
