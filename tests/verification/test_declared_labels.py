"""Labels that are declared to lie in 0..k-1: what is proved then, and what must not be."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import symgrad as sg
from symgrad.checker.check import check

_LOSSES = {
    "log_of_share": "-mean(log(softmax(L, axis=1)[arange(n), t]))",
    "logsumexp": "mean(logsumexp(L, axis=1) - L[arange(n), t])",
    "along_axis": "mean(logsumexp(L, axis=1) - take_along_axis(L, t[:, None], 1)[:, 0])",
    "log_softmax_along_axis": "-mean(take_along_axis(log_softmax(L, axis=1), t[:, None], 1))",
    "log_softmax": "-mean(log_softmax(L, axis=1)[arange(n), t])",
    "one_hot": "-sum(one_hot(t, k)*log_softmax(L, axis=1))/n",
    "one_hot_of_logs": "-sum(one_hot(t, k)*log(softmax(L, axis=1)))/n",
}
_TEXTBOOK = "(softmax(L, axis=1) - one_hot(t, k))/n"


def _program(labels: str, loss: str) -> sg.Program:
    return sg.parse(f"L : real[n, k]; M : real[n, m]; t : {labels}[n]; loss = {loss}")


@pytest.mark.parametrize("loss", _LOSSES.values(), ids=_LOSSES)
def test_the_textbook_gradient_is_proved_for_all_sizes(loss: str) -> None:
    p = _program("int(0, k - 1)", loss)
    verdict = sg.verify(p["loss"], "L", _TEXTBOOK)
    assert verdict.status == "proved", verdict
    assert "for all sizes" in verdict.why
    assert verdict.excluded == ()
    assert verdict.proof is not None
    assert check(verdict.proof.data).status == "proved"


@pytest.mark.parametrize("loss", _LOSSES.values(), ids=_LOSSES)
@pytest.mark.parametrize(
    "labels",
    [
        "int",
        "int(0, k)",  # off by one, at either end
        "int(-1, k - 1)",
        "int(-k, -1)",
        "int(-k, k - 1)",
        "int(0, oo)",
        "int(-oo, k - 1)",
        "int(1, k)",
        "int(0, 2*k - 1)",
        "int(0, m - 1)",  # of another axis
        "int(0, n - 1)",
        "int(0, n*k - 1)",
    ],
)
def test_ends_that_allow_other_labels_prove_nothing(loss: str, labels: str) -> None:
    p = _program(labels, loss)
    assert sg.verify(p["loss"], "L", _TEXTBOOK, time_limit=3).status != "proved"


@pytest.mark.parametrize(
    "claim",
    [
        "(softmax(L, axis=1) - one_hot(t - 1, k))/n",
        "(softmax(L, axis=1) - one_hot(k - 1 - t, k))/n",
        "(softmax(L, axis=1) - one_hot(t, k))",
        "(softmax(L, axis=1) + one_hot(t, k))/n",
        "(softmax(L, axis=1) - 1)/n",
        "softmax(L, axis=1)/n",
    ],
)
def test_wrong_claims_about_declared_labels_are_refuted(claim: str) -> None:
    p = _program("int(0, k - 1)", _LOSSES["logsumexp"])
    verdict = sg.verify(p["loss"], "L", claim)
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    labels, classes = verdict.witness["t"], len(verdict.witness["L"][0])
    assert all(0 <= t < classes for t in labels)


def test_labels_that_count_from_1_are_shifted() -> None:
    p = _program("int(1, k)", "mean(logsumexp(L, axis=1) - L[arange(n), t - 1])")
    assert sg.verify(p["loss"], "L", "(softmax(L, axis=1) - one_hot(t - 1, k))/n").status == "proved"
    assert sg.verify(p["loss"], "L", _TEXTBOOK).status == "refuted"


@pytest.mark.parametrize(
    ("low", "high"), [("0", "k + 1"), ("-2", "k"), (None, "k"), ("-1", None), ("-1", "m"), ("-1", "n*k")]
)
def test_a_proof_with_other_ends_is_not_believed(low: str | None, high: str | None) -> None:
    p = sg.parse(
        f"L : real[n, k]; M : real[n, m]; t : int(0, k - 1)[n]; loss = {_LOSSES['logsumexp']} + sum(M)"
    )
    proof = sg.verify(p["loss"], "L", _TEXTBOOK).proof
    assert proof is not None
    data: Any = copy.deepcopy(proof.data)
    row = next(r for r in data["program"]["symbols"] if r[0] == "t")
    assert row[2:4] == ["-1", "k"]
    assert check(data).status == "proved"
    row[2:4] = [low, high]
    assert check(data).status == "supported"


def test_ends_that_are_no_lengths_are_refused() -> None:
    proof = sg.verify(_program("int(0, k - 1)", _LOSSES["logsumexp"])["loss"], "L", _TEXTBOOK).proof
    assert proof is not None
    for index, end in ((3, "k +"), (3, "t"), (3, "__import__('os')"), (1, "real")):
        data: Any = copy.deepcopy(proof.data)
        row = next(r for r in data["program"]["symbols"] if r[0] == "t")
        row[index] = end
        assert check(data).status == "supported"


def test_the_statement_tells_the_ends() -> None:
    proof = sg.verify(_program("int(0, k - 1)", _LOSSES["logsumexp"])["loss"], "L", _TEXTBOOK).proof
    assert proof is not None
    statement = check(proof.data).statement
    assert statement is not None
    assert "t : int[n], -1 < t < k" in statement.declarations


@pytest.mark.parametrize("loss", _LOSSES.values(), ids=_LOSSES)
def test_a_refutation_says_that_a_declaration_is_missing(loss: str) -> None:
    p = _program("int", loss)
    verdict = sg.verify(p["loss"], "L", _TEXTBOOK)
    assert verdict.status == "refuted"
    (found,) = verdict.diagnosis
    assert found.kind == "label-out-of-range"
    assert found.message.endswith("with t : int(0, k - 1)[n] declared the claim is proved")
    assert ("counts from the end" in found.message) == ("one_hot" not in loss)


def test_the_declaration_that_is_missing_is_one_of_shifted_labels() -> None:
    p = _program("int", "mean(logsumexp(L, axis=1) - L[arange(n), t - 1])")
    verdict = sg.verify(p["loss"], "L", "(softmax(L, axis=1) - one_hot(t - 1, k))/n")
    assert verdict.status == "refuted"
    (found,) = verdict.diagnosis
    assert "with t : int(1, k)[n] declared the claim is proved" in found.message


@pytest.mark.parametrize(
    "claim", ["softmax(L, axis=1) - one_hot(t, k)", "(softmax(L, axis=1) - one_hot(t + 1, k))/n"]
)
def test_no_declaration_is_missing_where_the_claim_is_wrong_in_range_too(claim: str) -> None:
    p = _program("int", _LOSSES["logsumexp"])
    verdict = sg.verify(p["loss"], "L", claim)
    assert verdict.status == "refuted"
    assert "label-out-of-range" not in {d.kind for d in verdict.diagnosis}


def test_an_end_too_far_is_told_where_there_is_no_proof() -> None:
    p = _program("int(0, k)", _LOSSES["logsumexp"])
    verdict = sg.verify(p["loss"], "L", _TEXTBOOK, time_limit=20)
    assert verdict.status == "supported"
    (found,) = verdict.diagnosis
    assert found.message.startswith("t may be out of range: ")


def test_equal_says_it_too() -> None:
    verdict = sg.equal("x : real[k]; t : int; x[t]", "one_hot(t, k)@x")
    assert verdict.status == "refuted"
    assert "t : int(0, k - 1) declared" in str(verdict)


def test_what_others_than_the_chosen_entries_are_does_not_matter() -> None:
    """The logarithm of the chosen entries has a value where that of others has none: nothing is left out for these."""
    for domain in ("real", "positive"):
        p = sg.parse(f"P : {domain}[n, k]; t : int(0, k - 1)[n]; y = sum(log(P[arange(n), t]))")
        verdict = sg.verify(p["y"], "P", "one_hot(t, k)/P", time_limit=3)
        assert verdict.status == ("proved" if domain == "positive" else "supported")
        assert verdict.excluded == ()


def test_a_subscript_and_a_function_change_places_for_all_sizes() -> None:
    text = "x : real[k]; z : positive[k]; t : int[n]; X : real[n, k]"
    for left, right in (
        ("tanh(x[t])", "tanh(x)[t]"),
        ("log(z[t] + 1)", "log(z + 1)[t]"),
        ("exp(x[t] - z[t])", "(exp(x)/exp(z))[t]"),
        ("X[arange(n), t]", "take_along_axis(X, t[:, None], 1)[:, 0]"),
    ):
        assert sg.equal(f"{text}; {left}", right).status == "proved"
    for left, right in (("tanh(x[t])", "tanh(x)[-t]"), ("exp(x[t] - z[t])", "exp(x - z)[t + 1]")):
        assert sg.equal(f"{text}; {left}", right, time_limit=3).status == "refuted"


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        ("int(0, k)", "the last position is k - 1, and"),
        ("int(1, k)", "the last position is k - 1; labels that count from 1 are read as t - 1, and"),
    ],
)
def test_what_is_beyond_the_last_position_is_said_so(domain: str, said: str) -> None:
    p = sg.parse(f"L : real[n, k]\nt : {domain}[n]\nloss = mean(logsumexp(L, axis=1) - L[arange(n), t])")
    verdict = sg.verify(p["loss"], "L", "(softmax(L, axis=1) - one_hot(t, k))/n")
    assert verdict.status != "proved"
    (found,) = verdict.diagnosis
    assert said in found.message
    (note,) = sg.grad(p["loss"], "L").form_notes
    assert note.endswith("beyond it there is no entry")
