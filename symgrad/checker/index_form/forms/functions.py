"""Functions of forms: powers, exp, log, sign, and opaque functions.

Each function returns a form that is equal to its value wherever its argument is defined, and records the conditions
that the form excludes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import floor, gcd, lcm

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.canonical_labels import Component, Form, Monomial
from symgrad.checker.index_form.forms.form_conditions import zero_conditions
from symgrad.checker.index_form.forms.perfect_powers import perfect_power
from symgrad.checker.index_form.forms.product_rules import fill_slots
from symgrad.checker.index_form.forms.terms import FormAlgebra, heads_of
from symgrad.checker.limits import EXPANDED_EXPONENT, FORM_COEFFICIENT_BITS
from symgrad.checker.numbers import flint

_LARGEST_PRIME = 10**6


def constant(t: FormAlgebra, name: str) -> Form:
    """Return pi or E as a form."""
    if name == "E":
        return exp(t, t.number(1))
    if name == "pi":
        return t.atom(t.head("constant", (name,), positive=True))
    raise GiveUp(f"the constant {name}")


# -------------------------------------------------------------------------------------------------------------- signs


def _is_nonnegative_form(t: FormAlgebra, form: Form) -> bool:
    return all(c > 0 and all(_is_nonnegative_power(t, *part) for part in m) for m, c in form.items())


def _is_nonnegative_power(t: FormAlgebra, component: Component, exponent: Fraction) -> bool:
    """Tell whether a power is nonnegative where it is defined: a power with a noninteger exponent always is."""
    return all(
        t.heads[h].positive or (e * exponent).denominator != 1 or e * exponent % 2 == 0
        for h, _, e in component[1]
    )


def is_positive(t: FormAlgebra, form: Form) -> bool:
    """Tell whether a form is nonnegative and has a positive term; a sum over a named size has at least one term."""
    return _is_nonnegative_form(t, form) and any(
        all(
            all(t.heads[h].positive for h, _, _ in own)
            and all(n.isidentifier() or (n.isdigit() and n != "0") for n in lengths)
            for (lengths, own), _ in m
        )
        for m in form
    )


def exclude(t: FormAlgebra, conditions: Iterable[str]) -> None:
    """Record conditions under which nothing is proved."""
    t.assumed += 1
    t.conditions.update(dict.fromkeys(conditions))


def exclude_zeros(t: FormAlgebra, form: Form, relation: str = "= 0") -> None:
    """Exclude the points where a form is zero, negative (``"< 0"``), or either (``"<= 0"``)."""
    square = relation == "<= 0" and _is_nonnegative_form(t, form)
    exclude(t, zero_conditions(t, form, "= 0" if square else relation))


def _only_term(form: Form) -> tuple[Monomial, Fraction]:
    """Return the term of a form that has one, with its coefficient."""
    ((monomial, c),) = form.items()
    return monomial, c


# ------------------------------------------------------------------------------------------------------------- powers


def power(t: FormAlgebra, form: Form, p: Fraction | int) -> Form:
    """Return a power with a rational exponent."""
    p = Fraction(p)
    if p == 1:
        return form
    if p == 0:
        return t.number(1)
    if not form:
        if p > 0:
            return {}
        raise GiveUp("a denominator that is zero everywhere")
    if p.denominator == 1 and p > 0:
        if p > EXPANDED_EXPONENT:
            raise GiveUp("a high power")
        return t.multiply(*[form] * int(p))
    if p.denominator != 1 and not _is_nonnegative_form(t, form):
        exclude_zeros(t, form, "<= 0" if p < 0 else "< 0")
    elif p < 0 and not is_positive(t, form):
        exclude_zeros(t, form)
    if len(form) == 1:
        return _power_of_product(t, *_only_term(form), p)
    c, unit, base = content(t, form)
    own = _power_of_product(t, *_only_term(base), p) if len(base) == 1 else _power_of_sum(t, base, p)
    return t.multiply(_rational_power(t, c, p), _monomial_power(t, unit, p), own)


def _rational_power(t: FormAlgebra, c: Fraction, p: Fraction) -> Form:
    """Return a power of a rational number, which must be positive if the exponent is not an integer."""
    if c != 1 and abs(p) * max(c.numerator.bit_length(), c.denominator.bit_length()) > FORM_COEFFICIENT_BITS:
        raise GiveUp("a number with many digits")
    if p.denominator == 1:
        return t.number(Fraction(c ** int(p)))
    result = t.number(1)
    for prime, k in _prime_factors(c):
        result = t.multiply(result, t.atom(t.head("prime", (prime,), positive=True), (), k * p))
    return result


def _prime_factors(c: Fraction) -> list[tuple[int, int]]:
    """Return the prime factors of a positive rational number, with exponents that may be negative."""
    if max(c.numerator, c.denominator) > _LARGEST_PRIME**2:
        raise GiveUp("the prime factors of a large number")
    return [
        (int(prime), side * int(e))
        for n, side in ((c.numerator, 1), (c.denominator, -1))
        for prime, e in sorted(flint.fmpz(n).factor())
    ]


def _monomial_power(t: FormAlgebra, monomial: Monomial, p: Fraction) -> Form:
    """Return a power of a product; its factors must be positive unless the exponent is an integer."""
    return t.form([(Fraction(1), {(own[0][0], own[0][1]): e * p for (_, own), e in monomial}, {})])


def _power_of_product(t: FormAlgebra, monomial: Monomial, c: Fraction, p: Fraction) -> Form:
    result = _rational_power(t, abs(c), p)
    whole = p.denominator == 1
    rest: list[tuple[Component, Fraction]] = []
    for part in monomial:
        component, e = part
        lengths, own = component
        if whole or (t.heads[own[0][0]].positive and not lengths):
            result = t.multiply(result, _component_power(t, component, e * p))
        elif e.denominator == 1 and e % 2 == 0:
            # (x**2)**p is |x|**(2*p)
            root: Form = {((component, Fraction(1)),): Fraction(1)}
            result = t.multiply(result, _power_of_magnitude(t, root, e * p))
        elif _is_nonnegative_power(t, component, e):
            result = t.multiply(result, _component_power(t, component, e * p))
        else:
            rest.append(part)
    if whole:
        return t.scale(result, -1) if c < 0 and p % 2 else result
    if c > 0 and len(rest) == 1 and rest[0][1].numerator % 2:
        # x**e is defined only for x >= 0, or x**e >= 0 with an odd e: so x >= 0
        return t.multiply(result, _component_power(t, rest[0][0], rest[0][1] * p))
    if c < 0 or rest:
        return t.multiply(result, _power_of_sum(t, {tuple(rest): Fraction(1 if c > 0 else -1)}, p))
    return result


def _component_power(t: FormAlgebra, component: Component, p: Fraction) -> Form:
    lengths, own = component
    if lengths:
        return _power_of_sum(t, {((component, Fraction(1)),): Fraction(1)}, p)
    head = t.heads[own[0][0]]
    if head.kind == "cbrt" and p < 0 and p.denominator == 1:
        below = floor(p / 3)
        over = power(t, fill_slots(t, head.forms[0], own[0][1]), below)
        return t.multiply(t.atom(head, own[0][1], p - 3 * below), over)
    return t.form([(Fraction(1), {(own[0][0], own[0][1]): p}, {})])


def _power_of_magnitude(t: FormAlgebra, form: Form, p: Fraction) -> Form:
    if p.denominator == 1 and p % 2 == 0:
        return power(t, form, p)
    if p.denominator == 1:
        return t.multiply(power(t, form, p), sign(t, form))
    return _power_of_sum(t, magnitude(t, form), p)


def content(t: FormAlgebra, form: Form) -> tuple[Fraction, Monomial, Form]:
    """Split a form into a positive number, a product of positive factors, and the primitive part."""
    low: dict[Component, Fraction] = {}
    for monomial in form:
        for (lengths, own), _ in monomial:
            if not lengths and t.heads[own[0][0]].positive:
                low[lengths, own] = Fraction(0)
    for component in low:
        low[component] = min(dict(monomial).get(component, Fraction(0)) for monomial in form)
    unit = tuple((component, e) for component, e in sorted(low.items()) if e)
    values = list(form.values())
    c = Fraction(gcd(*(v.numerator for v in values)), lcm(*(v.denominator for v in values)))
    base = t.multiply(t.scale(form, 1 / c), _monomial_power(t, unit, Fraction(-1)))
    return c, unit, base


def _power_of_sum(t: FormAlgebra, base: Form, p: Fraction) -> Form:
    if p < 0 and p.denominator == 1:
        c, root, k = perfect_power(base)
        if k > 1:
            return t.multiply(_power_of_sum(t, root, p * k), _rational_power(t, c, p))
    if p >= 1:
        whole = floor(p)
        if whole > EXPANDED_EXPONENT:
            raise GiveUp("a high power")
        left = _power_of_sum(t, base, p - whole) if p != whole else t.number(1)
        return t.multiply(*[base] * whole, left)
    slots, positions, orders = t.template(base)
    turned = False
    if p.denominator == 1 and not _is_nonnegative_form(t, base):
        # the same form represents both u and -u
        other = t.template(t.scale(base, -1))
        if sorted(other[0].items()) < sorted(slots.items()):
            (slots, positions, orders), turned = other, True
    head = t.head("sum", (), (slots,), len(positions), symmetries=orders, positive=is_positive(t, slots))
    return t.scale(t.atom(head, positions, p), -1 if turned and p % 2 else 1)


# ------------------------------------------------------------------------------------------ exponentials and logs


def exp(t: FormAlgebra, form: Form) -> Form:
    """Return an exponential as a product: for each term c*m of the form, the exponential of m to the power c."""
    result = t.number(1)
    for monomial, c in form.items():
        if len(monomial) == 1:
            (((lengths, own), e),) = monomial
            head = t.heads[own[0][0]]
            if not lengths and e == 1 and head.kind == "log":
                result = t.multiply(result, power(t, fill_slots(t, head.forms[0], own[0][1]), c))
                continue
        slots, positions, orders = t.template({monomial: Fraction(1)})
        head = t.head("exp", (), (slots,), len(positions), symmetries=orders, positive=True)
        result = t.multiply(result, t.atom(head, positions, c))
    return result


def log(t: FormAlgebra, form: Form) -> Form:
    """Return a logarithm as a sum of the logarithms of the positive factors and of the remaining product."""
    if not form:
        raise GiveUp("the logarithm of zero")
    if not is_positive(t, form):
        exclude_zeros(t, form, "<= 0")
    if len(form) > 1:
        c, unit, base = content(t, form)
        d, root, k = perfect_power(base)
        if k > 1 and is_positive(t, root):
            return t.add(
                _log_of_number(t, c * d),
                *(_log_of_component(t, *part) for part in unit),
                t.scale(log(t, root), k),
            )
        own = _log_of_product(t, *_only_term(base)) if len(base) == 1 else opaque(t, "log", base)
        return t.add(_log_of_number(t, c), *(_log_of_component(t, *part) for part in unit), own)
    return _log_of_product(t, *_only_term(form))


def _log_of_product(t: FormAlgebra, monomial: Monomial, c: Fraction) -> Form:
    result = _log_of_number(t, abs(c))
    rest = dict(monomial)
    for component, e in monomial:
        lengths, own = component
        head = t.heads[own[0][0]]
        if not lengths and head.positive:
            result = t.add(result, _log_of_component(t, component, e))
            del rest[component]
        elif not lengths and head.kind == "sign":
            # |u| is u*sign(u), so log|u| is a separate summand
            inner = fill_slots(t, head.forms[0], own[0][1])
            if len(inner) == 1:
                ((only, _),) = inner.items()
                if inner[only] == len(only) == e == 1 and rest.get(only[0][0]) == only[0][1] == 1:
                    result = t.add(result, opaque(t, "log", t.multiply(inner, sign(t, inner))))
                    del rest[component], rest[only[0][0]]
    if c > 0 and len(rest) == 1:
        ((component, e),) = rest.items()
        if (
            e.numerator % 2
        ):  # the power is positive, and its exponent is odd or not an integer: so the base is positive
            return t.add(result, _log_of_component(t, component, e))
    if c < 0 and not rest:
        raise GiveUp("the logarithm of a negative number")
    if rest:
        result = t.add(result, opaque(t, "log", {tuple(sorted(rest.items())): Fraction(1 if c > 0 else -1)}))
    return result


def _log_of_number(t: FormAlgebra, c: Fraction) -> Form:
    result: Form = {}
    for prime, k in _prime_factors(c):
        result = t.add(result, t.scale(opaque(t, "log", t.number(prime)), k))
    return result


def _log_of_component(t: FormAlgebra, component: Component, e: Fraction) -> Form:
    head, positions, _ = component[1][0]
    kind = t.heads[head]
    if not component[0] and kind.kind == "exp":
        return t.scale(fill_slots(t, kind.forms[0], positions), e)
    if not component[0] and kind.kind == "prime":
        return t.scale(opaque(t, "log", t.number(kind.params[0])), e)
    if not component[0] and kind.kind == "sum":
        return t.scale(opaque(t, "log", fill_slots(t, kind.forms[0], positions)), e)
    return t.scale(opaque(t, "log", {((component, Fraction(1)),): Fraction(1)}), e)


# --------------------------------------------------------------------------------------------------- opaque functions

_ODD = {"sin", "atan", "asin", "asinh", "atanh", "erf", "cbrt", "round", "sign"}
_EVEN = {"cos"}


def opaque(
    t: FormAlgebra,
    kind: str,
    form: Form,
    params: tuple[object, ...] = (),
    fixed: Mapping[str, str] | None = None,
) -> Form:
    """Return a function as one factor, which has no laws except those of its kind."""
    if not form and kind in _ODD:
        return {}
    slots, positions, orders = t.template(form, fixed)
    side = 1
    if kind in _ODD or (kind in _EVEN and form):
        other = t.template(t.scale(form, -1))
        first, second = sorted(slots.items()), sorted(other[0].items())
        if next(iter(form.values())) < 0 if len(form) == 1 else second < first:
            slots, positions, orders = other
            side = -1 if kind in _ODD else 1
    positive = kind == "log" and list(form) == [()] and form[()] > 1
    head = t.head(kind, params, (slots,), len(positions), symmetries=orders, positive=positive)
    return t.scale(t.atom(head, positions), side)


def sign(t: FormAlgebra, form: Form) -> Form:
    """Return the sign of a form: -1, 0 or 1.

    Zeros that depend on the input of differentiation are kinks, and are excluded. This requires that the zeros contain
    no open set, for every size and every choice of the indices (x[i] - x[j] is zero where i = j).
    """
    if not form or is_positive(t, form):
        return t.number(1 if form else 0)
    if is_positive(t, t.scale(form, -1)):
        return t.number(-1)
    kink = bool(t.smooth_input) and _has_thin_zeros(t, form)
    if kink:
        exclude_zeros(t, form)
        if _is_nonnegative_form(t, form):
            return t.number(1)
    if len(form) == 1:
        # positive factors do not matter, and a sign of a sign is that sign
        ((monomial, c),) = form.items()
        kept = tuple(p for p in monomial if p[0][0] or not t.heads[p[0][1][0][0]].positive)
        if len(kept) == 1 and not kept[0][0][0] and t.heads[kept[0][0][1][0][0]].kind == "sign":
            return {kept: Fraction(1 if c > 0 else -1)}
        return opaque(t, "sign", {kept: Fraction(1 if c > 0 else -1)}, (kink,))
    return opaque(t, "sign", content(t, form)[2], (kink,))


def _has_thin_zeros(t: FormAlgebra, form: Form) -> bool:
    """Tell whether a form that depends on the smooth input is zero only for isolated scale factors of one real input.

    This is so if some term is a product of positive factors and entries of real inputs, and one of these inputs occurs
    in no other factor: the term is nonzero where the inputs are positive, and scaling that input changes only this
    term.
    """
    while len(form) == 1:  # a power of a sum
        ((monomial, _),) = form.items()
        inner = [t.heads[h] for h in heads_of(form)]
        if len(monomial) != 1 or monomial[0][0][0] or inner[0].kind != "sum":
            break
        form = inner[0].forms[0]
    heads = {monomial: [t.heads[h] for h in heads_of({monomial: Fraction(1)})] for monomial in form}
    if not any(t.smooth_input in h.names for own in heads.values() for h in own):
        return False
    for monomial, own in heads.items():
        plain = [h for h in own if h.kind == "tensor"]
        if not all(h.positive or (h.kind == "tensor" and h.params[2] == "real") for h in own):
            continue
        others = [h for m, rest in heads.items() for h in rest if m != monomial or h.kind != "tensor"]
        for head in plain:
            (name,) = head.names
            exponents = [
                e * exponent
                for (_, factors), exponent in monomial
                for h, _, e in factors
                if name in t.heads[h].names
            ]
            alone = not any(name in h.names for h in others)
            if head.params[2] == "real" and alone and len({e > 0 for e in exponents}) == 1:
                return True
    return False


def magnitude(t: FormAlgebra, form: Form) -> Form:
    """Return the absolute value."""
    if _is_nonnegative_form(t, form):
        return form
    return t.multiply(form, sign(t, form))
