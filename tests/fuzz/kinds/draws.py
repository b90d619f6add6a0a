"""Random inputs whose parameters are expressions: what is believed of a draw holds for every draw there can be."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.random.laws import density, drawn
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from tests.fuzz.kind import kind, refused

_HEAD = "a, b : real; s, t : positive; q : real(0, 1); k : real(-2, -1); v : real[3]"
_PARAMETERS = {
    "real": ("a", "b", "a*b", "k", "s - t", "2", "-1/3", "k + q", "exp(k)"),
    "positive": ("s", "t", "1/(1 + s)", "exp(a)", "2", "a**2 + 1", "k**2", "q"),
    "unit": ("q", "q**2", "sigmoid(a)", "0.25", "1/(1 + s)"),
    "vector": ("softmax(v)", "[q, 1 - q]", "softmax(v*a)", "[0.5, 0.25, 0.25]"),
}
_LAWS = (
    ("Normal", "real", "positive"),
    ("LogNormal", "real", "positive"),
    ("Laplace", "real", "positive"),
    ("Cauchy", "real", "positive"),
    ("Exponential", "positive"),
    ("Gamma", "positive", "positive"),
    ("Beta", "positive", "positive"),
    ("Bernoulli", "unit"),
    ("Poisson", "positive"),
    ("Categorical", "vector"),
)
_FORMULAS = (
    "abs(u)",
    "maximum(u, w)",
    "u*w",
    "sqrt(u**2)",
    "u**2 - w",
    "where(u > w, u, w)",
    "abs(u - w)",
    "log(1 + u**2)",
)


def _law(rng: random.Random) -> str:
    if rng.random() < 0.3:
        low, width = rng.choice(_PARAMETERS["real"]), rng.choice(_PARAMETERS["positive"])
        return f"Uniform({low}, {low} + {width})"
    name, *kinds = rng.choice(_LAWS)
    return f"{name}({', '.join(rng.choice(_PARAMETERS[kind]) for kind in kinds)})"


def _point(numbers: np.random.Generator, program: sg.Program) -> dict[Any, Any]:
    """Return values of the declared symbols, and then draws of the random inputs."""
    ranges = {
        "a": (-3, 3),
        "b": (-3, 3),
        "s": (0.1, 3),
        "t": (0.1, 3),
        "q": (0.01, 0.99),
        "k": (-1.99, -1.01),
    }
    point: dict[Any, Any] = {}
    for e in program.inputs:
        declared = e.node.declaration
        if declared.distribution is None:
            low, high = ranges.get(e.node.name, (-2, 2))
            point[e.node] = numbers.uniform(low, high, size=3 if e.shape else None)
    for e in program.inputs:
        law = e.node.declaration.distribution
        if law is not None:
            values = dict(zip(law.formulas, evaluate(law.formulas, point), strict=True))
            point[e.node] = drawn(law, numbers, (), values)
    return point


@kind("draws with parameters", seconds=20)
def believed(rng: random.Random) -> None:
    text = f"{_HEAD}\nu ~ {_law(rng)}\nw ~ {_law(rng)}\ny = {rng.choice(_FORMULAS)}"
    try:
        p = sg.parse(text)
    except SymgradError as error:
        refused(error)
        return
    again = sg.parse(str(p))
    assert all(again[n].node is p[n].node for n in p.names), text
    assert pickle.loads(pickle.dumps(p))["y"].same(p["y"]), text
    y, known = p["y"].node, Conditions()
    facts = {n: known.facts(n) for n in (*symbols_of([y]), y)}
    (form,) = canonical([y]).nodes
    numbers = np.random.default_rng(rng.randrange(2**32))
    for _ in range(20):
        point = _point(numbers, p)
        (value,) = evaluate([y], point)
        for node, believed in facts.items():
            here = float(value if node is y else point[node])
            room = 1e-9 * (1 + abs(here))
            assert float(believed.low) - room <= here <= float(believed.high) + room, (
                text,
                node,
                believed,
                point,
            )
        np.testing.assert_allclose(evaluate([form], point)[0], value, rtol=1e-9, atol=1e-12, err_msg=text)
        for source in symbols_of([y]):
            likely = density(source, source)
            assert likely is not None
            rounded = source.dtype == "real" and float(point[source]) in source.declaration.values.span
            assert rounded or float(evaluate([likely], point)[0]) > 0, (text, source, point)
