"""Programs as functions of JAX: values, derivatives and transformations, against the derivation and JAX's own."""

from __future__ import annotations

import ctypes
import pickle
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.test_util import check_grads

import symgrad as sg
import symgrad.interop.exporters.jax_call as export
from symgrad.api.handles.expr import handle
from symgrad.compiler.kernels import xla
from symgrad.compiler.kernels.xla import layout_fits
from symgrad.errors import (
    ArrayTypeError,
    ComplexInputError,
    IndexRangeError,
    MissingInputError,
    ShapeError,
    UnsupportedError,
    UsageError,
)
from tests.graphs import inputs, random_graph

RNG = np.random.default_rng(15)


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def noisy():
    p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u) + sin(x*u)")
    return sg.to_jax(p["z"]), lambda x, u: jnp.sqrt(x**2 * u) + jnp.sin(x * u)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_derivatives_of_every_kind_are_jaxs(dtype):
    f, ref = noisy()
    x = jnp.array([0.5, 2.0, -3.0], dtype)
    u = jnp.array([0.9, 1.0, 1.1], dtype)
    near = {"rtol": 1e-12} if dtype == "float64" else {"rtol": 2e-5, "atol": 1e-6}

    def both(make):
        mine, theirs = (jax.tree.leaves(make(g)) for g in (f, ref))
        assert len(mine) == len(theirs)
        for m, t in zip(mine, theirs, strict=True):
            assert m.dtype == t.dtype == np.dtype(dtype)
            np.testing.assert_allclose(m, t, **near)

    both(lambda g: g(x, u))
    both(lambda g: jax.jvp(g, (x, u), (u, x)))
    both(lambda g: jax.vmap(jax.grad(g, (0, 1)))(x, u))
    both(lambda g: jax.jit(jax.vmap(jax.hessian(g, (0, 1))))(x, u))
    if dtype == "float32":
        return
    both(lambda g: jax.jit(g)(x, u))
    both(lambda g: jax.vjp(g, x, u)[1](x))
    both(lambda g: jax.jacfwd(jax.jacrev(g))(x, u))
    both(lambda g: jax.jacrev(jax.jacfwd(g, 1))(x, u))
    both(lambda g: jax.grad(jax.grad(jax.grad(g)))(x[0], u[0]))
    both(lambda g: jax.linearize(g, x, u)[1](x, x))
    both(lambda g: jax.checkpoint(jax.grad(lambda x: g(x, u).sum()))(x))
    both(lambda g: jax.grad(lambda x: jax.lax.scan(lambda c, e: (g(c, e), c), x[0], u)[0])(x))
    both(lambda g: jax.grad(lambda x: jax.lax.cond(x > 0, g, lambda x, u: x * u, x, u[0]))(x[0]))
    both(lambda g: jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (g(c[0], u), c[1] + 1), (x, 0))[0])
    both(lambda g: jax.grad(lambda v: g(v, v).sum())(u))  # the same array twice


def test_jax_checks_the_derivatives_itself():
    f, _ = noisy()
    check_grads(f, (jnp.array([0.5, 2.0]), jnp.array([0.9, 1.1])), order=2)


def test_batches_broadcast_and_cotangents_are_summed():
    p = sg.parse("x : real[n, 3]\nw : real[3]\nb : real\ny = tanh(x @ w + b)\ns = sum(y**2)")
    f = sg.to_jax([p["y"], p["s"]], ["x", "w", "b"])

    def ref(x, w, b):
        y = jnp.tanh(jnp.einsum("...nd,...d->...n", x, w) + b[..., None])
        return y, (y**2).sum(-1)

    x, w, b = RNG.normal(size=(4, 1, 5, 3)), RNG.normal(size=(2, 3)), RNG.normal(size=())
    for m, t in zip(f(x, w, b), ref(x, w, jnp.asarray(b)), strict=True):
        np.testing.assert_allclose(m, t, rtol=1e-12)

    def loss(g):
        return lambda *a: sum((v * jnp.cos(v)).sum() for v in g(*a))

    for m, t in zip(
        jax.grad(loss(f), (0, 1, 2))(x, w, b),
        jax.grad(loss(ref), (0, 1, 2))(x, w, jnp.asarray(b)),
        strict=True,
    ):
        assert m.shape == t.shape
        np.testing.assert_allclose(m, t, rtol=1e-11)


