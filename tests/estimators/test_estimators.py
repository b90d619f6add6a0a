"""Each estimator has the bias and the variance of its textbook formula, and ten million draws agree.

[M] is Mohamed, Rosca, Figurnov and Mnih, "Monte Carlo gradient estimation in machine learning", JMLR 21 (2020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.noise.estimators import Comparison
from tests.estimators.draws import holds


def compared(text: str, names: Mapping[str, str], wrt: str, target: str, **options: Any) -> Comparison:
    p = sg.parse(text)
    return sg.compare_estimators({n: p[e] for n, e in names.items()}, wrt, target=p[target], **options)


def same(found: Any, formula: str, text: str) -> None:
    """See that what was found is a formula, in the symbols of a program."""
    verdict = sg.equal(found, sg.parse(f"{text}\nclaimed = {formula}")["claimed"])
    assert verdict.status == "proved", f"{found} against {formula}: {verdict}"


NORMAL = """
mu : real
z ~ Normal(mu, 1)
eps ~ Normal(0, 1)
f = z**2
score = stop_gradient(f)*(-(stop_gradient(z) - mu)**2/2)
moved = (mu + eps)**2
"""


def test_the_score_function_and_reparameterisation() -> None:
    """E[z**4*(z - mu)**2] - (2*mu)**2 by the moments of a normal variable; [M], sections 4 and 5."""
    c = compared(NORMAL, {"score": "score", "moved": "moved"}, "mu", "f")
    assert [e.unbiased.status for e in c.values()] == ["proved", "proved"]
    same(c.target, "2*mu", "mu : real")
    same(c["score"].variance, "mu**4 + 14*mu**2 + 15", "mu : real")
    same(c["moved"].variance, "4", "mu : real")
    mu = 0.7
    variance = float(c["score"].variance(mu=mu))
    holds(lambda rng, n: (e := rng.normal(size=n)) * (mu + e) ** 2, 2 * mu, variance)
    holds(lambda rng, n: 2 * (mu + rng.normal(size=n)), 2 * mu, 4.0)


ROUNDING = """
x, t : real
u ~ Uniform(-1/2, 1/2)
q = round(x + u)
f = (q - t)**2
straight = (x + stop_gradient(q - x) - t)**2
"""


def test_straight_through_rounding_with_dither() -> None:
    """round(x + u) is floor(x), and 1 more with the probability r = x - floor(x), so E f is linear between
    whole numbers (Widrow and Kollar, "Quantization noise", 2008, chapter 19): its slope is (floor(x) + 1 -
    t)**2 - (floor(x) - t)**2."""
    c = compared(ROUNDING, {"straight": "straight"}, "x", "f")
    e = c["straight"]
    x_t = "x, t : real"
    same(c.target, "(floor(x) + 1 - t)**2 - (floor(x) - t)**2", x_t)
    same(e.mean, "2*(x - t)", x_t)
    same(e.bias, "2*(x - floor(x)) - 1", x_t)
    same(e.variance, "4*(x - floor(x))*(1 - (x - floor(x)))", x_t)
    assert e.unbiased.status == "refuted"
    x, t = 1.3, 0.45
    holds(
        lambda rng, n: 2 * (np.round(x + rng.uniform(-0.5, 0.5, n)) - t),
        float(e.mean(x=x, t=t)),
        float(e.variance(x=x)),
    )


BERNOULLI = """
p : real(0, 1)
t : real
b ~ Bernoulli(p)
f = (b - t)**2
log_p = stop_gradient(b)*log(p) + (1 - stop_gradient(b))*log(1 - p)
score = stop_gradient(f)*log_p
mean_f = p*(1 - t)**2 + (1 - p)*t**2
baseline = stop_gradient(f - mean_f)*log_p
best = stop_gradient(f - (1 - p)*(1 - t)**2 - p*t**2)*log_p
straight = (p + stop_gradient(b - p) - t)**2
"""


def test_the_toy_of_rebar_with_baselines_and_straight_through() -> None:
    """With two values the variance of f*d(log p) is p*(1 - p)*(f(1)/p + f(0)/(1 - p))**2: the difference of the
    two values that it takes, squared, times p*(1 - p). The toy is that of Tucker et al., "REBAR", NeurIPS 2017,
    section 5.1, t = 0.45."""
    names = {n: n for n in ("score", "baseline", "best", "straight")}
    c = compared(BERNOULLI, names, "p", "f")
    p_t = "p : real(0, 1); t : real"
    same(c.target, "1 - 2*t", p_t)
    assert [c[n].unbiased.status for n in names] == ["proved", "proved", "proved", "refuted"]
    same(c["score"].variance, "p*(1 - p)*((1 - t)**2/p + t**2/(1 - p))**2", p_t)
    same(
        c["baseline"].variance,
        "p*(1 - p)*((1 - 2*t)*(1 - p)/p - (1 - 2*t)*p/(1 - p))**2",
        p_t,
    )
    same(c["best"].variance, "0", p_t)
    same(c["straight"].bias, "2*p - 1", p_t)
    same(c["straight"].variance, "4*p*(1 - p)", p_t)
    p, t = 0.3, 0.45

    def score(rng: np.random.Generator, n: int) -> Any:
        b = rng.random(n) < p
        return np.where(b, (1 - t) ** 2 / p, -(t**2) / (1 - p))

    holds(score, 1 - 2 * t, float(c["score"].variance(p=p, t=t)))


REBAR = """
theta : real(0, 1)
t, eta : real
u, v ~ Uniform(0, 1)
b = where(u < theta, 1, 0)
f = (b - t)**2
log_p = where(u < theta, log(theta), log(1 - theta))
w = where(u < theta, v*theta, theta + v*(1 - theta))
{}
score = stop_gradient(f)*log_p
rebar = stop_gradient(f - eta*d)*log_p + eta*(c - d)
"""
PUBLISHED = REBAR.format("""
logit = log(theta/(1 - theta))
c = (sigmoid((logit + log((1 - u)/u))/0.5) - t)**2
d = (sigmoid((logit + log((1 - w)/w))/0.5) - t)**2
""")
LINEAR = REBAR.format("""
c = (theta + 1/2 - u - t)**2
d = (theta + 1/2 - w - t)**2
""")


def test_the_control_of_rebar_leaves_no_bias_for_any_weight() -> None:
    """c at u, and d at a draw w of u given b: the two corrections cancel in the mean (Tucker et al., 2017,
    section 3)."""
    c = compared(LINEAR, {"score": "score", "rebar": "rebar"}, "theta", "f")
    assert [e.unbiased.status for e in c.values()] == ["proved", "proved"]
    assert c["rebar"].how == "closed form"
    theta, t, eta = 0.3, 0.45, 0.6
    variance = float(c["rebar"].variance(theta=theta, t=t, eta=eta))
    holds(lambda rng, n: _rebar(rng, n, theta, t, eta, relaxed=False), 1 - 2 * t, variance)


def test_rebar_as_published_is_known_at_numbers_alone() -> None:
    c = compared(PUBLISHED, {"rebar": "rebar"}, "theta", "f", seconds=0)
    e = c["rebar"]
    assert e.unbiased is None
    assert e.how != "closed form"
    found = e.at(theta=0.3, t=0.45, eta=0.6)
    assert found["bias"].how == found["variance"].how == "monte carlo"
    assert found["bias"].low <= 0 <= found["bias"].high
    rng = np.random.default_rng(3)
    draws = _rebar(rng, 10**6, 0.3, 0.45, 0.6, relaxed=True)
    half = 5 * np.sqrt(np.var((draws - draws.mean()) ** 2) / len(draws))
    assert found["variance"].low - half <= draws.var() <= found["variance"].high + half


def _rebar(rng: np.random.Generator, n: int, theta: float, t: float, eta: float, *, relaxed: bool) -> Any:
    """The estimator by hand, with slopes from differences of complex numbers' imaginary parts."""
    u, v = rng.random(n), rng.random(n)
    b = u < theta
    h = 1e-30

    def control(at: Any, s: Any) -> Any:
        if not relaxed:
            return (s + 0.5 - at - t) ** 2
        z = (np.log(s / (1 - s)) + np.log((1 - at) / at)) / 0.5
        return (1 / (1 + np.exp(-z)) - t) ** 2

    s = theta + 1j * h
    w = np.where(b, v * s, s + v * (1 - s))
    c, d = control(u, s), control(w, s)
    slope = np.where(b, 1 / theta, -1 / (1 - theta))
    return ((b - t) ** 2 - eta * d.real) * slope + eta * (c.imag - d.imag) / h


