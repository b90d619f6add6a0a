"""What becomes of a step."""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.apps.review.steps import StepKind
from symgrad.verification.verdict import Verdict

IDLE = Verdict("undecided", "not looked at")
"""Of steps of a document that is to be read again."""


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """What became of a step.

    Args:
        kind: ``derivative`` or ``rewriting``.
        verdict: whether it is right.
        message: what else there is to say.
        corrected: what the side would have to be.
    """

    kind: StepKind
    verdict: Verdict
    message: str | None = None
    corrected: str | None = None
