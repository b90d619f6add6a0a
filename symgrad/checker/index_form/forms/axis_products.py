"""Products of all entries along axes, and of all entries except one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from symgrad.checker.index_form.forms.canonical_labels import Atom, Component, Factors, Form, RawProduct
from symgrad.checker.index_form.forms.functions import exp, is_positive, log, opaque, power
from symgrad.checker.index_form.forms.product_rules import delta, fill_slots, without_factor
from symgrad.checker.index_form.forms.terms import FormAlgebra, Rule, heads_of


def product_except(t: FormAlgebra, form: Form, lengths: Sequence[str], at: Sequence[str]) -> Form:
    """Return the product of a form over "$m0", ... without the entry at the given indices."""
    if is_positive(t, form):
        here = t.rename(form, {f"$m{k}": i for k, i in enumerate(at)})
        return t.multiply(product_along_axes(t, form, lengths), power(t, here, -1))
    here = t.multiply(*(delta(t, f"$m{k}", i, n) for k, (i, n) in enumerate(zip(at, lengths, strict=True))))

    def others(own: Form) -> Form:
        if own.keys() == {()}:
            return t.scale(_product(t, own, lengths), 1 / own[()])
        return _product(t, t.add(own, t.multiply(here, t.subtract(t.number(1), own))), lengths)

    return t.multiply(*(power(t, others(own), e) for own, e in _tied_factors(form, lengths)))


def product_along_axes(t: FormAlgebra, form: Form, lengths: Sequence[str]) -> Form:
    """Return the product of a form over "$m0", ...: factor by factor; for a positive form as exp(sum(log))."""
    if is_positive(t, form):
        marks = (f"$m{k}" for k in range(len(lengths)))
        return exp(t, t.sum_over(log(t, form), dict(zip(marks, lengths, strict=True))))
    return t.multiply(*(power(t, _product(t, own, lengths), e) for own, e in _tied_factors(form, lengths)))


def _product(t: FormAlgebra, form: Form, lengths: Sequence[str]) -> Form:
    return opaque(t, "prod", form, tuple(lengths), {f"$m{k}": f"$m{k}" for k in range(len(lengths))})


def _tied_factors(form: Form, lengths: Sequence[str]) -> list[tuple[Form, Fraction]]:
    """Return factors of a form, with exponents: all that depend on "$m0", ..., the others together, and the number."""
    if len(form) != 1:
        return [(form, Fraction(1))]
    marks = {f"$m{k}" for k in range(len(lengths))}
    ((monomial, c),) = form.items()
    found: list[tuple[Form, Fraction]] = []
    rest: list[tuple[Component, Fraction]] = []
    for component, e in monomial:
        tied = any(p in marks for _, positions, _ in component[1] for p in positions)
        if tied and e.denominator == 1 and (e > 0 or len(monomial) > 1):
            found.append(({((component, Fraction(1)),): Fraction(1)}, e))
        else:
            rest.append((component, e))
    if rest:
        found.append(({tuple(rest): Fraction(1)}, Fraction(1)))
    return [*found, ({(): c}, Fraction(1))] if c != 1 else found


def _complete_product(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Multiply the product of all entries but one by this entry: the result is the product of all."""
    lengths: tuple[str, ...] = t.heads[atom[0]].params
    read = heads_of(t.heads[atom[0]].forms[0])
    for other, e in raw[1].items():
        if e < 1 or other[0] not in read:
            continue
        for at in atom[1]:
            form = t.rename(t.atom(t.heads[other[0]], other[1]), {at: "$m0"})
            if product_except(t, form, lengths, [at]) == t.atom(t.heads[atom[0]], atom[1]):
                rest = without_factor(without_factor(raw, atom, raw[1][atom] - 1), other, e - 1)
                return t.times(rest, product_along_axes(t, form, lengths))
    return None


def _divide_product(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Cancel a product divided by one of its factors: the result is the product of the others."""
    head = t.heads[atom[0]]
    (form,) = head.forms
    e = raw[1][atom]
    if e.denominator != 1 or e < 1 or len(head.params) != 1:
        return None
    if any(t.heads[h].kind == "delta" for h in heads_of(form)):
        completed = _complete_product(t, atom, raw)
        if completed is not None:
            return completed
    names = {f"${k}": p for k, p in enumerate(atom[1])}
    if len(form) != 1:
        return _divide_product_by_sum(t, atom, raw, t.rename(form, names))
    ((monomial, c),) = form.items()
    parts = [(own[0][0], own[0][1], x) for (lengths, own), x in monomial if not lengths and x > 0]
    tied = next((part for part in parts if "$m0" in part[1]), None)
    if tied is None or len(parts) != len(monomial):
        return None
    for head_id, positions in raw[1]:
        if head_id != tied[0]:
            continue
        at = positions[tied[1].index("$m0")]
        own_factors = {(h, tuple({**names, "$m0": at}.get(p, p) for p in own)): x for h, own, x in parts}
        if all(raw[1].get(a, Fraction(0)) <= -x for a, x in own_factors.items()):
            _, left, bound = without_factor(raw, atom, e - 1)
            rest: Factors = {
                a: y + own_factors.get(a, 0) for a, y in left.items() if y + own_factors.get(a, 0)
            }
            others = product_except(t, t.rename(form, names), head.params, [at])
            return t.times((raw[0] * c, rest, bound), others)
    return None


def _divide_product_by_sum(
    t: FormAlgebra, atom: Atom, raw: RawProduct, form: Form
) -> list[RawProduct] | None:
    """Cancel a product of sums that is divided by one of these sums."""
    e = raw[1][atom]
    for other, x in raw[1].items():
        head = t.heads[other[0]]
        if head.kind != "sum" or x > -1:
            continue
        found = fill_slots(t, head.forms[0], other[1])
        for at in other[1]:
            here = t.rename(form, {"$m0": at})
            side = next((k for k in (1, -1) if here == t.scale(found, k)), 0)
            if side:
                rest = without_factor(without_factor(raw, atom, e - 1), other, x + 1)
                others = product_except(t, form, t.heads[atom[0]].params, [at])
                return t.times((rest[0] * side, rest[1], rest[2]), others)
    return None


AXIS_PRODUCT_RULES: Mapping[str, Rule] = {"prod": _divide_product}
