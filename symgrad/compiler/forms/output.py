"""The outputs of a kernel and their origins, and the nodes that it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from symgrad.autodiff.trace import BackwardTrace
from symgrad.ir.graph import Node
from symgrad.ir.listing import Derivative


@dataclass(frozen=True, slots=True)
class Output:
    """An output of a kernel.

    Args:
        node: the value.
        origins: the nodes whose derivative it is; empty for a value that the user wrote.
        traces: the backward passes that produced it.
        slope: the record of the output as a derivative of a scalar, if known.
        simplify: a function that writes a formula as it is printed, a candidate for the form that is computed.
        parts: the derivatives in a formula of the user, which is computed as written around them.
    """

    node: Node
    origins: tuple[Node, ...] = ()
    traces: tuple[BackwardTrace, ...] = ()
    slope: Derivative | None = None
    simplify: Callable[[Node], Node] | None = None
    parts: tuple[Output, ...] = ()

    @property
    def derived(self) -> bool:
        """Whether it is a derivative, whose form is symgrad's to choose."""
        return bool(self.origins)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Arrangement:
    """The nodes that a kernel computes in place of the outputs.

    Args:
        nodes: a node for each output, equal to the output in exact arithmetic.
        fusable: nodes whose products and sums may become fused multiply-adds, since the user did not write them.
    """

    nodes: Sequence[Node]
    fusable: frozenset[Node]
