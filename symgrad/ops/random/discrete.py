"""Families whose values are integers.

Means, variances and probabilities are from N. L. Johnson, A. W. Kemp and S. Kotz, Univariate Discrete Distributions,
3rd edition; for a draw without replacement they are derived below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.graph import Node, as_node
from symgrad.ops.numpy.calls import arange, onehot, total
from symgrad.ops.random.family import Family, register
from symgrad.ops.scalar.elementary import exp, log
from symgrad.ops.scalar.logic import all_of, eq, le, lt, where
from symgrad.ops.special.gamma import lgamma
from symgrad.support.errors import ShapeError

_ZERO, _ONE = as_node(0), as_node(1)


def single_entries(p: Node) -> list[Node] | None:
    """Return the entries of a literal array, such as [1/5, 3/10, 1/2]; None for any other node."""
    if p.op.name != "concatenate" or len(p.shape) != 1:
        return None
    entries = [a.args[0] if a.op.name in ("broadcast_to", "reshape") else a for a in p.args]
    scalar = all(a.shape == (1,) and not entry.shape for a, entry in zip(p.args, entries, strict=True))
    return entries if scalar else None


def _categorical_mean(p: Node) -> Node:
    entries = single_entries(p)
    if entries is None:
        return total(p * arange(p.shape[-1]), -1)
    return sum([k * e for k, e in enumerate(entries) if k], start=_ZERO)


def _categorical_variance(p: Node) -> Node:
    entries = single_entries(p)
    if entries is None:
        return total(p * arange(p.shape[-1]) ** 2, -1) - _categorical_mean(p) ** 2
    return sum([k * k * e for k, e in enumerate(entries) if k], start=_ZERO) - _categorical_mean(p) ** 2


def _categorical_draw(rng: Any, shape: Any, p: Any) -> Any:
    """Invert the distribution function: count the steps of the function below a uniform number."""
    steps: Any = np.cumsum(p, axis=-1)
    places: Any = rng.uniform(size=shape)
    return (places[..., None] * steps[..., -1:] >= steps[..., :-1]).sum(axis=-1)


def _permutation_draw(rng: Any, shape: Any, n: Any) -> Any:
    (count,) = (shape,) if isinstance(shape, int) else shape
    if count > n:
        raise ShapeError(
            f"{count} different positions are to be drawn out of {int(n)}",
            expected=f"at most {int(n)}",
            cure="draw fewer, or with replacement from Categorical",
        )
    return rng.permutation(int(n))[:count]


register(
    Family(
        name="Bernoulli",
        mean=lambda p: p,
        variance=lambda p: p * (1 - p),
        density=lambda v, p: where(eq(v, _ONE), p, where(eq(v, _ZERO), 1 - p, _ZERO)),
        standard=None,
        transform=None,
        draw=lambda rng, shape, p: rng.binomial(1, p, size=shape),
    ),
    Family(
        name="Poisson",
        mean=lambda rate: rate,
        variance=lambda rate: rate,
        # This is computed with logarithms, since rate**v and the factorial overflow long before their quotient does.
        density=lambda v, rate: where(le(_ZERO, v), exp(v * log(rate) - rate - lgamma(v + 1)), _ZERO),
        standard=None,
        transform=None,
        draw=lambda rng, shape, rate: rng.poisson(rate, size=shape),
    ),
    Family(
        name="Categorical",
        mean=_categorical_mean,
        variance=_categorical_variance,
        density=lambda v, p: total(onehot(v, p.shape[-1]) * p, -1),
        standard=None,
        transform=None,
        draw=_categorical_draw,
    ),
    # The first entries of a permutation of 0, ..., n - 1: each entry is uniform, two entries are any ordered pair with
    # probability 1/(n*(n - 1)), so their covariance is -(n + 1)/12.
    Family(
        name="Permutation",
        mean=lambda n: (n - 1) / 2,
        variance=lambda n: (n**2 - 1) / 12,
        density=lambda v, n: where(all_of(le(_ZERO, v), lt(v, n)), 1 / n, _ZERO),
        standard=None,
        transform=None,
        draw=_permutation_draw,
    ),
)
