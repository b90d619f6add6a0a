"""Batches: rows that misbehave cost a process and no more, and a file of results can be resumed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from symgrad.api.claims.batch_rows import decide_claim
from symgrad.errors import InternalError, UsageError
from symgrad.verification.batch import Limits, finished_ids, read_rows, run_rows
from tests.verification.deciders import act


def written(path: Path, *rows: Any) -> Path:
    path.write_text(
        "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8"
    )
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(tmp_path: Path, *rows: Any, jobs: int = 1, limits: Limits | None = None) -> dict[Any, dict[str, Any]]:
    claims, output = written(tmp_path / "claims.jsonl", *rows), tmp_path / "out" / "results.jsonl"
    yielded = list(run_rows(read_rows(claims), act, output, jobs=jobs, limits=limits or Limits(60)))
    assert lines(output) == yielded
    assert finished_ids(output) == {line["id"] for line in yielded}
    return {line["id"]: line for line in yielded}


def test_rows_that_are_none_get_a_line_with_an_error(tmp_path: Path) -> None:
    found = run(tmp_path, "{", "", "[1]", {"id": 7}, {"id": 7}, {"id": True}, {"id": "a b", "expect": "true"})
    assert {k: v["status"] for k, v in found.items()} == {
        "line 1": "error",
        "line 3": "error",
        7: "proved",
        "line 6": "proved",
        "a b": "proved",
    } | {7: found[7]["status"]}
    assert "line 1 is not JSON" in found["line 1"]["why"]
    assert found["a b"]["expect"] == "true"
    assert "expect" not in found["line 6"]


def test_an_id_that_occurs_twice_is_an_error_the_second_time(tmp_path: Path) -> None:
    first, second = read_rows(written(tmp_path / "c", {"id": 1}, {"id": 1}))
    assert (first.error, second.error) == ("", "line 1 has this id too")
    assert second.data is None


def test_a_line_may_hold_any_character_but_the_end_of_a_line(tmp_path: Path) -> None:
    (row,) = read_rows(written(tmp_path / "c", '{"id": "a\u2028b"}'))
    assert row.id == "a\u2028b"


def test_a_row_that_takes_too_long_is_undecided_and_the_next_one_is_decided(tmp_path: Path) -> None:
    found = run(tmp_path, {"id": 1, "sleep": 600}, {"id": 2}, limits=Limits(0.5, 3))
    assert (found[1]["status"], found[1]["why"]) == ("undecided", "the time limit")
    assert 3 <= found[1]["seconds"] < 600
    assert found[2]["status"] == "proved"
    assert found[2]["why"] == "0.5 s"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the operating system bounds no memory")
def test_a_row_that_takes_too_much_memory_is_undecided(tmp_path: Path) -> None:
    limits = Limits(60, memory=256)
    found = run(tmp_path, {"id": 1, "mebibytes": 2000}, {"id": 2, "mebibytes": 100}, limits=limits)
    assert (found[1]["status"], found[1]["why"]) == ("undecided", "memory")
    assert found[2]["status"] == "proved"


def test_a_process_that_ends_is_undecided_and_replaced(tmp_path: Path) -> None:
    found = run(tmp_path, {"id": 1}, {"id": 2, "exit": 9}, {"id": 3}, {"id": 4})
    assert (found[2]["status"], found[2]["why"]) == ("undecided", "the process ended with code 9")
    assert found[1]["process"] != found[3]["process"] == found[4]["process"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_an_abort_is_taken_for_the_end_of_memory(tmp_path: Path) -> None:
    found = run(tmp_path, {"id": 1, "abort": True})
    assert found[1]["why"] == "memory (the process ended with signal 6)"


def test_rows_run_side_by_side(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    found = run(tmp_path, *({"id": k, "meet": str(here)} for k in range(2)), jobs=2)
    assert [line["status"] for line in found.values()] == ["proved", "proved"]
    assert len({line["process"] for line in found.values()}) == 2


def test_processes_that_do_not_start_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_TEST_NO_START", "1")
    with pytest.raises(InternalError, match="ended with code 3 before its first row"):
        run(tmp_path, {"id": 1})


def test_a_stopped_batch_goes_on_where_it_was(tmp_path: Path) -> None:
    claims = written(tmp_path / "claims", *({"id": k} for k in range(3)))
    output = tmp_path / "results"
    going = run_rows(read_rows(claims), act, output, jobs=1, limits=Limits(60))
    next(going)
    going.close()  # what Ctrl-C does
    assert finished_ids(output) == {0}
    rest = [row for row in read_rows(claims) if row.id not in finished_ids(output)]
    list(run_rows(rest, act, output, jobs=1, limits=Limits(60)))
    assert [line["id"] for line in lines(output)] == [0, 1, 2]


WHOLE = '{"id": 1, "status": "proved"}'


@pytest.mark.parametrize("end", ["", '{"id": 2, "status": "pro', '{"', "{"])
def test_a_last_line_that_was_cut_off_is_removed(tmp_path: Path, end: str) -> None:
    output = tmp_path / "results"
    output.write_text(f"{WHOLE}\n{end}", encoding="utf-8", newline="")
    assert finished_ids(output) == {1}
    assert output.read_bytes() == f"{WHOLE}\n".encode()


def test_a_last_line_that_lacks_its_end_alone_is_kept(tmp_path: Path) -> None:
    output = tmp_path / "results"
    output.write_text(WHOLE, encoding="utf-8", newline="")
    assert finished_ids(output) == {1}
    assert output.read_bytes() == f"{WHOLE}\n".encode()


@pytest.mark.parametrize(
    "text", ["my notes", "my notes\n", '{"id": 1, "a": "x"}\n', "[1]\n", '{"id": [], "status": 0}\n']
)
def test_another_file_is_left_alone(tmp_path: Path, text: str) -> None:
    output = tmp_path / "notes"
    output.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(UsageError, match="not a file of results"):
        finished_ids(output)
    assert output.read_bytes() == text.encode()


PROGRAM = "x : real\ny = sqrt(x**2)"


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({"program": PROGRAM, "of": "y", "wrt": "x", "claim": "x/abs(x)"}, "proved"),
        ({"program": PROGRAM, "wrt": "x", "claim": "1"}, "refuted"),
        ({"a": "sqrt(x**2)", "b": "x"}, "refuted"),
        ({"a": "sqrt(x**2)", "b": "x", "domain": {"x": "positive"}}, "proved"),
        ({"a": "sqrt(x**2)", "b": "x", "domain": "positive"}, "proved"),
        ({"a": "sqrt(x)**2", "b": "x", "domain": "complex"}, "proved"),
        ({"program": "z : real\nlog(z)", "wrt": "z", "claim": "1/abs(z)", "domain": "complex"}, "refuted"),
        ({"a": "sqrt(x**2)", "b": "x", "domain": ["x"]}, "UsageError"),
        ({"a": 1, "b": "x"}, "UsageError"),
        ({"a": "x"}, "UsageError"),
        ({"program": PROGRAM, "of": "q", "wrt": "x", "claim": "1"}, "NotInProgramError"),
        ({"program": PROGRAM, "wrt": "x", "claim": "1 +"}, "ProgramSyntaxError"),
    ],
)
def test_what_a_row_says_is_decided_or_is_an_error(row: dict[str, Any], status: str) -> None:
    found = decide_claim(row, 10, replay=True)
    assert status in (found["status"], found.get("error"))
    assert found.get("checked", status) == status


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"domian": {"x": "positive"}}, "the key 'domian' of the row means nothing"),
        ({"domian": {"x": "positive"}}, "did you mean 'domain'?"),
        ({"program": PROGRAM, "wrt": "x", "claim": "1"}, "the row is two claims"),
        ({"claim": "1"}, "it has claim and a, b"),
        ({"domain": ""}, "the domain is ''"),
    ],
)
def test_what_would_not_be_read_is_an_error(more: dict[str, Any], words: str) -> None:
    row = {"id": 1, "a": "sqrt(x**2)", "b": "x", "expect": "false"}
    assert decide_claim(row, 10)["status"] == "refuted"
    found = decide_claim({**row, **more}, 10)
    assert (found["status"], found["error"]) == ("error", "UsageError")
    assert words in found["why"]


def test_a_fault_of_ours_is_the_result_of_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("symgrad.api.claims.batch_rows.equal", broken)
    found = decide_claim({"a": "x", "b": "x"}, 10)
    assert (found["status"], found["error"]) == ("error", "ZeroDivisionError")
    assert "a fault in symgrad" in found["why"]
