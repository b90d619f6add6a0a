"""Documents in the manners of twelve people: no right line is refuted, no wrong one is proved.

Each row of written/*.jsonl has a document and the truth of some of its lines: students' homework, notes of physics,
appendices about learning, statistics, economics, engineering, textbooks, comments of referees.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import symgrad as sg

WRITTEN = Path(__file__).parent / "written"
DOCUMENTS: list[Mapping[str, Any]] = [
    json.loads(row)
    for path in sorted(WRITTEN.glob("*.jsonl"))
    for row in path.read_text(encoding="utf-8").splitlines()
]
# Lines that get a false verdict today, by document. What is mended leaves the list: the test asks for that.
KNOWN: Mapping[str, frozenset[str]] = {
    name: frozenset(lines.split())
    for name, lines in (
        row.split(": ") for row in (WRITTEN / "known.txt").read_text(encoding="utf-8").splitlines() if row
    )
}


@pytest.mark.parametrize("row", DOCUMENTS, ids=lambda row: row["id"])
def test_no_line_gets_a_false_verdict(row: Mapping[str, Any]) -> None:
    review = sg.review(row["document"])
    false: set[str] = set()
    for line, truth in row["truth"].items():
        found = {step.status or step.kind for step in review.steps if step.line == int(line)}
        wrong = truth == "wrong" and not found & {"refuted", "undecided", "not understood"}
        if (truth == "right" and "refuted" in found) or (wrong and found & {"proved", "supported"}):
            false.add(line)
    assert false == KNOWN.get(row["id"], frozenset()), review.text()


def test_there_are_three_hundred() -> None:
    assert len(DOCUMENTS) >= 300
    assert len({row["id"] for row in DOCUMENTS}) == len(DOCUMENTS)
    assert KNOWN.keys() <= {row["id"] for row in DOCUMENTS}
