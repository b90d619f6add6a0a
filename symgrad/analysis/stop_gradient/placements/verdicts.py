"""Verdicts on sets of stop_gradients: whether a gradient is the reference, and why no set gives it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from symgrad.analysis.explain.naming import Naming, rule_of
from symgrad.analysis.explain.noise.dependence import Paths
from symgrad.analysis.explain.noise.verdict import ResidualUse
from symgrad.analysis.stop_gradient.placements.impossible import Refusal
from symgrad.analysis.stop_gradient.placements.sample_points import CutProblem
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ops.control import without_stops
from symgrad.rewrite.pipeline import canonical
from symgrad.support.texts import join_texts
from symgrad.verification.decide import decide, equal
from symgrad.verification.verdict import Verdict

_LONG = 400
"""The number of equations above which gradients are first compared by their normal forms."""


def same_gradient(a: Node, b: Node, limit: float) -> Verdict:
    """Decide whether two gradients have equal values.

    If the gradients are long, or the engine reaches no verdict, equal formulas or equal normal forms are proof enough.
    """
    order = topological([a, b])
    made = without_stops([a, b], {n for n in order if "stops" in n.op.facts})

    def one_formula() -> Verdict | None:
        if made[a] is made[b]:
            return Verdict("proved", "the two gradients are the same formula")
        first, second = canonical([a, b], drop_stops=True).nodes
        return Verdict("proved", "the two gradients have the same normal form") if first is second else None

    if len(order) > _LONG and (known := one_formula()) is not None:
        return known
    found = decide(equal(a, b, None), limit)
    if found.status in ("supported", "undecided") and (known := one_formula()) is not None:
        return known
    words = found.why.replace("the two sides", "the two gradients").replace("both sides", "both gradients")
    return replace(found, why=words)


def why_none(problem: CutProblem, noisy: Sequence[bool], refusal: Refusal, naming: Naming) -> str:
    """Return why no set of stop_gradients will do: because of the edge on every path, or the number of refuted sets.

    Args:
        problem: the program.
        noisy: for each edge, whether its pullback reads noise.
        refusal: the proof.
        naming: the names for the reason.
    """
    graph, region = problem.graph, refusal.region
    by, noise = (join_texts([naming.text(n) for n in some]) for some in (graph.wrt, problem.noise))
    top = naming.text(graph.y)
    k = next((k for k, n in enumerate(noisy) if n), None)
    if len(region.places) == 1 and k is not None and (step := graph.edges[k].step) is not None:
        reading = _reading(problem, step.residuals, rule_of(step.node), naming)
        if reading is not None:
            only = "the only derivative path" if len(graph.classes) == 1 else "every derivative path"
            kept = f"makes the gradient depend on {noise}" if refusal.varies else "gives another gradient"
            return (
                f"{only} from {top} to {by} passes {rule_of(step.node)}, and {reading.sentence}. Kept, it {kept}; "
                "cut, it leaves a gradient of 0, and without the noise it is not 0"
            )
    if region.top is graph.y and region.bottom is None:
        return (
            f"each of the {refusal.choices} sets of derivative paths from {top} to {by} that stop_gradients can "
            "leave gives another gradient at an exact point"
        )
    low = by if region.bottom is None else naming.text(region.bottom)
    return (
        f"{noise} enters between {naming.text(region.top)} and {low}, which every derivative path passes: each of the "
        f"{refusal.choices} sets of paths that stop_gradients can leave there passes on what depends on {noise}, or "
        "nothing"
    )


def _reading(problem: CutProblem, residuals: Iterable[Node], rule: str, naming: Naming) -> ResidualUse | None:
    order = topological([problem.graph.y])
    for u in problem.noise:
        paths = Paths(order, u)
        for node in residuals:
            if node in paths:
                return ResidualUse(rule, 0, node, None, paths, naming)
    return None
