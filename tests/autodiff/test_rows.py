"""One row of an array, as a formula of rows: of every array op, along every axis."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.autodiff.rows.formulas import row_at, row_of, sum_rows, summand
from symgrad.ir.graph import Node, size_leaf
from symgrad.ir.sizes import Size, evaluate_size, size_sum
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.contraction import transpose
from symgrad.ops.numpy.subscripts import index
from tests.arrays import PROGRAMS, SIZES, random_value, symbol_of

SIZE = SIZES[0]


def entry(array: Node, start: Size, at: int) -> Node:
    return index(array, size_leaf(size_sum([start, at])))


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_of_every_op(name: str) -> None:
    node = PROGRAMS[name]()
    parts = [n for n in topological([node]) if n.shape and n.args]
    binder = symbol_of("binder", *SIZE)
    rng = np.random.default_rng(5)
    given = {s: random_value(s, SIZE, rng) for s in [*symbols_of([node]), binder]}
    for part in parts:
        (whole,) = evaluate([part], given)
        for axis, size in enumerate(part.shape):
            others = [k for k in range(len(part.shape)) if k != axis]
            turned = transpose(part, [axis, *others])
            for at in range(min(evaluate_size(size, SIZE), 2)):
                (found,) = evaluate([row_at(turned, at)], given)
                np.testing.assert_allclose(found, np.take(whole, at, axis=axis), rtol=1e-12, atol=1e-14)
                leaf = row_of(part, lambda array, start, at=at: entry(array, start, at), axis)
                (found,) = evaluate([leaf], given)
                np.testing.assert_allclose(found, np.take(whole, at, axis=axis), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_are_sums_of_their_terms(name: str) -> None:
    node = PROGRAMS[name]()
    binder = symbol_of("binder", *SIZE)
    rng = np.random.default_rng(5)
    given = {s: random_value(s, SIZE, rng) for s in [*symbols_of([node]), binder]}
    lengths = dict.fromkeys(n for part in topological([node]) for n in part.shape)
    for total in [n for n in topological([node]) if n.args and n.dtype == "real"]:
        for length in lengths:
            stack = summand(total, length)
            if stack is not None:
                assert stack.shape == (length, *total.shape)
                both = evaluate([total, sum_rows(stack)], given)
                np.testing.assert_allclose(both[1], both[0], rtol=1e-12, atol=1e-13)
