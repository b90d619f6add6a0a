"""Functions of JAX as programs: their names, values and derivatives against JAX's own, and what is refused."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import symgrad as sg
from symgrad.errors import UnsupportedError, UsageError
from symgrad.ir.traverse import topological
from tests.frameworks.models_jax import models

RNG = np.random.default_rng(16)


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def agree(fn: Any, *args: Any, order: int = 1, rtol: float = 1e-10) -> Any:
    """Check value, gradient and a Hessian's row sum of a function of real arrays against JAX's."""
    p = sg.from_jax(fn, *args)
    inputs = list(p.inputs)
    flat = [np.asarray(a) for a in jax.tree.leaves(args)]
    expected = fn(*jax.tree.map(jnp.asarray, args))
    outs = jax.tree.leaves(expected)
    exprs = list(p.outputs.values())[-len(outs) :]
    for e, y in zip(exprs, outs, strict=True):
        found = sg.compile(e, inputs)(*flat)
        np.testing.assert_allclose(found, y, rtol=rtol, atol=1e-13)
        assert np.shape(found) == np.shape(y)
    real = [k for k, a in enumerate(flat) if a.dtype.kind == "f"]
    assert real

    def scalar(*moving: Any) -> Any:
        leaves = list(flat)
        for k, m in zip(real, moving, strict=True):
            leaves[k] = m
        found = fn(*jax.tree.unflatten(jax.tree.structure(args), leaves))
        return sum(
            (jnp.sum(y * jnp.cos(jnp.arange(y.size).reshape(y.shape)))) for y in jax.tree.leaves(found)
        )

    def weighted(e: sg.Expr) -> sg.Expr:
        if not e.shape:
            return e
        count = int(np.prod(e.shape))
        return sg.sum(sg.arrays.reshape(e, (count,)) * sg.cos(sg.arrays.arange(count)))

    if any(e.dtype != "real" for e in exprs):
        return p
    total = sum((weighted(e) for e in exprs[1:]), weighted(exprs[0]))
    moving = [inputs[k] for k in real]
    grads = sg.grad(total, moving)
    for g, y in zip(
        sg.compile(grads, inputs)(*flat) if len(grads) > 1 else [sg.compile(grads, inputs)(*flat)],
        jax.grad(scalar, tuple(range(len(real))))(*[flat[k] for k in real]),
        strict=True,
    ):
        np.testing.assert_allclose(g, y, rtol=rtol, atol=1e-12)
    if order > 1:
        seconds = sg.grad(sum((sg.sum(sg.sin(g)) for g in grads[1:]), sg.sum(sg.sin(grads[0]))), moving)
        reference = jax.grad(
            lambda *m: sum(jnp.sum(jnp.sin(g)) for g in jax.grad(scalar, tuple(range(len(real))))(*m)),
            tuple(range(len(real))),
        )(*[flat[k] for k in real])
        found = sg.compile(seconds, inputs)(*flat)
        for g, y in zip(found if len(seconds) > 1 else [found], reference, strict=True):
            np.testing.assert_allclose(g, y, rtol=100 * rtol, atol=1e-11)
    return p


@pytest.mark.parametrize("name", ["cnn", "lstm", "transformer_block", "vae", "ppo"])
def test_models_have_the_gradients_of_jax(name):
    fn, *args = models()[name]
    p = sg.from_jax(fn, *args)
    wrt = [e for e in p.inputs if str(e).startswith("params")]
    k = sg.compile([p.last, *sg.grad(p.last, wrt)], list(p.inputs))
    value, *found = k(*jax.tree.leaves(args))
    expected, grads = jax.value_and_grad(fn)(*args)
    assert value == pytest.approx(float(expected), rel=1e-12)
    for g, e in zip(found, jax.tree.leaves(grads), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-9, atol=1e-12)
    (text,) = [line for line in str(p).splitlines() if line.startswith(f"{p.names[-1]} = ")]
    assert text
    assert sg.explain(p.last, wrt[0]).values


def test_models_have_names_of_their_variables():
    p = sg.from_jax(*models()["ppo"])
    assert {"h", "logits", "logp", "ratio", "clipped", "policy", "entropy"} <= set(p.names)
    assert p.names[-1] == "ppo"
    assert "clipped = minimum(1.2, maximum(0.8, ratio))" in str(p).splitlines()
    p = sg.from_jax(*models()["cnn"])
    assert {"pooled", "features", "logp", "loss"} <= set(p.names)
    assert p.names[-1] == "loss"
    location = p.listing.location(p["pooled"].node)
    assert location is not None
    assert location.source.name.endswith("models_jax.py")
    assert "pooled = lax.reduce_window" in location.source.line(location.line)


def test_derivatives_are_in_the_names_of_the_function():
    def loss(w, x, y):
        h = jnp.tanh(x @ w)
        return jnp.mean((h - y) ** 2)

    p = sg.from_jax(loss, "real[3]", "real[8, 3]", "real[8]")
    assert str(sg.grad(p["loss"], "w")) == "x.T@((1 - h**2)*(h - y))/4"
    assert "h_bar = (h - y)/4" in str(sg.explain(p["loss"], "w"))


X, Y, V = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=4)
P = RNG.uniform(0.2, 0.8, size=(3, 4))
S = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
ELEMENTWISE = {
    "arithmetic": (lambda x, y: (x + y) * x - x / y + (-x), X, Y),
    "powers": (lambda x: x**2 + x**-1 + x**3.5 + x**x + jnp.sqrt(x) + lax.rsqrt(x) + jnp.cbrt(x), P),
    "exponentials": (lambda x: jnp.exp(x) + jnp.exp2(x) + jnp.expm1(x) + jnp.log1p(x) + jnp.log(x), P),
    "circular": (lambda x, y: jnp.sin(x) + jnp.cos(x) + jnp.tan(y) + jnp.arctan2(x, y), P, P + 0.1),
    "inverse": (lambda x: jnp.arcsin(x) + jnp.arccos(x) + jnp.arctan(x) + jnp.arctanh(x), P),
    "hyperbolic": (
        lambda x: jnp.sinh(x) + jnp.cosh(x) + jnp.tanh(x) + jnp.arcsinh(x) + jnp.arccosh(x + 1),
        P,
    ),
    "special": (
        lambda x: jax.scipy.special.erf(x) + jax.scipy.special.gammaln(x) + jax.scipy.special.erfinv(x),
        P,
    ),
    "bessel": (lambda x: jax.scipy.special.i0e(x) + jax.scipy.special.i1e(x), P),
    "choices": (lambda x, y: jnp.where(x > y, x, 2 * y) + jnp.maximum(x, y) + jnp.minimum(x, 0.3), X, Y),
    "logic": (lambda x, y: jnp.where((x > 0) & ~(y > 0) | (x == y), x, y * y), X, Y),
    "clipping": (lambda x: jnp.clip(x, -0.5, 0.5) * x, X),
    "rounding of halves": (lambda x: jnp.round(x), np.arange(-7, 8) / 2),
    "rounding away from zero": (
        lambda x: jax.lax.round(x, jax.lax.RoundingMethod.AWAY_FROM_ZERO),
        np.arange(-7, 8) / 2,
    ),
    "rounding": (
        lambda x: jnp.round(10 * x) + x * jnp.floor(x) + jnp.ceil(x) + jnp.sign(x) + jnp.trunc(x),
        X,
    ),
    "remainders": (lambda x, y: jnp.mod(x, y) + lax.rem(x, y) + jnp.fmod(y, x), X, Y),
    "activations": (
        lambda x: (
            jax.nn.relu(x)
            + jax.nn.silu(x)
            + jax.nn.gelu(x)
            + jax.nn.softplus(x)
            + jax.nn.elu(x)
            + jax.nn.leaky_relu(x)
            + jax.nn.gelu(x, approximate=False)
            + jax.nn.selu(x)
            + jax.nn.relu6(x)
        ),
        X,
    ),
    "logaddexp": (jnp.logaddexp, X, Y),
    "casts": (lambda x: x.astype(jnp.float32) * (x > 0).astype(int) + (x > 1).astype(jnp.float64), X),
    "stopped": (lambda x, y: lax.stop_gradient(x * y) * x, X, Y),
    "numbers": (lambda x: 0.1 * x + jnp.pi, X),
}
ARRAYS = {
    "products": (lambda x, y, v: x @ y.T + jnp.outer(x @ v, y @ v) + jnp.vdot(x, y), X, Y, V),
    "batched": (
        lambda a, b: jnp.einsum("bij,bjk->bik", a, b) + jnp.matmul(a, b),
        *RNG.normal(size=(2, 2, 3, 3)),
    ),
    "tensordot": (lambda a, b: jnp.tensordot(a, b, ((0, 2), (2, 0))), *RNG.normal(size=(2, 3, 2, 3))),
    "sums": (lambda x: x.sum(0) + x.mean((0, 1)) + x.std(0) + x.var(), X),
    "extremes": (lambda x: x.max(1) - x.min(1) + jnp.max(x) * x.prod(1), X),
    "which": (lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0)), X),
    "all": (lambda x: jnp.where(jnp.any(x > 1, 1) | jnp.all(x < 1, 1), x.sum(1), 0.0), X),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, 1) + jax.nn.log_softmax(x, 0).sum(0)[:3], X),
    "softmax": (lambda x: jax.nn.softmax(x, axis=0) * x, X),
    "cumulative": (lambda x: jnp.cumsum(x, 1) * lax.cumsum(x, 0, reverse=True), X),
    "running": (
        lambda x: jnp.cumprod(x, 0) + lax.cumprod(x, 1, reverse=True) + lax.cummax(x, 1) - lax.cummin(x, 0),
        X,
    ),
    "running sums of exponentials": (lambda x: lax.cumlogsumexp(x, 1), X),
    "sort": (lambda x: jnp.sort(x, 0) * jnp.sort(x, descending=True) + x[:, jnp.argsort(x[0])], X),
    "sort of ties": (lambda x: jnp.sort(jnp.round(x)) * x, X),
    "sort of two": (lambda x, y: lax.sort((x, y), dimension=1, num_keys=1), X, Y),
    "top_k": (lambda x: [lax.top_k(x, 2)[0] * x[:, :2], lax.top_k(-x, 1)[1]][0], X),
    "determinants": (lambda a: jnp.linalg.det(a) * jnp.linalg.slogdet(a)[1] + jnp.linalg.slogdet(a)[0], S),
    "solve": (lambda a, b: jnp.linalg.solve(a, b) @ jnp.linalg.inv(a[0])[:, :2].T, S, S[..., :2]),
    "solve for a vector": (
        lambda a, b: jnp.linalg.solve(a[0], b) * jnp.linalg.solve(a[1], a[0])[0],
        S,
        V[:3],
    ),
    "triangles": (
        lambda a, b: (
            jax.scipy.linalg.solve_triangular(a, b, lower=True)
            * jax.scipy.linalg.solve_triangular(a, b, trans=1)
            + jax.scipy.linalg.solve_triangular(a, b, lower=True, unit_diagonal=True)
            + lax.linalg.triangular_solve(a, a, left_side=False)[0]
            + jnp.linalg.cholesky(a @ a.T + jnp.eye(3))[1]
            + jnp.linalg.cholesky(a @ a.T + jnp.eye(3), upper=True)[1]
        ),
        S[0],
        V[:3],
    ),
    "matrix functions": (
        lambda a: jax.scipy.linalg.expm(a) + jnp.linalg.matrix_power(a, 3) + jnp.trace(a),
        S[0] / 3,
    ),
    "matrix products": (
        lambda a: jnp.kron(a, a)[:3] + jnp.linalg.norm(a) + jnp.diag(a)[:, None] + jnp.cross(a, a.T)[0, 0],
        S[0],
    ),
    "shapes": (lambda x: x.T.reshape(2, 6)[::-1].ravel()[None, :, None].squeeze() * 2, X),
    "joins": (lambda x, y: jnp.concatenate([x, y[:1]], 0) * jnp.stack([x[0], y[0], x[1], y[1]]), X, Y),
    "tiles": (lambda v: jnp.tile(v, 3) * jnp.repeat(v, 3) + jnp.roll(jnp.pad(v, (4, 4)), 2), V),
    "padding": (lambda x: lax.pad(x, 0.0, ((1, -1, 1), (0, 2, 0))), X),
    "padding by a number": (lambda x: jnp.pad(x, 1, constant_values=3.0) ** 2, X),
    "splits": (lambda x: jnp.split(x, 2, axis=1), X),
    "slices": (lambda x: x[1:, ::2] * x[:2, 1::2] + x[-1, -2] + x[..., None, 0][:2], X),
    "static positions": (lambda x: x[jnp.array([2, 0, 0])] * x[np.array([[0, 1, 2]]), [3]].T, X),
    "fancy": (lambda x: x[[0, 2], [1, 3]] + x[:, [1, 0]].sum() + x[[0, 1], 1:][:, 0], X),
    "computed positions": (lambda x, i: x[i] + x[:, i[0]][0] + x[i[1], i[2]], X, np.array([1, -1, 2])),
    "a position of two axes": (lambda x, i: x[i, i] + x[i][:, i].sum(), X, np.array([1, 0, 2])),
    "along": (lambda x, i: jnp.take_along_axis(x, i, 1), X, np.array([[1, 0], [3, 3], [2, 1]])),
    "along first": (lambda x, i: jnp.take_along_axis(x, i, 0), X, np.array([[1, 0, 2, 2]])),
    "taken": (lambda x, i: jnp.take(x, i, axis=1) * 2, X, np.array([[1, 0], [3, 3]])),
    "taken and clipped": (lambda x, i: jnp.take(x, i, axis=1, mode="clip"), X, np.array([1, 9])),
    "dynamic slices": (
        lambda x, i: (
            lax.dynamic_slice(x, (i, 1), (2, 2)) + x[1, lax.dynamic_slice(jnp.arange(4), (i,), (2,))]
        ),
        X,
        2,
    ),
    "slices in a row": (lambda x, i: lax.dynamic_slice_in_dim(x, i, 2, 1) ** 2, X, 1),
    "updates": (lambda x, y, i: lax.dynamic_update_slice(x, y[:2, :2], (i, 1)), X, Y, 1),
    "one entry set": (lambda x, v, i: x.at[i].set(v) * x.at[0, 1].set(3.0), X, V, 1),
    "entries set": (lambda x, v: x.at[:, 1].set(2.0).at[1].set(v), X, V),
    "scattered entries set": (lambda x: x.at[jnp.array([2, 0]), jnp.array([1, 3])].set(7.0) ** 2, X),
    "sums at positions": (lambda x, v, i: x.at[i].add(v) * x.at[i, i].add(1.0), X, V, np.array([0, 2, 0])),
    "segments": (lambda v, i: jax.ops.segment_sum(v, i, 3), V, np.array([0, 2, 2, 1])),
    "positions of batches": (
        lambda x, i: jax.vmap(lambda r, k: r[k] * r.at[k].add(2.0))(x, i),
        X,
        np.array([2, 0, 3]),
    ),
    "slices of batches": (
        lambda x, i: jax.vmap(lambda r, k: lax.dynamic_slice_in_dim(r, k, 2))(x, i),
        X,
        np.array([2, 0, 1]),
    ),
    "batches of positions": (lambda x, i: jax.vmap(lambda k: x[k])(i), X, np.array([[2, 0], [1, 1]])),
    "products at positions": (lambda x, i: x.at[i].multiply(3.0).at[1].max(0.0).at[0, 2].min(0.1), X, 2),
    "outside and dropped": (lambda x: x.at[jnp.array([7, 1])].set(1.0, mode="drop"), X),
    "attention": (
        lambda q: jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, q), -1) @ q,
        RNG.normal(size=(2, 3, 4)),
    ),
    "masks": (
        lambda x: jnp.tril(x) + jnp.triu(x, 1) * jnp.eye(3, 4) + jnp.arange(4) * jnp.linspace(0, 1, 4),
        X,
    ),
    "one hot": (lambda x, i: jax.nn.one_hot(i, 4) * x, X, np.array([0, 3, 1])),
    "norms": (lambda x: jnp.linalg.norm(x, axis=1), X),
    "norms of other orders": (
        lambda x: jnp.linalg.norm(x, 3, axis=1).sum() + jnp.linalg.norm(x, 1, axis=0),
        X,
    ),
    "absolute values at zero": (
        lambda x: jnp.abs(x) + 2 * jnp.fabs(x) * x + jnp.linalg.norm(x, 1) + jnp.linalg.norm(x, jnp.inf),
        np.array([0.0, -0.0, 1.5, -2.0]),
    ),
    "hypot": (jnp.hypot, np.array([3.0, -1.0, 0.0, 0.0]), np.array([-4.0, 1.0, 2.0, 0.0])),
    "median": (lambda x: jnp.median(x) + jnp.median(x, axis=1).sum() + jnp.median(x, axis=0), X),
    "nan_to_num": (
        lambda x: jnp.nan_to_num(x) * 2 + jnp.nan_to_num(x, nan=0.5, posinf=3.0, neginf=-4.0),
        X,
    ),
    "vmap": (lambda x, y: jax.vmap(lambda a, b: jnp.dot(a, b) * a)(x, y), X, Y),
    "kron": (lambda x, v: jnp.kron(x, v) + jnp.cross(x[0, :3], v[:3]).sum(), X, V),
    "a derivative inside": (lambda x: jax.grad(lambda v: jnp.sum(jnp.tanh(v) ** 3))(x), X),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    twice = name in ("arithmetic", "choices", "clipping", "stopped")
    agree(*ELEMENTWISE[name], order=1 + twice, rtol=1e-6 if name == "casts" else 1e-10)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    agree(*ARRAYS[name], order=1 + (name in ("products", "softmax", "computed positions")))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID", [(2, 0), (0, 1)]])
def test_convolutions(groups, padding):
    x, w = RNG.normal(size=(2, 6, 5, 4)), RNG.normal(size=(3, 2, 4 // groups, 6))

    def convolve(x, w):
        return lax.conv_general_dilated(
            x,
            w,
            (2, 1),
            padding,
            rhs_dilation=(1, 2),
            feature_group_count=groups,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    agree(convolve, x, w)


def test_transposed_convolutions():
    x, w = RNG.normal(size=(1, 4, 3, 2)), RNG.normal(size=(3, 3, 2, 3))
    agree(lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), x, w)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pooling(padding):
    x = RNG.normal(size=(2, 5, 7, 3))
    window = (1, 3, 2, 1), (1, 2, 2, 1), padding
    agree(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, *window), x)
    agree(lambda x: lax.reduce_window(x, 0.0, lax.add, *window) / 6, x)
    agree(lambda x: lax.reduce_window(x - 9, jnp.inf, lax.min, *window), x)


def test_loops_and_branches():
    def recurrence(x, v):
        (last, total), rows = lax.scan(
            lambda c, row: ((jnp.tanh(c[0] + row), c[1] + c[0].sum()), c[0] * 2), (v, 0.0), x, reverse=True
        )
        return last, total, rows

    p = agree(recurrence, X, V, order=2)
    assert p.names == ("x", "v", "last", "total", "rows")
    agree(lambda x: lax.fori_loop(0, 4, lambda k, c: c * x + k, x), V)
    agree(lambda x: lax.cond(x.sum() > 0, lambda x: x**2, lambda x: x * 3, x), V)
    agree(lambda x, k: lax.switch(k, [lambda x: x, lambda x: x**2, jnp.sin], x), V, 1)
    agree(lambda x: lax.map(lambda r: r**2, x), X)
    agree(jax.jit(lambda x: jax.checkpoint(jnp.sin)(x) * 2), X)


def test_what_the_function_knows_is_decided_while_it_is_read():
    for k in (0, 1):
        agree(lambda x, k=k: lax.cond(k > 0, jnp.sin, jnp.cos, x), V)
    agree(lambda x: jnp.zeros_like(x) + x * x.shape[0], V)


@jax.custom_jvp
def halved(x):
    return jnp.sin(x)


halved.defjvp(lambda p, t: (halved(*p), 0.5 * jnp.cos(p[0]) * t[0]))


@jax.custom_vjp
def clipped(x, w):
    return x * w


clipped.defvjp(lambda x, w: (x * w, (x, w)), lambda r, g: (jnp.clip(r[0], -1, 1) * g * r[1], g * r[0]))


@jax.custom_vjp
def straight(x):
    return jnp.round(x)


straight.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))


@jax.custom_jvp
def bounded(x):
    return jnp.tanh(x)


@bounded.defjvp
def _(p, t):
    y = bounded(*p)
    return y, (1 - y**2) * t[0]


@jax.custom_jvp
def unlike(x):
    return jnp.tanh(x)


@unlike.defjvp
def _(p, t):
    y = unlike(*p)
    return y, 3 * y * t[0]


@jax.custom_jvp
def two(x):
    return x**2, x**3


two.defjvp(lambda p, t: (two(*p), (5 * p[0] * t[0], 7 * p[0] ** 2 * t[0])))


@pytest.mark.parametrize(
    "fn", [lambda x: halved(x) * x, lambda x: clipped(x, x + 1), lambda x: bounded(x) * x, lambda x: two(x)]
)
def test_derivatives_of_ones_own_are_kept(fn):
    agree(fn, X, order=2)


def test_a_value_keeps_its_own_derivative_at_order_two():
    """JAX differentiates what `fwd` computes then, which here is no call of the function."""
    agree(lambda x: straight(3 * x) ** 2, X)
    p = sg.from_jax(lambda x: straight(3 * x) ** 2, "real")
    assert float(sg.grad(sg.grad(p.last, "x"), "x")(x=0.3)) == 18.0


def test_a_rule_that_calls_its_function_must_be_its_derivative():
    with pytest.raises(
        UnsupportedError, match="calls the function itself and is not the function's derivative"
    ):
        sg.from_jax(lambda x: unlike(x), "real[3]")


def test_a_pullback_that_is_not_linear_is_refused():
    @jax.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(lambda x: (x * 2, None), lambda _, g: (jnp.clip(g, -1, 1),))
    with pytest.raises(UnsupportedError, match="cannot be shown to be linear in the cotangent"):
        sg.from_jax(f, "real[3]")


def test_values_that_are_no_ordinary_numbers():
    p = sg.from_jax(
        lambda x: jnp.where(jnp.isfinite(x), x, 7.0) + jnp.where(jnp.isnan(x), 1.0, 0.0), "real[4]"
    )
    x = np.array([1.0, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(p.last(x=x), [1, 7, 7, 8])
    p = sg.from_jax(lambda x: jnp.nan_to_num(x, nan=0.5, posinf=3.0, neginf=-4.0), "real[4]")
    np.testing.assert_array_equal(p.last(x=x), [1, 3, -4, 0.5])
    assert np.isnan(sg.from_jax(jnp.median, "real[4]").last(a=x))
    f = lambda x: jax.nn.relu(x) * 2  # noqa: E731
    x = np.array([np.nan, np.inf, -np.inf, -0.0])
    np.testing.assert_array_equal(sg.from_jax(f, "real[4]").last(x=x), f(x))


def test_what_is_declared():
    p = sg.from_jax(
        lambda x, u, k, s: {"a": x * u.sum() + s, "b": x[k]}, "positive[3]", "Normal(0, 1)[8]", "int", 2.0
    )
    assert [e.shape for e in p.inputs] == [(3,), (8,), (), ()]
    assert p.names[-2:] == ("out_a", "out_b")
    assert sg.explain(sg.sum(p["out_a"]), "x").noise["u"].enters


def test_trees_and_shapes():
    def f(params, *rest, scale=2.0):
        return params["w"] @ rest[0] * scale + params["layers"][1]

    p = sg.from_jax(
        f, {"w": jax.ShapeDtypeStruct((2, 3), np.float32), "layers": [jnp.ones(2), jnp.ones(2)]}, np.ones(3)
    )
    assert [str(e) for e in p.inputs] == ["params_layers_0", "params_layers_1", "params_w", "rest0"]
    with pytest.raises(UsageError, match="two inputs are called 'p_a_b'"):
        sg.from_jax(lambda p: p["a"]["b"] + p["a_b"], {"a": {"b": 1.0}, "a_b": 1.0})


def test_a_tuple_of_numbers_is_a_shape():
    p = sg.from_jax(lambda x, y: jnp.sum(x) + y["b"].sum(), (3, 2), {"b": (4,)})
    assert [e.shape for e in p.inputs] == [(3, 2), (4,)]
    with pytest.raises(UsageError):
        sg.from_jax(lambda x: jnp.sum(x), (-3,))


def test_names_that_jax_is_told():
    from jax.ad_checkpoint import checkpoint_name

    p = sg.from_jax(lambda x: checkpoint_name(jnp.sin(x), "wave") ** 2, "real")
    assert str(p).splitlines()[1:-1] == ["wave = sin(x)"]


def test_all_that_is_missing_is_said_at_once_with_its_line():
    def f(x, key):
        y = lax.sort((x, x), num_keys=2)[0]
        noise = jax.random.normal(jax.random.key(0), (3,))
        z = lax.while_loop(lambda c: c < 3.0, lambda c: c * 2, x[0])
        a = jnp.linalg.svd(jnp.eye(3) + x)[0]
        return y + noise + z + a[0] + x * jnp.inf

    first = f.__code__.co_firstlineno
    with pytest.raises(UnsupportedError) as caught:
        sg.from_jax(f, "real[3]", "int")
    lines = str(caught.value).splitlines()
    found = [
        int(line.split("line ")[1].split(":")[0]) - first
        for line in lines
        if "test_jax_import.py, line" in line
    ]
    assert sorted(set(found)) == [1, 2, 3, 4, 5]
    assert any("sort by 2 arrays" in line and "argsort" in line for line in lines)
    assert any("random" in line and "pass the noise in as an argument" in line for line in lines)
    assert any("an infinite number" in line for line in lines)


def test_control_flow_by_data_is_refused_with_its_line():
    def f(x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(UnsupportedError, match=rf"line {f.__code__.co_firstlineno + 1}\)"):
        sg.from_jax(f, "real[3]")
    for g in (lambda x: float(x[0]), lambda x: np.sin(x), lambda x: x[x > 0], lambda x: x[0].item()):
        with pytest.raises(UnsupportedError, match="branches on a value that is not known"):
            sg.from_jax(g, "real[3]")


def test_loops_stay_loops():
    def network(W, U, b, x):
        def step(h, x):
            h = jnp.tanh(W @ h + U @ x + b)
            return h, (h**2).sum()

        h, costs = lax.scan(step, jnp.zeros(3), x)
        return (h**2).sum() + costs.sum()

    shapes = ((3, 3), (3, 2), (3,), (500, 2))
    p = agree(network, *(RNG.normal(size=s) / 3 for s in shapes))
    assert "tanh(W@g[t-1] + U@x[t-1] + b) for t in 1..500" in str(p)
    assert "costs = sum(g[1:]**2, axis=1)" in str(p)
    p = agree(lambda x: lax.fori_loop(2, 900, lambda k, c: c * 0.5 + jnp.sin(k * x), x), V)
    assert "for t in" in str(p)
    agree(lambda x: lax.fori_loop(0, 1, lambda k, c: c * x + k, x), V)
    agree(lambda x: lax.scan(lambda c, r: (c[::-1] + r, (c > r, c)), x[0], x), X)
    agree(
        lambda x: lax.fori_loop(0, 3, lambda k, c: lax.fori_loop(0, 4, lambda j, d: d * 0.9 + j * k, c), x), V
    )


def test_loops_that_carry_whole_numbers_on_are_refused_if_they_are_long():
    def f(x, n):
        return lax.fori_loop(0, n, lambda k, c: (c[0] * 0.5 + c[1], (c[1] * 3) % 7), (x, 1))[0]

    agree(lambda x: f(x, 5), V)
    with pytest.raises(UnsupportedError, match="a loop of 1,000 steps with whole numbers"):
        sg.from_jax(lambda x: f(x, 1000), "real")


def recurrences(p: Any) -> list[int]:
    """Return the number of nodes of a program, and how many of them are recurrences."""
    order = topological([e.node for e in p.outputs.values()])
    return [len(order), sum(n.op.name == "recurrence" for n in order)]


def decay(x, a):
    """A scan that reads rows, stacks, and counts."""

    def step(c, r):
        (h, k), on = c
        h = jnp.where(on, jnp.sin(a * h + r * k), h)
        return ((h, k + 2), on & (h.sum() < 2)), (h[0] * r, k, on)

    return lax.scan(step, ((a, 3), True), x)


def positions(x, a):
    x = jnp.concatenate([a[None], jnp.asarray(x)])
    return lax.fori_loop(0, x.shape[0] - 1, lambda i, c: c * a + jnp.sin(x[i]) * x[i + 1], a)


def last_rows(x, a):
    return lax.scan(lambda c, r: (c * a + jnp.cos(r * c), c * r), a, x, reverse=True)


def inside(x, a):
    def row(c, r):
        return lax.scan(lambda d, e: (jnp.sin(d * e + a), d), c, r)

    return lax.scan(row, a, x)


def without_carry(x, a):
    return lax.scan(lambda _, r: (None, {"y": r * a, "z": (r**2).sum()}), None, x)[1]


def mapped(x, a):
    return lax.map(lambda r: (jnp.sin(r) * a).sum(), x)


LOOPS = [decay, positions, last_rows, inside, without_carry, mapped]


@pytest.mark.parametrize("fn", LOOPS)
@pytest.mark.parametrize("count", [0, 1, 5])
def test_loops_have_the_values_of_jax(fn, count):
    agree(fn, RNG.normal(size=(count, 3)), RNG.normal(size=3), order=2)


@pytest.mark.parametrize("fn", LOOPS)
def test_the_size_of_a_loop_does_not_depend_on_its_steps(fn):
    short, long = (recurrences(sg.from_jax(fn, f"real[{n}, 3]", "real[3]")) for n in (5, 2000))
    assert short == long
    loops = {inside: 2, without_carry: 0, mapped: 0}.get(fn, 1)
    assert short[1] == loops
    named = sg.from_jax(fn, "real[n, 3]", "real[3]")
    assert recurrences(named)[1] == loops
    x, a = RNG.normal(size=(4, 3)), RNG.normal(size=3)
    for e, y in zip([*named.outputs.values()][-1:], jax.tree.leaves(fn(x, a))[-1:], strict=True):
        np.testing.assert_allclose(e(x=x, a=a), y, rtol=1e-12, atol=1e-13)


def search(x):
    """Return the root, and after how many steps it was found."""

    def goes_on(c):
        return (c[0] < 50) & (jnp.abs(c[1] ** 2 - x) > 1e-6)

    return lax.while_loop(goes_on, lambda c: (c[0] + 1, (c[1] + x / c[1]) / 2), (0, x))


BOUNDED = {
    "a count": lambda x: lax.while_loop(lambda c: c[0] < 7, lambda c: (c[0] + 2, c[1] * jnp.sin(x)), (0, x))[
        1
    ],
    "down": lambda x: lax.while_loop(
        lambda c: c[0] >= 2, lambda c: (c[0] - 3, c[1] * 0.5 + x * c[0], c[2]), (9, x, x)
    )[1:],
    "until equal": lambda x: lax.while_loop(
        lambda c: c[1] != 6, lambda c: (c[0] * x + c[1], c[1] + 3), (x, 0)
    )[0],
    "never": lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, c[1] * x), (5, x))[1],
    "two bounds": lambda x: lax.while_loop(
        lambda c: (c[0] < 9) & (c[1] > 4), lambda c: (c[0] + 1, c[1] - 1, c[2] * x), (0, 10, x)
    )[2],
    # The count fulfils the condition again after it has failed once.
    "a count and more": lambda x: lax.while_loop(
        lambda c: (c[0] < 9) & (jnp.cos(c[0] * 1.0) > -0.9), lambda c: (c[0] + 1, c[1] * 0.9 + x), (0, x)
    )[1],
    "its own flag": lambda x: lax.while_loop(
        lambda c: c[2] & (c[0] < 20), lambda c: (c[0] + 1, c[1] * 1.5, c[1] < 4 * x), (0, x, True)
    )[1],
    "traced bounds": lambda x: lax.fori_loop(0, jnp.int32(6), lambda i, c: c * 0.5 + x * i, x),
    "nested": lambda x: lax.fori_loop(
        0,
        3,
        lambda i, c: lax.while_loop(lambda d: d[0] < 4, lambda d: (d[0] + 1, d[1] * 0.9 + i * x), (1, c))[1],
        x,
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_loops_with_a_condition(name):
    for x in (1.3, 2.0):
        p = sg.from_jax(BOUNDED[name], x)
        values = jax.tree.leaves(BOUNDED[name](x))
        for e, y in zip([*p.outputs.values()][-len(values) :], values, strict=True):
            np.testing.assert_allclose(e(x=x), y, rtol=1e-12)
            flat = sg.sum(e) if e.shape else e
            slope = jax.jacfwd(lambda x: sum(jnp.sum(v) for v in jax.tree.leaves(BOUNDED[name](x))))(x)
            if len(values) == 1:
                np.testing.assert_allclose(sg.grad(flat, "x")(x=x), slope, rtol=1e-10)


def test_a_search_returns_how_many_steps_it_made():
    p = sg.from_jax(search, "positive")
    assert recurrences(p)[1] == 1
    steps, root = p.returned.values()
    assert steps.dtype == "int"
    for x in (1.0, 2.0, 1e9):
        wanted = search(x)
        assert int(steps(x=x)) == int(wanted[0])
        np.testing.assert_allclose(root(x=x), wanted[1], rtol=1e-13)


def test_a_loop_without_a_bound_is_refused():
    def f(x):
        return lax.while_loop(lambda c: c > 1e-3, lambda c: c * 0.5, x)

    with pytest.raises(UnsupportedError) as caught:
        sg.from_jax(f, "real")
    line = f.__code__.co_firstlineno + 1
    assert f"line {line}: a loop whose number of steps depends on the data (try: lax.while_loop(" in str(
        caught.value
    )

    def n_steps(x, n):
        return lax.fori_loop(0, n, lambda i, c: c * x, x)

    with pytest.raises(UnsupportedError, match="depends on the data"):
        sg.from_jax(n_steps, "real", "int")


def test_arrays_in_the_function_are_refused_if_they_are_large():
    small, large = RNG.normal(size=3), RNG.normal(size=(100, 100))
    agree(lambda x: x * small, RNG.normal(size=3))
    with pytest.raises(UnsupportedError, match="an array of 10,000 numbers in the function"):
        sg.from_jax(lambda x: large @ x, "real[100]")
    agree(lambda x: x * np.ones((100, 100)) + np.arange(100), RNG.normal(size=(100, 100)))


def test_python_values_are_taken_as_they_are():
    settings_of_mine = {"k": 2.0}

    def f(x):
        return x * settings_of_mine["k"]

    p = sg.from_jax(f, "real")
    settings_of_mine["k"] = 5.0
    assert float(p.last(x=1.0)) == 2.0
    assert float(sg.from_jax(f, "real").last(x=1.0)) == 5.0


def test_specs_that_are_none():
    with pytest.raises(UsageError, match="1 specs for the arguments x, y"):
        sg.from_jax(lambda x, y: x, "real")
    with pytest.raises(UsageError, match="does not say what 'x' is"):
        sg.from_jax(lambda x: x, "real[3")
    with pytest.raises(UsageError, match="type object does not say"):
        sg.from_jax(lambda x: x, object())
    with pytest.raises(UsageError, match="declared with the size 2"):
        sg.from_jax(lambda x: x, jax.ShapeDtypeStruct(jax.export.symbolic_shape("2*n"), np.float32))
    with pytest.raises(UnsupportedError, match="'x' is complex128"):
        sg.from_jax(lambda x: x, np.ones(3, complex))
    with pytest.raises(UnsupportedError, match="'x' is key"):
        sg.from_jax(lambda x: x, jax.random.key(0))
    with pytest.raises(UsageError, match="is no function"):
        sg.from_jax(3, "real")
    with pytest.raises(TypeError):
        sg.from_jax(lambda x, w: x @ w, "real[3]", "real[4]")


def test_sizes_with_names():
    def loss(x, w, t):
        h = jnp.tanh(x @ w)
        h = h - h.mean()
        late = (h[:, None] * jnp.arange(x.shape[0])).sum(1) + jnp.concatenate([h, h])[: x.shape[0]]
        return (
            jnp.mean((late - t) ** 2)
            + jax.nn.logsumexp(h)
            + h[0] * x.reshape(-1)[-1]
            + jax.nn.softmax(h).max()
        )

    p = sg.from_jax(loss, ("n", 3), "real[3]", "real[n]")
    assert [e.shape for e in p.inputs] == [("n", 3), (3,), ("n",)]
    assert p["h"].shape == ("n",)
    k = sg.compile([p.last, *sg.grad(p.last, ["x", "w", "t"])])
    for n in (1, 2, 5):
        args = RNG.normal(size=(n, 3)), RNG.normal(size=3), RNG.normal(size=n)
        value, *found = k(*args)
        expected, slopes = jax.value_and_grad(loss, (0, 1, 2))(*map(jnp.asarray, args))
        assert value == pytest.approx(float(expected), rel=1e-11)
        for g, e in zip(found, slopes, strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-9, atol=1e-11)


def test_sizes_with_names_as_jax_has_them():
    n, m = jax.export.symbolic_shape("n, m")
    shapes = jax.ShapeDtypeStruct((n, m), np.float64), jax.ShapeDtypeStruct((m,), np.float64)
    p = sg.from_jax(lambda x, y: jnp.tile(x @ y, 2) * jnp.eye(2 * x.shape[0]).sum(0), *shapes)
    (size,) = p.last.shape
    assert str(size) == "2*n"
    np.testing.assert_allclose(p.last(x=np.ones((2, 3)), y=np.arange(3.0)), [3, 3, 3, 3])


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: sum(x[k] for k in range(x.shape[0])), "needs the number of a size that is a name"),
        (lambda x: x if x.shape[0] > 3 else 2 * x, "'n' > '3' is inconclusive"),
        (lambda x: x * float(x.shape[0]), "needs the number"),
        (lambda x: jnp.roll(x, 1), r"a size mod\("),
        (
            lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (1,), "VALID"),
            "windows over an axis of n entries",
        ),
        (lambda x: lax.cumprod(x, 0), "n steps along an axis"),
    ],
)
def test_what_needs_the_number_of_a_size(function, what):
    with pytest.raises(UnsupportedError, match=what) as error:
        sg.from_jax(function, ("n",))
    assert "test_jax_import.py, line " in str(error.value)


def test_lines_of_the_user_in_explanations():
    def loss(w, x, u):
        h = jnp.tanh(x @ w)
        noisy = lax.stop_gradient(h) * (1 + 0.1 * u) + jax.nn.relu(h)
        return (noisy**2).sum()

    p = sg.from_jax(loss, "real[3]", "real[5, 3]", "Normal(0, 1)[5]")
    line = loss.__code__.co_firstlineno
    assert (p.places["noisy"].file, p.places["noisy"].line) == (__file__, line + 2)
    d = sg.explain(p.last, "w")
    assert [place.line for place in d.noise["u"].places] == [line + 2]
    assert "test_jax_import.py, line" in str(d)
    assert "noisy = lax.stop_gradient(h)" in " ".join(str(d).split())
    steps = {s.rule: s.place for s in d.steps}
    assert steps["tanh"].line == line + 1
    assert d.json()["noise"]["u"]["places"][0]["line"] == line + 2
    stopped = sg.explain(sg.sum(lax_stopped()["y"]), "x")
    assert "stopped" in stopped.nothing[0]
    assert "return lax.stop_gradient(x) * 2" in " ".join(str(stopped).split())


def lax_stopped():
    def y(x):
        return lax.stop_gradient(x) * 2

    return sg.from_jax(y, "real[3]")


def test_there_and_back():
    fn, *args = models()["vae"]
    p = sg.from_jax(fn, *args)
    back = sg.to_jax(p.last, list(p.inputs))
    flat = jax.tree.leaves(args)
    assert float(back(*flat)) == pytest.approx(float(fn(*args)), rel=1e-13)
    found = jax.jit(jax.grad(back))(*flat)
    np.testing.assert_allclose(found, jax.grad(fn)(*args)["dec1"], rtol=1e-9)


def test_a_program_inside_a_function_stays_what_it_is():
    p = sg.parse("x : real[n]\ny : real[n]\nz = sum(sin(x)*y)\nk = sum(y)")
    f = sg.to_jax([p["z"], p["k"]], ["x", "y"])
    q = agree(lambda a, b: f(a * 2, b)[0] * 3 + f(b, a)[1], V, V + 1)
    assert "sin" in str(q.last)


UNARY = [
    jnp.sin,
    jnp.tanh,
    jnp.exp,
    jax.nn.relu,
    lambda a: a.T.reshape(a.shape),
    lambda a: a[::-1],
    jnp.square,
]
REDUCE = [
    lambda a: a - a.mean(0),
    lambda a: a / (1 + jnp.abs(a).sum(1, keepdims=True)),
    lambda a: jnp.cumsum(a, 0),
]
BINARY = [
    jnp.add,
    jnp.multiply,
    jnp.maximum,
    lambda a, b: a @ b.T @ b,
    lambda a, b: jnp.where(a > b, a, b * 2),
]


@settings(max_examples=8)
@given(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=7))
def test_random_functions(steps):
    def f(x, y):
        values = [x, y]
        for op, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            if op < 7:
                values.append(UNARY[op](0.3 * a))
            elif op < 10:
                values.append(REDUCE[op - 7](a))
            else:
                values.append(BINARY[op - 10](a, b))
        return jnp.sum(jnp.tanh(values[-1]))

    agree(f, X, Y, rtol=1e-8)


def test_this_version_is_known():
    """Made for jax 0.8 to 0.12: the names of variables need what a tracer stands for."""
    p = sg.from_jax(lambda x: [h := jnp.sin(x), h * 2][1], "real")
    assert "h" in p.names


def test_truth_values_that_are_chosen():
    at = {"x": np.array([0.5, -1.0, 2.0]), "y": np.array([1.5, 0.5, -2.0])}
    for which in (
        lambda x, y: jnp.where(x > y, x > 0, y > 0),
        lambda x, y: jnp.pad(x > 0, (1, 1))[:3] ^ jnp.pad(y > 0, (0, 2), constant_values=True)[2:],
        lambda x, y: jax.lax.cond(x[0] > y[0], lambda: x > 0, lambda: y > 0),
        lambda x, y: jax.lax.switch((x[0] > 0).astype(int), [lambda: x > 0, lambda: y > 0, lambda: x > y]),
    ):
        f = lambda x, y, which=which: jnp.where(~which(x, y), x, y)  # noqa: E731
        p = sg.from_jax(f, "real[3]", "real[3]")
        out = next(iter(p.returned.values()))
        np.testing.assert_array_equal(out(**at), f(**{n: jnp.asarray(v) for n, v in at.items()}))


@pytest.mark.parametrize("f", [jax.nn.relu6, lambda x: jax.lax.clamp(-1.0, x, 6.0)])
def test_slopes_at_the_bounds_of_functions_that_hold(f):
    x = np.array([-2.0, -1.0, 0.0, 3.0, 6.0])
    p = sg.from_jax(lambda x: f(x).sum(), "real[5]")
    found = sg.grad(next(iter(p.returned.values())), "x")(x=x)
    np.testing.assert_array_equal(found, jax.grad(lambda x: f(x).sum())(x))


def test_infinities_that_are_chosen():
    x = np.array([[0.5, -1.0], [3.0, 0.0]])
    for f in (
        lambda x: jnp.where(x > 0, x, -jnp.inf).max(1),
        lambda x: jnp.minimum(jnp.where(x > 0, jnp.inf, x), 2.0),
        lambda x: jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((2, 2), bool)), x, -jnp.inf)),
    ):
        p = sg.from_jax(f, "real[2, 2]")
        out = next(iter(p.returned.values()))
        np.testing.assert_allclose(out(x=x), f(x), rtol=1e-13)
        seed = np.cos(np.arange(np.size(f(x)))).reshape(np.shape(f(x)))
        slope = sg.grad(sg.sum(out * sg.tensor("seed", out.shape)), "x")
        wanted = jax.grad(lambda x, f=f, seed=seed: jnp.sum(f(x) * seed))(x)
        np.testing.assert_allclose(slope(x=x, seed=seed), wanted, rtol=1e-12, atol=1e-14)
    with pytest.raises(UnsupportedError, match="a choice between infinities"):
        sg.from_jax(lambda x: jnp.where(x > 0, jnp.inf, -jnp.inf), "real[2]")


def test_floats_are_decimals() -> None:
    def loss(x: Any, s: Any) -> Any:
        return jnp.sum(0.5 * (x / (jnp.sqrt(s) + 4e-6)) ** 2)

    y = sg.from_jax(loss, np.ones(3), np.ones(3)).last
    assert str(y) == "sum(0.5*(x/(sqrt(s) + 0.000004))**2)"
    assert sg.grad(y, "x").text(expand=True) == "x/(sqrt(s) + 0.000004)**2"
