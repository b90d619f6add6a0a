"""The record of a backward pass.

Which rule made which cotangent from which forward equation, and what it read: the explanation, the noise verdict
and every later check read this one record.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from symgrad.autodiff.linearise import GuardedTangent
from symgrad.ir.graph import Node, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import REAL, Declaration
from symgrad.rewrite.memo import Answers

__all__ = ["ZeroReason", "Derivative", "Pullback", "BackwardTrace", "placeholder"]


class ZeroReason(StrEnum):
    """The kinds of nothing a derivative can be; TensorFlow's ``None`` is all of them."""

    ZERO = "zero"  # a path exists and every derivative along it is structurally zero
    DISCONNECTED = "disconnected"  # the value does not depend on it
    STOPPED = "stopped"  # every path passes a stop_gradient
    NO_TANGENT = "no tangent"  # an integer or truth value: there is no direction to move in


class Pullback(NamedTuple):
    """One pullback: the contribution of one forward equation to the cotangent of one of its arguments.

    Attributes:
        node: the forward equation; its op names the rule.
        argument: the position of the argument that receives the contribution.
        coefficient: the partial derivative, as a node; for an op that is not pointwise, its pullback of the
            `placeholder` of the node.
        incoming: the cotangent of ``node`` that came in.
        produced: what the pullback sends to the argument.
    """

    node: Node
    argument: int
    coefficient: Node
    incoming: GuardedTangent
    produced: GuardedTangent

    @property
    def cotangent(self) -> Node:
        """What came in, as one node: a strong zero where a choice was for something else."""
        return self.incoming.node()

    @property
    def contribution(self) -> Node:
        """What is sent to the argument, as one node; these add up to the argument's cotangent."""
        return self.produced.node()

    @property
    def target(self) -> Node:
        """The argument that receives the contribution."""
        return self.node.args[self.argument]

    @property
    def residuals(self) -> tuple[Node, ...]:
        """The forward values that the pullback reads: the node itself or its arguments, in the order they are read."""
        forward = {self.node, *self.node.args}
        return tuple(n for n in topological([self.coefficient], until=forward) if n in forward)


def placeholder(node: Node) -> Node:
    """Return the symbol that stands for the cotangent of a node in the coefficient of a Pullback.

    No program can declare its name.
    """
    return symbol(Declaration("__cotangent", REAL, node.shape))


@dataclass(frozen=True, slots=True)
class Derivative:
    """A derivative of a scalar, by what it is one of.

    Args:
        y: the scalar.
        by: by what, one after the other.
    """

    y: Node
    by: tuple[Node, ...]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class BackwardTrace:
    """A whole backward pass.

    Args:
        outputs: what was differentiated, with the seeds.
        wrt: by what.
        steps: the pullbacks, in the order in which they ran (from the outputs back).
        answers: what was found out about the gradients since: it lives as long as one of them.
        gradients: the results, one per ``wrt``.
        nothing: for each of ``wrt``, the kind of nothing, or None.
    """

    outputs: tuple[tuple[Node, Node], ...]
    wrt: tuple[Node, ...]
    gradients: tuple[Node, ...]
    nothing: tuple[ZeroReason | None, ...]
    steps: tuple[Pullback, ...] = field(repr=False)
    answers: Answers = field(default_factory=dict[Hashable, Any], repr=False, compare=False)
