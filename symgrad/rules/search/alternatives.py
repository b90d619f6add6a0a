"""Other forms of one node by the rows of the stable phase: matched as written, in sums by their terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from symgrad.errors import NumberTooLargeError
from symgrad.ir.exact import Exact, exact_value
from symgrad.ir.graph import SYMBOL, Node, apply, number
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.rewrite.condition import Conditions
from symgrad.rewrite.engine import applicable, apply_rule
from symgrad.rewrite.pattern import Bindings, match
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.trace import Step
from symgrad.rules.normal.polynomials import common_denominator, keeps_domain, shortened
from symgrad.rules.normal.products import product_of

__all__ = ["Alternatives"]

ScaledTerm = tuple[Fraction, Node]

_ONE = number(1)
_TERMS = 8  # of a sum; a longer one is left alone
_PAIRS = 12  # of factors above and below


class _AsWritten:
    """Sees the sign in front of what is written negative, squares, and the number in a sum."""

    def sees(self, op_name: str) -> bool:
        return op_name in {"neg", "pow", "add", "sqrt"}

    def arguments(self, op_name: str, node: Node) -> tuple[Node, ...] | None:
        name = node.op.name
        if op_name == "neg":
            found = _negated(node)
            return None if found is None else (found,)
        if op_name == "sqrt":
            root = name == "pow" and node.args[1].is_number(Fraction(1, 2))
            return (node.args[0],) if name == "sqrt" or root else None
        if op_name == "pow":
            return _power(node)
        if name != "add":
            return None
        terms = _terms(node)
        constants = [k for k, (_, part) in enumerate(terms) if part is _ONE]
        if len(constants) != 1 or len(terms) < 3:
            return node.args
        (k,) = constants
        return number(terms[k][0]), _sum_of([*terms[:k], *terms[k + 1 :]])


_VIEW = _AsWritten()


def _negated(node: Node) -> Node | None:
    name = node.op.name
    if node.is_number():
        return number(-node.value) if node.value < 0 else None
    if name == "neg":
        return node.args[0]
    if name in {"mul", "div"}:
        first = _negated(node.args[0])
        if first is None:
            return None
        return node.args[1] if name == "mul" and first is _ONE else apply(node.op, (first, node.args[1]), ())
    return None


def _power(node: Node) -> tuple[Node, Node] | None:
    """See a square in x*x, x**4 and 9; any other power as it is."""
    name = node.op.name
    if name == "mul":
        return (node.args[0], number(2)) if node.args[0] is node.args[1] else None
    if name == "pow":
        exponent = node.args[1]
        if exponent.is_number() and exponent.value > 2 and exponent.value % 2 == 0:
            return node.args[0] ** (exponent / 2), number(2)
        return node.args[0], exponent
    if node.is_number() and node.value > 0:
        value = Fraction(node.value)
        above, below = isqrt(value.numerator), isqrt(value.denominator)
        if above**2 == value.numerator and below**2 == value.denominator:
            return number(Fraction(above, below)), number(2)
    return None


def _terms(node: Node) -> list[ScaledTerm]:
    """Return the terms of a sum in order, each a number times something; a number is itself times one."""
    found: list[ScaledTerm] = []
    pending: list[ScaledTerm] = [(Fraction(1), node)]
    while pending:
        c, part = pending.pop()
        name = part.op.name
        if name == "add":
            pending += [(c, part.args[1]), (c, part.args[0])]
        elif name == "neg":
            pending.append((-c, part.args[0]))
        elif part.is_number():
            found.append((_times(c, part.value), _ONE))
        elif name == "mul" and part.args[0].is_number() and part.args[0].value:
            pending.append((_times(c, part.args[0].value), part.args[1]))
        else:
            found.append((c, part))
    return found


def _times(c: Fraction, by: Exact) -> Fraction:
    return Fraction(exact_value(c * by))


def _scaled(c: Fraction, part: Node) -> Node:
    if part is _ONE:
        return number(c)
    if c == 1:
        return part
    if c == -1:
        positive = _negated(part)
        return neg(part) if positive is None else positive
    return mul(number(c), part)


def _sum_of(terms: Sequence[ScaledTerm]) -> Node:
    total: Node | None = None
    for c, part in terms:
        if total is None:
            total = _scaled(c, part)
        elif part is _ONE or c > 0:
            total = add(total, _scaled(c, part))
        else:
            total = add(total, neg(_scaled(-c, part)))
    return number(0) if total is None else total


@dataclass(frozen=True, slots=True)
class _Sum:
    """The left side of a row for sums: its terms, those with an op first, bare variables last."""

    rule: Rule
    terms: tuple[ScaledTerm, ...]


class Alternatives:
    """The other forms that the rows and laws give for a node.

    Args:
        rules: the rows.
        known: facts, by which conditions are decided.
    """

    def __init__(self, rules: RuleSet, known: Conditions) -> None:
        self._known = known
        self._rules = rules
        self._sums = [
            _Sum(r, tuple(sorted(_terms(r.pattern), key=lambda t: (t[1].op is SYMBOL, t[1] is _ONE))))
            for r in rules.headed("add")
        ]

    def of(self, node: Node) -> Iterator[Step]:
        """Yield steps from the node to other forms of it, in a fixed order, as far as numbers stay short."""
        try:
            yield from self._of(node)
        except NumberTooLargeError:
            return

    def _of(self, node: Node) -> Iterator[Step]:
        name = node.op.name
        if name == "add":
            yield from self._of_sum(node)
            return
        heads = [name, "sqrt"] if name == "pow" and node.args[1].is_number(Fraction(1, 2)) else [name]
        for head in heads:
            for rule in self._rules.headed(head):
                for bindings in match(rule.pattern, node, {}, _VIEW):
                    yield from self._applied(rule, node, bindings, Fraction(1), ())
        if name == "div":
            for after in _by_quotients(node):
                yield Step("quotient-of-quotients", node, after, "exact")
            yield from self._of_factored(node)
            yield from self._of_part(node)

    def _of_part(self, node: Node) -> Iterator[Step]:
        """Apply rows for quotients to one factor above and one below."""
        c, above = _unsigned(node.args[0])
        ups, downs = _factors(above), _factors(node.args[1], powers=False)
        if len(ups) * len(downs) > _PAIRS or (len(ups) == len(downs) == 1 and c == 1):
            return
        for i, x in enumerate([*ups, _ONE]):
            for k, y in enumerate(downs):
                part = div(x, y)
                for rule in self._rules.headed("div"):
                    for bindings in match(rule.pattern, part, {}, _VIEW):
                        for step in self._applied(rule, part, bindings, Fraction(1), ()):
                            others = [step.after, *(u for m, u in enumerate(ups) if m != i and u is not _ONE)]
                            after = _scaled(c, product_of(others))
                            left = [d for m, d in enumerate(downs) if m != k]
                            after = div(after, product_of(left)) if left else after
                            if after.shape == node.shape:
                                yield Step(rule.name, node, after, step.soundness, step.notes)

    def _of_factored(self, node: Node) -> Iterator[Step]:
        """Factor differences of squares above and below: the error of what stands in both then cancels."""
        for k in (0, 1):
            if node.args[k].op is not add:
                continue
            for step in self._of_sum(node.args[k]):
                if step.rule == "difference-of-squares":
                    args = (step.after, node.args[1]) if k == 0 else (node.args[0], step.after)
                    yield Step(step.rule, node, div(*args), step.soundness, step.notes)

    def _of_sum(self, node: Node) -> Iterator[Step]:
        terms = _terms(node)
        if len(terms) > _TERMS:
            return
        for row in self._sums:
            for scale, bindings, used in _matches(row.terms, terms):
                rest = tuple(t for k, t in enumerate(terms) if k not in used)
                yield from self._applied(row.rule, node, bindings, scale, rest)
        quotient = common_denominator([_scaled(c, part) for c, part in terms], self._known)
        if quotient is not None:
            yield Step("common-denominator", node, quotient, "exact")

    def _applied(
        self, rule: Rule, node: Node, bindings: Bindings, scale: Fraction, rest: tuple[ScaledTerm, ...]
    ) -> Iterator[Step]:
        if not applicable(rule, bindings, self._known):
            return
        made = _instantiate(rule.replacement, bindings, shortened)
        whole = _instantiate(rule.replacement, bindings, lambda term: term)
        if made is not whole:
            before = [
                bindings[v] for v in bindings if v not in rule.dropped
            ]  # which is told of what is dropped
            if not keeps_domain(before, [made, *(part for _, part in rest)], self._known):
                made = whole
        if made.is_number():
            return
        after = _sum_of([*rest, (scale, made)]) if rest else _scaled(scale, made)
        if after is not node and after.shape == node.shape and after.dtype == node.dtype:
            yield apply_rule(rule, node, after, bindings, self._known)


def _instantiate(template: Node, bindings: Mapping[Node, Node], cancelled: Callable[[Node], Node]) -> Node:
    """Replace the variables of a template, and cancel what then cancels in its sums."""
    if template.op is SYMBOL:
        return bindings[template]
    if not template.args:
        return template
    args = tuple(_instantiate(arg, bindings, cancelled) for arg in template.args)
    name = template.op.name
    if name == "neg":
        return -args[0]
    made = apply(template.op, args, template.params)
    return cancelled(made) if name == "add" or (name == "div" and template.args[1].is_number()) else made


def _matches(
    patterns: Sequence[ScaledTerm], terms: Sequence[ScaledTerm]
) -> Iterator[tuple[Fraction, Bindings, frozenset[int]]]:
    """Yield the ways in which a number times the pattern is a part of the sum."""
    (first_c, first), *others = patterns
    for k, (c, part) in enumerate(terms):
        if not c or (part is _ONE and first is not _ONE and first.op.name != "pow"):
            continue
        scale = c / first_c
        for bindings in _match_term(first, part, {}):
            for found, used in _match_others(others, terms, scale, bindings, frozenset([k])):
                yield scale, found, used


def _match_others(
    patterns: Sequence[ScaledTerm],
    terms: Sequence[ScaledTerm],
    scale: Fraction,
    bindings: Bindings,
    used: frozenset[int],
) -> Iterator[tuple[Bindings, frozenset[int]]]:
    if not patterns:
        yield bindings, used
        return
    (wanted, pattern), *others = patterns
    for k, (c, part) in enumerate(terms):
        if k in used or not c:
            continue
        ratio = c / (scale * wanted)
        if pattern.op is SYMBOL:
            found = (
                iter([{**bindings, pattern: _scaled(ratio, part)}]) if pattern not in bindings else iter(())
            )
        elif part is _ONE and pattern is not _ONE:
            found = match(pattern, number(ratio), bindings, _VIEW) if ratio > 0 else iter(())
        elif ratio == 1:
            found = _match_term(pattern, part, bindings)
        else:
            continue
        for more in found:
            yield from _match_others(others, terms, scale, more, used | {k})


def _match_term(pattern: Node, part: Node, bindings: Bindings) -> Iterator[Bindings]:
    return match(pattern, part, bindings, _VIEW)


def _by_quotients(node: Node) -> Iterator[Node]:
    """Yield a quotient with its factors interleaved: `x*y/(u*v)` as `x/u*(y/v)`, which neither product can overflow."""
    c, above = _unsigned(node.args[0])
    ups, downs = _factors(above), _factors(node.args[1])
    if not 2 <= len(downs) <= 4 or len(ups) > 4:
        return
    ups[0] = _scaled(c, ups[0])
    parts = [div(x, u) for x, u in zip(ups, downs, strict=False)]
    total = product_of(parts)
    for x in ups[len(downs) :]:
        total = mul(total, x)
    for u in downs[len(ups) :]:
        total = div(total, u)
    yield total
    # Down the numbers of one side: all quotients first, then the products that are left.
    total = ups[0]
    for u in downs:
        total = div(total, u)
    yield product_of([total, *ups[1:]])


def _unsigned(node: Node) -> ScaledTerm:
    """Return a node as a number times what is no negation or multiple by a number."""
    c, part = Fraction(1), node
    while True:
        if part.op is neg:
            c, part = -c, part.args[0]
        elif part.op is mul and part.args[0].is_number():
            c, part = _times(c, part.args[0].value), part.args[1]
        else:
            return (_times(c, part.value), _ONE) if part.is_number() else (c, part)


def _factors(node: Node, *, powers: bool = True) -> list[Node]:
    found: list[Node] = []
    pending = [node]
    while pending:
        part = pending.pop()
        if part.op is mul:
            pending += reversed(part.args)
        elif powers and part.op.name == "pow" and part.args[1].is_number() and part.args[1].value in (2, 3):
            found += [part.args[0]] * int(part.args[1].value)
        else:
            found.append(part)
    return found
