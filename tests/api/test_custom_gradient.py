"""Pullbacks of one's own, against JAX's custom_vjp: values, order one and order two; and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.api.handles.expr import Expr
from symgrad.errors import NotDifferentiableError, ShapeError, UsageError
from symgrad.ir.traverse import symbols_of
from tests.graphs import inputs, random_graph
from tests.jax_programs import as_jax

SEEDS = st.integers(min_value=0, max_value=10**6)
POINT = (0.7, -1.3)


def value(expr, **at):
    known = {str(e) for e in expr.inputs}
    with np.errstate(all="ignore"):
        return expr(**{n: v for n, v in at.items() if n in known})


def in_jax(expr, order):
    symbols = symbols_of([expr.node])
    inner = as_jax(expr.node, symbols, {})
    positions = [[s.name for s in order].index(s.name) for s in symbols]
    return lambda *args: inner(*(args[i] for i in positions))


@given(SEEDS, SEEDS, SEEDS, SEEDS)
@settings(max_examples=10)
def test_random_programs_are_those_of_custom_vjp(first, second, third, around):
    """Order one and two of g(f(x, y), x), where the pullback of f has nothing to do with f."""
    jax = pytest.importorskip("jax")
    symbols = inputs(2)
    x, y = (Expr(s) for s in symbols)
    f, p, q = (Expr(random_graph(s, symbols, size=5)) for s in (first, second, third))
    z = sg.custom_gradient(f, {x: lambda v: v * p, y: lambda v: q * v / 2})
    stand_in = inputs(3)[2]
    g = Expr(random_graph(around, [stand_in, symbols[0]], size=5))
    whole = g.subs({Expr(stand_in): z})
    with jax.enable_x64(True):
        f_of, p_of, q_of = (in_jax(e, symbols) for e in (f, p, q))
        g_of = in_jax(g, [stand_in, symbols[0]])
        custom = jax.custom_vjp(lambda a, b: 1.0 * f_of(a, b))
        custom.defvjp(
            lambda a, b: (custom(a, b), (a, b)),  # of order two as well its derivative is the given one
            lambda ab, v: (v * p_of(*ab), q_of(*ab) * v / 2),
        )
        jaxed = lambda a, b: 1.0 * g_of(custom(a, b), a)  # noqa: E731
        expected = [float(jaxed(*POINT)), *map(float, jax.grad(jaxed, argnums=(0, 1))(*POINT))]
        for i in (0, 1):
            expected += map(float, jax.grad(jax.grad(jaxed, argnums=i), argnums=(0, 1))(*POINT))
    slopes = sg.gradients(whole, [x, y])
    curves = [c for s in slopes for c in sg.gradients(s, [x, y])]
    got = [float(value(e, x0=POINT[0], x1=POINT[1])) for e in (whole, *slopes, *curves)]
    if np.all(np.isfinite(expected)) and np.max(np.abs(expected)) < 1e12:
        np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9)
        bits = f(**{n: v for n, v in zip(("x0", "x1"), POINT, strict=True) if n in map(str, f.inputs)})
        assert float(value(z, x0=POINT[0], x1=POINT[1])) == bits


def layer():
    p = sg.parse("W : real[2, 3]\nx : real[3]\nb : real[2]\nh = W@x + b\ny = round(h)")
    W, x, h = p["W"], p["x"], p["h"]
    z = sg.custom_gradient(
        p["y"],
        {
            x: lambda v: W.T @ (v * sg.nn.sigmoid(h)),
            W: lambda v: sg.linalg.outer(v * sg.nn.sigmoid(h), x),
            p["b"]: lambda v: sg.where(h > 0, v / (1 + h**2), 0),
        },
    )
    return p, z


AT = {
    "W": np.array([[0.3, -1.2, 0.4], [1.1, 0.2, -0.7]]),
    "x": np.array([0.5, -0.8, 1.9]),
    "b": np.array([0.1, -0.4]),
}


def layer_in_jax(jax):
    jnp = jax.numpy
    custom = jax.custom_vjp(lambda W, x, b: jnp.round(W @ x + b))

    def backward(saved, v):
        W, x, b = saved
        h = W @ x + b
        s = v * jax.nn.sigmoid(h)
        return jnp.outer(s, x), W.T @ s, jnp.where(h > 0, v / (1 + h**2), 0)

    custom.defvjp(lambda W, x, b: (custom(W, x, b), (W, x, b)), backward)
    return lambda W, x, b: jnp.sum((custom(W, x, b) + 0.3) ** 2 * jnp.cos(b)) + jnp.sum(x**3)


def test_arrays_are_those_of_custom_vjp_to_order_two():
    jax = pytest.importorskip("jax")
    p, z = layer()
    b, names = p["b"], ("W", "x", "b")
    loss = sg.sum((z + 0.3) ** 2 * sg.cos(b)) + sg.sum(p["x"] ** 3)
    slopes = sg.grad(loss, list(names))
    kernel = sg.compile([loss, *slopes])
    with jax.enable_x64(True):
        jaxed = layer_in_jax(jax)
        args = [jax.numpy.asarray(AT[n]) for n in names]
        expected = jax.grad(jaxed, argnums=(0, 1, 2))(*args)
        for got, wanted in zip(kernel(**AT), [jaxed(*args), *expected], strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-15)
        for i, slope in enumerate(slopes):
            weights = np.cos(np.arange(np.size(AT[names[i]]))).reshape(np.shape(AT[names[i]]))
            total = lambda *a, i=i, w=weights: (jax.grad(jaxed, argnums=i)(*a) * w).sum()  # noqa: E731
            wanted = jax.grad(total, argnums=(0, 1, 2))(*args)
            found = sg.vjp(slope, list(names), cotangent=weights)
            for got, w in zip(found, wanted, strict=True):
                np.testing.assert_allclose(value(got, **AT), w, rtol=1e-12, atol=1e-13)


def test_forward_mode_is_the_transpose():
    p, z = layer()
    v, t = np.array([0.7, -1.1]), np.array([0.2, -0.5, 0.3])
    pushed = sg.jvp(z, p["x"], t)(**AT)
    pulled = sg.vjp(z, p["x"], v)(**AT)
    assert v @ pushed == pytest.approx(pulled @ t, rel=1e-13)
    jacobian = sg.jacobian(z, p["x"])(**AT)
    np.testing.assert_allclose(v @ jacobian, pulled, rtol=1e-13)


@pytest.mark.parametrize(
    ("pulled", "matrix"),
    [
        (lambda v: v[::-1], np.eye(4)[::-1]),
        (lambda v: sg.arrays.cumsum(v), np.tril(np.ones((4, 4)))),
        (lambda v: sg.arrays.concatenate([v[2:], -2 * v[:2]]), np.kron([[0, 1], [-2, 0]], np.eye(2))),
        (lambda v: sg.arrays.take(v, [0, 0, 3, 1]), np.eye(4)[[0, 0, 3, 1]]),
        (lambda v: sg.mean(v) + 0 * v, np.full((4, 4), 0.25)),
        (lambda v: sg.arrays.reshape(sg.arrays.reshape(v, (2, 2)).T, (4,)), np.eye(4)[[0, 2, 1, 3]]),
        (lambda v: sg.arrays.broadcast_to(sg.sum(v) / 3, (4,)), np.full((4, 4), 1 / 3)),
        (lambda v: 0, np.zeros((4, 4))),
        (None, np.zeros((4, 4))),
    ],
)
def test_what_moves_and_adds_entries(pulled, matrix):
    x = sg.tensor("x", (4,))
    z = sg.custom_gradient(sg.sin(x), {x: pulled})
    v = np.array([1.0, -2.0, 0.5, 3.0])
    at = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(value(sg.vjp(z, x, v), x=at), matrix @ v, rtol=1e-15)
    np.testing.assert_array_equal(z(x=at), np.sin(at))


@pytest.mark.parametrize("at", [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-320, 1e40])
def test_every_bit_of_the_value_is_kept_wherever_the_pullback_is_undefined(at):
    f, x = sg.symbols("f x")
    z = sg.custom_gradient(f, {x: lambda v: v * sg.log(x) / x})
    namespace = {}
    exec(z.numpy_source(), namespace)
    for got in (z(f=at, x=-1.0), sg.compile([z])(at, -1.0), namespace["f"](at, -1.0)):
        assert np.asarray(got).tobytes() == np.asarray(at).tobytes() or (np.isnan(at) and np.isnan(got))


def test_intermediate_values_and_expressions_in_a_named_cotangent():
    p = sg.parse("x : real\nh = x**2\ny = sign(h)")
    v = sg.symbols("v")
    z = sg.custom_gradient(p["y"], {"h": v * p["h"]}, cotangent=v)
    assert sg.equal(sg.grad(z, "x"), "2*x**3").status == "proved"
    assert sg.equal(sg.grad(sg.grad(z, "x"), "x"), "6*x**2").status == "proved"
    assert "v" not in [str(e) for e in z.inputs]


def test_what_the_pullback_does_not_name_receives_nothing():
    x, y = sg.symbols("x y")
    z = sg.custom_gradient(x * y, {x: lambda v: v})
    assert sg.grad(z, y).nothing == "stopped"
    assert float(sg.grad(z, x)) == 1


def test_it_is_printed_read_pickled_and_judged():
    p = sg.parse("x : real\ny = abs(x)")
    z = sg.custom_gradient(p["y"], {"x": lambda v: v * sg.tanh(9 * p["x"])})
    assert str(z) == "with_slope(stop_gradient(abs(x)), x, tanh(9*x))"
    again = sg.parse(f"x : real\nz = {z}")["z"]
    assert again.same(z)
    assert pickle.loads(pickle.dumps(z)).same(z)
    assert sg.equal(z, "abs(x)", values_only=True).status == "proved"
    verdict = sg.equal(z, "with_slope(stop_gradient(abs(x)), x, sin(x))")
    assert verdict.status == "refuted"
    assert "the values are equal" in str(verdict)
    assert sg.equal(z, "abs(x)").status == "refuted"
    assert sg.verify(z**2, "x", "2*abs(x)*tanh(9*x)").status == "proved"
    assert sg.verify(z**2, "x", "2*x").status == "refuted"


def test_verdicts_of_order_two():
    x = sg.symbols("x")
    z = sg.custom_gradient(sg.sin(x), {x: lambda v: v * sg.exp(x)})
    slope = sg.grad(z**2, x)
    # Twice z*exp(x) has the derivative 2*(exp(x)*exp(x) + z*exp(x)), with the given slope of z and not its own.
    assert sg.verify(slope, x, "2*exp(2*x) + 2*sin(x)*exp(x)").status == "proved"
    assert sg.verify(slope, x, "2*cos(x)*exp(x) + 2*sin(x)*exp(x)").status == "refuted"
    assert sg.derivatives(z, x, order=3)[x, x, x](x=0.3) == pytest.approx(np.exp(0.3), rel=1e-15)


def test_named_sizes_in_a_batch():
    p = sg.parse("X : real[b, n]\nW : real[n, m]\nh = X@W\ny = sign(h)")
    X, W, h = p["X"], p["W"], p["h"]
    z = sg.custom_gradient(p["y"], {W: lambda v: X.T @ (v * (1 - sg.tanh(h) ** 2))})
    loss = sg.mean((z - 1) ** 2)
    kernel = sg.compile([loss, sg.grad(loss, "W")])
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(200, 30)), rng.normal(size=(30, 20))
    value_, slope = kernel(X=x, W=w)
    hidden = x @ w
    assert value_ == pytest.approx(np.mean((np.sign(hidden) - 1) ** 2), rel=1e-13)
    seed = 2 * (np.sign(hidden) - 1) / hidden.size * (1 - np.tanh(hidden) ** 2)
    np.testing.assert_allclose(slope, x.T @ seed, rtol=1e-11, atol=1e-15)


def test_noise_in_the_value_alone_does_not_enter():
    p = sg.parse("x : real\nu ~ Normal(0, 1)\ny = sin(x + u)")
    z = sg.custom_gradient(p["y"], {"x": lambda v: v * sg.cos(p["x"])})
    assert sg.explain(z, "x").noise["u"].enters is False
    assert sg.explain(z**2, "x").noise["u"].enters is True
    noisy = sg.custom_gradient(p["y"], {"x": lambda v: v * p["u"]})
    assert sg.explain(noisy, "x").noise["u"].enters is True


@pytest.mark.parametrize(
    "pulled",
    [
        lambda v, x: v**2,
        lambda v, x: v + x,
        lambda v, x: x,
        lambda v, x: sg.sin(v),
        lambda v, x: v * v,
        lambda v, x: x / v,
        lambda v, x: sg.where(v > 0, v, 0),
        lambda v, x: sg.where(x > 0, v, 1),
        lambda v, x: sg.stop_gradient(v) * x,
        lambda v, x: 1,
    ],
)
def test_what_is_not_linear_is_refused(pulled):
    x = sg.symbols("x")
    with pytest.raises(UsageError, match="not known to be linear in the cotangent"):
        sg.custom_gradient(sg.sin(x), {x: lambda v: pulled(v, x)})


def test_other_refusals():
    x, k = sg.tensor("x", (3,)), sg.symbols("k", domain="int")
    v = sg.symbols("v")
    with pytest.raises(ShapeError, match=r"the pullback for 'x' has shape \(2,\)"):
        sg.custom_gradient(x, {x: lambda v: v[1:]})
    with pytest.raises(ShapeError, match="a cotangent of shape"):
        sg.custom_gradient(x, {x: x * v}, cotangent=v)
    with pytest.raises(UsageError, match="as the cotangent"):
        sg.custom_gradient(v, {v: 2 * v}, cotangent=2 * v)
    with pytest.raises(UsageError, match="the value reads 'v'"):
        sg.custom_gradient(v**2, {v: 2 * v}, cotangent=v)
    with pytest.raises(NotDifferentiableError, match="'k' is int"):
        sg.custom_gradient(k * v, {k: lambda c: c})
    with pytest.raises(NotDifferentiableError):
        sg.custom_gradient(v > 0, {v: lambda c: c})
    with pytest.raises(UsageError, match="names one value twice"):
        sg.custom_gradient(v * 2, {v: lambda c: c, "v": lambda c: c})
