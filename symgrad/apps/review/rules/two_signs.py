r"""Statements with ± are two statements: one with the upper signs, and one with the lower ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from symgrad.apps.review.layout.statements import ChainText
from symgrad.apps.review.steps import ReviewStep
from symgrad.verification.verdict import Verdict

_SIGNS = re.compile(r"±|∓|\\pm(?![a-zA-Z])|\\mp(?![a-zA-Z])")
_UPPER = ("±", r"\pm")


def has_two_signs(statement: ChainText) -> bool:
    """Tell whether a statement has ± or ∓."""
    return any(_SIGNS.search(side.text) for side in statement.sides)


def with_sign(statement: ChainText, *, upper: bool) -> ChainText:
    """Return a statement with + for ± and - for ∓; with the lower signs the other way round.

    Example:
        >>> from symgrad.apps.review.layout.passages import passages
        >>> from symgrad.apps.review.layout.statements import statements
        >>> (s,) = statements("x = 1 ± 2", passages("x = 1 ± 2", "text"))
        >>> [with_sign(s, upper=u).sides[1].text.strip() for u in (True, False)]
        ['1 + 2', '1 - 2']
    """

    def sign(match: re.Match[str]) -> str:
        return ("+" if (match[0] in _UPPER) == upper else "-").ljust(len(match[0]))

    sides = tuple(replace(side, text=_SIGNS.sub(sign, side.text)) for side in statement.sides)
    return replace(statement, sides=sides)


def merged(
    upper: Sequence[ReviewStep], lower: Sequence[ReviewStep], statement: ChainText
) -> list[ReviewStep]:
    """Return the steps of a statement with two signs, from those with the upper and with the lower ones.

    A value is wrong if one of the two solves nothing. Another step is wrong only if both of its readings are, and both
    of its sides have two signs: else it may be meant of one of them.
    """
    signed = {side.span for side in statement.sides if _SIGNS.search(side.text)}
    there = {step.span: step for step in lower}
    found: list[ReviewStep] = []
    for step in upper:
        other = there.get(step.span)
        if other is None or step.verdict is None or other.verdict is None:
            found.append(step if step.verdict is None or step.kind == "not understood" else _open(step))
            continue
        statuses = {step.status, other.status}
        if statuses <= {"proved", "supported"}:
            found.append(step if step.status == "supported" else other)
        elif (
            "refuted" in statuses
            and (step.kind == "solution" or statuses == {"refuted"})
            and step.span in signed
        ):
            alone = step.kind != "solution" and len(signed) < 2
            found.append(_open(step) if alone else step if step.status == "refuted" else other)
        else:
            found.append(_open(step))
    return found


def _open(step: ReviewStep) -> ReviewStep:
    why = "it has two signs, and is not right with both of them"
    return replace(step, verdict=Verdict("undecided", why), message=None, corrected=None)