@pytest.mark.parametrize("axes", [(0, None, None), (None, 1, None), (2, 0, 0), (1, None, 0)])
def test_vmap_along_any_axes(axes):
    p = sg.parse("x : real[n, 3]\nw : real[3]\nb : real\ny = x @ w + b")
    f = sg.to_jax(p["y"], ["x", "w", "b"])
    shapes = [(5, 3), (3,), ()]
    arrays = [
        RNG.normal(size=s if a is None else (*s[:a], 4, *s[a:])) for s, a in zip(shapes, axes, strict=True)
    ]
    found = jax.vmap(f, axes)(*arrays)
    expected = jax.vmap(lambda x, w, b: x @ w + b, axes)(*map(jnp.asarray, arrays))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    twice = jax.vmap(jax.vmap(f, axes), (None, None, 0) if axes[2] is None else (0, None, 0))
    if axes[2] is None:
        assert twice(arrays[0], arrays[1], np.ones(7)).shape == (7, 4, 5)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_random_programs_have_the_bits_of_kernels_and_the_derivation(seed):
    symbols = [handle(s) for s in inputs()]
    e = handle(random_graph(seed, [s.node for s in symbols], stops=0.2))
    values = np.random.default_rng(seed).uniform(-2, 2, size=(3, 5))
    f = sg.to_jax(e, symbols)
    np.testing.assert_array_equal(f(*values), sg.compile(e, symbols)(*values))
    found = jax.grad(lambda *a: f(*a).sum(), (0, 1, 2))(*values)
    for g, slope in zip(found, sg.grad(e, symbols), strict=True):
        np.testing.assert_allclose(g, sg.compile(slope, symbols)(*values), rtol=1e-9, atol=1e-12)


def test_numbers_that_xla_would_flush_to_zero():
    x = sg.symbols("x")
    f = jax.jit(sg.to_jax(x * 2))
    assert float(f(1e-310)) == 2e-310
    assert float(f(jnp.float32(1e-40))) == 2 * float(np.float32(1e-40))
    assert float(jax.jit(lambda x: x * 2)(1e-310)) == 0  # and XLA itself still does


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0, 1e300])
def test_values_that_are_no_ordinary_numbers(value):
    x = sg.symbols("x")
    e = sg.maximum(x, 0) + sg.exp(-(x**2))
    np.testing.assert_array_equal(sg.to_jax(e)(value), sg.compile(e)(value))
    g = sg.grad(e, x)
    np.testing.assert_array_equal(jax.grad(sg.to_jax(e))(value), sg.compile(g)(value))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (2, 1, 3)])
def test_shapes_of_all_kinds(shape):
    f, ref = noisy()
    x = RNG.uniform(1, 2, size=shape)
    u = RNG.uniform(1, 2, size=shape[-1:])
    found = jax.jit(f)(x, u)
    assert found.shape == np.broadcast_shapes(x.shape, u.shape)
    np.testing.assert_allclose(found, ref(x, u), rtol=1e-13)
    assert jax.grad(lambda u: f(x, u).sum())(u).shape == u.shape


def test_axes_that_repeat_in_the_middle():
    x, y = sg.symbols("x y")
    f = jax.jit(sg.to_jax(x - 2 * y))
    for a, b in [
        ((3, 1, 70), (1, 4, 70)),
        ((3, 1, 2), (5, 1)),
        ((100, 1), (1, 2)),
        ((2, 100, 3), (1, 100, 1)),
    ]:
        p, q = RNG.normal(size=a), RNG.normal(size=b)
        np.testing.assert_array_equal(f(p, q), p - 2 * q)


def test_arrays_of_numpy_that_are_not_contiguous():
    f, ref = noisy()
    x = RNG.uniform(1, 2, size=(6, 4)).T[::2]
    np.testing.assert_allclose(f(x, 1.0), ref(x, 1.0), rtol=1e-13)


