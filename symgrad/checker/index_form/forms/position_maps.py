"""Position maps: factors that are 1 where some positions are a function of others, and 0 elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.product_rules import Dependency, delta
from symgrad.checker.index_form.forms.terms import FormAlgebra, single_factor

End: TypeAlias = "tuple[str, str]"
"""An index and the length of its axis."""


def position_map(
    t: FormAlgebra,
    name: Any,
    ends: Sequence[End],
    ways: tuple[Dependency, ...],
    form: Form | None = None,
    *,
    symmetric: bool = False,
) -> Form:
    """Return a position map.

    Args:
        t: the algebra of forms.
        name: the name of the map.
        ends: the indices.
        ways: the dependencies: which positions determine others.
        form: a form on which the map depends, with placeholders for the first indices.
        symmetric: whether the two ends may be exchanged.
    """
    positions, lengths = tuple(p for p, _ in ends), tuple(n for _, n in ends)
    head = t.head(
        "map",
        (name, lengths, ways),
        () if form is None else (form,),
        len(positions),
        symmetries=[(1, 0)] if symmetric else [],
    )
    return t.atom(head, positions)


def order_map(t: FormAlgebra, low: str, high: str, length: str) -> Form:
    """Return the map that is 1 where one position is at most another."""
    return position_map(t, "le", ((low, length), (high, length)), ())


def iota_difference(t: FormAlgebra, form: Form) -> tuple[str, str, str] | None:
    """Return i, j and the length if a form is iota[i] - iota[j] for one axis, otherwise None."""
    ends: dict[int, str] = {}
    lengths: list[str] = []
    for monomial, c in form.items():
        found = single_factor(t, {monomial: abs(c)})
        if found is None or found[0].kind != "iota":
            return None
        ends[int(c)] = found[1][0]
        lengths.append(found[0].params[0])
    if len(lengths) != 2 or set(ends) != {1, -1} or len(set(lengths)) != 1:
        return None
    return ends[1], ends[-1], lengths[0]


def slice_map(t: FormAlgebra, triple: Sequence[Any], inner: End, outer: End) -> Form:
    """Return the map from positions in a slice to positions in the axis."""
    start, stop, step = map(str, triple)
    by = int(step)
    size = t.size(outer[1])
    if by > 0 and (start == "None" or all(c > 0 for c in t.size(start).values())):
        return affine(t, {} if start == "None" else t.size(start), by, inner, outer)
    if by < 0 and start == "None":
        return affine(t, t.subtract(size, t.number(1)), by, inner, outer)
    ways: tuple[Dependency, ...] = (((0,), (1,), True), ((1,), (0,), False))
    return _drop_unit_axes(t, ("slice", start, stop, step, outer[1], inner[1]), inner, outer, ways, None)


def affine(t: FormAlgebra, offset: Form, step: int, inner: End, outer: End) -> Form:
    """Return the map that is 1 where outer = offset + step*inner, which is in bounds for every inner position."""
    if inner[1] == outer[1]:
        if step == 1:  # equal lengths: the identity
            return delta(t, inner[0], outer[0], inner[1]) if inner[1] != "1" else t.number(1)
        onto: tuple[Dependency, ...] = (((0,), (1,), True), ((1,), (0,), True))
        return position_map(t, ("affine", step), [inner, outer], onto, offset, symmetric=step == -1)
    ways: tuple[Dependency, ...] = (((0,), (1,), True), ((1,), (0,), False))
    return _drop_unit_axes(t, ("affine", step), inner, outer, ways, offset)


def _drop_unit_axes(
    t: FormAlgebra, name: Any, inner: End, outer: End, ways: tuple[Dependency, ...], offset: Form | None
) -> Form:
    """Return a map without the indices of axes of length 1."""
    if inner[1] == "1":
        return position_map(t, name, [outer], (((), (0,), True),), offset)
    if outer[1] == "1":  # the slice has one position, or none
        return position_map(t, name, [inner], (), offset)
    return position_map(t, name, [inner, outer], ways, offset)
