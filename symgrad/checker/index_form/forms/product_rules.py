"""Simplification rules for products of indexed factors: contraction, u**-1 * u = 1, inv(M) @ M = I, ...

A rule takes a product, and one of its factors. It returns products whose sum equals the given product wherever all of
them are defined, or None. Each rule sees one product only, so it can be checked in isolation.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import TypeAlias

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.canonical_labels import (
    Atom,
    Component,
    Form,
    Monomial,
    RawProduct,
    connected_components,
)
from symgrad.checker.index_form.forms.position_map_rules import disjoint_maps, reverse_order
from symgrad.checker.index_form.forms.terms import FormAlgebra, Rule

Dependency: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...], bool]"
"""A dependency of a map: source positions, the target positions that they determine, and whether it is total."""


def delta(t: FormAlgebra, i: str, j: str, length: str) -> Form:
    """Return the Kronecker delta of two indices of the same length."""
    return t.atom(t.head("delta", (length,), arity=2, symmetries=[(1, 0)]), (i, j))


def fill_slots(t: FormAlgebra, form: Form, positions: tuple[str, ...]) -> Form:
    """Return a form whose slots are filled by positions."""
    return t.rename(form, {f"${k}": p for k, p in enumerate(positions)})


def fill_matrix_slots(t: FormAlgebra, form: Form, positions: tuple[str, ...]) -> Form:
    """Return a matrix whose row, column and slots are filled by positions."""
    row, column, *rest = positions
    return t.rename(form, {"$r": row, "$c": column, **{f"${k}": p for k, p in enumerate(rest)}})


def without_factor(raw: RawProduct, atom: Atom, left: Fraction | int = 0) -> RawProduct:
    """Return a product without one of its factors, or with another exponent of this factor."""
    c, factors, bound = raw
    factors = {a: e for a, e in factors.items() if a != atom}
    if left:
        factors[atom] = Fraction(left)
    return c, factors, bound


def _power_product(atom: Atom, e: Fraction) -> RawProduct:
    return Fraction(1), {atom: e} if e else {}, {}


# ------------------------------------------------------------------------------------------- deltas and position maps


def _delta(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    c, factors, bound = raw
    i, j = sorted(atom[1], key=lambda p: (p in bound, p))
    e = factors[atom]
    if e < 0 or e.denominator != 1:
        raise GiveUp("division by a Kronecker delta, which is zero off the diagonal")
    rest = without_factor(raw, atom)
    if i == j:
        return [rest]
    if j in bound:
        return [(c, t.renamed(rest[1], {j: i}), {k: n for k, n in bound.items() if k != j})]
    if e != 1 or any(j in positions for _, positions in rest[1]):
        kept = t.renamed(rest[1], {j: i})
        kept[atom] = Fraction(1)
        return [(c, kept, bound)]
    return None


def _map(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Simplify a position map, whose ``params`` are its name, the lengths, and the dependencies."""
    c, factors, bound = raw
    head, positions = t.heads[atom[0]], atom[1]
    lengths: tuple[str, ...] = head.params[1]
    ways: tuple[Dependency, ...] = head.params[2]
    e = factors[atom]
    if e < 0 or e.denominator != 1:
        raise GiveUp("division by a position map, which is zero at most positions")
    if e != 1:
        return [without_factor(raw, atom, 1)]
    if any(disjoint_maps(t, atom, other) for other in factors if other != atom):
        return []
    if head.params[0] == "le":
        return reverse_order(t, atom, raw)
    for sources, targets, total in ways:
        into = [positions[k] for k in targets]
        used = [p for a in factors for p in a[1]]
        if total and all(p in bound and used.count(p) == 1 for p in into):
            rest = without_factor(raw, atom)
            return [(c, rest[1], {i: n for i, n in bound.items() if i not in into})]
        for other in factors:
            if other[0] != atom[0] or other == atom or factors[other] != 1:
                continue
            for order in head.symmetries:
                turned = [other[1][k] for k in order]
                if all(turned[k] == positions[k] for k in sources):
                    raws = [without_factor(raw, other)]
                    for k in targets:
                        equal = delta(t, positions[k], turned[k], lengths[k])
                        raws = [new for r in raws for new in t.times(r, equal)]
                    return raws
    return None


# ----------------------------------------------------------------------------------- a sum, and its reciprocal or root


