"""What ties the normal forms together: views under which rules match, and rules that act inside sums and products."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from symgrad.errors import UsageError
from symgrad.ir.graph import SYMBOL, Node, number, truth
from symgrad.ops.layout import broadcast_to, full
from symgrad.rewrite.condition import Conditions
from symgrad.rewrite.engine import Round, applicable, apply_rule
from symgrad.rewrite.pattern import Bindings, instantiate, is_literal, match, metavariables
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.trace import Note, Step
from symgrad.rules.choices import Choices
from symgrad.rules.denominators import Denominators
from symgrad.rules.form import Exponent, Form, short
from symgrad.rules.gathering import Gathering
from symgrad.rules.order import Order
from symgrad.rules.products import Products
from symgrad.rules.sums import Sum, Sums
from symgrad.rules.tensor import Tensors

__all__ = ["NormalForms"]

_FLATTENED = frozenset(
    [("add", "add"), ("neg", "add")]
    + [(child, parent) for child in ("mul", "div", "neg") for parent in ("mul", "div")]
)
_PRODUCT_OPS = frozenset({"mul", "div", "neg", "pow", "sqrt"})
_SEEN = frozenset({"mul", "neg", "pow", "add", "div"})


@dataclass(frozen=True, slots=True)
class _Factors:
    """The left side of a rule for products: bases with exponents, first one that names an op (the anchor)."""

    rule: Rule
    anchor: tuple[Node, Node]
    others: tuple[tuple[Node, Node], ...]

    @property
    def exponent(self) -> Exponent | None:
        """The exponent of the anchor, None if any will do."""
        return None if is_literal(self.anchor[1]) else self.anchor[1].value


@dataclass(frozen=True, slots=True)
class _Terms:
    """The left side of a rule for sums: coefficients with factors, the anchor's term first."""

    rule: Rule
    anchor: tuple[Exponent, _Factors]
    others: tuple[tuple[Exponent, tuple[tuple[Node, Node], ...]], ...]


class RulesForProducts:
    """The rules whose left side is a product or power, matched against any part of a product."""

    def __init__(self, rules: RuleSet, forms: NormalForms) -> None:
        self._forms = forms
        self._by_anchor = _rows_for_products(rules)

    def apply(self, gathering: Gathering) -> bool:
        """Apply the first rule that matches."""
        for base, e in gathering.factors.items():
            if e == 0:
                continue  # cancelled: only its domain is still of interest
            for wanted, row in self._by_anchor.get(base.op.name, ()):
                # Most rows need no match of patterns to be ruled out.
                if len(row.others) >= len(gathering.factors) or not (wanted is None or _enough(e, wanted)):
                    continue
                for bindings in match(row.anchor[0], base, {}, self._forms):
                    found = _bind_exponent(row.anchor[1], e, bindings)
                    if found is not None and self._use(row, base, found, gathering):
                        return True
        return False

    def _use(self, row: _Factors, base: Node, bindings: Bindings, gathering: Gathering) -> bool:
        used: dict[Node, Exponent] = {base: _value(row.anchor[1], bindings)}
        for pattern, exponent in row.others:
            other = instantiate(pattern, bindings)
            e, wanted = gathering.factors.get(other, 0), _value(exponent, bindings)
            if other in used or e == 0 or (e > 0) != (wanted > 0) or abs(e) < abs(wanted):
                return False
            used[other] = wanted
        if row.rule.whole and any(gathering.factors[b] != w for b, w in used.items()):
            return False
        rule = row.rule
        if not applicable(rule, bindings, self._forms.known):
            return False
        after = instantiate(rule.replacement, bindings)
        step = apply_rule(rule, base, after, bindings, self._forms.known)
        # As often as the exponents allow: one by one, a high power would take as many steps.
        times = min((gathering.factors[b] / Fraction(w)).__floor__() for b, w in used.items())
        for b, wanted in used.items():
            gathering.divide(b, wanted * times)
        gathering.walk_new(after, times)
        gathering.laws[rule.name] = None
        gathering.notes.update(dict.fromkeys(step.notes))
        return True


class RulesForSums:
    """The rules whose left side is a sum, matched against terms that share a further factor."""

    def __init__(self, rules: RuleSet, forms: NormalForms) -> None:
        self._forms = forms
        self._by_anchor = _rows_for_sums(rules)

    def apply(self, total: Sum, laws: dict[str, None], notes: dict[Note, None]) -> bool:
        """Apply rules for sums until none matches, and tell whether one did."""
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
        row: _Terms,
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
        for gone in used:
            if gone is None:
                total.constant = 0
            else:
                del total.terms[gone]
        product = Gathering(self._forms)
        product.raise_to(rest, 1)
        product.coefficient = scale
        product.walk_new(after)
        product.settle()
        self._forms.sums.include(total, product.form())
        return True


