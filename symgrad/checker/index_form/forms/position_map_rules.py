"""Rules of position maps: products of maps with disjoint images are 0; reversing an axis reverses the order."""

from __future__ import annotations

from fractions import Fraction

from symgrad.checker.index_form.forms.canonical_labels import Atom, Form, Monomial, RawProduct
from symgrad.checker.index_form.forms.terms import FormAlgebra, Head


def disjoint_maps(t: FormAlgebra, a: Atom, b: Atom) -> bool:
    """Tell whether two maps have disjoint images in one axis, such as the parts of a concatenation."""
    if not a[1] or not b[1] or a[1][-1] != b[1][-1]:
        return False
    found = t.disjoint_maps.get((a[0], b[0]))
    if found is None:
        found = t.disjoint_maps[a[0], b[0]] = _parts_disjoint(t, t.heads[a[0]], t.heads[b[0]])
    return found


def _parts_disjoint(t: FormAlgebra, a: Head, b: Head) -> bool:
    parts: list[tuple[Form, Form]] = []
    for head in (a, b):
        if head.kind != "map" or head.params[0] != ("affine", 1) or not head.params[2]:
            return False  # a map without dependencies is for an outer axis of length 1, which has no position
        lengths: tuple[str, ...] = head.params[1]
        start = head.forms[0] if head.forms else {}
        parts.append((start, t.add(start, t.size(lengths[0]) if len(lengths) == 2 else t.number(1))))
    gaps = (t.subtract(p[0], q[1]) for p, q in (parts, parts[::-1]))
    return any(all(c > 0 and _is_size(t, m) for m, c in gap.items()) for gap in gaps)


def _is_size(t: FormAlgebra, monomial: Monomial) -> bool:
    return all(
        t.heads[h].kind == "size" and t.heads[h].positive for (_, own), _ in monomial for h, _, _ in own
    )


def reverse_order(t: FormAlgebra, atom: Atom, raw: RawProduct) -> list[RawProduct] | None:
    """Reverse the order of two positions that are both counted from the end: n - 1 - i <= n - 1 - j is j <= i."""
    c, factors, bound = raw
    used = [p for _, positions in factors for p in positions]
    found: list[tuple[Atom, str]] = []
    for place in atom[1]:
        if place not in bound or used.count(place) != 2:
            return None
        turn = next(
            (a for a in factors if a != atom and place in a[1] and _is_reversal(t, a, factors[a])), None
        )
        if turn is None or turn[1][0] == turn[1][1]:
            return None
        found.append((turn, next(p for p in turn[1] if p != place)))
    (first, low), (second, high) = found
    if first == second:
        return None
    rest = {a: e for a, e in factors.items() if a not in (atom, first, second)}
    other = (atom[0], (high, low))
    rest[other] = rest.get(other, Fraction(0)) + 1
    return [(c, rest, {i: n for i, n in bound.items() if i not in atom[1]})]


def _is_reversal(t: FormAlgebra, atom: Atom, exponent: Fraction) -> bool:
    head = t.heads[atom[0]]
    if head.kind != "map" or head.params[0] != ("affine", -1) or exponent != 1:
        return False
    lengths: tuple[str, ...] = head.params[1]
    return len(lengths) == 2 and lengths[0] == lengths[1]
