"""Values with the derivatives of something else: bit for bit the values, and the derivatives against JAX."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.api.handles.expr import Expr
from symgrad.errors import NotDifferentiableError, NotInProgramError, ShapeError, UsageError
from symgrad.ir.graph import as_node, symbol
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Declaration, Distribution
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.random.laws import drawn, mean
from tests.graphs import inputs, noise, random_graph
from tests.jax_programs import as_jax

SEEDS = st.integers(min_value=0, max_value=10**6)
NOISE = noise("u")
POINT = {"x0": 0.7, "x1": -1.3, "u": 0.93}


def bits(value):
    return np.asarray(value, dtype=float).tobytes()


def value(expr, **at):
    known = {str(e) for e in expr.inputs}
    with np.errstate(all="ignore"):
        return expr(**{n: v for n, v in at.items() if n in known})


def by_jax(node, wrt, at, order=1):
    """The derivative of a graph by JAX, which knows nothing of symgrad's rules."""
    jax = pytest.importorskip("jax")
    symbols = symbols_of([node])
    if wrt not in [s.name for s in symbols]:
        return 0.0
    with jax.enable_x64(True):
        derivative = as_jax(node, symbols, {})
        for _ in range(order):
            derivative = jax.grad(derivative, argnums=[s.name for s in symbols].index(wrt))
        return float(derivative(*(float(at[s.name]) for s in symbols)))


# ---------------------------------------------------------------------------------------------------- with_gradient


