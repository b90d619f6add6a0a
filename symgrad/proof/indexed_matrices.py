"""Inverses and determinants of forms with a row and a column."""

from __future__ import annotations

from symgrad.proof.field import GiveUp
from symgrad.proof.indexed_functions import function, oriented, scalars
from symgrad.proof.indexed_functions import only as factor_of
from symgrad.proof.indexed_laws import assume, exp, is_positive, log, power
from symgrad.proof.indexed_rules import matrix_filled
from symgrad.proof.indexed_terms import Form, Head, Terms

__all__ = ["determinant", "inverse"]


def inverse(t: Terms, form: Form, row: str, column: str, length: str) -> Form:
    """Return the inverse of a matrix, with the same names for its row and column."""
    if not form:
        raise GiveUp("the inverse of a matrix that is zero everywhere")
    if len(form) == 1:
        c, outer, form = scalars(form, row, column)
        if c != 1 or outer:
            scalar = power(t, {outer: c}, -1)
            return t.multiply(scalar, inverse(t, form, row, column, length))
    found = factor_of(t, form)
    if found is not None and found[0].kind == "delta":
        return form
    if found is not None and found[0].kind == "inv" and set(found[1][:2]) == {row, column}:
        return matrix_filled(t, found[0].forms[0], found[1])
    if found is not None and _is_exponential(found, row, column):
        ends = found[1][:2]
        inside = t.scale(matrix_filled(t, found[0].forms[0], found[1]), -1)
        return function(t, "expm", inside, ends[0], ends[1], length)
    assume(t, "is not singular", form)
    m = oriented(t, form, row, column)
    ends = (column, row) if m.turned else (row, column)
    full = [(0, 1, *(2 + k for k in o)) for o in m.orders] + [(1, 0, *(2 + k for k in o)) for o in m.across]
    head = t.head("inv", (length,), (m.form,), 2 + len(m.captured), symmetries=full)
    return t.atom(head, (*ends, *m.captured))


def _is_exponential(found: tuple[Head, tuple[str, ...]], row: str, column: str) -> bool:
    head, positions = found
    return head.kind == "expm" and not head.params[1] and set(positions[:2]) == {row, column}


def determinant(t: Terms, form: Form, row: str, column: str, length: str) -> Form:
    """Return the determinant of a matrix of this length."""
    if not form:
        return {}
    if len(form) == 1:
        c, outer, inner = scalars(form, row, column)
        scalar: Form = {outer: c}
        if (c != 1 or outer) and is_positive(t, scalar):
            factor = exp(t, t.multiply(t.size(length), log(t, scalar)))
            return t.multiply(factor, determinant(t, inner, row, column, length))
    found = factor_of(t, form)
    if found is not None and found[0].kind == "delta":
        return t.number(1)
    if found is not None and found[0].kind == "inv" and set(found[1][:2]) == {row, column}:
        inside = matrix_filled(t, found[0].forms[0], (row, column, *found[1][2:]))
        return power(t, determinant(t, inside, row, column, length), -1)
    if found is not None and _is_exponential(found, row, column):
        # det(expm(M)) is exp(trace(M)).
        k = t.name()
        inside = matrix_filled(t, found[0].forms[0], (k, k, *found[1][2:]))
        return exp(t, t.sum_over(inside, {k: length}))
    m = oriented(t, form, row, column)
    return t.atom(t.head("det", (length,), (m.form,), len(m.captured), symmetries=m.orders), m.captured)
