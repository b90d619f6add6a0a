"""A gradient that is zero although derivative paths lead there: what arrives adds up to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symgrad.analysis.explain.naming import join_texts
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.layout import full, is_zero
from symgrad.rewrite.pipeline import canonical
from symgrad.verification.verdict import Verdict

__all__ = ["find"]

_SECONDS = 1.0
_LARGEST = 400  # equations of a program in which a sample is sought


def find(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield what one differentiates by, where the gradient is proved to be zero and is no structural one."""
    trace = asked.trace
    open_ = [(w, g) for w, g, n in zip(trace.wrt, trace.gradients, trace.nothing, strict=True) if n is None]
    for w, gradient in open_:
        if not asked.seems_zero(gradient, [s.contribution for s in trace.steps if s.target is w]):
            continue
        verdict = _vanishes(asked, gradient)
        if verdict is None or verdict.status != "proved":
            continue
        steps = [s for s in trace.steps if s.target is w]
        sent = canonical([s.contribution for s in steps]).nodes
        some = [(s.node, c) for s, c in zip(steps, sent, strict=True) if not is_zero(c)]
        parts = join_texts([f"{asked.body(c)} from {asked.text(n)}" for n, c in some], 4)
        if len(some) > 1:
            reason = f"what arrives at {asked.text(w)} adds up to 0: {parts}"
        else:
            reason = f"{asked.naming.body(gradient, 100)} is 0" + (f": {parts}" if parts else "")
        found = Sighting(
            w,
            f"the gradient of {asked.text(asked.y)} by {asked.text(w)} is zero everywhere: it cancels",
            reason,
            cure="a stop_gradient around one of the values that cancel lets the gradient of the other through",
            verdict=verdict,
        )
        yield _scored(asked, w, found, verdict)


def _vanishes(asked: LintQuestion, gradient: Node) -> Verdict | None:
    (short,) = canonical([gradient], drop_stops=True).nodes
    if is_zero(short):
        return Verdict("proved", "the gradient simplifies to 0")
    return asked.equal(gradient, full(as_node(0), gradient.shape), _SECONDS)


def _scored(asked: LintQuestion, w: Node, found: Sighting, cancelled: Verdict) -> Sighting:
    """Repair by a stop_gradient around a reparameterised sample, where the gradient is refuted to be zero then."""
    z = _sample(asked, w)
    if z is None:
        return found
    (repaired,) = substitute([asked.y], {z: OPS["stop_gradient"](z)})
    (gradient,) = pull_back([asked.as_number(repaired)], [as_node(1)], [w]).gradients
    verdict = _vanishes(asked, gradient)
    if verdict is None or verdict.status != "refuted":
        return found
    name, by = asked.text(z), asked.text(w)
    (short,) = canonical([gradient], drop_stops=True).nodes
    inputs = [i for i in symbols_of([z]) if i.declaration.distribution is None]
    held = [asked.text(v) for v in dict.fromkeys([*asked.wrt, *inputs]) if Edges(z, [v]).passes(z)]
    why = (
        f"{cancelled.why}; stop_gradient has the value of its argument, so values are the same bit for bit; gradients "
        f"by {join_texts(held)} are those with {name} as data, that by {by} is {asked.naming.body(short, 100)}, which "
        "is proved not to be zero"
    )
    cure = f"{found.cure}: write stop_gradient({name}) wherever {name} is read"
    return replace(found, repaired=repaired, cure=cure, verdict=replace(cancelled, why=why))


def _sample(asked: LintQuestion, w: Node) -> Node | None:
    """Return the first value that noise and an input have made, where the program reads all its noise through it."""
    if len(asked.order) > _LARGEST:
        return None
    noise = {s for s in symbols_of([asked.y]) if s.declaration.distribution is not None}
    random = set(noise)
    edges = Edges(asked.y, [w])
    for n in asked.order:
        if any(a in random for a in n.args):
            random.add(n)
        if n in random and n is not asked.y and n is not w and edges.passes(n):
            return n if noise.isdisjoint(topological([asked.y], until={n})) else None
    return None
