"""Calls that workers take pieces of: everything is computed once, nobody writes afterwards, nobody waits in vain."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.calls import team as module
from symgrad.compiler.kernels.calls.team import Team
from symgrad.compiler.llvm.call_stubs.thread_team import LINE_BYTES
from tests.compiler.kernels.engines import live_engines
from tests.compiler.kernels.ways import needs_fast_calls
from tests.processes import printed
from tests.waiting import until

LEAST = 100
_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
_COUNT, _DEBT = 0, 4


@pytest.fixture(autouse=True)
def three_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symgrad.compiler.kernels.calls.threads.cores", lambda: 3)
    monkeypatch.setattr("os.cpu_count", lambda: 3)


@pytest.fixture
def team(three_processors: None) -> Team:
    """A team of its own, without workers; one that a test starts sleeps until the end of the process."""
    return Team()


class Called:
    """A call of a loop in Python, of one argument: what it is asked for, and by whom."""

    def __init__(
        self, team: Team, n: int, *, helpers: int = 1, each: Callable[[int], None] = lambda _: None
    ) -> None:
        self.pieces: list[tuple[int, int, int]] = []
        place, step = 2**40, -24
        self.memory = (
            (ctypes.c_int64 * 1)(place),
            (ctypes.c_int64 * 1)(n),
            (ctypes.c_int64 * 1)(step),
        )

        def loop(args: int, dimensions: int, steps: int, cell: int) -> None:
            at, count, stride = (ctypes.c_int64.from_address(a).value for a in (args, dimensions, steps))
            assert (stride, cell) == (step, 77)
            each((at - place) // step)
            self.pieces.append(((at - place) // step, count, threading.get_ident()))

        self.loop = _LOOP(loop)
        address = ctypes.cast(self.loop, ctypes.c_void_p).value
        assert address is not None
        share = team.share(address, 77, 1, LEAST, helpers)
        _LOOP(team.loop)(*map(ctypes.addressof, self.memory), ctypes.addressof(share))
        self.threads = {ident for _, _, ident in self.pieces}
        pieces = sorted(self.pieces)
        assert [first for first, _, _ in pieces] == np.cumsum([0, *(c for _, c, _ in pieces)])[:-1].tolist()
        assert sum(count for _, count, _ in pieces) == n


def word(team: Team, worker: int, place: int) -> Any:
    return ctypes.c_int64.from_address(team._at.value + LINE_BYTES * (worker + 1) + 8 * place)


def begin(team: Team, helpers: int = 1) -> None:
    team.prepare(helpers)
    until(lambda: team._words[_COUNT] == helpers)


def rouse(team: Team) -> None:
    """Let the next call wake whoever sleeps."""
    team._words[_DEBT] = 10**6


@pytest.mark.parametrize("n", [0, 1, 99, 199, 200, 201, 999, 5_000, 100_000])
def test_every_element_is_computed_once_in_pieces_of_whole_vectors(team: Team, n: int) -> None:
    begin(team, 2)
    for _ in range(3):
        rouse(team)
        call = Called(team, n, helpers=2)
        assert len(call.pieces) > 1 if n >= 2 * LEAST else len(call.pieces) == 1
        pieces = call.pieces if n >= 2 * LEAST else []
        assert all(first % 32 == 0 and count <= 16 * LEAST + 31 for first, count, _ in pieces)
        # Whoever comes last takes what is left, wherever that is.
        assert sum(count < LEAST and first + count < n for first, count, _ in pieces) <= 1


def test_workers_take_pieces(team: Team) -> None:
    begin(team, 2)
    together = threading.Barrier(3)
    waited: list[int] = []

    def each(_: int) -> None:
        if threading.get_ident() not in waited:
            waited.append(threading.get_ident())
            together.wait(20)

    for _ in range(3):
        waited.clear()
        rouse(team)
        assert len(Called(team, 10_000, helpers=2, each=each).threads) == 3


def test_the_caller_begins_at_the_front_and_workers_at_the_back(team: Team) -> None:
    begin(team)
    n, together = 10_001, threading.Barrier(2)
    first_of: dict[int, int] = {}

    def each(first: int) -> None:
        if threading.get_ident() not in first_of:
            first_of[threading.get_ident()] = first
            together.wait(20)

    for _ in range(3):
        first_of.clear()
        rouse(team)
        call = Called(team, n, each=each)
        mine = [(first, count) for first, count, who in call.pieces if who == threading.get_ident()]
        others = [(first, count) for first, count, who in call.pieces if who != threading.get_ident()]
        assert mine[0][0] == 0
        assert sum(others[0]) == n
        # Each goes on where it was, until they meet.
        assert all(sum(a) == b[0] for a, b in pairwise(mine))
        assert all(sum(b) == a[0] for a, b in pairwise(others))


def test_it_returns_when_the_last_piece_has_ended(team: Team) -> None:
    begin(team)
    begun, leave = threading.Event(), threading.Event()
    main = threading.get_ident()
    done: list[Called] = []

    def each(first: int) -> None:
        if threading.get_ident() == caller.ident:
            assert begun.wait(20)
        else:
            begun.set()
            assert leave.wait(20)

    caller = threading.Thread(target=lambda: done.append(Called(team, 1_000, each=each)))
    rouse(team)
    caller.start()
    assert begun.wait(20)
    caller.join(0.2)
    assert caller.is_alive()
    assert not done
    leave.set()
    caller.join(20)
    assert len(done[0].threads) == 2
    assert main not in done[0].threads
    assert word(team, 0, 0).value == 0


def test_a_worker_that_does_not_come_delays_nothing(team: Team) -> None:
    team._words[_COUNT] = 1  # as if there were one, whose processor does something else
    for _ in range(3):
        assert Called(team, 1_000).threads == {threading.get_ident()}
        assert word(team, 0, 0).value == 0


def test_who_finds_all_workers_at_other_calls_computes_alone_and_the_next_has_one_more(team: Team) -> None:
    begin(team)
    begun, leave = threading.Event(), threading.Event()

    def each(_: int) -> None:
        if threading.get_ident() != caller.ident:
            begun.set()
            assert leave.wait(20)
        else:
            assert begun.wait(20)

    caller = threading.Thread(target=lambda: Called(team, 1_000, each=each))
    rouse(team)
    caller.start()
    assert begun.wait(20)
    assert Called(team, 1_000).threads == {threading.get_ident()}
    team.prepare(1)
    until(lambda: team._words[_COUNT] == 2)
    together = threading.Barrier(2)
    waited: list[int] = []

    def both(_: int) -> None:
        if threading.get_ident() not in waited:
            waited.append(threading.get_ident())
            together.wait(20)

    rouse(team)
    assert len(Called(team, 1_000, each=both).threads) == 2
    for _ in range(3):  # there are no more than processors
        Called(team, 1_000, helpers=2)
        team.prepare(1)
    assert len(team._threads) == 2
    leave.set()
    caller.join(20)
    assert not caller.is_alive()


def test_a_worker_sleeps_until_calls_are_worth_waking_it_and_takes_no_time_meanwhile(team: Team) -> None:
    begin(team)

    def sleeps() -> bool:
        return word(team, 0, 1).value == 1

    until(sleeps)
    for _ in range(module._DUE // 2 - 1):
        assert Called(team, 2 * LEAST).threads == {threading.get_ident()}
        assert sleeps()
    Called(team, 2 * LEAST)
    until(lambda: team._words[_DEBT] == 0)
    until(sleeps)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1
    Called(team, module._DUE * LEAST)  # at once
    assert team._words[_DEBT] == 0
    until(sleeps)


@pytest.mark.parametrize("triple", ["aarch64-apple-darwin", "x86_64-pc-windows-msvc", "riscv64-linux-gnu"])
def test_the_module_is_valid_for_other_processors(triple: str) -> None:
    import llvmlite.binding as llvm

    from symgrad.compiler.llvm.call_stubs.thread_team import module_text

    llvm.parse_assembly(module_text(triple)).verify()
    assert ("isb" in module_text(triple)) == triple.startswith("aarch64")
    assert ("pause()" in module_text(triple)) == triple.startswith("x86")


# Kernels

X, U = sg.symbols("x u")
Z = sg.exp(-(X**2)) * sg.sin(U * X) + sg.log(U)
N = 60_000


def kernels() -> Any:
    outputs = [Z, *sg.grad(Z, [X, U])]
    return tuple(sg.compile(outputs, inputs=[X, U], threads=t) for t in (1, 3))


def bits(arrays: Any) -> list[bytes]:
    return [a.tobytes() for a in arrays]


def test_many_callers_at_once_with_pauses_and_without() -> None:
    one, three = kernels()
    rng = np.random.default_rng(3)
    given = [(rng.normal(size=n), rng.uniform(1, 2, n)) for n in (3_000, 10_001, N)]
    expected = [bits(one(*arrays)) for arrays in given]
    wrong: list[int] = []

    def call(seed: int) -> None:
        for k in range(60):
            which = (seed + k) % len(given)
            if bits(three(*given[which])) != expected[which]:
                wrong.append(which)
            if k % 7 == seed:
                time.sleep(0.001)

    callers = [threading.Thread(target=call, args=(s,)) for s in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_floating_point_errors_of_workers_are_nobodys() -> None:
    _, three = kernels()
    bad = np.full(N, np.inf)
    with np.errstate(all="raise"):
        for _ in range(5):
            three(bad, -bad)
            np.add(1.0, np.arange(3.0))


def test_a_team_keeps_no_kernel() -> None:
    def used() -> int:
        one, three = kernels()
        x = np.ones(N)
        assert bits(three(x, x)) == bits(one(x, x))
        return live_engines()

    used()
    gc.collect()
    before = live_engines()
    assert used() > before
    gc.collect()
    assert live_engines() == before


_START = """
import gc, os, signal, sys, threading, time, warnings
import numpy as np, symgrad as sg
from symgrad.compiler.kernels.calls import threads, team
warnings.simplefilter("ignore")
if len(sys.argv) > 1: threads.cores = lambda: 2
os.cpu_count = lambda: 2
x, u = sg.symbols("x u")
z = sg.exp(-(x**2)) * sg.sin(u * x) + sg.log(u)
one, two = (sg.compile([z, sg.grad(z, x)], inputs=[x, u], threads=t) for t in (1, 2))
rng = np.random.default_rng(3)
"""


def script(text: str, *arguments: str) -> str:
    return printed(_START + text, *arguments)


@needs_fast_calls  # elsewhere it may come before a piece is begun, and then that one is left out
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system sends no signals after a time")
def test_ctrl_c_is_raised_when_all_is_computed() -> None:
    found = script(
        """
