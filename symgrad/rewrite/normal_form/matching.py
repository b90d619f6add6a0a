"""Match rules in products and sums: a left side a*b matches any two factors, a + b any two terms.

    sin(a)/cos(a)          two factors: sin(a) to 1, cos(a) to -1
    sin(a)**2 + cos(a)**2  two terms of one factor each

The first factor (of the first term) that has an op is the *anchor*. Only the anchor is searched, and its match binds
all variables; then the other factors and terms are looked up. The terms may share a further factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from symgrad.ir.graph import SYMBOL, Node, number
from symgrad.ir.traverse import signed_terms
from symgrad.rewrite.engine import applicable, apply_rule
from symgrad.rewrite.normal_form.form import Exponent, Form, Sum, short
from symgrad.rewrite.normal_form.gathering import Gathering
from symgrad.rewrite.normal_form.protocols import AllForms, OpenProduct
from symgrad.rewrite.pattern import Bindings, instantiate, is_literal, match, metavariables
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.trace import Note
from symgrad.support.errors import UsageError


@dataclass(frozen=True, slots=True)
class _ProductRow:
    """The left side of a rule for products: the anchor and the other factors, as bases with exponents."""

    rule: Rule
    anchor: tuple[Node, Node]
    others: tuple[tuple[Node, Node], ...]

    @property
    def exponent(self) -> Exponent | None:
        """The exponent of the anchor; None for any exponent."""
        return None if is_literal(self.anchor[1]) else self.anchor[1].value


@dataclass(frozen=True, slots=True)
class _SumRow:
    """The left side of a rule for sums: coefficients with factors, the anchor's term first."""

    rule: Rule
    anchor: tuple[Exponent, _ProductRow]
    others: tuple[tuple[Exponent, tuple[tuple[Node, Node], ...]], ...]


class RulesForProducts:
    """Rules whose left side is a product or power, matched against any part of a product."""

    def __init__(self, rules: RuleSet, forms: AllForms) -> None:
        self._forms = forms
        self._by_anchor = _rows_for_products(rules)

    def apply(self, product: OpenProduct) -> bool:
        """Apply the first rule that matches."""
        for base, e in product.factors.items():
            if e == 0:
                continue  # cancelled: now only its domain matters
            for wanted, row in self._by_anchor.get(base.op.name, ()):
                # The exponents exclude most rows before patterns are matched.
                if len(row.others) >= len(product.factors) or not (wanted is None or _enough(e, wanted)):
                    continue
                for bindings in match(row.anchor[0], base, {}, self._forms):
                    found = _bind_exponent(row.anchor[1], e, bindings)
                    if found is not None and self._use(row, base, found, product):
                        return True
        return False

    def _use(self, row: _ProductRow, base: Node, bindings: Bindings, product: OpenProduct) -> bool:
        used: dict[Node, Exponent] = {base: _value(row.anchor[1], bindings)}
        for pattern, exponent in row.others:
            other = instantiate(pattern, bindings)
            e, wanted = product.factors.get(other, 0), _value(exponent, bindings)
            if other in used or e == 0 or (e > 0) != (wanted > 0) or abs(e) < abs(wanted):
                return False
            used[other] = wanted
        rule = row.rule
        if rule.whole and any(product.factors[b] != w for b, w in used.items()):
            return False
        if not applicable(rule, bindings, self._forms.known):
            return False
        after = instantiate(rule.replacement, bindings)
        step = apply_rule(rule, base, after, bindings, self._forms.known)
        # Apply the rule as often as the exponents allow, in one step: a high power would need too many steps.
        times = min((product.factors[b] / Fraction(w)).__floor__() for b, w in used.items())
        for b, wanted in used.items():
            product.divide(b, wanted * times)
        product.walk_new(after, times)
        product.laws[rule.name] = None
        product.notes.update(dict.fromkeys(step.notes))
        return True