class NormalForms:
    """The normaliser: normal forms of sums and products, with their memos.

    What is remembered of sums and products holds in every round: only small ones are, and these are taken apart,
    whatever the round has left as it was.

    Args:
        rules: the matched rules.
        known: facts about nodes.
        order: the order of terms and factors.
    """

    def __init__(self, rules: RuleSet, known: Conditions, order: Order) -> None:
        self.known = known
        self.settled: set[Node] = set()
        self._raw: set[Node] = set()
        self.order = order
        self.products = Products(self)
        self.sums = Sums(self)
        self.denominators = Denominators(self)
        self.tensors = Tensors(self)
        self.choices = Choices(self)
        self.rules_for_products = RulesForProducts(rules, self)
        self.rules_for_sums = RulesForSums(rules, self)

    def begin(self, current: Round) -> NormalForms:
        """Turn to a round, and return itself."""
        self.settled, self._raw = current.settled, current.raw
        self.tensors = Tensors(self)  # what these remember is of the round
        return self

    def forget(self) -> None:
        """Let go of all that was remembered, which else, in cycles, would wait for the garbage collector."""
        self.__dict__.clear()

    def opens(self, node: Node, root: Node) -> bool:
        """Tell whether a sum or product is taken apart inside a larger one."""
        if node is root or node in self._raw:
            return True
        return self.sums.small(node) if node.op.name == "add" else self.products.small(node)

    def inner(self, child: Node, parent: Node) -> bool:
        return (child.op.name, parent.op.name) in _FLATTENED

    def step(self, node: Node) -> Step | None:
        if not node.args:
            return None
        value = self._known_value(node)
        if value is not None:
            return Step("known-value", node, value, "exact")
        name = node.op.name
        if name == "add":
            return self.sums.collect(node)
        if name in _PRODUCT_OPS:
            return self.products.collect(node)
        choice = self.choices.step(node)
        if choice is not None:
            return choice
        return self.tensors.step(node) if node.shape or not node.op.pointwise else None

    def _known_value(self, node: Node) -> Node | None:
        """A node that has one possible value, everywhere, is that number."""
        point = self.known.point(node)
        if point is None or node.op is broadcast_to or self.known.defined(node) != "yes":
            return None
        return full(truth(point == 1) if node.dtype == "bool" else number(point), node.shape)

    def sees(self, op_name: str) -> bool:
        return op_name in _SEEN

    def arguments(self, op_name: str, node: Node) -> tuple[Node, ...] | None:
        """See -x in -2*x = -(2*x), a*b in any product, a**n in sqrt(a) and 1/a."""
        if op_name == "neg":
            return (self.negated(node),) if self.reads_negative(node) else None
        if node.op.name not in _PRODUCT_OPS or not self.products.small(node):
            return None
        form = self.products.form_of_factor(node)
        if op_name == "pow":
            if len(form.factors) == 1 and not form.powers and form.coefficient == 1:
                ((base, e),) = form.factors.items()
                return (base, number(e)) if e != 1 else None
            return None
        if op_name == "mul":
            return self._head_and_rest(form)
        return None

    def _head_and_rest(self, form: Form) -> tuple[Node, Node] | None:
        if form.coefficient != 1:
            rest = Form(1, form.factors, form.powers)
            return (
                (number(form.coefficient), self.products.write(rest)) if form.factors or form.powers else None
            )
        if len(form.factors) + len(form.powers) < 2:
            return None
        head = self.products.sorted([*form.factors, *form.powers])[0]
        first = Form(
            1,
            {head: form.factors[head]} if head in form.factors else {},
            {head: form.powers[head]} if head in form.powers else {},
        )
        rest = Form(
            1,
            {b: e for b, e in form.factors.items() if b is not head},
            {b: e for b, e in form.powers.items() if b is not head},
        )
        if not rest.factors and not rest.powers:
            return None
        return (self.products.write(first), self.products.write(rest))

    def reads_negative(self, node: Node) -> bool:
        """Tell whether a node in normal form opens with a minus sign, or is a sum with more minus than plus signs."""
        if node.is_number():
            return node.value < 0
        if node.op.name == "add":
            return self.sums.small(node) and self.sums.mostly_negative(node)
        if node.op.name not in {"mul", "div", "neg"}:
            return False
        return (
            self.products.form(node).coefficient < 0 if self.products.small(node) else node.op.name == "neg"
        )

    def negated(self, node: Node) -> Node:
        """Return the negation of a node that reads negative."""
        if node.op.name == "add":
            return self.sums.write(self.sums.of(node).scaled(-1))
        if not self.products.small(node):
            return node.args[0]
        form = self.products.form(node)
        return self.products.write(Form(-form.coefficient, form.factors, form.powers))


