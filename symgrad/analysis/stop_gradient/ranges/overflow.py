"""Check for values and gradients that leave the range of floats although they are ordinary numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.analysis.explain.naming import join_texts
from symgrad.analysis.explain.noise.sample_points import entries
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.checks.points import Batch, point_text, real_variables
from symgrad.analysis.stop_gradient.ranges.forms import repaired_forms
from symgrad.analysis.stop_gradient.ranges.losses import Loss, exact_values, losses_of
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological

_FINDINGS = 3
_SHARP = 1e-9  # relative accuracy of the edge of a region
_SUMS = frozenset({"add", "sub"})
_LONG = 10_000  # the exponent of a longer number is not printed


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield the values around steps that leave the range of floats, with points at which the result is lost."""
    losses: dict[Node, list[Loss]] = {}
    for loss in losses_of(query):
        losses.setdefault(loss.around, []).append(loss)
    for around, found in list(losses.items())[:_FINDINGS]:
        loss = next((one for one in found if one.by is None), found[0])
        repaired, cure, verdict = repaired_forms(query, found)
        message = _message(query, loss, _where(query, loss))
        unused = all(one.unused for one in found)
        severity = "note" if unused else None
        if unused and cure is None:
            cure = f"bound what {query.text(loss.first)} is computed from"
        yield Sighting(
            around, message, _reason(query, loss), repaired, cure, verdict, (loss.first,), severity
        )


def _message(query: LintQuery, loss: Loss, where: str) -> str:
    row = loss.row
    what, exact, place = query.text(query.y), row.y, ""
    if loss.by is not None:
        what, place = f"the gradient of {what} by {query.text(loss.by)}", f" in {join_texts(loss.frameworks)}"
        exact = row.gradients[query.trace.wrt.index(loss.by)]
    here = _here(query, loss)
    at = "there" if where == here else here
    if np.ndim(exact):
        what, truth = f"an entry of {what}", f"it is an ordinary number {at}"
    else:
        truth = f"it {'tends to' if row.limit else 'is'} {_short(entries(exact)[0])} {at}"
    return f"{what} is {'NaN' if np.isnan(loss.found) else 'infinite'} {where}{place}; in exact arithmetic {truth}"


def _reason(query: LintQuery, loss: Loss) -> str:
    n, point = loss.first, loss.row.point
    text = query.text(n)
    values = np.ravel(np.asarray((query.points.evaluate([n], point) or [np.nan])[0], dtype=float))
    exact = entries((exact_values([n], point) or {n: 0})[n])
    pairs = sorted(zip(values.tolist(), exact, strict=False), key=lambda pair: bool(np.isfinite(pair[0])))
    size = next(
        (size for value, e in pairs if (size := _power(e)) and (value == 0 or not np.isfinite(value))), ""
    )
    vanishes = bool(np.isfinite(values).all() and np.any(values == 0))
    if loss.row.limit:
        first = f"{text} is infinite, and is multiplied by 0"
    elif vanishes and size:
        first = f"the first value to leave the range of floats is {text}: it becomes 0, and is {size} there"
    elif vanishes:
        first = f"{text} is rounded to 0 there, and is not 0"
    else:
        first = f"the first value to leave the range of floats is {text}: it is {size or 'too large'} there"
    if loss.unused:
        return f"{first}; the program takes another value there, and its backward pass is 0 times infinity"
    if loss.by is None:
        return f"{first}; symgrad also computes values as they are written, so it has the same problem"
    return f"{first}; symgrad writes derivatives in stable forms"


def _here(query: LintQuery, loss: Loss) -> str:
    """Return the point as text; for arrays, only the inputs of the step that is lost."""
    below = topological([query.y if query.points.vector else loss.first])
    read = {s.name: v[0] if query.points.vector else v for s, v in loss.row.point.items() if s in below}
    others = any(s not in below for s in loss.row.point)
    return f"at {point_text(read)}{' and some values of the rest' if others else ''}"


