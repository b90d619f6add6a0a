"""Why a derivative is nothing: zero, disconnected, stopped, no tangent."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from symgrad.backward.trace import Nothing
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological

__all__ = ["classify", "reaches"]


def classify(outputs: Sequence[Node], wrt: Node, stopped: Collection[Node]) -> Nothing:
    """Name the reason why no cotangent arrived at ``wrt``.

    Args:
        outputs: what was differentiated.
        wrt: what received nothing.
        stopped: nodes beyond which the caller asked not to differentiate (TensorFlow's ``stop_gradients``).
    """
    if wrt.dtype != "real":
        return Nothing.NO_TANGENT
    if not reaches(outputs, wrt, cut=()):
        return Nothing.DISCONNECTED
    cut = [n for n in topological(outputs) if "stops" in n.op.facts or n in stopped]
    return Nothing.ZERO if reaches(outputs, wrt, cut=cut) else Nothing.STOPPED


def reaches(outputs: Sequence[Node], target: Node, *, cut: Collection[Node]) -> bool:
    """Tell whether an output depends on the target by a path that does not enter a cut node's arguments."""
    return target in topological(outputs, until=[n for n in cut if n is not target])
