"""A value or gradient that leaves the range of floats on its way although its exact value is an ordinary number."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.analysis.explain.naming import join_texts
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting
from symgrad.analysis.stop_gradient.checks.points import Batch, point_text
from symgrad.analysis.stop_gradient.ranges.forms import repaired_forms
from symgrad.analysis.stop_gradient.ranges.losses import Loss, exact_values, losses_of
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological

__all__ = ["find"]

_FINDINGS = 3  # findings
_SHARP = 1e-9  # to which the edge of a region is found
_SUMS = frozenset({"add", "sub"})
_LONG = 10_000  # bits of an exponent that is not worth reading


def find(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield the values around steps that leave the range of floats, with the points where the result is lost."""
    losses: dict[Node, list[Loss]] = {}
    for loss in losses_of(asked):
        losses.setdefault(loss.around, []).append(loss)
    for around, found in list(losses.items())[:_FINDINGS]:
        loss = next((one for one in found if one.by is None), found[0])
        repaired, cure, verdict = repaired_forms(asked, found)
        message = _message(asked, loss, _where(asked, loss))
        yield Sighting(around, message, _reason(asked, loss), repaired, cure, verdict, (loss.first,))


def _message(asked: LintQuestion, loss: Loss, where: str) -> str:
    row = loss.row
    what, exact, place = asked.text(asked.y), row.y, ""
    if loss.by is not None:
        what, place = f"the gradient of {what} by {asked.text(loss.by)}", f" in {join_texts(loss.frameworks)}"
        exact = row.gradients[asked.trace.wrt.index(loss.by)]
    here = _here(asked, loss)
    at = "there" if where == here else here
    if np.ndim(exact):
        what, told = f"an entry of {what}", f"it is an ordinary number {at}"
    else:
        told = f"it {'tends to' if row.limit else 'is'} {_number_text(exact)} {at}"
    return f"{what} is {'NaN' if np.isnan(loss.found) else 'infinite'} {where}{place}; in exact arithmetic {told}"


def _reason(asked: LintQuestion, loss: Loss) -> str:
    n, point = loss.first, loss.row.point
    text, size = asked.text(n), _power((exact_values([n], point) or {n: 0})[n])
    values = asked.points.evaluate([n], point) or [np.nan]
    vanishes = np.any(np.asarray(values[0], dtype=float) == 0)
    if loss.row.limit:
        first = f"{text} is infinite, and is multiplied by 0"
    elif vanishes and size:
        first = f"the first to leave the range of floats is {text}: it becomes 0, and is {size} there"
    elif vanishes:
        first = f"{text} is rounded to 0 there, and is not 0"
    else:
        first = f"the first to leave the range of floats is {text}: it is {size or 'too large'} there"
    own = (
        "computes a value as it is written, too" if loss.by is None else "writes derivatives in stable forms"
    )
    return f"{first}; symgrad {own}"


def _here(asked: LintQuestion, loss: Loss) -> str:
    """Return the point, of arrays as far as it matters for what is lost."""
    below = topological([asked.y if asked.points.vector else loss.first])
    read = {s.name: v[0] if asked.points.vector else v for s, v in loss.row.point.items() if s in below}
    others = any(s not in below for s in loss.row.point)
    return f"at {point_text(read)}{' and some values of the rest' if others else ''}"


def _number_text(value: Any) -> str:
    """Return a number with six digits, also one that floats do not hold."""
    return next(map(_short, _entries(value)))


def _short(entry: Any) -> str:
    tiny = 0 < abs(entry) < sys.float_info.min and -entry.context.mag(entry) < _LONG
    return str(entry.context.nstr(entry, 6)) if tiny else f"{float(entry):.6g}"


def _power(value: Any) -> str:
    """Return the size of the first entry that floats do not hold, as a power of ten; "" if there is none."""
    for v in map(abs, _entries(value)):
        if (
            hasattr(v, "context")
            and v.context.isfinite(v)
            and not sys.float_info.min <= v <= sys.float_info.max
            and v
        ):
            return f"about 1e{int(v.context.floor(v.context.log10(v))):+d}"
    return ""


def _entries(value: Any) -> list[Any]:
    return np.asarray(value, dtype=object).reshape(-1).tolist()


def _where(asked: LintQuestion, loss: Loss) -> str:
    """Say where: from which argument on, if that holds at all points that were tried; else at a point."""
    n, here = loss.first, _here(asked, loss)
    args = _moving(n)
    if len(args) != 1 or not n.op.pointwise:
        return here
    if not loss.row.limit and n.op.name in _SUMS:  # what rounds in it is a function of something else
        while len(args) == 1 and args[0].args and args[0].op.pointwise and len(_moving(args[0])) == 1:
            args = _moving(args[0])
    if loss.row.limit and n.op.name == "log":
        return (
            f"where an entry of {asked.text(args[0])} is 0" if n.shape else f"where {asked.text(args[0])} = 0"
        )
    if loss.row.limit or n.shape:
        return here
    edge = _edge(asked, n, args[0], loss.row.point)
    if edge is None:
        return here
    for batch in asked.points.batches:
        values = asked.points.evaluate([args[0], n, asked.y], batch)
        if values is None:
            return here
        x, v, y = (np.asarray(w, dtype=float) for w in values)
        lost = _gone(v, edge.zero)
        size = np.abs(x) if edge.even else x
        beyond = size > edge.bound if edge.above or edge.even else size < edge.bound
        if np.any(beyond != lost) or (loss.by is None and np.any(np.isfinite(y) & lost)):
            return here
    return f"where {edge.text(asked, args[0])}"


def _moving(n: Node) -> list[Node]:
    """Return the arguments of an equation that are no numbers."""
    return list(dict.fromkeys(a for a in n.args if a.dtype == "real" and not a.is_number()))


@dataclass(frozen=True, slots=True)
class _Edge:
    """From where on a function of one number leaves the range of floats.

    Args:
        bound: the number.
        above: whether above it.
        even: whether its negative is another one.
        zero: whether the function is 0 there, and not infinite or NaN.
    """

    bound: float
    above: bool
    even: bool
    zero: bool

    def text(self, asked: LintQuestion, a: Node) -> str:
        if self.even:
            return f"abs({asked.text(a)}) > {abs(self.bound):.6g}"
        if a.op.name == "neg":
            return f"{asked.text(a.args[0])} {'<' if self.above else '>'} {-self.bound:.6g}"
        return f"{asked.text(a)} {'>' if self.above else '<'} {self.bound:.6g}"


def _edge(asked: LintQuestion, n: Node, a: Node, point: Batch) -> _Edge | None:
    def at(x: float) -> float:
        values = asked.points.evaluate([n], {a: np.float64(x)})
        return np.nan if values is None else float(values[0])

    values = asked.points.evaluate([a], point)
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
    """Tell where values have become 0, or no finite number."""
    return value == 0 if zero else ~np.isfinite(value)
