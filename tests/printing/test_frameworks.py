"""Formulas in the operations of other frameworks: run in JAX, values and derivatives; as text for the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.api.handles.expr import Expr
from symgrad.errors import UnsupportedError, UsageError
from symgrad.printing.frameworks.pasted import FRAMEWORKS
from tests.graphs import inputs, random_graph

P = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nh = sin(x)**2\ny = sqrt(h*u) - 2*h")


def run(source):
    namespace = {}
    exec(source, namespace)
    return namespace["f"]


@given(st.integers(min_value=0, max_value=10**6))
@settings(max_examples=15)
def test_random_programs_in_jax(seed):
    jax = pytest.importorskip("jax")
    symbols = inputs(2)
    expr = Expr(random_graph(seed, symbols, size=7, stops=0.2))
    names = [str(e) for e in expr.inputs]
    at = {"x0": 0.7, "x1": -1.3}
    values = [at[n] for n in names]
    if not names:
        return
    with np.errstate(all="ignore"):
        expected = [expr(*values)] + [
            g(**{k: at[k] for k in map(str, g.inputs)}) for g in sg.grad(expr, names)
        ]
    with jax.enable_x64(True):
        f = run(expr.framework_source("jax"))
        got = [f(*values), *jax.grad(lambda *a: 1.0 * f(*a), argnums=tuple(range(len(names))))(*values)]
    if np.all(np.isfinite(expected)):
        np.testing.assert_allclose([float(g) for g in got], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("declare", "formula", "points"),
    [
        ("x : positive", "log(1 - exp(-x))", [(1e-9,), (1.0,), (600.0,)]),
        ("x : positive", "log(sinh(x)/x)", [(1e-6,), (3.0,), (700.0,)]),
        ("x : real", "sin(x)/x", [(1e-8,), (-1e-3,), (3.0,)]),
        ("y, x : real", "y*log(1 + exp(2*x))", [(3.0, 800.0), (3.0, -800.0), (3.0, 0.1)]),
    ],
)
def test_jax_differentiates_the_form_of_the_kernel(declare, formula, points):
    """Both branches of a choice are differentiated, so the other one must not overflow."""
    jax = pytest.importorskip("jax")
    y = sg.parse(f"{declare}\nL = {formula}")["L"]
    slope = sg.grad(y, "x")
    curve = sg.grad(slope, "x")
    with jax.enable_x64(True):
        f, of_slope = run(y.framework_source("jax", gradient=True)), run(slope.framework_source("jax"))
        for at in points:
            by = len(at) - 1
            assert float(of_slope(*at)) == pytest.approx(float(slope(*at)), rel=1e-13)
            assert float(jax.grad(f, by)(*at)) == pytest.approx(float(slope(*at)), rel=1e-13)
            for second in (jax.grad(of_slope, by), jax.grad(jax.grad(f, by), by)):
                assert float(second(*at)) == pytest.approx(float(curve(*at)), rel=1e-9, abs=1e-300)


def test_stops_of_a_derivative_stay_in_its_source():
    jax = pytest.importorskip("jax")
    y = sg.parse("x : positive\ny = stop_gradient(x)*log(1 - exp(-x))")["y"]
    slope = sg.grad(y, "x")
    with jax.enable_x64(True):
        f = run(slope.framework_source("jax"))
        assert float(f(0.7)) == pytest.approx(float(slope(0.7)), rel=1e-13)
        assert float(jax.grad(f)(0.7)) == pytest.approx(float(sg.grad(slope, "x")(0.7)), rel=1e-13)


@pytest.mark.parametrize("local", ["clean", "noisy"])
def test_noise_is_ignored_in_jax_too(local):
    jax = pytest.importorskip("jax")
    y = sg.ignore_noise(P["y"], "u", local=local)
    with jax.enable_x64(True):
        f = run(y.framework_source("jax"))
        assert float(f(0.4, 1.07)) == pytest.approx(float(P["y"](x=0.4, u=1.07)), rel=1e-15)
        slope, at = sg.grad(y, "x"), {"x": 0.4, "u": 1.07}
        assert float(jax.grad(f)(0.4, 1.07)) == pytest.approx(float(slope(**at)), rel=1e-13)
        curve = sg.grad(slope, "x")(**at)
        assert float(jax.grad(jax.grad(f))(0.4, 1.07)) == pytest.approx(float(curve), rel=1e-12)


def test_sums_of_products_in_jax():
    jax = pytest.importorskip("jax")
    p = sg.parse("W : real[2, 3]\nx : real[3]\nh = W@x\nL = sum(tanh(stop_gradient(h)*h)**2)")
    W, x = np.arange(6.0).reshape(2, 3) / 5, np.array([0.2, -0.4, 1.1])
    with jax.enable_x64(True):
        f = run(p["L"].framework_source("jax"))
        assert float(f(W, x)) == pytest.approx(float(p["L"](W=W, x=x)), rel=1e-14)
        np.testing.assert_allclose(jax.grad(f)(W, x), sg.grad(p["L"], "W")(W=W, x=x), rtol=1e-13)


def test_the_other_notations():
    y = sg.ignore_noise(P["y"], "u")
    body = "def f(x, u):\n    h = {m}.sin(x)**2\n    t1 = 2*h\n    y = {m}.sqrt(h*u) - t1\n"
    body += "    t2 = {m}.sqrt(h*1) - t1\n"
    torch = y.framework_source("torch")
    assert (
        torch
        == "import torch\n\n\n" + body.format(m="torch") + "    return y.detach() - (t2.detach() - t2)\n"
    )
    assert y.framework_source("tensorflow") == (
        "import tensorflow as tf\n\n\n"
        + body.format(m="tf.math")
        + "    return tf.stop_gradient(y) - (tf.stop_gradient(t2) - t2)\n"
    )
    x = sg.symbols("x")
    clamped = sg.maximum(sg.stop_gradient(x + 1), 0.1) - sg.minimum(2, x)
    assert clamped.framework_source("torch").endswith(
        "return torch.clamp((x + 1).detach(), min=0.1) - torch.clamp(x, max=2)\n"
    )


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_all_that_is_missing_is_named(framework):
    x = sg.symbols("x")
    with pytest.raises(
        UnsupportedError, match=f"no spelling in {framework} for .*(airyai, ellipk|ellipk, airyai)"
    ):
        (sg.special.airy(x)[0] + sg.special.ellipk(x)).framework_source(framework)


def test_a_given_slope_is_a_function_of_its_own():
    x = sg.symbols("x")
    z = sg.custom_gradient(sg.sin(x), {x: lambda v: v})
    assert "return _with_slope(torch.sin(x).detach(), x, torch.tensor(1, **like))" in z.framework_source(
        "torch"
    )
    assert "with_slope" not in z.framework_source("torch", gradient=True)  # the pullback says it all


def test_names_that_are_taken_are_left_to_the_framework():
    p = sg.parse("dtype : real\ncotangent : real\nlambda_ : real\nops = dtype*cotangent + lambda_")
    source = p["ops"].framework_source("keras", gradient=True)
    assert "def f(dtype_, cotangent_, lambda_):" in source
    assert "    ops = " not in source


def test_the_gradient_as_readable_text():
    p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nh = x**2\nz = sqrt(h*u)")
    source = sg.ignore_noise(p["z"], "u").framework_source("torch", gradient=True)
    assert (
        source
        == """\
