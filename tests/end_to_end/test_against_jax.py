"""Values, vjps and jvps of array programs against JAX's, on the programs of every op and on random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from tests.arrays import PROGRAMS, SIZES, random_value, symbol_of
from tests.jax_programs import of_real_inputs

jax = pytest.importorskip("jax", reason="JAX is not installed")
jax.config.update("jax_enable_x64", True)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("sizes", SIZES[:1], ids=str)
def test_programs_of_every_op(name: str, sizes: Any) -> None:
    compare(PROGRAMS[name](), sizes)


def compare(node: Node, sizes: Any) -> None:
    """Compare the value, the vjp and the jvp of a node at random arrays."""
    rng = np.random.default_rng(3)
    inputs = symbols_of([node])
    values = {s: random_value(s, sizes, rng) for s in [*inputs, symbol_of("binder", *sizes)]}
    real = [s for s in inputs if s.dtype == "real"]
    function = of_real_inputs(node, values, sizes)
    value, pull = jax.vjp(function, *(values[s] for s in real))
    mine = evaluate([node], values)[0]
    np.testing.assert_allclose(mine, value, rtol=1e-12, atol=1e-12)
    if node.dtype != "real" or not real:
        return
    seed = symbol_of("seed", *node.shape)
    values[seed] = rng.normal(size=np.shape(mine))
    gradients = evaluate(pull_back([node], [seed], real).gradients, values)
    for found, wanted in zip(gradients, pull(values[seed]), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)
    along = {s: symbol_of(f"along_{s.name}", *s.shape) for s in real}
    values.update({d: rng.normal(size=np.shape(values[s])) for s, d in along.items()})
    tangent = evaluate(push_forward([node], along), values)[0]
    _, wanted = jax.jvp(function, [values[s] for s in real], [values[along[s]] for s in real])
    np.testing.assert_allclose(tangent, wanted, rtol=1e-10, atol=1e-11)
