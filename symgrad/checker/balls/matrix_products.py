"""Contractions of arrays of values (`symgrad/checker/balls/scalar_ops.py`) as matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.balls.scalar_ops import Value, ball
from symgrad.checker.clock import STEP, tick
from symgrad.checker.numbers import flint, fmpq

Array: TypeAlias = Any

fmpq_mat: Any = flint.fmpq_mat
arb_mat: Any = flint.arb_mat

_EXACT_BITS = (
    256  # bits of a common denominator or of a numerator; with more bits, products are computed in balls
)
_CHUNK = 2_000_000  # how many products are computed between checks of the deadline
_PRODUCT = 5e-8  # approximate seconds of one product


def exact_bits(values: Sequence[Value]) -> int | None:
    """Return the number of bits of rationals over their common denominator; None for balls, or for too many bits."""
    if any(type(v) is not fmpq for v in values):
        return None
    common, longest = flint.fmpz(1), 0
    for q in {v.q for v in values}:
        common = common.lcm(q)
        if common.bit_length() > _EXACT_BITS:
            return None
    for v in values:
        longest = max(longest, v.p.bit_length())
    bits = longest + int(common.bit_length())
    return bits if bits <= 2 * _EXACT_BITS else None


def matrix_product(a: Array, b: Array) -> Array:
    """Return the product of two matrices of values, exact if all entries are short rationals.

    Raises:
        TimeoutError: at the deadline of `symgrad.checker.clock`.
    """
    (m, k), n = a.shape, b.shape[1]
    # Every entry of the product reads a whole row: one unknown in the row makes all of them unknown.
    rows = [any(v is None for v in row) for row in a.tolist()]
    columns = [any(v is None for v in column) for column in b.T.tolist()]
    zero: Value = fmpq(0)
    left = [[zero] * k if bad else row for row, bad in zip(a.tolist(), rows, strict=True)]
    right = [[zero if bad else v for v, bad in zip(row, columns, strict=True)] for row in b.tolist()]
    flat = [v for row in (*left, *right) for v in row]
    exact = exact_bits(flat) is not None
    out = np.empty((m, n), dtype=object)
    if not k:
        out.fill(zero)
        return out
    other = fmpq_mat(right) if exact else arb_mat([[ball(v) for v in row] for row in right])
    step = max(1, _CHUNK // max(1, k * n))
    for start in range(0, m, step):
        tick(STEP + _PRODUCT * step * k * n)
        block = left[start : start + step]
        part: Any = fmpq_mat(block) if exact else arb_mat([[ball(v) for v in row] for row in block])
        found: list[list[Any]] = (part * other).tolist()
        for i, row in enumerate(found, start):
            for j, v in enumerate(row):
                unknown = rows[i] or columns[j] or (not exact and not v.is_finite())
                out[i, j] = None if unknown else v
    return out


def _group_axes(x: Array, own: Sequence[int], *groups: Sequence[int]) -> Array:
    """Merge the labelled axes of an array into one axis for each group of labels."""
    sizes = dict(zip(own, x.shape, strict=True))
    order = [own.index(i) for group in groups for i in group]
    return x.transpose(order).reshape([math.prod(sizes[i] for i in group) for group in groups])


def contract_pair(
    x: Array, own: Sequence[int], y: Array, other: Sequence[int], kept: set[int]
) -> tuple[Array, list[int]]:
    """Multiply two arrays with labelled axes, and sum over the labels that are not in ``kept``.

    No array has a label twice, and both arrays have every label that is summed over.

    Returns:
        The product, and the labels of its axes.
    """
    shared = [i for i in own if i in other]
    batch, inner = [i for i in shared if i in kept], [i for i in shared if i not in kept]
    left, right = [i for i in own if i not in shared], [i for i in other if i not in shared]
    a, b = _group_axes(x, own, batch, left, inner), _group_axes(y, other, batch, inner, right)
    found = np.empty((a.shape[0], a.shape[1], b.shape[2]), dtype=object)
    for place in range(a.shape[0]):
        found[place] = matrix_product(a[place], b[place])
    labels = [*batch, *left, *right]
    sizes = {**dict(zip(own, x.shape, strict=True)), **dict(zip(other, y.shape, strict=True))}
    return found.reshape([sizes[i] for i in labels]), labels
