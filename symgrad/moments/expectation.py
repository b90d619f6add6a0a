"""The four methods in order: closed form, symbolic integration, Gauss quadrature, Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.moments.arrays.forms import ArrayForms
from symgrad.moments.closed import ClosedForms
from symgrad.moments.given import Budget, Given, NoMoment, Undecided
from symgrad.moments.integration import integrated
from symgrad.moments.moment import Estimate, Moment
from symgrad.moments.numeric.quadrature import Quadrature, first
from symgrad.moments.numeric.sampling import sampled
from symgrad.ops.array.layout import full
from symgrad.rules.pipeline import canonical
from symgrad.spell.printer import expression_text

__all__ = ["covariance", "expectation", "variance"]

Kind = Literal["expectation", "covariance"]


def expectation(outputs: Sequence[Node], over: Sequence[Node], budget: Budget | None = None) -> list[Moment]:
    """Return the expectations of nodes over independent random inputs.

    Args:
        outputs: nodes of any shapes.
        over: the random inputs; what else they read stays as it is, other random inputs too.
        budget: what is spent.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.spell.printer import str_text
        >>> p = parse_program("x : real; u ~ Normal(0, 1); y = (x + u)**2")
        >>> str_text(expectation([p["y"]], [p["u"]])[0].node)
        'x**2 + 1'
    """
    return [_moment("expectation", [n], over, budget or Budget()) for n in _simple(outputs)]


def variance(outputs: Sequence[Node], over: Sequence[Node], budget: Budget | None = None) -> list[Moment]:
    """Return the variances of nodes, entry by entry.

    Args:
        outputs: nodes of any shapes.
        over: the random inputs.
        budget: what is spent.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.spell.printer import str_text
        >>> p = parse_program("x : real; b ~ Bernoulli(1/4); y = x*b")
        >>> str_text(variance([p["y"]], [p["b"]])[0].node)
        '3*x**2/16'
    """
    return [_moment("covariance", [n, n], over, budget or Budget()) for n in _simple(outputs)]


def covariance(
    first: Sequence[Node], second: Sequence[Node], over: Sequence[Node], budget: Budget | None = None
) -> list[Moment]:
    """Return the covariances of pairs of nodes, entry by entry.

    Args:
        first: some nodes.
        second: as many; the shapes of a pair broadcast.
        over: the random inputs.
        budget: what is spent.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.spell.printer import str_text
        >>> p = parse_program("u ~ Uniform(0, 1); a = u**2; b = 1 - u")
        >>> str_text(covariance([p["a"]], [p["b"]], [p["u"]])[0].node)
        '-1/12'
    """
    simple = _simple([*first, *second])
    pairs = zip(simple[: len(first)], simple[len(first) :], strict=True)
    return [
        _moment("covariance", [full(a, (a + b).shape), full(b, (a + b).shape)], over, budget or Budget())
        for a, b in pairs
    ]


def _simple(nodes: Sequence[Node]) -> list[Node]:
    return canonical(nodes, drop_stops=True).nodes


def _moment(kind: Kind, outputs: list[Node], over: Sequence[Node], budget: Budget) -> Moment:
    read = set(symbols_of(outputs))
    sources = [s for s in over if s in read]
    if not sources:
        return Moment(
            "closed form", outputs[0] if kind == "expectation" else full(as_node(0), outputs[0].shape)
        )
    further = _further(kind, outputs, sources, budget)
    given = Given(sources)
    try:
        found = _closed(kind, outputs, sources, given, budget)
    except NoMoment as none:
        return Moment("none", reason=none.reason)
    except Undecided:
        try:
            found = _integrated(kind, outputs, sources, given, budget)
        except Undecided:
            return _numeric(kind, outputs, sources, budget, further)
    (node,) = canonical([found]).nodes
    return Moment("closed form", node, "", _notes(given.conditions), given.conditions, further)


def _notes(conditions: Mapping[Node, bool]) -> tuple[str, ...]:
    return tuple(
        f"only where {expression_text(c)}: elsewhere "
        + ("there is none" if exists else "the formula does not hold")
        for c, exists in conditions.items()
    )


def _closed(kind: Kind, outputs: list[Node], sources: list[Node], given: Given, budget: Budget) -> Node:
    entrywise = all(
        n.op.pointwise or not set(sources) & set(topological([n])) for n in _noisy(outputs, sources)
    )
    forms = (ClosedForms if entrywise else ArrayForms)(sources, given, budget)
    found = forms.expectation(outputs[0]) if kind == "expectation" else forms.covariance(*outputs)
    return full(found, outputs[0].shape)


def _noisy(outputs: Iterable[Node], sources: Sequence[Node]) -> list[Node]:
    """Return the equations that depend on random inputs."""
    noisy = set(sources)
    found: list[Node] = []
    for node in topological(outputs):
        if any(a in noisy for a in node.args):
            noisy.add(node)
            found.append(node)
    return found


def _integrated(kind: Kind, outputs: list[Node], sources: list[Node], given: Given, budget: Budget) -> Node:
    mean = integrated(outputs[0], sources, given, budget)
    if kind == "expectation":
        return mean
    a, b = outputs
    other = mean if b is a else integrated(b, sources, given, budget)
    return integrated(a * b, sources, given, budget) - mean * other


def _numeric(
    kind: Kind,
    outputs: list[Node],
    sources: list[Node],
    budget: Budget,
    further: Callable[[Mapping[Node, Any], Mapping[str, int] | None], Estimate],
) -> Moment:
    """Quadrature where the program is of its kind, and converges where there are no further symbols."""
    try:
        rule = Quadrature(outputs, sources)
        node = rule.expression(budget.order) if kind == "expectation" else None
        if set(symbols_of(outputs)) <= set(sources) and further({}, None).how != "quadrature":
            raise Undecided
    except Undecided:
        return Moment("monte carlo", _further=further)
    return Moment("quadrature", node, _further=further)


def centred(found: Sequence[Any], means: Sequence[Any]) -> Any:
    """Return the product of two outputs less their expectations."""
    a, b = (f - m for f, m in zip(found, means, strict=True))
    return a * b


def _further(
    kind: Kind, outputs: list[Node], sources: list[Node], budget: Budget
) -> Callable[[Mapping[Node, Any], Mapping[str, int] | None], Estimate]:
    """Return what computes a moment at numbers: quadrature where it converges, else Monte Carlo."""

    def at(values: Mapping[Node, Any], sizes: Mapping[str, int] | None) -> Estimate:
        try:
            rule = Quadrature(outputs, sources)
            value, error = rule.mean(values, budget.order, centred if kind == "covariance" else first)
            return Estimate(value, value - error, value + error, "quadrature")
        except Undecided:
            found = sampled(outputs, sources, values, budget, kind, sizes)
            low, high = found.value - found.half, found.value + found.half
            return Estimate(found.value, low, high, "monte carlo", found.notes)

    return at
