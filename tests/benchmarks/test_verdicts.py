"""The report on verdicts, and the claims that are made of corpora: on rows made up here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import symgrad as sg
from benchmarks import peer, verdicts
from benchmarks.claims import CORPORA, claims_of, spelled
from benchmarks.verdicts import PAGE, causes, main, page, spread, summary, written


def one(corpus: str, **record: Any) -> dict[str, Any]:
    (claim,) = claims_of(corpus, [record])
    return claim


def decided(claim: dict[str, Any]) -> str:
    program = sg.parse(claim["program"])
    return sg.verify(program[claim["of"]], program[claim["wrt"]], claim["claim"]).status


RUBI = {"id": "r", "x": "x", "params": ["f", "F", "y"]}


def test_names_of_parameters_may_be_any() -> None:
    claim = one("rubi", **RUBI, F="f*x**2 + F*y", f="2*f*x")
    assert claim["of"] not in {"f", "F", "y", "x"}
    assert (decided(claim), claim["expect"]) == ("proved", "true")
    claim = one("rubi_negatives", **RUBI, F="f*x**2 + F*y", wrong_f="f*x")
    assert (decided(claim), claim["expect"]) == ("refuted", "false")


@pytest.mark.parametrize(
    ("corpus", "record", "status", "expect"),
    [
        (
            "diffrules",
            {"wrt": "x", "f": "x*log(y)", "df": "log(y)", "check": {"status": "true"}},
            "proved",
            "true",
        ),
        ("diffrules", {"wrt": "x", "f": "x", "df": "1", "check": {"status": "mixed"}}, "proved", None),
        (
            "diffrules",
            {"wrt": "x", "f": "Max(x, y)", "df": "Piecewise((1, x > y), (0, True))", "note": ""},
            "proved",
            "true",
        ),
        (
            "torch_elementwise",
            {
                "wrt": "x",
                "f": "sqrt(x**2)*w + lam - sqrt(lam**2)",
                "df": "w",
                "params": ["w", "lam"],
                "domain_x": "pos",
                "points": [{"x": 2.0, "w": 1.0, "lam": 1.0}],
            },
            "proved",
            "true",
        ),
        (
            "sympy_diff",
            {
                "class": "scalar",
                "f": "Min(1, x)*a",
                "wrt": ["(x, 1)"],
                "expected": "Heaviside(1 - x)*a",
                "assumptions": {"a": {"positive": True}},
            },
            "proved",
            "true",
        ),
        (
            "matrix_wrong_claims",
            {
                "f": "b@A@x",
                "wrt": "x",
                "df": "A@b",
                "vars": {"x": "n", "b": "n", "A": "nn"},
                "claim": "false",
            },
            "refuted",
            "false",
        ),
        (
            "right_claims",
            {"program": "x : real\nf = x**2", "of": "f", "wrt": "x", "claim": "2*x", "kind": "scalar"},
            "proved",
            "true",
        ),
    ],
)
def test_a_row_of_a_corpus_is_a_claim(
    corpus: str, record: dict[str, Any], status: str, expect: str | None
) -> None:
    claim = one(corpus, id="r", **record)
    assert (decided(claim), claim.get("expect")) == (status, expect)


def matrices(**record: Any) -> dict[str, Any]:
    return one("matrix_identities", id="m", claim="true", **record)


def test_facts_on_matrices_are_built_into_the_program() -> None:
    claim = matrices(f="x@W@x", wrt="x", df="2*W@x", vars={"x": "n", "W": "nn sym"})
    assert claim["program"] == "x : real[n]\nW : real[n, n] symmetric\ny = x@W@x"
    assert decided({**claim, "claim": "W@x"}) == "refuted"
    assert decided(claim) in ("proved", "supported")
    by_matrix = matrices(f="x@W@x", wrt="W", df="outer(x, x)", vars={"x": "n", "W": "nn spd"})
    assert decided(by_matrix) in ("proved", "supported")


def test_a_result_with_axes_gets_a_cotangent_and_lengths_that_are_numbers_stay() -> None:
    claim = matrices(f="A@x", wrt="x", df="A.T@G", vars={"x": "n", "A": "mn"})
    assert claim["program"].splitlines()[-2:] == ["G : real[m]", "y = sum(G*(A@x))"]
    claim = matrices(f="trace(X)", wrt="X", df="eye(4)", vars={"X": "nn"})
    assert claim["program"] == "X : real[4, 4]\ny = trace(X)"


def test_spellings() -> None:
    assert spelled("mp(X, 3).T") == "matrix_power(X, 3).T"
    assert spelled("2*pinv(X)") == "2 * (inv(X.T @ X) @ X.T)"
    assert spelled("B.reshape(4, 2)") == "reshape(B, (4, 2))"
    assert spelled("x*y") == "x*y"


TRACKER = {"id": "t", "order": 1, "point": {"x": 3}, "lang": "sympy", "wrt": "x", "expr": "x**2"}


def test_of_a_bug_both_derivatives_are_claims() -> None:
    right, wrong = claims_of(
        "tracker_bugs", [{**TRACKER, "expected": "2*x", "wrong": "x", "check": {"expected_err": 0}}]
    )
    assert (right["id"], right["expect"], decided(right)) == ("t/expected", "true", "proved")
    assert (wrong["id"], wrong["expect"], decided(wrong)) == ("t/wrong", "false", "refuted")


@pytest.mark.parametrize(
    "record",
    [
        {"expected": "6", "wrong": None},  # at the point alone
        {"expected": "2*x", "wrong": None, "order": 2},
        {"expected": "2*x", "wrong": "nan", "check": {"expected_err": 1.0}},
    ],
)
def test_what_is_no_claim_about_an_open_set_is_left_out(record: dict[str, Any]) -> None:
    assert not list(claims_of("tracker_bugs", [{**TRACKER, "check": {"expected_err": 0}, **record}]))


@pytest.mark.parametrize("wrt", [["x", "x"], ["(x, 2)"], ["x", "2"]])
def test_higher_derivatives_are_left_out(wrt: list[str]) -> None:
    record = {"id": "s", "class": "scalar", "f": "x", "wrt": wrt, "expected": "0", "assumptions": {}}
    assert not list(claims_of("sympy_diff", [record]))


def test_ids_differ() -> None:
    record = {"program": "x", "of": "x", "wrt": "x", "claim": "1"}
    assert [c["id"] for c in claims_of("right_claims", [{"id": "a", **record}] * 3)] == ["a", "a#2", "a#3"]


def test_the_peer_says_what_simplify_says() -> None:
    claim = one("rubi", **RUBI, F="sin(x)**2", f="sin(2*x)")
    assert peer.decide(claim, 20)["status"] == "proved"
    assert peer.decide({**claim, "claim": "sin(x)"}, 20)["status"] == "undecided"


RESULTS: list[dict[str, Any]] = [
    {"id": 1, "status": "proved", "why": "so", "seconds": 1.0, "expect": "true", "checked": "proved"},
    {"id": 2, "status": "proved", "why": "so", "seconds": 2.0, "expect": "false", "checked": "supported"},
    {"id": 3, "status": "refuted", "why": "so", "seconds": 3.0, "expect": "true"},
    {"id": 4, "status": "refuted", "why": "so", "seconds": 4.0, "expect": "false"},
    {
        "id": 5,
        "status": "supported",
        "why": "equal to 19 digits at 48 points, no proof (too many cases)",
        "seconds": 5,
    },
    {
        "id": 6,
        "status": "supported",
        "why": "equal to 20 digits at 31 points, no proof (too many cases)",
        "seconds": 6,
    },
    {"id": 7, "status": "undecided", "why": "none of 400 points is in both domains (gave up)", "seconds": 7},
    {
        "id": 8,
        "status": "error",
        "why": "unknown function 'a'\n here",
        "error": "UnknownFunctionError",
        "seconds": 0,
    },
    {
        "id": 9,
        "status": "error",
        "why": "unknown function 'b'",
        "error": "UnknownFunctionError",
        "seconds": 0,
    },
]


def test_a_summary_counts_and_finds_what_is_wrong() -> None:
    found = summary("s", RESULTS)
    assert found.wrong == ("2", "3")
    assert found.cells == ("9", "2", "2", "2", "1", "2", "2", "1 of 2", "3", "7", "7")
    assert summary("none", []).cells[0] == "0"


def test_causes_are_counted_without_what_is_particular() -> None:
    assert causes(RESULTS) == [
        ("supported", "too many cases", 2),
        ("error", "UnknownFunctionError: unknown function '...'", 2),
        ("undecided", "none of N points is in both domains (gave up)", 1),
    ]


def test_the_report_of_files(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in RESULTS) + '{"id": 10, "sta')
    done = CliRunner().invoke(main, ["report", str(file)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "WRONG" in done.output
    assert "too many cases" in done.output
    file.write_text("not results\n")
    assert "not a file of results" in CliRunner().invoke(main, ["report", str(file)]).output


def test_the_page_has_a_place_for_the_report() -> None:
    before = PAGE.read_text(encoding="utf-8")
    after = written(before, page({"some": RESULTS}, "the command"))
    assert "| some | 9 | 2 | 2 | 2 | 1 | 2 | 2 |" in after
    assert written(after, "x") == written(before, "x")
    assert after.partition(verdicts.BEGIN)[0] == before.partition(verdicts.BEGIN)[0]


def test_a_folder_without_corpora_is_said(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["corpora", str(tmp_path / "none"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "has no corpus: looked for rubi.jsonl, " in done.output


def test_corpora_are_decided_and_reported(tmp_path: Path) -> None:
    rows = [{**RUBI, "id": str(k), "F": f"x**{k}", "f": f"{k}*x**{k - 1}"} for k in range(2, 5)]
    (tmp_path / "rubi_dev.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    arguments = ["corpora", str(tmp_path), "-o", str(tmp_path / "out"), "--jobs", "1", "--sympy", "1"]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    results = [json.loads(line) for line in (tmp_path / "out" / "rubi.jsonl").read_text().splitlines()]
    assert [(r["id"], r["status"], r["checked"]) for r in results] == [
        (str(k), "proved", "proved") for k in range(2, 5)
    ]
    assert "1 by SymPy" in done.output


def test_samples_are_spread() -> None:
    assert [c["id"] for c in spread([{"id": k} for k in range(10)], 4)] == [0, 2, 5, 7]
    assert len(spread([{"id": k} for k in range(3)], 4)) == 3
    assert set(CORPORA) >= {"rubi", "tracker_bugs"}
