"""Five models of TensorFlow and Keras, read, explained, and their gradients compiled, against TensorFlow's own."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.frameworks.models_tensorflow import MODELS, made

keras: Any = import_module("keras")
tf: Any = import_module("tensorflow")

pytestmark = pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="of Keras on TensorFlow")


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_tensorflow(name: str) -> None:
    function, arguments = made(name)
    p = sg.from_tensorflow(function, *arguments.values())
    loss = p.returned["out"]
    given = {k: v.numpy() for k, v in arguments.items()}
    kernel = sg.compile([loss, *sg.grad(loss, list(p.parameters))], [*given, *p.values])
    with tf.GradientTape() as tape:
        expected = function(*arguments.values())
    variables = [*tape.watched_variables()]
    value, *found = kernel(*given.values(), *p.values.values())
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    wanted = tape.gradient(expected, variables)
    checked = 0
    for parameter, g in zip(p.parameters, found, strict=True):
        values = p.values[parameter]
        same = [
            w
            for v, w in zip(variables, wanted, strict=True)
            if v.shape == values.shape and np.array_equal(v.numpy(), values)
        ]
        assert any(
            np.allclose(g, np.asarray(tf.convert_to_tensor(w)), rtol=1e-9, atol=1e-12)
            for w in same
            if w is not None
        ), parameter
        checked += 1
    assert checked == len(p.parameters) == len(variables)


@pytest.mark.parametrize("name", MODELS)
def test_they_are_explained(name: str) -> None:
    function, arguments = made(name)
    p = sg.from_tensorflow(function, *arguments.values())
    loss = p.returned["out"]
    said = str(sg.explain(loss, p.parameters[-1]))
    assert p.parameters[-1] in said
    again = sg.parse(str(p))  # what is printed is the program
    given = {k: v.numpy() for k, v in arguments.items()} | dict(p.values)
    np.testing.assert_allclose(again[str(loss.name)](**given), loss(**given), rtol=1e-12)
