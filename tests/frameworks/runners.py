"""How each framework computes a value, the gradient of a loss, and second derivatives of a function from source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.frameworks.sources import Case, Found, weights_of

__all__ = ["RUNNERS", "by_jax", "by_tensorflow", "by_torch"]


def _real(case: Case, args: Any) -> list[Any]:
    return [a for a, s in zip(args, case.symbols, strict=True) if s.dtype == "real"]


def _loss(y: Any) -> Any:
    """Not linear, so that second derivatives read what the value itself has for one."""
    return y + y**2 / 2


def by_jax(f: Callable[..., Any], case: Case, c: Any) -> Found:
    import jax
    import jax.numpy as jnp

    args = [jnp.asarray(a) for a in case.arrays]
    if not case.differentiable:
        return f(*args), [], []
    which = tuple(i for i, s in enumerate(case.symbols) if s.dtype == "real")
    weights = weights_of(case)

    def weighted(*a: Any) -> Any:
        first = jax.grad(lambda *b: jnp.sum(_loss(f(*b)) * c), argnums=which)(*a)
        return sum(jnp.sum(g * w) for g, w in zip(first, weights, strict=True)), first

    @jax.jit  # once, which is quicker than operation by operation
    def all_of_it(*a: Any) -> Found:
        second, first = jax.grad(weighted, argnums=which, has_aux=True)(*a)
        return f(*a), list(first), list(second)

    return all_of_it(*args)


def by_torch(f: Callable[..., Any], case: Case, c: Any) -> Found:
    import torch

    args = [torch.tensor(a) for a in case.arrays]
    real = [a.requires_grad_() for a in _real(case, args)]
    value = f(*args)
    if not case.differentiable:
        return value.detach(), [], []

    def gradients(y: Any, *, create_graph: bool = False) -> list[Any]:
        found = (
            torch.autograd.grad(y, real, create_graph=create_graph, allow_unused=True)
            if y.requires_grad
            else [None] * len(real)
        )
        return [torch.zeros_like(r) if g is None else g for g, r in zip(found, real, strict=True)]

    first = gradients((_loss(value) * torch.tensor(c)).sum(), create_graph=True)
    weighted = [(g * torch.tensor(w)).sum() for g, w in zip(first, weights_of(case), strict=True)]
    second = gradients(sum(weighted[1:], weighted[0]))
    return value.detach(), [g.detach() for g in first], [g.detach() for g in second]


def by_tensorflow(f: Callable[..., Any], case: Case, c: Any) -> Found:
    import tensorflow as tf

    args = [tf.constant(a) for a in case.arrays]
    real = _real(case, args)
    if not case.differentiable:
        return f(*args), [], []

    def filled(found: Any) -> list[Any]:
        return [
            tf.zeros_like(r) if g is None else tf.convert_to_tensor(g)
            for g, r in zip(found, real, strict=True)
        ]

    with tf.GradientTape() as outer:
        outer.watch(real)
        with tf.GradientTape() as inner:
            inner.watch(real)
            value = f(*args)
            loss = tf.reduce_sum(_loss(value) * c)
        first = filled(inner.gradient(loss, real))
        weighted = sum(tf.reduce_sum(g * w) for g, w in zip(first, weights_of(case), strict=True))
    return value, first, filled(outer.gradient(weighted, real))


RUNNERS = {"jax": by_jax, "torch": by_torch, "tensorflow": by_tensorflow}
"""By framework."""
