"""Gradient code that writes into its arrays and loops over entries: read entry by entry, and what is not read so."""

# Functions of arrays, as users write them: without annotations.
# pyright: basic

from __future__ import annotations

import json

import numpy as np
import pytest

import symgrad as sg
from symgrad.checker.check import check
from tests.apps.gradcheck import loops

# The function, the arguments, by what, of which argument the mistake is, and what its first diagnosis is.
CODE = {
    "affine_backward": ("affine", "x : real[2, 1]; w : real[1, 1]; b : real[1]", None, "w", None),
    "conv1d_backward": ("conv1d", "x : real[4]; w : real[2]", None, "x", None),
    "softmax_loss_grad": (
        "softmax_loss",
        "W : real[1, 2]; X : real[1, 1]; y : int(0, 1)[1]",
        "W",
        "W",
        None,
    ),
    "softmax_labels_grad": ("softmax_labels", "z : real[2, 2]; y : int[2]", "z", "z", "missing-term"),
    "batch_norm_backward": (
        "batch_norm",
        "x : real[3, 1]; gamma, beta : real[1]",
        None,
        "x",
        "missing-term",
    ),
    "lstm_step_backward": ("lstm_step", "z : real[4]; c : real[1]", None, "z", "missing-term"),
    "embedding_backward": ("embedding", "table : real[3, 1]; ids : int[2]", "table", "table", None),
    "relu_loss_grad": ("relu_loss", "x : real[2, 2]; w : real[2]", None, "x", None),
    "masked_loss_grad": (
        "masked_loss",
        "pred, target : real[2, 2]; mask : positive[2, 2]",
        "pred",
        "pred",
        None,
    ),
    "max_pool_backward": ("max_pool", "x : real[2, 2]", None, "x", None),
    "hinge_grad": ("hinge", "W : real[1, 3]; x : real[1]; y : int(0, 2)", "W", "W", None),
    "pooled_argmax_grad": ("pooled", "x : real[4]", None, "x", None),
}
# That the entry which is equal to the largest is the one that the largest follows has no proof.
SUPPORTED = {"max_pool_backward"}


@pytest.mark.parametrize("name", CODE)
def test_right_code_is_proved_entry_by_entry(name: str) -> None:
    function, specs, wrt, _, _ = CODE[name]
    verdict = sg.verify_code(getattr(loops, function), getattr(loops, name), specs, wrt=wrt)
    assert (verdict.status, verdict.kind) == ("supported" if name in SUPPORTED else "proved", "right")
    assert verdict.how.startswith("both functions were read as formulas, entry by entry")


@pytest.mark.parametrize("name", CODE)
def test_a_planted_mistake_is_refuted_and_named_where_it_is_known(name: str) -> None:
    function, specs, wrt, argument, kind = CODE[name]
    code = getattr(loops, f"{name}_wrong")
    verdict = sg.verify_code(getattr(loops, function), code, specs, wrt=wrt)[argument]
    assert verdict.status == "refuted"
    assert kind is None or verdict.diagnosis[0].kind == kind


def test_each_entry_has_a_proof_that_the_checker_replays() -> None:
    verdict = sg.verify_code(loops.conv1d, loops.conv1d_backward, "x : real[3]; w : real[2]")["x"]
    assert [*verdict.entries] == ["x[0]", "x[1]", "x[2]"]
    for one in verdict.entries.values():
        assert one.proof is not None
        assert check(json.loads(one.proof.to_json())).status == "proved"


def square(x):
    return np.sum(x**2)


def grad_of_aliases(x):
    """Views of views, of which each writes into the first array."""
    g = np.zeros((2, 3))
    flat = g.ravel()
    column = g.T[1]
    flat[::2] += 2 * x.reshape(-1)[::2]
    column[...] = 2 * x[:, 1]
    flat[[3, 5]] = 2 * x[1, [0, 2]]
    return g


def grad_into_a_copy(x):
    """The entries of a transposed array, in order, are a copy."""
    g = np.zeros((2, 3))
    flat = g.T.ravel()
    flat += 2 * x.T.ravel()
    return g


def grad_by_helper(x):
    return doubled(x)


def doubled(x):
    found = np.empty_like(x)
    np.multiply(x, 2, out=found)
    return found


def test_views_are_followed_and_copies_are_none() -> None:
    spec = "x : real[2, 3]"
    assert sg.verify_code(square, grad_of_aliases, spec).status == "proved"
    assert sg.verify_code(square, grad_into_a_copy, spec).status == "refuted"
    assert sg.verify_code(square, grad_by_helper, spec).status == "proved"


def grad_that_writes_into_its_argument(x):
    x *= 2
    return x


def test_code_that_writes_into_its_argument_is_told_so() -> None:
    verdict = sg.verify_code(square, grad_that_writes_into_its_argument, "x : real[2]")
    assert (verdict.status, verdict.kind) == ("refuted", "changes its inputs")


def grad_with_an_entry_left_out(x):
    g = np.empty_like(x)
    g[0] = 2 * x[0]
    return g


def grad_that_knows_what_runs_it(x):
    g = np.zeros_like(x)
    g[:] = 2 * x if x.dtype == object else 3 * x
    return g


def grad_by_equality(x):
    return 2 * x if x[0] != x[1] else 0 * x


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        (grad_with_an_entry_left_out, "refuted", "an entry of np.empty that nothing was written to"),
        (grad_that_knows_what_runs_it, "refuted", "something else than on numbers"),
        (grad_by_equality, None, "whether two values are equal"),
    ],
)
def test_what_cannot_be_followed_is_called_and_the_reason_is_told(code, status, said) -> None:
    verdict = sg.verify_code(square, code, "x : real[2]")
    assert verdict.status != "proved"
    assert status is None or verdict.status == status
    assert said in verdict.how


def huge(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += x[i] ** 2
    return total


def test_code_with_too_many_ways_through_it_is_called() -> None:
    verdict = sg.verify_code(huge, lambda x: 2 * np.maximum(x, 0), "x : real[9]")
    assert (verdict.status, verdict.kind) == ("supported", "right")
    assert "in more than 128 ways" in verdict.how
