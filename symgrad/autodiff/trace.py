"""The record of a backward pass: for each step the forward equation, its rule, its residuals and its cotangents.

The explanation, the noise verdict and all checks read this record.
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


class ZeroReason(StrEnum):
    """The reasons for a zero derivative; TensorFlow's ``None`` covers all of them."""

    ZERO = "zero"  # there are paths, and the derivatives along all of them are structurally zero
    DISCONNECTED = "disconnected"  # the value does not depend on the variable
    STOPPED = "stopped"  # every path passes a stop_gradient
    NO_TANGENT = "no tangent"  # it is an integer or truth value, which cannot move in any direction


class Pullback(NamedTuple):
    """One pullback: the contribution of a forward equation to the cotangent of one of its arguments.

    Attributes:
        node: the forward equation; its op names the rule.
        argument: the position of the argument.
        coefficient: the partial derivative, as a node; for an op that is not pointwise, the op's pullback of the
            `placeholder` of the node.
        incoming: the cotangent of ``node``.
        produced: the contribution to the argument.
    """

    node: Node
    argument: int
    coefficient: Node
    incoming: GuardedTangent
    produced: GuardedTangent

    @property
    def cotangent(self) -> Node:
        """The incoming cotangent as one node; it is a strong zero where a choice excludes it."""
        return self.incoming.node()

    @property
    def contribution(self) -> Node:
        """The contribution as one node; contributions add up to the argument's cotangent."""
        return self.produced.node()

    @property
    def target(self) -> Node:
        """The argument that receives the contribution."""
        return self.node.args[self.argument]

    @property
    def residuals(self) -> tuple[Node, ...]:
        """The forward values that the pullback reads: the node itself or its arguments, in order of first use."""
        forward = {self.node, *self.node.args}
        return tuple(n for n in topological([self.coefficient], until=forward) if n in forward)


def placeholder(node: Node) -> Node:
    """Return the symbol for the cotangent of a node in the coefficient of a Pullback.

    No program can declare its name.
    """
    return symbol(Declaration("__cotangent", REAL, node.shape))


@dataclass(frozen=True, slots=True, weakref_slot=True)
class BackwardTrace:
    """A backward pass.

    Args:
        outputs: the differentiated nodes with their seeds.
        wrt: the nodes to differentiate with respect to.
        steps: the pullbacks in execution order, from the outputs back.
        answers: a cache of facts about the gradients; it lives as long as any of the gradients.
        gradients: the results, one per ``wrt``.
        nothing: for each of ``wrt``, the reason why the gradient is zero, or None.
    """

    outputs: tuple[tuple[Node, Node], ...]
    wrt: tuple[Node, ...]
    gradients: tuple[Node, ...]
    nothing: tuple[ZeroReason | None, ...]
    steps: tuple[Pullback, ...] = field(repr=False)
    answers: Answers = field(default_factory=dict[Hashable, Any], repr=False, compare=False)