for _ in range(60):
    z = sg.sin(z) + u
# The better code at once: what interrupts a compiler is told by that, and asked elsewhere.
one, two = (sg.compile([z, sg.grad(z, u)], inputs=[x, u], threads=t, effort="high") for t in (1, 2))
X, U = rng.normal(size=300_000), rng.uniform(1, 2, 300_000)
expected = [a.tobytes() for a in one(X, U)]
two(X, U)
signal.signal(signal.SIGALRM, signal.default_int_handler)
complete = untouched = 0
for k in range(8):
    outs = tuple(np.zeros(len(X)) for _ in range(2))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.001*k)
        two(X, U, out=outs)
        time.sleep(10)
    except KeyboardInterrupt:
        complete += [a.tobytes() for a in outs] == expected
        untouched += not np.any(outs)
    assert [a.tobytes() for a in two(X, U)] == expected
print(complete > 0, complete + untouched)
""",
        "2",
    )
    assert found == "True 8\n"


@needs_fast_calls
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_children_that_are_forked_while_workers_watch_and_work() -> None:
    found = script(
        """
X, U = rng.normal(size=50_000), rng.uniform(1, 2, 50_000)
expected = one(X, U)[1].tobytes()
ends, done = [], False
def call():
    while not done:
        assert two(X, U)[1].tobytes() == expected
