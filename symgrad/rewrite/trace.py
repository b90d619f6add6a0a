"""The trace of a rewriting: every application of a rule, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from symgrad.ir.graph import Node

UNDEFINED = "also defined where {} is not"
ZERO = "also defined at {} = 0"

Soundness: TypeAlias = Literal["exact", "widens"]


@dataclass(frozen=True, slots=True)
class Note:
    """A way in which a step is not exact.

    Args:
        text: the change, with `{}` in place of the node: "also defined at {} = 0".
        node: the node.
    """

    text: str
    node: Node


@dataclass(frozen=True, slots=True)
class Step:
    """One application of a rule: `before` became `after`, both with rewritten arguments.

    Args:
        rule: name of the rule; a step that collected a sum or product names the laws it used in `laws`.
        before, after: the nodes.
        soundness: the soundness of this application; a rule that widens in general is exact if facts exclude the added
            points.
        notes: the points that the domain gained, or the fact that was assumed.
        laws: names of further rows that took part.
    """

    rule: str
    before: Node
    after: Node
    soundness: Soundness
    notes: tuple[Note, ...] = ()
    laws: tuple[str, ...] = ()


@dataclass(slots=True)
class Trace:
    """The steps, and the reason why the rewriting stopped.

    Args:
        steps: the steps, in the order of application.
        stopped: "fixpoint" if no rule applies any more, "budget" if the bound on steps or rounds was reached.
        rounds: the number of passes over the graph; at a fixpoint, the last pass changed nothing.
    """

    steps: list[Step] = field(default_factory=list[Step])
    stopped: Literal["fixpoint", "budget"] = "fixpoint"
    rounds: int = 0

    @property
    def widening(self) -> list[Step]:
        """The steps that enlarge the domain."""
        return [s for s in self.steps if s.soundness != "exact"]
