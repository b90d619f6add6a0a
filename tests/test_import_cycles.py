"""No cycle of imports, counted with all imports: for types alone, inside functions, and by a name in a text."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def structure() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parents[1] / "tools" / "structure.py"))


@pytest.fixture(scope="module")
def imports(structure: dict[str, Any]) -> dict[str, set[str]]:
    return structure["imports"]()


def test_no_cycle(structure: dict[str, Any], imports: dict[str, set[str]]) -> None:
    assert len(imports) > 500
    assert structure["cycle"](imports) == []


def test_no_cycle_of_rooms_but_those_that_have_a_reason(
    structure: dict[str, Any], imports: dict[str, set[str]]
) -> None:
    assert {package for package, _ in structure["between_packages"](imports)} == set(structure["BOTH_WAYS"])


def test_a_cycle_of_rooms_is_seen_though_no_file_is_in_one(structure: dict[str, Any]) -> None:
    there, back = (
        "symgrad.verification.mistakes.catalogue.stops",
        "symgrad.verification.mistakes.catalogue.powers",
    )
    imports = {"symgrad.verification.mistakes.rule": {there}, back: {"symgrad.verification.mistakes.rule"}}
    assert structure["cycle"](imports) == []
    assert [package for package, _ in structure["between_packages"](imports)] == [
        "symgrad/verification/mistakes"
    ]


def test_no_module_has_the_name_of_one_in_a_layer_above(
    structure: dict[str, Any], imports: dict[str, set[str]]
) -> None:
    named = set(structure["by_name"](imports))
    assert ("symgrad.api.handles.expr", "symgrad.api.reports.gradients") in named
    assert list(structure["upward"](imports)) == []
