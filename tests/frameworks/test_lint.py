"""Which frameworks have a NaN gradient, as `lint` says it: each is asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.analysis.stop_gradient.checks.naive import backward
from symgrad.analysis.stop_gradient.checks.points import Points
from symgrad.checker.clock import now
from symgrad.frontend.text import parse_program


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


def power(m: Any) -> Any:
    return (lambda x, y: x**y) if m.__name__ != "tensorflow" else m.pow


def acos(m: Any) -> Any:
    return m.acos if hasattr(m, "acos") else m.arccos


def clip(m: Any, x: Any, low: float, high: float) -> Any:
    if m.__name__ == "tensorflow":
        return m.clip_by_value(x, m.constant(low, m.float64), m.constant(high, m.float64))
    return m.clip(x, low, high)


def as_constant(m: Any, value: float) -> Any:
    if m.__name__ == "tensorflow":
        return m.constant(value, m.float64)
    return m.tensor(value, dtype=m.float64) if m.__name__ == "torch" else value


def torch_gradients(make: Any, at: tuple[float, ...]) -> list[float | None]:
    torch: Any = pytest.importorskip("torch")
    inputs = [torch.tensor(float(v), dtype=torch.float64, requires_grad=True) for v in at]
    make(torch, *inputs).backward()
    return [None if x.grad is None else float(x.grad) for x in inputs]


def jax_gradients(make: Any, at: tuple[float, ...]) -> list[float | None]:
    jax: Any = pytest.importorskip("jax")
    with jax.enable_x64(True):
        found = jax.grad(lambda *xs: make(jax.numpy, *xs), argnums=tuple(range(len(at))))(*map(float, at))
        return [float(g) for g in found]


def tensorflow_gradients(make: Any, at: tuple[float, ...]) -> list[float | None]:
    tf: Any = pytest.importorskip("tensorflow")
    inputs = [tf.constant(float(v), tf.float64) for v in at]
    with tf.GradientTape() as tape:
        for x in inputs:
            tape.watch(x)
        y = make(tf, *inputs)
    return [None if g is None else float(g) for g in tape.gradient(y, inputs)]


BACKWARD: dict[str, tuple[Any, Any]] = {
    "acos(clip(x, -1, 1))**2": (lambda m, x: acos(m)(clip(m, x, -1.0, 1.0)) ** 2, [1, -1, 5, 0.5]),
    "y*acos(clip(x, -1, 1))": (lambda m, x, y: y * acos(m)(clip(m, x, -1.0, 1.0)), [(1, 0), (1, 2), (5, 0)]),
    "clip(acos(x), 1, 2)": (lambda m, x: clip(m, acos(m)(x), 1.0, 2.0), [1, 0]),
    "acos(x)**0": (lambda m, x: power(m)(acos(m)(x), 0.0), [1, 0.5]),
    "x**0": (lambda m, x: power(m)(x, 0.0), [0, 2]),
    "x**y": (lambda m, x, y: power(m)(x, y), [(0, 0), (0, 1), (0, 2), (-1, 2), (-2, 0), (0, 0.5), (2, 0)]),
    "y**(acos(x)**0)": (lambda m, x, y: power(m)(y, power(m)(acos(m)(x), 0.0)), [(0.5, -1)]),
    "acos(x)**y": (lambda m, x, y: power(m)(acos(m)(x), y), [(1, 0), (1, 2), (0.5, 0)]),
    "acos(x)*0": (lambda m, x: acos(m)(x) * 0.0, [1, 0]),
    "x + floor(x**0.5)": (lambda m, x: x + m.floor(x**0.5), [0, 2]),
    "x + round(x**0.5)": (lambda m, x: x + m.round(x**0.5), [0, 2]),
    "x + sign(x**0.5)": (lambda m, x: x + m.sign(x**0.5), [0, 2]),
    "acos(sign(x))": (lambda m, x: acos(m)(m.sign(x)), [2]),
    "acos(floor(x))*x": (lambda m, x: acos(m)(m.floor(x)) * x, [1.5]),
    "abs(acos(x))": (lambda m, x: m.abs(acos(m)(x)), [1, 0]),
    "abs(x)**0.5": (lambda m, x: m.abs(x) ** 0.5, [0, -2]),
    "maximum(acos(x), 1)": (lambda m, x: m.maximum(acos(m)(x), as_constant(m, 1.0)), [1, 0]),
    "sqrt(maximum(x, 0))": (lambda m, x: m.sqrt(m.maximum(x, as_constant(m, 0.0))), [-1, 2]),
    "sqrt(x)**2": (lambda m, x: m.sqrt(x) ** 2, [0, 2]),
    "sqrt(x**2 + y**2)": (lambda m, x, y: m.sqrt(x**2 + y**2), [(0, 0), (3, 4)]),
    "atan2(x, y)": (
        lambda m, x, y: (m.arctan2 if hasattr(m, "arctan2") else m.atan2)(x, y),
        [(0, 0), (1, 2)],
    ),
    "hypot(x, y)": (lambda m, x, y: m.hypot(x, y), [(0, 0), (3, 4)]),
    "where(x > 2, acos(x), 0)": (lambda m, x: m.where(x > 2, acos(m)(x), as_constant(m, 0.0)), [1, 0]),
    "where(y > 0, x/y, 1)": (lambda m, x, y: m.where(y > 0, x / y, as_constant(m, 1.0)), [(1, 0), (1, 2)]),
    "1/(1 + exp(-x))": (lambda m, x: 1 / (1 + m.exp(-x)), [-1000, 0]),
}


def points_of(points: Any) -> list[tuple[float, ...]]:
    return [p if isinstance(p, tuple) else (p,) for p in points]


@pytest.mark.parametrize(
    ("framework", "gradients"),
    [("JAX", jax_gradients), ("torch", torch_gradients), ("TensorFlow", tensorflow_gradients)],
)
@pytest.mark.parametrize("text", BACKWARD)
def test_backward_passes_have_the_gradients_of_the_frameworks(
    text: str, framework: str, gradients: Any
) -> None:
    make, places = BACKWARD[text]
    if text.startswith("hypot") and framework == "TensorFlow":
        pytest.skip("TensorFlow has no hypot")
    names = "x, y" if isinstance(places[0], tuple) else "x"
    y = parse_program(f"{names} : real\nz = {text}")["z"]
    points = Points(y, now() + 10)
    inputs = tuple(sorted(points.symbols, key=lambda s: str(s.name)))
    for at in points_of(places):
        batch = {s: np.array([float(v)]) for s, v in zip(inputs, at, strict=True)}
        run = backward(y, inputs, points, batch, framework)
        assert run is not None
        said = [float(np.ravel(run.gradients[s])[0]) for s in inputs]
        found = [0.0 if g is None else g for g in gradients(make, at)]
        assert said == pytest.approx(found, nan_ok=True), at
