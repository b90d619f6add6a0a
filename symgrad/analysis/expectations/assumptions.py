"""The input and the failures of a search for a moment: options, assumptions, and exceptions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical


@dataclass(frozen=True, slots=True)
class MomentOptions:
    """The options of one search.

    Args:
        seconds: the time for symbolic integration of each integral; 0 to do none.
        samples: the number of draws of a Monte Carlo estimate.
        seed: the seed of these draws.
    """

    seconds: float = 4.0
    samples: int = 2**18
    seed: int = 0


class Undecided(Exception):
    """A method has no answer; the next method is tried."""


class NoMoment(Exception):
    """The integral provably diverges, or the value fails to exist with positive probability.

    Args:
        reason: the reason, in words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Assumptions:
    """The assumptions of a formula: known facts of nodes, and conditions that the formula requires.

    Args:
        sources: the random inputs; no condition may depend on a random input.
    """

    def __init__(self, sources: Collection[Node]) -> None:
        self.known = Conditions()
        self.sources = frozenset(sources)
        self.conditions: dict[Node, bool] = {}

    def require(self, condition: Node, otherwise: str | None) -> None:
        """Require a condition: do nothing if it is known to hold, otherwise record it as a condition of the formula.

        Args:
            condition: a node of kind bool.
            otherwise: why there is no moment if the condition does not hold; None if there may be a moment, but not by
                this formula.

        Raises:
            NoMoment: if the condition never holds, with the reason ``otherwise``.
            Undecided: if the condition depends on a random input; or if it never holds and there is no reason.
        """
        condition = canonical([condition]).nodes[0]
        holds = self.known.holds(condition)
        if holds == "no":
            raise Undecided if otherwise is None else NoMoment(otherwise)
        if holds == "unknown":
            if self.sources & set(topological([condition])):
                raise Undecided
            self.conditions[condition] = self.conditions.get(condition, False) or otherwise is not None

    def is_proved(self, condition: Node) -> bool:
        """Tell whether a condition is known to hold, but do not require it."""
        return self.known.holds(condition) == "yes"

    def is_proved_positive(self, node: Node) -> bool:
        """Tell whether a node is known to be positive."""
        return self.known.positive(node) == "yes"
