"""Semantic actions for expressions: each rule builds its node as written; nothing is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from symgrad.frontend.expressions.calls import call
from symgrad.frontend.expressions.functions import UserFunction
from symgrad.frontend.expressions.inner_recurrences import InnerRecurrenceRules
from symgrad.frontend.expressions.subscripts import subscript
from symgrad.frontend.indices import (
    REDUCTIONS,
    IndexRange,
    index_name,
    index_symbol,
    reduce_over_indices,
)
from symgrad.frontend.scope import INFINITIES
from symgrad.frontend.tokens.foreign_syntax import operand_before
from symgrad.frontend.tokens.terms import (
    Argument,
    Dots,
    IndexEnds,
    Item,
    ItemList,
    Keyword,
    NoneLiteral,
    Section,
    Term,
    Text,
    Token,
    span_of,
)
from symgrad.ir.composite import WRITTEN
from symgrad.ir.graph import OPS, Node, Op, as_condition, constant, number, size_node, symbol, truth
from symgrad.ir.sizes import size_max, size_product, size_sum
from symgrad.ir.types import Declaration
from symgrad.ops.numpy.calls import matrix_transpose
from symgrad.ops.numpy.products import matmul
from symgrad.support.errors import DomainError, ProgramSyntaxError
from symgrad.support.source import Source, Span

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


class ProgramReader(InnerRecurrenceRules):
    """The state while one text is read: names, lines, and here the rules for expressions."""

    def __init__(self, source: Source, given: Mapping[str, Node], strict: bool) -> None:
        super().__init__(source, given, strict)
        self.functions: dict[str, UserFunction] = {}
        self.local: dict[str, Term] = {}
        self.starts, self.inner = {}, {}
        self._has_ranges = ".." in source.text
        self._literals: dict[str, Node] = {}
        self._add, self._mul, self._div = OPS["add"], OPS["mul"], OPS["div"]
        self._neg, self._pow = OPS["neg"], OPS["pow"]
        (self._remainder,), (self._quotient,) = WRITTEN["remainder"], WRITTEN["floor_divide"]
        self._pi = constant("pi")

    # ------------------------------------------------------------------------------------------------------- leaves

    def number(self, token: Token) -> Term:
        spelled = str(token)
        node = self._literals.get(spelled)
        if node is None:
            node = self._literals[spelled] = number(self.literal_value(token))
        elif node.dtype == "real":
            self.numbers.append((node.value, spelled.replace("_", ""), token.start_pos))
        start, end = span_of(token)
        return self.term(node, start, end, True)

    def true(self, token: Token) -> Term:
        return self.term(truth(True), *span_of(token))

    def false(self, token: Token) -> Term:
        return self.term(truth(False), *span_of(token))

    def name(self, token: Token) -> Term:
        spelled = str(token)
        if self._has_ranges and self.has_range(token):
            return Term(index_symbol(spelled), *span_of(token))
        if spelled in self.local:
            given = self.local[spelled]
            return Term(given.node, *span_of(token), given.literal)
        node = self.defined.get(spelled)
        if node is None:
            if spelled == "pi":
                node = self._pi
            elif spelled in self.sizes:
                node = size_node(spelled)
            elif self.is_index(token):
                node = index_symbol(spelled)
            elif spelled in INFINITIES:
                return self.infinite(*span_of(token))
            elif self.strict:
                return self.unknown(token)
            else:
                node = symbol(Declaration(spelled))
                self.free[spelled] = token
                self.symbols[spelled] = self.defined[spelled] = node
                self.name_spans[spelled] = Span(*span_of(token))
        self.check_position(token, node)
        start, end = span_of(token)
        if node not in self.spans:
            self.spans[node] = Span(start, end)
        return Term(node, start, end)

    def group(self, left: Token, inner: Term, right: Token) -> Term:
        return Term(inner.node, span_of(left)[0], span_of(right)[1])

    # --------------------------------------------------------------------------------------------------- arithmetic

    def add(self, a: Term, b: Term) -> Term:
        return self.make(self._add, (a, b), a.start, b.end)

    def subtract(self, a: Term, b: Term) -> Term:
        return self.make(self._add, (a, self._negative(b, b.start)), a.start, b.end)

    def multiply(self, a: Term, b: Term) -> Term:
        product = self.make(self._mul, (a, b), a.start, b.end)
        product.open = True
        return product

    def divide(self, a: Term, b: Term) -> Term:
        if a.literal and b.literal:
            p, q = a.node.value, b.node.value
            if isinstance(p, int) and isinstance(q, int) and q != 0:
                node = number(Fraction(p, q))
                self.numbers.append((abs(node.value), None, a.start))
                return self.term(node, a.start, b.end, node.dtype == "real")  # 4/2/2 is folded only once
        return self.make(self._div, (a, b), a.start, b.end)

    def remainder(self, a: Term, b: Term) -> Term:
        return self.build(self._remainder.build, (a, b), a.start, b.end)

    def floor_divide(self, a: Term, b: Term) -> Term:
        return self.build(self._quotient.build, (a, b), a.start, b.end)

    def matrix_product(self, a: Term, b: Term) -> Term:
        """Apply a sign or a number before a matrix product to the product: 2*A@x is 2*(A@x), as in printed formulas."""
        node = a.node
        if a.open and node.op is self._neg and node.shape:
            return self._in_front(self._neg, (), Term(node.args[0], a.start, a.end, open=True), b, a.start)
        if a.open and node.op is self._mul and not node.args[0].shape and node.args[1].shape:
            scale = Term(node.args[0], a.start, a.end)
            return self._in_front(self._mul, (scale,), Term(node.args[1], a.start, a.end), b, a.start)
        return self.build(matmul, (a, b), a.start, b.end)

    def _in_front(self, op: Op, before: tuple[Term, ...], a: Term, b: Term, start: int) -> Term:
        product = self.make(op, (*before, self.matrix_product(a, b)), start, b.end)
        product.open = True
        return product

    def transposed(self, a: Term, sign: Token) -> Term:
        return self.build(matrix_transpose, (a,), a.start, span_of(sign)[1])

    def raise_to(self, a: Term, b: Term) -> Term:
        return self.make(self._pow, (a, b), a.start, b.end)

    def plus(self, sign: Token, a: Term) -> Term:
        if a.node.dtype == "bool":
            return self.make(self._add, (Term(number(0), a.start, a.end), a), span_of(sign)[0], a.end)
        return Term(a.node, span_of(sign)[0], a.end, a.literal)

    def minus(self, sign: Token, a: Term) -> Term:
        return self._negative(a, span_of(sign)[0])

    def _negative(self, a: Term, start: int) -> Term:
        """-2 is a number; -0 stays a negation, because only a negation has the sign of the floating-point zero."""
        if a.literal and a.node.value != 0:
            return self.term(number(-a.node.value), start, a.end, True)
        negation = self.make(self._neg, (a,), start, a.end)
        negation.open = True
        return negation

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
                if as_condition(term.node) is None:
                    start = self.source.text.find(sign, a.end, b.start)
                    place = (term.start, term.end) if as_condition(other.node) else (start, start + len(sign))
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
        return self._connect("xor", "^", a, b, self._power(a, b))

    def _power(self, a: Term, b: Term) -> str:
        """Return the cure for a power with ^."""
        text = self.source.text
        base, power = text[a.start : a.end], text[b.start : b.end]
        if len(base) + len(power) > 40 or "\n" in base + power:
            return "write ** for powers"
        if operand_before(base, len(base)) == "e" and "e" in self.free:  # the text is a number, not a name
            whole = operand_before(power, len(power)) in (power, power[1:])
            return f"write {base[:-1]}exp({power})" if whole else "write exp(...) for powers of e"
        if power == "-1" and len(a.node.shape) == 2:
            return f"write inv({base}) for the inverse, {base}**-1 for each entry"
        return f"write {base}**{power}"

    def opposite(self, sign: Token, a: Term) -> Term:
        if self.error is None and as_condition(a.node) is None:
            return self.wrong(
                DomainError,
                f"'{sign}' denies a condition, and this is a number",
                a.start,
                a.end,
                expected="a condition such as x > 0",
                cure="compare it with something",
            )
        return self.make(OPS["not_"], (a,), span_of(sign)[0], a.end)

    def choose(self, a: Term, condition: Term, b: Term) -> Term:
        return self.make(OPS["where"], (condition, a, b), a.start, b.end)

    # -------------------------------------------------------------------------------------------------------- calls

    def items(self, left: Token, *rest: Item | Token | None) -> ItemList:
        right = rest[-1]
        assert isinstance(right, Token)
        values = tuple(v for v in rest[:-1] if isinstance(v, (Term, ItemList, Text, NoneLiteral)))
        return ItemList(values, span_of(left)[0], span_of(right)[1], str(left) == "[")

    def quoted(self, token: Token) -> Text:
        return Text(str(token)[1:-1], *span_of(token))

    def nothing(self, token: Token) -> NoneLiteral:
        return NoneLiteral(*span_of(token))

    def dots(self, _token: Token) -> Dots:
        return Dots()

    def section(self, first: Term | None, last: Term | None, step: Term | None) -> Section:
        return Section(first, last, step)

    def subscript(self, x: Term, _left: Token, *rest: Item | Section | Dots | Token | None) -> Term:
        right = rest[-1]
        assert isinstance(right, Token)
        if self.error is not None:
            return Term(number(1), x.start, span_of(right)[1])
        items = [i for i in rest[:-1] if i is not None and not isinstance(i, Token)]
        return subscript(self, x, items, span_of(right)[1])

    def array_of(self, items: ItemList) -> Term:
        return call(self, Token("NAME", "array", items.start, items.start), [items], items.end)

    def keyword(self, name: Token, value: Item) -> Keyword:
        return Keyword(name, value)

    def index_range(self, name: Token, first: Term, _dots: Token, last: Term) -> IndexEnds:
        return IndexEnds(name, first, last)

    def call(self, name: Token, *rest: Argument | IndexEnds | Token | None) -> Term:
        closing = rest[-1]
        assert isinstance(closing, Token)
        start, end = span_of(name)[0], span_of(closing)[1]
        given = [a for a in rest if isinstance(a, (Term, ItemList, Text, NoneLiteral, Keyword, IndexEnds))]
        if self.error is not None:
            return Term(number(1), start, end)
        body, others = given[0] if given else None, given[1:]
        over = [found for a in others if (found := self._as_index(a)) is not None]
        if over and len(over) == len(others) and isinstance(body, Term) and str(name) in REDUCTIONS:
            return self.build(partial(reduce_over_indices, str(name), over), [body], start, end)
        arguments = [a for a in given if not isinstance(a, IndexEnds)]
        if len(arguments) < len(given):
            return self.wrong(
                ProgramSyntaxError,
                f"a range of an index is no argument of this {name}(...)",
                start,
                end,
                expected="one formula, and then indices: sum(x[i]*y[t-1], i, t=1..T)",
                cure="use it in a sum, a mean or a product, behind the formula",
            )
        if str(name) in self.functions:
            return self.expand(name, arguments, end)
        return self.defined_below(name) or call(self, name, arguments, end)

    def _as_index(self, argument: Argument | IndexEnds) -> tuple[Node, IndexRange | None] | None:
        """Return an argument as an index with its values; None for other arguments."""
        if isinstance(argument, IndexEnds):
            return index_symbol(argument.name), self._values_of(argument)
        if isinstance(argument, Term) and index_name(argument.node) is not None:
            return argument.node, None
        return None

    def _values_of(self, given: IndexEnds) -> IndexRange | None:
        ends = [self.size_of(term.node) for term in (given.first, given.last)]
        for term, size in zip((given.first, given.last), ends, strict=True):
            if size is None:
                self.no_size("the end of a range", term, "whole numbers and sizes: t=1..T")
                return None
        first, last = (size for size in ends if size is not None)
        count = size_sum([last, size_product([-1, first]), 1])
        if isinstance(count, int) and count < 0:
            self.wrong(
                ProgramSyntaxError,
                f"the range {first}..{last} runs back",
                given.first.start,
                given.last.end,
                expected="the smaller end first",
                cure="exchange the two ends",
            )
        return IndexRange(str(given.name), first, last, size_max(count, 0))
