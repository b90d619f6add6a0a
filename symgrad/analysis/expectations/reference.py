"""References for the mean of a noisy gradient: the gradient without noise, or the gradient of the mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.analysis.expectations.expectation import expectation
from symgrad.analysis.expectations.families.table import parameters_of
from symgrad.analysis.expectations.moment import Estimate, How, Moment
from symgrad.analysis.expectations.shortest import shortest
from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.explain.noise.cancellation import are_same
from symgrad.analysis.explain.noise.jumps import moved_jumps, overlooks_jumps
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import full
from symgrad.ops.random.laws import mean as mean_of
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import NumberTooLargeError, SymgradError

_METHODS: tuple[How, ...] = ("closed form", "quadrature", "monte carlo", "none")


def least_certain(methods: Sequence[How]) -> How:
    """Return the least certain of some methods; if there are none, a closed form."""
    return _METHODS[max(map(_METHODS.index, methods), default=0)]


@dataclass(frozen=True, slots=True)
class Reference:
    """A gradient for comparison.

    Args:
        moment: the gradient; it has no value if there is no such gradient.
        notes: in words, the terms that the gradient has in addition.
    """

    moment: Moment
    notes: tuple[str, ...] = ()


def _none(reason: str) -> Reference:
    """Return a reference that has no gradient."""
    return Reference(Moment("none", reason=reason))


def gradient_without_noise(y: Node, wrt: Sequence[Node], over: Sequence[Node]) -> list[Reference]:
    """Return the gradients of a scalar in which the random inputs are fixed at their means."""
    table: dict[Node, Node] = {}
    texts: list[str] = []
    for u in over:
        mean = mean_of(u)
        if mean is None:
            return [_none(f"{u.declaration.distribution} has no mean that '{u.name}' could be")] * len(wrt)
        table[u] = full(mean, u.shape)
        texts.append(f"{u.name} = {expression_text(mean)}")
    means = ", ".join(texts)
    try:
        at_mean, *by = substitute([y, *wrt], table)
    except SymgradError as error:  # for instance, an index whose mean is not an integer
        instead = "; the reference 'expected value' is the gradient of the mean"
        return [_none(f"y has no value at {means}: {error.what}{instead}")] * len(wrt)
    trace = pull_back([at_mean], [as_node(1)], by)
    found = canonical(trace.gradients, drop_stops=True).nodes
    nowhere = f"the gradient is not defined at {means}"
    return [_none(nowhere) if _has_no_value(g) else Reference(Moment("closed form", g)) for g in found]


def _has_no_value(node: Node) -> bool:
    """Tell whether a formula contains an undefined constant such as 1/0; False for formulas with choices."""
    order = topological([node])
    if any(n.dtype == "bool" for n in order):
        return False
    if any(n.op.name == "div" and n.args[1].is_number(0) for n in order):
        return True
    fixed: set[Node] = set()
    for n in order:
        if (n.args and n.op.pointwise and not n.shape and fixed.issuperset(n.args)) or n.is_number():
            fixed.add(n)
    with_args = [n for n in order if n in fixed and n.args]
    try:
        return not all(np.isfinite(v) for v in evaluate(with_args, {}))
    except NumberTooLargeError:  # a large number exists
        return False


def gradient_of_mean(
    y: Node, wrt: Sequence[Node], over: Sequence[Node], options: MomentOptions
) -> list[Reference]:
    """Return the gradients of the mean of a scalar over some random inputs.

    Each is the mean of the gradient, plus the contributions of moving jumps and of distributions whose parameters
    depend on ``wrt``. If the mean has a closed form, its gradients include all of these.
    """
    read = {w: [u.name for u in over if u in set(topological([w]))] for w in wrt}
    if any(read.values()):
        another = "another variable of the derivative is random"
        reads = "is random, and a variable of the derivative depends on it"
        return [_none(f"{read[w][0]} {reads}" if read[w] else another) for w in wrt]
    (value,) = canonical([y], drop_stops=True).nodes
    (mean,) = expectation([value], over, options)
    if mean.how == "none":
        return [_none(f"y has no mean: {mean.reason}")] * len(wrt)
    if mean.formula is not None:
        trace = pull_back([mean.formula], [as_node(1)], wrt)
        found = canonical(trace.gradients, drop_stops=True).nodes
        return [
            Reference(Moment("closed form", g, notes=mean.notes, conditions=mean.conditions)) for g in found
        ]
    if any(set(wrt) & set(topological(parameters_of(u)[1])) for u in over):
        reason = (
            "the mean of y has no closed form, and a distribution depends on a variable of the derivative"
        )
        return [_none(reason)] * len(wrt)
    return _mean_of_gradients(value, wrt, over, options)


def _mean_of_gradients(
    value: Node, wrt: Sequence[Node], over: Sequence[Node], options: MomentOptions
) -> list[Reference]:
    """Return the means of the gradients, plus the contributions of jumps whose place in a random input moves."""
    naming = Naming({})
    if overlooks_jumps(value, wrt, over):
        return [_none("there are more jumps than are examined, and some may move")] * len(wrt)
    jumps = moved_jumps(value, wrt, over, naming, possible=True)
    gradients = list(pull_back([value], [as_node(1)], wrt).gradients)
    found: list[Reference] = []
    for g, w in zip(gradients, wrt, strict=True):
        moved = [jump for jump in jumps if naming.text(w) in jump.terms]
        terms = [jump.terms[naming.text(w)] for jump in moved]
        unknown = [jump for jump, term in zip(moved, terms, strict=True) if term is None]
        if unknown:
            reason = f"the jump of {unknown[-1].choice} moves, and its contribution has no formula"
            found.append(_none(reason))
            continue
        (moment,) = expectation([sum((full(term, g.shape) for term in terms), g)], over, options)
        notes = tuple(f"with the contribution of the jump of {jump.choice}" for jump in moved)
        found.append(Reference(moment, notes))
    return found


def less(moment: Moment, reference: Reference) -> Moment:
    """Subtract a reference from a mean: the result is a formula if both are formulas, otherwise a numerical method."""
    other = reference.moment
    for m in (moment, other):
        if m.how == "none":
            return Moment("none", reason=m.reason)
    how = least_certain([moment.how, other.how])
    notes = tuple(dict.fromkeys([*moment.notes, *other.notes]))

    def at(values: Mapping[Node, Any], sizes: Mapping[str, int] | None) -> Estimate:
        a, b = moment.at(values, sizes), other.at(values, sizes)
        worst, doubts = least_certain([a.how, b.how]), tuple(dict.fromkeys([*a.notes, *b.notes]))
        return Estimate(a.value - b.value, a.low - b.high, a.high - b.low, worst, doubts)

    mine, its = moment.formula, other.formula
    if mine is None or its is None:
        return Moment(how, None, notes=notes, _further=at)
    node = shortest(mine - its)
    if node.args and are_same(mine, its):
        node = full(as_node(0), node.shape)
    return Moment("closed form", node, "", notes, {**moment.conditions, **other.conditions}, at)


def in_short(moment: Moment) -> Moment:
    """Return a moment with the shortest known formula."""
    return moment if moment.formula is None else replace(moment, node=shortest(moment.formula))


def symbols_needed(moments: Sequence[Moment], gradients: Sequence[Node], over: Sequence[Node]) -> list[Node]:
    """Return the symbols that need values before moments over random inputs can be computed."""
    nodes = [*gradients, *(m.node for m in moments if m.node is not None)]
    parameters = [p for u in over for p in parameters_of(u)[1]]
    return [s for s in symbols_of([*nodes, *parameters]) if s not in set(over)]
