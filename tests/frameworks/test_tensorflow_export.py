"""Programs as functions of TensorFlow, as source and as kernels: values, derivatives, shapes, refusals."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import tensorflow as tf

import symgrad as sg
from symgrad.errors import ArrayTypeError, MissingInputError, ShapeError, UnsupportedError, UsageError

FORMS = ["source", "kernel"]
P = sg.parse("W : real[2, 3]\nx : real[3]\nk : int\nh = W@x\ny = tanh(h)\nL = sum(y**2) + y[k]")
W, X = np.arange(6.0).reshape(2, 3) / 5, np.array([0.2, -0.4, 1.1])
AT = {"W": W, "x": X, "k": 1}


def both_orders(f, *at):
    at = [tf.constant(a) for a in at]
    with tf.GradientTape() as outer:
        outer.watch(at)
        with tf.GradientTape() as inner:
            inner.watch(at)
            y = f(*at)
        first = inner.gradient(y, at)
        total = sum(tf.reduce_sum(g**2) for g in first)
    return first, outer.gradient(total, at)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_two_orders(form, dtype):
    f = sg.to_tensorflow(P["L"] ** 2, ["W", "x", "k"], form=form)
    tolerance = 1e-11 if dtype == "float64" else 1e-3
    w, x = W.astype(dtype), X.astype(dtype)
    assert f(w, x, 1).dtype == dtype
    np.testing.assert_allclose(f(w, x, 1), (P["L"] ** 2)(**AT), rtol=tolerance)
    first = sg.grad(P["L"] ** 2, ["W", "x"])
    second = sg.grad(sum(sg.sum(g**2) for g in first), ["W", "x"])
    for mine, theirs in zip(both_orders(lambda a, b: f(a, b, 1), w, x), (first, second), strict=True):
        for g, e in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(g, e(**AT), rtol=tolerance)


@pytest.mark.parametrize("form", FORMS)
def test_given_gradients_and_what_reads_the_value(form):
    x = sg.symbols("x")
    z = sg.custom_gradient(sg.sin(x), {x: lambda v: v * x**3})
    f = sg.to_tensorflow(z**2, form=form)
    (g,), (h,) = both_orders(f, 0.7)
    first = sg.grad(z**2, x)
    assert float(g) == pytest.approx(float(first(x=0.7)), rel=1e-6)
    assert float(h) == pytest.approx(float(sg.grad(first**2, x)(x=0.7)), rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_broadcast_and_receive_their_own_shapes(form):
    x, u, w = sg.symbols("x u w")
    f = sg.to_tensorflow([sg.sin(x * u), x + 0 * w], ["x", "u", "w"], form=form)
    at = [np.linspace(0, 1, 6).reshape(2, 3), np.array([1.0, 2.0, 3.0]), np.array([[1.0], [1.0]])]
    (gx, gu, gw), _ = both_orders(lambda *a: tf.reduce_sum(f(*a)[0]) + tf.reduce_sum(f(*a)[1]), *at)
    slope = np.cos(at[0] * at[1])
    np.testing.assert_allclose(gx, slope * at[1] + 1, rtol=1e-12)
    np.testing.assert_allclose(gu, np.sum(slope * at[0], 0), rtol=1e-12)
    assert gw.shape == (2, 1)


@pytest.mark.parametrize("form", FORMS)
def test_in_a_graph_whose_shapes_are_not_known(form):
    q = sg.parse("x : real[n]\ny = cumsum(x)*x\nm = mean(x**2)")
    f = sg.to_tensorflow([q["y"], q["m"]], form=form)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, m = f(x)
            total = tf.reduce_sum(y) + m
        return tape.gradient(total, x)

    wanted = sg.grad(sg.sum(q["y"]) + q["m"], "x")
    for n in (1, 4):
        x = np.linspace(0.5, 2, n)
        np.testing.assert_allclose(slope(x), wanted(x=x), rtol=1e-12)


def test_the_source_is_compiled_by_xla_and_saved(tmp_path):
    f = sg.to_tensorflow(P["L"], ["W", "x", "k"])
    compiled = tf.function(lambda w, x: f(w, x, 1), jit_compile=True)
    np.testing.assert_allclose(compiled(tf.constant(W), tf.constant(X)), P["L"](**AT), rtol=1e-12)
    module = tf.Module()
    spec = [tf.TensorSpec([2, 3], tf.float64), tf.TensorSpec([3], tf.float64)]
    module.f = tf.function(lambda w, x: f(w, x, 1), input_signature=spec)
    tf.saved_model.save(module, str(tmp_path / "saved"))
    read = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_allclose(read.f(W, X), P["L"](**AT), rtol=1e-12)


def test_a_kernel_takes_a_batch():
    f = sg.to_tensorflow(P["y"], ["W", "x"], form="kernel")
    x = np.stack([X, 2 * X])
    np.testing.assert_allclose(f(W, x), np.tanh(x @ W.T), rtol=1e-12)
    (gw, _), _ = both_orders(lambda w, x: tf.reduce_sum(f(w, x)), W, x)
    np.testing.assert_allclose(gw, (1 - np.tanh(x @ W.T) ** 2).T @ x, rtol=1e-12)


def test_a_kernel_that_computes_entry_by_entry_takes_a_batch():
    x, w, y = sg.tensor("x", (3,)), sg.tensor("w", (3,)), sg.symbols("y")
    f = sg.to_tensorflow(sg.sin(x * w) * y, ["x", "w", "y"], form="kernel")
    at = np.arange(15.0).reshape(5, 3) / 7, X, np.arange(1.0, 6)
    same = lambda x, w, y: tf.sin(x * w) * y[:, None]  # noqa: E731
    np.testing.assert_allclose(f(*at), same(*at), rtol=1e-12)
    total = lambda f: lambda *at: tf.reduce_sum(f(*at) ** 2)  # noqa: E731
    for found, wanted in zip(both_orders(total(f), *at), both_orders(total(same), *at), strict=True):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11)


def test_nan_and_empty_arrays():
    x = sg.symbols("x")
    for form in FORMS:
        f = sg.to_tensorflow(sg.sqrt(abs(x)), form=form)
        assert np.isnan(f(np.array([np.nan, 1.0]))[0])
        assert f(np.zeros((0, 3))).shape == (0, 3)


def test_refusals():
    x, y = sg.symbols("x y")
    with pytest.raises(UsageError, match="form='text'"):
        sg.to_tensorflow(x, form="text")
    with pytest.raises(UnsupportedError, match="no spelling in tensorflow for ellipk"):
        sg.to_tensorflow(sg.special.ellipk(x))
    with pytest.raises(MissingInputError, match="the outputs read y, which is not among the inputs"):
        sg.to_tensorflow(x * y, ["x"])
    kernel = sg.to_tensorflow(x * y, form="kernel")
    with pytest.raises(ArrayTypeError, match="float16"):
        kernel(np.float16([1]), np.float16([2]))
    with pytest.raises((ShapeError, tf.errors.OpError)):
        sg.to_tensorflow(P["y"], ["W", "x"], form="kernel")(W, np.ones(4))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_given_is_named(form):
    x, y = sg.symbols("x y")
    f = sg.to_tensorflow(x * y, ["x", "y"], form=form)
    with pytest.raises(MissingInputError, match="no value for y"):
        f(1.0)
    with pytest.raises(MissingInputError, match="'z' is not an input"):
        f(1.0, z=2.0)
    with pytest.raises(ArrayTypeError, match="input 'x' is float32 and 'y' is float64"):
        f(np.float32(1), np.float64(2))
    with pytest.raises(ArrayTypeError, match="input 'y' is int32"):
        f(tf.constant([1.0]), tf.constant([1]))
    with pytest.raises(ArrayTypeError, match="input 'x' cannot be read as a tensor"):
        f(None, 1.0)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_take_the_dtype_of_the_tensors(form):
    x, y = sg.symbols("x y")
    f = sg.to_tensorflow(x * y, ["x", "y"], form=form)
    for dtype in (tf.float32, tf.float64):
        for number in (2, 2.0, True):
            found = f(y=number, x=tf.constant([1.5], dtype))
            assert found.dtype == dtype
            assert float(found[0]) == 1.5 * number
    assert f(1, 2.0).dtype == tf.float32


@pytest.mark.parametrize("form", FORMS)
def test_two_orders_through_a_graph_function(form):
    f = sg.to_tensorflow(P["L"] ** 2, ["W", "x", "k"], form=form)
    graph = tf.function(lambda w, x: f(w, x, 1))
    for mine, theirs in zip(
        both_orders(graph, W, X), both_orders(lambda w, x: f(w, x, 1), W, X), strict=True
    ):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_function_does_not_rewrite_what_derives(form, monkeypatch):
    seen = []
    convert = tf.autograph.to_graph.__globals__["converted_call"]
    monkeypatch.setattr(
        sys.modules["tensorflow.python.autograph.impl.api"],
        "converted_call",
        lambda f, *rest, **options: seen.append(getattr(f, "__module__", "")) or convert(f, *rest, **options),
    )
    x = sg.symbols("x")
    f = sg.to_tensorflow(sg.sin(x) * x, form=form)

    @tf.function
    def slope(t):
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = f(t)
        return tape.gradient(y, t)

    slope(tf.constant([0.5]))
    assert not [
        name
        for name in seen
        if str(name).startswith("symgrad.") and name != "symgrad.interop.exporters.tensorflow"
    ]


def test_shapes_of_a_kernel_are_known_as_far_as_those_of_its_arguments():
    f = sg.to_tensorflow([P["y"], P["L"]], ["W", "x", "k"], form="kernel")
    x, u = sg.symbols("x u")
    g = sg.to_tensorflow(x * u, form="kernel")
    found = []

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float64), tf.TensorSpec([None, 3], tf.float64)])
    def shapes(w, x):
        y, loss = f(w, x, 1)
        found.extend(e.shape.as_list() for e in (y, loss, g(x, loss[:, None]), g(x, x[0])))
        return y

    assert shapes(W, np.stack([X, X])).shape == (2, 2)
    assert found == [[None, 2], [None], [None, 3], [None, 3]]


def test_counts_in_a_kernel_of_float32():
    p = sg.parse("x : real; k : int\ny = x*k")
    f = sg.to_tensorflow(p["y"], ["x", "k"], form="kernel")
    assert f(np.float32([1.5, 2.0]), np.array([2, 3])).numpy().tolist() == [3.0, 6.0]
    with pytest.raises((ArrayTypeError, tf.errors.OpError), match="whole numbers that float32 does not hold"):
        f(np.float32([1.5]), np.array([2**24 + 1]))


def test_source_takes_the_declared_shapes_alone():
    p = sg.parse("W : real[d, d]; x : real[d]; y : real[d]\nv = W@x\ns = sum(x*y)")
    f = sg.to_tensorflow(p["v"], ["W", "x"])
    with pytest.raises(
        ShapeError, match=r"'x' has shape .3, 3., and the source is written for one without a batch"
    ):
        f(np.eye(3), np.ones((3, 3)))
    with pytest.raises(ShapeError, match=r"'y' has shape .1,., where d is 3"):
        sg.to_tensorflow(p["s"], ["x", "y"])(np.ones(3), np.ones(1))


def test_a_kernel_wrapped_in_a_graph_function_gives_its_own_shape():
    x, u = sg.symbols("x u")
    f = sg.to_tensorflow(sg.sin(x * u), form="kernel")
    at = tf.constant([0.1, 0.2, 0.3], tf.float64)
    np.testing.assert_array_equal(tf.function(f)(at, at).numpy(), f(at, at).numpy())
