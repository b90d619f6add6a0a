"""Check for gradients that are zero although derivative paths exist, because the contributions cancel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symgrad.analysis.explain.naming import join_texts
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.layout import full, is_zero
from symgrad.rewrite.pipeline import canonical
from symgrad.verification.verdict import Verdict

__all__ = ["find"]

_SECONDS = 1.0
_LARGEST = 400  # equations of the largest program that is searched for a reparameterised sample


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
            w,
            f"the gradient of {query.text(query.y)} by {query.text(w)} is zero everywhere: it cancels",
            reason,
            cure="a stop_gradient around one of the values that cancel lets the gradient of the other through",
            verdict=verdict,
        )
        yield _with_stopped_sample(query, w, found, verdict)


def _vanishes(query: LintQuery, gradient: Node) -> Verdict | None:
    (short,) = canonical([gradient], drop_stops=True).nodes
    if is_zero(short):
        return Verdict("proved", "the gradient simplifies to 0")
    return query.equal(gradient, full(as_node(0), gradient.shape), _SECONDS)


def _with_stopped_sample(query: LintQuery, w: Node, found: Sighting, cancelled: Verdict) -> Sighting:
    """Repair by a stop_gradient around a reparameterised sample, if the gradient is then proved not to be zero."""
    z = _sample(query, w)
    if z is None:
        return found
    (repaired,) = substitute([query.y], {z: OPS["stop_gradient"](z)})
    (gradient,) = pull_back([query.as_number(repaired)], [as_node(1)], [w]).gradients
    verdict = _vanishes(query, gradient)
    if verdict is None or verdict.status != "refuted":
        return found
    name, by = query.text(z), query.text(w)
    (short,) = canonical([gradient], drop_stops=True).nodes
    inputs = [i for i in symbols_of([z]) if i.declaration.distribution is None]
    held = [query.text(v) for v in dict.fromkeys([*query.wrt, *inputs]) if Edges(z, [v]).passes(z)]
    why = (
        f"{cancelled.why}; stop_gradient has the value of its argument, so values are the same bit for bit; gradients "
        f"by {join_texts(held)} are those with {name} as data, that by {by} is {query.naming.body(short, 100)}, which "
        "is proved not to be zero"
    )
    cure = f"{found.cure}: write stop_gradient({name}) wherever {name} is read"
    return replace(found, repaired=repaired, cure=cure, verdict=replace(cancelled, why=why))


def _sample(query: LintQuery, w: Node) -> Node | None:
    """Return the first value computed from noise and an input, if it is the only reader of noise in the program."""
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
