"""Where denominators vanish, and exact points of the domain there."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from symgrad.explain.draws import domain_of, inside, value_at
from symgrad.explain.solving import solved
from symgrad.ir.evaluate import evaluate_mp
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.rewrite.condition import Conditions
from symgrad.rules.pipeline import canonical

__all__ = ["DIGITS", "POINTS", "Point", "exact", "is_real", "places", "precise", "samples"]

Point: TypeAlias = "dict[Node, Any]"

_MOST = 8  # places that are looked at
POINTS = 3  # values of the other inputs
DIGITS = 120


def places(e: Node) -> Iterator[tuple[Node, Node, Node]]:
    """Yield quotients whose denominators vanish, with the input and its value there."""
    known = Conditions()
    found: list[tuple[Node, Node]] = []
    for q in topological([e]):
        below = _denominator(q)
        if below is None or known.nonzero(below) == "yes":
            continue
        above = q.args[0] if q.op.name == "div" else as_node(1)
        for v in symbols_of([below]):
            if v.dtype != "real" or v.shape:
                continue
            for at in _roots(below, above, v):
                if len(found) == _MOST:
                    return
                if not any(_same(e, v, at, *other) for other in found) and _vanishes(e, below, v, at):
                    found.append((v, at))
                    yield q, v, at


def _denominator(n: Node) -> Node | None:
    if n.op.name == "div":
        return n.args[1]
    if n.op.name == "pow" and n.args[1].is_number() and n.args[1].value < 0:
        return n.args[0]
    return None


def _roots(below: Node, above: Node, v: Node) -> Iterator[Node]:
    factors = [*_factors(below), *_factors(above)]
    for f in factors:
        for written in dict.fromkeys([f, canonical([f]).nodes[0]]):
            at = solved(written, as_node(0), v) if v in topological([written]) else None
            if at is not None:
                (at,) = canonical([at]).nodes
                if v not in topological([at]):
                    yield at
                    break


def _factors(n: Node) -> list[Node]:
    match n.op.name:
        case "mul":
            return [f for a in n.args for f in _factors(a)]
        case "div" | "neg" | "sqrt" | "pow" | "abs":
            return _factors(n.args[0])
        case _:
            return [n]


def samples(e: Node, v: Node, at: Node) -> list[tuple[Point, Any]]:
    """Exact values of the other inputs, and that of v, where these lie in the domains."""
    mp = precise()
    found: list[tuple[Point, Any]] = []
    for k in range(4 * POINTS):
        point: Point = {s: exact(mp, value_at(s, k)) for s in symbols_of([e, at]) if s is not v}
        (value,) = evaluate_mp(mp, [at], point)
        if is_real(mp, value) and inside(domain_of(v), Fraction(float(value))):
            found.append((point, value))
        if len(found) == POINTS:
            break
    return found


@cache
def precise() -> Any:
    """Return a context of mpmath with many digits."""
    import mpmath

    mp = mpmath.MPContext()
    mp.dps = DIGITS
    return mp


def exact(mp: Any, value: Any) -> Any:
    """Return a rational number in that context, a truth value as it is."""
    return value if isinstance(value, bool) else mp.mpf(value.numerator) / value.denominator


def is_real(mp: Any, value: Any) -> bool:
    """Tell whether a value is a finite real number."""
    return isinstance(value, mp.mpf) and bool(mp.isfinite(value))


def _vanishes(e: Node, n: Node, v: Node, at: Node) -> bool:
    mp = precise()
    points = samples(e, v, at)
    for point, value in points:
        (found,) = evaluate_mp(mp, [n], {**point, v: value})
        if not is_real(mp, found) or abs(found) > mp.mpf(10) ** (-DIGITS // 2):
            return False
    return bool(points)


def _same(e: Node, v: Node, at: Node, other: Node, there: Node) -> bool:
    """Whether two places are one: F = K is K = F."""
    mp = precise()
    for point, value in samples(e, other, there):
        whole = {**point, other: value}
        (found,) = evaluate_mp(mp, [at], whole)
        if not is_real(mp, found) or abs(found - whole[v]) > mp.mpf(10) ** (-DIGITS // 2):
            return False
    return True
