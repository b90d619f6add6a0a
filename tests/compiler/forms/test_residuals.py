"""What a kernel of a value and its gradient computes once: the forward values that the gradient reads."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.output import arrange_nodes
from symgrad.ir.traverse import topological

NETWORK = """
X : real[n, d]
y : int[n]
W : real[d, k]
V : real[k, c]
h = tanh(X@W)
z = h@V
loss = mean(logsumexp(z, axis=1) - z[arange(n), y])
"""


def counted(*outputs: sg.Expr) -> dict[str, int]:
    names = [n.op.name for n in topological(arrange_nodes(outputs).nodes)]
    return {name: names.count(name) for name in names}


def test_a_network_computes_its_layers_once() -> None:
    p = sg.parse(NETWORK)
    ops = counted(p["loss"], *sg.grad(p["loss"], [p["W"], p["V"]]))
    # Two products forward, three back; without the stand-ins the canonical gradient has products of its own.
    assert ops["einsum"] == 5
    assert ops["tanh"] == ops["sech"] == 1


def test_a_gradient_alone_is_in_canonical_form() -> None:
    p = sg.parse(NETWORK)
    gradient = sg.grad(p["loss"], p["V"])
    assert arrange_nodes([gradient]).nodes[0] is gradient.canonical().node


def test_elementwise_programs_are_left_to_the_rules() -> None:
    p = sg.parse("x : real\ny = tanh(x)")
    gradient = sg.grad(p["y"], p["x"])
    assert arrange_nodes([p["y"], gradient]).nodes[1] is gradient.canonical().node


def test_a_stopped_value_is_shared_too() -> None:
    p = sg.parse(
        "X : real[n, d]\na : real[d]\nb : real[d]\nloss = mean((X@a - stop_gradient(X@b))**2)",
    )
    assert counted(p["loss"], sg.grad(p["loss"], p["a"]))["einsum"] == 3


@pytest.mark.parametrize(
    "loss",
    [
        "sum(sigmoid(X)/sigmoid(-X))",
        "sum(sqrt(1 - sigmoid(X)))",
        "sum(log(1 - tanh(X)**2))",
        "sum(tanh(X)/(1 - tanh(X)**2))",
        "-mean(w*log(sigmoid(X)) + (1 - w)*log(1 - sigmoid(X)))",
        "log(sum(sigmoid(-X)))",
        "log(sum(1 - sigmoid(X)))",
    ],
)
def test_slopes_that_vanish_keep_their_digits_beside_the_value(loss: str) -> None:
    """What a value has lost, as the user wrote it, its gradient must not take from it."""
    p = sg.parse(f"X : real[n]\nw : real[n]\nloss = {loss}")
    gradient = sg.grad(p["loss"], p["X"])
    at = np.array([33.0, 38.0, 40.0] if "log(sum" in loss else [1.0, -2.5, 20.0, 33.0, 38.0, 40.0])
    arrays = {"X": at, "w": np.zeros(len(at))}
    alone = sg.compile(gradient)
    expected = alone(*(arrays[str(i)] for i in alone.inputs))
    both = sg.compile([p["loss"], gradient])
    with np.errstate(all="ignore"):
        found = both(*(arrays[str(i)] for i in both.inputs))[1]
    assert np.all(np.isfinite(expected))
    assert np.all(expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_shared_form_has_the_same_values() -> None:
    p = sg.parse(NETWORK)
    rng = np.random.default_rng(0)
    arrays = [
        rng.normal(size=(6, 4)),
        rng.integers(0, 3, 6),
        rng.normal(size=(4, 5)),
        rng.normal(size=(5, 3)),
    ]
    gradients = sg.grad(p["loss"], [p["W"], p["V"]])
    together = sg.compile([p["loss"], *gradients], inputs=p.inputs)(*arrays)[1:]
    for gradient, found in zip(gradients, together, strict=True):
        alone = sg.compile(gradient, inputs=p.inputs)(*arrays)
        np.testing.assert_allclose(found, alone, rtol=1e-12, atol=1e-15)
