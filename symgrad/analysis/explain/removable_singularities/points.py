"""Find points of the domain at which an op is undefined, such as zeros of denominators; sample points there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from symgrad.analysis.explain.limits import GAP_PLACES
from symgrad.analysis.explain.noise.sample_points import domain_of, value_at
from symgrad.analysis.explain.removable_singularities.zeros import maybe_zeros
from symgrad.checker.clock import is_late
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate_mp, exact_number, mp_context
from symgrad.rewrite.facts.inference import Conditions
from symgrad.support.traversal import leaves

Point: TypeAlias = "dict[Node, Any]"

POINTS = 3  # number of choices of the other inputs
DIGITS = 240


def places(e: Node, end: float) -> Iterator[tuple[Node, Node, Node]]:
    """Yield undefined nodes, each with an input and the value of this input at which the node is undefined.

    Args:
        e: a formula of scalars.
        end: the deadline, on the clock of `symgrad.checker.clock`.
    """
    known = Conditions()
    found: list[tuple[Node, Node]] = []
    seen: set[tuple[Node, Node, Node]] = set()
    for q in topological([e]):
        for below in _vanishing(q):
            if known.nonzero(below) == "yes":
                continue
            above = [q.args[0]] if q.op.name == "div" else []
            for v in symbols_of([below]):
                if v.dtype != "real" or v.shape:
                    continue
                for at in _tried(below, above, v):
                    if len(found) == GAP_PLACES or is_late(end):
                        return
                    if (below, v, at) in seen:
                        continue
                    seen.add((below, v, at))
                    if _vanishes(e, below, v, at) and not any(_same(e, v, at, *other) for other in found):
                        found.append((v, at))
                        yield q, v, at


def _vanishing(n: Node) -> list[Node]:
    """Return the expressions at whose zeros an op is undefined: the denominator, or cos(x) for tan(x)."""
    if n.op.name == "pow":
        return [n.args[0]] if n.args[1].is_number() and n.args[1].value < 0 else []
    if n.op.domain is None or not n.args:
        return []
    conditions = leaves(n.op.domain(*n.args), lambda c: c.args if c.op.name == "and_" else None)
    unequal = [c.args for c in reversed(conditions) if c.op.name == "ne"]
    return [left if right.is_number(0) else left - right for left, right in unequal]


def _tried(below: Node, above: Sequence[Node], v: Node) -> Iterator[Node]:
    for f in (below, *above):
        if v in topological([f]):
            yield from maybe_zeros(f, v)


def samples(e: Node, v: Node, at: Node) -> list[tuple[Point, Any]]:
    """Return sample values of the other inputs, each with the value of v, all inside the domains."""
    mp = precise()
    found: list[tuple[Point, Any]] = []
    others = [s for s in symbols_of([e, at]) if s is not v]
    for k in range(4 * POINTS if others else 1):
        point: Point = {s: exact_number(mp, value_at(s, k)) for s in others}
        (value,) = evaluate_mp(mp, [at], point)
        if is_real(mp, value) and domain_of(v).admits(Fraction(float(value))):
            found.append((point, value))
        if len(found) == POINTS:
            break
    return found


@cache
def precise(digits: int = DIGITS) -> Any:
    """Return an mpmath context with many digits."""
    return mp_context(digits)


def is_real(mp: Any, value: Any) -> bool:
    """Tell whether a value is a finite real number."""
    return isinstance(value, mp.mpf) and bool(mp.isfinite(value))


def _vanishes(e: Node, n: Node, v: Node, at: Node) -> bool:
    mp = precise()
    # One point refutes most candidates.
    first: Point = {s: exact_number(mp, value_at(s, 0)) for s in symbols_of([n, at]) if s is not v}
    if not _is_zero(mp, n, {**first, v: evaluate_mp(mp, [at], first)[0]}, unknown=True):
        return False
    points = samples(e, v, at)
    return bool(points) and all(_is_zero(mp, n, {**point, v: value}) for point, value in points)


def _is_zero(mp: Any, n: Node, point: Point, *, unknown: bool = False) -> bool:
    (found,) = evaluate_mp(mp, [n], point)
    return abs(found) < mp.mpf(10) ** (-DIGITS // 2) if is_real(mp, found) else unknown


def _same(e: Node, v: Node, at: Node, other: Node, there: Node) -> bool:
    """Tell whether two places are the same: F = K is K = F."""
    mp = precise()
    for point, value in samples(e, other, there):
        whole = {**point, other: value}
        (found,) = evaluate_mp(mp, [at], whole)
        if not is_real(mp, found) or abs(found - whole[v]) > mp.mpf(10) ** (-DIGITS // 2):
            return False
    return True
