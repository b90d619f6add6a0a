"""Write findings of checks as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from symgrad.analysis.stop_gradient.finding import Finding
from symgrad.report.blocks import Banner, FindingBlock, Literal, Prose, Tone, prose
from symgrad.report.report import Report

_TONES: dict[str, Tone] = {"error": "bad", "warning": "warn", "note": "open"}


def findings_report(findings: Sequence[Finding]) -> Report:
    """Return findings as a report, each with the line of code at which it is.

    Example:
        >>> print(findings_report([Finding("SG101", "redundant-stop", "note", "it changes nothing", "by z alone")]))
        Findings
        <BLANKLINE>
        1 note
        <BLANKLINE>
        SG101 it changes nothing
          note, redundant-stop
          by z alone
    """
    counts = Counter(f.severity for f in findings)
    kinds = ", ".join(f"{counts[s]} {s}{'s' if counts[s] > 1 else ''}" for s in _TONES if counts[s])
    tones: list[Tone] = [tone for s, tone in _TONES.items() if counts[s]] or ["good"]
    banner = Banner(kinds or "nothing was found", tones[0])
    return Report("Findings", (banner, *map(finding_block, findings)))


def finding_block(f: Finding) -> FindingBlock:
    """Return a finding with the line of code at which it is."""
    notes: list[Prose] = [prose(f.reason)]
    if not f.places and f.equation is not None:
        notes.insert(0, prose(Literal(f.equation)))
    if f.cure is not None:
        notes.append(prose("Instead: ", Literal(f.cure)))
    if f.verdict is not None:
        notes.append(prose(f"{f.verdict.status}: {f.verdict.why}"))
    kind = f"{f.severity}, {f.name}"
    title = f"{f.code} {f.message}"
    if not f.places:
        return FindingBlock(prose(title), _TONES[f.severity], kind, said=tuple(notes))
    first, *others = f.places
    notes += [prose(f"Also {place.told}") for place in others]
    location = first.location()
    line, start = location.source.line(location.line), first.start
    if first.text not in line:  # the file has changed since
        line, start = first.text, 0
    end = start + max(1, first.end - first.start)
    place = f"{kind}; {first.file or '<text>'}, line {first.line}"
    return FindingBlock(prose(title), _TONES[f.severity], place, line, start, end, tuple(notes))
