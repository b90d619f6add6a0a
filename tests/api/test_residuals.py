"""What a kernel of a value and its gradient computes once: the forward values that the gradient reads."""

from __future__ import annotations

import numpy as np

import symgrad as sg
from symgrad.api.compile import arranged
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
    names = [n.op.name for n in topological(arranged(outputs)[0])]
    return {name: names.count(name) for name in names}


def test_a_network_computes_its_layers_once() -> None:
    p = sg.parse(NETWORK)
    ops = counted(p["loss"], *sg.grad(p["loss"], [p["W"], p["V"]]))
    # Two products forward, three back; without the stand-ins the canonical gradient has products of its own.
    assert ops["einsum"] == 5
    assert ops["tanh"] == 1
    assert "sech" not in ops


def test_a_gradient_alone_is_in_canonical_form() -> None:
    p = sg.parse(NETWORK)
    gradient = sg.grad(p["loss"], p["V"])
    assert arranged([gradient])[0][0] is gradient.canonical().node


def test_elementwise_programs_are_left_to_the_rules() -> None:
    p = sg.parse("x : real\ny = tanh(x)")
    gradient = sg.grad(p["y"], p["x"])
    assert arranged([p["y"], gradient])[0][1] is gradient.canonical().node


def test_a_stopped_value_is_shared_too() -> None:
    p = sg.parse(
        "X : real[n, d]\na : real[d]\nb : real[d]\nloss = mean((X@a - stop_gradient(X@b))**2)",
    )
    assert counted(p["loss"], sg.grad(p["loss"], p["a"]))["einsum"] == 3


def test_the_slope_of_sigmoid_is_read_off_its_value() -> None:
    p = sg.parse("X : real[n, d]\nw : real[d]\nloss = sum(sigmoid(X@w)**2)")
    assert counted(p["loss"], sg.grad(p["loss"], p["w"]))["sigmoid"] == 1


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
