"""A stop_gradient that no derivative arrives at: inside another one, in a condition, under a function of steps."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.analysis.explain.naming import rule_of
from symgrad.analysis.explain.noise.dependence import Paths
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting
from symgrad.ir.graph import Node
from symgrad.ops.control import kept_value, with_slope, without_stops
from symgrad.verification.verdict import Verdict

__all__ = ["dead_stops", "find", "stops_in", "untouched"]


def find(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield stop_gradients that no derivative path from the program reaches."""
    for s in dead_stops(asked):
        (inner,) = s.args
        repaired = without_stops([asked.y], {s})[asked.y]
        yield Sighting(
            s,
            f"{asked.body(s)} stops nothing: no derivative path from {asked.text(asked.y)} arrives there",
            _why(asked, s),
            repaired,
            f"write {asked.text(inner)} instead of {asked.body(s)}",
            untouched(f"no derivative path arrives at {asked.body(s)}"),
        )


def dead_stops(asked: LintQuestion) -> list[Node]:
    """Return the stop_gradients of real values at which no cotangent arrives; at whole numbers none ever does."""
    return [s for s in stops_in(asked) if s.dtype == "real" and s not in asked.edges.reached]


def stops_in(asked: LintQuestion) -> list[Node]:
    """Return the stop_gradients of a program, arguments first, without those that say what is meant.

    Of ``stop_gradient(f) - (stop_gradient(g) - g)`` the first one, and that of the value of a custom gradient.
    """
    spoken: set[Node] = set()
    for n in asked.order:
        if kept_value(n) is not None or n.op is with_slope:
            spoken.add(n.args[0])
    return [n for n in asked.order if "stops" in n.op.facts and n not in spoken]


def untouched(why: str) -> Verdict:
    """Return the verdict on a program without a stop_gradient that is on no derivative path."""
    return Verdict(
        "proved", f"{why}: the value and the derivatives of every order are made of the same operations"
    )


def _why(asked: LintQuestion, s: Node) -> str:
    """Say where derivatives end above a stop_gradient: the equation on the way that passes nothing on."""
    paths = Paths(asked.order, s)
    above = [n for n in asked.order if n in asked.edges.reached and n is not s and n in paths]
    end = min(above, key=paths.distance)
    if "stops" in end.op.facts:
        return f"it is inside {asked.body(end)}, where the derivative edge is cut already"
    below = paths.path(end)[1]
    if below.dtype == "bool":
        return f"it is read by the condition {asked.body(below)}, which has no derivative"
    if below.dtype == "int":
        return f"it is read by {rule_of(below)}, whose values are whole numbers"
    return f"it is read by {asked.body(end)}, whose derivative is zero"
