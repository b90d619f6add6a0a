"""The normal form of sums: a rational constant plus rational multiples of distinct monic products."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import TypeAlias

from symgrad.ir.exact import exact_value, fits
from symgrad.ir.graph import NUMBER, Node, number
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add, neg
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.normal_form.form import Exponent, Form, Sum, is_long, odd_sums, short
from symgrad.rewrite.normal_form.interfaces import AllForms
from symgrad.rewrite.normal_form.order import TermKey
from symgrad.rewrite.normal_form.views import see_through
from symgrad.rewrite.trace import Note, Step

__all__ = ["Sums"]

_Key: TypeAlias = tuple[int, int, frozenset[tuple[Node, int, int]]]

_FEW = 8  # terms: a longer sum stays one term where it is used several times


class Sums:
    """Sums of nodes, and nodes of sums."""

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
        """Write a node in normal form as a coefficient times a term with coefficient one."""
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
        """Tell whether a sum has few enough terms to be copied into another."""
        count = 1
        pending = [node]
        while pending and count <= _FEW:
            top = pending.pop()
            if top.op is add:
                pending.extend(top.args)
                count += 1
        return count <= _FEW

    def gather(self, root: Node, laws: dict[str, None]) -> tuple[Sum, dict[Node, None]]:
        """Collect the terms of a sum as written, whose terms are in normal form.

        Returns:
            The sum, zero coefficients included, and the terms that cancelled.

        Raises:
            NumberTooLargeError: if its numbers grow too long.
        """
        total: Exponent = 0
        terms: dict[Node, Exponent] = {}
        whole: list[tuple[Exponent, Node]] = []
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
                    whole.append((short(c), term))
        total = self._distribute(whole, terms, total, laws)
        gone = dict.fromkeys(t for t, k in terms.items() if k == 0)
        return Sum(short(total), {t: k for t, k in terms.items() if k != 0}), gone

    def _include(self, terms: dict[Node, Exponent], term: Node, c: Exponent, laws: dict[str, None]) -> None:
        old = terms.get(term)
        if old is not None:
            laws["like-terms"] = None
        terms[term] = short(c) if old is None else exact_value(old + c)

    def _distribute(
        self,
        whole: list[tuple[Exponent, Node]],
        terms: dict[Node, Exponent],
        total: Exponent,
        laws: dict[str, None],
    ) -> Exponent:
        """c*(a + b) is opened where one of its terms meets a like term, and stays as it is elsewhere."""
        waiting = list(whole)
        while waiting:
            for i, (c, inner) in enumerate(waiting):
                opened = self.of(inner)
                others = [n for j, (_, other) in enumerate(waiting) if j != i for n in self.of(other).terms]
                meets = any(t in terms or t in others for t in opened.terms)
                if meets or (opened.constant != 0 and total != 0):
                    laws["distribute-a-number"] = None
                    for term, k in opened.terms.items():
                        self._include(terms, term, c * k, laws)
                    total = exact_value(total + opened.constant * c)
                    del waiting[i]
                    break
            else:
                for c, inner in waiting:
                    self._include(terms, inner, c, laws)
                break
        return total

    def of(self, node: Node) -> Sum:
        """Return the sum of a node in normal form."""
        found = self._sums.get(node)
        if found is None:
            total: Exponent = 0
            terms: dict[Node, Exponent] = {}
            pending = [node]
            while pending:
                top = pending.pop()
                if top.op is NUMBER:
                    total += top.value
                elif top.op is add:
                    pending += [top.args[1], top.args[0]]
                else:
                    c, term = self.split(top)
                    if term.is_number():
                        total += term.value * c
                        continue
                    terms[term] = short(terms.get(term, 0) + c)
            found = self._sums[node] = Sum(short(total), terms)
        return found

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a sum whose terms are in normal form."""
        laws: dict[str, None] = {}
        found, gone = self.gather(node, laws)
        key = None if node.shape or gone else _key(found)
        if key is not None and self._collected.get(key) is node:
            return None
        notes: dict[Note, None] = dict.fromkeys(undefined_somewhere(gone, self._forms.known))
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
        """Write a sum of arrays that share scalar factors with these in front; None if they share none."""
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
        """Write down a sum as written, whose terms are in normal form, with like terms collected."""
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
        """Return the terms in the order in which they are written; None stands for the constant."""
        order: list[tuple[Node | None, Exponent]] = []
        order += sorted(found.terms.items(), key=lambda item: self.key(item[0]))
        if found.constant != 0:
            no_degree = all(self.key(t)[0] >= 0 for t in found.terms)
            order.insert(0 if no_degree else len(order), (None, found.constant))
        first = next((i for i, (_, c) in enumerate(order) if c.numerator > 0), 0)
        return [order[first], *order[:first], *order[first + 1 :]]

    def _ordered_by_keys(self, found: Sum) -> bool:
        """Tell whether the keys of its terms alone say how a sum is written, and not how it was written before."""
        return not any(self._forms.products.form_of_factor(t).powers for t in found.terms)

    def write(self, found: Sum, laws: dict[str, None] | None = None) -> Node:
        """Write a sum down, a common numeric factor in front if that saves a multiplication, which is named."""
        if not found.terms:
            return number(found.constant)
        if len(found) == 1:
            ((term, c),) = found.terms.items()
            return self._term(term, c)
        given = _multiplications(found, 1)
        if given > 1:
            content = _content(found)
            if content and 1 + _multiplications(found, content) < given:
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
        result: Node | None = None
        for term, c in self.ordered(found):
            part = number(c) if term is None else self._term(term, c)
            result = part if result is None else add(result, part)
        result = result if result is not None else number(0)
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
        """Write c times a sum: opened for c = -1 and where that saves a multiplication, else as a product."""
        if self.small(node):
            found = self.of(node)
            scaled = found.scaled(c)
            content = _content(scaled)
            given = 1 + _multiplications(found, 1)
            best = min(_multiplications(scaled, 1), 1 + _multiplications(scaled, content))
            if (c == -1 or best < given) and not any(is_long(k) for k in scaled.terms.values()):
                return self.write(scaled)
        return self._forms.products.write(Form(c, {node: 1}, {}))

    def primitive(self, node: Node) -> tuple[Exponent, Node]:
        """Write a sum as its content times a sum with coprime integer coefficients and an agreed sign."""
        found = self._primitive.get(node)
        if found is None:
            found = (1, node)
            terms = self.of(node) if self.small(node) else None
            # A sum inside, c*(a + b), is not opened for the sake of a common factor.
            if terms is not None and not any(t.op is add for t in terms.terms):
                content = _content(terms)
                if content:  # else all terms cancel, which the visit of the sum itself finds
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
        """Return the negation of a sum with as many minus as plus signs, which reads as well; else None."""
        if node not in self._flipped:
            # To negate a sum may negate sums in its terms. They come first, for sums are nested as deep as a graph is.
            for inner in self._negated_with(node):
                tied = self._tied(inner)
                self._flipped[inner] = self._write_terms(tied.scaled(-1)) if tied else None
        return self._flipped[node]

    def _tied(self, node: Node) -> Sum | None:
        """Return a short sum with as many minus as plus signs; else None."""
        if not self.small(node):
            return None
        found = self.of(node)
        # Where all terms cancel nothing is left to negate; the visit of the sum itself finds that.
        return found if found.terms and _balance(found) == 0 else None

    def _negated_with(self, root: Node) -> list[Node]:
        """Return the sums that may be negated when one is, innermost first, and that one."""
        order: dict[Node, None] = {}
        pending = [(root, False)]
        while pending:
            node, entered = pending.pop()
            if entered:
                order[node] = None
                continue
            if node in self._flipped or node in order:
                continue
            pending.append((node, True))
            tied = self._tied(node)
            for term, c in tied.terms.items() if tied else ():
                if c.numerator > 0:
                    form = self._forms.products.form_of_factor(term)
                    pending += [(inner, False) for inner in odd_sums(form)]
        return list(order)

    def _sign(self, found: Sum) -> int:
        """More plus signs than minus signs; at a tie, the first term by degree is positive."""
        balance = _balance(found)
        if balance == 0:
            first = min(found.terms, key=self.key)
            return 1 if found.terms[first] > 0 else -1
        return 1 if balance > 0 else -1


def _key(found: Sum) -> _Key:
    terms = [(t, c.numerator, c.denominator) for t, c in found.terms.items()]
    return (found.constant.numerator, found.constant.denominator, frozenset(terms))


def _multiplications(found: Sum, divided_by: Exponent) -> int:
    """How many terms need a number in front when all are divided by one."""
    return sum([c != divided_by and -c != divided_by for c in found.terms.values()])


def _balance(found: Sum) -> int:
    # By numerators: to compare Fractions takes long.
    signs = [c.numerator for c in (*found.terms.values(), found.constant)]
    return sum([n > 0 for n in signs]) - sum([n < 0 for n in signs])


def _content(found: Sum) -> Exponent:
    """The largest positive rational that leaves coprime integer coefficients; 0 if it is too long."""
    values = [c for c in (*found.terms.values(), found.constant) if c != 0]
    above, below = gcd(*[v.numerator for v in values]), 1
    for v in values:
        below = lcm(below, v.denominator)
        if not fits(below):
            return 0
    return above if below == 1 else short(Fraction(above, below))
