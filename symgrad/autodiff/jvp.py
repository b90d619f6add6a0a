"""Forward mode: push tangents through the linearised program; and all partials up to an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from symgrad.autodiff.linearise import GuardedTangent, accumulate, linearise, pass_through
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import full
from symgrad.support.progress import steps

_ZERO = as_node(0)
_PUSHED = 8  # with at most so many variables, first partials use forward mode


class Pushforward:
    """The derivative along one direction, with a cache for all nodes.

    Args:
        tangents: the direction: a tangent for each moving node. A moving node counts as a symbol. Guarded tangents are
            strong zeros where the guard is false.
    """

    def __init__(self, tangents: Mapping[Node, Node | GuardedTangent]) -> None:
        # None stands for a node that does not move. A structurally zero tangent is a strong zero, so it is None, too.
        self._tangents: dict[Node, GuardedTangent | None] = {}
        for node, tangent in tangents.items():
            guarded = tangent if isinstance(tangent, GuardedTangent) else GuardedTangent(None, tangent)
            self._tangents[node] = None if guarded.value.is_number(0) else guarded

    def __call__(self, outputs: Sequence[Node]) -> list[Node]:
        """Return the tangents of the outputs, with the same shapes; the number 0 for an output that does not move."""
        known = self._tangents
        for node in steps("backward", "differentiating forward", topological(outputs, until=known)):
            if node in known:
                continue
            known[node] = None
            if node.dtype != "real" or "stops" in node.op.facts:
                continue
            moving = [known[a] is not None for a in node.args]
            if not any(moving):
                continue
            if node.op.push is not None:
                tangents = [None if t is None else t.node() for t in map(known.get, node.args)]
                moved = node.op.push(node, tangents)
                known[node] = None if moved.is_number(0) else GuardedTangent(None, moved)
                continue
            contributions = list(self._push(node, moving))
            if contributions:
                known[node] = accumulate(contributions)
        return [_ZERO if (t := known[o]) is None else full(t.node(), o.shape) for o in outputs]

    def _push(self, node: Node, moving: Sequence[bool]) -> Iterator[GuardedTangent]:
        for term in linearise(node, moving):
            tangent = self._tangents[node.args[term.argument]]
            assert tangent is not None
            yield pass_through(term.coefficient, tangent)


def push_forward(outputs: Sequence[Node], tangents: Mapping[Node, Node | GuardedTangent]) -> list[Node]:
    """Return the tangents of the outputs from the tangents of some nodes."""
    return Pushforward(tangents)(outputs)


@gc_paused()
def all_partials(y: Node, wrt: Sequence[Node], order: int) -> dict[tuple[int, ...], Node]:
    """Return all distinct partial derivatives of ``y`` up to an order, in one shared graph.

    The keys are ascending positions in ``wrt``; () is ``y`` itself. Every ``wrt`` counts as an independent symbol, so
    mixed partials commute. Each variable has one Pushforward, whose cache also covers derivatives, so a partial of
    order k + 1 costs only its new nodes. First partials with respect to many variables, or to arrays, come from one
    backward pass, whose cost does not grow with the number of variables.
    """
    partials: dict[tuple[int, ...], Node] = {(): y}
    done = 0
    if order and (len(wrt) > _PUSHED or any(w.shape for w in wrt)):
        slopes = pull_back([y], [as_node(1)], wrt, stopped=wrt).gradients
        partials |= {(i,): slope for i, slope in enumerate(slopes)}
        done = 1
    pushes = [_along(node, wrt) for node in wrt] if done < order else []
    for length in range(done + 1, order + 1):
        for index in combinations_with_replacement(range(len(wrt)), length):
            push = pushes[index[-1]]
            partials[index] = _ZERO if push is None else push([partials[index[:-1]]])[0]
    return partials


def _along(node: Node, wrt: Sequence[Node]) -> Pushforward | None:
    if node.dtype != "real":
        return None
    return Pushforward({other: as_node(1 if other is node else 0) for other in wrt})
