"""Find points at which floats lose a value or gradient that is an ordinary number in exact arithmetic, and the step.

Floats are compared with exact arithmetic, so each loss is real; if none is found, this proves nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import compress, product, zip_longest
from typing import Any, cast

import numpy as np

from symgrad.analysis.explain.noise.sample_points import converted, domain_of, entries
from symgrad.analysis.stop_gradient.checks.context import LintQuery
from symgrad.analysis.stop_gradient.checks.naive import backward
from symgrad.analysis.stop_gradient.checks.points import Batch
from symgrad.checker.balls.scalar_ops import ball
from symgrad.checker.clock import is_late, now
from symgrad.checker.witness import all_certain
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.rewrite.choice.certain_values import ball_values, exact_ball
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import walk

_BITS = 256, 4096
"""The precisions; the second is used if, at the first, a value is unknown."""

_LARGEST = sys.float_info.max
_FEWEST, _EXACT = 3, 48  # number of points in exact arithmetic
_EQUATIONS = 4_000  # number of equations, summed over all these points
_EQUATION = 7e-5  # seconds for an equation at a point
_SHARE = 0.4  # share of the time for points
_UNLIKELY = 1000  # larger values of a random input count as unlikely
_ASIDE = 2.0**-10, -(2.0**-10)  # relative steps of an input
_INNER = 3  # number of inputs of an infinite value whose limit is estimated
_BESIDE = 30, 45  # decimal exponents of the distances at which a limit is estimated


@dataclass(frozen=True, slots=True)
class ExactRow:
    """A point with the exact values there, if they exist.

    Args:
        point: the inputs.
        y: the value, or its limit.
        limit: whether it is a limit.
        gradients: the gradient with respect to each of wrt.
    """

    point: Batch
    y: Any
    limit: bool
    gradients: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss at a point.

    Args:
        row: the point.
        found: the result in floats: NaN or infinite.
        by: the input with respect to which the gradient is lost; None if the value is lost.
        frameworks: the frameworks in which it is lost.
        first: the step that leaves the range of floats.
        around: the first value above this step whose exact value is in range.
        unused: whether the program takes other values in place of that step, as a minimum does.
    """

    row: ExactRow
    found: float
    by: Node | None
    frameworks: tuple[str, ...]
    first: Node
    around: Node
    unused: bool = False


