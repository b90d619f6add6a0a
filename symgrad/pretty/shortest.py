"""Find the form that people write: of all equal forms, the shortest in the names of the program.

The candidates are the canonical form; this form with names of functions in place of their definitions (`sigmoid`);
rational forms of every part; common operands of matrix products factored out; values at positions as `one_hot`; forms
without guards that have no effect; and forms in which terms cancel that a name hides. Each is equal by a law, never
because of a test with numbers. A part that is equal to a named value is written as the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import inf, prod

from symgrad.ir.graph import Node, as_node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute, substitute_with, symbols_of, topological
from symgrad.ir.types import Number
from symgrad.ops.array.contraction import einsum
from symgrad.ops.array.indexing import scatter_add
from symgrad.ops.array.layout import full, reshape
from symgrad.ops.array.reductions import mean
from symgrad.ops.array.softmax import softmax
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import sqrt
from symgrad.ops.scalar.hyperbolic import cosh, sech, tanh
from symgrad.ops.scalar.logic import where
from symgrad.pretty.block_rows import concat_rows
from symgrad.pretty.forms.calls import Notation, calls_in, regrouped
from symgrad.pretty.forms.choices import simplify_choices
from symgrad.pretty.forms.cost import COST, Measure
from symgrad.pretty.forms.factor_out import distribute, shared, terms_of, with_numbers_inside
from symgrad.pretty.forms.function_names import Spoken, complementary_forms, without_sech
from symgrad.pretty.forms.guards import hoist_conditions, without_guards_of_zero, without_idle_guards
from symgrad.pretty.forms.matrices import with_diagonal_terms, without_transposes
from symgrad.pretty.forms.positions import POSITIONS, as_one_hot, as_scattered, merged
from symgrad.pretty.forms.quotients import forms_of
from symgrad.pretty.forms.small_arrays import by_entries, common_factors
from symgrad.pretty.forms.term_order import order_terms, terms_in
from symgrad.pretty.limits import FORM_CHARACTERS, NAMES_READ, READ_CHARACTERS
from symgrad.pretty.named_program import NamedProgram
from symgrad.pretty.normal_cdf import Normal
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import CanonicalForms, canonical
from symgrad.rewrite.rational.read import rational_of

_ARITHMETIC = frozenset((add, mul, div, neg, pow, sqrt))


_WORTH = 2
"""How many times as hard to read a form may be before its terms are collected and it is compared."""


class ShortestForms:
    """Chooses forms for the lines of a program.

    Attributes:
        spelling: the notation of the formulas.
    """

    def __init__(self, words: NamedProgram) -> None:
        self._words = words
        self._canonical_forms = CanonicalForms()
        self._named: dict[Node, Node] = {}
        self._in_names: tuple[int, dict[Node, Node]] = 0, {}
        bodies = [(name, body) for name, body in words.bodies.items() if body.args]
        found = self._canonical_forms.of([body for _, body in bodies])
        for (name, _), form in zip(bodies, found, strict=True):
            if form.args:
                self._named.setdefault(form, name)
        self._scaled = _scaled(self._named, words.known)
        self._forms: dict[Node, Node] = {}
        self._best: dict[tuple[Node, ...], Node] = {}
        self._positions = {n: b for n, b in words.bodies.items() if b.op in POSITIONS}
        self._measure = Measure()
        self._written = _written(words)
        parts = topological(words.bodies.values())
        self._own = {terms_in(n) for n in parts if n.op is add}
        self._keepdims = any(n.op is reshape and n.args[0].op is mean and 1 in n.shape for n in parts)
        self._calls = calls_in(words.source, words.bodies.values())
        self.spelling = Notation(words.literals.meaning, self._calls, words.literals.spellings)
        self._normal = Normal(
            words.source, [*words.names], self._canonical, self._collected, lambda n: self.cost(n)
        )
        self._by_tanh = any(n.op is tanh for n in parts) and not any(n.op in (cosh, sech) for n in parts)
        self._simple: dict[Node, Node] = {}
        self._constants: dict[Node, Number | None] = {}
        self._spoken = Spoken(words.known, lambda n: self.cost(self.named(n)))
        plain = Spoken(words.known, self.cost)  # a value with a name is already short, because the name is
        for form, name in list(self._named.items()):
            for spoken in dict.fromkeys((self._spoken.of(form), plain.of(form))):
                if spoken is not form:
                    self._named.setdefault(self._canonical_forms.of([spoken])[0], name)
        for form, name in list(self._named.items()):
            for relative, stands in complementary_forms(form, name):
                self._named.setdefault(self._canonical_forms.of([relative])[0], stands)

    def best(self, nodes: Iterable[Node]) -> Node:
        """Return the shortest form of nodes that are equal."""
        given = tuple(nodes)
        found = self._best.get(given)
        if found is None:
            found = self._best[given] = self._chosen(given)
        return found

    def _chosen(self, nodes: Iterable[Node]) -> Node:
        options: dict[Node, None] = {}
        for node in dict.fromkeys(map(self._without_nothing, nodes)):
            form = self._canonical(node)
            for given in dict.fromkeys(
                (form, without_transposes(form), self._spoken.of(form), *self._rescaled(form))
            ):
                at = form if given is form else self._canonical(given)
                options.update(dict.fromkeys((at, self.simplified(at))))
            options.update(dict.fromkeys(self._read(form)))
        best = min(options, key=self.cost)
        spoken = self._spoken.of(best)
        return best if spoken is best else self._canonical(spoken)

    def _canonical(self, node: Node) -> Node:
        """Return the canonical form of a node in names."""
        found = self._forms.get(node)
        if found is None:
            found = self._forms[node] = self._made_canonical(node)
        return found

    def _made_canonical(self, node: Node) -> Node:
        (form,) = self._canonical_forms.of(substitute([node], self._positions))
        form, _ = as_one_hot(form, self._words.known)  # `Domains` reports positions that may be out of range
        named = self.named(form)
        if named is not form:
            named = self.named(self._canonical_forms.of([named])[0])
        if not any(n.op is where for n in topological([named])):
            return named
        return without_guards_of_zero(without_idle_guards(named, self._words.known), self._words.known)

    def _read(self, node: Node) -> Iterator[Node]:
        """Yield forms of a node in which names are replaced by their bodies: terms may cancel that a name hides."""
        if node.op not in _ARITHMETIC or self.length(node) > READ_CHARACTERS:
            return
        bodies = self._words.bodies
        table = {n: bodies[n] for n in topological([node]) if n in bodies and bodies[n].op in _ARITHMETIC}
        if table:
            most = _WORTH * self.cost(node)
            for form in self._quotients(substitute([node], table)[0], {}, most):
                found = self._canonical(form)
                if found.shape == node.shape:
                    yield found

    def _rescaled(self, node: Node) -> Iterator[Node]:
        """Yield a node with names scaled by a number in place of parts that are multiples of a named value."""
        met = self._multiples(node)
        if met:
            yield self._without_nothing(substitute([node], self._scaled)[0])
        parted = distribute(node)
        if parted is not node:
            form = self._canonical(self._without_nothing(parted))
            if not self._multiples(form) <= met:
                yield self._without_nothing(substitute([form], self._scaled)[0])

    def _multiples(self, node: Node) -> set[Node]:
        """Return the parts that are multiples of named values."""
        return {n for n in topological([node]) if n in self._scaled} if self._scaled else set()

    def _without_nothing(self, node: Node) -> Node:
        """Return a node with numbers in place of constant parts, such as the mean of values minus their mean."""
        table = {
            n: as_node(found)
            for n in topological([node])
            if (found := 1 if self._adds_to_one(n, node.shape) else self._constant(n)) is not None
        }
        return substitute([node], {n: full(v, n.shape) for n, v in table.items()})[0] if table else node

    def _adds_to_one(self, node: Node, shape: Shape) -> bool:
        """Tell whether a part sums the shares of a softmax over an axis that has entries if the array has any."""
        summand, *others = node.args or (node,)
        if node.op is not einsum or others:
            return False
        shares = self._words.bodies.get(summand, summand)
        (own,), result = node.params
        summed = [a for a, k in enumerate(own) if k not in result]
        sizes = [shares.shape[a] for a in summed]
        filled = all(size in shape or (isinstance(size, int) and size > 0) for size in sizes)
        return shares.op is softmax and list(shares.params[0]) == summed and filled

    def _constant(self, node: Node) -> Number | None:
        """Return the number that a part has for all inputs, None if it is not known to be constant."""
        if not node.args or node.op in _ARITHMETIC or node.dtype == "bool":
            return None
        if node not in self._constants:
            self._constants[node] = self._read_as_number(node)
        return self._constants[node]

    def _read_as_number(self, node: Node) -> Number | None:
        """Return the number that a part becomes if some of its names are replaced, those of the last lines first.

        Named constants alone are not replaced: the number would say less.
        """
        bodies = self._words.bodies
        read = symbols_of([node])
        if read and all(s.declaration.domain.name == "constant" for s in read):
            return None
        for _ in range(NAMES_READ):
            read = set(topological([node]))
            names = [n for n in bodies if n in read]
            if not names:
                break
            (node,) = self._canonical_forms.of(substitute([node], {names[-1]: bodies[names[-1]]}))
            form = node
            while form.op.name == "broadcast_to":
                (form,) = form.args
            if form.is_number():
                return form.value
        return None

    def named(self, node: Node) -> Node:
        """Return a node in which parts that have a name are replaced by it."""
        if self._in_names[0] != len(self._named):
            self._in_names = len(self._named), dict(self._named)
        return substitute_with([node], self._in_names[1])[0]

    def as_written(self, node: Node) -> Node:
        """Return a node with parts, and numbers, as the program writes them; a small array may be its entries."""
        forms = dict.fromkeys((node, with_diagonal_terms(node), with_numbers_inside(node)))
        found = min(map(self._in_notation, forms), key=self.cost)
        entries = by_entries(node, lambda entry: self.best([entry]))
        if entries is None:
            return found
        written = self._in_notation(entries)
        commas = COST * (prod(n for n in node.shape if isinstance(n, int)) - 1)  # they are only the layout
        return written if self.cost(written) - commas < self.cost(found) else found

    def _in_notation(self, node: Node) -> Node:
        node, _ = as_one_hot(without_transposes(node), self._words.known, read=True)
        node = substitute([self._normal.named(node)], self._written)[0]
        if self._by_tanh:
            node = without_sech(node)
        node = hoist_conditions(simplify_choices(node, self._words.known))
        styles = order_terms(concat_rows(node), self._words.known, self._own, keepdims=self._keepdims)
        written, calls = self._normal.called(regrouped(self._words.literals.tidy(styles), self._calls))
        self._calls.update(calls)
        return written

    def _collected(self, node: Node) -> Sequence[Node]:
        form = self._canonical(node)
        return form, self.simplified(form), self.simplified(node)

    def length(self, node: Node) -> int:
        """Return the length of a node as text."""
        return self._measure.length(node)

    def cost(self, node: Node) -> int:
        """Return how hard a node is to read: by its names, numbers, signs and functions."""
        return self._measure.cost(node)

    def simplified(self, node: Node) -> Node:
        """Return a node whose parts are in their shortest forms; inner parts come first."""
        if self.length(node) > FORM_CHARACTERS:
            return node
        order = topological([node])
        inside = {a for n in order for a in n.args if n.op in _ARITHMETIC and a.op in _ARITHMETIC}
        outside = {a for n in order for a in n.args if n.op not in _ARITHMETIC} | {node}
        done: dict[Node, Node] = {}
        for n in order:
            args = tuple(done[a] for a in n.args)
            made = n if args == n.args else n.op(*args, params=n.params)
            if n.op in _ARITHMETIC and (n in outside or n not in inside):
                made = self._shortest(made)
            done[n] = made
        return self._canonical(done[node])

    def _shortest(self, node: Node) -> Node:
        found = self._simple.get(node)
        if found is None:
            self._simple[node] = node  # a form of a form may be the node itself
            most = _WORTH * self.cost(node)
            forms = [self._canonical(f) for f in self._forms_of(node, most) if self.cost(f) <= most]
            forms = [f for f in forms if f.shape == node.shape and self.length(f) <= FORM_CHARACTERS]
            found = self._simple[node] = min([*forms, node], key=self.cost)
        return found

    def _forms_of(self, node: Node, most: float) -> Iterator[Node]:
        """Yield forms of an arithmetic node; those that are quotients must not be harder to read."""
        yield node
        node = as_scattered(node, self._words.known)
        scatters = any(n.op is scatter_add for n in topological([node]))
        quotients = list(self._quotients(node, self._named, inf if scatters else most))
        yield from quotients
        if scatters:
            found = {form: merged(form) for form in (node, *quotients)}
            yield from (self.simplified(self._canonical(m)) for form, m in found.items() if m is not form)
        terms = terms_of(node)
        if len(terms) > 1:
            yield reduce(lambda a, b: a + b, map(self._shortest, terms))
            front, parts = common_factors(terms, divisors=False)
            if front is not None:
                yield front(reduce(lambda a, b: a + b, parts))
            yield from map(self.simplified, shared(node))

    def _quotients(self, node: Node, named: Mapping[Node, Node], most: float) -> Iterator[Node]:
        """Yield quotients of polynomials that are equal to a node, in its parts or its innermost sums.

        None of them is harder to read.
        """
        sums = _innermost(node)
        for parts in (named, {**named, **sums})[: 1 + bool(sums)]:
            quotient = rational_of(node, parts)
            for found in (quotient, quotient and quotient.without_roots()):
                if found is not None:
                    for form in forms_of(found, self.cost, most):
                        if self.cost(form) <= most and self.length(form) <= FORM_CHARACTERS:
                            yield form


def _innermost(node: Node) -> dict[Node, Node]:
    """Return the innermost sums, whose terms have no further arithmetic, such as x - mu; each is mapped to itself."""
    sums = [n for n in topological([node]) if n.op is add and n is not node]
    plain = {n: n for n in sums if all(_is_plain(t) for t in terms_of(n))}
    return {n: n for n in plain if n not in {a for m in plain for a in m.args}}


def _is_plain(term: Node) -> bool:
    return not any(n.op in (add, div, pow, sqrt) for n in topological([term]))


def _scaled(named: Mapping[Node, Node], known: Conditions) -> dict[Node, Node]:
    """Map formulas to a named value times a number, or times a factor known to be nonzero, that is equal to them."""
    found: dict[Node, Node] = {}
    for form, name in named.items():
        if form.op is neg:
            found.setdefault(form.args[0], -name)
        elif form.op is div and form.args[0].shape == form.shape and known.nonzero(form.args[1]) == "yes":
            above, whole = form.args[0], name * form.args[1]
            found.setdefault(above, whole)
            if above.op is add:
                found.setdefault(canonical([-above]).nodes[0], -whole)
        elif form.op is mul:
            for part, other in (form.args, form.args[::-1]):
                if part.args and part.shape == form.shape and known.nonzero(other) == "yes":
                    found.setdefault(part, name / other)
    return found


def _written(words: NamedProgram) -> dict[Node, Node]:
    """Map canonical forms to the parts of the program that have them, if the parts are not longer."""
    parts = [
        n
        for n in topological(words.bodies.values())
        if n.op in _ARITHMETIC or (n.op is einsum and not n.shape)
    ]
    found: dict[Node, Node] = {}
    for part, form in zip(parts, canonical(parts).nodes if parts else [], strict=True):
        if form is part or form in found or not (form.op in _ARITHMETIC or form.op is einsum):
            continue
        if len(expression_text(part)) <= len(expression_text(form)) + 2:
            found[form] = part
    return found
