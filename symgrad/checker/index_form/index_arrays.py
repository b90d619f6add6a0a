"""Index arrays: one-hot maps of gathers, bounds of positions, and functions of gathered arrays.

    at(index; i, j)  ::=  1 where entry i of the index is j, else 0

The index is in bounds of an axis of length n if 0 <= index <= n - 1 follows from the declared ends of integers. This is
decided by interval arithmetic on lengths, for all values of the names from 1 on. Then the sum of the map over j is 1.
Otherwise the sum is 1 only where a gather is defined; there a negative position counts from the end (the map
"wrapped").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.canonical_labels import Atom, Form, Monomial, RawProduct
from symgrad.checker.index_form.forms.position_maps import affine, position_map
from symgrad.checker.index_form.forms.product_rules import Dependency
from symgrad.checker.index_form.forms.terms import FormAlgebra, single_factor
from symgrad.checker.program.length_polynomials import (
    ONE,
    Size,
    add,
    is_nonnegative,
    length_polynomial,
    multiply,
    scale,
    subtract,
)
from symgrad.checker.program.steps import Symbol

IntegerBounds: TypeAlias = "tuple[Size | None, Size | None]"
"""The least and the largest value of integers; None is unknown."""

_UNBOUNDED: IntegerBounds = (None, None)


def integer_bounds(symbol: Symbol) -> IntegerBounds:
    """Return the declared bounds of an integer input; both are included."""
    if symbol.kind != "int":
        return _UNBOUNDED
    (below, above), (low, high) = symbol.ends, (symbol.low, symbol.high)
    least = None if below is None else add([length_polynomial(below), ONE])
    most = None if above is None else subtract(length_polynomial(above), ONE)
    if low is not None:
        least = length_polynomial(low.__floor__() + 1)
    if high is not None:
        most = length_polynomial(high.__ceil__() - 1)
    return least, most


def index_map(t: FormAlgebra, index: Form, end: str, length: str, *, wrapped: bool) -> Form:
    """Return the map that is 1 where an index array points to a position, and 0 elsewhere.

    Args:
        t: the algebra of forms.
        index: the form of an integer array.
        end: the index of the position.
        length: the length of the axis.
        wrapped: whether a negative position counts from the end, and a position out of bounds is undefined.
    """
    counted = _iota_index(t, index)
    if counted is not None and is_nonnegative(
        subtract(length_polynomial(length), length_polynomial(counted[1]))
    ):
        return affine(t, {}, 1, counted, (end, length))
    inside = is_in_bounds(t, index, length)
    slots, positions, _ = t.template(index)
    ends = [*((p, "") for p in positions), (end, length)]
    sources = tuple(range(len(positions)))
    name = "wrapped" if wrapped and not inside else "at"
    return position_map(t, name, ends, ((sources, (len(positions),), wrapped or inside),), slots)


def _iota_index(t: FormAlgebra, index: Form) -> tuple[str, str] | None:
    """Return the index and the length if a form is iota (0, 1, 2, ...), otherwise None."""
    found = single_factor(t, index)
    return (found[1][0], found[0].params[0]) if found is not None and found[0].kind == "iota" else None


def is_in_bounds(t: FormAlgebra, index: Form, length: str) -> bool:
    """Tell whether all values of an index array are certainly nonnegative positions in bounds."""
    low, high = _form_bounds(t, index)
    return (
        low is not None
        and high is not None
        and is_nonnegative(low)
        and is_nonnegative(subtract(subtract(length_polynomial(length), ONE), high))
    )


def _form_bounds(t: FormAlgebra, form: Form) -> IntegerBounds:
    """Return bounds of a form from those of its terms; the coefficients must be integers."""
    low: Size | None = ()
    high: Size | None = ()
    for monomial, c in form.items():
        ends = _monomial_bounds(t, monomial) if c.denominator == 1 else _UNBOUNDED
        if c < 0:
            ends = ends[::-1]
        least, most = (None if e is None else scale(e, int(c)) for e in ends)
        low = None if low is None or least is None else add([low, least])
        high = None if high is None or most is None else add([high, most])
    return low, high


def _monomial_bounds(t: FormAlgebra, monomial: Monomial) -> IntegerBounds:
    """Return bounds of a monomial that is a product of lengths, or a single integer entry."""
    lengths: list[Size] = []
    for (bound, own), e in monomial:
        head, _, power = own[0]
        kind = t.heads[head]
        if bound or len(own) != 1 or power != 1 or e.denominator != 1 or e < 1:
            return _UNBOUNDED
        if kind.kind == "size":
            lengths += [length_polynomial(kind.params[0])] * int(e)
            continue
        if len(monomial) != 1 or e != 1:
            return _UNBOUNDED
        if kind.kind == "iota":
            return (), subtract(length_polynomial(kind.params[0]), ONE)
        return t.integer_bounds.get(kind.params[0], _UNBOUNDED) if kind.kind == "tensor" else _UNBOUNDED
    total = multiply(lengths)
    return total, total


# ------------------------------------------------------------------------------------------ functions of gathers


def push_through_gather(t: FormAlgebra, function: Callable[[Form], Form], form: Form) -> Form | None:
    """Push a function through a gather: f(x[i]) = f(x)[i]. Return None if the form has no gather.

    f(sum of at(i, j)*g(j) over j) is the sum of at(i, j)*f(g(j)) over j, because each i has one j. If f may be
    undefined for some g(j), return None: f(x[i]) may have a value although f(x) has none at other positions.
    """
    found = _find_gather(t, form)
    if found is None:
        return None
    link, opened, index, length = found
    before, conditions = t.assumed, dict(t.conditions)
    try:
        inner = push_through_gather(t, function, opened)
        if inner is None:
            inner = function(opened)
    except GiveUp:
        inner = None
    if inner is None or t.assumed != before:
        t.assumed, t.conditions = before, conditions
        return None
    return t.sum_over(t.multiply(link, inner), {index: length})


def _find_gather(t: FormAlgebra, form: Form) -> tuple[Form, Form, str, str] | None:
    """Find a map that selects one position.

    Return the map, the form at a free position, and the map's index and length.
    """
    for monomial in form:
        for (bound, own), _ in monomial:
            for head, positions, e in own:
                kind = t.heads[head]
                if kind.kind != "map" or e != 1 or not bound:
                    continue
                ways: tuple[Dependency, ...] = kind.params[2]
                for sources, targets, total in ways:
                    if not total or len(targets) != 1 or len(sources) + 1 != len(positions):
                        continue
                    target = positions[targets[0]]
                    if target[0] != "%" or any(positions[k][0] == "%" for k in sources):
                        continue
                    length: str = kind.params[1][targets[0]]
                    index = t.name()
                    given = tuple(index if k == targets[0] else p for k, p in enumerate(positions))
                    return (
                        t.atom(kind, given),
                        _remove_map(t, form, (head, positions), (index, length), targets[0]),
                        index,
                        length,
                    )
    return None


def _remove_map(t: FormAlgebra, form: Form, link: Atom, end: tuple[str, str], target: int) -> Form:
    """Remove a map from every term of a form, and make its position a free index."""
    raws: list[RawProduct] = []
    index, length = end
    for monomial, c in form.items():
        factors, bound = t.unfold(monomial)
        for atom in list(factors):
            if (
                atom[0] == link[0]
                and _equal_except_at(atom[1], link[1], target)
                and bound.get(atom[1][target]) == length
            ):
                free = atom[1][target]
                del factors[atom]
                factors = t.renamed(factors, {free: index})
                del bound[free]
                break
        raws.append((c, factors, bound))
    return t.form(raws)


def _equal_except_at(a: Sequence[str], b: Sequence[str], place: int) -> bool:
    return all(k == place or p == q for k, (p, q) in enumerate(zip(a, b, strict=True)))
