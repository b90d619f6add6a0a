"""The matrix functions expm, sinm and cosm and their derivatives, in index form.

Let M be a matrix, N its primitive part (M = N times scalars), and f one of the functions:

    expm, sinm, cosm  [r, c]        the entry of N**p @ f(M), which is f(M) @ N**p; p is a parameter
    slope             [r, i, j, c]  the derivative of f(M)[r, c] by M[i, j]; with m pairs of indices, see below

If f(x) is the sum of q(n)*x**n, the slope is the sum over a, b of q(a + b + 1)*(M**a)[r, i]*(M**b)[j, c]
(N. J. Higham, Functions of Matrices, SIAM 2008, section 3.2). So the pairs (r, i) and (j, c) may be exchanged; its sum
over r = c or over i = j is an entry of f'(M); contracted with N[i, j] or N[c, r] it is an entry of N @ f'(M), and with
a function g of M instead an entry of g(M) @ f'(M).

With the pairs P1, ..., Pm it is the sum over a, b, ... of q(a + b + ... + m - 1)*(M**a)[P1]*(M**b)[P2]*..., the divided
difference of f over m points. Its derivative by M[i, j] is a sum over the pairs (r, c), each replaced by (r, i) and
(j, c).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import TypeAlias

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.canonical_labels import Atom, Component, Form, RawProduct
from symgrad.checker.index_form.forms.functions import exp, opaque
from symgrad.checker.index_form.forms.product_rules import (
    delta,
    divide_by_term,
    fill_matrix_slots,
    leading_matrix_term,
    match_contraction,
    negated_tail,
    split_scalar_factors,
    without_factor,
)
from symgrad.checker.index_form.forms.terms import FormAlgebra, Head, Rule, single_factor

MATRIX_FUNCTIONS: Mapping[str, tuple[str, int]] = {
    "expm": ("expm", 1),
    "sinm": ("cosm", 1),
    "cosm": ("sinm", -1),
}
"""For each function, its derivative in one variable: a function and a sign."""

Pairs: TypeAlias = "tuple[tuple[str, str], ...]"

_HIGHEST_POWER = 32
_HIGHEST_ORDER = 4


# ------------------------------------------------------------------------------------------------------------ matrices


@dataclass(frozen=True, slots=True)
class OrientedMatrix:
    """A matrix over slots, in canonical orientation: the same object represents a matrix and its transpose.

    Args:
        form: the entries, over "$r", "$c" and "$0", "$1", ...
        captured: the other indices of the matrix, which fill the slots.
        transposed: whether the object stands for the transpose.
        orders: permutations of the slots that do not change the matrix.
        transposing_orders: permutations of the slots that transpose the matrix.
    """

    form: Form
    captured: tuple[str, ...]
    transposed: bool
    orders: tuple[tuple[int, ...], ...]
    transposing_orders: tuple[tuple[int, ...], ...]

    @property
    def symmetries(self) -> list[tuple[int, ...]]:
        """The symmetries of a factor that has a row, a column and the slots."""
        return [
            *((0, 1, *(2 + k for k in o)) for o in self.orders),
            *((1, 0, *(2 + k for k in o)) for o in self.transposing_orders),
        ]


def orient(t: FormAlgebra, form: Form, row: str, column: str) -> OrientedMatrix:
    """Return a matrix over slots, in canonical orientation."""
    slots, captured, orders = t.template(form, {row: "$r", column: "$c"})
    other = t.template(form, {row: "$c", column: "$r"})
    mine, theirs = sorted(slots.items()), sorted(other[0].items())
    if theirs < mine:
        return OrientedMatrix(other[0], other[1], True, tuple(other[2]), ())
    turn = [captured.index(p) for p in other[1]] if theirs == mine else []
    across = [tuple(turn[k] for k in order) for order in other[2]] if theirs == mine else []
    return OrientedMatrix(slots, captured, False, tuple(orders), tuple(across))


def split_scalars(form: Form, row: str, column: str) -> tuple[Form, Form]:
    """Split a matrix into a scalar and a matrix with one term; if this is impossible, into 1 and the matrix itself."""
    parts = [(split_scalar_factors(monomial, row, column), c) for monomial, c in form.items()]
    if len({inner for (_, inner), _ in parts}) != 1:
        return {(): Fraction(1)}, form
    return {outer: c for (outer, _), c in parts}, {parts[0][0][1]: Fraction(1)}


def is_identity(t: FormAlgebra, form: Form, row: str, column: str) -> bool:
    """Tell whether a matrix is the identity."""
    found = single_factor(t, form)
    return found is not None and found[0].kind == "delta" and set(found[1]) == {row, column}


def diagonal_entries(t: FormAlgebra, form: Form, row: str, column: str) -> Form | None:
    """Return the diagonal entries of a diagonal matrix, over its row; None for any other matrix."""
    entries: list[RawProduct] = []
    for monomial, c in form.items():
        factors, bound = t.unfold(monomial)
        here = [a for a in factors if t.heads[a[0]].kind == "delta" and set(a[1]) == {row, column}]
        if len(here) != 1:
            return None
        entries.append(without_factor((c, factors, bound), here[0]))
    return t.rename(t.form(entries), {column: row})


def primitive_part(t: FormAlgebra, form: Form) -> Form:
    """Return the primitive part of a matrix over slots: the matrix without common scalar factors."""
    _, inner = split_scalars(form, "$r", "$c")
    if len(inner) == 1:
        return inner
    shared: dict[Component, list[Fraction]] = {}
    for monomial in form:
        for component, e in monomial:
            if not any({"$r", "$c"} & set(positions) for _, positions, _ in component[1]):
                shared.setdefault(component, []).append(e)
    common = {
        component: min(e, key=abs)
        for component, e in shared.items()
        if not component[0] and len(e) == len(form) and len({x > 0 for x in e}) == 1
    }
    over: list[RawProduct] = [
        (Fraction(1), {(own[0][0], own[0][1]): -e for (_, own), e in common.items()}, {})
    ]
    return t.multiply(form, t.form(over)) if common else form


# ----------------------------------------------------------------------------------------------------------- functions


def matrix_function(t: FormAlgebra, name: str, form: Form, row: str, column: str, length: str) -> Form:
    """Return a function of a matrix, with the same row and column index."""
    entries = diagonal_entries(t, form, row, column)
    if entries is not None:
        return t.multiply(_scalar_function(t, name, entries), delta(t, row, column, length))
    m, side = _orient_sign(t, name, form, row, column)
    ends = (column, row) if m.transposed else (row, column)
    head = t.head(name, (length, 0), (m.form,), 2 + len(m.captured), symmetries=m.symmetries)
    return t.scale(t.atom(head, (*ends, *m.captured)), side if name == "sinm" else 1)


def divided_difference(
    t: FormAlgebra, name: str, form: Form, row: str, column: str, pairs: Pairs, length: str
) -> Form:
    """Return a divided difference of a function of a matrix, with the given row and column."""
    order = len(pairs)
    if order > _HIGHEST_ORDER:
        raise GiveUp("a high derivative of a function of a matrix")
    scalar = _identity_multiple(t, form, row, column)
    if scalar is not None:
        sign = 1
        for _ in pairs[1:]:
            name, turn = MATRIX_FUNCTIONS[name]
            sign *= turn
        value = t.scale(_scalar_function(t, name, scalar), Fraction(sign, factorial(order - 1)))
        return t.multiply(value, *(delta(t, a, b, length) for a, b in pairs))
    m, side = _orient_sign(t, name, form, row, column)
    ends = [i for a, b in pairs for i in ((b, a) if m.transposed else (a, b))]
    full: list[tuple[int, ...]] = []
    for orders, turn in ((m.orders, 0), (m.transposing_orders, 1)):
        for places in permutations(range(order)):
            first = [2 * k + (i ^ turn) for k in places for i in (0, 1)]
            full += [(*first, *(2 * order + k for k in o)) for o in orders]
    head = t.head("slope", (length, name, order), (m.form,), len(ends) + len(m.captured), symmetries=full)
    odd = (name == "sinm") == (order % 2 == 1)
    return t.scale(t.atom(head, (*ends, *m.captured)), side if odd and name != "expm" else 1)


def _orient_sign(t: FormAlgebra, name: str, form: Form, row: str, column: str) -> tuple[OrientedMatrix, int]:
    """Return a matrix in canonical orientation; for sine and cosine also in canonical sign, together with the sign."""
    m = orient(t, form, row, column)
    if name == "expm":
        return m, 1
    other = orient(t, t.scale(form, -1), row, column)
    return (other, -1) if sorted(other.form.items()) < sorted(m.form.items()) else (m, 1)


def _identity_multiple(t: FormAlgebra, form: Form, row: str, column: str) -> Form | None:
    """Return c if a matrix is c times the identity, otherwise None."""
    if not form:
        return {}
    scalar, inner = split_scalars(form, row, column)
    return scalar if is_identity(t, inner, row, column) else None


def _scalar_function(t: FormAlgebra, name: str, u: Form) -> Form:
    if name == "expm":
        return exp(t, u)
    return opaque(t, name[:3], u) if u else t.number(int(name == "cosm"))


def _matrix_and_primitive_part(t: FormAlgebra, atom: Atom, first: str) -> tuple[Form, Form, int]:
    """Return M and N over "$r" and "$c", with the index ``first`` as the row, and the power of N."""
    head, (row, _, *captured) = t.heads[atom[0]], atom[1]
    ends = ("$r", "$c") if row == first else ("$c", "$r")
    m, n = (
        fill_matrix_slots(t, f, (*ends, *captured)) for f in (head.forms[0], primitive_part(t, head.forms[0]))
    )
    return m, n, head.params[1]


def _product(t: FormAlgebra, left: Form, right: Form, length: str) -> Form:
    """Return the product of two matrices over "$r" and "$c"."""
    k = t.name()
    both = t.multiply(t.rename(left, {"$c": k}), t.rename(right, {"$r": k}))
    return t.sum_over(both, {k: length})


def rebuild(t: FormAlgebra, head: Head, form: Form) -> Form:
    """Return N**p @ f(M), or a divided difference, for another matrix M over slots."""
    slots = tuple(f"${k}" for k in range(head.arity))
    i, j = t.name(), t.name()
    if head.kind == "slope":
        length, name, order = head.params
        pairs, captured = _pairs(slots, order)
        return divided_difference(t, name, fill_matrix_slots(t, form, (i, j, *captured)), i, j, pairs, length)
    length, p = head.params
    # Fresh names keep the captured indices different from the slots of row and column.
    names = {s: t.name() for s in slots[2:]}
    m = fill_matrix_slots(t, form, (i, j, *names.values()))
    found = t.rename(matrix_function(t, head.kind, m, i, j, length), {i: "$r", j: "$c"})
    base = fill_matrix_slots(t, primitive_part(t, form), ("$r", "$c", *names.values()))
    for _ in range(p):
        found = _product(t, base, found, length)
    return t.rename(found, {"$r": "$0", "$c": "$1", **{n: s for s, n in names.items()}})


def _pairs(positions: Sequence[str], order: int) -> tuple[Pairs, tuple[str, ...]]:
    """Return the pairs of a divided difference, and the captured indices of its matrix."""
    pairs = tuple((positions[2 * k], positions[2 * k + 1]) for k in range(order))
    return pairs, tuple(positions[2 * order :])


# --------------------------------------------------------------------------------------------------------------- rules


def _absorb_factor(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Absorb a factor N into N**p @ f(M), or join exponentials of multiples of the same matrix."""
    head = t.heads[atom[0]]
    length, p = head.params
    found = match_contraction(t, primitive_part(t, head.forms[0]), atom, raw) if p < _HIGHEST_POWER else None
    if found is None:
        return _join_exponentials(t, atom, raw) if head.kind == "expm" else None
    far, x, left, rest, others = found
    more = t.head(head.kind, (length, p + 1), head.forms, head.arity, symmetries=head.symmetries)
    near = next(i for i in atom[1][:2] if i != far)
    none: RawProduct = rest[0], rest[1], {i: n for i, n in rest[2].items() if i != near}
    ends = (x, far) if left else (far, x)
    raised = t.times(none, t.atom(more, (*ends, *atom[1][2:])))
    return [*raised, *(t.product(r, (Fraction(1), {atom: Fraction(1)}, {})) for r in t.times(rest, others))]