def test_a_program_that_is_elementwise_over_declared_shapes():
    x, y = sg.tensor("x", (3, 1)), sg.tensor("y", (5,))
    e = sg.arrays.broadcast_to(x, (3, 5)) * y
    a, b = RNG.normal(size=(2, 3, 1)), RNG.normal(size=(4, 1, 5))
    found = sg.to_jax(e, [x, y])(a, b)
    np.testing.assert_array_equal(found, a[None] * b.reshape(4, 1, 1, 5))


def test_outputs_of_several_kinds():
    x = sg.tensor("x", ("n",))
    f = sg.to_jax([sg.arrays.argmax(x), x > 0, sg.sum(x)], [x])
    a = jnp.array([1.0, 3.0, -2.0])
    at, positive, _ = jax.jit(f)(a)
    assert at.dtype == np.int64
    assert int(at) == 1
    assert positive.dtype == bool
    assert positive.tolist() == [True, True, False]
    np.testing.assert_array_equal(jax.grad(lambda a: f(a)[2])(a), np.ones(3))
    tangents = jax.jvp(f, (a,), (a,))[1]
    assert tangents[0].dtype == tangents[1].dtype == jax.dtypes.float0
    assert float(tangents[2]) == 2.0


def test_positions_are_whole_numbers_of_any_kind_and_checked():
    x, i = sg.tensor("x", ("n",)), sg.tensor("i", ("k",), domain="int")
    f = sg.to_jax(sg.sum(sg.arrays.take(x, i) ** 2), [x, i])
    a = jnp.arange(5.0)
    for dtype in (np.int64, np.int32, np.uint8):
        assert float(f(a, np.array([1, 3, 3], dtype))) == 19
    assert jax.grad(f)(a, np.array([1, 3, 3])).tolist() == [0, 2, 0, 12, 0]
    assert float(f(a, np.array([-1]))) == 16
    for bad in (5, -6):
        with pytest.raises(
            jax.errors.JaxRuntimeError, match="input 'i' has an index out of range for an axis of"
        ):
            jax.block_until_ready(jax.jit(f)(a, np.array([0, bad])))
    with pytest.raises(ArrayTypeError, match="input 'i' is float64"):
        f(a, a)
    with jax.enable_x64(False):
        assert float(f(np.arange(5, dtype=np.float32), np.array([1, 3, 3]))) == 19


def test_positions_that_are_computed_go_through_python():
    x = sg.tensor("x", ("n",))
    k = sg.symbols("k", domain="int")
    f = sg.to_jax(x[k + 1], [x, k])
    with pytest.warns(UserWarning, match="'f' is called through Python: positions are computed"):
        assert float(f(jnp.arange(4.0), 2)) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception, match="out of range for an axis of length 4"):
            jax.block_until_ready(f(jnp.arange(4.0), 3))


def test_a_position_that_is_a_number_is_checked_when_sizes_are_known():
    x = sg.tensor("x", ("n",))
    f = sg.to_jax(x[3])
    assert float(f(jnp.arange(4.0))) == 3
    with pytest.raises(IndexRangeError, match="the index 3 is out of range for an axis of length 2"):
        f(jnp.arange(2.0))


def test_through_python_where_xla_is_another(monkeypatch):
    f, ref = noisy()
    monkeypatch.setattr(export, "_native_failure", lambda: "jax 9.9 lays out a call otherwise")
    x = jnp.array([0.5, 2.0])
    with pytest.warns(UserWarning, match="called through Python: jax 9.9"):
        np.testing.assert_allclose(f(x, 1.1), ref(x, 1.1), rtol=1e-12)
    with pytest.warns(UserWarning, match="called through Python"):
        found = jax.jit(jax.vmap(jax.grad(jax.grad(f)), (0, None)))(x, 1.1)
    np.testing.assert_allclose(found, jax.vmap(jax.grad(jax.grad(ref)), (0, None))(x, 1.1), rtol=1e-12)