GUMBEL = """
a, t : real
tau : positive
u ~ Uniform(0, 1)
b = where(u < sigmoid(a), 1, 0)
f = (b - t)**2
soft = sigmoid((a + log(1 - u) - log(u))/tau)
through = (soft + stop_gradient(b - soft) - t)**2
relaxed = (soft - t)**2
"""


def test_gumbel_softmax_is_known_at_numbers_alone() -> None:
    """Two classes: Jang, Gu and Poole, ICLR 2017, section 2; Maddison, Mnih and Teh, ICLR 2017. Both are
    biased."""
    c = compared(GUMBEL, {"through": "through", "relaxed": "relaxed"}, "a", "f", seconds=0)
    same(c.target, "sigmoid(a)*(1 - sigmoid(a))*(1 - 2*t)", "a, t : real")
    a, t, tau = 0.3, 0.45, 0.5
    for e in c.values():
        assert e.unbiased is None
        found = e.at(a=a, t=t, tau=tau)
        assert found["bias"].how == found["variance"].how == "quadrature"
        assert found["bias"].low > 0.005
    found = c["through"].at(a=a, t=t, tau=tau)
    p = 1 / (1 + np.exp(-a))

    def through(rng: np.random.Generator, n: int) -> Any:
        u = rng.random(n)
        soft = 1 / (1 + np.exp(-(a + np.log((1 - u) / u)) / tau))
        return 2 * ((u < p) - t) * soft * (1 - soft) / tau

    holds(through, p * (1 - p) * (1 - 2 * t) + found["bias"].value, found["variance"].value)


