"""Calls with TensorFlow's tensors and variables, and Keras' variables."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

import symgrad as sg  # noqa: E402
from symgrad.compiler.kernels.calls.output_pool import new_result  # noqa: E402
from symgrad.errors import ArrayTypeError  # noqa: E402
from symgrad.ir.values.exchange import as_array, library_of  # noqa: E402

P = sg.parse("x : real\nu : real\nz = sin(x)*u")
Z = [P["z"], sg.grad(P["z"], P["x"])]
KERNEL = sg.compile(Z, ["x", "u"])


@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (2, 3), (300, 100)])
def test_tensorflow_in_tensorflow_out(shape: tuple[int, ...]) -> None:
    x = tf.constant(np.linspace(0, 1, int(np.prod(shape))).reshape(shape))
    for value in (x, tf.Variable(x)):
        for _ in range(3):
            for found, wanted in zip(KERNEL(value, 2), (tf.sin(x) * 2, tf.cos(x) * 2), strict=True):
                assert isinstance(found, tf.Tensor)
                np.testing.assert_allclose(found, wanted, atol=1e-15)
                tf.exp(found)  # unaligned memory would end the process
    assert isinstance(P["z"](x=x, u=1), tf.Tensor)


def test_nothing_is_copied_that_is_aligned() -> None:
    x = tf.constant(np.arange(1000.0))
    assert np.shares_memory(as_array("x", x), as_array("x", x))
    library, result = library_of([x]), new_result((10_000,), np.dtype(float))
    assert library is not None
    assert np.shares_memory(np.asarray(library.give(result, x)), result)


def test_variables_of_keras_are_what_they_hold() -> None:
    backend = keras.backend.backend()
    kind = {"tensorflow": tf.Tensor}.get(backend)
    if kind is None:
        pytest.skip(f"the backend is {backend}")
    variable = keras.Variable(np.ones(3), dtype="float64")
    found = KERNEL(variable, 2.0)[0]
    assert isinstance(found, kind)
    np.testing.assert_allclose(found, 2 * np.sin(1.0))


def test_graphs_are_told_what_there_is_for_them() -> None:
    @tf.function
    def f(x):
        return KERNEL(x, 1.0)[0]

    with pytest.raises(
        Exception, match="in a function that tensorflow transforms"
    ) as e:  # wrapped by AutoGraph
        f(tf.constant([1.0], tf.float64))
    assert "sg.to_tensorflow" in str(e.value)


def test_numbers_of_16_bits() -> None:
    with pytest.raises(ArrayTypeError, match="of dtype bfloat16, which NumPy has no numbers of") as e:
        KERNEL(tf.ones(3, tf.bfloat16), 1.0)
    assert "tf.cast" in str(e.value.cure)


def test_two_libraries_in_one_call() -> None:
    jnp = pytest.importorskip("jax.numpy")
    with pytest.raises(ArrayTypeError, match="arrays of tensorflow and of jax in one call"):
        KERNEL(tf.ones(3), jnp.ones(3))


def test_out_is_no_tensor() -> None:
    with pytest.raises(ArrayTypeError, match="which may only be read"):
        sg.compile(P["z"])(np.ones(3), 1.0, out=tf.ones(3, tf.float64))