def divide_by_term(
    t: FormAlgebra, divisor: Form, raw: RawProduct, given: tuple[str, ...]
) -> RawProduct | None:
    """Divide a product by a form with one term; return None if it is not divisible.

    Args:
        t: the algebra of forms.
        divisor: the form; its coefficient must be 1.
        raw: the product, without the factor whose rule is applied.
        given: the positions of the factor whose rule is applied: the product may sum over them, the divisor may not.
    """
    if list(divisor.values()) != [1]:
        return None
    ((monomial, _),) = divisor.items()
    c, factors, bound = raw
    left = dict(factors)
    wanted: dict[Component, int] = {}
    pinned = set(given)
    for component, e in monomial:
        lengths, own = component
        pinned.update(p for _, positions, _ in own for p in positions if p[0] != "%")
        if lengths:
            wanted[component] = int(e)
            continue
        head, positions, _ = own[0]
        have = left.get((head, positions), Fraction(0))
        if e <= 0 or have < e:
            return None
        if have == e:
            del left[head, positions]
        else:
            left[head, positions] = have - e
    if not wanted:
        return c, left, bound
    heads = {head for head, _ in left}
    if not all(head in heads for _, own in wanted for head, _, _ in own):
        return None
    rest = dict(left)
    gone: set[str] = set()
    for part in connected_components(left, set(bound) - pinned):
        indices = {p for _, positions in part for p in positions if p in bound and p not in pinned}
        if not indices:
            continue
        ((component, _),) = t.monomial(part, {i: bound[i] for i in indices})
        if wanted.get(component, 0):
            wanted[component] -= 1
            gone |= indices
            for atom in part:
                del rest[atom]
    if any(wanted.values()):
        return None
    return c, rest, {i: n for i, n in bound.items() if i not in gone}


def _monomial_order(monomial: Monomial) -> tuple[int, Monomial]:
    return sum(len(own) * max(1, int(abs(e))) for (_, own), e in monomial), monomial


def _has_positive_exponents(monomial: Monomial) -> bool:
    return bool(monomial) and all(e > 0 for _, e in monomial)


