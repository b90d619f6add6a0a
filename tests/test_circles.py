"""No circle of imports, counted with all imports: for types alone, inside functions, and by a name in a text."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def house() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parents[1] / "tools" / "house.py"))


@pytest.fixture(scope="module")
def imports(house: dict[str, Any]) -> dict[str, set[str]]:
    return house["imports"]()


def test_no_circle(house: dict[str, Any], imports: dict[str, set[str]]) -> None:
    assert len(imports) > 500
    assert house["circle"](imports) == []


def test_no_circle_of_rooms_but_those_that_have_a_reason(
    house: dict[str, Any], imports: dict[str, set[str]]
) -> None:
    assert {room for room, _ in house["between_rooms"](imports)} == set(house["BOTH_WAYS"])


def test_a_circle_of_rooms_is_seen_though_no_file_is_in_one(house: dict[str, Any]) -> None:
    there, back = "symgrad.verification.mistakes.rows.stops", "symgrad.verification.mistakes.rows.powers"
    imports = {"symgrad.verification.mistakes.rule": {there}, back: {"symgrad.verification.mistakes.rule"}}
    assert house["circle"](imports) == []
    assert [room for room, _ in house["between_rooms"](imports)] == ["symgrad/verification/mistakes"]


def test_no_module_has_the_name_of_one_in_a_layer_above(
    house: dict[str, Any], imports: dict[str, set[str]]
) -> None:
    named = set(house["by_name"](imports))
    assert ("symgrad.api.handles.expr", "symgrad.api.reports.gradients") in named
    assert list(house["upward"](imports)) == []
