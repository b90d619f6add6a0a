"""What a search for a moment is given: how much it may spend, how it says that it found none, and what is required."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical

__all__ = ["MomentBudget", "Given", "NoMoment", "Undecided"]


@dataclass(frozen=True, slots=True)
class MomentBudget:
    """What is spent on one question.

    Args:
        terms: products that a sum may have when it is multiplied out.
        seconds: of symbolic integration, for each integral; 0 for none.
        order: nodes of Gauss quadrature for each random input.
        samples: draws of a Monte Carlo estimate.
        seed: of these draws.
    """

    terms: int = 256
    seconds: float = 4.0
    order: int = 32
    samples: int = 2**18
    seed: int = 0


class Undecided(Exception):
    """This method has no answer: the next one is asked."""


class NoMoment(Exception):
    """It is proved that the integral does not converge, or that there is no value with a probability above 0.

    Args:
        reason: why, in words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Given:
    """What a formula may rely on: what is known of every node, and what it has asked for that is not known.

    Args:
        sources: the random inputs: what is required of symbols may not depend on one of them.
    """

    def __init__(self, sources: Collection[Node]) -> None:
        self.known = Conditions()
        self.sources = frozenset(sources)
        self.conditions: dict[Node, bool] = {}

    def require(self, condition: Node, otherwise: str | None) -> None:
        """Go on where a condition holds; where that is not known, remember it as a condition of the formula.

        Args:
            condition: a node of kind bool.
            otherwise: why there is no moment where it does not hold; None if there may be one all the same, of which
                the formula says nothing.

        Raises:
            NoMoment: if it never holds, for the reason given.
            Undecided: if it depends on a random input, or never holds and no reason is given.
        """
        condition = canonical([condition]).nodes[0]
        holds = self.known.holds(condition)
        if holds == "no":
            raise Undecided if otherwise is None else NoMoment(otherwise)
        if holds == "unknown":
            if self.sources & set(topological([condition])):
                raise Undecided
            self.conditions[condition] = self.conditions.get(condition, False) or otherwise is not None

    def known_to_hold(self, condition: Node) -> bool:
        """Tell whether a condition is known to hold, without asking for it."""
        return self.known.holds(condition) == "yes"

    def known_to_be_positive(self, node: Node) -> bool:
        """Tell whether a node is known to be above 0."""
        return self.known.positive(node) == "yes"
