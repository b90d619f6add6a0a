"""Functions of forms in which the same index fills two slots: exp(x[i, j]) at i = j is exp(x[i, i])."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symgrad.checker.index_form.forms.axis_products import product_along_axes
from symgrad.checker.index_form.forms.canonical_labels import Atom, Form, RawProduct
from symgrad.checker.index_form.forms.functions import exp, log, opaque, power, sign
from symgrad.checker.index_form.forms.product_rules import fill_matrix_slots, fill_slots, without_factor
from symgrad.checker.index_form.forms.terms import FormAlgebra, Head
from symgrad.checker.index_form.inverses import cholesky_factor, determinant, inverse
from symgrad.checker.index_form.matrix_functions import MATRIX_FUNCTIONS, rebuild

_OF_MATRICES = {"inv": inverse, "det": determinant, "cholesky": cholesky_factor}
_WITH_ROW_AND_COLUMN = {"inv", "cholesky", *MATRIX_FUNCTIONS}
"""The kinds whose first two positions are a row and a column."""


def merge_repeated_indices(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Normalise a function again if the same index fills two of its slots: exp(x[i, j]) at i = j is exp(x[i, i])."""
    head, positions = t.heads[atom[0]], atom[1]
    if not head.forms or head.kind == "map":
        return None
    before = 2 * head.params[2] if head.kind == "slope" else 2 if head.kind in _WITH_ROW_AND_COLUMN else 0
    inner = positions[before:]
    names = {f"${k}": f"${inner.index(p)}" for k, p in enumerate(inner) if inner.index(p) != k}
    if not names:
        return None
    made = fill_slots(t, _rebuild(t, head, t.rename(head.forms[0], names)), positions)
    return t.times(without_factor(raw, atom), power(t, made, raw[1][atom]))


def _rebuild(t: FormAlgebra, head: Head, form: Form) -> Form:
    """Apply the function of a head to another form over the slots of the head."""
    slots = tuple(f"${k}" for k in range(head.arity))
    if head.kind in _OF_MATRICES:
        i, j = t.name(), t.name()
        rest = slots[2:] if head.kind in _WITH_ROW_AND_COLUMN else slots
        inner = fill_matrix_slots(t, form, (i, j, *rest))
        make = _OF_MATRICES[head.kind]
        return t.rename(make(t, inner, i, j, head.params[0]), {i: "$0", j: "$1"})
    if head.kind in MATRIX_FUNCTIONS or head.kind == "slope":
        return rebuild(t, head, form)
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
