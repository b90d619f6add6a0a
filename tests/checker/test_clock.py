"""Computations end at their time limit: also within a step, and what nothing interrupts is not begun."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

from symgrad.checker.balls import arrays as ball_arrays
from symgrad.checker.balls import matrices as ball_matrices
from symgrad.checker.balls.arrays import ARRAYS
from symgrad.checker.balls.entries import elementwise
from symgrad.checker.balls.ops import ball, exp
from symgrad.checker.clock import tick, until
from symgrad.checker.limits import ENTRIES
from symgrad.checker.numbers import flint

fmpq: Any = flint.fmpq


def _random(*shape: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    draw: Any = np.frompyfunc(lambda k: fmpq(int(k), 64), 1, 1)
    return draw(rng.integers(-200, 200, shape))


def test_the_inner_limit_and_the_outer_limit_both_count() -> None:
    with until(time.monotonic() + 1000), until(None):
        tick(500)
        with pytest.raises(TimeoutError), until(time.monotonic() + 2000):
            tick(1500)
        with pytest.raises(TimeoutError), until(time.monotonic() + 100):
            tick(500)
    tick(math.inf)


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("einsum", (((0, 1), (1, 2)), (0, 2), _random(40, 40), _random(40, 40))),
        ("logsumexp", ((0,), _random(1000))),
        ("prod_except", (0, _random(30))),
        *((op, ((1,), _random(30, 2))) for op in ("mean", "max", "min", "prod", "norm")),
        *((op, (1, _random(30, 2))) for op in ("argmax", "argmin")),
        ("cumsum", (0, 0, _random(1000, 2))),
        ("det", (_random(5, 5),)),
        ("det", (_random(30, 30),)),
        ("inv", (_random(30, 30),)),
        ("expm", (_random(3, 3),)),
    ],
)
def test_a_step_ends_at_the_limit(op: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(TimeoutError), until(time.monotonic() - 1):
        ARRAYS[op](*args)


def test_an_elementwise_step_ends_within_the_array() -> None:
    done: list[int] = []

    def slow(x: Any) -> Any:
        done.append(1)
        return exp(x)

    with pytest.raises(TimeoutError), until(time.monotonic() - 1):
        elementwise(slow, _random(100_000))
    assert len(done) < 1000


def test_an_elimination_that_takes_longer_than_there_is_time_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ball_matrices, "_STEP", 1e6)
    monkeypatch.setattr(ball_matrices, "_EXACT_STEP", 1e6)
    for op in ("det", "inv", "expm"):
        with pytest.raises(TimeoutError), until(time.monotonic() + 3600):
            ARRAYS[op](_random(20, 20))


def _dense(labels: Any, result: Any, *operands: Any) -> Any:
    """The contraction in Fractions, by NumPy."""
    plain: list[Any] = [np.frompyfunc(lambda v: Fraction(int(v.p), int(v.q)), 1, 1)(x) for x in operands]
    letters = ["".join("abcdef"[i] for i in own) for own in (*labels, result)]
    return cast("Any", np.einsum)(f"{','.join(letters[:-1])}->{letters[-1]}", *plain)


@pytest.mark.parametrize(
    ("labels", "result", "shapes"),
    [
        (((0, 1), (1, 2)), (0, 2), [(3, 4), (4, 5)]),
        (((0, 1), (1, 2)), (2, 0), [(3, 4), (4, 5)]),
        (((0, 1, 2), (0, 2, 3)), (3, 0, 1), [(2, 3, 4), (2, 4, 5)]),
        (((0, 1), (1, 2), (2, 3)), (0, 3), [(3, 4), (4, 2), (2, 5)]),
        (((0, 1), (0, 1)), (), [(3, 4), (3, 4)]),
        (((0, 0), (0, 1)), (1, 0), [(3, 3), (3, 2)]),
        (((0, 1), (2,)), (2,), [(3, 4), (5,)]),
        (((0, 1), (2, 1)), (0, 1, 2), [(3, 4), (5, 4)]),
        (((0,), (1,), (0, 1)), (), [(3,), (4,), (3, 4)]),
        (((0, 1),), (1, 0), [(3, 4)]),
        (((0, 0),), (), [(4, 4)]),
    ],
)
@pytest.mark.parametrize("as_ball", [False, True])
def test_contractions_as_products_of_matrices_are_those_entry_by_entry(
    labels: Any, result: Any, shapes: Any, as_ball: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    operands = [_random(*shape, seed=k) for k, shape in enumerate(shapes)]
    wanted = _dense(labels, result, *operands)
    if as_ball:
        operands = [np.frompyfunc(lambda v: ball(v), 1, 1)(x) for x in operands]
    slow = ARRAYS["einsum"](labels, result, *operands)
    monkeypatch.setattr(ball_arrays, "PRODUCTS_ONE_BY_ONE", 0)
    fast = ARRAYS["einsum"](labels, result, *operands)
    assert np.shape(fast) == np.shape(slow) == np.shape(wanted)
    for x, y, z in zip(np.ravel(fast), np.ravel(slow), np.ravel(wanted), strict=True):
        exact = fmpq(int(z.numerator), int(z.denominator))
        assert (x.contains(exact) and y.contains(exact)) if as_ball else x == y == exact


def test_what_is_unknown_stays_unknown_in_products_of_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = _random(3, 4), _random(4, 5, seed=1)
    a[1, 2] = None
    b[0, 3] = None
    slow = ARRAYS["einsum"](((0, 1), (1, 2)), (0, 2), a, b)
    monkeypatch.setattr(ball_arrays, "PRODUCTS_ONE_BY_ONE", 0)
    fast = ARRAYS["einsum"](((0, 1), (1, 2)), (0, 2), a, b)
    assert fast.tolist() == slow.tolist()
    assert [[v is None for v in row] for row in fast.tolist()] == [
        [i == 1 or j == 3 for j in range(5)] for i in range(3)
    ]


def test_products_whose_parts_are_too_large_are_unknown() -> None:
    n = math.isqrt(ENTRIES) + 1
    found = ARRAYS["einsum"](((0,), (1,)), (0, 1), _random(n), _random(n))
    assert found.shape == (n, n)
    assert found[0, 0] is None


@pytest.mark.parametrize("as_ball", [False, True])
def test_determinants_and_inverses_of_large_matrices(as_ball: bool) -> None:
    n = 20
    a = _random(n, n)
    exact = flint.fmpq_mat(a.tolist())
    given = np.frompyfunc(lambda v: ball(v), 1, 1)(a) if as_ball else a
    determinant, inverse = ARRAYS["det"](given)[()], ARRAYS["inv"](given)
    assert determinant.contains(exact.det()) if as_ball else determinant == exact.det()
    for row, wanted in zip(inverse.tolist(), exact.inv().tolist(), strict=True):
        assert all(v.contains(w) and v.rel_accuracy_bits() > 20 for v, w in zip(row, wanted, strict=True))


def test_inverses_of_large_singular_matrices_are_unknown() -> None:
    a = _random(20, 20)
    a[3] = a[4]
    assert ARRAYS["det"](a)[()] == 0
    assert all(v is None for v in ARRAYS["inv"](a).flat)
    a[0, 0] = None
    assert ARRAYS["det"](a)[()] is None
    assert all(v is None for v in ARRAYS["inv"](a).flat)