ELBO = """
mu : real
s : positive
eps ~ Normal(0, 1)
z = mu + s*eps
log_joint = -z**2/2
total = log_joint + ((z - mu)/s)**2/2 + log(s)
landing = log_joint + ((z - stop_gradient(mu))/stop_gradient(s))**2/2 + log(stop_gradient(s))
"""


@pytest.mark.parametrize(
    ("wrt", "target", "total", "landing"),
    [
        ("mu", "-mu", "s**2", "(s - 1/s)**2"),
        ("s", "1/s - s", "mu**2 + 2*s**2", "mu**2 + 2*(s - 1/s)**2"),
    ],
)
def test_sticking_the_landing(wrt: str, target: str, total: str, landing: str) -> None:
    """Without the score of q, whose mean is 0, no variance is left where q is the posterior: mu = 0, s = 1
    (Roeder, Wu and Duvenaud, "Sticking the landing", NeurIPS 2017, section 3)."""
    c = compared(ELBO, {"total": "total", "landing": "landing"}, wrt, "total")
    known = "mu : real; s : positive"
    same(c.target, target, known)
    assert [e.unbiased.status for e in c.values()] == ["proved", "proved"]
    same(c["total"].variance, total, known)
    same(c["landing"].variance, landing, known)
    exact = {"mu": 0, "s": 1}
    same(
        c["landing"].variance.subs({n: v for n, v in exact.items() if re.search(rf"\b{n}\b", landing)}),
        "0",
        known,
    )
    mu, s = 0.4, 1.5

    def landed(rng: np.random.Generator, n: int) -> Any:
        e = rng.normal(size=n)
        by_z = -(mu + s * e) + e / s
        return by_z if wrt == "mu" else by_z * e

    read = {n: v for n, v in {"mu": mu, "s": s}.items() if re.search(rf"\b{n}\b", landing)}
    holds(landed, -mu if wrt == "mu" else 1 / s - s, float(c["landing"].variance(**read)))


DICE = """
mu : real
z ~ Normal(mu, 1)
f = z**2
l = -(stop_gradient(z) - mu)**2/2
dice = stop_gradient(f)*exp(l - stop_gradient(l))
surrogate = stop_gradient(f)*l
"""


