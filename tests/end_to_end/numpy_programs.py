"""Programs of users, written with NumPy and SciPy: those of autograd's examples, and likelihoods.

Each is a function of parameters and data. Nothing here knows of symgrad.
"""

# The annotations of SciPy let logsumexp return a tuple.
# pyright: reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp

# ------------------------------------------------------------------------------------------------ logistic regression


def sigmoid(x: Any) -> Any:
    return 0.5 * (np.tanh(x / 2.0) + 1)


def logistic_regression(weights: Any, inputs: Any, targets: Any) -> Any:
    predictions = sigmoid(np.dot(inputs, weights))
    label_probabilities = predictions * targets + (1 - predictions) * (1 - targets)
    return -np.sum(np.log(label_probabilities))


# ------------------------------------------------------------------------------------------------------ neural network


def predict(params: Any, inputs: Any) -> Any:
    outputs = inputs
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs - logsumexp(outputs, axis=1, keepdims=True)


def neural_network(params: Any, inputs: Any, targets: Any, l2: float = 0.1) -> Any:
    log_prior = -l2 * sum(np.sum(W**2) + np.sum(b**2) for W, b in params)
    log_likelihood = np.sum(predict(params, inputs) * targets)
    return -(log_prior + log_likelihood)


# ---------------------------------------------------------------------------------------------------- Gaussian mixture


def normal_logpdf(data: Any, mean: Any, covariance: Any) -> Any:
    centred = data - mean
    _, logdet = np.linalg.slogdet(covariance)
    distances = np.sum(centred * np.linalg.solve(covariance, centred.T).T, axis=1)
    return -0.5 * (data.shape[1] * np.log(2 * np.pi) + logdet + distances)


def gaussian_mixture(params: Any, data: Any) -> Any:
    log_weights = params["log proportions"] - logsumexp(params["log proportions"])
    clusters = []
    for log_weight, mean, root in zip(log_weights, params["means"], params["lower triangles"], strict=True):
        lower = np.tril(root)
        covariance = lower @ lower.T + 0.1 * np.eye(len(mean))
        clusters.append(log_weight + normal_logpdf(data, mean, covariance))
    return -np.sum(logsumexp(np.array(clusters), axis=0))


# ------------------------------------------------------------------------------------------------ a recurrent network


def concatenate_and_multiply(weights: Any, *args: Any) -> Any:
    return np.dot(np.hstack((*args, np.ones((args[0].shape[0], 1)))), weights)


def lstm(params: Any, inputs: Any, targets: Any) -> Any:
    """Return the negative log likelihood of the next symbols; inputs: (time, sequences, symbols)."""
    size = params["change"].shape[1]
    hidden = np.zeros((inputs.shape[1], size))
    cell = np.zeros((inputs.shape[1], size))
    loss = 0.0
    for symbols, following in zip(inputs, targets, strict=True):
        change = np.tanh(concatenate_and_multiply(params["change"], symbols, hidden))
        forget = sigmoid(concatenate_and_multiply(params["forget"], symbols, hidden))
        ingate = sigmoid(concatenate_and_multiply(params["ingate"], symbols, hidden))
        outgate = sigmoid(concatenate_and_multiply(params["outgate"], symbols, hidden))
        cell = cell * forget + ingate * change
        hidden = outgate * np.tanh(cell)
        output = concatenate_and_multiply(params["predict"], hidden)
        loss -= np.sum(following * (output - logsumexp(output, axis=1, keepdims=True)))
    return loss / inputs.shape[0]


# ------------------------------------------------------------------------------------------------------------- fluid


def advect(f: Any, vx: Any, vy: Any) -> Any:
    """Move a field along a flow on a torus, upwind."""
    left, right = np.roll(f, 1, axis=1), np.roll(f, -1, axis=1)
    up, down = np.roll(f, 1, axis=0), np.roll(f, -1, axis=0)
    along = np.where(vx > 0, vx * (f - left), vx * (right - f))
    across = np.where(vy > 0, vy * (f - up), vy * (down - f))
    return f - 0.1 * (along + across)


def fluid(params: Any, smoke: Any, target: Any, steps: int = 5) -> Any:
    vx, vy = params
    for _ in range(steps):
        vx, vy = advect(vx, vx, vy), advect(vy, vx, vy)
        smoke = advect(smoke, vx, vy)
    return np.mean((target - smoke) ** 2)


# ---------------------------------------------------------------------------------------------- variational inference


