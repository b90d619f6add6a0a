"""What the rewriting did: every application of a rule, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from symgrad.ir.graph import Node

__all__ = ["UNDEFINED", "ZERO", "Note", "Soundness", "Step", "Trace"]

UNDEFINED = "also defined where {} is not"
ZERO = "also defined at {} = 0"

Soundness: TypeAlias = Literal["exact", "widens"]


@dataclass(frozen=True, slots=True)
class Note:
    """One way in which a step is not exact.

    Args:
        text: what changed, with `{}` where the node is named: "also defined at {} = 0".
        node: the node it is about.
    """

    text: str
    node: Node


@dataclass(frozen=True, slots=True)
class Step:
    """One application: `before` became `after`, both with arguments that were already rewritten.

    Args:
        rule: name of the rule; a step that collected a sum or product names the laws it used in `laws`.
        before, after: the nodes.
        soundness: of this application; a rule that widens in general is exact where the facts exclude the
            added points.
        notes: what the domain gained, or which fact was assumed.
        laws: names of further rows of the table that took part.
    """

    rule: str
    before: Node
    after: Node
    soundness: Soundness
    notes: tuple[Note, ...] = ()
    laws: tuple[str, ...] = ()


@dataclass(slots=True)
class Trace:
    """The steps, and why the rewriting stopped.

    Args:
        steps: in the order of application.
        stopped: "fixpoint" when no rule applies any more, "budget" when the bound on steps or rounds was
            reached.
        rounds: how many passes over the graph were made, the last of which (at a fixpoint) changed nothing.
    """

    steps: list[Step] = field(default_factory=list[Step])
    stopped: Literal["fixpoint", "budget"] = "fixpoint"
    rounds: int = 0

    @property
    def widening(self) -> list[Step]:
        """The steps after which the result is defined in more places."""
        return [s for s in self.steps if s.soundness != "exact"]
