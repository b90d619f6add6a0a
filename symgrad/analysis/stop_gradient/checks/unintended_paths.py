"""Checks for unintended paths: noise that enters the gradient, and frozen values that receive a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symgrad.analysis.explain.derivation import noise_in
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.layout import full, is_zero
from symgrad.ops.control import straight_through
from symgrad.ops.random.laws import mean as mean_of
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict

_LARGE = 400  # number of equations above which kinks are not searched for noise


def noise(query: LintQuery) -> Iterator[Sighting]:
    """Yield the named random inputs that enter the gradient."""
    wrt = [w for w in query.wrt if w not in query.noise]
    if not query.noise or not wrt or not query.edges.reached & set(wrt):
        return
    verdicts = noise_in(query.scalar, wrt, query.noise, query.naming, quick=len(query.order) > _LARGE)
    for u in query.noise:
        verdict = verdicts.get(u.name)
        if verdict is not None and verdict.enters is not False:
            yield _noisy(query, u, verdict)


def _noisy(query: LintQuery, u: Node, found: NoiseVerdict) -> Sighting:
    name = query.text(query.y)
    message = f"{found.headline} of {name}"
    crossed = [n for n in found.path_nodes if "stops" in n.op.facts]
    reason = f"{found.reason}. Path: {' <- '.join(found.path)}" if found.path else found.reason
    cure = next((c.cure for c in found.clean if c.cure), None)
    place = found.path_nodes[0] if found.path_nodes else None
    unrepaired = Sighting(place, message, reason, cure=cure, also=found.path_nodes)
    mean = mean_of(u)
    if mean is None:
        return unrepaired
    try:
        (calm,) = substitute([query.y], {u: full(mean, u.shape)})
    except SymgradError:  # for instance, an index whose mean is not an integer
        return replace(unrepaired, node=None)
    # Only the derivatives of the substitute matter, so it may be simplified.
    repaired = straight_through(query.y, canonical([calm]).nodes[0] if len(query.order) <= _LARGE else calm)
    if cure is None:
        cure = (
            f"write stop_gradient({name}) - (stop_gradient(c) - c), where c is {name} with {u.name} = "
            f"{query.body(mean)}; sg.ignore_noise({name}, {u.name!r}) makes it"
        )
        if crossed:
            old = query.body(crossed[0])
            cure = f"move the stop_gradient from {old} around all that reads {u.name}: {cure}"
    verdict = Verdict(
        "proved",
        f"a value minus itself is zero, so the value is that of {name}; all that is not stopped is {name} with "
        f"{u.name} = {query.body(mean)}, so the gradient is that of it",
    )
    return replace(unrepaired, repaired=repaired, cure=cure, verdict=verdict)


def frozen(query: LintQuery) -> Iterator[Sighting]:
    """Yield the frozen values that receive a gradient."""
    for f in query.frozen:
        edges = Edges(query.y, [f])
        if not edges.passes(f):
            continue
        (gradient,) = pull_back([query.scalar], [as_node(1)], [f]).gradients
        if query.seems_zero(gradient) and is_zero(canonical([gradient], drop_stops=True).nodes[0]):
            continue
        path = edges.path(query.y, f)
        named = [query.text(n) for n in path if n in query.naming.names or n in (query.y, f)]
        stops = [n for n in query.order if "stops" in n.op.facts and f in topological([n])]
        beside = (
            f"; {join_texts([query.body(s) for s in stops])} {'holds' if len(stops) == 1 else 'hold'} other paths back"
            if stops
            else ""
        )
        (repaired,) = substitute([query.y], {f: OPS["stop_gradient"](f)})
        last = path[-2] if len(path) > 1 else None
        yield Sighting(
            last,
            f"{query.text(f)} receives a gradient from {query.text(query.y)}",
            f"a derivative path leads to it: {' <- '.join(named)}{beside}",
            repaired,
            f"write stop_gradient({query.text(f)}) wherever {query.text(f)} is read"
            + (f", as in {query.body(last)}" if last is not None else ""),
            Verdict(
                "proved",
                f"stop_gradient has the value of its argument, and all that reads {query.text(f)} is unchanged: values "
                f"and derivatives by other inputs are the same, those by {query.text(f)} are zero",
            ),
            path,
        )
