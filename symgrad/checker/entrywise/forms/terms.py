"""Sums of products of indexed factors, in a form that does not depend on the names of the summed indices.

Heads are interned: an entry of an input, a number such as a size, or an opaque function of forms over the slots "$0",
"$1", ... that positions fill.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from typing import Any, TypeAlias

from symgrad.checker.clock import has_time
from symgrad.checker.entrywise.forms.labels import (
    Atom,
    Component,
    Factors,
    Form,
    Monomial,
    Orders,
    Raw,
    components,
    gather,
    labelled,
    renamed,
)
from symgrad.checker.kernels.field import GiveUp
from symgrad.checker.limits import SERIES
from symgrad.checker.program.sizes import Size

__all__ = [
    "REPEATED",
    "Atom",
    "Component",
    "Factors",
    "Form",
    "Head",
    "Monomial",
    "Raw",
    "Rule",
    "Terms",
    "heads_of",
]

Rule: TypeAlias = "Callable[[Terms, Atom, Raw], list[Raw] | None]"

REPEATED = "repeated"
"""The rule for a factor in which one index stands twice."""

_ONE = Fraction(1)
_SYMMETRIES = 720
_WORK = 3e-5  # seconds of a step of work
_DEEPEST = 60


def _short(c: Fraction) -> Fraction:
    if max(c.numerator.bit_length(), c.denominator.bit_length()) > SERIES:
        raise GiveUp("the numbers grow too long")
    return c


def heads_of(form: Form) -> set[int]:
    """Return what the factors of a form are."""
    return {head for monomial in form for (_, own), _ in monomial for head, _, _ in own}


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """What a factor is, but for its positions.

    Args:
        kind: ``"tensor"``, ``"exp"``, ``"inv"``, ...; `symgrad.checker.entrywise.forms.rules` knows their laws.
        params: static: a name, a length.
        forms: what an opaque function is taken of, over slots.
        arity: the number of its positions.
        symmetries: orders of the positions that do not change the value.
        positive: greater than zero wherever it is defined.
        depth: of opaque functions within each other.
        names: of the inputs that it reads.
        inputs: those that are not frozen.
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
    inputs: frozenset[str]


