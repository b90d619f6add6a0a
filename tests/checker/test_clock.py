"""Computations end at their time limit: also within a step, and what nothing interrupts is not begun."""

from __future__ import annotations

import math
import re
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.checker import clock
from symgrad.checker.balls import array_ops as ball_arrays
from symgrad.checker.balls import matrices as ball_matrices
from symgrad.checker.balls.array_ops import ARRAY_OPS
from symgrad.checker.balls.entries import elementwise
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.balls.scalar_ops import ball, exp
from symgrad.checker.clock import STEP, has_time, is_late, now, tick, until
from symgrad.checker.limits import ARRAY_ENTRIES
from symgrad.checker.numbers import flint
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol

fmpq: Any = flint.fmpq


def _random(*shape: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    draw: Any = np.frompyfunc(lambda k: fmpq(int(k), 64), 1, 1)
    return draw(rng.integers(-200, 200, shape))


def test_the_inner_limit_and_the_outer_limit_both_count() -> None:
    with until(now() + 1000), until(None):
        tick(500)
        with pytest.raises(TimeoutError), until(now() + 2000):
            tick(1500)
        with pytest.raises(TimeoutError), until(now() + 100):
            tick(500)
    tick(1e6)


def test_what_is_counted_does_not_depend_on_the_machine() -> None:
    """A program that just fits into a limit does so again; a machine on which each step sleeps is no other one."""
    steps = (ProofStep("symbol", (), ("x",)), *(ProofStep("sin", (i,)) for i in range(1000)))
    program = ProofProgram(steps, (Symbol("x", "real", None, None),))
    begun = now()
    evaluate(program, {"x": 1}, precision=64, wanted=[1000])
    work = now() - begun
    assert 1001 * STEP <= work < 2 * 1001 * STEP
    for _ in range(3):
        evaluate(program, {"x": 1}, precision=64, wanted=[1000], deadline=now() + work + STEP)
        with pytest.raises(TimeoutError):
            evaluate(program, {"x": 1}, precision=64, wanted=[1000], deadline=now() + work - 3 * STEP)


def test_a_verdict_takes_the_same_work_on_a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real time that runs a thousand times as fast changes neither the answer nor what is counted."""

    def decided() -> tuple[str, float]:
        begun = now()
        status = sg.equal("log(2 + sin(x))*cosh(x)**2", "log(2 + sin(x))*(1 + sinh(x)**2) + 0*x").status
        return status, now() - begun

    decided()  # what is remembered later
    first = decided()
    real = clock._real
    monkeypatch.setattr(clock, "_real", lambda: 1000 * real())
    assert first[0] == "proved"
    assert decided() == (first[0], pytest.approx(first[1]))


def test_real_time_ends_what_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [0.0]
    monkeypatch.setattr(clock, "_real", lambda: at[0])
    monkeypatch.setattr(clock, "PATIENCE", 4.0)
    monkeypatch.setattr(clock, "_COUNT", clock._Count())
    end = now() + 10
    at[0] = 39.0
    assert not is_late(end, 0.0)
    at[0] = 41.0
    assert is_late(end, 0.0)
    with pytest.raises(TimeoutError), until(end):
        tick()


def test_real_time_counts_where_it_is_more_than_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [0.0]
    monkeypatch.setattr(clock, "_real", lambda: at[0])
    monkeypatch.setattr(clock, "PATIENCE", 4.0)
    monkeypatch.setattr(clock, "_COUNT", clock._Count())
    begun = now()
    tick(5.0)
    at[0] = 20.0  # as long as the work may take
    assert clock._COUNT.up_to_date() - begun == 5
    at[0] = 28.0
    assert clock._COUNT.up_to_date() - begun == 7
    tick(3.0)
    assert now() - begun == 10
    at[0] = 40.0  # that the last work took no time gives a new limit no more of it
    assert now() - begun == 13


def test_what_there_is_no_time_for_is_not_counted() -> None:
    end = now() + 1
    assert not has_time(end, 2.0)
    with pytest.raises(TimeoutError), until(end):
        tick(2.0)
    assert now() == end - 1
    assert has_time(end, 0.75)
    assert not has_time(end, 0.5)
    assert is_late(end, 0.5)


def test_threads_count_their_own_work() -> None:
    begun = now()
    other = threading.Thread(target=tick, args=(5.0,))
    other.start()
    other.join()
    assert now() == begun


_READS_TIME = {
    "apps/cli/demo.py": "says how long an example takes",
    "compiler/kernels/calls/team.py": "measures how fast a thread waits",
    "compiler/llvm/engine/jit.py": "logs how long a module took",
    "compiler/llvm/engine/disk_cache.py": "how old files are",
    "checker/clock.py": "the one place for limits",
    "verification/batch.py": "ends processes",
    "apps/web/guard.py": "questions of an address in a minute",
    "support/progress.py": "how long work takes, as it is shown",
}


def test_limits_are_read_in_one_place() -> None:
    root = Path(sg.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"^\s*(import time|from time import)\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert found == set(_READS_TIME)


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
    with pytest.raises(TimeoutError), until(now() - 1):
        ARRAY_OPS[op](*args)


def test_an_elementwise_step_ends_within_the_array() -> None:
    done: list[int] = []

    def slow(x: Any) -> Any:
        done.append(1)
        return exp(x)

    with pytest.raises(TimeoutError), until(now() - 1):
        elementwise(slow, _random(100_000))
    assert len(done) < 1000


def test_an_elimination_that_takes_longer_than_there_is_time_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ball_matrices, "_STEP", 1e6)
    monkeypatch.setattr(ball_matrices, "_EXACT_STEP", 1e6)
    for op in ("det", "inv", "expm"):
        with pytest.raises(TimeoutError), until(now() + 3600):
            ARRAY_OPS[op](_random(20, 20))


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
    slow = ARRAY_OPS["einsum"](labels, result, *operands)
    monkeypatch.setattr(ball_arrays, "UNBATCHED_PRODUCTS", 0)
    fast = ARRAY_OPS["einsum"](labels, result, *operands)
    assert np.shape(fast) == np.shape(slow) == np.shape(wanted)
    for x, y, z in zip(np.ravel(fast), np.ravel(slow), np.ravel(wanted), strict=True):
        exact = fmpq(int(z.numerator), int(z.denominator))
        assert (x.contains(exact) and y.contains(exact)) if as_ball else x == y == exact


def test_what_is_unknown_stays_unknown_in_products_of_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = _random(3, 4), _random(4, 5, seed=1)
    a[1, 2] = None
    b[0, 3] = None
    slow = ARRAY_OPS["einsum"](((0, 1), (1, 2)), (0, 2), a, b)
    monkeypatch.setattr(ball_arrays, "UNBATCHED_PRODUCTS", 0)
    fast = ARRAY_OPS["einsum"](((0, 1), (1, 2)), (0, 2), a, b)
    assert fast.tolist() == slow.tolist()
    assert [[v is None for v in row] for row in fast.tolist()] == [
        [i == 1 or j == 3 for j in range(5)] for i in range(3)
    ]


def test_products_whose_parts_are_too_large_are_unknown() -> None:
    n = math.isqrt(ARRAY_ENTRIES) + 1
    found = ARRAY_OPS["einsum"](((0,), (1,)), (0, 1), _random(n), _random(n))
    assert found.shape == (n, n)
    assert found[0, 0] is None


@pytest.mark.parametrize("as_ball", [False, True])
def test_determinants_and_inverses_of_large_matrices(as_ball: bool) -> None:
    n = 20
    a = _random(n, n)
    exact = flint.fmpq_mat(a.tolist())
    given = np.frompyfunc(lambda v: ball(v), 1, 1)(a) if as_ball else a
    determinant, inverse = ARRAY_OPS["det"](given)[()], ARRAY_OPS["inv"](given)
    assert determinant.contains(exact.det()) if as_ball else determinant == exact.det()
    for row, wanted in zip(inverse.tolist(), exact.inv().tolist(), strict=True):
        assert all(v.contains(w) and v.rel_accuracy_bits() > 20 for v, w in zip(row, wanted, strict=True))


def test_inverses_of_large_singular_matrices_are_unknown() -> None:
    a = _random(20, 20)
    a[3] = a[4]
    assert ARRAY_OPS["det"](a)[()] == 0
    assert all(v is None for v in ARRAY_OPS["inv"](a).flat)
    a[0, 0] = None
    assert ARRAY_OPS["det"](a)[()] is None
    assert all(v is None for v in ARRAY_OPS["inv"](a).flat)
