"""The measure of digits, on rows made up here."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks.digits import main

ROWS = [
    {"declare": "x : real", "formula": "sin(x)/x", "order": 1, "at": 1e-8, "exact": "-3.333333333333333e-9"},
    {
        "declare": "x : positive",
        "formula": "log(1-exp(-x))",
        "order": 0,
        "at": 40.0,
        "exact": "-4.248354255291589e-18",
    },
    {"declare": "x : real", "formula": "x**2", "order": 1, "at": 2.0, "exact": "5"},
]


def test_rows_are_counted(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(r) + "\n" for r in ROWS), encoding="utf-8")
    result = CliRunner().invoke(main, [str(rows)])
    assert result.exit_code == 0, result.output
    assert result.output.count("1 of 2") == 3
    assert result.output.count("1 of 1") == 3
    assert "x**2" in result.output
