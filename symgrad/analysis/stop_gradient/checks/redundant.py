"""Check for stop_gradients whose removal changes neither the value nor derivatives."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.checks.dead import dead_stops, stops_in, untouched
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.trace import ZeroReason
from symgrad.autodiff.vjp import pull_back
from symgrad.autodiff.zeros import classify
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import full
from symgrad.ops.control import without_stops
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict, derivatives_text

_SECONDS = 2.0  # seconds for a proof that a stop_gradient changes nothing
_PROOFS = 8
_SHARP = 1e-9


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield the stop_gradients that block no derivative, or only derivatives that are zero or cancel."""
    inputs = [i for i in symbols_of([query.y]) if i.declaration.distribution is None]
    # An ordinary detach stops an input with respect to which the user does not differentiate.
    wrt = tuple(dict.fromkeys([*query.wrt, *query.frozen, *query.variables, *inputs]))
    dead = dead_stops(query)
    dropped = set(dead)
    active = Edges(query.y, wrt, dropped).active
    open_: list[Node] = []
    for s in stops_in(query):
        if s in dropped:
            continue
        if s.args[0] in active:
            open_.append(s)
            continue
        # An inactive argument stays inactive without its stop_gradient, so its removal does not change later answers.
        dropped.add(s)
        reason = _why(query, s.args[0], wrt)
        yield _sighting(query, s, reason, untouched(reason))
    for s, slope in _without_effect(query, open_, wrt, dropped):
        # Remove it together with those found before: if two block the same path, one must stay.
        repaired = without_stops([query.y], {*dropped, s})[query.y]
        flat = query.equal(slope, full(as_node(0), slope.shape), _SECONDS)
        if flat is not None and flat.status == "proved":
            dropped.add(s)
            reason = f"the derivative of {query.text(s.args[0])} is zero everywhere, and so are those of every order"
            yield _sighting(query, s, reason, replace(flat, why=f"{reason}: {flat.why}"), repaired)
            continue
        verdict = query.same(repaired, _SECONDS)
        if verdict is None:
            continue
        proved = _order(verdict)
        if verdict.status == "proved":
            reason = f"what it holds back is zero or adds up to zero: {verdict.why}"
        elif proved:
            reason = f"proved up to the {derivatives_text(proved)}; {verdict.why}"
        else:
            continue
        dropped.add(s)
        yield _sighting(query, s, reason, verdict, repaired)


def _sighting(
    query: LintQuery, s: Node, reason: str, verdict: Verdict, repaired: Node | None = None
) -> Sighting:
    (inner,) = s.args
    return Sighting(
        s,
        f"{query.body(s)} is redundant: without it the value and the derivatives are the same",
        reason,
        without_stops([query.y], {s})[query.y] if repaired is None else repaired,
        query.code_text("write {} instead of {}", query.naming.names.get(inner, inner), s),
        verdict,
    )


def _order(verdict: Verdict) -> int:
    """Return the highest order up to which derivatives are proved equal; 0 if a gradient is undecided or refuted."""
    if verdict.status == "refuted" or not verdict.of_gradients:
        return 0
    orders = {1: list(verdict.of_gradients.values())}
    for names, v in verdict.of_higher.items():
        orders.setdefault(len(names), []).append(v)
    proved = 0
    for k in sorted(orders):
        if k != proved + 1 or any(v.status != "proved" for v in orders[k]):
            break
        proved = k
    return proved


def _why(query: LintQuery, inner: Node, wrt: Sequence[Node]) -> str:
    """Return as text why a value has no derivative."""
    text = query.text(inner)
    read = symbols_of([inner])
    if not read:
        return f"{text} is a constant"
    if inner.dtype != "real":
        return f"{text} takes whole numbers, which have no derivative"
    named = join_texts([s.name for s in read])
    kinds = dict(zip(wrt, classify([inner], wrt, ()), strict=True)) if wrt else {}
    if all(k in (ZeroReason.DISCONNECTED, ZeroReason.NO_TANGENT) for k in kinds.values()):
        if all(s.declaration.distribution is not None for s in read):
            return f"{text} reads random inputs alone ({named}): they are data"
        by = join_texts([query.text(w) for w in wrt])
        return f"{text} reads {named}, and does not depend on {by}"
    on = join_texts([query.text(w) for w, k in kinds.items() if k in (ZeroReason.ZERO, ZeroReason.STOPPED)])
    return f"{text} has no derivative by {on}: every path through it ends in a step or another stop_gradient"


def _without_effect(
    query: LintQuery, stops: Sequence[Node], wrt: Sequence[Node], dropped: Collection[Node]
) -> list[tuple[Node, Node]]:
    """Return the stop_gradients that numerically change no gradient, with the slopes of their arguments.

    Each is removed alone, and together with those that are already removed.

    Args:
        query: the program.
        stops: the candidates.
        wrt: the inputs.
        dropped: the stop_gradients that are already removed.
    """
    if not stops:
        return []
    matters, _ = _in_numbers(query, stops, wrt, ())
    more, slopes = _in_numbers(query, stops, wrt, dropped)
    quiet = [(s, slope) for s, slope in zip(stops, slopes, strict=True) if s not in matters and s not in more]
    return quiet[:_PROOFS]


def _in_numbers(
    query: LintQuery, stops: Sequence[Node], wrt: Sequence[Node], dropped: Collection[Node]
) -> tuple[set[Node], list[Node]]:
    """Return the stop_gradients whose removal changes the gradient at a point, and the slopes of all arguments."""
    rest = without_stops([query.y], dropped)
    held = [rest[s] for s in stops]
    number = query.as_number(rest[query.y])
    cotangents = pull_back([number], [as_node(1)], held).gradients
    moving = {
        rest.get(w, w): symbol(Declaration(f"__{i}", REAL, shape=w.shape))
        for i, w in enumerate(wrt)
        if w.dtype == "real"
    }
    # One random direction of all inputs is enough: a stop_gradient matters if its product is not zero there.
    slopes = push_forward([s.args[0] for s in held], moving)
    matters: set[Node] = set()
    for batch in query.points.rough():
        directions = {v: query.points.direction(w, batch) for w, v in moving.items()}
        values = query.points.evaluate([number, *cotangents, *slopes], {**batch, **directions})
        if values is None:
            continue
        y, *both = (np.asarray(v, dtype=float) for v in values)
        for s, c, d in zip(stops, both[: len(stops)], both[len(stops) :], strict=True):
            with np.errstate(all="ignore"):
                changed = np.abs(c * d) if query.points.vector else np.abs(np.sum(c * d))
                scale = _SHARP * (1 + np.abs(y))
            if np.any(np.isfinite(changed) & np.isfinite(y) & (changed > scale)):
                matters.add(s)
    return matters, slopes