@given(SEEDS, SEEDS)
@settings(max_examples=30)
def test_value_of_one_and_derivatives_of_another(first, second):
    symbols = inputs(2)
    f, g = Expr(random_graph(first, symbols)), Expr(random_graph(second, symbols, size=6))
    y = sg.with_gradient(forward=f, backward_of=g)
    if not np.isfinite(value(g, **POINT)):
        return
    assert bits(value(y, **POINT)) == bits(value(f, **POINT))
    x = Expr(symbols[0])
    slope = sg.grad(y, x)
    np.testing.assert_allclose(value(slope, **POINT), by_jax(g.node, "x0", POINT), rtol=1e-9, atol=1e-12)
    curve = value(sg.grad(slope, x), **POINT)
    np.testing.assert_allclose(curve, by_jax(g.node, "x0", POINT, order=2), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("at", [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-320, -1e308, 1e-40, 1e40])
def test_every_bit_of_the_value_is_kept(at):
    f, x = sg.symbols("f x")
    y = sg.with_gradient(f, sg.sin(x))
    kernel = sg.compile([y, sg.grad(y, x)])
    for got in (y(f=at, x=0.3), kernel(f=at, x=0.3)[0], run(y)(at, 0.3)):
        assert bits(got) == bits(at) or (np.isnan(at) and np.isnan(got))
    assert kernel(f=at, x=0.3)[1] == np.cos(0.3)


def run(expr):
    namespace = {}
    exec(expr.numpy_source(), namespace)
    return namespace["f"]


def test_where_there_is_no_gradient_the_value_is_nan():
    x = sg.symbols("x")
    y = sg.with_gradient(sg.sign(x), 1 / x)
    assert np.isnan(value(y, x=0.0))
    assert y(x=2.0) == 1


def test_arrays():
    p = sg.parse("W : real[2, 3]\nx : real[3]\nh = W@x\nf = round(h)\nt = tanh(h)")
    y = sg.with_gradient(p["f"], p["t"])
    assert y.shape == (2,)
    W, x = np.arange(6.0).reshape(2, 3) / 7, np.array([0.3, -1.0, 2.0])
    v = np.array([1.0, -2.0])
    np.testing.assert_array_equal(y(W=W, x=x), np.round(W @ x))
    slope = sg.vjp(y, p["W"], v)(W=W, x=x)
    np.testing.assert_allclose(slope, np.outer(v * (1 - np.tanh(W @ x) ** 2), x), rtol=1e-13)


def test_a_number_stands_for_all_entries():
    x = sg.tensor("x", (3,))
    assert sg.with_gradient(0, x).shape == (3,)
    np.testing.assert_array_equal(sg.with_gradient(0, x)(x=[1.0, 2.0, 3.0]), np.zeros(3))
    frozen = sg.with_gradient(x, 1)
    assert sg.gradients(frozen, x)[0].nothing == "stopped"


def test_the_same_on_both_sides_is_itself():
    x = sg.symbols("x")
    assert sg.with_gradient(sg.sin(x), sg.sin(x)).same(sg.sin(x))


def test_verdicts_and_words():
    p = sg.parse("x : real\nf = round(x)")
    y = sg.with_gradient(p["f"], p["x"])
    assert sg.equal(y, "round(x)", values_only=True).status == "proved"
    assert sg.equal(sg.grad(y, "x"), "1 + 0*x").status == "proved"
    assert sg.equal(y, "round(x)").status == "refuted"
    assert str(y) == "stop_gradient(round(x)) - (stop_gradient(x) - x)"
    assert sg.parse(f"x : real\ny = {y}")["y"].same(y)


def test_refusals():
    x = sg.symbols("x")
    with pytest.raises(ShapeError, match=r"a value of shape \(2,\) with the gradient of one of shape \(3,\)"):
        sg.with_gradient(sg.tensor("a", (2,)), sg.tensor("b", (3,)))
    with pytest.raises(NotDifferentiableError):
        sg.with_gradient(x > 0, x)


# ----------------------------------------------------------------------------------------------------- ignore_noise


@given(SEEDS, st.sampled_from(["mean", 0.5, Fraction(5, 4)]))
@settings(max_examples=30)
def test_clean_is_the_noise_free_gradient(seed, at):
    symbols = [*inputs(2), NOISE]
    y = random_graph(seed, symbols)
    if NOISE not in symbols_of([y]):
        return
    (calm,) = substitute([y], {NOISE: as_node(1 if at == "mean" else at)})
    expr = sg.ignore_noise(Expr(y), Expr(NOISE), at=at)
    if not np.isfinite(value(Expr(calm), **POINT)):
        return
    assert bits(value(expr, **POINT)) == bits(value(Expr(y), **POINT))
    if "x0" not in [str(e) for e in expr.inputs]:
        return
    slope = sg.grad(expr, "x0")
    assert NOISE not in symbols_of([slope.canonical().node])
    np.testing.assert_allclose(value(slope, **POINT), by_jax(calm, "x0", POINT), rtol=1e-9, atol=1e-12)


def noisy_by_hand(node, table, values, x):
    """Reverse mode in mpmath, op by op: differences of each op at its noisy arguments, with noise alone held fixed."""
    from symgrad.ir.graph import SYMBOL
    from symgrad.ir.traverse import topological
    from symgrad.ir.values.evaluate import evaluate_mp

    mp = mpmath.MPContext()
    mp.dps = 60
    order = topological([node])
    given = {s: mp.mpf(values[s.name]) for s in symbols_of([node])}
    held = {s: table.get(s, v) for s, v in given.items()}
    read = {n: {s.name for s in symbols_of([n])} for n in order}
    found = {n: evaluate_mp(mp, [n], given)[0] for n in order}
    slope = {}
    for n in order:
        slope[n] = mp.mpf(1 if n.op is SYMBOL and n.name == x else 0)
        if not n.args or n.dtype != "real":
            continue
        at = [evaluate_mp(mp, [a], held)[0] if read[a] == {"u"} else found[a] for a in n.args]
        stand_ins = [symbol(Declaration(f"a{i}", dtype_of(a))) for i, a in enumerate(n.args)]
        op = n.op(*stand_ins, params=n.params)

        def along(t, op=op, stand_ins=stand_ins, at=at, n=n):
            moved = [v + t * slope[a] if a.dtype == "real" else v for v, a in zip(at, n.args, strict=True)]
            return evaluate_mp(mp, [op], dict(zip(stand_ins, moved, strict=True)))[0]

        h = mp.mpf(10) ** -20
        slope[n] = (along(h) - along(-h)) / (2 * h)
    return float(slope[node])


def dtype_of(node):
    from symgrad.ir.types import DOMAINS

    return DOMAINS[node.dtype]


@given(SEEDS)
@settings(max_examples=25)
def test_noisy_takes_local_derivatives_where_the_values_are(seed):
    symbols = [*inputs(1), NOISE]
    y = random_graph(seed, symbols, size=9)
    if not {"u", "x0"} <= {s.name for s in symbols_of([y])}:
        return
    expr = sg.ignore_noise(Expr(y), Expr(NOISE), local="noisy")
    if not np.isfinite(value(expr, **POINT)):
        return
    assert bits(value(expr, **POINT)) == bits(value(Expr(y), **POINT))
    expected = noisy_by_hand(y, {NOISE: mpmath.mpf(1)}, POINT, "x0")
    np.testing.assert_allclose(value(sg.grad(expr, "x0"), **POINT), expected, rtol=1e-8, atol=1e-12)


def test_the_two_variants_of_a_layer_in_the_middle():
    p = sg.parse("x, w : real\nu ~ Normal(0, 0.1)\nh = sin(x)\ns = h*(1 + u)\ny = tanh(w*s)")
    clean, noisy = (sg.ignore_noise(p["y"], "u", local=v) for v in ("clean", "noisy"))
    at = {"x": 0.4, "w": 1.7, "u": 0.2}
    s, quiet = np.sin(0.4) * 1.2, np.sin(0.4)
    slope = 1.7 * np.cos(0.4)
    assert sg.grad(clean, "x")(**at) == pytest.approx((1 - np.tanh(1.7 * quiet) ** 2) * slope, rel=1e-14)
    assert sg.grad(noisy, "x")(**at) == pytest.approx((1 - np.tanh(1.7 * s) ** 2) * slope, rel=1e-14)
    # The weight behind the noise: its factor is the value before it.
    assert sg.grad(clean, "w")(**at) == pytest.approx((1 - np.tanh(1.7 * quiet) ** 2) * quiet, rel=1e-14)
    assert sg.grad(noisy, "w")(**at) == pytest.approx((1 - np.tanh(1.7 * s) ** 2) * s, rel=1e-14)
    assert sg.explain(clean, ["x", "w"]).noise["u"].enters is False
    assert sg.explain(noisy, ["x", "w"]).noise["u"].enters is True


def test_a_layer_alone_has_no_noise_in_either():
    p = sg.parse("x, b : real[4]\nu ~ Normal(0, 1)[4]\ny = sum((x + b)*(1 + u))")
    for local in ("clean", "noisy"):
        y = sg.ignore_noise(p["y"], "u", local=local)
        assert sg.explain(y, ["x", "b"]).noise["u"].enters is False
        draws = np.array([0.1, -2.0, 0.3, 1.0])
        at = {"x": np.ones(4), "b": np.zeros(4), "u": draws}
        np.testing.assert_array_equal(sg.grad(y, "x")(**at), np.ones(4))
        assert bits(y(**at)) == bits(p["y"](**at))


def test_a_long_graph():
    lines = ["x : real", "u ~ Uniform(0.9, 1.1)", "h0 = x*u"]
    lines += [f"h{k} = tanh(h{k - 1} + {k}/1000)" for k in range(1, 300)]
    p = sg.parse("\n".join(lines))
    clean = sg.ignore_noise(p.last, ["u"])
    kernel = sg.compile([clean, sg.grad(clean, "x")])
    quiet = p.last.subs(u=1)
    assert bits(kernel(x=0.4, u=1.05)[0]) == bits(sg.compile([p.last])(x=0.4, u=1.05))
    assert kernel(x=0.4, u=1.05)[1] == pytest.approx(float(sg.grad(quiet, "x")(x=0.4)), rel=1e-12)


def test_what_noise_is_fixed_at():
    p = sg.parse("x : real\nu, v ~ Normal(0.25, 1)\nd : real\ny = x*u + x**2*v + x*d")
    assert str(sg.grad(sg.ignore_noise(p["y"], ["u", "v"]), "x")) == "d + 0.5*x + 0.25"
    assert str(sg.grad(sg.ignore_noise(p["y"], ["u", "v"], at=0), "x")) == "d"
    mixed = sg.ignore_noise(p["y"], ["u", "v"], at={"u": 3})
    assert str(sg.grad(mixed, "x")) == "d + 0.5*x + 3"
    other = sg.ignore_noise(p["y"], ["u", "d"], at={p["d"]: p["x"] ** 2, "u": 0}, local="clean")
    assert sg.equal(sg.grad(other, "x"), "2*v*x + 3*x**2", values_only=True).status == "proved"


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        ("Uniform", (Fraction(1, 3), 2)),
        ("Normal", (Fraction(3, 2), 2)),
        ("LogNormal", (Fraction(1, 4), Fraction(1, 2))),
        ("Exponential", (4,)),
        ("Gamma", (3, Fraction(1, 2))),
        ("Beta", (2, 3)),
        ("Laplace", (-1, 2)),
        ("Bernoulli", (Fraction(1, 4),)),
        ("Poisson", (Fraction(7, 2),)),
    ],
)
def test_means_are_those_of_draws(family, parameters):
    distribution = Distribution(family, parameters)
    node = mean(symbol(Declaration("u", distribution=distribution)))
    assert node is not None
    draws = drawn(distribution, np.random.default_rng(7), 400_000)
    spread = draws.std() / np.sqrt(len(draws))
    assert abs(float(evaluate([node], {})[0]) - draws.mean()) < 5 * spread


