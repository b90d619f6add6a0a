"""The measure of stability, on rows made up here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from benchmarks.stability import bits, main, measure

ROW: dict[str, Any] = {"id": "made/up", "args": ["x"], "f": "exp(x) - 1", "box": {"x": [1e-9, 1]}}
POINTS = [
    {"id": "made/up", "point": {"x": 1e-9}, "f": "1.00000000050000000016667e-9", "grad": {"x": "1.000000001000000001"}},
    {"id": "made/up", "point": {"x": 1}, "f": "1.71828182845904523536", "grad": {"x": "2.71828182845904523536"}},
]  # fmt: skip


def test_bits_count_ulps_and_bound_what_is_no_number() -> None:
    assert (
        bits(1.0, "1")
        == bits(0.0, "0")
        == bits(0.0, "1e-9999999999")
        == bits(float("inf"), "1e999999999")
        == 0
    )
    assert bits(1 + 2**-52, "1") == 1
    assert bits(float("nan"), "1") == bits(1.0, "1e400") == 64
    assert 30 < bits(1e-9, "1.000001e-9") < 40


def test_forms_are_compared_at_every_point() -> None:
    found = measure(ROW, POINTS)
    assert found.texts["f stable"] == "expm1(x)"
    assert found.errors["f as written"][0] > 20
    assert found.worst("f stable") < 1
    assert found.worse("f stable", "f as written") < 1
    assert len(found.errors["grad compiled"]) == 2
    assert found.worst("grad compiled") < 2


def test_the_report(tmp_path: Path) -> None:
    rows, refs, out = (tmp_path / name for name in ("rows.jsonl", "refs.jsonl", "out.jsonl"))
    rows.write_text(json.dumps(ROW) + "\n")
    refs.write_text("".join(json.dumps(p) + "\n" for p in POINTS))
    result = CliRunner().invoke(main, [str(rows), str(refs), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "Bits of error, 1 rows" in result.output
    assert json.loads(out.read_text())["id"] == "made/up"
    assert CliRunner().invoke(main, [str(rows), str(refs), "--only", "none"]).exit_code == 1