def test_batches_through_python_of_what_computes_entry_by_entry(monkeypatch):
    monkeypatch.setattr(export, "_native_failure", lambda: "jax 9.9 lays out a call otherwise")
    x, y = sg.tensor("x", (3,)), sg.symbols("y")
    f = sg.to_jax(sg.sin(x) * y, [x, y])
    same = lambda x, y: jnp.sin(x) * y[:, None]  # noqa: E731
    at = jnp.arange(15.0).reshape(5, 3) / 7, jnp.arange(1.0, 6)
    with pytest.warns(UserWarning, match="called through Python"):
        np.testing.assert_allclose(f(*at), same(*at), rtol=1e-12)
    with pytest.warns(UserWarning, match="called through Python"):
        found = jax.grad(lambda *at: jnp.sum(f(*at) ** 2), (0, 1))(*at)
    wanted = jax.grad(lambda *at: jnp.sum(same(*at) ** 2), (0, 1))(*at)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_stopped_gradients_and_gradients_of_ones_own():
    p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nh = x**2\ny = sin(h*u)")
    f = sg.to_jax(sg.ignore_noise(p["y"], "u"), ["x", "u"])
    assert float(f(1.5, 0.97)) == float(p["y"](x=1.5, u=0.97))
    assert float(jax.grad(f)(1.5, 0.97)) == pytest.approx(3 * np.cos(2.25), rel=1e-14)
    assert float(jax.grad(jax.grad(f))(1.5, 0.97)) == pytest.approx(
        2 * np.cos(2.25) - 9 * np.sin(2.25), rel=1e-13
    )
    assert float(jax.grad(f, 1)(1.5, 0.97)) == 0
    x = sg.symbols("x")
    clipped = sg.to_jax(sg.custom_gradient(x, {x: lambda v: sg.clip(x, -1, 1) * v}))
    assert [float(jax.grad(clipped)(a)) for a in (0.5, 3.0)] == [0.5, 1.0]
    assert float(jax.grad(jax.grad(clipped))(0.5)) == 1.0
    assert float(jax.jvp(clipped, (0.5,), (2.0,))[1]) == 1.0


def test_a_cotangent_that_is_nowhere_meets_no_infinite_slope():
    x = sg.symbols("x")
    f = sg.to_jax([x * 3, sg.sqrt(x)])
    assert float(jax.grad(lambda x: f(x)[0])(0.0)) == 3.0
    assert float(jax.jvp(lambda x: f(x)[0], (0.0,), (1.0,))[1]) == 3.0


def test_inputs_that_do_not_matter_and_outputs_that_read_nothing():
    x, y = sg.symbols("x y")
    f = sg.to_jax([x**2, sg.pi], [x, y])
    assert jax.grad(lambda x, y: f(x, y)[0], (0, 1))(3.0, 4.0) == (6.0, 0.0)
    assert f(np.ones(3), 2.0)[1].shape == (3,)
    assert float(jax.grad(lambda x: f(x, 1.0)[1])(3.0)) == 0


def test_derivatives_that_are_whole_numbers_are_real():
    x = sg.tensor("x", ("n",))
    f = sg.to_jax([sg.sum(3 * x), x * 2], [x])
    for g in (
        jax.grad(lambda a: f(a)[0]),
        lambda a: jax.vjp(f, a)[1]((1.0, a))[0],
        lambda a: jax.jvp(f, (a,), (a,))[1][1],
    ):
        assert g(np.ones(4)).dtype == np.float64
        assert jax.jit(jax.jacfwd(g))(np.ones(4)).shape == (4, 4)


def test_more_arguments_than_a_ufunc_has():
    names = sg.symbols(" ".join(f"x{k}" for k in range(70)))
    f = sg.to_jax(sum(s**2 for s in names))
    values = [float(k) for k in range(70)]
    assert float(f(*values)) == sum(k * k for k in range(70))
    assert [float(g) for g in jax.grad(f, tuple(range(70)))(*values)] == [2.0 * k for k in range(70)]


