"""Inverses, determinants and Cholesky factors of matrices in index form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.axis_products import product_along_axes
from symgrad.checker.index_form.forms.canonical_labels import Factors, Form, RawProduct, connected_components
from symgrad.checker.index_form.forms.form_conditions import singular_condition
from symgrad.checker.index_form.forms.functions import exclude, exp, is_positive, log, power
from symgrad.checker.index_form.forms.product_rules import delta, fill_matrix_slots
from symgrad.checker.index_form.forms.terms import FormAlgebra, Head, single_factor
from symgrad.checker.index_form.matrix_functions import (
    diagonal_entries,
    is_identity,
    matrix_function,
    orient,
    split_scalars,
)


def inverse(t: FormAlgebra, form: Form, row: str, column: str, length: str) -> Form:
    """Return the inverse of a matrix, with the same row and column index."""
    if not form:
        raise GiveUp("the inverse of a matrix that is zero everywhere")
    scalar, form = split_scalars(form, row, column)
    if scalar != t.number(1):
        return t.multiply(power(t, scalar, -1), inverse(t, form, row, column, length))
    entries = diagonal_entries(t, form, row, column)
    if entries is not None:
        return t.multiply(power(t, entries, -1), delta(t, row, column, length))
    found = single_factor(t, form)
    if found is not None and found[0].kind == "inv" and set(found[1][:2]) == {row, column}:
        return fill_matrix_slots(t, found[0].forms[0], found[1])
    if found is not None and _is_exponential(found, row, column):
        ends = found[1][:2]
        inside = t.scale(fill_matrix_slots(t, found[0].forms[0], found[1]), -1)
        return matrix_function(t, "expm", inside, ends[0], ends[1], length)
    update = _low_rank_update(t, form, row, column, length)
    if update is not None:
        return _inverse_of_update(t, update, row, column, length)
    if found is None or found[0].kind != "cholesky":  # which has a positive diagonal
        exclude(t, [singular_condition(t, form, row, column)])
    m = orient(t, form, row, column)
    ends = (column, row) if m.transposed else (row, column)
    head = t.head("inv", (length,), (m.form,), 2 + len(m.captured), symmetries=m.symmetries)
    return t.atom(head, (*ends, *m.captured))


def _is_exponential(found: tuple[Head, tuple[str, ...]], row: str, column: str) -> bool:
    head, positions = found
    return head.kind == "expm" and not head.params[1] and set(positions[:2]) == {row, column}


def determinant(t: FormAlgebra, form: Form, row: str, column: str, length: str) -> Form:
    """Return the determinant of a matrix; ``length`` is the number of its rows."""
    if not form:
        return {}
    scalar, inner = split_scalars(form, row, column)
    if scalar != t.number(1) and is_positive(t, scalar):
        factor = exp(t, t.multiply(t.size(length), log(t, scalar)))
        return t.multiply(factor, determinant(t, inner, row, column, length))
    entries = diagonal_entries(t, form, row, column)
    if entries is not None:
        return product_along_axes(t, t.rename(entries, {row: "$m0"}), (length,))
    found = single_factor(t, form)
    if found is not None and found[0].kind == "inv" and set(found[1][:2]) == {row, column}:
        inside = fill_matrix_slots(t, found[0].forms[0], (row, column, *found[1][2:]))
        return power(t, determinant(t, inside, row, column, length), -1)
    if found is not None and _is_exponential(found, row, column):
        # det(expm(M)) is exp(trace(M)).
        k = t.name()
        inside = fill_matrix_slots(t, found[0].forms[0], (k, k, *found[1][2:]))
        return exp(t, t.sum_over(inside, {k: length}))
    update = _low_rank_update(t, form, row, column, length)
    if update is not None and (update.base is not None or is_positive(t, update.scale)):
        return _determinant_of_update(t, update, row, column, length)
    m = orient(t, form, row, column)
    return t.atom(t.head("det", (length,), (m.form,), len(m.captured), symmetries=m.orders), m.captured)


def cholesky_factor(t: FormAlgebra, form: Form, row: str, column: str, length: str) -> Form:
    """Return the Cholesky factor of a matrix, with the same row and column index."""
    slots, captured, orders = t.template(form, {row: "$r", column: "$c"})
    symmetries = [(0, 1, *(2 + k for k in order)) for order in orders]
    head = t.head("cholesky", (length,), (slots,), 2 + len(captured), symmetries=symmetries)
    return t.atom(head, (row, column, *captured))


# --------------------------------------------------------------------------------------------------- low-rank updates


@dataclass(frozen=True, slots=True)
class _LowRankUpdate:
    """A low-rank update A + U @ V: U has fewer columns than rows, and A is a multiple of the identity or an input.

    Args:
        base: A, or None for a multiple of the identity.
        scale: the factor of the identity.
        left: U, over row and inner.
        right: V, over inner and column.
        inner: the index that U and V share.
        length: the length of that index; "1" if U and V are vectors, without an index.
    """

    base: Form | None
    scale: Form
    left: Form
    right: Form
    inner: str
    length: str


def _length_order(length: str) -> tuple[bool, int, str]:
    return not length.isdigit(), int(length) if length.isdigit() else 0, length


def _low_rank_update(t: FormAlgebra, form: Form, row: str, column: str, length: str) -> _LowRankUpdate | None:
    """Return a matrix as a low-rank update of a simpler one; None if it is not one."""
    scale: Form = {}
    others: Form = {}
    for monomial, c in form.items():
        own, inner = split_scalars({monomial: c}, row, column)
        if is_identity(t, inner, row, column):
            scale = t.add(scale, own)
        else:
            others[monomial] = c
    if scale and len(others) == 1:
        return _split_at_index(t, None, scale, others, row, column, length)
    if scale or len(others) != 2:
        return None
    for monomial, c in others.items():
        found = single_factor(t, split_scalars({monomial: c}, row, column)[1])
        if found is not None and found[0].kind == "tensor" and set(found[1]) == {row, column}:
            rest = {m: v for m, v in others.items() if m != monomial}
            update = _split_at_index(t, {monomial: c}, t.number(1), rest, row, column, length)
            if update is not None and update.length == "1":
                return update
    return None


def _split_at_index(
    t: FormAlgebra, base: Form | None, scale: Form, term: Form, row: str, column: str, length: str
) -> _LowRankUpdate | None:
    """Split a term into U and V at a summed index whose length is ordered before the length of the matrix."""
    ((monomial, c),) = term.items()
    factors, bound = t.unfold(monomial)
    for size in sorted(set(bound.values()) | {"1"}, key=_length_order):
        if _length_order(size) >= _length_order(length):
            break
        cuts = [""] if size == "1" else [i for i, n in bound.items() if n == size]
        found: list[tuple[int, _LowRankUpdate]] = []
        for cut in sorted(cuts):
            parts = connected_components(factors, set(bound) - {cut} | {row, column})
            none: Factors = {}  # a column of ones
            near = next((p for p in parts if any(row in positions for _, positions in p)), none)
            far = next((p for p in parts if any(column in positions for _, positions in p)), dict(none))
            if near is far or (cut and not all(any(cut in q for _, q in p) for p in (near, far))):
                continue
            rest = {a: e for a, e in factors.items() if a not in near}
            own = {p for _, positions in near for p in positions}
            left: RawProduct = Fraction(1), near, {i: n for i, n in bound.items() if i in own and i != cut}
            right: RawProduct = c, rest, {i: n for i, n in bound.items() if i not in own and i != cut}
            found.append((len(near), _LowRankUpdate(base, scale, t.form([left]), t.form([right]), cut, size)))
        if found:
            return min(found, key=lambda f: f[0])[1]
    return None


def _capacitance(
    t: FormAlgebra, u: _LowRankUpdate, row: str, column: str, length: str
) -> tuple[Form, Form, Form, str, str]:
    """Return inv(A) @ U, V @ inv(A), and the capacitance matrix I + V @ inv(A) @ U with its row and column.

    If A is c times the identity, return U, V and c*I + V @ U instead.
    """
    first, second, k = t.name(), t.name(), t.name()
    left, right = t.rename(u.left, {u.inner: second}), t.rename(u.right, {u.inner: first})
    if u.base is not None:
        over = inverse(t, u.base, row, column, length)
        moved = t.multiply(t.rename(over, {column: k}), t.rename(left, {row: k}))
        left = t.sum_over(moved, {k: length})
        turned = t.multiply(t.rename(over, {row: k}), t.rename(right, {column: k}))
        whole = t.sum_over(t.multiply(t.rename(left, {row: k}), t.rename(right, {column: k})), {k: length})
        return left, t.sum_over(turned, {k: length}), t.add(u.scale, whole), first, second
    whole = t.sum_over(t.multiply(t.rename(left, {row: k}), t.rename(right, {column: k})), {k: length})
    unit = delta(t, first, second, u.length) if u.length != "1" else t.number(1)
    return left, right, t.add(t.multiply(u.scale, unit), whole), first, second


def _inverse_of_update(t: FormAlgebra, u: _LowRankUpdate, row: str, column: str, length: str) -> Form:
    """Apply inv(A + U @ V) = inv(A) - inv(A) @ U @ inv(I + V @ inv(A) @ U) @ V @ inv(A): M. A. Woodbury (1950).

    Where A is invertible, both sides have a value at the same points.
    """
    left, right, small, first, second = _capacitance(t, u, row, column, length)
    over = power(t, small, -1) if u.length == "1" else inverse(t, small, first, second, u.length)
    bound = {} if u.length == "1" else {first: u.length, second: u.length}
    # The inner index of U is the row of the inverse, that of V its column.
    left, right = t.rename(left, {second: first}), t.rename(right, {first: second})
    change = t.sum_over(t.multiply(left, over, right), bound)
    if u.base is not None:
        return t.subtract(inverse(t, u.base, row, column, length), change)
    return t.multiply(power(t, u.scale, -1), t.subtract(delta(t, row, column, length), change))


def _determinant_of_update(t: FormAlgebra, u: _LowRankUpdate, row: str, column: str, length: str) -> Form:
    """Apply det(A + U @ V) = det(A)*det(I + V @ inv(A) @ U)."""
    _, _, small, first, second = _capacitance(t, u, row, column, length)
    found = small if u.length == "1" else determinant(t, small, first, second, u.length)
    if u.base is not None:
        return t.multiply(determinant(t, u.base, row, column, length), found)
    more = t.subtract(t.size(length), t.size(u.length))
    return t.multiply(exp(t, t.multiply(more, log(t, u.scale))), found)
