"""Closed forms against draws: the benchmark hears what pages audit, and would tell a wrong form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks import moments


def test_every_audit_of_a_page_is_held_against_draws() -> None:
    examples = moments.examples_of("explain.md")
    assert len(examples) == 4
    for example in examples:
        worst, known = moments.errors_of(example.audit, 10**5)
        assert worst < 5
        assert known == {"closed form"}


def test_a_form_that_is_off_by_a_thousandth_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    right = moments.sampled

    def shifted(*given: Any) -> Any:
        found = right(*given)
        return replace(found, value=found.value * 1.001)

    monkeypatch.setattr(moments, "sampled", shifted)
    worst = [moments.errors_of(e.audit, 10**5)[0] for e in moments.examples_of("explain.md")]
    assert max(worst) > 5
