"""The reason for a missing derivative: zero, disconnected, stopped, no tangent."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from symgrad.autodiff.trace import ZeroReason
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological


def classify(outputs: Sequence[Node], wrt: Sequence[Node], stopped: Collection[Node]) -> list[ZeroReason]:
    """Return the reason why no cotangent arrived at each of ``wrt``.

    Args:
        outputs: the differentiated nodes.
        wrt: the nodes without a cotangent.
        stopped: nodes that pass no cotangent on (TensorFlow's ``stop_gradients``).
    """
    if not wrt:
        return []
    order = topological(outputs)
    connected = set(order)
    # A cotangent reaches a stopped node itself, but not its arguments.
    reached = set(topological(outputs, until={n for n in order if "stops" in n.op.facts or n in stopped}))
    found: list[ZeroReason] = []
    for node in wrt:
        if node.dtype != "real":
            found.append(ZeroReason.NO_TANGENT)
        elif node not in connected:
            found.append(ZeroReason.DISCONNECTED)
        else:
            found.append(ZeroReason.ZERO if node in reached else ZeroReason.STOPPED)
    return found


def unmoved(outputs: Sequence[Node], moving: Sequence[Node]) -> list[ZeroReason]:
    """Return the reason why each output has no tangent; of several reasons, the one nearest to a derivative.

    Args:
        outputs: the differentiated nodes.
        moving: the moving nodes; the reason is zero if there are none.
    """
    if moving and all(x.dtype != "real" for x in moving):
        return [ZeroReason.NO_TANGENT] * len(outputs)
    sources = {x for x in moving if x.dtype == "real"}
    reason: dict[Node, ZeroReason] = {}
    for node in topological(outputs):
        below = {reason[a] for a in node.args}
        if node in sources or (ZeroReason.ZERO in below and "stops" not in node.op.facts):
            reason[node] = ZeroReason.ZERO
        elif below <= {ZeroReason.DISCONNECTED}:
            reason[node] = ZeroReason.DISCONNECTED
        else:
            reason[node] = ZeroReason.STOPPED
    return [reason[y] if moving else ZeroReason.ZERO for y in outputs]
