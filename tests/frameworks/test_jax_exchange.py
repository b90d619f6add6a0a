"""Calls with JAX's arrays: what comes back, what is shared, what is refused and how it is told."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.calls.output_pool import new_result
from symgrad.errors import ArrayTypeError
from symgrad.ir.values.exchange import as_array, library_of

P = sg.parse("x : real\nu : real\nz = sin(x)*u")
Z = [P["z"], sg.grad(P["z"], P["x"])]


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (2, 3)])
def test_jax_in_jax_out(dtype: str, shape: tuple[int, ...]) -> None:
    kernel = sg.compile(Z, ["x", "u"], dtype=dtype)
    x = jnp.linspace(0, 1, int(np.prod(shape)), dtype=dtype).reshape(shape)
    for _ in range(3):
        for found, wanted in zip(kernel(x, 2), (jnp.sin(x) * 2, jnp.cos(x) * 2), strict=True):
            assert isinstance(found, jax.Array)
            assert found.dtype == x.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
    assert isinstance(P["z"](x=x, u=1), jax.Array)


def test_nothing_is_copied_that_is_aligned() -> None:
    x = jnp.arange(1000.0)
    assert as_array("x", x).ctypes.data == x.unsafe_buffer_pointer()
    library, result = library_of([x]), new_result((10_000,), np.dtype(float))
    assert library is not None
    assert library.give(result, x).unsafe_buffer_pointer() == result.ctypes.data


def test_results_in_the_order_of_columns() -> None:
    kernel = sg.compile(P["z"])
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(kernel(x, jnp.array(1.0)), kernel(x, 1.0))


def test_results_of_64_bits_are_not_rounded() -> None:
    with jax.enable_x64(False):
        x = jnp.arange(3.0)
        with pytest.raises(
            ArrayTypeError, match="results are float64, which jax would round to float32"
        ) as e:
            sg.compile(P["z"])(x, 1)
        assert "jax_enable_x64" in str(e.value.cure)
        assert sg.compile(P["z"], dtype="float32")(x, 1).dtype == jnp.float32
        place = sg.parse("a : real[n]\nk = argmax(a)")["k"]
        assert sg.compile(place, dtype="float32")(x) == 2  # which fits 32 bits


def test_a_result_is_never_written_to_again() -> None:
    kernel, x = sg.compile(Z, ["x", "u"]), jnp.linspace(0, 1, 50_000)
    kept = [kernel(x, float(k)) for k in range(5)]
    for k, (value, _) in enumerate(kept):
        np.testing.assert_allclose(value, jnp.sin(x) * k, atol=1e-15)


def test_what_jax_transforms_is_told_what_there_is_for_it() -> None:
    kernel = sg.compile(P["z"])
    for transform in (jax.jit, jax.vmap, lambda f: jax.grad(lambda x: f(x).sum()), jax.jacfwd):
        with pytest.raises(ArrayTypeError, match="in a function that jax transforms") as e:
            transform(lambda x: kernel(x, 1.0))(jnp.ones(3))
        assert "sg.to_jax" in str(e.value.cure)


def test_numbers_of_16_bits() -> None:
    kernel = sg.compile(P["z"])
    with pytest.raises(ArrayTypeError, match="of dtype bfloat16, which NumPy has no numbers of") as e:
        kernel(jnp.ones(3, jnp.bfloat16), 1.0)
    assert "x.astype" in str(e.value.cure)
    assert kernel(jnp.ones(3, jnp.float16), 1.0).dtype == jnp.float64


def test_out_is_no_array_of_jax() -> None:
    with pytest.raises(ArrayTypeError, match=r"jax.Array of dtype float64, which may only be read"):
        sg.compile(P["z"])(np.ones(3), 1.0, out=jnp.ones(3))
    target = np.empty(3)
    assert sg.compile(P["z"])(jnp.ones(3), 1.0, out=target) is target
    np.testing.assert_allclose(target, np.sin(1.0))
