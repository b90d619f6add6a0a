"""The benchmarks run and say what they measured; how fast anything is, no test decides."""

from __future__ import annotations

import math

import pytest
from click.testing import CliRunner

from benchmarks import chain, parsing
from benchmarks.measure import Options, Row, interleaved
from benchmarks.run import BENCHMARKS, cells, main, measured, page


def test_a_row_compares_with_its_peer_or_its_limit() -> None:
    against_peer = Row("w", 3.0, "ms", "numpy", 2.0, 1.4)
    assert against_peer.ratio == 1.5
    assert against_peer.holds is False
    assert cells(against_peer) == ("w", "3 ms", "numpy: 2 ms", "1.5", "1.4 EXCEEDED")
    assert Row("w", 30.0, "us", limit=40.0).holds is True
    assert Row("w", 30.0, "us").holds is None


def test_peers_are_taken_in_turns() -> None:
    calls: list[str] = []
    taken = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 3)
    assert calls == ["a", "b"] * 3
    assert set(taken) == {"a", "b"}


def test_the_chain_is_shared_and_repeatable() -> None:
    y, gradient, read = chain.build(60)
    again, _, _ = chain.build(60)
    assert y.same(again)
    assert len(gradient) == len(read) > 0
    assert len(y.equations) == 60


def test_texts_have_the_size_they_claim() -> None:
    import symgrad as sg

    assert len(sg.parse(parsing.flat_sum(50))["y"].equations) == 50 + 49
    assert len(sg.parse(parsing.many_lines(50)).outputs) == 51


def test_every_benchmark_exists() -> None:
    for name in BENCHMARKS:
        assert iter(measured(name, Options(quick=True)))


@pytest.mark.parametrize("name", ["parsing", "accuracy"])
def test_a_benchmark_runs_from_the_command_line(name: str) -> None:
    done = CliRunner().invoke(
        main, ["--quick", "--only", name], env={"COLUMNS": "160"}, catch_exceptions=False
    )
    assert done.exit_code == 0
    assert BENCHMARKS[name][2] in done.output


def test_the_page_has_a_line_for_every_figure_that_is_compared() -> None:
    rows = [
        Row("one", 1.0, "us", limit=2.0),
        Row("two", 2.0, "us", "it", 1.0, note="a note"),
        Row("alone", 1.0, "us"),
    ]
    text = page({"chain": rows}, "python -m benchmarks.run")
    assert "| one | 1 us |" in text
    assert "two (a note)" in text
    assert "alone" not in text
    assert all(math.isfinite(row.value) for row in rows)