def test_dtypes_follow_the_arrays():
    f, _ = noisy()
    assert f(np.float32(1), 1.0).dtype == np.float32  # a bare number takes the arrays' dtype
    assert f(np.float32(1), np.float64(1)).dtype == np.float64
    assert f(1, 2).dtype == np.float64
    with jax.enable_x64(False):
        assert f(1, 2).dtype == np.float32
    with pytest.raises(ArrayTypeError, match="input 'x' is float16"):
        f(np.float16(1), 1.0)
    with pytest.raises(ArrayTypeError, match="input 'x' is bfloat16"):
        f(jnp.bfloat16(1), 1.0)
    with pytest.raises(ComplexInputError, match="input 'u' is complex"):
        f(1.0, 1j)
    with pytest.raises(ArrayTypeError, match="input 'x' is a formula"):
        f(sg.symbols("q"), 1.0)
    with pytest.raises(ArrayTypeError, match="input 'x' is not an array"):
        f("text", 1.0)


def test_calls_that_do_not_fit():
    f, _ = noisy()
    with pytest.raises(MissingInputError, match="no value for u"):
        f(1.0)
    assert float(f(u=1.0, x=2.0)) == float(f(2.0, 1.0))
    p = sg.parse("x : real[n]\ny : real[n]\nz = x @ y")
    with pytest.raises(ShapeError, match="size n is 3 in 'x'"):
        sg.to_jax(p["z"])(np.ones(3), np.ones(4))
    with pytest.raises(UsageError, match="form='copy'"):
        sg.to_jax(p["z"], form="copy")


def test_another_platform_is_refused_by_name():
    f, _ = noisy()
    with pytest.raises(UnsupportedError, match="'f' on the platform cuda"):
        jax.jit(f).trace(1.0, 1.0).lower(lowering_platforms=("cuda",))


def test_source_form_is_jaxs_own():
    p = sg.parse("x : real\nu : real\nz = exp(-x**2)*u")
    f = sg.to_jax(p["z"], ["u", "x"], form="source", name="bell")
    assert "def bell(" in f.source
    assert "jnp.exp" in f.source
    assert float(f(2.0, 1.5)) == pytest.approx(2 * np.exp(-2.25), rel=1e-15)
    assert float(jax.grad(f, 1)(2.0, 1.5)) == pytest.approx(-6 * np.exp(-2.25), rel=1e-14)
    jax.jit(f).trace(1.0, 1.0).lower(lowering_platforms=("cuda",))
    both = sg.to_jax([p["z"], p["x"] * p["z"]], form="source")
    assert [float(y) for y in both(2.0, 1.5)] == pytest.approx([1.5 * np.exp(-4), 3 * np.exp(-4)])
    assert both.source.count("jnp.exp") == 1  # what both read is computed once


def test_names_that_the_text_has_itself():
    for name in ("jnp", "dtype", "like"):
        f = sg.to_jax(sg.symbols(name) ** 2, form="source")
        assert float(f(3.0)) == float(f(**{name: 3.0})) == 9


def test_a_size_that_no_input_has():
    x = sg.symbols("x")
    with pytest.raises(MissingInputError, match="no input has the size n in its shape"):
        sg.to_jax(x * sg.size("n"), form="source")


@pytest.mark.parametrize("form", ["kernel", "source"])
def test_functions_that_are_pickled(form):
    p = sg.parse("x : real[3]\nu : real\nz = exp(-x**2)*u")
    x = jnp.arange(3.0)
    for outputs in (p["z"], [p["z"], p["u"] ** 2]):
        f = sg.to_jax(outputs, ["u", "x"], form=form, name="bell")
        g = pickle.loads(pickle.dumps(f))
        assert (g.__name__, g.__doc__, g.inputs, g.source) == ("bell", f.__doc__, ("u", "x"), f.source)
        for a, b in zip(jax.tree.leaves(g(2.0, x)), jax.tree.leaves(f(2.0, x)), strict=True):
            np.testing.assert_array_equal(a, b)
        slope = jax.jit(jax.grad(lambda u, g=g: jnp.sum(jax.tree.leaves(g(u, x))[0])))
        assert float(slope(2.0)) == pytest.approx(float(jnp.sum(jnp.exp(-(x**2)))), rel=1e-12)


