"""Whole numbers that are declared between ends, as positions and as labels: no verdict is wrong.

What is proved is evaluated at every value that the ends allow, for a few sizes; a witness lies between the ends.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.checker.check import check
from symgrad.errors import DeclarationError, IndexRangeError
from tests.fuzz.kind import kind

_ENDS = [
    "-2",
    "-1",
    "0",
    "0",
    "0",
    "1",
    "2",
    "k - 2",
    "k - 1",
    "k - 1",
    "k",
    "k + 1",
    "m - 1",
    "2*k - 1",
    "-k",
    "n - 1",
]
_INDICES = [
    "t",
    "t",
    "t - 1",
    "t + 1",
    "k - 1 - t",
    "-t",
    "t[::-1]",
    "clip(t, 0, k - 1)",
    "2*t",
    "t - t[::-1]",
]
_EQUATIONS = [
    ("x[{i}]", "one_hot({i}, k)@x"),
    ("sum(one_hot({i}, k), axis=1)", "ones(n)"),
    ("sum(one_hot({i}, k), axis=1)", "zeros(n)"),
    ("exp(x[{i}])", "exp(x)[{i}]"),
    ("exp(x)[{i}] + x[{j}]", "one_hot({i}, k)@exp(x) + one_hot({j}, k)@x"),
    ("1/(1 + x[{i}]**2)", "one_hot({i}, k)@(1/(1 + x**2))"),
    ("log(x[{i}])", "log(x)[{i}]"),
    ("tanh(x[{i}] + x[{j}])", "tanh(x)[{i}] + tanh(x)[{j}]"),
    ("scatter_add(ones(n), {i}, shape=(k,))", "sum(one_hot({i}, k), axis=0)"),
    ("sum(ones(k)[{i}])", "n"),
    ("x[arange(k)]", "x"),
    ("X[arange(n), {i}]", "sum(X*one_hot({i}, k), axis=1)"),
    ("take_along_axis(X, ({i})[:, None], 1)[:, 0]", "X[arange(n), {j}]"),
    ("one_hot({i}, k)", "one_hot({j}, k)"),
]
_LOSSES = [
    "mean(logsumexp(X, axis=1) - X[arange(n), {i}])",
    "-mean(log(softmax(X, axis=1)[arange(n), {i}]))",
    "-mean(take_along_axis(log_softmax(X, axis=1), ({i})[:, None], 1))",
    "-sum(one_hot({i}, k)*log_softmax(X, axis=1))/n",
]
_GRADIENTS = [
    "(softmax(X, axis=1) - one_hot({j}, k))/n",
    "(softmax(X, axis=1)*sum(one_hot({j}, k), axis=1)[:, None] - one_hot({j}, k))/n",
    "(softmax(X, axis=1) - scatter_add(ones(n), arange(n), {j}, axes=(0, 1), shape=(n, k)))/n",
]


@kind("declared-labels")
def declared_labels(rng: random.Random) -> None:
    low, high = rng.choice(_ENDS), rng.choice(_ENDS)
    i = rng.choice(_INDICES)
    j = i if rng.random() < 0.6 else rng.choice(_INDICES)
    declared = f"x : real[k]; X : real[n, k]; y : real[m]; t : int({low}, {high})[n]"
    gradient = rng.random() < 0.4
    left, right = (rng.choice(_LOSSES), rng.choice(_GRADIENTS)) if gradient else rng.choice(_EQUATIONS)
    texts = [side.format(i=i, j=j) for side in (left, right)]
    try:
        a, b = (sg.parse(f"{declared}; s = {text} + 0*sum(y)")["s"] for text in texts)
    except DeclarationError:
        assert all(_ends(low, high, sizes) is None for sizes in _sizes())
        return
    verdict = sg.verify(a, "X", b, time_limit=1) if gradient else sg.equal(a, b, time_limit=1)
    if verdict.proof is not None:
        assert check(verdict.proof.data).status == verdict.status
    if verdict.status == "proved":
        _holds(sg.grad(a, "X") if gradient else a, b, low, high)
    elif verdict.status == "refuted" and verdict.witness is not None:
        _lies_between(verdict.witness, low, high)


def _sizes() -> Iterator[dict[str, int]]:
    for k, m in itertools.product((1, 2, 5), (1, 3)):
        yield {"n": 2, "k": k, "m": m}


def _ends(low: str, high: str, sizes: dict[str, int]) -> range | None:
    first, last = (int(eval(end, {}, sizes)) for end in (low, high))
    return range(first, last + 1) if first <= last else None


def _holds(a: Callable[..., Any], b: Callable[..., Any], low: str, high: str) -> None:
    for sizes in _sizes():
        n, k = sizes["n"], sizes["k"]
        values = {
            "x": np.linspace(0.5, 2, k),
            "X": np.cos(np.arange(n * k)).reshape(n, k),
            "y": np.ones(sizes["m"]),
        }
        for t in itertools.product(_ends(low, high, sizes) or (), repeat=n):
            try:
                found = [side(**values, t=np.array(t)) for side in (a, b)]
            except IndexRangeError:  # nothing is claimed there
                continue
            np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12, err_msg=f"{sizes}, t = {t}")


def _lies_between(witness: Any, low: str, high: str) -> None:
    sizes = {"m": len(witness["y"]), "n": len(witness["t"])} | {n: v for n, v in witness.items() if n == "k"}
    if "x" in witness:
        sizes["k"] = len(witness["x"])
    if "X" in witness:
        sizes["k"] = len(witness["X"][0])
    if "k" in sizes:
        allowed = _ends(low, high, sizes)
        assert allowed is not None
        assert all(value in allowed for value in witness["t"])
