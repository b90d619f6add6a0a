"""Find other forms of a node by the rows of the stable phase, which match as written, or by terms of a sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from symgrad.ir.graph import SYMBOL, Node, apply, number
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add, div, mul, neg
from symgrad.rewrite.choice.as_written import (
    AS_WRITTEN,
    ONE,
    ScaledTerm,
    has_sign,
    scaled,
    seen_as,
    seen_in_a_sum,
    sum_of,
    terms_of,
    times,
)
from symgrad.rewrite.engine import applicable, apply_rule
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.normal_form.products import product_of
from symgrad.rewrite.pattern import Bindings, match
from symgrad.rewrite.rational.cancel import common_denominator, keeps_domain, shortened
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.trace import Step
from symgrad.support.errors import NumberTooLargeError

_TERMS = 8  # largest number of terms of a sum; longer sums stay as they are
_PAIRS = 12  # largest number of pairs of factors in numerator and denominator


_Needs = frozenset[tuple[int, str]]
"""The ops that nodes must be readable as: arguments by position, terms of a sum by a counter for each op."""


class _Sum:
    """The left side of a row for sums: its terms, with bare variables last, and the ops that it needs."""

    __slots__ = ("needs", "rule", "terms")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.terms = sorted(terms_of(rule.pattern), key=lambda t: (t[1].op is SYMBOL, t[1] is ONE))
        self.needs = _counted(part.op.name for _, part in self.terms if part.op is not SYMBOL)


def _needed(patterns: Sequence[Node]) -> _Needs:
    return frozenset((i, p.op.name) for i, p in enumerate(patterns) if p.op is not SYMBOL)


def _there(seen: Iterable[frozenset[str]]) -> _Needs:
    return frozenset((i, name) for i, names in enumerate(seen) for name in names)


def _counted(names: Iterable[str]) -> _Needs:
    counts: dict[str, int] = {}
    found: set[tuple[int, str]] = set()
    for name in names:
        k = counts.get(name, 0)
        counts[name] = k + 1
        found.add((k, name))
    return frozenset(found)


def _others(rules: RuleSet) -> dict[str, list[tuple[_Needs, Rule]]]:
    found: dict[str, list[tuple[_Needs, Rule]]] = {}
    for rule in rules:
        op, args = rule.pattern.op, rule.pattern.args
        if rule.how == "matched" and op is not add:
            # Arguments of commutative ops are tried in both orders.
            needs: _Needs = frozenset() if "commutative" in op.facts else _needed(args)
            found.setdefault(op.name, []).append((needs, rule))
    return found


class Alternatives:
    """Finds other forms of a node by rows and laws.

    Args:
        rules: the rows.
        known: facts, which decide conditions.
    """

    def __init__(self, rules: RuleSet, known: Conditions) -> None:
        self._known = known
        self._sums = [_Sum(rule) for rule in rules.headed("add")]
        self._squares = [row for row in self._sums if row.rule.name == "difference-of-squares"]
        self._others = _others(rules)
        self._matching: dict[tuple[str, tuple[frozenset[str], ...]], list[Rule]] = {}

    def of(self, node: Node) -> Iterator[Step]:
        """Yield steps from the node to other forms of it, in a fixed order; stop if numbers become too long."""
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
            for rule in self._that_may_match(head, tuple(map(seen_as, node.args))):
                for bindings in match(rule.pattern, node, {}, AS_WRITTEN):
                    yield from self._applied(rule, node, bindings, Fraction(1), ())
        if name == "div":
            for after in _by_quotients(node):
                yield Step("quotient-of-quotients", node, after, "exact")
            yield from self._of_factored(node)
            yield from self._of_part(node)

    def _that_may_match(self, head: str, seen: tuple[frozenset[str], ...]) -> list[Rule]:
        """Return the rows for an op whose patterns may match arguments that can be read as these ops."""
        found = self._matching.get((head, seen))
        if found is None:
            there = _there(seen)
            rows = self._others.get(head, ())
            found = self._matching[head, seen] = [rule for needs, rule in rows if needs <= there]
        return found

    def _of_part(self, node: Node) -> Iterator[Step]:
        """Apply rows for quotients to one factor of the numerator and one of the denominator."""
        c, above = _unsigned(node.args[0])
        ups, downs = _factors(above), _factors(node.args[1], powers=False)
        if len(ups) * len(downs) > _PAIRS or (len(ups) == len(downs) == 1 and c == 1):
            return
        seen = [*map(seen_as, downs)]
        for i, x in enumerate([*ups, ONE]):
            seen_above = seen_as(x)
            for k, y in enumerate(downs):
                for rule in self._that_may_match("div", (seen_above, seen[k])):
                    part = div(x, y)
                    for bindings in match(rule.pattern, part, {}, AS_WRITTEN):
                        for step in self._applied(rule, part, bindings, Fraction(1), ()):
                            others = [step.after, *(u for m, u in enumerate(ups) if m != i and u is not ONE)]
                            after = scaled(c, product_of(others))
                            left = [d for m, d in enumerate(downs) if m != k]
                            after = div(after, product_of(left)) if left else after
                            if after.shape == node.shape:
                                yield Step(step.rule, node, after, step.soundness, step.notes)

    def _of_factored(self, node: Node) -> Iterator[Step]:
        """Factor differences of squares in numerator and denominator: errors of common factors then cancel."""
        for k in (0, 1):
            if node.args[k].op is not add:
                continue
            terms = terms_of(node.args[k])
            if len(terms) > _TERMS:
                continue
            for step in self._by_rows(self._squares, node.args[k], terms):
                args = (step.after, node.args[1]) if k == 0 else (node.args[0], step.after)
                yield Step(step.rule, node, div(*args), step.soundness, step.notes)

    def _of_sum(self, node: Node) -> Iterator[Step]:
        terms = terms_of(node)
        if len(terms) > _TERMS:
            return
        yield from self._by_rows(self._sums, node, terms)
        if not any(_may_divide(part) for _, part in terms):
            return
        quotient = common_denominator([scaled(c, part) for c, part in terms], self._known)
        if quotient is not None:
            yield Step("common-denominator", node, quotient, "exact")

    def _by_rows(self, rows: Iterable[_Sum], node: Node, terms: Sequence[ScaledTerm]) -> Iterator[Step]:
        there = _counted(name for _, part in terms for name in seen_in_a_sum(part))
        for row in rows:
            if row.needs <= there:
                for scale, bindings, used in _matches(row.terms, terms):
                    rest = tuple(t for k, t in enumerate(terms) if k not in used)
                    yield from self._applied(row.rule, node, bindings, scale, rest)

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
            ]  # `apply_rule` gets the dropped operands
            if not keeps_domain(before, [made, *(part for _, part in rest)], self._known):
                made = whole
        if made.is_number() or _fits_numbers(rule.replacement, made, bindings):
            return
        after = sum_of([*rest, (scale, made)]) if rest else scaled(scale, made)
        if after is not node and after.shape == node.shape and after.dtype == node.dtype:
            yield apply_rule(rule, node, after, bindings, self._known)


def _instantiate(template: Node, bindings: Mapping[Node, Node], cancelled: Callable[[Node], Node]) -> Node:
    """Replace the variables of a template, and cancel terms in the resulting sums."""
    if template.op is SYMBOL:
        return bindings[template]
    if not template.args:
        return template
    args = tuple(_instantiate(arg, bindings, cancelled) for arg in template.args)
    name = template.op.name
    if name == "neg":
        return -args[0]
    made = _without_ones(apply(template.op, args, template.params))
    return cancelled(made) if name == "add" or (name == "div" and template.args[1].is_number()) else made


def _fits_numbers(template: Node, made: Node, bindings: Bindings) -> bool:
    """Tell whether a replacement has a function at 0 or 1: then the pattern fits by numbers, such as 1**2 - 1**2."""
    bound = set(bindings.values())
    new = topological([made], until=bound) if template.args else ()
    return any(len(n.args) == 1 and n not in bound and _is_unit(n.args[0]) for n in new)


def _is_unit(node: Node) -> bool:
    return node.is_number(0) or node.is_number(1)


def _without_ones(node: Node) -> Node:
    """Return a product or quotient without factors of 1, and a power of 1 as 1."""
    if not node.args:
        return node
    a, b = node.args[0], node.args[-1]
    if node.op is mul and a.is_number() and b.is_number():
        return number(times(Fraction(a.value), b.value))
    if (node.op is mul and a.is_number(1)) or (node.op.name == "pow" and b.is_number(1)):
        return b if node.op is mul else a
    if b.is_number(1) and (node.op is mul or node.op is div):
        return a
    if node.op is div and a.is_number(0) and b.is_number() and b.value:
        return a
    return a if node.op.name == "pow" and a.is_number(1) else node


def _matches(
    patterns: Sequence[ScaledTerm], terms: Sequence[ScaledTerm]
) -> Iterator[tuple[Fraction, Bindings, frozenset[int]]]:
    """Yield the ways in which a number times the pattern is part of the sum."""
    (first_c, first), *others = patterns
    for k, (c, part) in enumerate(terms):
        if not c or (part is ONE and first is not ONE and first.op.name != "pow"):
            continue
        for bindings in match(first, part, {}, AS_WRITTEN):
            scale = c / first_c
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
            value = scaled(ratio, part)
            found = iter([{**bindings, pattern: value}] if bindings.get(pattern, value) is value else [])
        elif part is ONE and pattern is not ONE:
            found = match(pattern, number(ratio), bindings, AS_WRITTEN) if ratio > 0 else iter(())
        elif ratio == 1:
            found = match(pattern, part, bindings, AS_WRITTEN)
        else:
            continue
        for more in found:
            yield from _match_others(others, terms, scale, more, used | {k})


def _may_divide(part: Node) -> bool:
    """Tell whether a term may be a quotient, possibly after a number or a sign; other terms have no denominator."""
    if part.op is mul:
        return part.args[0].is_number() or has_sign(part)
    return part.op is div


def _by_quotients(node: Node) -> Iterator[Node]:
    """Yield a quotient with interleaved factors: `x*y/(u*v)` as `x/u*(y/v)`, so that no product overflows."""
    c, above = _unsigned(node.args[0])
    ups, downs = _factors(above), _factors(node.args[1])
    if not 2 <= len(downs) <= 4 or len(ups) > 4:
        return
    ups[0] = scaled(c, ups[0])
    parts = [div(x, u) for x, u in zip(ups, downs, strict=False)]
    total = product_of(parts)
    for x in ups[len(downs) :]:
        total = mul(total, x)
    for u in downs[len(ups) :]:
        total = div(total, u)
    yield total
    # Alternative: divide by all factors first, then multiply.
    total = ups[0]
    for u in downs:
        total = div(total, u)
    yield product_of([total, *ups[1:]])


def _unsigned(node: Node) -> ScaledTerm:
    """Return a node as a number times a node that is neither a negation nor a multiple by a number."""
    c, part = Fraction(1), node
    while True:
        if part.op is neg:
            c, part = -c, part.args[0]
        elif part.op is mul and part.args[0].is_number():
            c, part = times(c, part.args[0].value), part.args[1]
        else:
            return (times(c, part.value), ONE) if part.is_number() else (c, part)


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
