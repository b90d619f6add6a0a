"""The algebra of forms: sums of products of indexed factors, in normal form with canonical summed indices.

A factor is a head with positions. Heads are interned: an input, a number such as a size, or an opaque function of forms
over the slots "$0", "$1", ..., which the positions fill.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from typing import Any, TypeAlias

from symgrad.checker.clock import Budget
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.canonical_labels import (
    Atom,
    Component,
    Factors,
    Form,
    Monomial,
    Orders,
    RawProduct,
    canonical_component,
    connected_components,
    multiply_power,
    rename_indices,
)
from symgrad.checker.limits import FORM_COEFFICIENT_BITS
from symgrad.checker.program.length_polynomials import Size, length_polynomial, length_text
from symgrad.support.traversal import walk

Rule: TypeAlias = "Callable[[FormAlgebra, Atom, RawProduct], list[RawProduct] | None]"

REPEATED_INDEX = "repeated"
"""The key of the rule for a factor in which an index occurs twice."""

_ONE = Fraction(1)
_SYMMETRIES = 720
_TERM = 3e-5  # seconds for each term
_DEEPEST = 60


def _bounded(c: Fraction) -> Fraction:
    if max(c.numerator.bit_length(), c.denominator.bit_length()) > FORM_COEFFICIENT_BITS:
        raise GiveUp("the numbers grow too long")
    return c


def heads_of(form: Form) -> set[int]:
    """Return the heads of the factors of a form."""
    return {head for monomial in form for (_, own), _ in monomial for head, _, _ in own}


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A factor without its positions.

    Args:
        kind: ``"tensor"``, ``"exp"``, ``"inv"``, ...; `symgrad.checker.index_form.forms.product_rules` has their laws.
        params: static parameters: a name, a length.
        forms: the arguments of an opaque function, over slots.
        arity: the number of positions.
        symmetries: permutations of the positions that do not change the value.
        positive: whether it is positive wherever it is defined.
        depth: the nesting of opaque functions.
        names: the names of the inputs that it reads.
    """

    id: int
    kind: str
    params: tuple[Any, ...]
    forms: tuple[Form, ...]
    arity: int
    symmetries: tuple[tuple[int, ...], ...]
    positive: bool
    depth: int
    names: frozenset[str]


def heads_within(t: FormAlgebra, *forms: Form) -> set[int]:
    """Return the heads of the factors of forms, and of the forms that these are functions of."""
    roots = [h for form in forms for h in heads_of(form)]
    return set(walk(roots, lambda head: [h for form in t.heads[head].forms for h in heads_of(form)]))


def single_factor(t: FormAlgebra, form: Form) -> tuple[Head, tuple[str, ...]] | None:
    """Return the head and the positions of a form that is a single factor, otherwise None."""
    if list(form.values()) != [1]:
        return None
    ((monomial, _),) = form.items()
    if len(monomial) != 1 or monomial[0][0][0] or monomial[0][1] != 1:
        return None
    head, positions, _ = monomial[0][0][1][0]
    return t.heads[head], positions


