"""Where floats lose a value, or a gradient, whose exact value is an ordinary number: points, and the step that does it.

Floats are compared with exact arithmetic at each point, so what is found is so; that none is found is no proof.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from symgrad.analysis.explain.noise.precision import PrecisionPair, is_finite
from symgrad.analysis.explain.noise.sample_points import converted, domain_of, inside
from symgrad.analysis.stop_gradient.checks.context import LintQuestion
from symgrad.analysis.stop_gradient.checks.naive import FRAMEWORKS, backward
from symgrad.analysis.stop_gradient.checks.points import Batch
from symgrad.checker.clock import is_late, now
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate_mp, exact_number
from symgrad.support.errors import SymgradError

__all__ = ["Loss", "LostRow", "exact_values", "is_above", "losses_of", "single"]

_DIGITS = (
    (60, 90),
    (1200, 1250),
)  # the second where something is infinite, or rounding decides, in the first
_MARGIN = 1e-30  # by which the two of a pair may differ
_LARGEST = sys.float_info.max
_FEWEST, _EXACT = 3, 48  # points that are computed exactly
_EQUATIONS = 4_000  # at all these points together
_EQUATION = 7e-5  # seconds of one at a point
_SHARE = 0.4  # of the time: what points may take
_UNLIKELY = 1000  # of a random input
_ASIDE = 2.0**-10, -(2.0**-10)  # parts of its size by which an input is moved
_BESIDE = 30, 45  # powers of ten by which a point beside another one is off


@dataclass(frozen=True, slots=True)
class LostRow:
    """A point with the exact values there, as far as they have any.

    Args:
        point: the inputs.
        y: the value, and whether it is a limit.
        gradients: by each of wrt.
    """

    point: Batch
    y: Any
    limit: bool
    gradients: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Loss:
    """What is lost at a point.

    Args:
        row: the point.
        found: what is computed there: NaN or infinite.
        by: the gradient by what; None where it is the value that is lost.
        frameworks: where.
        first: the step that leaves the range of floats.
        around: the first value above it whose exact value is in range.
    """

    row: LostRow
    found: float
    by: Node | None
    frameworks: tuple[str, ...]
    first: Node
    around: Node


def losses_of(asked: LintQuestion) -> Iterator[Loss]:
    """Yield what is lost, at points at which something of a program has no finite value."""
    tried: set[bytes] = set()
    most = max(_FEWEST, min(_EXACT, _EQUATIONS // len(asked.order)))
    end = now() + _SHARE * asked.left
    for batch in asked.points.batches:
        values = asked.points.evaluate(asked.order, batch)
        if values is None:
            continue
        count = asked.points.count(batch)
        for i in np.flatnonzero(_lost_somewhere(asked, values, count)):
            point = single(asked, batch, int(i))
            key = b"".join(np.asarray(v).tobytes() for v in point.values())
            if key in tried or not _likely(point):
                continue
            if len(tried) == most or is_late(end, _EQUATION * len(asked.order)):
                return
            tried.add(key)
            loss = _loss(asked, point)
            if loss is not None:
                yield loss


def _lost_somewhere(asked: LintQuestion, values: Sequence[Any], count: int) -> np.ndarray:
    """Tell at which points of a batch some equation has no finite value."""
    lost = np.zeros(count, dtype=bool)
    for n, v in zip(asked.order, values, strict=True):
        if n.dtype == "real":
            wrong = ~np.isfinite(np.asarray(v, dtype=float))
            lost |= np.broadcast_to(wrong if asked.points.vector else wrong.any(), (count,))
    return lost


def single(asked: LintQuestion, batch: Batch, index: int) -> Batch:
    """Return one point of a batch, as a batch."""
    return {s: v[index : index + 1] if asked.points.vector else v for s, v in batch.items()}


def _likely(point: Batch) -> bool:
    """Tell whether no random input is far out."""
    drawn = [v for s, v in point.items() if s.declaration.distribution is not None and s.dtype == "real"]
    return all(float(np.max(np.abs(v), initial=0)) < _UNLIKELY for v in drawn)


def _loss(asked: LintQuestion, point: Batch) -> Loss | None:
    row = _row(asked, point)
    floats = asked.points.evaluate(asked.order, point)
    if row is None or floats is None:
        return None
    values = dict(zip(asked.order, floats, strict=True))
    y = np.ravel(np.asarray(values[asked.y], dtype=float))
    steps = _steps(asked, values, point, row.limit)
    if steps is None:
        return None
    wrong = y[~np.isfinite(y)]
    if wrong.size:
        return Loss(row, float(wrong[0]), None, FRAMEWORKS, *steps)
    if row.limit:
        return None
    lost: dict[Node, dict[str, float]] = {}
    for name in FRAMEWORKS:
        run = backward(asked.trace, asked.scalar, asked.points, point, name)
        for w, exact in zip(asked.trace.wrt, row.gradients, strict=True):
            bad = np.zeros(0) if run is None or exact is None else np.ravel(run.gradients[w])
            bad = bad[~np.isfinite(bad)]
            if bad.size:
                lost.setdefault(w, {})[name] = float(bad[0])
    for by, found in lost.items():
        return Loss(row, next(iter(found.values())), by, tuple(found), *steps)
    return None


def _steps(
    asked: LintQuestion, values: Mapping[Node, Any], point: Batch, limit: bool
) -> tuple[Node, Node] | None:
    """Return the first step that leaves the range of floats, and the first value above it that is in it again."""
    live = live_in(asked.y, values)
    order = [n for n in asked.order if n in live]
    lost = (n for n in order if n.dtype == "real" and not _finite(values[n]))
    first = next(lost, None)
    if first is None:
        return None
    if limit:
        # An infinite value times 0; what is 0/0 is another matter, of which `explain` tells.
        infinite = np.isinf(np.asarray(values[first], dtype=float)).any()
        around = next((n for n in order if n.op.name == "mul" and first in n.args), None)
        return (first, around) if infinite and around is not None else None
    exact = exact_values(order, point)
    if exact is None:
        return None
    if not all(_has_value(v) for v in np.ravel(np.asarray(exact[first], dtype=object))):
        return None
    around = next((n for n in order if (n is first or is_above(n, first)) and _in_range(exact[n])), None)
    if around is None:
        return None
    for a in (a for a in first.args if a.dtype == "real"):
        if (size := _vanished(values[a], exact[a])) is not None:
            # Else digits have cancelled, at this point alone or wherever a function has come to its end.
            return (a, around) if size < sys.float_info.min or _saturated(asked, a, point) else None
    return first, around


def _saturated(asked: LintQuestion, a: Node, point: Batch) -> bool:
    """Tell whether what is 0 in floats at a point is 0 beside it too, as 1 - sigmoid(x) from x = 37 on."""
    (here,) = asked.points.evaluate([a], point) or (None,)
    gone = np.asarray(here, dtype=float) == 0
    symbols = [s for s in symbols_of([a]) if s.dtype == "real"]
    for step in _ASIDE:
        moved = {s: np.asarray(point[s]) * (1 + step * (1 + k)) for k, s in enumerate(symbols)}
        (there,) = asked.points.evaluate([a], {**point, **moved}) or (None,)
        if there is None or np.any(np.asarray(there, dtype=float)[gone] != 0):
            return False
    return bool(symbols)


def live_in(y: Node, values: Mapping[Node, Any]) -> set[Node]:
    """Return what a value reads at a point: of a choice the branch that is taken."""
    found, pending = {y}, [y]
    while pending:
        n = pending.pop()
        args = n.args
        if n.op.name == "where":
            truth = np.asarray(values[n.args[0]])
            args = tuple(
                a for a, out in zip(n.args, (False, not truth.any(), truth.all()), strict=True) if not out
            )
        new = [a for a in args if a not in found]
        found.update(new)
        pending += new
    return found


def is_above(n: Node, below: Node) -> bool:
    """Tell whether an equation reads another, if through others."""
    return n is not below and below in topological([n])


def _finite(value: Any) -> bool:
    return bool(np.isfinite(np.asarray(value, dtype=float)).all())


def _vanished(value: Any, exact: Any) -> Any:
    """Return the size of an entry that is 0 in floats and not exactly; None if there is none."""
    floats = np.ravel(np.asarray(value, dtype=float))
    entries = np.ravel(np.asarray(exact, dtype=object))
    return next((abs(e) for f, e in zip(floats, entries, strict=False) if f == 0 and e != 0), None)


def _row(asked: LintQuestion, point: Batch) -> LostRow | None:
    """Return a point where the exact value is a float, or tends to one beside it."""
    wanted = [asked.y, *asked.trace.gradients]
    exact = exact_values(wanted, point)
    if exact is None:
        return None
    if _in_range(exact[asked.y]):
        gradients = [exact[g] if _in_range(exact[g]) else None for g in asked.trace.gradients]
        return LostRow(point, exact[asked.y], False, gradients)
    limit = _limit(asked, point)
    return None if limit is None else LostRow(point, limit, True, [None] * len(asked.trace.gradients))


def exact_values(nodes: Sequence[Node], point: Batch, step: Fraction | None = None) -> dict[Node, Any] | None:
    """Return values of nodes, in many digits; None where they cannot be computed, or rounding decides.

    Args:
        nodes: which.
        point: the inputs.
        step: what takes the place of inputs that are 0.
    """
    found = None
    for digits in _DIGITS:
        found = _in_digits(PrecisionPair(digits), nodes, point, step)
        if found is not None and all(_has_value(v) for n in nodes for v in _entries(found[n])):
            return found
    return found


def _entries(value: Any) -> list[Any]:
    return np.asarray(value, dtype=object).reshape(-1).tolist()


def _in_digits(
    level: PrecisionPair, nodes: Sequence[Node], point: Batch, step: Fraction | None
) -> dict[Node, Any] | None:
    found: list[list[Any]] = []
    for mp in level.contexts:
        given = {
            s: converted(np.asarray(v).reshape(())[()] if not s.shape else v, partial(_number, mp, s, step))
            for s, v in point.items()
        }
        try:
            found.append(evaluate_mp(mp, nodes, given))
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
            return None
    for coarse, fine in zip(*found, strict=True):
        for a, b in zip(_entries(coarse), _entries(fine), strict=True):
            if is_finite(level.contexts[0], a) and abs(a - b) > _MARGIN * (1 + abs(b)):
                return None
    return dict(zip(nodes, found[1], strict=True))


def _number(mp: Any, s: Node, step: Fraction | None, x: Any) -> Any:
    if s.dtype != "real":
        return bool(x) if s.dtype == "bool" else int(x)
    return mp.mpf(float(x)) if step is None or x != 0 else exact_number(mp, step)


def _has_value(v: Any) -> bool:
    return isinstance(v, (bool, int)) or bool(
        hasattr(v, "context") and not hasattr(v, "_mpc_") and v.context.isfinite(v)
    )


def _in_range(value: Any) -> bool:
    """Tell whether all entries are numbers that floats hold."""
    return all(_has_value(v) and abs(v) <= _LARGEST for v in _entries(value))


def _limit(asked: LintQuestion, point: Batch) -> Any:
    """Return what the value tends to where one input is 0, from all sides in the domain where it has values."""
    zero = [s for s, v in point.items() if s.dtype == "real" and np.any(np.asarray(v) == 0)]
    if len(zero) != 1 or zero[0].declaration.distribution is not None:
        return None
    sides: list[Any] = []
    for sign in (1, -1):
        if not inside(domain_of(zero[0]), Fraction(sign, 10**30)):
            continue
        steps = [Fraction(sign, 10**power) for power in _BESIDE]
        near = [
            exact[asked.y] for step in steps if (exact := exact_values([asked.y], point, step)) is not None
        ]
        if len(near) == len(steps) and all(map(_in_range, near)):
            if not _near(*near):
                return None
            sides.append(near[1])
    if not sides or not all(_near(sides[0], side) for side in sides):
        return None
    return converted(sides[0], lambda v: round(float(v), 20) + 0.0)


def _near(a: Any, b: Any) -> bool:
    pairs = zip(np.ravel(np.asarray(a, dtype=object)), np.ravel(np.asarray(b, dtype=object)), strict=True)
    return all(abs(x - y) <= 1e-20 * (1 + abs(y)) for x, y in pairs)