@cache
def _rows_for_products(rules: RuleSet) -> dict[str, list[tuple[Exponent | None, _Factors]]]:
    """Return the rules for products by the op of their anchors, each with the exponent that it asks for."""
    found: dict[str, list[tuple[Exponent | None, _Factors]]] = {}
    for head in ("mul", "div", "pow"):
        for rule in rules.headed(head):
            compiled = _factors(rule, rule.pattern)
            found.setdefault(compiled.anchor[0].op.name, []).append((compiled.exponent, compiled))
    return found


@cache
def _rows_for_sums(rules: RuleSet) -> dict[str, list[tuple[Exponent | None, _Terms]]]:
    """Return the rules for sums likewise."""
    found: dict[str, list[tuple[Exponent | None, _Terms]]] = {}
    for rule in rules.headed("add"):
        compiled = _terms(rule)
        anchor = compiled.anchor[1]
        found.setdefault(anchor.anchor[0].op.name, []).append((anchor.exponent, compiled))
    return found


def _factors(rule: Rule, pattern: Node) -> _Factors:
    found = _flat(pattern)
    anchors = [i for i, (base, _) in enumerate(found) if base.op is not SYMBOL]
    if not anchors:
        raise UsageError(f"rule {rule.name}: one factor must name an op")
    anchor = found.pop(anchors[0])
    bound = set(metavariables(anchor[0])) | set(metavariables(anchor[1]))
    if any(v not in bound for base, e in found for v in (*metavariables(base), *metavariables(e))):
        raise UsageError(f"rule {rule.name}: the first factor with an op must bind every variable")
    return _Factors(rule, anchor, tuple(found))


def _flat(pattern: Node) -> list[tuple[Node, Node]]:
    """The factors of a pattern: bases with exponents (numbers or literal metavariables)."""
    name = pattern.op.name
    if name == "mul":
        return _flat(pattern.args[0]) + _flat(pattern.args[1])
    if name == "div":
        return _flat(pattern.args[0]) + [(b, number(-e.value)) for b, e in _flat(pattern.args[1])]
    if name == "pow" and (pattern.args[1].is_number() or is_literal(pattern.args[1])):
        return [(pattern.args[0], pattern.args[1])]
    return [] if pattern.is_number(1) else [(pattern, number(1))]


def _terms(rule: Rule) -> _Terms:
    parts: list[tuple[Exponent, Node]] = []
    pending: list[tuple[Node, int]] = [(rule.pattern, 1)]
    while pending:
        node, sign = pending.pop()
        if node.op.name == "add":
            pending += [(node.args[1], sign), (node.args[0], sign)]
        elif node.op.name == "neg":
            pending.append((node.args[0], -sign))
        elif node.is_number():
            parts.append((node.value * sign, number(1)))
        else:
            parts.append((sign, node))
    first = next(i for i, (_, part) in enumerate(parts) if not part.is_number())
    c, part = parts.pop(first)
    anchor = _factors(rule, part)
    if anchor.others or anchor.exponent is None:
        raise UsageError(f"rule {rule.name}: the first term must be a single power, its exponent a number")
    return _Terms(rule, (c, anchor), tuple((k, tuple(_flat(p))) for k, p in parts))


def _bind_exponent(pattern: Node, e: Exponent, bindings: Bindings) -> Bindings | None:
    if not is_literal(pattern):
        return bindings if _enough(e, pattern.value) else None
    return {**bindings, pattern: number(e)} if bindings.get(pattern, number(e)) is number(e) else None


def _enough(e: Exponent, wanted: Exponent) -> bool:
    return (e > 0) == (wanted > 0) and abs(e) >= abs(wanted)


def _value(exponent: Node, bindings: Bindings) -> Exponent:
    node = bindings[exponent] if is_literal(exponent) else exponent
    return node.value