@dataclass(slots=True)
class Terms:
    """The interned heads, the laws of each kind, and how much work is left.

    Args:
        budget: steps of work before giving up.
        rules: for a kind of factor, what may take a product apart further.
        conditions: what the forms made so far take for granted, as text.
        assumed: how often something was taken for granted.
        smooth: name of an input; points where a sign jumps with it are left out.
        deadline: when to give up, on the count of `symgrad.checker.clock`.
        between: of inputs of whole numbers, the lengths between which they are; see
            `symgrad.checker.entrywise.pointers`.
        apart: whether two maps, by their heads, are of parts of an axis that do not overlap: asked again and again.
    """

    budget: int
    rules: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    heads: list[Head] = field(default_factory=list[Head])
    known: dict[Any, Head] = field(default_factory=dict[Any, Head])
    fresh: int = 0
    conditions: dict[str, None] = field(default_factory=dict[str, None])
    assumed: int = 0
    smooth: str = ""
    deadline: float = math.inf
    between: dict[str, tuple[Size | None, Size | None]] = field(
        default_factory=dict[str, "tuple[Size | None, Size | None]"]
    )
    apart: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])

    def spend(self, work: int = 1) -> None:
        self.budget -= work
        if self.budget < 0:
            raise GiveUp("too many terms")
        if not has_time(self.deadline, work * _WORK):
            raise GiveUp("the time limit")

    def name(self) -> str:
        """Return a name for an index that no other has."""
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
            inputs = frozenset[str]().union(*(h.inputs for h in inner))
            if kind == "tensor":
                names = frozenset([params[0]])
                inputs = names if not params[2] else inputs
            number = len(self.heads)
            found = Head(number, kind, params, forms, arity, orders, positive, depth, names, inputs)
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
                value = _short(total.get(monomial, 0) + c)
                if value:
                    total[monomial] = value
                else:
                    del total[monomial]
        return total

    def scale(self, form: Form, c: Fraction | int) -> Form:
        return {monomial: _short(v * c) for monomial, v in form.items()} if c else {}

    def subtract(self, a: Form, b: Form) -> Form:
        return self.add(a, self.scale(b, -1))

    def multiply(self, *forms: Form) -> Form:
        result = self.number(1)
        for form in forms:
            if result == {(): _ONE}:
                result = form
                continue
            raws: list[Raw] = []
            for a, c in result.items():
                for b, d in form.items():
                    self.spend()
                    factors, bound = self.unfold(a)
                    self.unfold(b, factors, bound)
                    raws.append((_short(c * d), factors, bound))
            result = self.form(raws)
        return result

    def unfold(
        self, monomial: Monomial, factors: Factors | None = None, bound: dict[str, str] | None = None
    ) -> tuple[Factors, dict[str, str]]:
        """Return factors with fresh names for the summed indices, added to those given."""
        factors = {} if factors is None else factors
        bound = {} if bound is None else bound
        for (lengths, own), exponent in monomial:
            if not lengths:
                (head, positions, e) = own[0]
                gather(factors, (head, positions), e * exponent, self.orders)
                continue
            self.spend(int(exponent) - 1)
            for _ in range(int(exponent)):
                names = {f"%{i}": self.name() for i in range(len(lengths))}
                bound.update(zip(names.values(), lengths, strict=True))
                for head, positions, e in own:
                    gather(factors, (head, tuple(names.get(p, p) for p in positions)), e, self.orders)
        return factors, bound

    def rename(self, form: Form, names: Mapping[str, str]) -> Form:
        """Return a form with other free indices; several may become one."""
        raws: list[Raw] = []
        for monomial, c in form.items():
            factors, bound = self.unfold(monomial)
            raws.append((c, self.renamed(factors, names), bound))
        return self.form(raws)

    def renamed(self, factors: Factors, names: Mapping[str, str]) -> Factors:
        """Return factors with other indices; several may become one."""
        return renamed(factors, names, self.orders)

    def sum_over(self, form: Form, lengths: Mapping[str, str]) -> Form:
        """Return the sum over free indices, each with its length."""
        if not lengths:
            return form
        raws: list[Raw] = []
        for monomial, c in form.items():
            factors, bound = self.unfold(monomial)
            names = {index: self.name() for index in lengths}
            bound.update((names[index], length) for index, length in lengths.items())
            raws.append((c, self.renamed(factors, names), bound))
        return self.form(raws)

    def form(self, raws: Iterable[Raw]) -> Form:
        """Return the normal form of a sum of products: no rule applies, and the summed indices have canonical names."""
        pending = list(raws)
        result: Form = {}
        while pending:
            raw = pending.pop()
            self.spend()
            again = self._apply(raw)
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

    def _apply(self, raw: Raw) -> list[Raw] | None:
        c, factors, bound = raw
        used = {p for _, positions in factors for p in positions}
        for index in bound:
            if index not in used:  # the sum of what does not depend on the index
                rest = {i: n for i, n in bound.items() if i != index}
                return self.times((c, factors, rest), self.size(bound[index]))
        for atom in factors:
            if len(set(atom[1])) < len(atom[1]) and REPEATED in self.rules:
                again = self.rules[REPEATED](self, atom, raw)
                if again is not None:
                    return again
            rule = self.rules.get(self.heads[atom[0]].kind)
            if rule is not None:
                again = rule(self, atom, raw)
                if again is not None:
                    return again
        return None

    def product(self, a: Raw, b: Raw) -> Raw:
        """Return the product of two products whose summed indices have different names."""
        factors = dict(a[1])
        for atom, e in b[1].items():
            gather(factors, atom, e, self.orders)
        return a[0] * b[0], factors, {**a[2], **b[2]}

    def times(self, raw: Raw, form: Form) -> list[Raw]:
        return [self.product(raw, (c, *self.unfold(monomial))) for monomial, c in form.items()]

    def size(self, length: str) -> Form:
        """Return a length as a number: a polynomial in names, and whatever else is opaque."""
        return self._size(ast.parse(length, mode="eval").body)

    def _size(self, tree: ast.expr) -> Form:
        match tree:
            case ast.Constant(value=int(value)):
                return self.number(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.scale(self._size(operand), -1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.add(self._size(left), self._size(right))
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.subtract(self._size(left), self._size(right))
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self.multiply(self._size(left), self._size(right))
            case _:
                name = isinstance(tree, ast.Name)
                return self.atom(self.head("size", (ast.unparse(tree),), positive=name))

    # --------------------------------------------------------------------------------------------- canonical names

    def monomial(self, factors: Factors, bound: Mapping[str, str]) -> Monomial:
        """Return factors as components, each with canonical names for its summed indices."""
        counts: dict[Component, Fraction] = {}
        for part in components(factors, set(bound)):
            indices = sorted({p for _, positions in part for p in positions if p in bound})
            if indices:
                component = labelled(part, {i: bound[i] for i in indices}, self.orders, self.spend)
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
        """Return a form over slots, the indices that fill them, and the orders of the slots that leave it the same.

        Args:
            form: any.
            fixed: indices that keep a name of their own.
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
                continue  # which of two equal indices is written depends on their names
            for (_, factors), exponent in monomial:
                for head, positions, e in factors:
                    if index in positions:
                        orders = self.heads[head].symmetries
                        places = min(tuple(positions[k] == index for k in order) for order in orders)
                        roles.append((c, exponent, head, e, places))
        return sorted(roles)
