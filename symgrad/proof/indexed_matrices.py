"""Inverses and determinants of forms with a row and a column."""

from __future__ import annotations

from fractions import Fraction

from symgrad.proof.field import GiveUp
from symgrad.proof.indexed_laws import assume, exp, is_positive, log, power
from symgrad.proof.indexed_rules import matrix_filled
from symgrad.proof.indexed_terms import Form, Head, Monomial, Terms

__all__ = ["determinant", "inverse"]


def _scalars(form: Form, row: str, column: str) -> tuple[Fraction, Monomial, Form]:
    """Split one term into what does not depend on row and column, and the rest."""
    ((monomial, c),) = form.items()
    tied = [any(i in positions for _, positions, _ in own for i in (row, column)) for (_, own), _ in monomial]
    outer = tuple(part for part, inside in zip(monomial, tied, strict=True) if not inside)
    inner = tuple(part for part, inside in zip(monomial, tied, strict=True) if inside)
    return c, outer, {inner: Fraction(1)}


def _only(t: Terms, form: Form) -> tuple[Head, tuple[str, ...]] | None:
    """Return the one factor that a form is."""
    if list(form.values()) != [1]:
        return None
    ((monomial, _),) = form.items()
    if len(monomial) != 1 or monomial[0][0][0] or monomial[0][1] != 1:
        return None
    head, positions, _ = monomial[0][0][1][0]
    return t.heads[head], positions


def inverse(t: Terms, form: Form, row: str, column: str, length: str) -> Form:
    """Return the inverse of a matrix, with the same names for its row and column."""
    if not form:
        raise GiveUp("the inverse of a matrix that is zero everywhere")
    if len(form) == 1:
        c, outer, form = _scalars(form, row, column)
        if c != 1 or outer:
            scalar = power(t, {outer: c}, -1)
            return t.multiply(scalar, inverse(t, form, row, column, length))
    only = _only(t, form)
    if only is not None and only[0].kind == "delta":
        return form
    if only is not None and only[0].kind == "inv" and set(only[1][:2]) == {row, column}:
        return matrix_filled(t, only[0].forms[0], only[1])
    assume(t, "is not singular", form)
    slots, positions, orders = t.template(form, {row: "$r", column: "$c"})
    other = t.template(form, {row: "$c", column: "$r"})
    ends = (row, column)
    mine, theirs = sorted(slots.items()), sorted(other[0].items())
    if theirs < mine:
        slots, positions, orders = other
        ends = (column, row)
    full = [(0, 1, *(2 + k for k in order)) for order in orders]
    if theirs == mine:  # symmetric
        turn = [positions.index(p) for p in other[1]]
        full += [(1, 0, *(2 + turn[k] for k in order)) for order in other[2]]
    head = t.head("inv", (length,), (slots,), 2 + len(positions), symmetries=full)
    return t.atom(head, (*ends, *positions))


def determinant(t: Terms, form: Form, row: str, column: str, length: str) -> Form:
    """Return the determinant of a matrix of this length."""
    if not form:
        return {}
    if len(form) == 1:
        c, outer, inner = _scalars(form, row, column)
        scalar: Form = {outer: c}
        if (c != 1 or outer) and is_positive(t, scalar):
            factor = exp(t, t.multiply(t.size(length), log(t, scalar)))
            return t.multiply(factor, determinant(t, inner, row, column, length))
    only = _only(t, form)
    if only is not None and only[0].kind == "delta":
        return t.number(1)
    if only is not None and only[0].kind == "inv" and set(only[1][:2]) == {row, column}:
        inside = matrix_filled(t, only[0].forms[0], (row, column, *only[1][2:]))
        return power(t, determinant(t, inside, row, column, length), -1)
    found = [t.template(form, {row: a, column: b}) for a, b in (("$r", "$c"), ("$c", "$r"))]
    slots, positions, orders = min(found, key=lambda f: sorted(f[0].items()))
    return t.atom(t.head("det", (length,), (slots,), len(positions), symmetries=orders), positions)
