"""Checks for inputs without a gradient: disconnected, stopped, zero and integer inputs, each with its own code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from symgrad.analysis.explain.naming import rule_of
from symgrad.analysis.explain.zero_reason import ends_of, why_nothing
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.repairs import led_to, passed_on
from symgrad.autodiff.trace import ZeroReason
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import symbols_of
from symgrad.ops.array.layout import is_zero
from symgrad.ops.control import straight_through
from symgrad.rewrite.pipeline import canonical
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict

_REPAIRED = 8  # number of findings of a check that get a repaired program
_LARGEST = 400  # number of equations of the largest program whose gradient is simplified to find a zero
_EACH = ", and "  # stands between the lines of a cure


def _kind(
    kind: ZeroReason,
    message: Callable[[str, str], str],
    cure: str | None,
    repair: Callable[[LintQuery, Node, Sighting], Sighting] | None = None,
) -> Callable[[LintQuery], Iterator[Sighting]]:
    """Return a check that yields the inputs whose gradient is zero for one given reason."""

    def find(query: LintQuery) -> Iterator[Sighting]:
        if not query.named:
            return  # if nobody named the input, it may be data
        trace, y = query.trace, query.text(query.y)
        count = 0
        for i, (w, nothing) in enumerate(zip(query.wrt, trace.nothing, strict=True)):
            if nothing is not kind or (kind is ZeroReason.DISCONNECTED and w in query.variables):
                continue
            ends: list[Node] = ends_of(trace, i)
            reason = why_nothing(trace, i, query.naming) or ""
            found = Sighting(
                ends[0] if ends else w, message(y, query.text(w)), reason, cure=cure, also=tuple(ends)
            )
            count += 1
            yield found if repair is None or count > _REPAIRED else repair(query, w, found)

    return find


def _without_stops(query: LintQuery, w: Node, found: Sighting) -> Sighting:
    """Repair by removing the stop_gradients on the way to an input, if a gradient then arrives at the input."""
    program, through = passed_on(query.y, [w], steps=False)
    if not through or _still_zero(query, program, w):
        return found
    pairs = [p for s in through for p in (query.naming.names.get(s.args[0], s.args[0]), s)]
    gone = join_texts([query.body(s) for s in through])
    verdict = Verdict(
        "proved",
        f"stop_gradient has the value of its argument, so values are the same bit for bit; the gradient by "
        f"{query.text(w)} is that of the program without {gone}{_others(query, w, through)}",
    )
    line = query.code_text(f"write {_EACH.join(['{} for {}'] * len(through))}", *pairs)
    cure = found.cure if line is None else f"{found.cure}: {line}"
    return replace(found, repaired=program, cure=cure, verdict=verdict)


def _straight_through(query: LintQuery, w: Node, found: Sighting) -> Sighting:
    """Repair with straight-through gradients of steps that round, if a gradient then arrives at the input."""
    program, through = passed_on(query.y, [w], steps=True)
    if not through or _still_zero(query, program, w) or not query.keeps_bits(program):
        return _with_slope(query, w, found)
    pairs = [p for n in through for p in (straight_through(n, n.args[0]), n)]
    line = query.code_text(f"write {_EACH.join(['{} for {}'] * len(through))}", *pairs)
    names = join_texts([query.body(n) for n in through])
    each = "its argument" if len(through) == 1 else "their arguments"
    verdict = Verdict(
        "proved",
        f"a value minus itself is zero, so the value is the same bit for bit where {each} "
        f"{'is' if len(through) == 1 else 'are'} finite; all of {names} that is not stopped is {each}: the gradient "
        f"is that with the derivative 1 of {join_texts(list(dict.fromkeys(rule_of(n) for n in through)))}"
        f"{_others(query, w, through)}",
    )
    cure = found.cure if line is None else f"pass the gradient straight through: {line}"
    return replace(found, repaired=program, cure=cure, verdict=verdict)


def _with_slope(query: LintQuery, w: Node, found: Sighting) -> Sighting:
    """Name the step that should get a gradient, if it is a number near the input or has the input's shape."""
    n, x = found.node, query.text(w)
    if n is None or n.dtype != "real" or n.shape != w.shape or n is w:
        return found
    line = query.code_text(
        f"sg.with_gradient(forward={{}}, backward_of={x}) has its value and the gradient of {x}", n
    )
    return found if line is None else replace(found, cure=f"{found.cure}: {line}")


def _others(query: LintQuery, w: Node, through: Sequence[Node]) -> str:
    """Return as text the other inputs whose gradients change."""
    inputs = [i for i in symbols_of([query.y]) if i.dtype == "real" and i.declaration.distribution is None]
    rest = [o for o in dict.fromkeys([*query.wrt, *inputs]) if o is not w and o.dtype == "real"]
    below = led_to(query.y, through)
    changed = [query.text(o) for o in rest if o in below]
    if not changed:
        return "; no other one changes" if rest else ""
    return f", and so {'is that' if len(changed) == 1 else 'are those'} by {join_texts(changed)}"


def _still_zero(query: LintQuery, program: Node, w: Node) -> bool:
    """Tell whether the gradient of another program is zero, or seems to be zero."""
    if query.remaining <= 0:
        return True
    trace = pull_back([query.as_number(program)], [as_node(1)], [w])
    (gradient,) = trace.gradients
    if trace.nothing[0] is not None or is_zero(gradient):
        return True
    if len(query.order) <= _LARGEST and is_zero(canonical([gradient], drop_stops=True).nodes[0]):
        return True
    return query.seems_zero(gradient, [s.contribution for s in trace.steps if s.target is w])


disconnected = _kind(
    ZeroReason.DISCONNECTED,
    lambda y, x: f"the gradient of {y} by {x} is zero: they are not connected",
    "differentiate by what the value reads, or read it where it was meant to be read",
)
stopped = _kind(
    ZeroReason.STOPPED,
    lambda y, x: f"the gradient of {y} by {x} is zero: every path is stopped",
    "take the stop_gradient away that was not meant for it",
    _without_stops,
)
zero = _kind(
    ZeroReason.ZERO,
    lambda y, x: f"the gradient of {y} by {x} is zero: every derivative on the way is 0",
    "give the step the gradient that you mean, or differentiate a smooth function in its place",
    _straight_through,
)
whole = _kind(
    ZeroReason.NO_TANGENT,
    lambda y, x: f"there is no gradient of {y} by {x}",
    "declare it real, or leave it out",
)


def unused(query: LintQuery) -> Iterator[Sighting]:
    """Yield the variables that the program does not read."""
    read = set(query.order)
    used = [query.text(v) for v in query.variables if v in read]
    for v in query.variables:
        if v not in read:
            yield Sighting(
                v,
                f"{query.text(query.y)} does not depend on the variable {query.text(v)}",
                "an optimiser never moves it, but for weight decay",
                cure=f"leave it out: variables={used}",
            )
