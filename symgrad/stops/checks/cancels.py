"""A gradient that is zero although derivative paths lead there: what arrives adds up to nothing."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.graph import Node, as_node
from symgrad.ops.array.layout import full, is_zero
from symgrad.reasons.naming import join_texts
from symgrad.rules.pipeline import canonical
from symgrad.stops.checks.asked import LintQuestion, Sighting
from symgrad.verdicts.verdict import Verdict

__all__ = ["find"]

_SECONDS = 1.0


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
        yield Sighting(
            w,
            f"the gradient of {asked.text(asked.y)} by {asked.text(w)} is zero everywhere: it cancels",
            reason,
            cure="a stop_gradient around one of the values that cancel lets the gradient of the other through",
            verdict=verdict,
        )


def _vanishes(asked: LintQuestion, gradient: Node) -> Verdict | None:
    (short,) = canonical([gradient], drop_stops=True).nodes
    if is_zero(short):
        return Verdict("proved", "the gradient simplifies to 0")
    return asked.equal(gradient, full(as_node(0), gradient.shape), _SECONDS)
