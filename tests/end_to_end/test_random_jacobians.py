"""Jacobians of random array programs: both directions, their canonical form, and one entry after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad.autodiff.jacobians import backwards, forwards
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.rows.independence import find_row_mixing
from symgrad.errors import SymgradError
from symgrad.ir.graph import Node, symbol
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.pipeline import canonical
from tests.graphs_arrays import random_arrays, random_sizes, random_values

PROGRAMS = 800
GROUPS = 4
SMALL = 400  # entries of the largest Jacobian that is compared


def entry_by_entry(node: Node, x: Node, values: dict[Node, Any], sizes: dict[str, int]) -> Any:
    """Return the Jacobian by one evaluation for every entry of x: shape of x, then of the node."""
    along = symbol(Declaration("along", shape=x.shape))
    (moved,) = push_forward([node], {x: along})
    shape = tuple(evaluate_size(s, sizes) for s in node.shape)
    given = np.asarray(values[x])
    found = np.zeros((*given.shape, *shape))
    for i in np.ndindex(given.shape):
        unit = np.zeros(given.shape)
        unit[i] = 1
        found[i] = np.asarray(evaluate([moved], {**values, along: unit})[0], dtype=float)
    return found


@pytest.mark.parametrize("group", range(GROUPS))
def test_jacobians(group: int) -> None:
    compared = kept_apart = 0
    for seed in range(9_000 + group, 9_000 + PROGRAMS, GROUPS):
        rng = np.random.default_rng(seed)
        node = random_arrays(seed, size=8)[-1]
        sizes = random_sizes(rng)
        values = random_values(rng, sizes)
        try:
            (value,) = evaluate([node], values)
        except SymgradError:
            continue  # an index into an axis without entries, the largest of nothing
        if node.dtype != "real" or not np.all(np.isfinite(value)):
            continue
        for x in symbols_of([node]):
            if x.dtype != "real" or np.size(value) * np.size(values[x]) > SMALL:
                continue
            wanted = entry_by_entry(node, x, values, sizes)
            if not np.all(np.isfinite(wanted)):
                continue
            wanted = np.moveaxis(wanted, range(len(x.shape)), range(-len(x.shape), 0)) if x.shape else wanted
            for found in (*forwards([node], x), *backwards(node, [x])):
                if found is None:
                    assert not np.any(wanted)
                    continue
                assert found.shape == (*node.shape, *x.shape)
                for form in (found, canonical([found]).nodes[0]):
                    result = np.asarray(evaluate([form], values)[0], dtype=float)
                    assert result.shape == wanted.shape
                    scale = float(np.max(np.abs(wanted), initial=1.0))
                    np.testing.assert_allclose(result, wanted, rtol=1e-8, atol=1e-11 * scale)
            compared += 1
            if node.shape and x.shape and node.shape[0] == x.shape[0] and find_row_mixing(node, x) is None:
                kept_apart += 1
                rows = np.moveaxis(wanted, len(node.shape), 1)
                for i, j in np.ndindex(rows.shape[:2]):
                    assert i == j or not np.any(rows[i, j])
    assert compared > PROGRAMS // GROUPS // 3
    assert kept_apart > 2
