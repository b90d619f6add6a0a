"""Cells in program notation, without IPython: names of earlier cells, and messages with their place."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg
from symgrad.apps.notebook.cells import bindings, error_report, read_cell
from symgrad.errors import SymgradError, UnknownNameError


def test_a_cell_reads_names_of_earlier_ones_and_speaks_them() -> None:
    names: dict[str, Any] = bindings(read_cell("x : positive\ny = x**2", "one", {}))
    later = read_cell("z = log(y) + x", "two", names)
    assert str(sg.grad(later["z"], "x")) == "1 + 2/x"
    assert str(later).splitlines() == ["x : positive", "y = x**2", "z = log(y) + x"]
    assert "y_bar = 1/y" in str(sg.explain(later["z"], "x"))


def test_what_a_cell_defines_hides_earlier_names() -> None:
    names: dict[str, Any] = bindings(read_cell("x : positive\ny = x**2", "one", {}))
    again = read_cell("x : real[n]\ny = sum(x)", "one", names)
    assert again["x"].shape == ("n",)


def test_a_bare_formula_is_of_known_names_if_all_are_known() -> None:
    names: dict[str, Any] = bindings(read_cell("x : positive\ny = x**2", "one", {}))
    assert str(read_cell("sqrt(y)", "two", names).last.canonical()) == "x"
    assert [str(i) for i in read_cell("sqrt(y*q)", "two", names).inputs] == ["y", "q"]


def test_names_that_are_no_formulas_are_not_read() -> None:
    with pytest.raises(UnknownNameError, match="unknown name 'w'") as caught:
        read_cell("x : real\ny = x*w", "two", {"w": 3.0})
    assert caught.value.at is not None
    assert (caught.value.at.line, caught.value.at.column) == (2, 7)


@pytest.mark.parametrize(
    ("text", "marked"),
    [("y = sin(q)\nz = y", "q"), ("x : real\ny = x**", "*"), ("x : real[2]\ny = x@<b>", "<")],
)
def test_a_message_marks_its_place(text: str, marked: str) -> None:
    with pytest.raises(SymgradError) as caught:
        sg.parse(text, "a cell")
    report = error_report(caught.value)
    (block,) = report.blocks
    assert marked in block.line[block.start : block.end] or block.end == block.start  # pyright: ignore[reportAttributeAccessIssue]
    page = report.fragment()
    assert "<mark>" in page
    assert "<b>" not in page
    assert "a cell, line" in page


def test_a_message_without_a_place_is_told_too() -> None:
    with pytest.raises(SymgradError) as caught:
        sg.grad(sg.parse("x : real; y = x"), "q")
    assert caught.value.what in error_report(caught.value).text()
