"""What a layer of a program must do on every backend; `test_keras_layer.py` runs this file, a process for each."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.api.handles.expr import Expr
from symgrad.errors import MissingInputError, NotInProgramError, ShapeError, UnsupportedError, UsageError
from symgrad.interop.exporters.keras import ProgramLayer
from tests.graphs import inputs, random_graph

BACKEND = keras.backend.backend()
NOISY = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
ops = keras.ops
RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 4)).astype("float32")


def gradients(f, *at):
    """Gradients of a function of arrays, at the first order, and of the sum of their squares."""
    if BACKEND == "jax":
        import jax
        import jax.numpy as jnp

        which = tuple(range(len(at)))
        first = jax.grad(f, argnums=which)
        squares = jax.grad(lambda *a: sum(jnp.sum(g**2) for g in first(*a)), argnums=which)
        found = first(*at), squares(*at)
    elif BACKEND == "torch":
        import torch

        args = [torch.tensor(a, requires_grad=True) for a in at]
        g = torch.autograd.grad(f(*args), args, create_graph=True)
        total = sum((e**2).sum() for e in g)
        h = torch.autograd.grad(total, args, allow_unused=True) if total.requires_grad else [None] * len(args)
        found = (
            [e.detach() for e in g],
            [torch.zeros_like(a) if e is None else e for e, a in zip(h, args, strict=True)],
        )
    else:
        import tensorflow as tf

        args = [tf.constant(a) for a in at]
        with tf.GradientTape() as outer:
            outer.watch(args)
            with tf.GradientTape() as inner:
                inner.watch(args)
                y = f(*args)
            g = [tf.convert_to_tensor(e) for e in inner.gradient(y, args)]
            total = sum(tf.reduce_sum(e**2) for e in g)
        h = outer.gradient(total, args)
        found = g, [tf.zeros_like(a) if e is None else e for e, a in zip(h, args, strict=True)]
    return [[np.asarray(e) for e in part] for part in found]


def numpy(x):
    return np.asarray(ops.convert_to_numpy(x))


# ------------------------------------------------------------------------------------------------- noise and training


@pytest.mark.parametrize("local", [None, "clean", "noisy"])
def test_noise_in_training_and_its_mean_otherwise(local):
    layer = sg.to_keras(NOISY["z"], local=local, seed=2)
    still = numpy(layer(X))
    np.testing.assert_allclose(still, np.abs(X), rtol=1e-6)
    noisy = numpy(layer(X, training=True)) ** 2 / X**2
    assert np.ptp(noisy) > 0.05
    assert np.all((noisy > 0.8999) & (noisy < 1.1001))
    assert not np.array_equal(noisy, numpy(layer(X, training=True)) ** 2 / X**2)  # drawn anew


def test_the_same_seed_draws_the_same():
    values = [
        numpy(sg.to_keras(NOISY["z"], local=local, seed=5)(X, training=True)) for local in (None, "clean")
    ]
    assert np.array_equal(values[0], values[1])


def test_the_pullback_is_the_one_without_noise():
    c = RNG.normal(size=X.shape).astype("float32")
    clean, formula = (sg.to_keras(NOISY["z"], local=local, seed=2) for local in ("clean", None))
    (g,), (h,) = gradients(lambda x: ops.sum(clean(x, training=True) * ops.convert_to_tensor(c)), X)
    np.testing.assert_allclose(g, c * np.sign(X), rtol=1e-6)
    assert not h.any()
    (g,), _ = gradients(lambda x: ops.sum(formula(x, training=True) * ops.convert_to_tensor(c)), X)
    assert np.max(np.abs(g - c * np.sign(X))) > 0.01


@pytest.mark.parametrize(
    ("distribution", "mean", "sd"),
    [
        ("Uniform(1, 3)", 2, 1 / np.sqrt(3)),
        ("Normal(2, 3)", 2, 3),
        ("LogNormal(0, 1/2)", np.exp(1 / 8), np.sqrt((np.exp(1 / 4) - 1) * np.exp(1 / 4))),
        ("Exponential(2)", 0.5, 0.5),
        ("Gamma(3, 2)", 6, np.sqrt(12)),
        ("Beta(2, 3)", 0.4, 0.2),
        ("Laplace(1, 2)", 1, np.sqrt(8)),
        ("Bernoulli(1/4)", 0.25, np.sqrt(3) / 4),
    ],
)
def test_what_is_drawn_is_what_is_declared(distribution, mean, sd):
    layer = sg.to_keras(sg.parse(f"x : real\nu ~ {distribution}\ny = x + u")["y"], seed=1)
    zeros = np.zeros(20_000, "float32")
    drawn = numpy(layer(zeros, training=True))
    assert abs(drawn.mean() - mean) < 5 * sd / np.sqrt(drawn.size)
    assert abs(drawn.std() / sd - 1) < 0.08
    np.testing.assert_allclose(numpy(layer(zeros)), mean, rtol=1e-6)


def test_noise_that_keras_cannot_draw():
    p = sg.parse("x : real\nu ~ Poisson(3)\ny = x*u")
    with pytest.raises(UnsupportedError, match=r"cannot draw 'u ~ Poisson\(3\)'"):
        sg.to_keras(p["y"])
    assert numpy(sg.to_keras(p["y"], ["x", "u"])([X, np.full(X.shape, 2)])).shape == X.shape


# -------------------------------------------------------------------------------------- values and derivatives at large


@given(st.integers(min_value=0, max_value=10**6))
@settings(max_examples=6, deadline=None)
def test_random_expressions(seed):
    expr = Expr(random_graph(seed, inputs(2), size=6, stops=0.2))
    if not expr.inputs:
        return
    names = [str(e) for e in expr.inputs]
    at = [np.float32([0.75, -0.5, 1.5]) for _ in names]
    layer = sg.to_keras(expr)
    table = dict(zip(names, (a.astype(float) for a in at), strict=True))
    total = sg.grad(expr, names)
    with np.errstate(all="ignore"):
        expected = [np.broadcast_to(g(**{k: table[k] for k in map(str, g.inputs)}), (3,)) for g in total]
        value = np.broadcast_to(expr(**table), (3,))
    if not (np.all(np.isfinite(expected)) and np.all(np.abs(expected) < 1e4)):
        return
    np.testing.assert_allclose(numpy(layer(at if len(at) > 1 else at[0])), value, rtol=1e-3, atol=1e-4)
    found, _ = gradients(lambda *a: ops.sum(layer(list(a) if len(a) > 1 else a[0])), *at)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-2, atol=1e-3)


def test_double_backward_of_a_custom_gradient_differentiates_the_pullback():
    x, y = sg.symbols("x y")
    z = sg.custom_gradient(sg.sin(x * y), {x: lambda v: v * x**3 * y})
    for expr in (z, z**2):
        first = sg.grad(expr, [x, y])
        second = [sg.grad(first[0] ** 2 + first[1] ** 2, s) for s in (x, y)]
        at = {"x": 0.75, "y": 1.25}
        for gradient in (False, True, 2):
            layer = sg.to_keras(expr, ["x", "y"], gradient=gradient)
            g, h = gradients(
                lambda a, b, layer=layer: ops.sum(layer([a, b])), *(np.float32([v]) for v in at.values())
            )
            np.testing.assert_allclose([e[0] for e in g], [e(**at) for e in first], rtol=1e-5)
            np.testing.assert_allclose([e[0] for e in h], [e(**at) for e in second], rtol=1e-5)


def test_arguments_that_broadcast_receive_their_own_shapes():
    x, s = sg.symbols("x s")
    layer = sg.to_keras(sg.tanh(x * s), ["x", "s"])
    scale = np.float32([[0.5], [1], [2], [0.25], [1], [1]])
    (gx, gs), _ = gradients(lambda a, b: ops.sum(layer([a, b])), X, scale)
    slope = 1 - np.tanh((X * scale).astype(float)) ** 2
    np.testing.assert_allclose(gx, slope * scale, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(gs, np.sum(slope * X, axis=1, keepdims=True), rtol=1e-4, atol=1e-6)


ATTENTION = sg.parse("""
Q : real[n, 3]; K : real[m, 3]; V : real[m, 2]
mask : bool[n, m]
e ~ Normal(0, 1/10)[n, m]
S = where(mask, Q@K.T + e, -oo)
P = softmax(S, axis=1)
O = P@V
""")


def test_arrays_in_a_batch():
    layer = sg.to_keras([ATTENTION["O"], ATTENTION["P"]], seed=1)
    q, k, v = (RNG.normal(size=s).astype("float32") for s in [(5, 4, 3), (5, 2, 3), (5, 2, 2)])
    mask = np.ones((5, 4, 2), bool)
    mask[:, 1, 0] = False
    o, p = layer([q, k, v, mask])
    table = {"Q": q, "K": k, "V": v, "mask": mask, "e": np.zeros((5, 4, 2))}
    for i in range(5):
        at = {name: value[i] for name, value in table.items()}
        np.testing.assert_allclose(numpy(o)[i], ATTENTION["O"](**at), rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(numpy(p)[i], ATTENTION["P"](**at), rtol=2e-5, atol=1e-6)
    g, _ = gradients(lambda a, b, c: ops.sum(layer([a, b, c, mask])[0] ** 2), q, k, v)
    wanted = sg.grad(sg.sum(ATTENTION["O"] ** 2), ["Q", "K", "V"])
    for mine, theirs in zip(g, wanted, strict=True):
        for i in range(5):
            at = {
                name: value[i] if name == "mask" else value[i].astype(float) for name, value in table.items()
            }
            np.testing.assert_allclose(mine[i], theirs(**at), rtol=1e-4, atol=1e-5)
    assert not np.array_equal(numpy(layer([q, k, v, mask], training=True)[1])[0], numpy(p)[0])


def test_an_input_without_a_batch_is_the_same_for_all():
    p = sg.parse("x : real[3]\nW : real[2, 3]\ny = W@x")
    layer = sg.to_keras(p["y"], ["x", "W"])
    x, w = RNG.normal(size=(5, 3)).astype("float32"), RNG.normal(size=(2, 3)).astype("float32")
    np.testing.assert_allclose(numpy(layer([x, w])), x @ w.T, rtol=1e-5)
    (_, gw), _ = gradients(lambda a, b: ops.sum(layer([a, b])), x, w)
    np.testing.assert_allclose(gw, np.tile(x.sum(0), (2, 1)), rtol=1e-5)


# ------------------------------------------------------------------------------------------------------------- models


def model(*layers):
    return keras.Sequential([keras.Input((4,)), *layers])


def test_a_saved_model_gives_the_same_bits(tmp_path: Path):
    noisy = sg.to_keras(NOISY["z"], local="clean", seed=2, name="noise")
    made = model(keras.layers.Dense(3), noisy, keras.layers.Dense(2))
    made.compile("sgd", "mse")
    made.fit(X, X[:, :2], epochs=2, verbose=0)
    path = tmp_path / "model.keras"
    made.save(path)
    read = keras.saving.load_model(path)
    assert np.array_equal(made.predict(X, verbose=0), read.predict(X, verbose=0))
    assert np.array_equal(
        numpy(made(X, training=True)), numpy(read(X, training=True))
    )  # the noise goes on as well
    again = read.get_layer("noise")
    assert again.source == noisy.source
    assert again.get_config() == noisy.get_config()


def test_a_copy_from_its_config():
    layer = sg.to_keras([NOISY["z"], NOISY["x"] + 1], seed=3, name="two", dtype="float32")
    copy = ProgramLayer.from_config(layer.get_config())
    assert copy.name == "two"
    for a, b in zip(layer(X, training=True), copy(X, training=True), strict=True):
        assert np.array_equal(numpy(a), numpy(b))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16", "bfloat16"])
def test_low_precision(policy):
    layer = sg.to_keras(NOISY["z"], local="clean", seed=2, dtype=policy)
    computed = policy.removeprefix("mixed_")
    y = layer(X, training=True)
    assert keras.backend.standardize_dtype(y.dtype) == computed
    np.testing.assert_allclose(numpy(ops.cast(y, "float32")), np.abs(X), rtol=0.08)
    (g,), _ = gradients(lambda x: ops.sum(ops.cast(layer(x, training=True), "float32")), X)
    np.testing.assert_allclose(g, np.sign(X))


def test_a_value_that_is_finite_where_the_other_overflows():
    x = sg.symbols("x")
    y = sg.with_gradient(forward=sg.tanh(x), backward_of=sg.exp(x))
    at = np.float32([200.0])
    assert numpy(sg.to_keras(y)(at)) == 1  # as plain operations it is 1 - (inf - inf)
    assert np.isnan(numpy(sg.to_keras(y, gradient=False)(at)))


def test_shapes_that_are_not_known_yet():
    x1, x2 = keras.Input((None, 3)), keras.Input((2, 3))
    p = sg.parse("X : real[n, 3]\nY : real[2, 3]\ny = X@Y.T\nz = sum(y)")
    y, z = sg.to_keras([p["y"], p["z"]])([x1, x2])
    assert y.shape == (None, None, 2)
    assert z.shape == (None,)
    made = keras.Model([x1, x2], [y, z])
    a, b = RNG.normal(size=(2, 5, 3)).astype("float32"), RNG.normal(size=(2, 2, 3)).astype("float32")
    np.testing.assert_allclose(
        made.predict([a, b], verbose=0)[0], a @ np.swapaxes(b, 1, 2), rtol=1e-5, atol=1e-6
    )


def test_a_layer_built_twice():
    layer = sg.to_keras(NOISY["z"], local="clean", seed=1)
    layer.build((None, 4))
    layer.build((None, 7))
    assert numpy(layer(X)).shape == X.shape
    assert numpy(layer(X[:, :2])).shape == (6, 2)
    with pytest.raises(Exception, match=r"expected: \(3,\)"):
        sg.to_keras(sg.sum(sg.tensor("w", (3,)))).build((None, 4))


def test_a_model_of_two_of_the_same_layer():
    noisy = sg.to_keras(NOISY["z"], seed=1)
    made = model(noisy, keras.layers.Dense(4), noisy)
    np.testing.assert_allclose(numpy(made(X)).shape, (6, 4))


# ---------------------------------------------------------------------------------------------------------- bad input


def test_nan_stays_where_it_is():
    layer = sg.to_keras(NOISY["z"], local="clean", seed=1)
    x = X.copy()
    x[0, 0] = np.nan
    assert np.array_equal(np.isnan(numpy(layer(x, training=True))), np.isnan(x))
    (g,), _ = gradients(lambda a: ops.sum(layer(a, training=True)), x)
    assert np.array_equal(np.isnan(g), np.isnan(x))


def test_what_goes_wrong_inside_is_said():
    # Keras' torch backend tries again what raised, and would put NaN for the gradient.
    p = sg.parse("x : real[3]\nW : real[2, 3]\ny = W@x")
    layer = sg.to_keras(p["y"], ["x", "W"])
    with pytest.raises(ShapeError, match=r"'W' has shape \(2, 4\)"):
        layer([np.ones((5, 3), "float32"), np.ones((2, 4), "float32")])
    with pytest.raises(ShapeError, match="batch"):
        layer([np.ones((5, 3), "float32"), np.ones((4, 2, 3), "float32")])


def test_refusals():
    x, k = sg.symbols("x k")
    with pytest.raises(NotInProgramError):
        sg.to_keras(x * k, ["x", "nothing"])
    with pytest.raises(MissingInputError, match="'k' is not among the inputs"):
        sg.to_keras(x * k, ["x"])
    with pytest.raises(UsageError, match="2 inputs"):
        sg.to_keras(x)([X, X])
    with pytest.raises(UnsupportedError, match="no spelling in keras for ellipk"):
        sg.to_keras(sg.special.ellipk(x))
    with pytest.raises(UsageError, match="an input is None"):
        sg.to_keras(x * k)([X, None])
    with pytest.raises(UsageError, match="nothing to compute"):
        sg.to_keras([])
    with pytest.raises(UsageError, match="local='dirty'"):
        sg.to_keras(x, local="dirty")
    with pytest.raises(UsageError, match="form='text'"):
        sg.to_keras(x, form="text")
    with pytest.raises(UnsupportedError, match="kernel in float16"):
        sg.to_keras(x, form="kernel", dtype="float16")
    if BACKEND != "tensorflow":
        with pytest.raises(UnsupportedError, match="float64 in float32"):
            sg.to_keras(x, dtype="float64")
    else:
        assert sg.to_keras(sg.sin(x), dtype="float64")(np.float64([0.3])).numpy() == np.sin(0.3)


@pytest.mark.skipif(not hasattr(sg, f"to_{BACKEND}"), reason="this backend has no kernel form yet")
def test_kernels_in_a_model_that_trains_on_batches_of_any_length():
    toss = sg.parse("x : real\nu ~ Bernoulli(1/2)\nz = x*(1 + u)")
    layers = [sg.to_keras(p["z"], seed=2, form="kernel") for p in (NOISY, toss)]
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), *layers, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, X[:, :1], batch_size=4, epochs=2, validation_split=0.3, verbose=0)
    assert model.output_shape == (None, 1)
    assert np.isfinite(model.predict(X, verbose=0)).all()


@pytest.mark.skipif(not hasattr(sg, f"to_{BACKEND}"), reason="this backend has no kernel form yet")
def test_the_kernel_form():
    layer = sg.to_keras(NOISY["z"], local="clean", seed=2, form="kernel")
    source = sg.to_keras(NOISY["z"], local="clean", seed=2)
    np.testing.assert_allclose(numpy(layer(X, training=True)), numpy(source(X, training=True)), rtol=1e-6)
    (g,), _ = gradients(lambda x: ops.sum(layer(x, training=True)), X)
    np.testing.assert_allclose(g, np.sign(X), rtol=1e-6)
