"""Classify why a formula is undefined at a point: 0/0, oo - oo, or a part without a limit.

    kind ::= 0/0 | oo/oo | oo - oo | 0*oo | 1**oo      -- forms that a power series decides
           | undefined                                  -- a function of an infinite value, or a value without a limit

The limits of parts follow from values at two distances on both sides of the point, computed with many digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from symgrad.analysis.explain.removable_singularities.near_point import PointNeighbourhood
from symgrad.analysis.explain.removable_singularities.points import Point, is_real
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate_mp

UNDEFINED = "undefined"

SIDES = (1, -1, 1e-5, -1e-5)  # the two distances, as multiples of the distance that counts as the limit
_SAME = 1e-8
_LESS = 0.5  # a value tends to 0 if its ratio to the value at the larger distance is below this


class Why(NamedTuple):
    """The kind of undefined form; if it is ``undefined``, also the part, and whether it is infinite."""

    kind: str
    part: Node | None = None
    infinite: bool = False


def why_undefined(e: Node, beside: PointNeighbourhood, point: Point, value: Any) -> Why:
    """Return why a formula is undefined at a point."""
    order = topological([e])
    mp = beside.mp
    rows = [evaluate_mp(mp, order, {**point, beside.v: beside.moved(value, sign)}) for sign in SIDES]
    limits = {n: limit_of(mp, [row[i] for row in rows]) for i, n in enumerate(order) if n.dtype != "bool"}
    found: Why | None = None
    for n in order:
        if n.dtype == "bool" or not n.args:
            continue
        kind = _kind(n, [limits.get(a, "some") for a in n.args], limits)
        if kind == UNDEFINED:
            infinite = next((a for a in n.args if limits.get(a) == "oo"), None)
            return Why(UNDEFINED, infinite or n, infinite is not None)
        if kind is not None and found is None:
            found = Why(kind)
    return found or Why(UNDEFINED, e)


def _kind(n: Node, args: Sequence[str], limits: Mapping[Node, str]) -> str | None:
    if limits[n] == "none" and "none" not in args:
        return UNDEFINED
    match n.op.name, args:
        case "div", ["0", "0"]:
            return "0/0"
        case "div", ["oo", "oo"]:
            return "oo/oo"
        case "add", ["oo", "oo"] if limits[n] != "oo":
            return "oo - oo"
        case "mul", ["0", "oo"] | ["oo", "0"]:
            return "0*oo"
        case "pow", ["some", "oo"] if limits[n] == "some":
            return "1**oo"
        case "add" | "mul" | "div" | "neg" | "pow" | "abs" | "where" | "stop_gradient", _:
            return None
        case _:
            return UNDEFINED if "oo" in args else None


def limit_of(mp: Any, values: Sequence[Any]) -> str:
    """Classify the limit of values at `SIDES`: 0, some other number, oo, or none."""
    if not all(is_real(mp, x) for x in values):
        infinite = all(isinstance(x, mp.mpf) and mp.isinf(x) for x in values)
        return "oo" if infinite else "none"
    sizes: list[Any] = [abs(x) for x in values]
    size = max(sizes)
    if all(abs(x - values[0]) <= _SAME * size for x in values):
        return "some" if size else "0"
    pairs = list(zip(sizes[:2], sizes[2:], strict=True))
    if all(near <= _LESS * far for far, near in pairs):
        return "0"
    return "oo" if all(far <= _LESS * near for far, near in pairs) else "none"
