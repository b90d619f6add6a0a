"""Derivatives of forms with respect to an entry of an input, and substitution of inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.axis_products import product_along_axes, product_except
from symgrad.checker.index_form.forms.canonical_labels import Atom, Factors, Form, RawProduct
from symgrad.checker.index_form.forms.form_conditions import failure_condition, tie_condition, zero_conditions
from symgrad.checker.index_form.forms.functions import (
    constant,
    exclude,
    exclude_zeros,
    exp,
    log,
    opaque,
    power,
    sign,
)
from symgrad.checker.index_form.forms.product_rules import (
    delta,
    fill_matrix_slots,
    fill_slots,
    without_factor,
)
from symgrad.checker.index_form.forms.terms import FormAlgebra, Head
from symgrad.checker.index_form.inverses import determinant, inverse
from symgrad.checker.index_form.matrix_functions import MATRIX_FUNCTIONS, matrix_function_derivative, rebuild

ScalarRule: TypeAlias = "Callable[[FormAlgebra, Form], Form]"


def _slots(head: Head) -> tuple[str, ...]:
    return tuple(f"${k}" for k in range(head.arity))


def _square_plus_constant_power(t: FormAlgebra, u: Form, c: int, side: int, p: Fraction | int) -> Form:
    """Return (side*u**2 + c)**p."""
    return power(t, t.add(t.scale(power(t, u, 2), side), t.number(c)), p)


_HALF = Fraction(1, 2)

# Functions of one argument u; Abramowitz & Stegun (1964), chapters 4, 6 and 7.
SCALAR_DERIVATIVES: Mapping[str, ScalarRule] = {
    "sin": lambda t, u: opaque(t, "cos", u),
    "cos": lambda t, u: t.scale(opaque(t, "sin", u), -1),
    "log": lambda t, u: power(t, u, -1),
    "sum": lambda t, _u: t.number(1),
    "cbrt": lambda t, u: t.scale(t.multiply(opaque(t, "cbrt", u), power(t, u, -1)), Fraction(1, 3)),
    "atan": lambda t, u: _square_plus_constant_power(t, u, 1, 1, -1),
    "asin": lambda t, u: _square_plus_constant_power(t, u, 1, -1, -_HALF),
    "asinh": lambda t, u: _square_plus_constant_power(t, u, 1, 1, -_HALF),
    "acosh": lambda t, u: _square_plus_constant_power(t, u, -1, 1, -_HALF),
    "atanh": lambda t, u: _square_plus_constant_power(t, u, 1, -1, -1),
    "erf": lambda t, u: t.scale(
        t.multiply(exp(t, t.scale(power(t, u, 2), -1)), power(t, constant(t, "pi"), -_HALF)), 2
    ),
    "lgamma": lambda t, u: opaque(t, "polygamma", u, (0,)),
    "gamma": lambda t, u: t.multiply(opaque(t, "gamma", u), opaque(t, "polygamma", u, (0,))),
}

# Piecewise constant functions; the points where they jump are excluded.
_PIECEWISE_CONSTANT = {"sign", "floor", "ceil", "round", "argmax", "argmin"}
_JUMPS = {
    "floor": "is a whole number",
    "ceil": "is a whole number",
    "round": "is halfway between whole numbers",
}


@dataclass(slots=True)
class FormDerivative:
    """Derivatives with respect to the entry of an input at the indices ``at``.

    Args:
        t: the algebra of forms.
        name: the name of the input.
        at: an index for each axis of the input that is longer than 1.
    """

    t: FormAlgebra
    name: str
    at: tuple[str, ...]
    known: dict[int, Form] = field(default_factory=dict[int, Form])

    def of(self, form: Form) -> Form:
        """Return the derivative of a form."""
        t = self.t
        total: list[Form] = []
        for monomial, c in form.items():
            factors, bound = t.unfold(monomial)
            for atom, e in factors.items():
                t.spend()
                inner = self._of_atom(atom)
                if not inner:
                    continue
                rest: Factors = {a: x for a, x in factors.items() if a != atom}
                if e != 1:
                    rest[atom] = e - 1
                    if e < 1 and e.denominator != 1 and not t.heads[atom[0]].positive:
                        exclude_zeros(t, t.form([(Fraction(1), {atom: Fraction(1)}, {})]), "<= 0")
                raw: RawProduct = (c * e, rest, bound)
                total.append(t.form(t.times(raw, inner)))
        return t.add(*total)

    def _of_atom(self, atom: Atom) -> Form:
        head, positions = atom
        if head not in self.known:
            self.known[head] = self._of_head(self.t.heads[head])
        found = self.known[head]
        return fill_slots(self.t, found, positions) if found else found

    def _of_head(self, head: Head) -> Form:
        t = self.t
        if head.kind == "tensor":
            name, lengths, frozen, _ = head.params
            if name != self.name or frozen:
                return {}
            ends = zip(_slots(head), self.at, lengths, strict=True)
            return t.multiply(*(delta(t, i, j, n) for i, j, n in ends))
        if not head.forms:
            return {}
        (form,) = head.forms
        if head.kind in ("inv", "det"):
            return self._of_matrix(head, form)
        if head.kind in MATRIX_FUNCTIONS or head.kind == "slope":
            return matrix_function_derivative(t, head, self.of)
        inner = self.of(form)
        if not inner:
            return {}
        if head.kind == "exp":
            return t.multiply(t.atom(head, _slots(head)), inner)
        if head.kind == "polygamma":
            return t.multiply(opaque(t, "polygamma", form, (head.params[0] + 1,)), inner)
        if head.kind in ("max", "min", "prod"):
            return self._of_reduction(head, form, inner)
        if head.kind in _PIECEWISE_CONSTANT:
            exclude(t, _jump_conditions(t, head.kind, form))
            return {}
        if head.kind in SCALAR_DERIVATIVES:
            return t.multiply(SCALAR_DERIVATIVES[head.kind](t, form), inner)
        raise GiveUp(f"the derivative of {head.kind}")

    def _of_reduction(self, head: Head, form: Form, inner: Form) -> Form:
        t = self.t
        lengths: tuple[str, ...] = head.params
        at = [t.name() for _ in lengths]
        names = {f"$m{k}": i for k, i in enumerate(at)}
        if head.kind == "prod":
            slope = product_except(t, form, lengths, at)
        else:
            # If entries are extreme on an open set, they are equal there, and so are their derivatives.
            exclude(t, [tie_condition(t, form, head.kind)])
            distance = sign(t, t.subtract(t.rename(form, names), t.atom(head, _slots(head))))
            slope = t.subtract(t.number(1), t.multiply(distance, distance))
            count = t.sum_over(slope, dict(zip(at, lengths, strict=True)))
            conditions = dict(t.conditions)
            slope = t.multiply(slope, power(t, count, -1))
            t.conditions = conditions  # at least one entry is extreme, so the count is not 0
        product = t.multiply(slope, t.rename(inner, names))
        return t.sum_over(product, dict(zip(at, lengths, strict=True)))

    def _of_matrix(self, head: Head, form: Form) -> Form:
        t = self.t
        length = head.params[0]
        i, j = t.name(), t.name()
        rest = _slots(head)[2:] if head.kind == "inv" else _slots(head)
        inner = self.of(fill_matrix_slots(t, form, (i, j, *rest)))
        if not inner:
            return {}
        both = {i: length, j: length}
        if head.kind == "inv":
            left = t.atom(head, ("$0", i, *rest))
            right = t.atom(head, (j, "$1", *rest))
            return t.scale(t.sum_over(t.multiply(left, inner, right), both), -1)
        turned = inverse(t, fill_matrix_slots(t, form, (j, i, *rest)), j, i, length)
        return t.sum_over(t.multiply(t.atom(head, rest), turned, inner), both)


def _jump_conditions(t: FormAlgebra, kind: str, form: Form) -> Iterable[str]:
    """Return the conditions under which a piecewise constant function jumps."""
    if kind == "sign":
        return zero_conditions(t, form, "= 0")
    return [failure_condition(t, form, _JUMPS[kind]) if kind in _JUMPS else tie_condition(t, form, kind)]


@dataclass(slots=True)
class InputSubstitution:
    """Substitution of inputs in forms, which are normalised again afterwards."""

    t: FormAlgebra
    replace: Callable[[Head], Head]
    known: dict[int, Form] = field(default_factory=dict[int, Form])

    def of(self, form: Form) -> Form:
        t = self.t
        total: list[Form] = []
        for monomial, c in form.items():
            factors, bound = t.unfold(monomial)
            parts = [power(t, self._of_atom(atom), e) for atom, e in factors.items()]
            total.append(t.scale(t.sum_over(t.multiply(*parts), bound), c))
        return t.add(*total)

    def _of_atom(self, atom: Atom) -> Form:
        head, positions = atom
        if head not in self.known:
            self.known[head] = self._of_head(self.t.heads[head])
        return fill_slots(self.t, self.known[head], positions)

    def _of_head(self, head: Head) -> Form:
        t = self.t
        if head.kind == "tensor":
            return t.atom(self.replace(head), _slots(head))
        if not head.forms:
            return t.atom(head, _slots(head))
        form = self.of(head.forms[0])
        if head.kind == "map" and form != head.forms[0]:
            raise GiveUp("positions that depend on the variable of differentiation")
        return _rebuild(t, head, form)


def _rebuild(t: FormAlgebra, head: Head, form: Form) -> Form:
    """Apply the function of a head to another form over the slots of the head."""
    if head.kind in ("inv", "det"):
        i, j = t.name(), t.name()
        rest = _slots(head)[2:] if head.kind == "inv" else _slots(head)
        inner = fill_matrix_slots(t, form, (i, j, *rest))
        make = inverse if head.kind == "inv" else determinant
        return t.rename(make(t, inner, i, j, head.params[0]), {i: "$0", j: "$1"})
    if head.kind in MATRIX_FUNCTIONS or head.kind == "slope":
        return rebuild(t, head, form)
    if head.kind == "map":
        return t.atom(head, _slots(head))
    made: Mapping[str, Callable[[FormAlgebra, Form], Form]] = {
        "exp": exp,
        "log": log,
        "sign": sign,
        "sum": lambda _t, u: u,
    }
    if head.kind in made:
        return made[head.kind](t, form)
    if head.kind == "prod":
        return product_along_axes(t, form, head.params)
    reduced = {p: p for p in t.free(form) if p.startswith("$m")}
    return opaque(t, head.kind, form, head.params, reduced)


def merge_repeated_indices(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Normalise a function again if the same index fills two of its slots: exp(x[i, j]) at i = j is exp(x[i, i])."""
    head, positions = t.heads[atom[0]], atom[1]
    if not head.forms or head.kind == "map":
        return None
    before = (
        2 * head.params[2] if head.kind == "slope" else 2 if head.kind in {"inv", *MATRIX_FUNCTIONS} else 0
    )
    inner = positions[before:]
    names = {f"${k}": f"${inner.index(p)}" for k, p in enumerate(inner) if inner.index(p) != k}
    if not names:
        return None
    made = fill_slots(t, _rebuild(t, head, t.rename(head.forms[0], names)), positions)
    return t.times(without_factor(raw, atom), power(t, made, raw[1][atom]))