@dataclass(slots=True)
class FormAlgebra:
    """Arithmetic of forms: the interned heads, the rules of each kind, and the remaining work.

    Args:
        most: the number of terms at which the algebra gives up.
        rules: for each kind of factor, the rule that simplifies a product with such a factor.
        conditions: the excluded points of all forms so far, as text.
        assumed: how many times conditions were added.
        smooth_input: the name of the input of differentiation; points at which a sign jumps if this input changes are
            excluded.
        deadline: on the clock of `symgrad.checker.clock`.
        integer_bounds: for each integer input, the lengths that bound it; see
            `symgrad.checker.index_form.index_arrays`.
        disjoint_maps: a cache: for the heads of two maps, whether the images of the maps are disjoint.
    """

    most: InitVar[int]
    rules: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    heads: list[Head] = field(default_factory=list[Head])
    known: dict[Any, Head] = field(default_factory=dict[Any, Head])
    fresh: int = 0
    conditions: dict[str, None] = field(default_factory=dict[str, None])
    assumed: int = 0
    smooth_input: str = ""
    deadline: InitVar[float] = math.inf
    budget: Budget = field(init=False)
    integer_bounds: dict[str, tuple[Size | None, Size | None]] = field(
        default_factory=dict[str, "tuple[Size | None, Size | None]"]
    )
    disjoint_maps: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])

    def __post_init__(self, most: int, deadline: float) -> None:
        self.budget = Budget(deadline, most=most, of="terms", ends=GiveUp)

    def spend(self, terms: int = 1) -> None:
        self.budget.spend(terms, seconds=terms * _TERM)

    def name(self) -> str:
        """Return a fresh name for an index."""
        self.fresh += 1
        return f"?{self.fresh}"

    # ------------------------------------------------------------------------------------------------------- heads

    def head(
        self,
        kind: str,
        params: tuple[Any, ...] = (),
        forms: tuple[Form, ...] = (),
        arity: int = 0,
        *,
        symmetries: Iterable[tuple[int, ...]] = (),
        positive: bool = False,
    ) -> Head:
        orders = tuple(sorted({tuple(range(arity)), *symmetries}))
        key = (kind, params, arity, tuple(tuple(sorted(f.items())) for f in forms), orders, positive)
        found = self.known.get(key)
        if found is None:
            inner = [self.heads[h] for f in forms for h in heads_of(f)]
            depth = 1 + max((h.depth for h in inner), default=0) if forms else 0
            if depth > _DEEPEST:
                raise GiveUp("functions nested too deep")
            names = frozenset[str]().union(*(h.names for h in inner))
            if kind == "tensor":
                names = frozenset([params[0]])
            number = len(self.heads)
            found = Head(number, kind, params, forms, arity, orders, positive, depth, names)
            self.heads.append(found)
            self.known[key] = found
        return found

    def atom(self, head: Head, positions: Iterable[str] = (), exponent: Fraction | int = 1) -> Form:
        return self.form([(_ONE, {(head.id, tuple(positions)): Fraction(exponent)}, {})])

    def orders(self, head: int) -> Orders:
        """Return the symmetries of a head."""
        return self.heads[head].symmetries

    # -------------------------------------------------------------------------------------------------- arithmetic

    def number(self, value: Fraction | int) -> Form:
        return {(): Fraction(value)} if value else {}

    def add(self, *forms: Form) -> Form:
        total: Form = {}
        for form in forms:
            for monomial, c in form.items():
                value = _bounded(total.get(monomial, 0) + c)
                if value:
                    total[monomial] = value
                else:
                    del total[monomial]
        return total

    def scale(self, form: Form, c: Fraction | int) -> Form:
        return {monomial: _bounded(v * c) for monomial, v in form.items()} if c else {}

    def subtract(self, a: Form, b: Form) -> Form:
        return self.add(a, self.scale(b, -1))

    def multiply(self, *forms: Form) -> Form:
        result = self.number(1)
        for form in forms:
            if result == {(): _ONE}:
                result = form
                continue
            raws: list[RawProduct] = []
            for a, c in result.items():
                for b, d in form.items():
                    self.spend()
                    factors, bound = self.unfold(a)
                    self.unfold(b, factors, bound)
                    raws.append((_bounded(c * d), factors, bound))
            result = self.form(raws)
        return result

    def unfold(
        self, monomial: Monomial, factors: Factors | None = None, bound: dict[str, str] | None = None
    ) -> tuple[Factors, dict[str, str]]:
        """Return factors with fresh names for the summed indices, merged into given factors."""
        factors = {} if factors is None else factors
        bound = {} if bound is None else bound
        for (lengths, own), exponent in monomial:
            if not lengths:
                (head, positions, e) = own[0]
                multiply_power(factors, (head, positions), e * exponent, self.orders)
                continue
            self.spend(int(exponent) - 1)
            for _ in range(int(exponent)):
                names = {f"%{i}": self.name() for i in range(len(lengths))}
                bound.update(zip(names.values(), lengths, strict=True))
                for head, positions, e in own:
                    multiply_power(factors, (head, tuple(names.get(p, p) for p in positions)), e, self.orders)
        return factors, bound

    def rename(self, form: Form, names: Mapping[str, str]) -> Form:
        """Return a form with renamed free indices; several indices may get the same name."""
        names, free = {i: name for i, name in names.items() if i != name}, self.free(form)
        if names.keys().isdisjoint(free):
            return form
        raws: list[RawProduct] = []
        for monomial, c in form.items():
            factors, bound = self.unfold(monomial)
            raws.append((c, self.renamed(factors, names), bound))
        # A rule applies again if indices get the same name; that of a delta also if their order changes.
        distinct = len({names.get(i, i) for i in free}) == len(free)
        settled = distinct and not any(self.heads[h].kind == "delta" for h in heads_of(form))
        return self.form(raws, settled=settled)

    def renamed(self, factors: Factors, names: Mapping[str, str]) -> Factors:
        """Return factors with renamed indices; several indices may get the same name."""
        return rename_indices(factors, names, self.orders)

    def sum_over(self, form: Form, lengths: Mapping[str, str]) -> Form:
        """Return the sum over free indices, each with its length."""
        if not lengths:
            return form
        raws: list[RawProduct] = []
        for monomial, c in form.items():
            factors, bound = self.unfold(monomial)
            names = {index: self.name() for index in lengths}
            bound.update((names[index], length) for index, length in lengths.items())
            raws.append((c, self.renamed(factors, names), bound))
        return self.form(raws)

    def form(self, raws: Iterable[RawProduct], *, settled: bool = False) -> Form:
        """Return the normal form of a sum of products: no rule applies to it.

        Its summed indices have canonical names.

        Args:
            raws: the products.
            settled: whether it is certain that no rule applies.
        """
        pending = list(raws)
        result: Form = {}
        while pending:
            raw = pending.pop()
            self.spend()
            again = None if settled else self._apply(raw)
            if again is not None:
                pending.extend(r for r in again if r[0])
                continue
            c, factors, bound = raw
            monomial = self.monomial(factors, bound)
            value = result.get(monomial, 0) + c
            if value:
                result[monomial] = value
            else:
                del result[monomial]
        return result

    def _apply(self, raw: RawProduct) -> list[RawProduct] | None:
        c, factors, bound = raw
        used = {p for _, positions in factors for p in positions}
        for index in bound:
            if index not in used:  # the terms do not depend on the index: the sum is a multiple of them
                rest = {i: n for i, n in bound.items() if i != index}
                return self.times((c, factors, rest), self.size(bound[index]))
        for atom in factors:
            if len(set(atom[1])) < len(atom[1]) and REPEATED_INDEX in self.rules:
                again = self.rules[REPEATED_INDEX](self, atom, raw)
                if again is not None:
                    return again
            rule = self.rules.get(self.heads[atom[0]].kind)
            if rule is not None:
                again = rule(self, atom, raw)
                if again is not None:
                    return again
        return None

    def product(self, a: RawProduct, b: RawProduct) -> RawProduct:
        """Return the product of two products whose summed indices have different names."""
        factors = dict(a[1])
        for atom, e in b[1].items():
            multiply_power(factors, atom, e, self.orders)
        return a[0] * b[0], factors, {**a[2], **b[2]}

    def times(self, raw: RawProduct, form: Form) -> list[RawProduct]:
        return [self.product(raw, (c, *self.unfold(monomial))) for monomial, c in form.items()]

    def size(self, length: str) -> Form:
        """Return a length as a form: a polynomial in names; atoms that are not names are opaque."""
        terms = length_polynomial(length)
        return self.add(*(self.scale(self.multiply(*map(self._length, m)), c) for m, c in terms))

    def _length(self, atom: Any) -> Form:
        text = length_text((((atom,), 1),))
        return self.atom(self.head("size", (text,), positive=isinstance(atom, str)))

    # --------------------------------------------------------------------------------------------- canonical names

    def monomial(self, factors: Factors, bound: Mapping[str, str]) -> Monomial:
        """Return factors as components, each with canonical names for its summed indices."""
        counts: dict[Component, Fraction] = {}
        for part in connected_components(factors, set(bound)):
            indices = sorted({p for _, positions in part for p in positions if p in bound})
            if indices:
                component = canonical_component(part, {i: bound[i] for i in indices}, self.orders, self.spend)
                counts[component] = counts.get(component, Fraction(0)) + 1
            else:
                ((head, positions), e) = next(iter(part.items()))
                counts[((), ((head, positions, _ONE),))] = e
        return tuple(sorted(counts.items()))

    # --------------------------------------------------------------------------------------------------- templates

    def free(self, form: Form) -> list[str]:
        """Return the free indices of a form, sorted."""
        return sorted(
            {
                p
                for monomial in form
                for (_, factors), _ in monomial
                for _, positions, _ in factors
                for p in positions
                if p[0] != "%"
            }
        )

    def template(
        self, form: Form, fixed: Mapping[str, str] | None = None
    ) -> tuple[Form, tuple[str, ...], list[tuple[int, ...]]]:
        """Return a form over slots, the indices that fill them, and the symmetries: permutations of the slots.

        Args:
            form: the form.
            fixed: indices that get fixed names and do not become slots.
        """
        fixed = {} if fixed is None else fixed
        free = [p for p in self.free(form) if p not in fixed]
        signs: dict[str, Any] = {index: self._roles(form, index) for index in free}
        groups: dict[str, list[str]] = {}
        for index in sorted(free, key=lambda i: signs[i]):
            groups.setdefault(repr(signs[index]), []).append(index)
        count = 1
        for group in groups.values():
            count *= factorial(len(group))
        if count > _SYMMETRIES:
            raise GiveUp("too many indices that look alike")
        found: list[tuple[Any, Form, tuple[str, ...]]] = []
        for orders in product(*(permutations(g) for g in groups.values())):
            order = tuple(i for g in orders for i in g)
            renamed = self.rename(form, {**fixed, **{index: f"${k}" for k, index in enumerate(order)}})
            found.append((sorted(renamed.items()), renamed, order))
        key, result, order = min(found, key=lambda f: (f[0], f[2]))
        same = [tuple(order.index(i) for i in other) for k, _, other in found if k == key]
        return result, order, same

    def _roles(self, form: Form, index: str) -> list[Any]:
        roles: list[Any] = []
        for monomial, c in form.items():
            if any(self.heads[h].kind == "delta" for (_, own), _ in monomial for h, _, _ in own):
                continue  # because of a delta, either of two equal indices may occur, depending on their names
            for (_, factors), exponent in monomial:
                for head, positions, e in factors:
                    if index in positions:
                        orders = self.heads[head].symmetries
                        places = min(tuple(positions[k] == index for k in order) for order in orders)
                        roles.append((c, exponent, head, e, places))
        return sorted(roles)