def losses_of(query: LintQuery) -> Iterator[Loss]:
    """Yield losses, at points where an equation of the program is not finite."""
    most = max(_FEWEST, min(_EXACT, _EQUATIONS // len(query.order)))
    end = now() + _SHARE * query.remaining
    for point in _undefined_points(query)[:most]:
        if is_late(end, _EQUATION * len(query.order)):
            return
        loss = _loss(query, point)
        if loss is not None and (loss.row.limit or _holds_nearby(query, loss)):
            yield loss


def _holds_nearby(query: LintQuery, loss: Loss) -> bool:
    """Tell whether a value or gradient is not just lost at a coincidence: 0 times a number beyond the range of floats.

    At points with equal inputs, terms may cancel just there.
    """
    near = _loss(query, _moved(query, loss.row.point, _ASIDE[1]))
    return near is not None and (near.by is None) == (loss.by is None)


def _undefined_points(query: LintQuery) -> list[Batch]:
    """Return the points at which some equation is not finite: first one for each set of such equations."""
    found: dict[bytes, list[Batch]] = {}
    tried: set[bytes] = set()
    for batch, values in query.points.values(query.order):
        count = query.points.count(batch)
        table = np.array(
            [_infinite_mask(query, n, v, count) for n, v in zip(query.order, values, strict=True)]
        )
        for i in np.flatnonzero(table.any(axis=0)).tolist():
            point = single(query, batch, i)
            key = b"".join(np.asarray(v).tobytes() for v in point.values())
            if key not in tried and _likely(point):
                tried.add(key)
                found.setdefault(table[:, i].tobytes(), []).append(point)
    return [p for turn in zip_longest(*found.values()) for p in turn if p is not None]


def _infinite_mask(query: LintQuery, n: Node, value: Any, count: int) -> np.ndarray:
    """Mark the points of a batch at which an equation is not finite."""
    wrong = ~np.isfinite(np.asarray(value, dtype=float)) if n.dtype == "real" else np.zeros(count, dtype=bool)
    return np.broadcast_to(wrong if query.points.vector else wrong.any(), (count,))


def single(query: LintQuery, batch: Batch, index: int) -> Batch:
    """Return one point of a batch, as a batch."""
    return {s: v[index : index + 1] if query.points.vector else v for s, v in batch.items()}


def _likely(point: Batch) -> bool:
    """Tell whether all random inputs have likely values."""
    drawn = [v for s, v in point.items() if s.declaration.distribution is not None and s.dtype == "real"]
    return all(float(np.max(np.abs(v), initial=0)) < _UNLIKELY for v in drawn)


def _loss(query: LintQuery, point: Batch) -> Loss | None:
    floats = query.points.evaluate(query.order, point)
    if floats is None:
        return None
    values = dict(zip(query.order, floats, strict=True))
    row = _row(query, point, values)
    if row is None:
        return None
    y = np.ravel(np.asarray(values[query.y], dtype=float))
    steps = _steps(query, values, point, row.limit)
    if steps is None:
        return None
    wrong = y[~np.isfinite(y)]
    if wrong.size:
        return Loss(row, float(wrong[0]), None, query.frameworks, *steps)
    if row.limit:
        return None
    lost: dict[Node, dict[str, float]] = {}
    for name in query.frameworks:
        run = backward(query.scalar, query.wrt, query.points, point, name)
        for w, exact in zip(query.trace.wrt, row.gradients, strict=True):
            bad = np.zeros(0) if run is None or exact is None else np.ravel(run.gradients[w])
            bad = bad[~np.isfinite(bad)]
            if bad.size:
                lost.setdefault(w, {})[name] = float(bad[0])
    for by, found in lost.items():
        return Loss(
            row, next(iter(found.values())), by, tuple(found), *steps, _is_unused(query, values, steps[0])
        )
    return None


def _is_unused(query: LintQuery, values: Mapping[Node, Any], first: Node) -> bool:
    """Tell whether the program takes none of the infinite or NaN entries of a step, but others in their place."""
    lost = {first: ~np.isfinite(np.asarray(values[first], dtype=float))}
    for n in query.order:
        read = [a for a in n.args if a in lost]
        if n in lost or not read or n.dtype != "real":
            continue
        masks = [lost[a] & (values[a] == values[n]) if "chooses" in n.op.facts else lost[a] for a in read]
        merged = np.logical_or.reduce(np.broadcast_arrays(*masks))
        lost[n] = merged if n.op.pointwise else np.broadcast_to(merged.any(), np.shape(values[n]))
    return bool(lost[first].any()) and not (query.y in lost and lost[query.y].any())


def _moved(query: LintQuery, point: Batch, step: float) -> Batch:
    """Move the inputs of a point and the entries of arrays apart, each by a small fraction; zeros become positive."""
    real = [s for s in point if s.dtype == "real"]
    moved = dict(point)
    for k, s in enumerate(real):
        value = np.asarray(point[s])
        every = cast("Any", np.arange(value.size).reshape(value.shape))
        place = cast("Any", np.zeros(())) if query.points.vector else every / value.size
        t = step * (1 + k + (np.minimum(place, place.T) if s.declaration.symmetric else place))
        moved[s] = np.where(value == 0, np.abs(t), value * (1 + t))
    return moved


def _steps(
    query: LintQuery, values: Mapping[Node, Any], point: Batch, limit: bool
) -> tuple[Node, Node] | None:
    """Return the first step that leaves the range of floats, and the first value above it that is back in range."""
    live = _live_nodes(query.y, values)
    order = [n for n in query.order if n in live]
    lost = (n for n in order if n.dtype == "real" and not _finite(values[n]))
    first = next(lost, None)
    if first is None:
        return None
    if limit:
        return _infinite_product(query, live, values)
    exact = exact_values(order, point)
    if exact is None or not all_certain([exact[first]]):
        return None
    around = next((n for n in order if (n is first or is_above(n, first)) and _in_range(exact[n])), None)
    if around is None:
        return None
    for a in (a for a in first.args if a.dtype == "real"):
        if (size := _vanished(values[a], exact[a])) is not None:
            # Otherwise digits cancelled: at this point only, or wherever a function saturates.
            return (a, around) if size < sys.float_info.min or _saturated(query, a, point) else None
    return first, around


def _infinite_product(
    query: LintQuery, live: set[Node], values: Mapping[Node, Any]
) -> tuple[Node, Node] | None:
    """Return the first value that is not finite, and a product with it, if the value is infinite.

    An infinite value times 0 is reported here; `explain` reports 0/0.
    """
    order = [n for n in query.order if n in live]
    first = next((n for n in order if n.dtype == "real" and not _finite(values[n])), None)
    if first is None or not np.isinf(np.asarray(values[first], dtype=float)).any():
        return None
    around = next((n for n in order if n.op.name == "mul" and first in n.args), None)
    return None if around is None else (first, around)


def _saturated(query: LintQuery, a: Node, point: Batch) -> bool:
    """Tell whether a value that rounds to 0 at a point also does so near it, like 1 - sigmoid(x) for x >= 37."""
    (here,) = query.points.evaluate([a], point) or (None,)
    gone = np.asarray(here, dtype=float) == 0
    for step in _ASIDE:
        (there,) = query.points.evaluate([a], _moved(query, point, step)) or (None,)
        if there is None or np.any(np.asarray(there, dtype=float)[gone] != 0):
            return False
    return any(s.dtype == "real" for s in symbols_of([a]))


def _live_nodes(y: Node, values: Mapping[Node, Any]) -> set[Node]:
    """Return the nodes on which a value depends at a point; for a choice, only the branches that are taken."""

    def live_args(n: Node) -> Iterable[Node]:
        if n.op.name != "where":
            return n.args
        truth = np.asarray(values[n.args[0]])
        return compress(n.args, (True, truth.any(), not truth.all()))

    return set(walk([y], live_args))


def is_above(n: Node, below: Node) -> bool:
    """Tell whether an equation reads another, directly or through others."""
    return n is not below and below in topological([n])


def _finite(value: Any) -> bool:
    return bool(np.isfinite(np.asarray(value, dtype=float)).all())


def _vanished(value: Any, exact: Any) -> Any:
    """Return the exact size of an entry that rounds to 0; None if there is none."""
    floats = np.ravel(np.asarray(value, dtype=float))
    return next(
        (abs(e) for f, e in zip(floats, entries(exact), strict=False) if f == 0 and e is not None and e != 0),
        None,
    )


def _row(query: LintQuery, point: Batch, values: Mapping[Node, Any]) -> ExactRow | None:
    """Return the exact values at a point, if the value of the program is in range or has a limit in range."""
    wanted = [query.y, *query.trace.gradients]
    exact = exact_values(wanted, point)
    if exact is None:
        return None
    if _in_range(exact[query.y]):
        gradients = [exact[g] if _in_range(exact[g]) else None for g in query.trace.gradients]
        return ExactRow(point, exact[query.y], False, gradients)
    limit = _limit(query, point, values)
    return None if limit is None else ExactRow(point, limit, True, [None] * len(query.trace.gradients))


def exact_values(
    nodes: Sequence[Node], point: Batch, steps: Mapping[Node, Fraction] = {}
) -> dict[Node, Any] | None:
    """Return the values of nodes in balls, with None for unknown entries; None if they cannot be computed.

    Args:
        nodes: the nodes.
        point: the inputs.
        steps: numbers that are added to inputs.
    """
    given = {
        s: exact_ball(
            converted(np.asarray(v).reshape(())[()] if not s.shape else v, partial(_number, s, steps.get(s)))
        )
        for s, v in point.items()
    }
    found: dict[Node, Any] | None = None
    for bits in _BITS:
        try:
            found = ball_values(nodes, given, bits)
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError):
            return None
        if all_certain([found[n] for n in nodes]):
            break
    return None if found is None else {n: converted(found[n], ball) for n in nodes}


def _number(s: Node, step: Fraction | None, x: Any) -> Any:
    if s.dtype != "real":
        return bool(x) if s.dtype == "bool" else int(x)
    return Fraction(float(x)) + (step or 0)


def _in_range(value: Any) -> bool:
    """Tell whether all entries are in the range of floats."""
    return all(v is not None and abs(v) <= _LARGEST for v in entries(value))


def _limit(query: LintQuery, point: Batch, values: Mapping[Node, Any]) -> Any:
    """Return the limit of the value where an infinite value is multiplied by 0, if it is the same along all paths.

    The inputs of the infinite value move, and the others stay or move, too.
    """
    steps = _infinite_product(query, _live_nodes(query.y, values), values)
    if steps is None:
        return None
    first, _ = steps
    still = [s for s in point if s.dtype != "real" or s.declaration.distribution is not None]
    inputs = [s for s in point if s not in still]
    inner = [s for s in symbols_of([first]) if s in inputs]
    if not inner or len(inner) > _INNER:
        return None
    found: list[Any] = []
    for path in _paths(inner, [s for s in inputs if s not in inner]):
        near = [_value_near(query, point, path, power) for power in _BESIDE]
        if any(v is None for v in near):
            continue  # the path leaves the domain
        if not all(_in_range(v) and _near((found or near)[0], v) for v in near):
            return None
        found += near
    return converted(found[1], lambda v: round(float(v), 20) + 0.0) if found else None


def _paths(inner: Sequence[Node], outer: Sequence[Node]) -> Iterator[dict[Node, tuple[int, int]]]:
    """Yield paths to a point: for each input that moves a sign, and the power of the distance with which it moves."""
    for signs in product((1, -1), repeat=len(inner)):
        yield {s: (sign, 1) for s, sign in zip(inner, signs, strict=True)}
    for first, second in ((1, 1), (1, 2), (2, 1)):
        for sign, other in product((1, -1), repeat=2) if outer else ():
            yield {**dict.fromkeys(inner, (sign, first)), **dict.fromkeys(outer, (other, second))}
        for s in inner if len(inner) > 1 else ():
            yield {**dict.fromkeys(inner, (1, first)), s: (1, second)}


def _value_near(query: LintQuery, point: Batch, path: Mapping[Node, tuple[int, int]], power: int) -> Any:
    """Return the exact value beside a point, on a path; None if there is none, or an input leaves its domain."""
    steps = {s: sign * Fraction(1, 10 ** (power * k)) for s, (sign, k) in path.items()}
    for s, step in steps.items():
        domain = domain_of(s)
        if not all(domain.admits(Fraction(v) + step) for v in np.ravel(np.asarray(point[s], float)).tolist()):
            return None
    exact = exact_values([query.y], point, steps)
    value = None if exact is None else exact[query.y]
    return value if value is not None and all_certain([value]) else None


def _near(a: Any, b: Any) -> bool:
    return all(abs(x - y) <= 1e-20 * (1 + abs(y)) for x, y in zip(entries(a), entries(b), strict=True))
