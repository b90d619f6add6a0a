"""The workloads of arrays: a loss and its gradients by arrays.

A loss is written once over a namespace of functions that NumPy, jax, PyTorch and PyTensor all have; by hand there is
a NumPy function that also gives the gradients. On arrays of numbers with more digits it gives the reference values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.arrays import NETWORK, WORKLOADS, least_squares

__all__ = ["PROGRAMS", "Program", "below_diagonal", "mixture_by_hand"]

Arrays = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Program:
    """A loss of arrays.

    Attributes:
        what: in words.
        text: the program in symgrad's notation; its last assignment is the loss.
        wrt: the arrays by which it is differentiated.
        draw: takes a generator, returns the arrays in the order of the program's inputs.
        loss: takes a namespace of functions and the arrays.
        by_hand: value and gradients in NumPy.
    """

    what: str
    text: str
    wrt: tuple[str, ...]
    draw: Callable[[Any], Arrays]
    loss: Callable[..., Any]
    by_hand: Callable[..., tuple[Any, ...]]

    def arrays(self) -> Arrays:
        return self.draw(np.random.Generator(np.random.Philox(key=1)))


# -------------------------------------------------------------------------------------------------------- Rosenbrock


def rosenbrock(m: Any, x: Any) -> Any:  # noqa: ARG001  (all have one signature)
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def rosenbrock_by_hand(x: Any) -> tuple[Any, ...]:
    r, s = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    gradient = np.zeros_like(x)
    gradient[1:] = 200 * r
    gradient[:-1] -= 400 * x[:-1] * r + 2 * s
    return (100 * r * r + s * s).sum(), gradient


# ----------------------------------------------------------------------------------------------------------- network


def squares(m: Any, X: Any, w: Any, y: Any) -> Any:  # noqa: ARG001  (all have one signature)
    return ((X @ w - y) ** 2).mean()


def network(m: Any, X: Any, y: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    return softmax(m, m.tanh(X @ W1 + b1) @ W2 + b2, y)


def softmax(m: Any, z: Any, y: Any) -> Any:
    return (m.logsumexp(z, 1) - z[m.arange(z.shape[0]), y]).mean()


# ------------------------------------------------------------------------------------------- mixture of Gaussians

N, D, K = 1_000, 10, 25
GAMMA, M = 1.0, 0


def below_diagonal(d: int) -> Any:
    """Return where entry (row, column) of a strictly lower triangle stands, column by column, behind a zero."""
    found = np.zeros((d, d), dtype=np.int64)
    found.T[np.triu_indices(d, 1)] = np.arange(1, d * (d - 1) // 2 + 1)
    return found


def constant(n: int, d: int, k: int) -> float:
    """Return the terms of the objective that no parameter changes, with those of the Wishart prior."""
    freedom = d + M + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(
        math.lgamma(0.5 * (freedom - j)) for j in range(d)
    )
    prior = freedom * d * (math.log(GAMMA) - 0.5 * math.log(2)) - log_gamma
    return -n * d * 0.5 * math.log(2 * math.pi) - k * prior


CONSTANT = constant(N, D, K)


def mixture(m: Any, alphas: Any, means: Any, icf: Any, x: Any, lower: Any) -> Any:
    """The log posterior of ADBench: F. Srajer, Z. Kukelova, A. Fitzgibbon, Optim. Methods Softw. 33, 889 (2018)."""
    q = icf[:, :D]
    L = m.concatenate((m.zeros((K, 1)), icf[:, D:]), 1)[:, lower]
    apart = x[:, None, :] - means[None, :, :]
    turned = m.exp(q)[None, :, :] * apart + m.einsum("kab,nkb->nka", L, apart)
    inner = alphas + q.sum(1) - 0.5 * (turned**2).sum(2)
    prior = 0.5 * GAMMA**2 * ((m.exp(q) ** 2).sum() + (icf[:, D:] ** 2).sum()) - M * q.sum()
    return m.logsumexp(inner, 1).sum() - N * m.logsumexp(alphas, 0) + prior + CONSTANT


def mixture_by_hand(alphas: Any, means: Any, icf: Any, x: Any, lower: Any) -> tuple[Any, ...]:
    (n, d), k = x.shape, len(alphas)
    q, e = icf[:, :d], np.exp(icf[:, :d])
    Q = np.concatenate((icf[:, :1] * 0, icf[:, d:]), 1)[:, lower]
    Q[:, range(d), range(d)] = e
    apart = x[None, :, :] - means[:, None, :]  # (k, n, d)
    turned = apart @ Q.transpose(0, 2, 1)
    inner = (alphas + q.sum(1))[:, None] - (turned * turned).sum(2) / 2
    top = inner.max(0)
    p = np.exp(inner - top)
    total = p.sum(0)
    p /= total
    a = np.exp(alphas - alphas.max())
    value = (np.log(total) + top).sum() - n * (np.log(a.sum()) + alphas.max()) + constant(n, d, k)
    value += GAMMA**2 / 2 * ((e * e).sum() + (icf[:, d:] ** 2).sum()) - M * q.sum()
    weight = p.sum(1)
    step = turned * p[:, :, None]
    by_q = step.transpose(0, 2, 1) @ apart  # minus the derivative by Q
    rows, columns = np.triu_indices(d, 1)[::-1]
    by_icf = np.concatenate(
        (
            weight[:, None] - by_q[:, range(d), range(d)] * e + GAMMA**2 * e * e - M,
            GAMMA**2 * icf[:, d:] - by_q[:, rows, columns],
        ),
        1,
    )
    by_means = (step @ Q).sum(1)
    return value, weight - n * a / a.sum(), by_means, by_icf


MIXTURE = f"""
alphas : real[{K}]
means : real[{K}, {D}]
icf : real[{K}, {D * (D + 1) // 2}]
x : real[{N}, {D}]
lower : int[{D}, {D}]
q = icf[:, :{D}]
L = concatenate((zeros(({K}, 1)), icf[:, {D}:]), axis=1)[:, lower]
apart = x[:, None, :] - means[None, :, :]
turned = exp(q)[None, :, :]*apart + einsum("kab,nkb->nka", L, apart)
inner_ = alphas + sum(q, axis=1) - sum(turned**2, axis=2)/2
prior = {GAMMA**2 / 2}*(sum(exp(q)**2) + sum(icf[:, {D}:]**2)) - {M}*sum(q)
loss = sum(logsumexp(inner_, axis=1)) - {N}*logsumexp(alphas) + prior + {CONSTANT!r}
"""


def _like(name: str) -> Callable[[Any], Arrays]:
    """Arrays for a workload of `benchmarks/arrays.py`, which names its shapes by sizes."""
    shapes = {
        "least": {"X": (10_000, 100), "w": (100,), "y": (10_000,)},
        "network": {"X": (256, 100), "y": 10, "W1": (100, 64), "b1": (64,), "W2": (64, 10), "b2": (10,)},
        "softmax": {"z": (1_024, 1_000), "y": 1_000},
    }[name]
    rows = next(iter(shapes.values()))[0]

    def draw(rng: Any) -> Arrays:
        return {
            k: rng.integers(0, s, rows) if isinstance(s, int) else rng.normal(size=s) / math.sqrt(s[-1])
            for k, s in shapes.items()
        }

    return draw


def _mixture_arrays(rng: Any) -> Arrays:
    return {
        "alphas": rng.normal(size=K),
        "means": rng.uniform(0, 1, (K, D)),
        "icf": rng.normal(size=(K, D * (D + 1) // 2)),
        "x": rng.normal(size=(N, D)),
        "lower": below_diagonal(D),
    }


_LEAST, _SOFTMAX = "least squares, 10,000 x 100", "softmax cross-entropy, 1,024 x 1,000"

PROGRAMS: Mapping[str, Program] = {
    "Rosenbrock": Program(
        "Rosenbrock's function of 1,000 variables and its gradient",
        "x : real[n]\nloss = sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)",
        ("x",),
        lambda rng: {"x": rng.uniform(-2, 2, 1_000)},
        rosenbrock,
        rosenbrock_by_hand,
    ),
    "least squares": Program(
        "mean of squares, 10,000 x 100, gradient of the weights",
        WORKLOADS[_LEAST].text,
        ("w",),
        _like("least"),
        squares,
        least_squares,
    ),
    "MLP": Program(
        NETWORK,
        WORKLOADS[NETWORK].text,
        WORKLOADS[NETWORK].wrt,
        _like("network"),
        network,
        WORKLOADS[NETWORK].by_hand,
    ),
    "softmax": Program(
        _SOFTMAX,
        WORKLOADS[_SOFTMAX].text,
        ("z",),
        _like("softmax"),
        softmax,
        WORKLOADS[_SOFTMAX].by_hand,
    ),
    "GMM": Program(
        f"ADBench's mixture of Gaussians, d = {D}, k = {K}, n = {N:,}, "
        "gradients of weights, means, inverse covariances",
        MIXTURE,
        ("alphas", "means", "icf"),
        _mixture_arrays,
        mixture,
        mixture_by_hand,
    ),
}
