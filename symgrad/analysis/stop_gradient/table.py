"""The checks of `symgrad.lint`: a row each, with its code, its name, how severe it is, what it says, and the function.

Codes: SG1xx are of stop_gradients, SG2xx of what is asked, SG3xx of gradients that are NaN or zero, and
values that are; SG4xx of values that round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from symgrad.analysis.stop_gradient.checks import cancellation as cancels
from symgrad.analysis.stop_gradient.checks import dead, flat, guard, inexact, nans, redundant
from symgrad.analysis.stop_gradient.checks import non_scalar as summed
from symgrad.analysis.stop_gradient.checks import unintended_paths as misplaced
from symgrad.analysis.stop_gradient.checks import zero_gradient as nothing
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting
from symgrad.analysis.stop_gradient.finding import Finding, Severity
from symgrad.analysis.stop_gradient.ranges import overflow

__all__ = ["CHECKS", "Check", "findings"]


class Check(NamedTuple):
    """A check: what it is called, and the function that makes it.

    Attributes:
        code: by which its findings are ignored.
        name: in words.
        severity: see `Finding`.
        says: what a finding says, in a sentence.
        find: what yields the findings.
    """

    code: str
    name: str
    severity: Severity
    says: str
    find: Callable[[LintQuestion], Iterable[Sighting]]


# fmt: off
CHECKS = (
    Check("SG101", "redundant-stop", "note", "a stop_gradient changes nothing", redundant.find),
    Check("SG102", "dead-stop", "note", "no derivative arrives at a stop_gradient", dead.find),
    Check("SG103", "noise-gets-through", "error", "what you named as noise enters the gradient", misplaced.noise),
    Check("SG104", "frozen-gets-through", "error", "what you named as frozen gets a gradient", misplaced.frozen),
    Check("SG201", "silent-sum", "note", "y is an array: the gradient is that of its sum", summed.find),
    Check("SG202", "disconnected", "error", "y does not depend on one of wrt", nothing.disconnected),
    Check("SG203", "stopped", "error", "every path to one of wrt is stopped", nothing.stopped),
    Check("SG204", "zero", "error", "every derivative on the way to one of wrt is 0", nothing.zero),
    Check("SG205", "no-tangent", "error", "one of wrt is whole numbers or truth values", nothing.whole),
    Check("SG206", "unused-variable", "warning", "y does not depend on one of the variables", nothing.unused),
    Check("SG301", "nan-where", "warning", "the branch not taken makes the gradient NaN", nans.choices),
    Check("SG302", "nan-root", "warning", "a root with a value makes the gradient NaN", nans.roots),
    Check("SG303", "late-guard", "warning", "a guard stands behind a root: too late", guard.find),
    Check("SG304", "dead-region", "note", "a value is cut off, or held back, in a region", flat.find),
    Check("SG305", "cancels", "warning", "the gradient is zero: what arrives cancels", cancels.find),
    Check("SG306", "overflow", "warning", "floats lose a value or gradient that is an ordinary number", overflow.find),
    Check("SG401", "rounded-value", "warning", "a straight-through value rounds", inexact.find),
)
# fmt: on


def findings(asked: LintQuestion, ignore: Collection[str] = ()) -> list[Finding]:
    """Return what the checks find in a program, sorted by place, then by code.

    Args:
        asked: the program, and what is asked of it.
        ignore: codes of checks that are left out.
    """
    found: list[Finding] = []
    for check in CHECKS:
        if check.code not in ignore:
            found += [_told(asked, check, f) for f in check.find(asked)]
    return sorted(found, key=_by_place)


def _told(asked: LintQuestion, check: Check, found: Sighting) -> Finding:
    nodes = [n for n in (found.node, *found.also) if n is not None]
    return Finding(
        code=check.code,
        name=check.name,
        severity=check.severity,
        message=found.message,
        reason=found.reason,
        equation=None if found.node is None else asked.body(found.node),
        places=asked.places(nodes),
        repaired=found.repaired,
        cure=found.cure,
        verdict=found.verdict,
    )


def _by_place(finding: Finding) -> tuple[bool, str, int, int, str]:
    if not finding.places:
        return (True, "", 0, 0, finding.code)
    place = finding.places[0]
    return (False, place.file, place.line, place.start, finding.code)
