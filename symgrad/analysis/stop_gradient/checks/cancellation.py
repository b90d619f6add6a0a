"""Check for gradients that are zero although derivative paths exist, because the contributions cancel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.layout import full, is_zero
from symgrad.ops.control import with_slope
from symgrad.rewrite.pipeline import canonical
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict

_SECONDS = 1.0
_VALUES = 4  # number of named values that are tried
_LARGEST = 400  # number of equations of the largest program that is searched for a reparameterised sample


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield the members of wrt whose gradient is proved to be zero although it is not structurally zero."""
    trace = query.trace
    open_ = [(w, g) for w, g, n in zip(trace.wrt, trace.gradients, trace.nothing, strict=True) if n is None]
    for w, gradient in open_:
        if not query.seems_zero(gradient, [s.contribution for s in trace.steps if s.target is w]):
            continue
        verdict = _vanishes(query, gradient)
        if verdict is None or verdict.status != "proved":
            continue
        steps = [s for s in trace.steps if s.target is w]
        sent = canonical([s.contribution for s in steps]).nodes
        some = [(s.node, c) for s, c in zip(steps, sent, strict=True) if not is_zero(c)]
        parts = join_texts([f"{query.body(c)} from {query.text(n)}" for n, c in some], 4)
        if len(some) > 1:
            reason = f"what arrives at {query.text(w)} adds up to 0: {parts}"
        else:
            reason = f"{query.naming.body(gradient, 100)} is 0" + (f": {parts}" if parts else "")
        found = Sighting(
            next((n for n, _ in some if query.places([n])), query.y),
            f"the gradient of {query.text(query.y)} by {query.text(w)} is zero everywhere: it cancels",
            reason,
            cure=_cure(query, w),
            verdict=verdict,
            also=(*(n for n, _ in some), w),
        )
        yield _with_stopped_value(query, w, found, verdict)


def _cure(query: LintQuery, w: Node) -> str:
    """Return what to differentiate instead; without stop_gradients, a zero gradient is the gradient of a constant."""
    y, by = query.text(query.y), query.text(w)
    if any("stops" in n.op.facts or n.op is with_slope for n in query.order):
        return "take the stop_gradient away that was not meant for it, or put it around another value"
    if any(n.dtype != "real" or "piecewise-constant" in n.op.facts for n in query.order if n.args):
        return f"{y} changes with {by} only in steps: differentiate a value that changes smoothly with {by}"
    (short,) = canonical([query.y]).nodes
    same = "the same" if w in topological([short]) else query.naming.body(short)
    return f"{y} is {same} for every {by}: differentiate a value that changes with {by}"


def _vanishes(query: LintQuery, gradient: Node) -> Verdict | None:
    (short,) = canonical([gradient], drop_stops=True).nodes
    if is_zero(short):
        return Verdict("proved", "the gradient simplifies to 0")
    return query.equal(gradient, full(as_node(0), gradient.shape), _SECONDS)


def _with_stopped_value(query: LintQuery, w: Node, found: Sighting, cancelled: Verdict) -> Sighting:
    """Repair with a stop_gradient around a value that cancels, if the gradient is then proved not to be zero.

    A reparameterised sample is tried first, then the values that the program names.
    """
    for z in _values_to_stop(query, w):
        (repaired,) = substitute([query.y], {z: OPS["stop_gradient"](z)})
        (gradient,) = pull_back([query.as_number(repaired)], [as_node(1)], [w]).gradients
        verdict = _vanishes(query, gradient)
        if verdict is not None and verdict.status == "refuted":
            return _stopped(query, w, z, repaired, gradient, replace(found, verdict=cancelled))
    return found


def _values_to_stop(query: LintQuery, w: Node) -> Iterator[Node]:
    sample = _sample(query, w)
    if sample is not None:
        yield sample
    edges = Edges(query.y, [w])
    ends = (query.y, w, sample)
    named = [n for n in query.order if n in query.naming.names and n not in ends and edges.passes(n)]
    yield from named[:_VALUES]


def _stopped(query: LintQuery, w: Node, z: Node, repaired: Node, gradient: Node, found: Sighting) -> Sighting:
    assert found.verdict is not None
    name, by = query.text(z), query.text(w)
    (short,) = canonical([gradient], drop_stops=True).nodes
    inputs = [i for i in symbols_of([z]) if i.declaration.distribution is None]
    held = [query.text(v) for v in dict.fromkeys([*query.wrt, *inputs]) if Edges(z, [v]).passes(z)]
    why = (
        f"{found.verdict.why}; stop_gradient has the value of its argument, so values are the same bit for bit; "
        f"gradients by {join_texts(held)} are those with {name} as data, that by {by} is "
        f"{query.naming.body(short, 100)}, which is proved not to be zero"
    )
    cure = query.code_text(
        f"write {{}} wherever {{}} is read: {by} receives a gradient then, with {name} as data",
        OPS["stop_gradient"](z),
        query.naming.names.get(z, z),
    )
    return replace(found, repaired=repaired, cure=cure or found.cure, verdict=replace(found.verdict, why=why))


def _sample(query: LintQuery, w: Node) -> Node | None:
    """Return the first value computed from noise and an input, if nothing else in the program reads noise."""
    if len(query.order) > _LARGEST:
        return None
    noise = {s for s in symbols_of([query.y]) if s.declaration.distribution is not None}
    random = set(noise)
    edges = Edges(query.y, [w])
    for n in query.order:
        if any(a in random for a in n.args):
            random.add(n)
        if n in random and n is not query.y and n is not w and edges.passes(n):
            return n if noise.isdisjoint(topological([query.y], until={n})) else None
    return None