@pytest.mark.parametrize("local", ["clean", "noisy"])
def test_noise_that_is_a_position(local):
    p = sg.parse("x : real[4]\nk ~ Poisson(2.5)\ny = x[k]**2")
    with pytest.raises(UsageError, match=r"the noise cannot be fixed at k = 2\.5"):
        sg.ignore_noise(p["y"], "k", local=local)
    y = sg.ignore_noise(p["y"], "k", at=1)
    at = {"x": np.array([1.0, 2.0, 3.0, 4.0]), "k": 3}
    assert y(**at) == 16
    np.testing.assert_array_equal(sg.grad(y, "x")(**at), [0, 4, 0, 0])


def test_noise_refusals():
    p = sg.parse("x, d : real\nu ~ Normal(0, 1)\ny = x*u*d\nz = x**2")
    wrong: Any = ["dirty", "median"]
    with pytest.raises(UsageError, match="'d' has no declared distribution"):
        sg.ignore_noise(p["y"], ["d"])
    with pytest.raises(NotInProgramError, match="does not read 'u'"):
        sg.ignore_noise(p["z"], ["u"])
    with pytest.raises(UsageError, match="local='dirty'"):
        sg.ignore_noise(p["y"], ["u"], local=wrong[0])
    with pytest.raises(UsageError, match="at='median'"):
        sg.ignore_noise(p["y"], ["u"], at=wrong[1])
    with pytest.raises(UsageError, match="no noise is named"):
        sg.ignore_noise(p["y"], [])
    with pytest.raises(UsageError, match="a value for 'd', which is not among the noise"):
        sg.ignore_noise(p["y"], ["u"], at={"d": 1})
    with pytest.raises(ShapeError, match=r"fixed at a value of shape \(2,\)"):
        sg.ignore_noise(p["y"], ["u"], at=sg.tensor("a", (2,)))