caller = threading.Thread(target=call)
for k in range(8):
    if k == 4:
        caller.start()
    two(X, U)
    child = os.fork()
    if not child:
        signal.alarm(20)
        right = all(two(X, U)[1].tobytes() == expected for _ in range(200))
        os._exit(0 if right and [t.is_alive() for t in team.team()._threads] == [True] else 1)
    assert two(X, U)[1].tobytes() == expected
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done = True
caller.join()
print(ends)
""",
        "2",
    )
    assert found == "[0, 0, 0, 0, 0, 0, 0, 0]\n"


@needs_fast_calls
@pytest.mark.parametrize("wait", ["", "time.sleep(0.01)"])
def test_the_process_ends_while_workers_watch_and_sleep(wait: str) -> None:
    text = "X = np.ones(50_000)\nfor _ in range(50): two(X, X)\nprint(threading.active_count())\n" + wait
    for _ in range(3):
        assert script(text, "2") == "2\n"


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not bind processes to processors"
)
def test_on_one_processor_nothing_is_started() -> None:
    found = script(
        """
threads.cores = lambda: 2
two = sg.compile([z, sg.grad(z, x)], inputs=[x, u], threads=2)
threads.cores = lambda: len(os.sched_getaffinity(0))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
X = rng.uniform(1, 2, 50_000)
for _ in range(3):
    assert two(X, X)[1].tobytes() == one(X, X)[1].tobytes()
print(threading.active_count())
""",
        "2",
    )
    assert found == "1\n"
