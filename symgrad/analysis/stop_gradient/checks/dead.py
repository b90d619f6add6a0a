"""Check for stop_gradients that no derivative reaches: below another one, in a condition, or below a step function."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.analysis.explain.naming import rule_of
from symgrad.analysis.explain.noise.dependence import Paths
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.ir.graph import Node
from symgrad.ops.control import kept_value, with_slope, without_stops
from symgrad.verification.verdict import Verdict


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield stop_gradients that no derivative path from the program reaches."""
    for s in dead_stops(query):
        (inner,) = s.args
        repaired = without_stops([query.y], {s})[query.y]
        yield Sighting(
            s,
            f"{query.body(s)} stops nothing: no derivative path from {query.text(query.y)} arrives there",
            _why(query, s),
            repaired,
            query.code_text("write {} instead of {}", query.naming.names.get(inner, inner), s),
            untouched(f"no derivative path arrives at {query.body(s)}"),
        )


def dead_stops(query: LintQuery) -> list[Node]:
    """Return the stop_gradients of real values that no cotangent reaches; integers never receive a cotangent."""
    return [s for s in stops_in(query) if s.dtype == "real" and s not in query.edges.reached]


def stops_in(query: LintQuery) -> list[Node]:
    """Return the stop_gradients of a program, arguments first, except those of custom gradients.

    ``stop_gradient(f) - (stop_gradient(g) - g)`` is a custom gradient: its first stop_gradient is left out.
    """
    custom = {n.args[0] for n in query.order if kept_value(n) is not None or n.op is with_slope}
    return [n for n in query.order if "stops" in n.op.facts and n not in custom]


def untouched(why: str) -> Verdict:
    """Return the verdict on removing a stop_gradient that is on no derivative path."""
    return Verdict(
        "proved", f"{why}: the value and the derivatives of every order are made of the same operations"
    )


def _why(query: LintQuery, s: Node) -> str:
    """Return as text where derivatives end above a stop_gradient."""
    paths = Paths(query.order, s)
    above = [n for n in query.order if n in query.edges.reached and n is not s and n in paths]
    end = min(above, key=paths.distance)
    if "stops" in end.op.facts:
        return f"it is inside {query.body(end)}, where the derivative edge is cut already"
    below = paths.path(end)[1]
    if below.dtype == "bool":
        return f"it is read by the condition {query.body(below)}, which has no derivative"
    if below.dtype == "int":
        return f"it is read by {rule_of(below)}, whose values are whole numbers"
    return f"it is read by {query.body(end)}, whose derivative is zero"
