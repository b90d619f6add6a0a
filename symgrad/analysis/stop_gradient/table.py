"""The table of the checks of `symgrad.lint`, with their codes, names, severities and functions.

The codes SG1xx concern stop_gradients, SG2xx the choice of output and inputs, SG3xx values and gradients that are NaN
or zero, and SG4xx rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from symgrad.analysis.stop_gradient.checks import cancellation as cancels
from symgrad.analysis.stop_gradient.checks import dead, flat, guard, inexact, nans, redundant
from symgrad.analysis.stop_gradient.checks import non_scalar as summed
from symgrad.analysis.stop_gradient.checks import unintended_paths as misplaced
from symgrad.analysis.stop_gradient.checks import zero_gradient as nothing
from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.analysis.stop_gradient.finding import Finding, Severity
from symgrad.analysis.stop_gradient.ranges import overflow


class Check(NamedTuple):
    """A row of the table of checks.

    Attributes:
        code: the code that suppresses its findings.
        name: the name in words.
        severity: the severity of its findings, unless a finding has another; see `Finding`.
        says: the fault, as a sentence.
        find: the function that yields the findings.
    """

    code: str
    name: str
    severity: Severity
    says: str
    find: Callable[[LintQuery], Iterable[Sighting]]


# fmt: off
CHECKS = (
    Check("SG101", "redundant-stop", "note", "a stop_gradient changes nothing", redundant.find),
    Check("SG102", "dead-stop", "note", "no derivative arrives at a stop_gradient", dead.find),
    Check("SG103", "noise-gets-through", "error", "an input named as noise enters the gradient", misplaced.noise),
    Check("SG104", "frozen-gets-through", "error", "an input named as frozen has a gradient", misplaced.frozen),
    Check("SG201", "silent-sum", "note", "y is an array, so the gradient is that of the sum of y", summed.find),
    Check("SG202", "disconnected", "error", "y does not depend on one of wrt", nothing.disconnected),
    Check("SG203", "stopped", "error", "every path from y to one of wrt is stopped", nothing.stopped),
    Check("SG204", "zero", "error", "every derivative along the paths to one of wrt is 0", nothing.zero),
    Check("SG205", "no-tangent", "error", "one of wrt is whole numbers or truth values", nothing.whole),
    Check("SG206", "unused-variable", "warning", "y does not depend on one of the variables", nothing.unused),
    Check("SG301", "nan-where", "warning", "the branch that is not taken makes the gradient NaN", nans.choices),
    Check("SG302", "nan-root", "warning", "the gradient is NaN where a root or the like has a value", nans.roots),
    Check("SG303", "late-guard", "warning", "a guard comes after a root, which is too late", guard.find),
    Check("SG304", "dead-region", "note", "no gradient in a region: a value is cut off or stopped", flat.find),
    Check("SG305", "cancels", "warning", "the gradient is zero, because its terms cancel", cancels.find),
    Check("SG306", "overflow", "warning", "floats lose a value or gradient that is an ordinary number", overflow.find),
    Check("SG401", "rounded-value", "note", "a straight-through value is rounded", inexact.find),
)
# fmt: on


def findings(query: LintQuery, ignore: Collection[str] = ()) -> list[Finding]:
    """Run the checks on a program; return the findings, sorted by place and then by code.

    Args:
        query: the program and the intent of its author.
        ignore: codes of checks to skip.
    """
    found: list[Finding] = []
    for check in CHECKS:
        if check.code not in ignore:
            found += [_finding(query, check, f) for f in check.find(query)]
    return sorted(found, key=_by_place)


def _finding(query: LintQuery, check: Check, found: Sighting) -> Finding:
    nodes = [n for n in (found.node, *found.also) if n is not None]
    return Finding(
        code=check.code,
        name=check.name,
        severity=found.severity or check.severity,
        message=found.message,
        reason=found.reason,
        equation=None if found.node is None else query.body(found.node),
        places=query.places(nodes),
        repaired=found.repaired,
        cure=found.cure,
        verdict=found.verdict,
    )


def _by_place(finding: Finding) -> tuple[bool, str, int, int, str]:
    if not finding.places:
        return (True, "", 0, 0, finding.code)
    place = finding.places[0]
    return (False, place.file, place.line, place.start, finding.code)
