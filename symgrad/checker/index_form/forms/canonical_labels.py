"""Products of indexed factors, with canonical names of the summed indices (canonical labelling by refinement).

    form      ::= {monomial: rational coefficient}
    monomial  ::= ((component, exponent), ...)          sorted
    component ::= (lengths of its summed indices, ((head, positions, exponent), ...))
    position  ::= "%0", "%1", ...  summed within the component;  any other text: free

A component without summed indices is one factor, whose exponent in the monomial may be any rational number. A component
with summed indices is connected by them, and has a natural exponent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

Atom: TypeAlias = "tuple[int, tuple[str, ...]]"
Factors: TypeAlias = "dict[Atom, Fraction]"
Component: TypeAlias = "tuple[tuple[str, ...], tuple[tuple[int, tuple[str, ...], Fraction], ...]]"
Monomial: TypeAlias = "tuple[tuple[Component, Fraction], ...]"
Form: TypeAlias = "dict[Monomial, Fraction]"
RawProduct: TypeAlias = "tuple[Fraction, Factors, dict[str, str]]"
"""A product that is not normalised: coefficient, factors, and the summed indices with their lengths."""

Orders: TypeAlias = "tuple[tuple[int, ...], ...]"
"""Permutations of the positions of a factor that do not change its value."""


def multiply_power(factors: Factors, atom: Atom, exponent: Fraction, orders: Callable[[int], Orders]) -> None:
    """Multiply factors by a power of one factor, in place."""
    same = orders(atom[0])
    if len(same) > 1:
        atom = atom[0], min(tuple(atom[1][k] for k in order) for order in same)
    total = factors.get(atom, 0) + exponent
    if total:
        factors[atom] = total
    else:
        factors.pop(atom, None)


def rename_indices(factors: Factors, names: Mapping[str, str], orders: Callable[[int], Orders]) -> Factors:
    """Return factors with renamed indices; several indices may get the same name."""
    result: Factors = {}
    for (head, positions), e in factors.items():
        multiply_power(result, (head, tuple(names.get(p, p) for p in positions)), e, orders)
    return result


def connected_components(factors: Factors, joins: set[str]) -> list[Factors]:
    """Return the connected components of factors that share indices."""
    parts: list[tuple[set[str], Factors]] = []
    for atom, e in factors.items():
        indices = joins.intersection(atom[1])
        own: Factors = {atom: e}
        rest: list[tuple[set[str], Factors]] = []
        for other in parts:
            if indices.isdisjoint(other[0]):
                rest.append(other)
            else:
                indices, own = indices | other[0], {**other[1], **own}
        parts = [*rest, (indices, own)]
    return [part for _, part in parts]


def canonical_component(
    part: Factors, bound: Mapping[str, str], orders: Callable[[int], Orders], spend: Callable[[int], None]
) -> Component:
    """Return connected factors with canonical names of their summed indices.

    Args:
        part: the factors.
        bound: the summed indices with their lengths.
        orders: returns the symmetries of a head.
        spend: a function that counts work.
    """
    lengths = sorted(set(bound.values()))
    best: Component | None = None
    stack = [_refine_colours(part, {i: lengths.index(n) for i, n in bound.items()}, orders, spend)]
    while stack:
        spend(1)
        colours = stack.pop()
        classes: dict[int, list[str]] = {}
        for index, colour in colours.items():
            classes.setdefault(colour, []).append(index)
        tied = next((classes[k] for k in sorted(classes) if len(classes[k]) > 1), None)
        if tied is not None:
            for index in tied:  # individualise each index of the class in turn
                chosen = {i: 2 * k + (i != index) for i, k in colours.items()}
                stack.append(_refine_colours(part, chosen, orders, spend))
            continue
        order = sorted(colours, key=lambda i: colours[i])
        names = {index: f"%{k}" for k, index in enumerate(order)}
        found = tuple(sorted((h, p, e) for (h, p), e in rename_indices(part, names, orders).items()))
        component = (tuple(bound[i] for i in order), found)
        if best is None or component < best:
            best = component
    assert best is not None
    return best


def _refine_colours(
    part: Factors, colours: dict[str, int], orders: Callable[[int], Orders], spend: Callable[[int], None]
) -> dict[str, int]:
    """Refine the colours of indices by the factors in which they occur, until nothing changes."""
    while True:
        spend(len(part))
        seen: dict[str, list[Any]] = {index: [] for index in colours}
        for (head, positions), e in part.items():
            same = orders(head)
            for index in {p for p in positions if p in colours}:
                marks = [
                    (0, p, colours[p], p == index) if p in colours else (1, p, 0, False) for p in positions
                ]
                shown = [(m[0], "" if m[0] == 0 else m[1], m[2], m[3]) for m in marks]
                seen[index].append((head, e, min(tuple(shown[k] for k in order) for order in same)))
        signs = {index: (colours[index], sorted(seen[index])) for index in colours}
        ranks: list[Any] = []
        for sign in sorted(signs.values()):
            if not ranks or ranks[-1] != sign:
                ranks.append(sign)
        new = {index: ranks.index(sign) for index, sign in signs.items()}
        if len(ranks) == len(set(colours.values())):
            return new
        colours = new