import torch


def _sign(x):
    return torch.where(x == x, torch.sign(x), x)  # torch's of NaN is 0


def _f_value(x, u):
    h = x**2
    return torch.sqrt(h*u)


def _f_pullback(x, u, out_bar):
    return out_bar*_sign(x), torch.zeros_like(u)


class _FGiven(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, u):
        return _f_value(x, u)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, cotangent):
        return _f_pullback(*ctx.saved_tensors, cotangent)


def _f_given(x, u):
    return _FGiven.apply(x, u)


def f(x, u):
    x, u = torch.broadcast_tensors(x, u)
    return _f_given(x, u)
"""
    )


def test_no_gradient_of_what_is_not_real():
    x = sg.symbols("x")
    with pytest.raises(UnsupportedError, match="an output that is bool has no gradient"):
        (x > 1).framework_source("jax", gradient=True)


def test_refusals():
    x = sg.symbols("x")
    with pytest.raises(UsageError, match="the framework 'mxnet'"):
        sg.sin(x).framework_source("mxnet")
    with pytest.raises(UsageError, match="cannot name a value"):
        sg.sin(x).framework_source("jax", name="lambda")
    y = sg.parse("x : real[n]\nbinder : real[m]\ny = sum(broadcast_to(sum(x), (m,)))")["y"]
    with pytest.raises(UsageError, match="no argument has the size m in its shape"):
        y.framework_source("jax", gradient=True)


LOOP = """
x : real[{T}, m]; h0 : real[n]; U : real[n, m]; a : real
h[0] = h0
k[0] = a
h[t] = tanh(a*h[t-1] + U@x[t-1]); k[t] = t*k[t-1] for t in 1..{T}
y = sum(h[{T}]**2) + k[{T}]
"""


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("gradient", [0, 1])
def test_the_size_of_a_loop_does_not_depend_on_its_steps(framework: str, gradient: int) -> None:
    short, long = (
        sg.parse(LOOP.format(T=steps))["y"].framework_source(framework, gradient=gradient)
        for steps in (70, 7000)
    )
    assert short.replace("70", "7000") == long
    assert ("scan(" in short) is (framework != "torch")
    assert ("for i in range(70):" in short) is (framework == "torch")


def test_a_loop_of_jax() -> None:
    source = sg.parse(LOOP.format(T="T"))["y"].framework_source("jax")
    assert source.partition("def f")[2].splitlines()[1:] == [
        "    dtype = jnp.result_type(x, h0, U, a)",
        "    T = x.shape[0]",
        "    t1 = jnp.arange(T) + 1",
        "    def step(carry, row_):",
        "        carry_0, carry_1 = carry",
        "        x_t, row = row_",
        "        new = (jnp.tanh(a*carry_0 + U @ x_t), jnp.asarray(row, dtype)*carry_1)",
        "        return new, new",
        "    values_0, values_1 = jax.lax.scan(step, (h0, a), (x, t1))[1]",
        "    h = jnp.concatenate((h0[None], values_0))",
        "    k = jnp.concatenate((a[None], values_1))",
        "    return jnp.sum(h[T]**2) + k[T]",
    ]
