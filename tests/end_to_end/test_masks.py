"""Masks of infinities: values and derivatives of both orders against JAX, at rows masked partly and wholly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import symgrad as sg
from symgrad.errors import UnsupportedError

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp: Any = jax.numpy
jax.config.update("jax_enable_x64", True)


def low(m: Any, s: Any) -> Any:
    return jnp.where(m, s, -jnp.inf)


def high(m: Any, s: Any) -> Any:
    return jnp.where(m, s, jnp.inf)


nn = jax.nn
CASES: dict[str, tuple[str, Callable[[Any, Any, Any], Any]]] = {
    "softmax": (
        "sum(c*softmax(where(m, s, -oo), axis=-1))",
        lambda m, s, c: jnp.sum(c * nn.softmax(low(m, s), -1)),
    ),
    "logsumexp": (
        "sum(c[:, 0]*logsumexp(where(m, s, -oo), axis=-1))",
        lambda m, s, c: jnp.sum(c[:, 0] * nn.logsumexp(low(m, s), -1)),
    ),
    "log_softmax": (
        "sum(where(m, c*log_softmax(where(m, s, -oo), axis=-1), 0))",
        lambda m, s, c: jnp.sum(jnp.where(m, c * nn.log_softmax(low(m, s), -1), 0)),
    ),
    "max": (
        "sum(c[:, 0]*max(where(m, s, -oo), axis=-1))",
        lambda m, s, c: jnp.sum(c[:, 0] * jnp.max(low(m, s), -1)),
    ),
    "min": (
        "sum(c[:, 0]*min(where(m, s, oo), axis=-1))",
        lambda m, s, c: jnp.sum(c[:, 0] * jnp.min(high(m, s), -1)),
    ),
    "added": (
        "sum(c*softmax(s + where(m, 0, -oo), axis=-1))",
        lambda m, s, c: jnp.sum(c * nn.softmax(s + low(m, 0.0), -1)),
    ),
    "scaled": (
        "sum(c*softmax(where(m, s, -oo)/sqrt(2), axis=-1))",
        lambda m, s, c: jnp.sum(c * nn.softmax(low(m, s) / np.sqrt(2), -1)),
    ),
    "transposed": (
        "sum(c*softmax(where(m, s, -oo).T, axis=0))",
        lambda m, s, c: jnp.sum(c * nn.softmax(low(m, s).T, 0)),
    ),
    "all": ("logsumexp(where(m, s, -oo))", lambda m, s, c: nn.logsumexp(low(m, s))),
    "exp": ("sum(c*exp(where(m, s/100, -oo)))", lambda m, s, c: jnp.sum(c * jnp.exp(low(m, s / 100)))),
    "nested": (
        "sum(c*softmax(where(m, where(c > 0, s, -oo), -oo), axis=-1))",
        lambda m, s, c: jnp.sum(c * nn.softmax(low(m, low(c > 0, s)), -1)),
    ),
}
RNG = np.random.default_rng(0)
N = 5
S = 3 * RNG.normal(size=(N, N))
S[1] = [800, -900, 3, 1e-40, 0]
S[3] = [-1e40, 1e40, 1, 2, 3]
C, D = np.abs(RNG.normal(size=(2, N, N)))
SOME = RNG.random((N, N)) < 0.6
SOME[:, 0] = True
NONE = SOME.copy()
NONE[2] = False
DECLARED = "m : bool[n, n]\ns : real[n, n]\nc : real[n, n]\nd : real[n, n]\ny = "


@pytest.mark.parametrize("mask", [SOME, NONE], ids=["some", "a whole row"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_those_of_jax(name: str, mask: Any) -> None:
    text, function = CASES[name]
    p = sg.parse(DECLARED + text)
    y = p["y"]
    slope = sg.grad(y, p["s"])
    second = sg.grad(sg.sum(slope * p["d"]), p["s"])
    kernel = sg.compile([y, slope, second], inputs=[p["m"], p["s"], p["c"], p["d"]])
    grad = jax.grad(function, 1)
    wanted = [
        function(mask, S, C),
        grad(mask, S, C),
        jax.grad(lambda s: jnp.sum(grad(mask, s, C) * D))(S),
    ]
    evaluated = [y(m=mask, s=S, c=C), slope(m=mask, s=S, c=C), second(m=mask, s=S, c=C, d=D)]
    namespace: dict[str, Any] = {}
    exec(slope.numpy_source(), namespace)
    names = namespace["f"].__code__.co_varnames[: namespace["f"].__code__.co_argcount]
    own = namespace["f"](*({"m": mask, "s": S, "c": C}[k] for k in names))
    np.testing.assert_allclose(own, wanted[1], rtol=1e-9, atol=1e-10)
    for native, plain, exact in zip(kernel(mask, S, C, D), evaluated, wanted, strict=True):
        np.testing.assert_allclose(native, exact, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(plain, exact, rtol=1e-9, atol=1e-10)
    if name != "added":
        assert not np.any(np.asarray(kernel(mask, S, C, D)[1])[~mask])


@pytest.mark.parametrize(
    "text", ["-oo", "-inf", "-np.inf", "-math.inf", "-Infinity", 'float("-inf")', "-float('infinity')"]
)
def test_spellings_are_one(text: str) -> None:
    p = sg.parse(f"m : bool[n]\ns : real[n]\ny = softmax(where(m, s, {text}))")
    assert str(p["y"]) == "m : bool[n]\ns : real[n]\nsoftmax(where(m, s, -oo))"
    assert p["y"].same(sg.nn.softmax(sg.where(p["m"], p["s"], -np.inf)))
    by_numpy: Any = np.where(p["m"], p["s"], float("-inf"))
    assert p["y"].same(sg.nn.softmax(by_numpy))
    assert sg.parse("m : bool[n]\ns : real[n]\ny = softmax(s if m else -oo)")["y"].same(p["y"])


@given(
    arrays(np.float64, (3, 4), elements=st.floats(-1e40, 1e40) | st.floats(-5, 5)),
    arrays(np.bool_, (3, 4)),
    arrays(np.float64, (3, 4), elements=st.floats(-3, 3)),
)
@settings(deadline=None)
def test_rows_are_those_of_what_is_not_masked(scores: Any, mask: Any, weights: Any) -> None:
    values, slopes, sums, ups = KERNEL(mask, scores, weights)
    for i in range(len(scores)):
        seen = mask[i]
        assert not slopes[i][~seen].any()
        assert not ups[i][~seen].any()
        if not seen.any():
            assert np.isnan(values[i]).all()
            assert sums[i] == -np.inf
            continue
        own, c = scores[i][seen], weights[i][seen]
        shares = np.exp(own - own.max()) / np.exp(own - own.max()).sum()
        np.testing.assert_allclose(values[i][seen], shares, rtol=1e-12, atol=1e-300)
        assert not values[i][~seen].any()
        np.testing.assert_allclose(slopes[i][seen], shares * (c - (c * shares).sum()), rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(
            sums[i], own.max() + np.log(np.exp(own - own.max()).sum()), rtol=1e-14, atol=1e-15
        )
        np.testing.assert_allclose(ups[i][seen], shares, rtol=1e-12, atol=1e-300)


def _kernel() -> Any:
    p = sg.parse(
        "m : bool[n, k]\ns : real[n, k]\nc : real[n, k]\n"
        "y = softmax(where(m, s, -oo), axis=1)\nz = logsumexp(where(m, s, -oo), axis=1)"
    )
    slope = sg.grad(sg.sum(p["y"] * p["c"]), p["s"])
    return sg.compile(
        [p["y"], slope, p["z"], sg.grad(sg.sum(p["z"]), p["s"])], inputs=[p["m"], p["s"], p["c"]]
    )


KERNEL = _kernel()


def test_the_other_branch_may_be_the_infinite_one() -> None:
    p = sg.parse("m : bool[n]\ns : real[n]\ny = max(where(m, -oo, s))")
    assert p["y"](m=np.array([True, False]), s=np.array([5.0, 2.0])) == 2
    assert str(p["y"]).endswith("max(where(not m, s, -oo))")
    assert p["y"].same(sg.max(sg.where(p["m"], -np.inf, p["s"])))
    assert "where(not m, s, -oo)" in str(sg.grad(p["y"], p["s"]))


def test_latex_and_numpy() -> None:
    m, s = sg.tensor("m", ("n",), "bool"), sg.tensor("s", ("n",))
    assert sg.where(m, s, -np.inf).latex() == (
        r"\begin{cases} s & \text{if } m \\ -\infty & \text{otherwise} \end{cases}"
    )
    assert "np.where(m, s, -np.inf)" in sg.nn.softmax(sg.where(m, s, -np.inf)).numpy_source()
    assert "where_minus_oo" not in str(sg.explain(sg.special.logsumexp(sg.where(m, s, -np.inf)), s))


@pytest.mark.parametrize("text", ["oo", "x + oo", "where(x > 0, oo, -oo)", "exp(-oo)", "sum(zeros(3) - inf)"])
def test_an_infinity_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match="an infinity stands where a number is needed"):
        sg.parse(f"x : real\ny = {text}")
    assert sg.parse("oo : real\ny = 2*oo")["y"](oo=2.0) == 4.0


CLAIMS = [
    ("softmax(where(m, x, -oo))", "where(m, exp(x), 0)/sum(where(m, exp(x), 0))", "proved"),
    ("softmax(where(m, x, -oo))", "softmax(x)", "refuted"),
    ("softmax(x + where(m, 0, -oo))", "softmax(where(m, x, -oo))", "proved"),
    ("exp(logsumexp(where(m, x, -oo)))", "sum(exp(x)*where(m, 1, 0))", "proved"),
    ("softmax(where(m, where(k, x, -oo), -oo))", "softmax(where(m & k, x, -oo))", "proved"),
]


@pytest.mark.parametrize(("left", "right", "status"), CLAIMS)
def test_verdicts(left: str, right: str, status: str) -> None:
    p = sg.parse(f"m : bool[n]\nk : bool[n]\nx : real[n]\na = {left}\nb = {right}")
    verdict = sg.equal(p["a"], p["b"])
    assert verdict.status == status, verdict


def test_verdicts_on_gradients() -> None:
    p = sg.parse("m : bool[n]\nx : real[n]\ny = logsumexp(where(m, x, -oo))")
    assert sg.verify(p["y"], p["x"], "softmax(where(m, x, -oo))").status == "proved"
    guarded = sg.verify(p["y"], p["x"], "where(m, softmax(where(m, x, -oo)), 0)")
    assert guarded.status == "supported"  # a row may be masked completely
    assert sg.verify(p["y"], p["x"], "softmax(x)").status == "refuted"


def test_what_verdicts_do_not_know_is_said() -> None:
    p = sg.parse("m : bool[n]\nx : real[n]\na = max(where(m, x, -oo))")
    with pytest.raises(UnsupportedError, match="no value in real numbers where its condition fails"):
        sg.equal(p["a"], sg.max(p["x"]))