def _short(entry: Any) -> str:
    """Return a number with six digits, also below the range of floats."""
    tiny = 0 < abs(entry) < sys.float_info.min and -entry.context.mag(entry) < _LONG
    return str(entry.context.nstr(entry, 6)) if tiny else f"{float(entry):.6g}"


def _power(value: Any) -> str:
    """Return the size of the first entry outside the range of floats, as a power of ten; "" if there is none."""
    for v in map(abs, entries(value)):
        finite = hasattr(v, "context") and v.context.isfinite(v)
        if finite and v and not sys.float_info.min <= v <= sys.float_info.max:
            return f"about 1e{int(v.context.floor(v.context.log10(v))):+d}"
    return ""


def _where(query: LintQuery, loss: Loss) -> str:
    """Return the region of loss as text: a bound on an argument if it holds at all points, otherwise a point."""
    n, here = loss.first, _here(query, loss)
    args = real_variables(n.args)
    if len(args) != 1 or not n.op.pointwise:
        return here
    if not loss.row.limit and n.op.name in _SUMS:  # in a sum, the value of another function is rounded
        while (
            len(args) == 1
            and args[0].args
            and args[0].op.pointwise
            and len(real_variables(args[0].args)) == 1
        ):
            args = real_variables(args[0].args)
    if loss.row.limit and n.op.name == "log":
        argument = query.text(args[0])
        return f"where an entry of {argument} is 0" if n.shape else f"where {argument} = 0"
    if loss.row.limit or n.shape:
        return here
    edge = _edge(query, n, args[0], loss.row.point)
    if edge is None:
        return here
    for batch in query.points.batches:
        values = query.points.evaluate([args[0], n, query.y], batch)
        if values is None:
            return here
        x, v, y = (np.asarray(w, dtype=float) for w in values)
        lost = _gone(v, edge.zero)
        size = np.abs(x) if edge.even else x
        beyond = size > edge.bound if edge.above or edge.even else size < edge.bound
        if np.any(beyond != lost) or (loss.by is None and np.any(np.isfinite(y) & lost)):
            return here
    return f"where {edge.text(query, args[0])}"


@dataclass(frozen=True, slots=True)
class _Edge:
    """The bound beyond which a function of one number leaves the range of floats.

    Args:
        bound: the bound.
        above: whether the loss is above the bound.
        even: whether the loss is also below the negative bound.
        zero: whether the function becomes 0 there, instead of infinite or NaN.
    """

    bound: float
    above: bool
    even: bool
    zero: bool

    def text(self, query: LintQuery, a: Node) -> str:
        if self.even:
            return f"abs({query.text(a)}) > {abs(self.bound):.6g}"
        if a.op.name == "neg":
            return f"{query.text(a.args[0])} {'<' if self.above else '>'} {-self.bound:.6g}"
        return f"{query.text(a)} {'>' if self.above else '<'} {self.bound:.6g}"


def _edge(query: LintQuery, n: Node, a: Node, point: Batch) -> _Edge | None:
    def at(x: float) -> float:
        values = query.points.evaluate([n], {a: np.float64(x)})
        return np.nan if values is None else float(values[0])

    values = query.points.evaluate([a], point)
    bad = np.nan if values is None else float(np.ravel(values[0])[0])
    good, zero = 0.0, at(bad) == 0
    if not np.isfinite(bad) or _gone(at(good), zero) or not _gone(at(bad), zero):
        return None
    even = bool(_gone(at(-bad), zero))
    bad = abs(bad) if even else bad
    while abs(bad - good) > _SHARP * abs(bad):
        middle = (good + bad) / 2
        good, bad = (good, middle) if _gone(at(middle), zero) else (middle, bad)
    return _Edge(bad, bad > good, even, zero)


def _gone(value: Any, zero: bool) -> Any:
    """Mark values that have become 0, or are not finite."""
    return value == 0 if zero else ~np.isfinite(value)
