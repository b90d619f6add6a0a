"""A review as text, with the document's lines, and as plain values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

from symgrad.apps.review.steps import ReviewRecord, ReviewStep
from symgrad.support.source import Location
from symgrad.verification.verdict import Verdict

MARKS = {
    "refuted": "WRONG",
    "not understood": "unread",
    "undecided": "open",
    "supported": "agrees",
    "proved": "proved",
    "relation": "no =",
    "condition": "given",
    "definition": "given",
}
"""What stands beside a line: the first of these that a step on it has."""

_WIDTH = max(map(len, MARKS.values()))


def review_text(review: ReviewRecord) -> str:
    r"""Return a document with a mark beside each line that has a step, and below it what is to be said of that.

    Example:
        >>> import symgrad as sg
        >>> print(review_text(sg.review("f = x**2\ndf/dx = 2*x\n      = x + x + 1\n")))
        given   1 | f = x**2
        proved  2 | df/dx = 2*x
        WRONG   3 |       = x + x + 1
                  |         ^^^^^^^^^
                  | refuted: at x = 1/2 it was 1 before, and is 2 here
                  | the mistake: the claim is the right derivative plus 1 (missing-term)
        <BLANKLINE>
        refuted: 1 WRONG, 1 proved, 1 given
        the first wrong line is 3: 2*x = x + x + 1
        assumed:
          line 1: x : real (not declared)
    """
    by_line: dict[int, list[ReviewStep]] = {}
    for step in review.steps:
        by_line.setdefault(step.line, []).append(step)
    lines = review.source.text.rstrip("\n").split("\n")
    digits = len(str(len(lines)))
    shown: list[str] = []
    for number, line in enumerate(lines, 1):
        steps = by_line.get(number, [])
        shown.append(f"{mark(steps):<{_WIDTH}}  {number:>{digits}} | {line}".rstrip())
        margin = " " * (_WIDTH + 2 + digits) + " | "
        for step in steps:
            shown += [(margin + text).rstrip() for text in _below(review, step)]
    return "\n".join([*shown, "", *summary(review)])


def mark(steps: list[ReviewStep]) -> str:
    """Return what stands beside a line with these steps."""
    found = {step.status or step.kind for step in steps}
    return next((word for status, word in MARKS.items() if status in found), "")


def _below(review: ReviewRecord, step: ReviewStep) -> Iterator[str]:
    told = details(step)
    if not told:
        return
    if step.status == "refuted" or step.kind == "not understood":
        *_, line, carets = Location(review.source, step.span).render().split("\n")
        if line[4:] == review.source.line(step.line):
            yield carets[4:]
    for text in told:
        yield from text.split("\n")


def details(step: ReviewStep) -> list[str]:
    """Return what there is to say of a step, in lines; nothing of what is proved."""
    told: list[str] = []
    if step.verdict is not None and step.status != "proved":
        told += _verdict(step, step.verdict)
    if step.message is not None:
        told.append(step.message)
    if step.corrected is not None:
        told.append(f"the right line: {step.corrected}")
    return told


def _verdict(step: ReviewStep, verdict: Verdict) -> list[str]:
    lines = [f"{verdict.status}: {verdict.why}"]
    if verdict.witness is not None and verdict.values is not None:
        point = ", ".join(f"{name} = {_short(value)}" for name, value in verdict.witness.items())
        where = f"at {point}" if len(point) <= _POINT else "at one point"
        where = where if point else "everywhere"
        entry = f" entry {list(verdict.index)}" if verdict.index else ""
        right, wrong = map(_number, verdict.values)
        if step.kind == "derivative":
            lines[0] = (
                f"refuted: {where} the derivative{' has' if entry else ' is'}{entry} {right}, and this {wrong}"
            )
        elif step.kind == "solution":
            where = f", {where}" if point else ""
            lines[0] = (
                f"refuted: put into the equation{where} its left side{entry} is {right}, and not {wrong}"
            )
        else:
            lines[0] = f"refuted: {where}{entry} it was {right} before, and is {wrong} here"
    for name, part in verdict.of_gradients.items():
        if part.status == "refuted":
            lines.append(f"the gradients by {name} differ")
    lines += [f"the mistake: {d.message} ({d.kind})" for d in verdict.diagnosis[:1]]
    return [*lines, *(f"  {region}" for region in verdict.regions)]


_BALL = re.compile(r"\[(?:(?P<middle>\S+) )?\+/- \S+\]")  # that of zero is [+/- 1e-19]
_POINT = 60  # characters of a point that are shown
_LONG = 12  # characters of a number


def _number(text: str) -> str:
    """Return a number with six digits, where it is one of many."""
    ball = _BALL.fullmatch(text)
    return (
        text
        if ball is None and len(text) <= _LONG
        else f"{_float(text if ball is None else ball['middle'] or '0'):.6g}"
    )


def _float(text: str) -> float:
    return float(Fraction(text))


def _short(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_short, cast('Sequence[object]', value)))}]"
    return str(value)


def summary(review: ReviewRecord) -> list[str]:
    """Return what became of the document as a whole: the first wrong line, how many steps, what was assumed."""
    counts = Counter(MARKS[step.status or step.kind] for step in review.steps)
    order = dict.fromkeys(MARKS.values())
    told = ", ".join(f"{counts[word]} {word}" for word in order if counts[word])
    lines = [f"{review.status}: {told or 'nothing was claimed'}"]
    wrong = review.first_wrong
    if wrong is not None:
        lines.append(f"the first wrong line is {wrong.line}: {wrong.before} {wrong.relation} {wrong.text}")
    if review.assumptions:
        lines += ["assumed:", *(f"  {a}" for a in review.assumptions)]
    return lines


def review_json(review: ReviewRecord) -> dict[str, Any]:
    """Return a review as what `json.dumps` takes."""
    wrong = review.first_wrong
    return {
        "name": review.source.name,
        "form": review.form,
        "status": review.status,
        "first_wrong": None if wrong is None else review.steps.index(wrong),
        "steps": [_step(step) for step in review.steps],
        "assumptions": [{"text": a.text, "line": a.line, "stated": a.stated} for a in review.assumptions],
    }


def _step(step: ReviewStep) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "status": step.status,
        "line": step.line,
        "column": step.column,
        "start": step.span.start,
        "end": step.span.end,
        "before": step.before,
        "relation": step.relation,
        "text": step.text,
        "message": step.message,
        "corrected": step.corrected,
        "verdict": None if step.verdict is None else step.verdict.to_json(),
    }
