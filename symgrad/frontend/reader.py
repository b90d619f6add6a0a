"""What each rule of the grammar means: the nodes it makes, the names it defines, the places it remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from lark import Token

import symgrad.ops  # noqa: F401  (the records register on import)
from symgrad.errors import (
    CycleError,
    DeclarationError,
    DomainError,
    ProgramSyntaxError,
    RedefinitionError,
    ShapeError,
    SymgradError,
    UnknownNameError,
    UnsupportedError,
)
from symgrad.frontend.definitions import Definition, definitions, find_cycle
from symgrad.ir.graph import Node, apply, constant, number, symbol, truth
from symgrad.ir.listing import Listing, suggest
from symgrad.ir.op import OPS, Op
from symgrad.ir.types import DISTRIBUTIONS, DOMAINS, Declaration, Distribution, Domain, Number, Shape
from symgrad.source import Location, Source, Span

__all__ = ["Keyword", "Pair", "Reader", "Term"]


class Term:
    """An operand that has been read: its node, its place, and whether it is a literal such as 3, -0.5 or 1/3."""

    __slots__ = ("end", "literal", "node", "start")

    def __init__(self, node: Node, start: int, end: int, literal: bool = False) -> None:
        self.node = node
        self.start = start
        self.end = end
        self.literal = literal


@dataclass(frozen=True, slots=True)
class Pair:
    """A piece (value, condition) of a Piecewise."""

    value: Term
    condition: Term
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Keyword:
    """An argument name=value."""

    name: Token
    value: Term


Argument: TypeAlias = Term | Pair | Keyword
Bound: TypeAlias = "tuple[Number | str, Token]"

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_INFINITIES = ("oo", "inf", "infinity", "Infinity")


class Reader:
    """The state of one reading.

    An error of meaning (an unknown name, a wrong operand) is kept and the reading goes on, because a wrong syntax
    further on is the more basic fault and is reported first; the first error of meaning is raised at the end.

    Args:
        source: the text.
        known: names that mean something before the first line.
        strict: whether names must be known even if the text is one bare expression.
    """

    def __init__(self, source: Source, known: Mapping[str, Node], strict: bool) -> None:
        self.source = source
        self.known = known
        self.scope: dict[str, Node] = dict(known)
        self.symbols: dict[str, Node] = {}
        self.assignments: dict[str, Node] = {}
        self.result: Term | None = None
        self.spans: dict[Node, Span] = {}
        self.name_spans: dict[str, Span] = {}
        self.sizes: set[str] = set()
        self.strict = strict
        self.free: dict[str, Token] = {}
        self.target_name: str | None = None
        self.error: SymgradError | None = None
        self._literals: dict[str, Node] = {}
        self._definitions: dict[str, Definition] | None = None
        self._add, self._mul, self._div = OPS["add"], OPS["mul"], OPS["div"]
        self._neg, self._pow = OPS["neg"], OPS["pow"]
        self._pi = constant("pi")

    # ---------------------------------------------------------------------------------------------- results, errors

    def listing(self) -> Listing:
        """Return what was read.

        Raises:
            SymgradError: the first error of meaning, if there was one.
        """
        if self.error is not None:
            raise self.error
        return Listing(
            self.symbols,
            self.assignments,
            self.result.node if self.result is not None else None,
            self.source,
            self.spans,
            self.name_spans,
        )

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
        """Keep an error of meaning if it is the first, and return a term to go on with."""
        if self.error is None:
            self.error = cls(what, at=self.location(start, end), expected=expected, cure=cure)
        return Term(number(1), start, end)

    def _wrong_token(
        self,
        cls: type[SymgradError],
        what: str,
        token: Token,
        *,
        expected: str | None = None,
        cure: str | None = None,
    ) -> Term:
        start, end = ends(token)
        return self.wrong(cls, what, start, end, expected=expected, cure=cure)

    def term(self, node: Node, start: int, end: int, literal: bool = False) -> Term:
        """Return a term and remember where its node was first written."""
        if node not in self.spans:
            self.spans[node] = Span(start, end)
        return Term(node, start, end, literal)

    def make(
        self, op: Op, terms: Sequence[Term], start: int, end: int, params: tuple[object, ...] = ()
    ) -> Term:
        """Apply an op; an error of kinds or shapes gets its place."""
        if self.error is not None:
            return Term(number(1), start, end)
        try:
            node = apply(op, tuple([t.node for t in terms]), params)
        except DomainError as error:
            for kind, term in zip(op.takes, terms, strict=True):
                if kind == "bool" and term.node.dtype != "bool":
                    start, end = term.start, term.end
                    break
            return self.wrong(DomainError, error.what, start, end, expected=error.expected, cure=error.cure)
        except ShapeError as error:
            return self.wrong(ShapeError, error.what, start, end, expected=error.expected, cure=error.cure)
        return self.term(node, start, end)

    # --------------------------------------------------------------------------------------------------- statements

    def start(self, *_: object) -> None:
        """The text as a whole: every line has done its work already."""

    def names(self, *names: Token) -> tuple[Token, ...]:
        self._begin()
        return names

    def target(self, name: Token) -> Token:
        self._begin()
        self._claim(name)
        self.target_name = str(name)
        return name

    def _begin(self) -> None:
        """A definition begins, so the text is a program: a name it used without declaring it is unknown after all."""
        self._only_last()
        self.strict = True
        for token in self.free.values():
            self._unknown(token)

    def _only_last(self) -> None:
        if self.result is not None:
            self.wrong(
                ProgramSyntaxError,
                "an expression without a name stands before the last line",
                self.result.start,
                self.result.end,
                expected="at most one, as the last line: the result",
                cure="give it a name: y = ...",
            )

    def _claim(self, name: Token) -> None:
        """Refuse a name that is taken."""
        spelled = str(name)
        if spelled == "pi":
            self._wrong_token(
                RedefinitionError, "'pi' is the constant 3.14159...", name, cure="choose another name"
            )
        elif spelled in self.name_spans:
            line, column = self.source.line_column(self.name_spans[spelled].start)
            how = "declared" if spelled in self.symbols else "assigned"
            self._wrong_token(
                RedefinitionError,
                f"'{spelled}' is already {how} in line {line}, column {column}",
                name,
                expected="each name defined once",
                cure=f"choose another name, such as {spelled}2",
            )
        elif spelled in self.known:
            self._wrong_token(
                RedefinitionError,
                f"'{spelled}' is already defined before this text",
                name,
                expected="each name defined once",
                cure=f"choose another name, such as {spelled}2",
            )

    def _define(self, name: Token, node: Node) -> None:
        spelled = str(name)
        self.scope[spelled] = node
        self.name_spans[spelled] = Span(*ends(name))

    def assign(self, name: Token, value: Term) -> None:
        self.target_name = None
        if self.error is None:
            self.assignments[str(name)] = value.node
            self._define(name, value.node)

    def bare(self, value: Term) -> None:
        self._only_last()
        self.result = value

    def declare(
        self, names: tuple[Token, ...], domain: Token, bounds: tuple[Bound, ...] | None, shape: Shape | None
    ) -> None:
        found = self._domain(domain, bounds)
        for name in names:
            self._claim(name)
            if self.error is None:
                self._symbol(name, Declaration(str(name), found, shape or ()))

    def _symbol(self, name: Token, declaration: Declaration) -> None:
        node = symbol(declaration)
        self.symbols[str(name)] = node
        self._define(name, node)
        self.spans.setdefault(node, self.name_spans[str(name)])

    def _domain(self, name: Token, bounds: tuple[Bound, ...] | None) -> Domain:
        domain = DOMAINS.get(str(name))
        known = ", ".join((*DOMAINS, "real(0, 1)"))
        if domain is None:
            if str(name) == "complex":
                self._wrong_token(
                    UnsupportedError,
                    "complex symbols are not in this version",
                    name,
                    cure="declare the real and the imaginary part: a, b : real",
                )
            else:
                other = _DOMAIN_SPELLINGS.get(str(name).lower())
                self._wrong_token(
                    DeclarationError,
                    f"unknown domain '{name}'",
                    name,
                    expected=f"one of {known}, or u ~ Uniform(0, 1) for a random input",
                    cure=f"write {other}" if other else suggest(str(name), DOMAINS) or "write real",
                )
            return DOMAINS["real"]
        if bounds is None:
            return domain
        if domain.name != "real" or len(bounds) != 2:
            self._wrong_token(
                DeclarationError,
                f"'{name}' takes no interval" if domain.name != "real" else "an interval has two ends",
                name,
                expected="an interval such as real(0, 1), real(0, oo) or real(-oo, 1/2)",
                cure="write real(low, high)",
            )
            return domain
        low, high = (self._end(b, sign) for b, sign in zip(bounds, ("-oo", "oo"), strict=True))
        if low is not None and high is not None and low >= high:
            self._wrong_token(
                DeclarationError,
                "the interval is empty",
                name,
                expected="low < high",
                cure="exchange the ends",
            )
        if low is None and high is None:
            return domain
        return Domain("real", "real", low, high)

    def _end(self, bound: Bound, infinite: str) -> Number | None:
        value, token = bound
        if value == infinite:
            return None
        if isinstance(value, str):
            self._not_exact(value, token, "write the end as a decimal or a fraction, such as 22/7")
            return 0
        return value

    def _not_exact(self, value: str, token: Token, cure: str) -> None:
        self._wrong_token(
            DeclarationError,
            f"'{value}' stands where an exact number is needed",
            token,
            expected="a number such as 2, 0.5 or 1/3; oo or -oo as the end of an interval",
            cure=cure,
        )

    def draw(
        self, names: tuple[Token, ...], family: Token, bounds: tuple[Bound, ...] | None, shape: Shape | None
    ) -> None:
        parameters: list[Number] = []
        for value, token in bounds or ():
            if isinstance(value, str):
                self._not_exact(
                    value, token, "scale a standard input instead: u ~ Normal(0, 1), then m + s*u"
                )
            else:
                parameters.append(value)
        for name in names:
            self._claim(name)
        if self.error is not None:
            return
        try:
            distribution = Distribution(str(family), tuple(parameters))
        except DeclarationError as error:
            start, end = ends(family)
            if str(family) in DISTRIBUTIONS:
                cure = f"correct the parameters of {family}"
            else:
                cure = suggest(str(family), DISTRIBUTIONS) or "write Uniform(low, high) or Normal(mean, sd)"
            self.wrong(DeclarationError, error.what, start, end, expected=error.expected, cure=cure)
            return
        for name in names:
            self._symbol(name, Declaration(str(name), shape=shape or (), distribution=distribution))

    def bounds(self, *bounds: Bound | None) -> tuple[Bound, ...]:
        return tuple(b for b in bounds if b is not None)

    def number_bound(self, token: Token, divisor: Token | None) -> Bound:
        value = Fraction(_value(token))
        if divisor is not None:
            if _value(divisor) == 0:
                self._wrong_token(DeclarationError, "a division by zero", divisor, cure="write oo for no end")
                return 0, token
            value /= _value(divisor)
        return (value.numerator if value.denominator == 1 else value), token

    def name_bound(self, token: Token) -> Bound:
        return ("oo" if str(token) in _INFINITIES else str(token)), token

    def positive_bound(self, _sign: Token, bound: Bound) -> Bound:
        return bound

    def negative_bound(self, _sign: Token, bound: Bound) -> Bound:
        value, token = bound
        if isinstance(value, str):
            return {"oo": "-oo", "-oo": "oo"}.get(value, f"-{value}"), token
        return -value, token

    def shape(self, *sizes: int | str) -> Shape:
        return tuple(s for s in sizes if s is not None)  # pyright: ignore[reportUnnecessaryComparison]

    def size(self, token: Token) -> int | str:
        if token.type == "NAME":
            self.sizes.add(str(token))
            return str(token)
        value = _value(token)
        if not isinstance(value, int) or value < 1:
            self._wrong_token(
                DeclarationError,
                f"'{token}' is no size",
                token,
                expected="a positive integer, or a name such as n",
                cure="write real[n] or real[5]",
            )
            return 1
        return value

    # ------------------------------------------------------------------------------------------------------- leaves

    def number(self, token: Token) -> Term:
        spelled = str(token)
        node = self._literals.get(spelled)
        if node is None:
            node = self._literals[spelled] = number(_value(token))
        start, end = ends(token)
        return self.term(node, start, end, True)

    def true(self, token: Token) -> Term:
        return self.term(truth(True), *ends(token))

    def false(self, token: Token) -> Term:
        return self.term(truth(False), *ends(token))

    def name(self, token: Token) -> Term:
        spelled = str(token)
        node = self.scope.get(spelled)
        if node is None:
            if spelled == "pi":
                node = self._pi
            elif self.strict:
                return self._unknown(token)
            else:
                node = symbol(Declaration(spelled))
                self.free[spelled] = token
                self.symbols[spelled] = self.scope[spelled] = node
                self.name_spans[spelled] = Span(*ends(token))
        start, end = ends(token)
        if node not in self.spans:
            self.spans[node] = Span(start, end)
        return Term(node, start, end)

    def _unknown(self, token: Token) -> Term:
        if self.error is not None:
            return Term(number(1), *ends(token))
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
                return self._wrong_token(
                    CycleError,
                    what,
                    token,
                    expected="definitions that do not lead back to themselves",
                    cure=f"use a new name on the left, or declare an input: {name} : real",
                )
            line, _ = self.source.line_column(later.start)
            return self._wrong_token(
                UnknownNameError,
                f"'{name}' is used before its definition in line {line}",
                token,
                expected="names defined above the line that uses them, as in Python",
                cure=f"move line {line} up",
            )
        if name in self.sizes:
            return self._wrong_token(
                UnsupportedError,
                f"'{name}' is the size of an array; sizes as numbers are not in this version",
                token,
                cure=f"declare a symbol for it under another name: count_{name} : positive",
            )
        if name in _INFINITIES or name.lower() == "nan":
            cure = "infinities and NaN are no numbers of a formula; take a limit, or guard with where(condition, x, y)"
        elif name in ("T", "inputs"):
            cure = f"declare it: {name} : real"
        else:
            cure = suggest(name, self.scope) or f"declare it: {name} : real"
        return self._wrong_token(
            UnknownNameError, f"unknown name '{name}'", token, expected=_known(self.scope), cure=cure
        )

    def group(self, left: Token, inner: Term, right: Token) -> Term:
        return Term(inner.node, ends(left)[0], ends(right)[1])

    # --------------------------------------------------------------------------------------------------- arithmetic

    def add(self, a: Term, b: Term) -> Term:
        return self.make(self._add, (a, b), a.start, b.end)

    def subtract(self, a: Term, b: Term) -> Term:
        return self.make(self._add, (a, self._negative(b, b.start)), a.start, b.end)

    def multiply(self, a: Term, b: Term) -> Term:
        return self.make(self._mul, (a, b), a.start, b.end)

    def divide(self, a: Term, b: Term) -> Term:
        if a.literal and b.literal:
            p, q = a.node.value, b.node.value
            if isinstance(p, int) and isinstance(q, int) and q != 0:
                node = number(Fraction(p, q))
                return self.term(node, a.start, b.end, node.dtype == "real")  # 4/2/2 folds once
        return self.make(self._div, (a, b), a.start, b.end)

    def raise_to(self, a: Term, b: Term) -> Term:
        return self.make(self._pow, (a, b), a.start, b.end)

    def plus(self, sign: Token, a: Term) -> Term:
        if a.node.dtype == "bool":
            return self.make(self._add, (Term(number(0), a.start, a.end), a), ends(sign)[0], a.end)
        return Term(a.node, ends(sign)[0], a.end, a.literal)

    def minus(self, sign: Token, a: Term) -> Term:
        return self._negative(a, ends(sign)[0])

    def _negative(self, a: Term, start: int) -> Term:
        """-2 is a number; -0 stays a negation, which alone has the sign of the floating-point zero."""
        if a.literal and a.node.value != 0:
            return self.term(number(-a.node.value), start, a.end, True)
        return self.make(self._neg, (a,), start, a.end)

    # -------------------------------------------------------------------------------------------------------- logic

    def comparison(self, first: Term, *rest: Token | Term) -> Term:
        result: Term | None = None
        left = first
        for sign, right in zip(rest[::2], rest[1::2], strict=True):
            assert isinstance(right, Term)
            op = OPS[_COMPARISONS[str(sign)]]
            one = self.make(op, (left, right), left.start, right.end)
            both = OPS["and_"]
            result = one if result is None else self.make(both, (result, one), first.start, right.end)
            left = right
        assert result is not None
        return result

    def _connect(self, name: str, sign: str, a: Term, b: Term, cure: str) -> Term:
        if self.error is None:
            for term, other in ((a, b), (b, a)):
                if term.node.dtype != "bool":
                    start = self.source.text.find(sign, a.end, b.start)
                    place = (
                        (term.start, term.end) if other.node.dtype == "bool" else (start, start + len(sign))
                    )
                    return self.wrong(
                        DomainError,
                        f"'{sign}' connects conditions, not numbers",
                        *place,
                        expected="a condition such as x > 0 on both sides",
                        cure=cure,
                    )
        return self.make(OPS[name], (a, b), a.start, b.end)

    def either(self, a: Term, b: Term) -> Term:
        return self._connect("or_", "or", a, b, "compare each side with something")

    def both(self, a: Term, b: Term) -> Term:
        return self._connect("and_", "and", a, b, "compare each side with something")

    def bit_or(self, a: Term, b: Term) -> Term:
        return self._connect("or_", "|", a, b, "write parentheses: (x > 0) | (y > 0)")

    def bit_and(self, a: Term, b: Term) -> Term:
        return self._connect("and_", "&", a, b, "write parentheses: (x > 0) & (y > 0)")

    def bit_xor(self, a: Term, b: Term) -> Term:
        return self._connect("xor", "^", a, b, "write ** for powers")

    def opposite(self, sign: Token, a: Term) -> Term:
        if self.error is None and a.node.dtype != "bool":
            return self.wrong(
                DomainError,
                f"'{sign}' denies a condition, and this is a number",
                a.start,
                a.end,
                expected="a condition such as x > 0",
                cure="compare it with something",
            )
        return self.make(OPS["not_"], (a,), ends(sign)[0], a.end)

    def choose(self, a: Term, condition: Term, b: Term) -> Term:
        return self.make(OPS["where"], (condition, a, b), a.start, b.end)

    # -------------------------------------------------------------------------------------------------------- calls

    def pair(self, left: Token, value: Term, condition: Term, right: Token) -> Pair:
        return Pair(value, condition, ends(left)[0], ends(right)[1])

    def keyword(self, name: Token, value: Term) -> Keyword:
        return Keyword(name, value)

    def call(self, name: Token, *rest: Argument | Token | None) -> Term:
        from symgrad.frontend.calls import call  # calls are made with the reader

        closing = rest[-1]
        assert isinstance(closing, Token)
        arguments = [a for a in rest[:-1] if isinstance(a, (Term, Pair, Keyword))]
        if self.error is not None:
            return Term(number(1), ends(name)[0], ends(closing)[1])
        return call(self, name, arguments, ends(closing)[1])


_DOMAIN_SPELLINGS = {
    "float": "real",
    "double": "real",
    "float64": "real",
    "reals": "real",
    "r": "real",
    "integer": "int",
    "ints": "int",
    "boolean": "bool",
    "pos": "positive",
    "nonnegative": "real, or real(0, oo) for the open interval",
    "negative": "real(-oo, 0)",
}


def _known(scope: Mapping[str, Node]) -> str | None:
    if not scope:
        return None
    shown = list(scope)[:12]
    return "one of " + ", ".join(shown) + (", ..." if len(scope) > len(shown) else "")


def ends(token: Token) -> tuple[int, int]:
    """Return where a token begins and ends."""
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos


def _value(token: Token) -> Number:
    text = str(token)
    if text.isdecimal():
        return int(text)
    value = Fraction(text.replace("_", ""))
    return value.numerator if value.denominator == 1 else value