def test_source_takes_the_declared_shapes_alone():
    p = sg.parse("W : real[d, d]; x : real[d]; y : real[d]\nv = W@x\ns = sum(x*y)")
    f = sg.to_jax(p["v"], ["W", "x"], form="source")
    W, X = jnp.arange(9.0).reshape(3, 3), jnp.ones((3, 3))
    for call in (f, jax.jit(f)):
        with pytest.raises(
            ShapeError, match=r"'x' has shape .3, 3., and the source is written for one without a batch"
        ):
            call(W, X)
    np.testing.assert_allclose(jax.vmap(f, (None, 0))(W, X), X @ W.T)
    with pytest.raises(ShapeError, match=r"'y' has shape .1,., where d is 3"):
        sg.to_jax(p["s"], ["x", "y"], form="source")(jnp.ones(3), jnp.ones(1))
    shares = sg.to_jax(sg.parse("x : real[n]; y = x/n")["y"], form="source")  # n is no length of the batch
    np.testing.assert_allclose(shares(jnp.ones(3)), np.full(3, 1 / 3), rtol=1e-6)
    with pytest.raises(ShapeError, match="for one without a batch"):
        shares(jnp.ones((2, 3)))


def test_sizes_that_jax_does_not_know_yet():
    from jax import export as jax_export

    p = sg.parse("x : real[n]\nz = sum(x**2)")
    (n,) = jax_export.symbolic_shape("n")
    with pytest.raises(UnsupportedError, match="whose sizes JAX does not know yet"):
        jax.jit(sg.to_jax(p["z"])).trace(jax.ShapeDtypeStruct((n,), np.float64))


def test_many_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    p = sg.parse("x : real[n, n]\nz = sum(tanh(x @ x))")
    f = jax.jit(jax.grad(sg.to_jax(p["z"])))
    arrays = [jnp.asarray(RNG.normal(size=(20, 20)), np.float32) for _ in range(8)]
    expected = [np.asarray(f(a)) for a in arrays]
    with ThreadPoolExecutor(4) as pool:
        for found, e in zip(pool.map(f, arrays * 4), expected * 4, strict=True):
            np.testing.assert_array_equal(found, e)


def test_the_layout_is_checked(monkeypatch):
    """Made for jax 0.10 with version 0.3 of the foreign function interface."""
    assert export._native_failure() is None
    assert layout_fits()
    monkeypatch.setitem(xla.MINIMUM_SIZES, "frame", 10**6)
    assert not layout_fits()
    export._native_failure.cache_clear()
    try:
        assert (
            export._native_failure()
            == f"jax {jax.__version__} describes its calls otherwise than symgrad knows"
        )
    finally:
        export._native_failure.cache_clear()


def test_a_handler_that_xla_does_not_take_is_not_used(monkeypatch):
    def refuse(*_, **__):
        raise ValueError("version 9.9")

    export._native_failure.cache_clear()
    monkeypatch.setattr(export, "_register", refuse)
    try:
        assert (
            export._native_failure()
            == f"jax {jax.__version__} does not take native code of symgrad's: version 9.9"
        )
    finally:
        export._native_failure.cache_clear()


