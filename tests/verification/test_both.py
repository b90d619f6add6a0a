"""Programs with stop_gradient: equality of values, and of gradients."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import symgrad as sg
from symgrad.api.claims.batch_rows import decide_claim
from symgrad.apps.cli import main
from symgrad.checker.check import check
from symgrad.checker.clock import now

LAYER = """
X : real[n, d]
W : real[d, k]
t : real[n, k]
h = tanh(X@W)
plain = sum((h - t)**2)/n
target = sum((h - stop_gradient(t))**2)/n
turned = sum((t - h)**2)/n + 0*sum(stop_gradient(W))
features = sum((tanh(stop_gradient(X)@W) - t)**2)/n
"""

CASES = [
    ("x", "stop_gradient(x)", "refuted", "proved", ("x",)),
    ("x*y", "stop_gradient(x)*y", "refuted", "proved", ("x",)),
    ("x + stop_gradient(y)", "x + stop_gradient(y) + 1", "refuted", "refuted", ()),
    ("x + stop_gradient(y)", "2*x + stop_gradient(y)", "refuted", "refuted", ("x",)),
    ("sin(x)**2 + stop_gradient(cos(x)**2)", "1", "refuted", "proved", ("x",)),
    ("2*stop_gradient(x)*x - stop_gradient(x**2)", "x**2", "proved", "proved", ()),
    ("stop_gradient(stop_gradient(x)*x)", "stop_gradient(x**2)", "proved", "proved", ()),
    ("abs(stop_gradient(x))*x", "x*abs(x)", "refuted", "proved", ("x",)),
    ("where(x > 0, stop_gradient(x), x)", "x", "refuted", "proved", ("x",)),
    ("where(x > 0, stop_gradient(x) + x - x, stop_gradient(x))", "stop_gradient(x)", "proved", "proved", ()),
    ("exp(stop_gradient(x) - x)*exp(x)", "exp(stop_gradient(x))", "proved", "proved", ()),
]


@pytest.mark.parametrize(("a", "b", "status", "values", "by"), CASES)
def test_values_and_gradients_are_told_apart(a, b, status, values, by) -> None:
    v = sg.equal(a, b)
    assert (v.status, v.of_values.status, v.differ_by) == (status, values, by), str(v)
    for part in (v, v.of_values, *v.of_gradients.values()):
        assert check(json.loads(part.proof.to_json())).status == part.status
    alone = sg.equal(a, b, values_only=True)
    assert (alone.status, alone.of_values, alone.of_gradients) == (values, None, {})


@pytest.mark.parametrize(
    ("other", "status", "by"),
    [("target", "refuted", ("t",)), ("turned", "proved", ()), ("features", "refuted", ("X",))],
)
def test_arrays(other, status, by) -> None:
    p = sg.parse(LAYER)
    v = sg.equal(p["plain"], p[other])
    assert (v.status, v.of_values.status, v.differ_by) == (status, "proved", by), str(v)
    assert check(json.loads(v.proof.to_json())).status == status
    assert not by or len(v.index) == 2


def test_programs_without_stops_are_asked_as_before() -> None:
    v = sg.equal("x + 1", "1 + x")
    assert str(v) == "proved: both sides have the same normal form wherever they are defined"
    assert "of_values" not in v.to_json()
    assert v.proof.data["kind"] == "equal"


def test_what_is_random_or_whole_or_a_condition_has_no_gradient() -> None:
    p = sg.parse("u ~ Normal(0, 1)\nk : int\nx : real\na = u + stop_gradient(k)\nb = stop_gradient(u) + k")
    assert sg.equal(p["a"], p["b"]).of_gradients == {}
    assert sg.equal("stop_gradient(x) > 0", "x > 0").of_values is None


def test_a_shared_program_costs_no_proof() -> None:
    text = "x : real\ny = gamma(exp(sin(stop_gradient(x)*x)))**x"
    v = sg.equal(text, text)
    assert v.status == "proved"
    assert [p["kind"] for p in v.proof.data["proofs"]] == ["equal", "gradient"]


def test_complex_numbers() -> None:
    v = sg.equal("stop_gradient(z)*z", "z**2", domain="complex")
    assert (v.status, v.of_values.status, v.differ_by) == ("refuted", "proved", ("z",))
    assert v.values[0].startswith("a difference of ")
    w = sg.equal("2*stop_gradient(z)*z - stop_gradient(z**2)", "z**2", domain="complex")
    assert w.status == "proved"
    assert check(json.loads(w.proof.to_json())).status == "proved"


def test_a_file_of_several_proofs_is_believed_only_whole() -> None:
    data = json.loads(sg.equal("x*stop_gradient(y)", "stop_gradient(y)*x").proof.to_json())
    assert check(data).status == "proved"
    second = data["proofs"][1]
    second["program"]["steps"][second["b"]][0] = "add"
    found = check(data)
    assert found.status == "supported"
    assert [p.status for p in found.parts] == ["proved", "supported", "proved"]


def test_the_derivatives_of_both_sides_are_in_what_is_checked() -> None:
    """A refutation of one kind is none of another, and the other way round."""
    v = sg.equal("x", "stop_gradient(x)")
    data = json.loads(v.proof.to_json())
    assert (data["kind"], data["status"]) == ("gradient", "refuted")
    found = check(data)
    assert found.statement.claim == "d(x)/dx = d(stop_gradient(x))/dx"
    assert found.difference.values == ("1", "0")
    data["kind"] = "derivative"
    assert check(data).statement.claim != found.statement.claim
    del data["wrt"]
    data["kind"] = "equal"
    assert check(data).status == "supported"


def test_the_parts_of_a_verdict_share_its_time() -> None:
    names = [f"x{k}" for k in range(6)]
    hard = " + ".join(f"gamma({n} + sin(stop_gradient({n})*pi))*lgamma(exp({n}))" for n in names)
    other = " + ".join(f"gamma({n} + sin(stop_gradient({n})*pi))*lgamma(1 + expm1({n}))" for n in names)
    begun = now()
    sg.equal(hard, other, time_limit=1)
    assert now() - begun < 3


def test_text_and_json_name_what_differs() -> None:
    v = sg.equal("x*y*w", "stop_gradient(x*y)*w")
    assert v.differ_by == ("x", "y")
    assert str(v).splitlines()[0] == (
        "refuted: the values are equal, but the gradients by x and y differ, those by w are equal"
    )
    data = json.loads(json.dumps(v.to_json()))
    assert data["differ_by"] == ["x", "y"]
    assert data["of_values"]["status"] == "proved"
    assert data["of_gradients"]["x"]["values"][1] == "0"


def test_the_command_line_and_batches() -> None:
    run = CliRunner().invoke
    both = run(main, ["equal", "x", "stop_gradient(x)"])
    assert (both.exit_code, "the gradients by x differ" in both.stdout) == (5, True)
    assert run(main, ["equal", "x", "stop_gradient(x)", "--values-only"]).exit_code == 0
    row = {"a": "x", "b": "stop_gradient(x)"}
    assert decide_claim(row, 5, replay=True)["checked"] == "refuted"
    assert decide_claim({**row, "values_only": True}, 5)["status"] == "proved"
    assert decide_claim({**row, "values_only": "yes"}, 5)["error"] == "UsageError"
    right = {"a": "x*stop_gradient(y)", "b": "stop_gradient(y)*x"}
    assert decide_claim(right, 5, replay=True)["checked"] == "proved"


def test_a_file_of_several_is_printed_whole(tmp_path) -> None:
    run = CliRunner().invoke
    file = str(tmp_path / "p.json")
    assert run(main, ["equal", "x*stop_gradient(y)", "stop_gradient(y)*x", "--proof", file]).exit_code == 0
    done = run(main, ["check", file])
    assert done.exit_code == 0
    assert "d(x*s2)/dx = d(s2*x)/dx" in done.stdout
    assert done.stdout.startswith("proved: 3 statements\n")
