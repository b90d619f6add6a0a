"""Expectations, variances and covariances by four methods: closed form, SymPy, Gauss quadrature, Monte Carlo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symgrad.analysis.expectations.arrays.forms import ArrayForms
from symgrad.analysis.expectations.assumptions import Assumptions, MomentOptions, NoMoment, Undecided
from symgrad.analysis.expectations.closed import ClosedForms
from symgrad.analysis.expectations.families.table import parameters_of
from symgrad.analysis.expectations.moment import Estimate, Further, Moment
from symgrad.analysis.expectations.numeric.quadrature import Quadrature, first
from symgrad.analysis.expectations.numeric.sampling import sampled
from symgrad.analysis.explain.noise.sample_points import value_at
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import fold, formulas_of, readers, substitute, symbols_of, topological
from symgrad.ir.types import POSITIVE, REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import full
from symgrad.ops.random.laws import density
from symgrad.ops.sympy_bridge.integration import definite_integral
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.facts.point_masses import PointMasses
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.trace import ZERO, Note
from symgrad.support.logs import info
from symgrad.support.progress import reports_progress

_LARGEST = 40  # number of equations of an integrand
_TRIALS = 3  # number of points at which results are compared
_CLOSE = 1e-6


def integrated(node: Node, sources: Sequence[Node], given: Assumptions, seconds: float) -> Node:
    """Return the expectation of a function of one scalar random input, computed by SymPy.

    Raises:
        Undecided: if SymPy finds none in time, or quadrature disagrees.
    """
    if len(sources) != 1 or node.shape or seconds <= 0:
        raise Undecided
    (u,) = sources
    if u.shape or len(topological([node])) > _LARGEST or u.dtype != "real":
        raise Undecided
    if any(s.shape for s in symbols_of([node])):
        raise Undecided
    distribution = u.declaration.distribution
    assert distribution is not None
    plain = symbol(Declaration(u.name, distribution.support))
    weight = density(u, plain)
    if weight is None:
        raise Undecided
    inside = weight.args[1] if weight.op.name == "where" else weight
    integrand = canonical([substitute([node], {u: plain})[0] * inside]).nodes[0]
    found = definite_integral(integrand, plain, *_ends(u), seconds)
    if found is None:
        raise Undecided
    value, condition = found
    if plain in symbols_of([value, condition]) or not _agrees(value, condition, node, u):
        raise Undecided
    given.require(condition, None)
    return value


def _ends(u: Node) -> tuple[Node | None, Node | None]:
    name, parameters = parameters_of(u)
    if name == "Uniform":
        return parameters[0], parameters[1]
    distribution = u.declaration.distribution
    assert distribution is not None
    low, high = (None if end is None else as_node(end) for end in distribution.support.span)
    return low, high


def _agrees(value: Node, condition: Node, node: Node, u: Node) -> bool:
    """Tell whether quadrature confirms the value at some sample point, and contradicts it at no sample point."""
    rule = Quadrature([node], [u])
    agreed = False
    for trial in range(_TRIALS):
        values: dict[Node, Any] = {
            s: float(value_at(s, trial)) for s in symbols_of([node, value]) if s is not u
        }
        if not evaluate([condition], values)[0]:
            continue
        try:
            mean, error = rule.mean(values, first)
        except Undecided:
            continue
        apart = abs(evaluate([value], values)[0] - mean)
        if not apart <= _CLOSE * max(1.0, abs(mean)) + 10 * np.max(error):
            return False
        agreed = True
    return agreed


Kind = Literal["expectation", "covariance"]
_LONG = 25
"""The number of operations of the longest noise-free part that is simplified together with the noise."""


def expectation(
    outputs: Sequence[Node], over: Sequence[Node], options: MomentOptions | None = None
) -> list[Moment]:
    """Return the expectations of nodes over independent random inputs.

    Args:
        outputs: nodes, of any shape.
        over: the random inputs; all other inputs stay symbols, even if they are random.
        options: the options of the search.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("x : real; u ~ Normal(0, 1); y = (x + u)**2")
        >>> str_text(expectation([p["y"]], [p["u"]])[0].node)
        'x**2 + 1'
    """
    return [_moment("expectation", [n], over, options or MomentOptions()) for n in outputs]


def variance(
    outputs: Sequence[Node], over: Sequence[Node], options: MomentOptions | None = None
) -> list[Moment]:
    """Return the variances of nodes, entry by entry.

    Args:
        outputs: nodes, of any shape.
        over: the random inputs.
        options: the options of the search.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("x : real; b ~ Bernoulli(1/4); y = x*b")
        >>> str_text(variance([p["y"]], [p["b"]])[0].node)
        '3*x**2/16'
    """
    return [_moment("covariance", [n, n], over, options or MomentOptions()) for n in outputs]


def covariance(
    first: Sequence[Node], second: Sequence[Node], over: Sequence[Node], options: MomentOptions | None = None
) -> list[Moment]:
    """Return the covariances of pairs of nodes, entry by entry.

    Args:
        first: some nodes.
        second: as many nodes; the shapes of a pair broadcast.
        over: the random inputs.
        options: the options of the search.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("u ~ Uniform(0, 1); a = u**2; b = 1 - u")
        >>> str_text(covariance([p["a"]], [p["b"]], [p["u"]])[0].node)
        '-1/12'
    """
    pairs = [[full(n, (a + b).shape) for n in (a, b)] for a, b in zip(first, second, strict=True)]
    return [_moment("covariance", pair, over, options or MomentOptions()) for pair in pairs]


@dataclass(frozen=True, slots=True)
class _MomentQuery:
    """A simplified query.

    Args:
        kind: the kind of moment.
        outputs: one node or two, in which long noise-free parts are replaced by symbols.
        sources: the random inputs that the outputs read.
        parts: maps these symbols to the parts.
        notes: in words, how simplification extends the domain.
    """

    kind: Kind
    outputs: list[Node]
    sources: list[Node]
    parts: dict[Node, Node]
    notes: tuple[str, ...]

    def restore(self, nodes: Sequence[Node]) -> list[Node]:
        """Substitute the parts for their symbols."""
        return substitute(nodes, self.parts)


def _simplified(kind: Kind, outputs: Sequence[Node], over: Sequence[Node]) -> _MomentQuery:
    """Simplify a query: a long noise-free part becomes one symbol with the same sign."""
    read = set(symbols_of(outputs))
    sources = [s for s in over if s in read]
    parts: dict[Node, Node] = {}
    known = Conditions()
    noisy = readers(topological(outputs), sources)
    # The number of operations in the text of each node, up to a limit.
    lengths = fold(outputs, lambda node, below: min(_LONG + 1, sum(below) + bool(node.args)))
    for node in topological(outputs):
        for part in node.args if node in noisy else ():
            if part not in noisy and lengths[part] > _LONG and part.dtype == "real" and part not in parts:
                domain = POSITIVE if known.positive(part) == "yes" else REAL
                parts[part] = symbol(Declaration(f"part {len(parts) + 1}", domain, part.shape))
    simple = canonical(substitute(outputs, parts), drop_stops=True)
    return _MomentQuery(
        kind,
        simple.nodes,
        [s for s in sources if s in set(symbols_of(simple.nodes))],
        {name: part for part, name in parts.items()},
        tuple(
            f"the formula is {note.text.replace('{}', expression_text(note.node))}: the program has no value there"
            for _, note in simple.widened
            if _matters(note, sources)
        ),
    )


def _matters(note: Note, sources: Sequence[Node]) -> bool:
    """Tell whether a point added to the domain may have positive probability.

    Zeros of continuous inputs have probability 0.
    """
    if not set(sources) & set(topological([note.node])):
        return False
    return note.text != ZERO or not PointMasses(sources, Conditions(), generic=True).nonzero(note.node)


@reports_progress("moments", "looking for a moment")
def _moment(kind: Kind, outputs: Sequence[Node], over: Sequence[Node], options: MomentOptions) -> Moment:
    nothing = full(as_node(0), outputs[0].shape)
    if not set(over) & set(symbols_of(outputs)):
        return Moment("closed form", outputs[0] if kind == "expectation" else nothing)
    query = _simplified(kind, outputs, over)
    outputs, sources = query.outputs, query.sources
    if not sources:  # the noise cancels
        (found,) = query.restore([outputs[0] if kind == "expectation" else nothing])
        return Moment("closed form", found, notes=query.notes)
    further = _further(kind, query.restore(outputs), sources, options)
    given = Assumptions(sources)
    try:
        found = _closed(kind, outputs, sources, given)
    except NoMoment as none:
        info("moments", "%s: there is none", kind)
        return Moment("none", reason=none.reason)
    except Undecided:
        info("moments", "%s: no closed form by the tables, symbolic integration is tried", kind)
        given = Assumptions(sources)
        try:
            if query.parts:  # a program that is too long for SymPy
                raise Undecided
            found = _integrated(kind, outputs, sources, given, options)
        except Undecided:
            why = "the program is long" if query.parts else "no integral was found in time"
            found = _numeric(kind, query.restore(outputs), sources, further)
            info("moments", "%s by %s: %s", kind, found.how, why)
            return found
    nodes = query.restore([*canonical([found]).nodes, *given.conditions])
    conditions = dict(zip(nodes[1:], given.conditions.values(), strict=True))
    return Moment("closed form", nodes[0], "", (*query.notes, *_notes(conditions)), conditions, further)


def _notes(conditions: Mapping[Node, bool]) -> tuple[str, ...]:
    return tuple(
        f"only where {expression_text(c)}: elsewhere "
        + ("there is none" if exists else "the formula does not hold")
        for c, exists in conditions.items()
    )


def _closed(kind: Kind, outputs: Sequence[Node], sources: list[Node], given: Assumptions) -> Node:
    noisy = readers(topological(outputs), sources) - {*sources}
    entrywise = all(n.op.pointwise for n in noisy)
    forms = (ClosedForms if entrywise else ArrayForms)(sources, given)
    found = forms.expectation(outputs[0]) if kind == "expectation" else forms.covariance(*outputs)
    return full(found, outputs[0].shape)


def _integrated(
    kind: Kind, outputs: list[Node], sources: list[Node], given: Assumptions, options: MomentOptions
) -> Node:
    mean = integrated(outputs[0], sources, given, options.seconds)
    if kind == "expectation":
        return mean
    a, b = outputs
    other = mean if b is a else integrated(b, sources, given, options.seconds)
    return integrated(a * b, sources, given, options.seconds) - mean * other


def _numeric(kind: Kind, outputs: list[Node], sources: list[Node], further: Further) -> Moment:
    """Return quadrature if it applies to the program and, if there are no free symbols, converges.

    Otherwise return Monte Carlo.
    """
    try:
        rule = Quadrature(outputs, sources)
        node = rule.expression() if kind == "expectation" else None
        closed = set(symbols_of([*outputs, *formulas_of(outputs)])) <= set(sources)
        if closed and further({}, None).how != "quadrature":
            raise Undecided
    except Undecided:
        return Moment("monte carlo", _further=further)
    return Moment("quadrature", node, _further=further)


def centred(found: Sequence[Any], means: Sequence[Any]) -> Any:
    """Return the product of two outputs, each minus its expectation."""
    a, b = (f - m for f, m in zip(found, means, strict=True))
    return a * b


def _further(kind: Kind, outputs: list[Node], sources: list[Node], options: MomentOptions) -> Further:
    """Return a function that computes a moment at numbers: by quadrature if it converges, otherwise by Monte Carlo."""

    def at(values: Mapping[Node, Any], sizes: Mapping[str, int] | None) -> Estimate:
        try:
            rule = Quadrature(outputs, sources)
            value, error = rule.mean(values, centred if kind == "covariance" else first)
            return Estimate(value, value - error, value + error, "quadrature")
        except Undecided:
            found = sampled(outputs, sources, values, options, kind, sizes)
            low, high = found.value - found.half, found.value + found.half
            return Estimate(found.value, low, high, "monte carlo", found.notes)

    return at
