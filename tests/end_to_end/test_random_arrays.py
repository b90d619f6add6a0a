"""Random array programs with their gradients: the canonical form, the kernel and JAX say what the evaluator says."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.errors import SymgradError
from symgrad.ir.graph import Node, symbol
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.pipeline import canonical
from tests.graphs_arrays import random_arrays, random_sizes, random_values
from tests.jax_programs import of_real_inputs

PROGRAMS = 240
GROUPS = 8  # of one test each, so that they spread over processes


def program(seed: int) -> tuple[list[Node], dict[Node, Any], list[Any], dict[str, int]] | None:
    """Return a random array and its gradients, values for what they read, and theirs; None if one is not finite."""
    rng = np.random.default_rng(seed)
    node = random_arrays(seed, size=6)[-1]
    sizes = random_sizes(rng)
    values = random_values(rng, sizes)
    try:
        (value,) = evaluate([node], values)
    except SymgradError:
        return None  # an index into an axis without entries, the largest of nothing
    outputs = [node]
    real = [s for s in symbols_of([node]) if s.dtype == "real"]
    if node.dtype == "real" and real:
        seeds = symbol(Declaration("seed", shape=node.shape))
        values[seeds] = rng.normal(size=np.shape(value))
        outputs += pull_back([node], [seeds], real).gradients
    found = evaluate(outputs, values)
    return (outputs, values, found, sizes) if all(map(_finite, found)) else None


def _finite(x: Any) -> bool:
    return bool(np.all(np.isfinite(np.asarray(x, dtype=float))))


def same(found: Sequence[Any], wanted: Sequence[Any]) -> None:
    for a, b in zip(found, wanted, strict=True):
        x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        assert x.shape == y.shape
        scale = float(np.max(np.abs(y), initial=1.0))
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-11 * scale)


@pytest.mark.parametrize("group", range(GROUPS))
def test_canonical_forms_and_kernels(group: int) -> None:
    compared = 0
    for seed in range(group, PROGRAMS, GROUPS):
        made = program(seed)
        if made is None:
            continue
        outputs, values, wanted, _ = made
        same(evaluate(canonical(outputs).nodes, values), wanted)
        inputs = list(dict.fromkeys([*symbols_of(outputs), *(s for s in values if s.shape)]))
        found = compile_nodes(outputs, inputs)(*(values[s] for s in inputs))
        same(found if isinstance(found, tuple) else [found], wanted)
        compared += 1
    assert compared > PROGRAMS // GROUPS // 2


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # inside JAX
@pytest.mark.parametrize("group", range(2))
def test_values_and_gradients_against_jax(group: int) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    compared = 0
    for seed in range(5_000 + group, 5_030, 2):
        made = program(seed)
        if made is None:
            continue
        (node, *_), values, wanted, sizes = made
        real = [s for s in symbols_of([node]) if s.dtype == "real"]
        function = of_real_inputs(node, values, sizes)
        value, pull = jax.vjp(function, *(values[s] for s in real))
        found = [value]
        if len(wanted) > 1:
            seeds = next(v for s, v in values.items() if s.name == "seed")
            found += pull(np.asarray(seeds, dtype=float))
        same(found, wanted)
        compared += 1
    assert compared > 8
