"""A verdict on gradient code as a report."""

from __future__ import annotations

from symgrad.gradcode.record import CodeVerdict
from symgrad.report.blocks import Banner, Block, Code, Column, Heading, Literal, Table, Tone, prose
from symgrad.report.report import Report

__all__ = ["code_report"]

_TONES: dict[str, Tone] = {"proved": "good", "refuted": "bad", "supported": "open", "undecided": "open"}


def code_report(verdict: CodeVerdict) -> Report:
    """Return a verdict on gradient code: one for all arguments, a row for each, and what is wrong, in words."""
    rows = tuple(
        (prose(Literal(name)), prose(v.status), prose(v.kind), prose(v.told))
        for name, v in verdict.arguments.items()
    )
    columns = tuple(map(Column, ("gradient by", "verdict", "kind", "what is known")))
    blocks: list[Block] = [
        Banner(verdict.status, _TONES[verdict.status], prose(verdict.how)),
        Table("The gradient by each argument", columns, rows),
    ]
    told: dict[str, object] | None = None
    for name, v in verdict.arguments.items():
        if v.kind != "right" or v.notes:
            blocks += [Heading(f"By {name}"), Code(v.text(told=told), "text")]
            told = told if v.point is None else dict(v.point)
    return Report("Does the code compute the gradient?", tuple(blocks))
