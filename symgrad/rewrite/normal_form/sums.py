"""The normal form of sums: a rational constant plus rational multiples of distinct monic products."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import TypeAlias

from symgrad.ir.exact import exact_value, fits
from symgrad.ir.graph import NUMBER, Node, number
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add, neg
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.normal_form.form import Exponent, Form, Sum, is_long, odd_sums, short
from symgrad.rewrite.normal_form.order import TermKey
from symgrad.rewrite.normal_form.protocols import AllForms
from symgrad.rewrite.normal_form.views import see_through
from symgrad.rewrite.trace import Note, Step
from symgrad.support.traversal import leaves, postorder

_Key: TypeAlias = tuple[int, int, frozenset[tuple[Node, int, int]]]

_FEW = 8  # largest number of terms of a flattened sum with several users


class Sums:
    """Converts nodes to sums, and sums to nodes."""

    def __init__(self, forms: AllForms) -> None:
        self._forms = forms
        self._sums: dict[Node, Sum] = {}
        self._split: dict[Node, tuple[Exponent, Node]] = {}
        self._keys: dict[Node, TermKey] = {}
        self._primitive: dict[Node, tuple[Exponent, Node]] = {}
        self._collected: dict[_Key, Node] = {}
        self._written: dict[_Key, Node] = {}
        self._flipped: dict[Node, Node | None] = {}

    def split(self, node: Node) -> tuple[Exponent, Node]:
        """Split a node in normal form into a coefficient and a term with coefficient one."""
        found = self._split.get(node)
        if found is None:
            if node.op.name in {"mul", "div", "neg"} and self._forms.products.small(node):
                form = self._forms.products.form(node)
                term = self._forms.products.write(Form(1, form.factors, form.powers))
                found = (form.coefficient, term)
            elif node.op is neg:
                found = (-1, node.args[0])
            else:
                found = (1, node)
            self._split[node] = found
        return found

    def small(self, node: Node) -> bool:
        """Tell whether a sum has few enough terms to be flattened into another one."""
        count = 1
        pending = [node]
        while pending and count <= _FEW:
            top = pending.pop()
            if top.op is add:
                pending.extend(top.args)
                count += 1
        return count <= _FEW

    def gather(self, root: Node, laws: dict[str, None]) -> tuple[Sum, dict[Node, None]]:
        """Collect the like terms of a sum whose terms are in normal form.

        Returns:
            The sum, and the terms that cancelled.

        Raises:
            NumberTooLargeError: if its numbers grow too long.
        """
        total: Exponent = 0
        terms: dict[Node, Exponent] = {}
        multiples: list[tuple[Exponent, Node]] = []
        pending: list[tuple[Node, Exponent]] = [(root, 1)]
        while pending:
            node, scale = pending.pop()
            if node.shape and not node.op.pointwise:
                shown, node = node, see_through(node)
                if shown is not node:
                    laws["elementwise-on-broadcasts"] = None
            if node.op is NUMBER:
                total = exact_value(total + node.value * scale)
            elif node.op is add and self._forms.opens(node, root):
                pending += [(node.args[1], scale), (node.args[0], scale)]
            elif node.op is neg and self._forms.opens(node, root):
                pending.append((node.args[0], -scale))
            else:
                c, term = self.split(node)
                c = c if scale == 1 else -c if scale == -1 else c * scale
                if term.is_number():
                    total = exact_value(total + term.value * c)
                elif term.op is not add or not self.small(term):
                    self._include(terms, term, c, laws)
                elif c == 1 or c == -1:
                    pending.append((term, c))
                else:
                    multiples.append((short(c), term))
        total = self._distribute(multiples, terms, total, laws)
        cancelled = dict.fromkeys(t for t, k in terms.items() if k == 0)
        return Sum(short(total), {t: k for t, k in terms.items() if k != 0}), cancelled

    def _include(self, terms: dict[Node, Exponent], term: Node, c: Exponent, laws: dict[str, None]) -> None:
        old = terms.get(term)
        if old is not None:
            laws["like-terms"] = None
        terms[term] = short(c) if old is None else exact_value(old + c)

    def _distribute(
        self,
        multiples: list[tuple[Exponent, Node]],
        terms: dict[Node, Exponent],
        total: Exponent,
        laws: dict[str, None],
    ) -> Exponent:
        """Include c*(a + b): expanded if one of its terms meets a like term, otherwise as one term.

        Return the constant.
        """
        while multiples:
            for i, (c, inner) in enumerate(multiples):
                opened = self.of(inner)
                others = [n for j, (_, other) in enumerate(multiples) if j != i for n in self.of(other).terms]
                meets = any(t in terms or t in others for t in opened.terms)
                if meets or (opened.constant != 0 and total != 0):
                    laws["distribute-a-number"] = None
                    for term, k in opened.terms.items():
                        self._include(terms, term, c * k, laws)
                    total = exact_value(total + opened.constant * c)
                    del multiples[i]
                    break
            else:
                for c, inner in multiples:
                    self._include(terms, inner, c, laws)
                break
        return total

    def of(self, node: Node) -> Sum:
        """Return the sum of a node in normal form."""
        found = self._sums.get(node)
        if found is None:
            total: Exponent = 0
            terms: dict[Node, Exponent] = {}
            for operand in leaves(node, lambda n: n.args if n.op is add else None):
                c, term = self.split(operand)
                if term.is_number():
                    total += term.value * c
                else:
                    terms[term] = short(terms.get(term, 0) + c)
            found = self._sums[node] = Sum(short(total), terms)
        return found

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a sum whose terms are in normal form."""
        laws: dict[str, None] = {}
        found, cancelled = self.gather(node, laws)
        key = None if node.shape or cancelled else _key(found)
        if key is not None and self._collected.get(key) is node:
            return None
        notes: dict[Note, None] = dict.fromkeys(undefined_somewhere(cancelled, self._forms.known))
        fired = self._forms.apply_to_sum(found, laws, notes)
        if any(is_long(c) for c in (found.constant, *found.terms.values())):
            return None
        after = full(
            (self._factored(found, laws) if node.shape else None) or self.write(found, laws), node.shape
        )
        if key is not None and not fired and self._ordered_by_keys(found):
            self._collected[key] = after
        if after is node:
            return None
        if not fired:
            self._forms.settled.add(after)
        return Step("collect-terms", node, after, "widens" if notes else "exact", tuple(notes), tuple(laws))

    def _factored(self, found: Sum, laws: dict[str, None]) -> Node | None:
        """Write a sum of arrays with their common scalar factors in front; None if there are no such factors."""
        if found.constant != 0 or not 1 < len(found.terms) <= _FEW:
            return None
        forms = {term: self._forms.products.form_of_factor(term) for term in found.terms}
        first, *others = forms.values()
        shared = {
            base: e
            for base, e in first.factors.items()
            if not base.shape and all(form.factors.get(base) == e for form in others)
        }
        if not shared or not all(term.shape for term in found.terms):
            return None
        laws["scalar-factor-of-a-sum"] = None
        inner = Sum(0, {})
        for term, form in forms.items():
            factors = {b: e for b, e in form.factors.items() if b not in shared}
            self.include(inner, Form(short(form.coefficient * found.terms[term]), factors, form.powers))
        content, primitive = self.primitive(self._write_terms(inner))
        return self._forms.products.write_signed(Form(content, {**shared, primitive: 1}, {}))

    def include(self, total: Sum, form: Form) -> None:
        """Add a product to a sum."""
        if not form.factors and not form.powers:
            total.constant = short(total.constant + form.coefficient)
            return
        monic = self._forms.products.write(Form(1, form.factors, form.powers))
        c = short(total.terms.pop(monic, 0) + form.coefficient)
        if c != 0:
            total.terms[monic] = c

    def plain(self, node: Node) -> Node:
        """Collect the like terms of a sum whose terms are in normal form, and return other nodes unchanged."""
        return self.write(self.gather(node, {})[0]) if node.op is add else node

    def key(self, term: Node) -> TermKey:
        """Return the sort key of a term."""
        key = self._keys.get(term)
        if key is None:
            form = self._forms.products.form_of_factor(term)
            order = self._forms.products.sorted([*form.factors, *form.powers])
            key = self._forms.order.term([(b, form.factors.get(b, 0)) for b in order])
            self._keys[term] = key
        return key

    def ordered(self, found: Sum) -> list[tuple[Node | None, Exponent]]:
        """Return the terms in the order of writing; None stands for the constant."""
        order: list[tuple[Node | None, Exponent]] = []
        order += sorted(found.terms.items(), key=lambda item: self.key(item[0]))
        if found.constant != 0:
            no_degree = all(self.key(t)[0] >= 0 for t in found.terms)
            order.insert(0 if no_degree else len(order), (None, found.constant))
        first = next((i for i, (_, c) in enumerate(order) if c.numerator > 0), 0)
        return [order[first], *order[:first], *order[first + 1 :]]

    def _ordered_by_keys(self, found: Sum) -> bool:
        """Tell whether sort keys are sufficient to order the terms of a sum."""
        return not any(self._forms.products.form_of_factor(t).powers for t in found.terms)

    def write(self, found: Sum, laws: dict[str, None] | None = None) -> Node:
        """Write a sum, with a common numeric factor in front if that saves a multiplication; record this law."""
        if not found.terms:
            return number(found.constant)
        if len(found) == 1:
            ((term, c),) = found.terms.items()
            return self._term(term, c)
        present = _multiplications(found, 1)
        if present > 1:
            content = _content(found)
            if content and 1 + _multiplications(found, content) < present:
                inner = self._write_terms(found.scaled(short(1 / Fraction(content))))
                if laws is not None:
                    laws["content-of-a-sum"] = None
                return self._forms.products.write(Form(content, {inner: 1}, {}))
        return self._write_terms(found)

    def _write_terms(self, found: Sum) -> Node:
        key = _key(found)
        known = self._written.get(key)
        if known is not None:
            return known
        parts = [number(c) if term is None else self._term(term, c) for term, c in self.ordered(found)]
        result = reduce(add, parts)
        if self._ordered_by_keys(found):
            self._written[key] = result
        return result

    def _term(self, term: Node, c: Exponent) -> Node:
        if c == 1:
            return term
        form = self._forms.products.form_of_factor(term)
        scale = short(form.coefficient * c)
        return self._forms.products.write_signed(Form(scale, form.factors, form.powers))

    def times(self, node: Node, c: Exponent) -> Node:
        """Write c times a sum: expanded if c = -1 or if that saves a multiplication, else as a product."""
        if self.small(node):
            found = self.of(node)
            scaled = found.scaled(c)
            content = _content(scaled)
            present = 1 + _multiplications(found, 1)
            best = min(_multiplications(scaled, 1), 1 + _multiplications(scaled, content))
            if (c == -1 or best < present) and not any(is_long(k) for k in scaled.terms.values()):
                return self.write(scaled)
        return self._forms.products.write(Form(c, {node: 1}, {}))

    def primitive(self, node: Node) -> tuple[Exponent, Node]:
        """Split a sum into its content and a sum with coprime integer coefficients and a canonical sign."""
        found = self._primitive.get(node)
        if found is None:
            found = (1, node)
            terms = self.of(node) if self.small(node) else None
            # A common factor does not expand an inner sum: c*(a + b).
            if terms is not None and not any(t.op is add for t in terms.terms):
                content = _content(terms)
                if content:  # otherwise all terms cancel: the visit of the sum itself collects them
                    content *= self._sign(terms)
                    if content != 1:
                        coprime = terms.scaled(short(1 / Fraction(content)))
                        if not any(is_long(c) for c in (coprime.constant, *coprime.terms.values())):
                            found = (content, self._write_terms(coprime))
            self._primitive[node] = found
        return found

    def mostly_negative(self, node: Node) -> bool:
        """Tell whether a sum has more minus signs than plus signs."""
        return _balance(self.of(node)) < 0

    def flipped(self, node: Node) -> Node | None:
        """Return the negation of a sum with as many minus as plus signs; None for other sums."""
        # Postorder without recursion: to negate a sum negates sums in its terms, which may be nested as deep as the
        # graph.
        for inner in postorder([node], self._negated_with, until=self._flipped):
            tied = self._tied(inner)
            self._flipped[inner] = self._write_terms(tied.scaled(-1)) if tied else None
        return self._flipped[node]

    def _tied(self, node: Node) -> Sum | None:
        """Return a short sum with as many minus as plus signs; otherwise None."""
        if not self.small(node):
            return None
        found = self.of(node)
        # If all terms cancel, nothing is left to negate; the visit of the sum itself collects them.
        return found if found.terms and _balance(found) == 0 else None

    def _negated_with(self, node: Node) -> list[Node]:
        """Return the sums in the terms of a sum that its negation negates."""
        tied = self._tied(node)
        positive = [term for term, c in tied.terms.items() if c.numerator > 0] if tied else []
        return [inner for term in positive for inner in odd_sums(self._forms.products.form_of_factor(term))]

    def _sign(self, found: Sum) -> int:
        """Return the sign that leaves more plus than minus signs; at a tie, the first term by degree decides."""
        balance = _balance(found)
        if balance == 0:
            first = min(found.terms, key=self.key)
            return 1 if found.terms[first] > 0 else -1
        return 1 if balance > 0 else -1


def _key(found: Sum) -> _Key:
    terms = [(t, c.numerator, c.denominator) for t, c in found.terms.items()]
    return (found.constant.numerator, found.constant.denominator, frozenset(terms))


def _multiplications(found: Sum, divided_by: Exponent) -> int:
    """Count the terms that still need a coefficient after all terms are divided by a number."""
    return sum([c != divided_by and -c != divided_by for c in found.terms.values()])


def _balance(found: Sum) -> int:
    # Compare numerators: comparing Fractions is slow.
    signs = [c.numerator for c in (*found.terms.values(), found.constant)]
    return sum([n > 0 for n in signs]) - sum([n < 0 for n in signs])


def _content(found: Sum) -> Exponent:
    """Return the positive rational content, which leaves coprime integer coefficients; 0 if it is too long."""
    values = [c for c in (*found.terms.values(), found.constant) if c != 0]
    above, below = gcd(*[v.numerator for v in values]), 1
    for v in values:
        below = lcm(below, v.denominator)
        if not fits(below):
            return 0
    return above if below == 1 else short(Fraction(above, below))
