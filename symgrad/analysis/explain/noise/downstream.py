"""Find named values whose own derivative has no noise, below noise in a gradient; tell where it enters, and a cure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symgrad.analysis.explain.limits import CURE_EQUATIONS, CURE_PLACES, CURES_TOLD
from symgrad.analysis.explain.naming import Naming, rule_of
from symgrad.analysis.explain.noise.dependence import Dependence
from symgrad.analysis.explain.noise.sample_points import domain_of, place_in
from symgrad.autodiff.trace import BackwardTrace
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Distribution
from symgrad.ops.array.layout import full
from symgrad.ops.random.laws import mean
from symgrad.support.texts import join_texts


@dataclass(frozen=True, slots=True)
class CleanValue:
    """A named value whose own derivative has no noise, although the gradient has.

    Attributes:
        name: the name of the value.
        random: the random input.
        wrt: the input with respect to which the derivative is taken.
        through: the pullbacks between the value and the output that read noise, as rule and residual, nearest to the
            value first.
        cure: an expression in place of the value that keeps its value and removes the noise from the gradient; None if
            unknown.
    """

    name: str
    random: str
    wrt: str
    through: tuple[tuple[str, str], ...]
    cure: str | None = field(repr=False)

    def __str__(self) -> str:
        entries = join_texts([f"{rule} (reads {value})" for rule, value in self.through], 2)
        pullbacks = "pullbacks" if len(self.through) > 1 else "pullback"
        return (
            f"{self.name} by itself is clean: its derivative by {self.wrt} has no {self.random}; the noise enters "
            f"downstream through the {pullbacks} of {entries}"
        )


def clean_values(
    y: Node, trace: BackwardTrace, noisy: Mapping[int, Sequence[Node]], source: Node, naming: Naming
) -> tuple[CleanValue, ...]:
    """Return the named values nearest to the noise whose own derivatives do not read it.

    Args:
        y: the differentiated value.
        trace: its backward pass, without dead ends.
        noisy: for each step whose coefficient depends on the random input, the residuals with noise.
        source: the random input.
        naming: the names of values.
    """
    order = topological([y])
    if not noisy or len(order) > CURE_EQUATIONS or len(trace.steps) > CURE_EQUATIONS:
        return ()
    passed = {s.node for s in trace.steps}
    named = [n for n in order if n in passed and n in naming.names and n.args and n is not y]
    stepped = {i: trace.steps[i].node for i in noisy}
    reads = Dependence([y], [*dict.fromkeys([*named, *stepped.values()])])
    clean: list[tuple[Node, list[int]]] = []
    for n in reversed(named):
        if any(reads(m, n) for m, _ in clean):
            continue  # the value is below a value without noise in its derivative
        inside = [i for i, m in stepped.items() if reads(n, m)]
        behind = [i for i, m in stepped.items() if not reads(n, m) and reads(m, n)]
        if not inside and behind:
            clean.append((n, behind))
    if not clean:
        return ()
    cure = _cure(y, trace, source, naming, {n for n, _ in clean})
    by = join_texts([naming.text(w) for w in trace.wrt])
    found: list[CleanValue] = []
    for n, behind in clean[:CURES_TOLD]:
        reads_of = [(trace.steps[i].node, v) for i in sorted(behind, reverse=True) for v in noisy[i]]
        through = dict.fromkeys((rule_of(node), naming.text(v)) for node, v in reads_of)
        found.append(CleanValue(naming.names[n], source.name, by, tuple(through), cure))
    return tuple(found)


def _cure(y: Node, trace: BackwardTrace, source: Node, naming: Naming, clean: Collection[Node]) -> str | None:
    """Return the replacement for the smallest named value that removes the noise, above the values without noise."""
    typical = _typical(source)
    if typical is None:
        return None
    plain = full(typical, source.shape)
    reads = Dependence([y], [*clean])
    places = [n for n in reads.order if n in naming.names and n.args and any(reads(n, c) for c in clean)]
    for place in dict.fromkeys([*places[:CURE_PLACES], y]):
        if place in clean or place.dtype != "real":
            continue
        (calm,) = substitute([place], {source: plain})
        stop = OPS["stop_gradient"]
        kept = stop(place) - (stop(calm) - calm)
        (whole,) = substitute([y], {place: kept})
        if source not in topological(pull_back([whole], [as_node(1)], trace.wrt).gradients):
            name = naming.text(place)
            return (
                f"write stop_gradient({name}) - (stop_gradient(c) - c) for {name}, where c is {name} with "
                f"{source.name} = {naming.text(typical)}: the value keeps the noise, the gradient is that of c"
            )
    return None


def _typical(source: Node) -> Node | None:
    """Return a value in the middle of a distribution."""
    distribution: Distribution | None = source.declaration.distribution
    if distribution is None or source.dtype != "real":
        return None
    if distribution.name in ("Normal", "Laplace", "Cauchy"):
        return as_node(distribution.parameters[0])
    if distribution.formulas:
        return mean(source)
    middle = place_in(domain_of(source), Fraction(1, 2))
    return None if isinstance(middle, bool) else as_node(middle)