class RulesForSums:
    """Rules whose left side is a sum, matched against terms that share a further factor."""

    def __init__(self, rules: RuleSet, forms: AllForms) -> None:
        self._forms = forms
        self._by_anchor = _rows_for_sums(rules)

    def apply(self, total: Sum, laws: dict[str, None], notes: dict[Note, None]) -> bool:
        """Apply rules for sums until none matches, and tell whether one matched."""
        fired = False
        for _ in range(200):
            if not self._apply_one(total, laws, notes):
                return fired
            fired = True
        return fired

    def _apply_one(self, total: Sum, laws: dict[str, None], notes: dict[Note, None]) -> bool:
        for term, c in total.terms.items():
            form = self._forms.products.form_of_factor(term)
            for base, e in form.factors.items():
                for exponent, row in self._by_anchor.get(base.op.name, ()):
                    if exponent != e:
                        continue
                    wanted_c, factors = row.anchor
                    for bindings in match(factors.anchor[0], base, {}, self._forms):
                        rest = Form(1, {b: k for b, k in form.factors.items() if b is not base}, form.powers)
                        scale = short(Fraction(c) / wanted_c)
                        if self._use(row, term, scale, rest, bindings, total, laws, notes):
                            return True
        return False

    def _use(
        self,
        row: _SumRow,
        term: Node,
        scale: Exponent,
        rest: Form,
        bindings: Bindings,
        total: Sum,
        laws: dict[str, None],
        notes: dict[Note, None],
    ) -> bool:
        rule = row.rule
        used: list[Node | None] = [term]
        for coefficient, factors in row.others:
            part = Gathering(self._forms)
            part.raise_to(rest, 1)
            for pattern, exponent in factors:
                part.include(instantiate(pattern, bindings), _value(exponent, bindings))
            bare = not part.factors and not part.powers
            other = None if bare else self._forms.products.write(part.form())
            present = total.constant if other is None else total.terms.get(other, 0)
            if other in used or present != coefficient * scale:
                return False
            used.append(other)
        if not applicable(rule, bindings, self._forms.known):
            return False
        after = instantiate(rule.replacement, bindings)
        notes.update(dict.fromkeys(apply_rule(rule, term, after, bindings, self._forms.known).notes))
        laws[rule.name] = None
        for replaced in used:
            if replaced is None:
                total.constant = 0
            else:
                del total.terms[replaced]
        product = Gathering(self._forms)
        product.raise_to(rest, 1)
        product.coefficient = scale
        product.walk_new(after)
        product.settle()
        self._forms.sums.include(total, product.form())
        return True


@cache
def _rows_for_products(rules: RuleSet) -> dict[str, list[tuple[Exponent | None, _ProductRow]]]:
    """Return the rules for products by the op of their anchors, each with the exponent of its anchor."""
    found: dict[str, list[tuple[Exponent | None, _ProductRow]]] = {}
    for head in ("mul", "div", "pow"):
        for rule in rules.headed(head):
            compiled = _factors(rule, rule.pattern)
            found.setdefault(compiled.anchor[0].op.name, []).append((compiled.exponent, compiled))
    return found


@cache
def _rows_for_sums(rules: RuleSet) -> dict[str, list[tuple[Exponent | None, _SumRow]]]:
    """Return the rules for sums by the op of their anchors, each with the exponent of its anchor."""
    found: dict[str, list[tuple[Exponent | None, _SumRow]]] = {}
    for rule in rules.headed("add"):
        compiled = _terms(rule)
        anchor = compiled.anchor[1]
        found.setdefault(anchor.anchor[0].op.name, []).append((anchor.exponent, compiled))
    return found


def _factors(rule: Rule, pattern: Node) -> _ProductRow:
    found = _flat(pattern)
    anchors = [i for i, (base, _) in enumerate(found) if base.op is not SYMBOL]
    if not anchors:
        raise UsageError(f"rule {rule.name}: one factor must name an op")
    anchor = found.pop(anchors[0])
    bound = set(metavariables(anchor[0])) | set(metavariables(anchor[1]))
    if any(v not in bound for base, e in found for v in (*metavariables(base), *metavariables(e))):
        raise UsageError(f"rule {rule.name}: the first factor with an op must bind every variable")
    return _ProductRow(rule, anchor, tuple(found))


def _flat(pattern: Node) -> list[tuple[Node, Node]]:
    """Return the factors of a pattern: bases with exponents (numbers or literal metavariables)."""
    name = pattern.op.name
    if name == "mul":
        return _flat(pattern.args[0]) + _flat(pattern.args[1])
    if name == "div":
        return _flat(pattern.args[0]) + [(b, number(-e.value)) for b, e in _flat(pattern.args[1])]
    if name == "pow" and (pattern.args[1].is_number() or is_literal(pattern.args[1])):
        return [(pattern.args[0], pattern.args[1])]
    return [] if pattern.is_number(1) else [(pattern, number(1))]


def _terms(rule: Rule) -> _SumRow:
    parts: list[tuple[Exponent, Node]] = [
        (node.value * sign, number(1)) if node.is_number() else (sign, node)
        for sign, node in signed_terms(rule.pattern)
    ]
    first = next(i for i, (_, part) in enumerate(parts) if not part.is_number())
    c, part = parts.pop(first)
    anchor = _factors(rule, part)
    if anchor.others or anchor.exponent is None:
        raise UsageError(f"rule {rule.name}: the first term must be a single power, its exponent a number")
    return _SumRow(rule, (c, anchor), tuple((k, tuple(_flat(p))) for k, p in parts))


def _bind_exponent(pattern: Node, e: Exponent, bindings: Bindings) -> Bindings | None:
    if not is_literal(pattern):
        return bindings if _enough(e, pattern.value) else None
    return {**bindings, pattern: number(e)} if bindings.get(pattern, number(e)) is number(e) else None


def _enough(e: Exponent, wanted: Exponent) -> bool:
    return (e > 0) == (wanted > 0) and abs(e) >= abs(wanted)


def _value(exponent: Node, bindings: Bindings) -> Exponent:
    node = bindings[exponent] if is_literal(exponent) else exponent
    return node.value
