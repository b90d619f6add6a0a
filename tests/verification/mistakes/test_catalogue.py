"""The catalogue: each mistake is named on a problem of its own, and the page has a row for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import symgrad as sg
from symgrad.verification.mistakes.algebra import wrong_rewriting as rewritten
from symgrad.verification.mistakes.catalogue import REWRITINGS, ROWS
from symgrad.verification.mistakes.kinds import KINDS
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong
from symgrad.verification.verdict import Verdict
from tests.conftest import compare_golden
from tests.verification.mistakes.cases import CASES, Case, recognise
from tests.verification.mistakes.rewritings import REWRITTEN

ROOT = Path(__file__).parents[3]
HINTS = {  # told of claims in other words: tests/verification, tests/api, tests/apps/review
    "label-out-of-range",
    "constant-read-as-variable",
    "implicit-factor-lost",
    "implicit-sign",
    "implicit-upside-down",
}
INTRODUCTION = Path(__file__).with_name("introduction.md")
BETWEEN = Path(__file__).with_name("rewritings.md")


@cache
def verdict_on(case: Case) -> Verdict:
    value = sg.parse(f"\n{case.program}\n").last  # as the page has it
    return sg.verify(value, case.wrt, case.claim) if case.wrt else sg.equal(value, case.claim)


def name_of(case: Case) -> str:
    return f"{case.kind}: {case.claim}"


@pytest.mark.parametrize("case", [*CASES, *REWRITTEN], ids=name_of)
def test_it_is_named(case: Case) -> None:
    verdict = verdict_on(case)
    assert verdict.status == "refuted"
    kinds = [d.kind for d in verdict.diagnosis]
    assert case.kind in (kinds[:1] if case.first else kinds)


def test_every_kind_has_a_problem_and_a_line() -> None:
    assert {c.kind for c in (*CASES, *REWRITTEN) if c.shown} == {*KINDS} - HINTS
    assert {row.kind for row in (*ROWS, *REWRITINGS)} <= {*KINDS}


def test_every_wrong_rewriting_of_the_catalogue_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row of algebra is what gives the claim of some problem."""
    fired: set[str] = set()
    original = rewritten.confirmed

    def noted(found, deadline):
        fired.update(f.says for f in found)
        return original(found, deadline)

    monkeypatch.setattr(rewritten, "confirmed", noted)
    for case in REWRITTEN:
        _ = verdict_on.__wrapped__(case).diagnosis
    assert [row.says for row in REWRITINGS if row.says not in fired] == []


def test_every_row_of_the_catalogue_fires(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way to go wrong at an equation is made somewhere among the problems, and gives the claim of one."""
    fired: set[int] = set()

    def watched(row: MalRule[Site, Wrong], k: int) -> MalRule[Site, Wrong]:
        def distort(site: Site):
            for wrong in row.distort(site):
                wrong.words["row"] = k  # type: ignore[index]
                yield wrong

        return replace(row, distort=distort)

    monkeypatch.setattr(
        "symgrad.verification.mistakes.recognise.ROWS", tuple(watched(r, k) for k, r in enumerate(ROWS))
    )
    for case in CASES:
        for found in _all_found(case):
            fired.add(found)
    assert [ROWS[k].says for k in range(len(ROWS)) if k not in fired] == []


def _all_found(case: Case) -> list[int]:
    seen: list[int] = []

    def noted(found, deadline):
        seen.extend(f.words["row"] for f in found if "row" in f.words)
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symgrad.verification.mistakes.recognise.confirmed", noted)
        _ = verdict_on.__wrapped__(case).diagnosis
    return seen


def _row(case: Case) -> str:
    """Return the row of a mistake: its kind, a program, a claim that makes it, and the right formula."""
    (found,) = [d for d in verdict_on(case).diagnosis if d.kind == case.kind][:1]
    claim = f"`{case.claim}`" + (f", by `{case.wrt}`" if case.wrt else "")
    cells = (
        f"**{case.kind}**: {KINDS[case.kind]}",
        f"`{case.program}`",
        claim,
        f"`{found.corrected}`" if found.corrected else "",
    )
    in_one_line = (cell.replace("\nwhere\n  ", " where ").replace("\n", "; ") for cell in cells)
    return "| " + " | ".join(cell.replace("|", "\\|").replace(";   ", "; ") for cell in in_one_line) + " |"


def _table(cases: Sequence[Case]) -> str:
    head = ["| mistake | program | wrong | right |", "|---|---|---|---|"]
    return "\n".join([*head, *(_row(case) for case in cases if case.shown)]) + "\n"


def test_the_page_has_a_row_for_each_mistake(request: pytest.FixtureRequest) -> None:
    page = INTRODUCTION.read_text(encoding="utf-8") + _table(CASES)
    page += "\n" + BETWEEN.read_text(encoding="utf-8") + _table(REWRITTEN)
    update = bool(request.config.getoption("--update-golden"))
    compare_golden(ROOT / "docs" / "mistakes.md", page, update=update)


def test_the_texts_of_the_verdicts(golden: Callable[[str, str], None]) -> None:
    """All that is printed of each claim."""
    shown = [case for case in (*CASES, *REWRITTEN) if case.shown]
    golden("mistakes.txt", "\n\n".join(f"{case.kind}\n{verdict_on(case)}" for case in shown))


def test_nothing_is_said_of_a_program_that_is_too_large() -> None:
    long = "x : real\n" + "y = " + " + ".join(f"sin({k}*x)" for k in range(1, 300))
    program = sg.parse(long)
    assert sg.verify(program["y"], "x", "x", time_limit=1).diagnosis == []
    node = program["y"].node
    assert recognise(node, program["x"].node, node) == []
