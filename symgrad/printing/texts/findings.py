"""Write findings of checks for people and tools: as text, as SARIF, and as commands of GitHub's workflows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from symgrad.analysis.stop_gradient.finding import Finding
from symgrad.support.source import Location, Place, Source, Span

_LEVELS = {"error": "error", "warning": "warning", "note": "note"}  # SARIF uses the same words
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


# ------------------------------------------------------------------------------------------------------------- text


def findings_text(findings: Sequence[Finding]) -> str:
    """Return findings one after the other, each with its line of code; at the end, their number.

    Example:
        >>> from symgrad.analysis.stop_gradient.finding import Finding
        >>> print(findings_text([Finding("SG101", "redundant-stop", "note", "it changes nothing", "by z alone")]))
        SG101 it changes nothing (note, redundant-stop)
          by z alone
        <BLANKLINE>
        1 finding: 1 note
    """
    if not findings:
        return "nothing found"
    counts = Counter(f.severity for f in findings)
    kinds = ", ".join(f"{_many(counts[s], s)}" for s in _LEVELS if counts[s])
    return "\n\n".join([*map(_finding_text, findings), f"{_many(len(findings), 'finding')}: {kinds}"])


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")


def _finding_text(f: Finding) -> str:
    lines = [f"{f.code} {f.message} ({f.severity}, {f.name})"]
    if f.places:
        lines.append(_line_text(f.places[0]))
        lines += [f"  also {place.told}" for place in f.places[1:]]
    elif f.equation is not None:
        lines.append(f"    {f.equation}")
    lines.append(_indented(f.reason))
    if f.cure is not None:
        lines.append(_indented(f"instead: {f.cure}"))
    if f.verdict is not None:
        lines.append(_indented(f"{f.verdict.status}: {f.verdict.why}"))
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _line_text(place: Place) -> str:
    """Return a line of code as messages show it, with a caret.

    If its file cannot be read, the line comes from the record.
    """
    location = place.location()
    if place.text and place.text in location.source.text:
        return location.render()
    source = Source("\n" * (place.line - 1) + " " * place.start + place.text, place.file or "<text>")
    start = place.line - 1 + place.start
    return Location(source, Span(start, start + max(1, place.end - place.start))).render()


# ------------------------------------------------------------------------------------------------------------ SARIF

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def findings_sarif(findings: Sequence[Finding], helps: Mapping[str, str], version: str) -> dict[str, Any]:
    """Return findings as a log of SARIF 2.1.0, the format that code hosts show next to lines.

    Args:
        findings: the findings.
        helps: for each code a few sentences about its check.
        version: the version of symgrad.

    Source:
        OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", 2020.

    Example:
        >>> from symgrad.analysis.stop_gradient.finding import Finding
        >>> f = Finding("SG101", "redundant-stop", "note", "it changes nothing", "by z alone")
        >>> log = findings_sarif([f], {"SG101": "A stop that changes nothing."}, "1.0")
        >>> log["version"], log["runs"][0]["results"][0]["ruleId"]
        ('2.1.0', 'SG101')
    """
    first = {f.code: f for f in reversed(findings)}
    codes = sorted(first)
    rules = [
        {
            "id": code,
            "name": "".join(part.capitalize() for part in first[code].name.split("-")),
            "shortDescription": {"text": first[code].name.replace("-", " ")},
            "help": {"text": helps.get(code, first[code].name.replace("-", " "))},
            "defaultConfiguration": {"level": _LEVELS[first[code].severity]},
        }
        for code in codes
    ]
    driver = {"name": "symgrad", "version": version, "rules": rules}
    results = [_result(f, codes.index(f.code)) for f in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(f: Finding, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": f.code,
        "ruleIndex": rule,
        "level": _LEVELS[f.severity],
        "message": {"text": _sentences(f, f"{f.message}.", "Instead")},
    }
    known = _in_files(f)
    if known:
        result["locations"] = [_physical(known[0])]
    if known[1:]:
        result["relatedLocations"] = [{"id": k, **_physical(p)} for k, p in enumerate(known[1:], 1)]
    if known and f.replacement is not None:
        change = {
            "artifactLocation": {"uri": _uri(known[0].file)},
            "replacements": [
                {"deletedRegion": _region(known[0]), "insertedContent": {"text": f.replacement}}
            ],
        }
        result["fixes"] = [
            {"description": {"text": f.cure or f"write {f.replacement}"}, "artifactChanges": [change]}
        ]
    properties = {
        "equation": f.equation,
        "repaired": None if f.repaired is None else str(f.repaired),
        "verdict": None if f.verdict is None else f.verdict.status,
    }
    present = {key: value for key, value in properties.items() if value is not None}
    return {**result, "properties": present} if present else result


def _sentences(f: Finding, message: str, instead: str) -> str:
    return "\n".join([message, f.reason, *([] if f.cure is None else [f"{instead}: {f.cure}"])])


def _in_files(f: Finding) -> list[Place]:
    """Return the places in files; a program may also come from standard input or from the command line."""
    return [p for p in f.places if p.file and not p.file.startswith("<")]


def _physical(place: Place) -> dict[str, Any]:
    return {
        "physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": _region(place)},
    }


def _region(place: Place) -> dict[str, int]:
    region = {"startLine": place.line, "startColumn": place.start + 1}
    return {**region, "endColumn": place.end + 1} if place.end > place.start else region


def _uri(file: str) -> str:
    """Return the URI of a file; inside the working directory it is relative to this directory, as code hosts expect."""
    path = _relative(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _relative(file: str) -> Path:
    path = Path(file).absolute()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


# ----------------------------------------------------------------------------------------------------------- GitHub


def findings_github(findings: Sequence[Finding]) -> str:
    """Return findings as commands of GitHub's workflows, which annotate lines; an empty text if there are none.

    Example:
        >>> from symgrad.support.source import Place
        >>> from symgrad.analysis.stop_gradient.finding import Finding
        >>> at = Place("train.py", 7, 4, 10)
        >>> print(findings_github([Finding("SG501", "plain-number", "warning", "50% is lost", "by z", places=(at,))]))
        ::warning file=train.py,line=7,col=5,endColumn=11,title=SG501 plain-number::50%25 is lost%0Aby z
    """
    return "\n".join(map(_command, findings))


def _command(f: Finding) -> str:
    place = next(iter(_in_files(f)), None)
    properties: list[tuple[str, Any]] = []
    if place is not None:
        near = _relative(place.file).as_posix()
        properties += [("file", near), ("line", place.line), ("col", place.start + 1)]
        if place.end > place.start:
            properties.append(("endColumn", place.end + 1))
    properties.append(("title", f"{f.code} {f.name}"))
    listed = ",".join(
        f"{key}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}" for key, value in properties
    )
    return f"::{_COMMANDS[f.severity]} {listed}::{_escaped(_sentences(f, f.message, 'instead'))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