def test_dice_at_first_and_second_order() -> None:
    """Every derivative of E f = mu**2 + 1 (Foerster et al., "DiCE", ICML 2018); the surrogate loss has the
    first alone. E[z**4*((z - mu)**2 - 1)**2] - 4 by the moments of a normal variable."""
    c = compared(DICE, {"dice": "dice", "surrogate": "surrogate"}, "mu", "f")
    assert [e.unbiased.status for e in c.values()] == ["proved", "proved"]
    for e in c.values():
        same(e.variance, "mu**4 + 14*mu**2 + 15", "mu : real")
    p = sg.parse(f"{DICE}\nslope = 2*z")
    again = {n: sg.grad(p[n], "mu") for n in ("dice", "surrogate")}
    second = sg.compare_estimators(again, "mu", target=p["slope"])
    same(second.target, "2", "mu : real")
    assert second["dice"].unbiased.status == "proved"
    same(second["dice"].variance, "2*mu**4 + 60*mu**2 + 74", "mu : real")
    same(second["surrogate"].bias, "-(mu**2 + 1) - 2", "mu : real")
    mu = 0.7

    def dice(rng: np.random.Generator, n: int) -> Any:
        e = rng.normal(size=n)
        return (mu + e) ** 2 * (e * e - 1)

    holds(dice, 2.0, float(second["dice"].variance(mu=mu)))


LEAVE_ONE_OUT = """
mu : real
z ~ Normal(mu, 1)[K]
f = z**2
l = -(stop_gradient(z) - mu)**2/2
mean_f = mean(f)
score = mean(stop_gradient(f)*l)
loo = stop_gradient(f - mean_f)@l/(K - 1)
"""


@pytest.mark.parametrize("size", ["2", "3", "5", "K"])
def test_the_leave_one_out_baseline(size: str) -> None:
    """Kool, van Hoof and Welling, "Buy 4 REINFORCE samples, get a baseline for free!", 2019. The estimator is
    the covariance of the sample, of f = z**2 and e = z - mu; the variance of a sample covariance is mu22/K - (K
    - 2)*mu11**2/(K*(K - 1)) + mu20*mu02/(K*(K - 1)) (Kendall and Stuart, volume 1, chapter 13), with central
    moments mu11 = 2*mu, mu20 = 4*mu**2 + 2, mu02 = 1 and mu22 = 12*mu**2 + 10."""
    text = LEAVE_ONE_OUT.replace("K", size)
    c = compared(text, {"score": "score", "loo": "loo"}, "mu", "mean_f")
    assert [e.unbiased.status for e in c.values()] == ["proved", "proved"]
    textbook = "(12*mu**2 + 10)/K - (K - 2)*(2*mu)**2/(K*(K - 1)) + (4*mu**2 + 2)/(K*(K - 1))"
    plain = "(mu**4 + 14*mu**2 + 15)/K"
    known = "mu : real" if size != "K" else "mu : real; w : real[K]"
    same(c["loo"].variance, textbook.replace("K", size), known)
    same(c["score"].variance, plain.replace("K", size), known)


def test_draws_of_the_leave_one_out_baseline() -> None:
    mu, k = 0.7, 3
    c = compared(LEAVE_ONE_OUT.replace("K", str(k)), {"loo": "loo"}, "mu", "mean_f")

    def loo(rng: np.random.Generator, n: int) -> Any:
        e = rng.normal(size=(k, n))
        f = (mu + e) ** 2
        return ((f - f.mean(0)) * e).sum(0) / (k - 1)

    holds(loo, 2 * mu, float(c["loo"].variance(mu=mu)))


FORWARD = """
S : real[n, n] symmetric
x : real[n]
v ~ Normal(0, 1)[n]
f = x@S@x/2
g = S@x
forward = stop_gradient(g@v)*(v@x)
"""


def test_forward_gradients() -> None:
    """E[(v@g)**2*v[i]**2] = |g|**2 + 2*g[i]**2 by Isserlis: the covariance is |g|**2*eye(n) + g*g^T, its trace
    (n + 1)*|g|**2 (Baydin, Pearlmutter, Syme, Wood and Torr, "Gradients without backpropagation", 2022, section
    3)."""
    c = compared(FORWARD, {"forward": "forward", "backward": "f"}, "x", "f")
    known = "S : real[n, n] symmetric; x : real[n]"
    assert [e.unbiased.status for e in c.values()] == ["proved", "proved"]
    same(c.target, "S@x", known)
    same(c["forward"].variance, "sum((S@x)**2) + (S@x)**2", known)
    same(c["forward"].total_variance, "(n + 1)*sum((S@x)**2)", known)
    g = np.array([0.5, -1.2])
    variance = c["forward"].variance(S=np.eye(2), x=g)

    def first(rng: np.random.Generator, n: int) -> Any:
        v = rng.normal(size=(2, n))
        return v[0] * (g @ v)

    holds(first, g[0], float(variance[0]))


