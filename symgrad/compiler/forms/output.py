"""What is asked of a kernel, and what is known of where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from symgrad.autodiff.trace import BackwardTrace, Derivative
from symgrad.ir.graph import Node

__all__ = ["Arrangement", "Output"]


@dataclass(frozen=True, slots=True)
class Output:
    """A value that a kernel is to compute.

    Args:
        node: the value.
        origins: what it is a derivative of; nothing for what the user wrote.
        traces: the backward passes that made it.
        slope: the derivative that it is, of a scalar, where that is known.
    """

    node: Node
    origins: tuple[Node, ...] = ()
    traces: tuple[BackwardTrace, ...] = ()
    slope: Derivative | None = None

    @property
    def derived(self) -> bool:
        """Whether it is a derivative, whose form is symgrad's to choose."""
        return bool(self.origins)


class Arrangement(NamedTuple):
    """What a kernel computes instead.

    Attributes:
        nodes: one for each output, equal to it in exact arithmetic.
        fusable: nodes whose products and sums may be rounded once together: the user did not write them.
    """

    nodes: list[Node]
    fusable: frozenset[Node]