def _join_exponentials(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Apply expm(A) @ expm(B) = expm(A + B), where A and B are multiples of the same matrix."""
    c, factors, bound = raw
    length = t.heads[atom[0]].params[0]
    used = [p for _, positions in factors for p in positions]
    for other in factors:
        if t.heads[other[0]].kind != "expm" or other == atom or {factors[atom], factors[other]} != {1}:
            continue
        for near in sorted(set(atom[1][:2]) & set(other[1][:2])):
            if near not in bound or used.count(near) != 2:
                continue
            start, end = (next(p for p in a[1][:2] if p != near) for a in (atom, other))
            a, m, p = _matrix_and_primitive_part(t, atom, start)
            b, n, q = _matrix_and_primitive_part(t, other, near)
            if not _proportional(m, n):
                continue
            found = matrix_function(t, "expm", t.add(a, b), "$r", "$c", length)
            for base in [m] * p + [n] * q:
                found = _product(t, base, found, length)
            rest = {x: e for x, e in factors.items() if x not in (atom, other)}
            left: RawProduct = c, rest, {i: size for i, size in bound.items() if i != near}
            return t.times(left, t.rename(found, {"$r": start, "$c": end}))
    return None


def _proportional(a: Form, b: Form) -> bool:
    return set(a) == set(b) and len({c / b[monomial] for monomial, c in a.items()}) == 1


def _contract_divided_difference(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Sum a derivative over two equal indices, or contract it with N."""
    c, factors, bound = raw
    if factors[atom] != 1 or t.heads[atom[0]].params[2] != 2:
        return None
    used = [p for _, positions in factors for p in positions]
    r, i, j, q = atom[1][:4]
    for same, (row, column) in (((r, q), (j, i)), ((i, j), (r, q))):
        if same[0] == same[1] and same[0] in bound and used.count(same[0]) == 2:
            rest: RawProduct = (
                c,
                without_factor(raw, atom)[1],
                {k: n for k, n in bound.items() if k != same[0]},
            )
            return t.times(rest, _derivative_function(t, atom, row, column, 0))
    for ends, (row, column) in (((i, j), (r, q)), ((q, r), (j, i))):
        joined = _join_function(t, atom, raw, ends, (row, column))
        if joined is not None:
            return joined
        found = _divide_by_lead(t, atom, raw, ends)
        if found is not None:
            rest, others = found
            none: RawProduct = rest[0], rest[1], {k: n for k, n in rest[2].items() if k not in ends}
            return [
                *t.times(none, _derivative_function(t, atom, row, column, 1)),
                *(t.product(x, (Fraction(1), {atom: Fraction(1)}, {})) for x in t.times(rest, others)),
            ]
    return None


def _join_function(
    t: FormAlgebra, atom: Atom, raw: RawProduct, ends: tuple[str, str], result: tuple[str, str]
) -> list[RawProduct] | None:
    """Contract a derivative f'(M; .) with a function g of a multiple of M, between two indices: it is g(M) @ f'(M)."""
    c, factors, bound = raw
    used = [p for _, positions in factors for p in positions]
    if any(p not in bound or used.count(p) != 2 for p in ends):
        return None
    captured = atom[1][4:]
    own = fill_matrix_slots(t, t.heads[atom[0]].forms[0], ("$r", "$c", *captured))
    for other in factors:
        head = t.heads[other[0]]
        if head.kind not in MATRIX_FUNCTIONS or factors[other] != 1 or {*other[1][:2]} != {*ends}:
            continue
        if not _proportional(_matrix_and_primitive_part(t, other, ends[0])[0], own):
            continue
        function = t.rename(t.atom(head, other[1]), {ends[0]: "$r", ends[1]: "$c"})
        derivative = _derivative_function(t, atom, "$r", "$c", 0)
        product = _product(t, function, derivative, head.params[0])
        rest = {a: e for a, e in factors.items() if a not in (atom, other)}
        left: RawProduct = c, rest, {k: n for k, n in bound.items() if k not in ends}
        return t.times(left, t.rename(product, {"$r": result[0], "$c": result[1]}))
    return None


def _divide_by_lead(
    t: FormAlgebra, atom: Atom, raw: RawProduct, ends: tuple[str, str]
) -> tuple[RawProduct, Form] | None:
    """Divide a product by the leading term of N between two indices of a derivative.

    Return also the other terms of N.
    """
    left, captured = without_factor(raw, atom), atom[1][4:]
    form = primitive_part(t, t.heads[atom[0]].forms[0])
    lead = leading_matrix_term(t, form)
    own = [p for _, positions in left[1] for p in positions]
    if lead is None or ends[0] == ends[1] or any(k not in raw[2] or k in captured for k in ends):
        return None
    if any(own.count(k) != 1 for k in ends):
        return None
    rest = divide_by_term(t, fill_matrix_slots(t, {lead: Fraction(1)}, (*ends, *captured)), left, atom[1])
    if rest is None or any(k in positions for _, positions in rest[1] for k in ends):
        return None
    others = fill_matrix_slots(t, negated_tail(t, form, lead), (*ends, *captured))
    return (rest[0] / form[lead], rest[1], rest[2]), others


def _derivative_function(t: FormAlgebra, atom: Atom, row: str, column: str, p: int) -> Form:
    """Return N**p @ f'(M) with a row and a column index."""
    head = t.heads[atom[0]]
    length, name, _ = head.params
    name, sign = MATRIX_FUNCTIONS[name]
    m, n = (
        fill_matrix_slots(t, f, ("$r", "$c", *atom[1][4:]))
        for f in (head.forms[0], primitive_part(t, head.forms[0]))
    )
    found = matrix_function(t, name, m, "$r", "$c", length)
    for _ in range(p):
        found = _product(t, n, found, length)
    return t.scale(t.rename(found, {"$r": row, "$c": column}), sign)


MATRIX_FUNCTION_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(MATRIX_FUNCTIONS, _absorb_factor),
    "slope": _contract_divided_difference,
}