DROPOUT = """
X : real[n, d]
y : real[n]
w : real[d]
p : real(0, 1)
m ~ Bernoulli(p)[n, d]
dropout = sum((y - (X*m/p)@w)**2)
plain = sum((y - X@w)**2)
ridge = plain + (1 - p)/p*sum(sum(X**2, axis=0)*w**2)
"""


def test_dropout_in_a_linear_regression_is_a_ridge() -> None:
    """Wager, Wang and Liang, "Dropout training as adaptive regularization", NeurIPS 2013; Srivastava et al.,
    JMLR 15 (2014), section 9.1: each weight has the ridge (1 - p)/p*sum(X[:, j]**2)."""
    names = {n: n for n in ("dropout", "plain")}
    c = compared(DROPOUT, names, "w", "ridge")
    assert c["dropout"].unbiased.status == "proved"
    known = "X : real[n, d]; y : real[n]; w : real[d]; p : real(0, 1)"
    same(c["plain"].bias, "-2*(1 - p)/p*sum(X**2, axis=0)*w", known)
    X, y, w, p = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([0.3, 0.7]), np.array([0.4, -0.2]), 0.8
    mean, variance = (found(X=X, y=y, w=w, p=p) for found in (c["dropout"].mean, c["dropout"].variance))
    assert np.allclose(mean, 2 * (X.T @ (X @ w - y) + (1 - p) / p * (X**2).sum(0) * w))

    def first(rng: np.random.Generator, n: int) -> Any:
        m = rng.random((2, 2, n)) < p
        kept = X[:, :, None] * m / p
        return 2 * (kept[:, 0] * (np.einsum("ijn,j->in", kept, w) - y[:, None])).sum(0)

    holds(first, float(mean[0]), float(variance[0]))


QUANTISED = """
x, g : real[n]
s : positive
u ~ Uniform(0, 1)[n]
exact = g@x
stochastic = stop_gradient(s*floor(g/s + u))@x
nearest = stop_gradient(s*round(g/s))@x
"""


def test_stochastic_rounding_of_a_gradient() -> None:
    """To multiples of s, upwards with the probability r of what is left: E = g, variance s**2*r*(1 - r) (Gupta,
    Agrawal, Gopalakrishnan and Narayanan, ICML 2015, section 3.1; Alistarh et al., "QSGD", NeurIPS 2017)."""
    c = compared(QUANTISED, {"stochastic": "stochastic", "nearest": "nearest"}, "x", "exact")
    known = "g : real[n]; s : positive"
    assert c["stochastic"].unbiased.status == "proved"
    same(c["stochastic"].variance, "s**2*(g/s - floor(g/s))*(1 - (g/s - floor(g/s)))", known)
    same(c["nearest"].bias, "s*round(g/s) - g", known)
    g, s = np.array([0.37]), 0.5
    variance = float(c["stochastic"].variance(g=g, s=s)[0])
    holds(lambda rng, n: s * np.floor(g[0] / s + rng.random(n)), g[0], variance)


BATCH = """
w : real
y : real[n]
i ~ Permutation(n)[m]
full = mean((w - y)**2)
batch = mean((w - y[i])**2)
"""


def test_minibatches_without_replacement() -> None:
    """The variance of a mean of m of n without replacement is (n - m)/(n - 1)*var/m (Cochran, "Sampling
    techniques", 1977, theorem 2.2)."""
    c = compared(BATCH, {"batch": "batch"}, "w", "full")
    e = c["batch"]
    assert e.unbiased.status == "proved"
    same(
        e.variance,
        "4*(n - m)/(n - 1)*mean((y - mean(y))**2)/m",
        "y : real[n]; i : real[m]",
    )
    y = np.array([0.3, 1.1, -0.7, 2.0])
    at = e.at(w=0.5, y=y, m=3)
    assert np.isclose(at["variance"].value, 4 * (4 - 3) / (4 - 1) * y.var() / 3, rtol=1e-12)

    def batch(rng: np.random.Generator, n: int) -> Any:
        left = rng.integers(4, size=n)  # three of four: all but one
        return 2 * (0.5 - (y.sum() - y[left]) / 3)

    holds(batch, 2 * (0.5 - y.mean()), float(at["variance"].value))
