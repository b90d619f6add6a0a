"""The commands that decide claims: what they print, write and end with."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from symgrad.apps.cli.check_report import checked_lines
from symgrad.apps.cli.options import EXIT
from symgrad.checker.check import CheckResult
from symgrad.checker.file.statement import statement_of
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.verification import batch
from symgrad.verification.verdict import Verdict

ROOT = "x : real\ny = sqrt(x**2)"


def test_the_exit_code_is_the_verdict(call) -> None:
    right = call("verify", ROOT, "--of", "y", "--wrt", "x", "--claim", "x/abs(x)")
    assert (right.exit_code, right.stdout.splitlines()[0].split(":")[0]) == (0, "proved")
    assert "not claimed where x = 0" in right.stdout
    wrong = call("verify", ROOT, "--claim", "1")
    assert (wrong.exit_code, wrong.stdout.split(":")[0]) == (5, "refuted")
    assert "proved where x > 0" in wrong.stdout


@pytest.mark.parametrize("status", ["supported", "undecided"])
def test_what_is_not_decided_has_codes_of_its_own(call, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    monkeypatch.setattr("symgrad.equal", lambda *_, **__: Verdict(status, "so"), raising=False)  # type: ignore[arg-type]
    done = call("equal", "x", "x", "--proof", "p.json")
    assert (done.exit_code, done.stdout) == (EXIT[status], f"{status}: so\n")
    assert "there is no proof to write" in done.stderr
    assert not Path("p.json").exists()


def test_codes_of_verdicts_are_apart_from_those_of_errors(call) -> None:
    assert sorted(EXIT.values()) == [0, 5, 6, 7]
    assert call("verify", ROOT, "--claim", "q").exit_code == 1
    assert call("equal", "x +", "x").exit_code == 1


def test_equal_takes_domains_and_files(call) -> None:
    assert call("equal", "sqrt(x**2)", "x").exit_code == 5
    assert call("equal", "sqrt(x**2)", "x", "--domain", "x=positive").exit_code == 0
    assert (
        call(
            "equal", "sqrt(x**2*y)", "x*sqrt(y)", "--domain", "x=real(0, 3)", "--domain", "y=positive"
        ).exit_code
        == 0
    )
    Path("left.sg").write_text("x : positive\nsqrt(x**2)\n")
    assert call("equal", "left.sg", "x").exit_code == 0
    assert call("equal", "-", "abs(x)", stdin="sqrt(x**2)").exit_code == 0


def test_a_verdict_as_json(call) -> None:
    data = json.loads(call("equal", "sqrt(x**2)", "x", "--format", "json").stdout)
    assert data["status"] == "refuted"
    assert data["witness"]["x"].startswith("-")
    assert {"status": "proved", "where": "x > 0", "excluded": []} in data["regions"]


def test_a_proof_is_written_and_checked(call) -> None:
    assert call("equal", "(x + 1)**2", "x**2 + 2*x + 1", "--proof", "out/p.json").exit_code == 0
    good = call("check", "out/p.json")
    assert (good.exit_code, good.stdout.split(":")[0]) == (0, "proved")
    data = json.loads(Path("out/p.json").read_text())
    number = next(s for s in data["program"]["steps"] if s[0] == "number" and s[2] == [{"q": "2"}])
    number[2] = [{"q": "3"}]
    Path("bad.json").write_text(json.dumps(data))
    bad = call("check", "bad.json")
    assert (bad.exit_code, bad.stdout.split(":")[0]) == (6, "supported")


def test_a_refutation_is_written_and_checked(call) -> None:
    call("verify", ROOT, "--claim", "1", "--proof", "p.json")
    done = call("check", "p.json")
    assert (done.exit_code, done.stdout.split(":")[0]) == (5, "refuted")
    *lines, where = done.stdout.splitlines()[1:]
    assert lines == ["  x : real", "  d(sqrt(x**2))/dx = 1"]
    assert re.fullmatch(r"  at x = -[0-9/]+: -1 against 1", where)


def test_the_checker_says_what_the_proof_leaves_out(call) -> None:
    call("equal", "(x**2 - 1)/(x - 1)", "x + 1", "--proof", "p.json")
    assert call("check", "p.json").stdout.splitlines()[-1] == "  not claimed where x - 1 = 0"


def test_the_checker_says_what_the_file_claims() -> None:
    steps = [
        ProofStep("symbol", (), ("s3",), ("n",)),
        ProofStep("number", (), (Fraction(1, 2),)),
        ProofStep("neg", (0,), (), ("n",)),
        ProofStep("exp", (2,), (), ("n",)),
        ProofStep("mul", (3, 3), (), ("n",)),
        ProofStep("cumsum", (4,), (0, False), ("n",)),
        ProofStep("add", (5, 1), (), ("n",)),
        ProofStep("constant", (), ("pi",)),
    ]
    program = ProofProgram(tuple(steps), (Symbol("s3", "real", Fraction(0), None, ("n",)),))
    assert list(checked_lines(CheckResult("proved", "so", statement=statement_of(program, 6, 7)))) == [
        "proved: so",
        "  n : size, n >= 1",
        "  s3 : real(0, oo)[n]",
        "  s3_ = exp(-s3)",
        "  cumsum(s3_*s3_, axis=0, reverse=False) + (1/2) = pi",
    ]


def test_a_long_claim_is_shown_in_lines(call) -> None:
    many = " + ".join(f"x**{k}" for k in range(2, 900))
    call("equal", many, many, "--proof", "p.json")
    shown = call("check", "p.json").stdout.splitlines()
    assert max(map(len, shown)) < 200
    assert len(shown) <= 64
    assert "more definitions, which --all shows" in shown[-2]
    whole = call("check", "p.json", "--all").stdout.splitlines()
    assert len(whole) > len(shown) + 50
    assert whole[-1] == shown[-1]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["check", "none.json"], 3, "none.json: No such file"),
        (["check", "text.json"], 2, "this is not a proof file: it is not JSON"),
        (["check", "bytes.json"], 2, "this is not a proof file: it is not JSON"),
        (["check", "list.json"], 2, "this is not a proof file"),
        (["verify"], 2, "there is no claim to verify"),
        (["verify", "x**2"], 2, "there is no claim to verify"),
        (["verify", "x*y", "--claim", "y"], 2, "not those by x, y"),
        (["verify", "x*y", "--wrt", "x,y", "--claim", "y"], 2, "not those by x, y"),
        (["equal", "x", "x", "--domain", "x"], 1, "unknown domain 'x'"),
        (["equal", "x", "x", "--domain", "complex", "--domain", "x=real"], 2, "'complex' declares nothing"),
        (["equal", "abs(x) > 0", "x == 0", "--domain", "complex"], 2, "complex numbers have no order"),
        (["check", "empty.json"], 2, "this is not a proof file"),
        (["equal", "x", "x", "--domain", ""], 2, "the domain is ''"),
        (["equal", "x", "x", "--domain", "x=real", "--domain", "x=positive"], 2, "a name has two domains"),
        (["equal", "x", "x", "--domain", "q=positive"], 2, "there is a domain for 'q'"),
        (["equal", "x", "x", "--time-limit", "0"], 2, "time_limit is 0"),
        (["verify", "--batch", "c.jsonl"], 2, "a batch needs a file for its results"),
        (["verify", "--batch", "c.jsonl", "-o", "c.jsonl"], 2, "another than that of --batch"),
        (["verify", "--batch", "c.jsonl", "-o", "text.json"], 2, "'text.json' is not a file of results"),
        (["verify", "--batch", "c.jsonl", "-o", "r", "--time-limit", "nan"], 2, "the time limit is nan"),
        (["verify", "--batch", "c.jsonl", "-o", "r", "--claim", "1"], 2, "leave out SOURCE"),
        (["verify", "--batch", "none.jsonl", "-o", "r"], 3, "none.jsonl: No such file"),
    ],
)
def test_what_is_wrong_is_said(call, args: list[str], code: int, message: str) -> None:
    Path("text.json").write_text("no")
    Path("bytes.json").write_bytes(b"\xff\xfe\x00")
    Path("list.json").write_text("[1]")
    Path("empty.json").write_text("{}")
    Path("c.jsonl").write_text('{"id": 1, "a": "x", "b": "x"}\n')
    done = call(*args)
    assert message in done.stderr
    assert done.exit_code == code


def test_a_batch_is_decided_and_resumed(call) -> None:
    rows = [
        {"id": "right", "program": ROOT, "of": "y", "wrt": "x", "claim": "x/abs(x)", "expect": "true"},
        {"id": "wrong", "a": "sqrt(x**2)", "b": "x", "expect": "false"},
        {"id": "odd"},
    ]
    Path("claims.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    arguments = ("verify", "--batch", "claims.jsonl", "-o", "results.jsonl", "--jobs", "1", "--replay")
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "results.jsonl: 1 error, 1 proved, 1 refuted\n"
    found = {r["id"]: r for r in map(json.loads, Path("results.jsonl").read_text().splitlines())}
    assert {k: (v["status"], v.get("checked"), v.get("expect")) for k, v in found.items()} == {
        "right": ("proved", "proved", "true"),
        "wrong": ("refuted", "refuted", "false"),
        "odd": ("error", None, None),
    }
    before = Path("results.jsonl").read_bytes()
    assert call(*arguments).stderr == "results.jsonl: nothing to do, 3 were there\n"
    assert Path("results.jsonl").read_bytes() == before


def test_an_interrupted_batch_says_that_it_can_go_on(call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object):
        yield {"id": 1, "status": "proved"}
        raise KeyboardInterrupt

    monkeypatch.setattr(batch, "run_rows", interrupted)
    Path("c.jsonl").write_text('{"id": 1, "a": "x", "b": "x"}\n{"id": 2, "a": "x", "b": "x"}\n')
    done = call("verify", "--batch", "c.jsonl", "-o", "r.jsonl")
    assert done.exit_code == 130
    assert "goes on with the other 1" in done.stderr
