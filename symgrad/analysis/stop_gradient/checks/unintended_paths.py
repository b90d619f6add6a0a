"""Noise that no gradient is to carry, and inputs that are to receive none: those that get through all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symgrad.analysis.explain.derivation import noise_in
from symgrad.analysis.explain.naming import join_texts
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.layout import full, is_zero
from symgrad.ops.control import straight_through
from symgrad.ops.random.laws import mean as mean_of
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict

__all__ = ["frozen", "noise"]

_LARGE = 400  # equations of a program in which noise is not sought between kinks


def noise(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield the named random inputs that enter the gradient."""
    wrt = [w for w in asked.wrt if w not in asked.noise]
    if not asked.noise or not wrt or not asked.edges.reached & set(wrt):
        return
    told = noise_in(asked.scalar, wrt, asked.noise, asked.naming, quick=len(asked.order) > _LARGE)
    for u in asked.noise:
        verdict = told.get(u.name)
        if verdict is None or verdict.enters is False:
            continue
        yield _noisy(asked, u, verdict)


def _noisy(asked: LintQuestion, u: Node, told: NoiseVerdict) -> Sighting:
    name = asked.text(asked.y)
    message = f"{told.headline} of {name}"
    crossed = [n for n in told.path_nodes if "stops" in n.op.facts]
    reason = f"{told.reason}. Path: {' <- '.join(told.path)}" if told.path else told.reason
    cure = next((c.cure for c in told.clean if c.cure), None)
    place = told.path_nodes[0] if told.path_nodes else None
    unrepaired = Sighting(place, message, reason, cure=cure, also=told.path_nodes)
    mean = mean_of(u)
    if mean is None:
        return unrepaired
    try:
        (calm,) = substitute([asked.y], {u: full(mean, u.shape)})
    except SymgradError:  # a position that is half a number
        return replace(unrepaired, node=None)
    # Of what takes the place of the noise only derivatives count, so it may be written shorter.
    repaired = straight_through(asked.y, canonical([calm]).nodes[0] if len(asked.order) <= _LARGE else calm)
    if cure is None:
        moved = (
            f"move the stop_gradient from {asked.body(crossed[0])} around all that reads {u.name}: "
            if crossed
            else ""
        )
        at = asked.body(mean)
        cure = (
            f"{moved}write stop_gradient({name}) - (stop_gradient(c) - c), where c is {name} with {u.name} = {at}; "
            f"sg.ignore_noise({name}, {u.name!r}) makes it"
        )
    verdict = Verdict(
        "proved",
        f"a value minus itself is zero, so the value is that of {name}; all that is not stopped is {name} with "
        f"{u.name} = {asked.body(mean)}, so the gradient is that of it",
    )
    return replace(unrepaired, repaired=repaired, cure=cure, verdict=verdict)


def frozen(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield what is to receive no gradient, and receives one."""
    for f in asked.frozen:
        edges = Edges(asked.y, [f])
        if not edges.passes(f):
            continue
        (gradient,) = pull_back([asked.scalar], [as_node(1)], [f]).gradients
        if asked.seems_zero(gradient) and is_zero(canonical([gradient], drop_stops=True).nodes[0]):
            continue
        path = edges.path(asked.y, f)
        named = [asked.text(n) for n in path if n in asked.naming.names or n in (asked.y, f)]
        stops = [n for n in asked.order if "stops" in n.op.facts and f in topological([n])]
        beside = (
            f"; {join_texts([asked.body(s) for s in stops])} {'holds' if len(stops) == 1 else 'hold'} other paths back"
            if stops
            else ""
        )
        (repaired,) = substitute([asked.y], {f: OPS["stop_gradient"](f)})
        last = path[-2] if len(path) > 1 else None
        yield Sighting(
            last,
            f"{asked.text(f)} receives a gradient from {asked.text(asked.y)}",
            f"a derivative path leads to it: {' <- '.join(named)}{beside}",
            repaired,
            f"write stop_gradient({asked.text(f)}) wherever {asked.text(f)} is read"
            + (f", as in {asked.body(last)}" if last is not None else ""),
            Verdict(
                "proved",
                f"stop_gradient has the value of its argument, and all that reads {asked.text(f)} is unchanged: values "
                f"and derivatives by other inputs are the same, those by {asked.text(f)} are zero",
            ),
            path,
        )