def test_a_frame_that_is_laid_out_otherwise_is_refused_natively():
    """The function is called as XLA would, with frames of our own making."""
    x, u = sg.symbols("x u")
    found = xla.xla_handler(sg.compile(x * u), [(3,), ()])
    said: list[str] = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
    def create(error):
        said.append(ctypes.string_at(error[2]).decode())
        return 1

    def call(frame_bytes=168, buffer_bytes=48, dtype=12, counts=(3, 1, 3), nin=2, stage=3):
        api = (ctypes.c_int64 * 7)(*[0] * 6, ctypes.cast(create, ctypes.c_void_p).value)
        a, b, out = np.array([1.0, 2.0, 3.0]), np.array(2.0), np.zeros(3)
        dims = [(ctypes.c_int64 * 1)(n) for n in counts]
        buffers = [
            (ctypes.c_int64 * 6)(buffer_bytes, 0, dtype, y.ctypes.data, 1, ctypes.addressof(d))
            for y, d in zip((a, b, out), dims, strict=True)
        ]
        tables = [
            (ctypes.c_int64 * 2)(*map(ctypes.addressof, buffers[:2])),
            (ctypes.c_int64 * 1)(ctypes.addressof(buffers[2])),
        ]
        args = [40, 0, nin, 0, ctypes.addressof(tables[0])]
        rets = [40, 0, 1, 0, ctypes.addressof(tables[1])]
        frame = (ctypes.c_int64 * 22)(frame_bytes, 0, ctypes.addressof(api), 0, stage, *args, *rets)
        failed = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(found.address)(ctypes.addressof(frame))
        return failed, out.tolist()

    assert call() == (None, [2.0, 4.0, 6.0])
    assert not said
    wrong = {"frame_bytes": 160}, {"buffer_bytes": 40}, {"dtype": 11}, {"counts": (3, 1, 4)}, {"nin": 1}
    for change in wrong:
        assert call(**change) == (1, [0.0, 0.0, 0.0])
    assert said == ["XLA lays out a call otherwise than symgrad knows: use form='source'"] * len(wrong)
    assert call(stage=1) == (None, [0.0, 0.0, 0.0])


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_ctrl_c_ends_a_long_call():
    program = """
import os, signal, threading, time
import jax, jax.numpy as jnp, symgrad as sg
p = sg.parse("x : real[n]\\nz = sum(exp(-(x[:, None] - x[None, :])**2))")
f = jax.jit(sg.to_jax(p["z"]))
x = jnp.ones(2_000_000)
long = f.lower(x).compile()
ended = threading.Event()

def press():  # again, if the first one meets JAX between its own steps
    while not ended.wait(0.5):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

threading.Thread(target=press, daemon=True).start()
start = time.monotonic()
try:
    jax.block_until_ready(long(x))
except KeyboardInterrupt:
    ended.set()
    print("ended", time.monotonic() - start < 60)
print(float(f(jnp.ones(3))))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["ended", "True", "9.0"]


def test_equal_programs_have_one_function_and_others_another():
    x, u = sg.symbols("x u")
    name = xla.xla_handler(sg.compile(x * u), [(3,), ()]).name
    assert xla.xla_handler(sg.compile(x * u), [(3,), ()]).name == name
    assert xla.xla_handler(sg.compile(x * u), [(4,), ()]).name != name
    assert xla.xla_handler(sg.compile(x + u), [(3,), ()]).name != name
    assert xla.xla_handler(sg.compile(x * u, dtype="float32"), [(3,), ()]).name != name


def test_without_jax_its_extra_is_named():
    program = """
import sys
sys.modules["jax"] = None
import symgrad as sg
for call in (lambda: sg.to_jax(sg.symbols("x")), lambda: sg.from_jax(abs, "real")):
    try:
        call()
    except sg.errors.UsageError as error:
        print(str(error).splitlines()[-1].strip())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["try: pip install 'symgrad[jax]'"] * 2


def test_declared_ends_of_whole_numbers_hold_in_every_way_of_calling():
    p = sg.parse("L : real[n, k]\nt : int(0, k - 1)[n]\nloss = mean(logsumexp(L, axis=1) - L[arange(n), t])")
    gradient = jax.jit(sg.to_jax(sg.grad(p["loss"], "L")))
    logits = jnp.ones((2, 3))
    assert gradient(logits, jnp.array([0, 2])).shape == (2, 3)
    with pytest.raises(Exception, match=r"input 't' has a value beyond the ends of t : int\(0, k - 1\)\[n\]"):
        jax.block_until_ready(gradient(logits, jnp.array([0, -1])))
    n, x = sg.symbols("n", "int(0, 5)"), sg.symbols("x")
    f = sg.to_jax(n * x, [n, x])
    with pytest.warns(UserWarning, match="whether n lies between its ends is checked in Python"):
        six = f(3, 2.0)
    assert float(six) == 6
    with pytest.raises(Exception, match="input 'n' is 7, outside its domain"):
        jax.block_until_ready(f(7, 2.0))
