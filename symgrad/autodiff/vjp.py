"""Reverse mode: the transpose of the linearised program, from the outputs back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from symgrad.autodiff.linearise import GuardedTangent, accumulate, linearise, pass_through
from symgrad.autodiff.trace import BackwardTrace, Pullback, placeholder
from symgrad.autodiff.zeros import classify
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import full, unbroadcast
from symgrad.rewrite.memo import remembered
from symgrad.support.progress import steps


def pull_back(
    outputs: Sequence[Node],
    seeds: Sequence[Node | GuardedTangent],
    wrt: Sequence[Node],
    stopped: Collection[Node] = (),
) -> BackwardTrace:
    """Pull the outputs' cotangents back to ``wrt``, and record every step.

    Args:
        outputs: the nodes to differentiate.
        seeds: the cotangents of the outputs, of shapes that broadcast; guarded cotangents are strong zeros where the
            guard is false.
        wrt: the nodes to differentiate with respect to, symbols or intermediate nodes. Each receives its total
            derivative.
        stopped: nodes that count as constants: they receive a cotangent, but pass none on.

    Returns:
        The trace, with one gradient per ``wrt`` (a structural zero if no cotangent arrives).
    """
    key = ("pull back", tuple(seeds), tuple(wrt), frozenset(stopped))
    return remembered(outputs, key, lambda: _pull_back(outputs, *key[1:]))


@gc_paused()
def _pull_back(
    outputs: Sequence[Node],
    seeds: Sequence[Node | GuardedTangent],
    wrt: Sequence[Node],
    stopped: Collection[Node],
) -> BackwardTrace:
    order = topological(outputs)
    active = _active(order, wrt, stopped)
    received: dict[Node, list[GuardedTangent]] = {}
    guarded = [s if isinstance(s, GuardedTangent) else GuardedTangent(None, s) for s in seeds]
    for output, seed in zip(outputs, guarded, strict=True):
        received.setdefault(output, []).append(seed)
    wanted = set(wrt)
    arrived: dict[Node, GuardedTangent] = {}
    pulled: list[Pullback] = []
    for node in steps("backward", "differentiating", order[::-1]):
        contributions = received.pop(node, None)
        if contributions is None or node not in active:
            continue
        cotangent = accumulate(contributions)
        if node in wanted:
            arrived[node] = cotangent
        if not node.args or node in stopped:
            continue
        for step in _pull(node, cotangent, [a in active for a in node.args]):
            received.setdefault(step.target, []).append(step.produced)
            pulled.append(step)
    gradients: list[Node] = []
    for node in wrt:
        cotangent = arrived.get(node)
        gradient = as_node(0) if cotangent is None else cotangent.node()
        gradients.append(full(gradient, node.shape))
    absent = [node for node in wrt if node not in arrived]
    reasons = dict(zip(absent, classify(outputs, absent, stopped), strict=True))
    return BackwardTrace(
        tuple((y, s.value) for y, s in zip(outputs, guarded, strict=True)),
        tuple(wrt),
        tuple(gradients),
        tuple(reasons.get(node) for node in wrt),
        tuple(pulled),
    )


def _pull(node: Node, cotangent: GuardedTangent, wanted: Sequence[bool]) -> Iterator[Pullback]:
    """Transpose one equation: yield the contribution of its cotangent to each wanted argument."""
    if node.op.pull is None:
        for term in linearise(node, wanted):
            contribution = pass_through(term.coefficient, cotangent)
            target = node.args[term.argument]
            if target.shape != node.shape:
                summed = unbroadcast(contribution.node(), node.shape, target.shape)
                contribution = GuardedTangent(None, summed)
            yield Pullback(node, term.argument, term.coefficient.node(), cotangent, contribution)
        return
    real = [w and arg.dtype == "real" for w, arg in zip(wanted, node.args, strict=True)]
    # A linear map has no single coefficient, so the trace records the image of a placeholder.
    coefficients = node.op.pull(node, placeholder(node), real)
    contributions = node.op.pull(node, cotangent.node(), real)
    for i, (coefficient, sent) in enumerate(zip(coefficients, contributions, strict=True)):
        if coefficient is not None and sent is not None and not coefficient.is_number(0):
            yield Pullback(node, i, coefficient, cotangent, GuardedTangent(None, sent))


def _active(order: Sequence[Node], wrt: Sequence[Node], stopped: Collection[Node]) -> set[Node]:
    """Return the nodes that depend on ``wrt`` along derivative edges."""
    active: set[Node] = {n for n in wrt if n.dtype == "real"}
    for node in order:
        passes = node.dtype == "real" and node not in stopped and "stops" not in node.op.facts
        if passes and any(a in active for a in node.args):
            active.add(node)
    return active
