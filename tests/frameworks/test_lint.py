"""Which frameworks have a NaN gradient, as `lint` says it: each is asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import symgrad as sg


def jax_gradient(make: Callable[[Any], Callable[[Any], Any]], at: float) -> float:
    jax: Any = pytest.importorskip("jax")
    return float(jax.grad(make(jax.numpy))(at))


def torch_gradient(make: Callable[[Any], Callable[[Any], Any]], at: float) -> float:
    torch: Any = pytest.importorskip("torch")
    x = torch.tensor(at, requires_grad=True)
    make(torch)(x).backward()
    return float(x.grad.item())


def tensorflow_gradient(make: Callable[[Any], Callable[[Any], Any]], at: float) -> float:
    tf: Any = pytest.importorskip("tensorflow")
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = make(tf)(x)
    return float(tape.gradient(y, x))


def zero(m: Any) -> Any:
    return m.tensor(0.0) if m.__name__ == "torch" else 0.0


def log(m: Any) -> Any:
    return m.log if hasattr(m, "log") else m.math.log


PROGRAMS: dict[str, tuple[Callable[[Any], Callable[[Any], Any]], float]] = {
    "where(x > 0, sqrt(x), 0)": (lambda m: lambda x: m.where(x > 0, m.sqrt(x), 0.0), -1.0),
    "where(x > 0, log(x), 0)": (lambda m: lambda x: m.where(x > 0, log(m)(x), 0.0), 0.0),
    "sqrt(maximum(x, 0))": (lambda m: lambda x: m.sqrt(m.maximum(x, zero(m))), -1.0),
    "where(x > 0, sqrt(where(x > 0, x, 1)), 0)": (
        lambda m: lambda x: m.where(x > 0, m.sqrt(m.where(x > 0, x, 1.0)), 0.0),
        -1.0,
    ),
    "1/(1 + exp(-x))": (lambda m: lambda x: 1 / (1 + m.exp(-x)), -1000.0),
    "1/cosh(x)": (lambda m: lambda x: 1 / m.cosh(x), 1000.0),
    "minimum(exp(x), 1)": (lambda m: lambda x: m.minimum(m.exp(x), zero(m) + 1), 1000.0),
    "exp(-x**2)": (lambda m: lambda x: m.exp(-(x**2)), 1000.0),
}


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize(
    ("name", "gradient"),
    [("JAX", jax_gradient), ("torch", torch_gradient), ("TensorFlow", tensorflow_gradient)],
)
def test_nan(text: str, name: str, gradient: Callable[..., float]) -> None:
    make, at = PROGRAMS[text]
    said = [f.message for f in sg.lint(f"x : real\ny = {text}") if f.code in ("SG301", "SG302", "SG306")]
    assert math.isnan(gradient(make, at)) == any(name in message for message in said)