def variational_inference(params: Any, noise: Any) -> Any:
    """Return minus the evidence lower bound of a funnel, for draws of a standard normal distribution."""
    mean, log_std = params
    samples = noise * np.exp(log_std) + mean
    mu, log_sigma = samples[:, 0], samples[:, 1]
    prior = -0.5 * (log_sigma / 1.35) ** 2 - np.log(1.35)
    density = prior - 0.5 * (mu * np.exp(-log_sigma)) ** 2 - log_sigma - np.log(2 * np.pi)
    entropy = 0.5 * len(mean) * (1.0 + np.log(2 * np.pi)) + np.sum(log_std)
    return -(entropy + np.mean(density))


# --------------------------------------------------------------------------------------------------------- likelihoods


def tobit(params: Any, X: Any, y: Any, lower: float = 0.0) -> Any:
    """Regression whose responses are censored from below."""
    sigma = np.exp(params["log_sigma"])
    z = (y - X @ params["beta"]) / sigma
    seen = -0.5 * z**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
    censored = log_ndtr((lower - X @ params["beta"]) / sigma)
    return -np.sum(np.where(y > lower, seen, censored))


def weibull_survival(params: Any, X: Any, times: Any, died: Any) -> Any:
    """Survival with a Weibull hazard: who has not died is censored at the time."""
    k = np.exp(params["log_shape"])
    log_scale = params["intercept"] + X @ params["beta"]
    log_ratio = np.log(times) - log_scale
    log_hazard = np.log(k) - log_scale + (k - 1) * log_ratio
    return -np.sum(died * log_hazard - np.exp(k * log_ratio))


def coalescent(params: Any, durations: Any, lineages: Any, coalesced: Any) -> Any:
    """Skyline of population sizes: an interval with k lineages, for each log size; a Gaussian Markov prior."""
    log_sizes, log_precision = params["log_sizes"], params["log_precision"]
    pairs = lineages * (lineages - 1) / 2
    log_likelihood = np.sum(coalesced * (np.log(pairs) - log_sizes) - pairs * durations * np.exp(-log_sizes))
    steps = np.diff(log_sizes)
    log_prior = 0.5 * len(steps) * log_precision - 0.5 * np.exp(log_precision) * np.sum(steps**2)
    log_hyperprior = 2.0 * log_precision - 0.5 * np.exp(log_precision) - gammaln(2.0)
    return -(log_likelihood + log_prior + log_hyperprior)


@dataclass(frozen=True)
class Case:
    """A program with parameters and data."""

    function: Callable[..., Any]
    params: Any
    data: tuple[Any, ...]


def cases() -> dict[str, Case]:
    rng = np.random.default_rng(7)
    normal, uniform = rng.normal, rng.uniform
    X, beta = normal(size=(40, 3)), np.array([0.5, -0.25, 1.0])
    sizes = [4, 6, 5, 3]
    layers = [(0.5 * normal(size=(m, n)), 0.1 * normal(size=n)) for m, n in pairwise(sizes)]
    symbols = np.eye(4)[rng.integers(0, 4, size=(6, 3))]
    gates = {n: 0.3 * normal(size=(4 + 5 + 1, 5)) for n in ("change", "forget", "ingate", "outgate")}
    times = rng.weibull(1.5, size=40) * np.exp(X @ beta)
    lineages = np.arange(12, 1, -1)
    return {
        "logistic regression": Case(logistic_regression, normal(size=3), (X, (X @ beta > 0).astype(float))),
        "neural network": Case(
            neural_network, layers, (normal(size=(20, 4)), np.eye(3)[rng.integers(0, 3, 20)])
        ),
        "gaussian mixture": Case(
            gaussian_mixture,
            {
                "log proportions": normal(size=3),
                "means": normal(size=(3, 2)),
                "lower triangles": normal(size=(3, 2, 2)),
            },
            (normal(size=(30, 2)),),
        ),
        "lstm": Case(
            lstm, {**gates, "predict": 0.3 * normal(size=(6, 4))}, (symbols, np.roll(symbols, -1, axis=0))
        ),
        "fluid": Case(
            fluid, (normal(size=(6, 6)), normal(size=(6, 6))), (uniform(size=(6, 6)), uniform(size=(6, 6)))
        ),
        "variational inference": Case(
            variational_inference, (normal(size=2), -1 + 0.1 * normal(size=2)), (normal(size=(50, 2)),)
        ),
        "tobit": Case(
            tobit,
            {"beta": normal(size=3), "log_sigma": 0.2},
            (X, np.maximum(X @ beta + normal(size=40), 0.0)),
        ),
        "weibull survival": Case(
            weibull_survival,
            {"log_shape": 0.3, "intercept": -0.1, "beta": normal(size=3)},
            (X, np.minimum(times, 2.0), (times < 2.0).astype(float)),
        ),
        "coalescent": Case(
            coalescent,
            {"log_sizes": normal(size=11), "log_precision": 0.5},
            (rng.exponential(size=11) / lineages, lineages, np.ones(11)),
        ),
    }