def _sum(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Expand natural powers of a sum D; for e < 0 use D**e * lead(D) = D**(e + 1) - D**e * (D - lead(D))."""
    e = raw[1][atom]
    head = t.heads[atom[0]]
    if e >= 1:
        return t.times(without_factor(raw, atom, e - 1), fill_slots(t, head.forms[0], atom[1]))
    if e > 0:
        return None
    return _reduce_by_lead(t, atom, raw) or _reduce_by_constant(t, atom, raw)


def _reduce_by_lead(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    e = raw[1][atom]
    head = t.heads[atom[0]]
    lead = max((m for m in head.forms[0] if _has_positive_exponents(m)), key=_monomial_order, default=None)
    if lead is None or not _has_heads(lead, raw):
        return None
    form = head.forms[0]
    rest = divide_by_term(t, fill_slots(t, {lead: Fraction(1)}, atom[1]), without_factor(raw, atom), atom[1])
    if rest is None:
        return None
    others = fill_slots(t, t.scale({m: c for m, c in form.items() if m != lead}, -1), atom[1])
    rest = (rest[0] / form[lead], rest[1], rest[2])
    up, power = _power_product(atom, e + 1), _power_product(atom, e)
    return [t.product(rest, up), *(t.product(r, power) for r in t.times(rest, others))]


def _reduce_by_constant(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Apply D**e / u = D**(e + 1)/(c*u) - (D - c)/(c*u) * D**e, where D - c is a multiple of u."""
    e = raw[1][atom]
    form = t.heads[atom[0]].forms[0]
    constant = form.get((), Fraction(0))
    if not constant or len(form) == 1:
        return None
    rest = {m: c for m, c in form.items() if m}
    first, *more = ({component for component, k in m if k > 0} for m in rest)
    shared = first.intersection(*more)
    for lengths, own in shared:
        if lengths:
            continue
        divisor = fill_slots(t, {(((lengths, own), Fraction(1)),): Fraction(1)}, atom[1])
        if len(divisor) == 1 and any(_is_in_denominator(part, raw) for part in next(iter(divisor))):
            bare = without_factor(raw, atom)
            bare = (bare[0] / constant, bare[1], bare[2])
            up, power = _power_product(atom, e + 1), _power_product(atom, e)
            others = fill_slots(t, t.scale(rest, -1), atom[1])
            return [t.product(bare, up), *(t.product(r, power) for r in t.times(bare, others))]
    return None


def _is_in_denominator(part: tuple[Component, Fraction], raw: RawProduct) -> bool:
    (lengths, own), _ = part
    return not lengths and raw[1].get((own[0][0], own[0][1]), Fraction(0)) < 0


# ----------------------------------------------------------------------------------------------------------- matrices


def _inverse(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Contract inv(M)[i, k] with lead(M)[k, j] over k: delta[i, j] minus the contraction with the other terms of M."""
    head = t.heads[atom[0]]
    found = match_contraction(t, head.forms[0], atom, raw)
    if found is None:
        return None
    far, x, _, rest, others = found
    none = rest[0], rest[1], {i: n for i, n in rest[2].items() if i not in atom[1][:2] or i == far}
    unit = t.times(none, delta(t, far, x, head.params[0]))
    return [*unit, *(t.product(r, _power_product(atom, Fraction(1))) for r in t.times(rest, others))]


def match_contraction(
    t: FormAlgebra, form: Form, atom: Atom, raw: RawProduct
) -> tuple[str, str, bool, RawProduct, Form] | None:
    """Find the leading term of a matrix contracted with a factor that has a row and a column.

    Args:
        t: the algebra of forms.
        form: the matrix, over the slots of the factor.
        atom: the factor.
        raw: the product.

    Returns:
        The index of the factor that is not contracted, and that of the leading term; whether this term is on the left;
        the product without the factor and the term; and the negative of the other terms of the matrix.
    """
    lead = leading_matrix_term(t, form)
    row, column, *captured = atom[1]
    if lead is None or raw[1][atom] != 1 or row == column or not _has_heads(lead, raw):
        return None
    for near, far, left in ((column, row, False), (row, column, True)):
        if near not in raw[2] or near in captured:
            continue
        bare = without_factor(raw, atom)
        for x in sorted({p for _, positions in bare[1] for p in positions} - {near}):
            ends = (x, near) if left else (near, x)
            rest = divide_by_term(
                t, fill_matrix_slots(t, {lead: Fraction(1)}, (*ends, *captured)), bare, (*atom[1], x)
            )
            if rest is not None and not any(near in positions for _, positions in rest[1]):
                others = fill_matrix_slots(t, negated_tail(t, form, lead), (*ends, *captured))
                return far, x, left, (rest[0] / form[lead], rest[1], rest[2]), others
    return None


def negated_tail(t: FormAlgebra, form: Form, lead: Monomial) -> Form:
    """Return the leading term minus the form, that is, the negative of the other terms."""
    return t.scale({m: c for m, c in form.items() if m != lead}, -1)


def _has_heads(lead: Monomial, raw: RawProduct) -> bool:
    heads = {h for h, _ in raw[1]}
    return all(h in heads for (_, own), _ in lead for h, _, _ in own)


def split_scalar_factors(monomial: Monomial, row: str, column: str) -> tuple[Monomial, Monomial]:
    """Split a product into the factors that do not depend on row and column, and the other factors."""
    tied = [any(i in positions for _, positions, _ in own for i in (row, column)) for (_, own), _ in monomial]
    outer = tuple(part for part, inside in zip(monomial, tied, strict=True) if not inside)
    return outer, tuple(part for part, inside in zip(monomial, tied, strict=True) if inside)


def leading_matrix_term(t: FormAlgebra, form: Form) -> Monomial | None:
    """Return the leading term of a matrix: no other term is a scalar multiple of it; None if there is no such term."""
    inner = [split_scalar_factors(m, "$r", "$c")[1] for m in form]
    leads = [
        m
        for m, own in zip(form, inner, strict=True)
        if _has_positive_exponents(m)
        and inner.count(own) == 1
        and all(t.heads[h].kind != "delta" for (_, own), _ in m for h, _, _ in own)
        and {"$r", "$c"} <= {p for (_, own), _ in m for _, positions, _ in own for p in positions}
    ]
    return min(leads, key=_monomial_order, default=None)


# ------------------------------------------------------------------------------------------------------------ scalars


def _sign(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Apply sign(u)**3 = sign(u), u*sign(u)**2 = u, and sign(u)**2 = 1 where u is not zero."""
    e = raw[1][atom]
    if e.denominator != 1:
        return None
    if t.heads[atom[0]].params[0]:
        return [without_factor(raw, atom, e % 2)] if e != 1 else None
    if e > 2 or e < -1:
        return [without_factor(raw, atom, 2 - e % 2 if e > 2 else -(e % 2))]
    form = fill_slots(t, t.heads[atom[0]].forms[0], atom[1])
    if e == -1 or len(form) != 1:
        return None
    ((monomial, _),) = form.items()
    bare = without_factor(raw, atom)
    if monomial and all(_is_in_denominator(part, raw) for part in monomial):
        return [without_factor(raw, atom, e - 2)]
    divisor = {monomial: Fraction(1)}
    if e == 2 and _has_positive_exponents(monomial) and divide_by_term(t, divisor, bare, atom[1]) is not None:
        return [bare]
    return None


def _sine(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    e = raw[1][atom]
    if e < 2 or e.denominator != 1:
        return None
    cosine = t.head("cos", (), t.heads[atom[0]].forms, len(atom[1]), symmetries=t.heads[atom[0]].symmetries)
    square = t.subtract(t.number(1), t.atom(cosine, atom[1], 2))
    return t.times(without_factor(raw, atom, e - 2), square)


def _cube_root(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    e = raw[1][atom]
    if e < 3:
        return None
    return t.times(without_factor(raw, atom, e - 3), fill_slots(t, t.heads[atom[0]].forms[0], atom[1]))


def _prime(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Move the integer part of the exponent of a prime number into the coefficient."""
    e = raw[1][atom]
    whole = floor(e)
    if not whole:
        return None
    c, factors, bound = without_factor(raw, atom, e - whole)
    return [(c * Fraction(t.heads[atom[0]].params[0]) ** whole, factors, bound)]


RULES: Mapping[str, Rule] = {
    "cbrt": _cube_root,
    "delta": _delta,
    "inv": _inverse,
    "map": _map,
    "prime": _prime,
    "sign": _sign,
    "sin": _sine,
    "sum": _sum,
}
