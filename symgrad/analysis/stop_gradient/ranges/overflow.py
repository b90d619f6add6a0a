"""Check for values and gradients that leave the range of floats although they are ordinary numbers.

The repairs are equal forms that are right at the points of loss.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.analysis.explain.noise.evidence import decimals
from symgrad.analysis.explain.noise.sample_points import entries
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting, is_close
from symgrad.analysis.stop_gradient.checks.naive import backward
from symgrad.analysis.stop_gradient.checks.points import Batch, point_text, real_variables
from symgrad.analysis.stop_gradient.ranges.losses import Loss, exact_values, is_above, losses_of, single
from symgrad.checker.clock import is_late, now
from symgrad.checker.numbers import arb
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.numpy.calls import over_axes, reduce_axes
from symgrad.pretty.simplify import simplified
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict

_AROUND = 3  # how many equations above an overflow get other forms
_SHARE = 0.3  # share of the time for repairs
_SECONDS = 2.0
_REPAIR = 0.02  # seconds for a candidate
_LONG_VALUE = 100  # number of equations of a value that is rewritten as a function of its inputs
_UNLIKE = 8  # number of points at which both forms are finite and differ
_CLOSE = 1e-6  # relative to the value, or to 1


def repaired_forms(
    query: LintQuery, losses: Sequence[Loss]
) -> tuple[Node | None, str | None, Verdict | None]:
    """Return the first equal form that is right at the points of loss, with its description and verdict."""
    end = now() + _SHARE * query.remaining
    for old, new in _forms(query, losses[0]):
        if is_late(end, _REPAIR):
            break
        (repaired,) = substitute([query.y], {old: new})
        if new.shape != old.shape or not _mends(query, repaired, losses):
            continue
        verdict = query.same_but_for(old, new, _SECONDS)
        if verdict is not None and verdict.status in ("proved", "supported"):
            return repaired, query.code_text("write {} for {}", new, old), verdict
    return None, None, None


def _forms(query: LintQuery, loss: Loss) -> Iterator[tuple[Node, Node]]:
    """Yield a value at or above the loss, and an equal form."""
    above = [n for n in query.order if is_above(n, loss.around) and n.dtype == "real"][:_AROUND]
    for n in dict.fromkeys([loss.around, *above]):
        forms = [_guarded(n)] if loss.row.limit else [*_stable(query, n, loss.first), *_shifted(n)]
        for form in dict.fromkeys(f for f in forms if f is not None and f is not n):
            yield n, form


def _stable(query: LintQuery, n: Node, first: Node) -> Iterator[Node]:
    """Yield stable, short and simple forms.

    A long value is rewritten as a function of the arguments of the step that is lost.
    """
    inputs: dict[Node, Node] = {}
    if len(topological([n])) > _LONG_VALUE:
        read = [a.args[0] if a.op.name == "neg" else a for a in first.args]
        inputs = query.stand_ins([a for a in dict.fromkeys(read) if a.args and a.dtype == "real"])
    (short,) = substitute([n], inputs)
    if len(topological([short])) > _LONG_VALUE:
        return
    (canon,) = canonical([short]).nodes
    forms = [*stable([short]).nodes, *stable([canon]).nodes, canon, simplified(short).node]
    yield from substitute(forms, {v: a for a, v in inputs.items()})


def _shifted(n: Node) -> Iterator[Node]:
    """Yield log-sum-exp or softmax in place of a logarithm or a quotient of a sum of exponentials."""
    if n.op.name == "log" and n.args[0].op.name == "softmax":
        yield over_axes("log_softmax", n.args[0].args[0], n.args[0].params[0])
    total = {"log": n.args[:1], "div": n.args[1:]}.get(n.op.name, ())
    while total and total[0].op.name in ("broadcast_to", "reshape"):
        total = total[0].args
    if not total or total[0].op.name != "einsum" or len(total[0].args) != 1:
        return
    (exponential,), ((axes,), kept) = total[0].args, total[0].params
    if exponential.op.name != "exp" or len(set(axes)) < len(axes) or list(kept) != sorted(kept):
        return
    summed = tuple(i for i, axis in enumerate(axes) if axis not in kept)
    if n.op.name == "log":
        yield reduce_axes("logsumexp", exponential.args[0], summed)
    elif n.args[0] is exponential:
        yield over_axes("softmax", exponential.args[0], summed)


def _guarded(n: Node) -> Node | None:
    """Return x*log(z), with the value 0 if x = z = 0; None for other products."""
    logs = [a for a in n.args if a.op.name == "log"] if n.op.name == "mul" else []
    if len(logs) != 1:
        return None
    (log,) = logs
    (x,) = (a for a in n.args if a is not log)
    x, (z,) = x.args[0] if x.op.name == "neg" else x, log.args
    zero = as_node(0)
    both = OPS["eq"](z, zero) if x is z else OPS["and_"](OPS["eq"](x, zero), OPS["eq"](z, zero))
    if both.shape != z.shape:
        return None
    safe = OPS["log"](OPS["where"](both, as_node(1), z))
    return OPS["mul"](*(safe if a is log else a for a in n.args))


def _mends(query: LintQuery, repaired: Node, losses: Sequence[Loss]) -> bool:
    """Tell whether a program is right at the points of loss and agrees with the old one elsewhere."""
    number = query.as_number(repaired)
    for loss in losses:
        point = loss.row.point
        values = query.points.evaluate([repaired], point)
        if values is None or not is_close(values[0], loss.row.y):
            return False
        for name in loss.frameworks if not loss.row.limit else ():
            run = backward(number, query.wrt, query.points, point, name)
            for w, exact in zip(query.trace.wrt, loss.row.gradients, strict=True):
                if run is None or (exact is not None and not is_close(run.gradients[w], exact)):
                    return False
    for batch in query.points.batches:
        both = query.points.evaluate([query.y, repaired], batch)
        if both is None:
            return False
        old, new = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in both))
        with np.errstate(invalid="ignore"):  # infinite in both forms
            apart = np.isfinite(old) & ~(np.abs(new - old) <= _CLOSE * (1 + np.abs(old)))
        # Near the loss the old form has few digits, so the exact value decides.
        vector = query.points.vector
        places = np.flatnonzero(apart).tolist() if vector else [0][: int(apart.any())]
        if len(places) > _UNLIKE:
            return False
        for i in places:
            exact = exact_values([query.y], single(query, batch, i))
            if exact is None or not is_close(new[i] if vector else new, exact[query.y]):
                return False
    return True


_FINDINGS = 3
_SHARP = 1e-9  # relative accuracy of the edge of a region
_SUMS = frozenset({"add", "sub"})
_SHOWN = 4  # number of inputs that are all shown
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
    elif row.limit:
        truth = f"it tends to {_short(entries(exact)[0])} {_limit_text(query, loss) or at}"
    else:
        truth = f"it is {_short(entries(exact)[0])} {at}"
    return f"{what} is {'NaN' if np.isnan(loss.found) else 'infinite'} {where}{place}; in exact arithmetic {truth}"


def _limit_text(query: LintQuery, loss: Loss) -> str | None:
    """Return as text which input moves towards the point of a limit, and which stay; None if there is no other."""
    point = {s: v[0] if query.points.vector else v for s, v in loss.row.point.items()}
    moving = [s for s in symbols_of([loss.first]) if s in point]
    still = {s.name: v for s, v in point.items() if s not in moving}
    if len(moving) != 1 or not still or len(point) > _SHOWN:
        return None
    (x,) = moving
    return f"as {point_text({x.name: point[x]}).replace(' = ', ' tends to ')}, with {point_text(still)}"


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
    own = query.kernel_text(point, loss.row.gradients) if loss.by is not None else ""
    if loss.unused:
        return f"{first}; the program takes another value there, and its backward pass is 0 times infinity; {own}"
    if loss.by is None:
        return f"{first}; symgrad also computes values as they are written, so it has the same problem"
    return f"{first}; {own}"


def _here(query: LintQuery, loss: Loss) -> str:
    """Return the point as text; of many arrays, only those that the step reads."""
    point = {s: v[0] if query.points.vector else v for s, v in loss.row.point.items()}
    below = topological([query.y if query.points.vector or len(point) <= _SHOWN else loss.first])
    read = {s.name: v for s, v in point.items() if s in below}
    rest = " and some values of the rest" if any(s not in below for s in point) else ""
    return f"at {point_text(read)}{rest}"


def _short(entry: Any) -> str:
    """Return a number with six digits, also below the range of floats."""
    tiny = arb(2) ** -_LONG < abs(entry) < sys.float_info.min
    return decimals(entry, 6) if tiny else f"{float(entry):.6g}"


def _power(value: Any) -> str:
    """Return the size of the first entry outside the range of floats, as a power of ten; "" if there is none."""
    for v in (abs(e) for e in entries(value) if isinstance(e, arb) and e != 0):
        if not sys.float_info.min <= v <= sys.float_info.max:
            return f"about 1e{math.floor(float(v.log_base(10)) + 1e-9):+d}"
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
        return _zeros(query, loss, args[0]) or here
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
        if np.any(beyond != lost) or np.any((np.isfinite(y) if loss.by is None else ~np.isfinite(y)) & lost):
            return here
    return f"where {edge.text(query, args[0])}"


def _zeros(query: LintQuery, loss: Loss, argument: Node) -> str | None:
    """Return as text where a factor and the argument of a logarithm are zero; None if the value is not lost there."""
    factor = next((a for a in loss.around.args if a is not loss.first), loss.first)
    factor = factor.args[0] if factor.op.name == "neg" else factor
    implied = True
    for batch in query.points.batches:
        values = query.points.evaluate([argument, factor, query.y], batch)
        if values is None:
            continue
        inner, other = np.broadcast_arrays(*(np.asarray(v, dtype=float) == 0 for v in values[:2]))
        implied &= bool(np.all(other[inner]))
        fine = np.isfinite(np.asarray(values[2], dtype=float))
        both = inner & other
        if np.any(both & fine if query.points.vector else both.any() & fine.all()):
            return None
    one, more = query.text(argument), query.text(factor)
    if loss.first.shape:
        return (
            f"where an entry of {one} is 0" if implied else f"where {more} and {one} are 0 in the same entry"
        )
    return f"where {one} = 0" if implied else f"where {more} = 0 and {one} = 0"


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
