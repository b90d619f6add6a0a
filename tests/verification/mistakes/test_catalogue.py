"""The catalogue: each mistake is named on a problem of its own, and the page shows what is said."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import symgrad as sg
from symgrad.verification.mistakes.algebra import rewritten
from symgrad.verification.mistakes.kinds import KINDS
from symgrad.verification.mistakes.recognise import recognise
from symgrad.verification.mistakes.rows import REWRITINGS, ROWS
from symgrad.verification.mistakes.rule import MalRule, Site
from symgrad.verification.verdict import Verdict
from tests.conftest import compare_golden
from tests.verification.mistakes.cases import CASES, Case
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

    def watched(row: MalRule, k: int) -> MalRule:
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


def _listed(case: Case) -> str:
    lines = case.program.split("\n")
    told = [f"... {line}" for line in lines]
    result = lines[-1].split(" = ")[0]
    text = str(verdict_on(case))
    return "\n".join(
        [
            f"**{case.kind}**: {KINDS[case.kind]}.",
            "",
            "```python",
            '>>> p = sg.parse("""',
            *told,
            '... """)',
            f'>>> print(sg.verify(p["{result}"], "{case.wrt}", "{case.claim}"))'
            if case.wrt
            else f'>>> print(sg.equal(p["{result}"], "{case.claim}"))',
            text,
            "",
            "```",
            "",
        ]
    )


def test_the_page_shows_what_is_said(request: pytest.FixtureRequest) -> None:
    page = INTRODUCTION.read_text(encoding="utf-8") + "\n".join(_listed(c) for c in CASES if c.shown)
    page += "\n" + BETWEEN.read_text(encoding="utf-8") + "\n".join(_listed(c) for c in REWRITTEN if c.shown)
    update = bool(request.config.getoption("--update-golden"))
    compare_golden(ROOT / "docs" / "mistakes.md", page, update=update)


def test_nothing_is_said_of_a_program_that_is_too_large() -> None:
    long = "x : real\n" + "y = " + " + ".join(f"sin({k}*x)" for k in range(1, 300))
    program = sg.parse(long)
    assert sg.verify(program["y"], "x", "x", time_limit=1).diagnosis == []
    node = program["y"].node
    assert recognise(node, program["x"].node, node, deadline=0.0) == []
