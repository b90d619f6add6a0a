"""Kernels in several threads: the same bits, whatever the layout, and nothing started for little work."""

from __future__ import annotations

import pickle
import signal
import threading
import time

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.calls import threads as module
from symgrad.compiler.kernels.calls.safety import refusal
from symgrad.compiler.kernels.calls.team import call_directly
from symgrad.errors import ShapeError, UsageError
from tests.processes import printed

PROGRAM = "x : real\ny : real\nz = exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)"
BATCHED = "X : real[n, 3]\nw : real[3]\nloss = sum(tanh(X@w)**2)"


@pytest.fixture(autouse=True)
def three_processors(monkeypatch):
    """Tests do not depend on how many there are."""
    monkeypatch.setattr(module, "cores", lambda: 3)
    monkeypatch.setattr("symgrad.compiler.kernels.kernel.cores", lambda: 3)
    module._pool.cache_clear()
    yield
    module._pool().shutdown()
    module._pool.cache_clear()


def kernels(text=PROGRAM, of="z", wrt=("x", "y"), **more):
    p = sg.parse(text)
    outputs = [p[of], *sg.grad(p[of], list(wrt))]
    return sg.compile(outputs, inputs=p.inputs, **more), sg.compile(
        outputs, inputs=p.inputs, threads=3, **more
    )


def values(*shape):
    return np.random.default_rng(1).normal(size=shape)


def same(first, second):
    for a, b in zip(first, second, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


@pytest.fixture
def pieces(monkeypatch):
    """What is cut, as the shapes of calls."""
    cut = []
    original = module.in_pieces

    def noted(*args, **kwargs):
        cut.append(args[3])
        return original(*args, **kwargs)

    def made(*args, threads=1, **kwargs):
        call = call_directly(*args, threads=threads, **kwargs)
        assert (call is None) == (refusal() is not None)
        if call is None or threads == 1:
            return call

        def noted_too(*arguments):
            found = call(*arguments)
            first = found if isinstance(found, np.ndarray) else found and found[-1]
            if first is not None and first.size >= 2 * int(kwargs["piece"]):
                cut.append(first.shape)
            return found

        return noted_too

    monkeypatch.setattr(module, "in_pieces", noted)
    monkeypatch.setattr("symgrad.compiler.kernels.calls.team.call_directly", made)
    return cut


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "arrays",
    [
        (values(100_001), values(100_001)),
        (values(200_002)[::2], values(100_001)[::-1]),
        (values(300, 400), values(400)),
        (values(300, 1), values(1, 400)),
        (np.asfortranarray(values(300, 400)), np.asfortranarray(values(300, 400))),
        (values(100_000), 0.5),
        (values(2, 50_000), values(2, 1)),
    ],
)
def test_the_bits_are_the_same(pieces, arrays, dtype):
    one, three = kernels(dtype=dtype)
    arrays = [np.asarray(a, dtype) if isinstance(a, np.ndarray) else a for a in arrays]
    first, second = one(*arrays), three(*arrays)
    assert pieces
    same(first, second)
    assert [a.flags.f_contiguous for a in first] == [b.flags.f_contiguous for b in second]


def test_outputs_that_are_given(pieces):
    one, three = kernels()
    x, y = values(90_000), values(90_000)
    out = tuple(np.empty(90_000) for _ in range(3))
    found = three(x, y, out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    assert pieces == [(90_000,)]
    same(one(x, y), out)


def test_an_output_in_the_place_of_an_input(pieces):
    one, three = kernels()
    x, y = values(90_000), values(90_000)
    expected = one(x, y)
    found = three(x, y, out=(x, None, None))
    same(expected, found)
    x = values(90_000)
    found = three(x, y, out=(x, y, np.empty(90_000)))
    assert pieces
    same(expected, found)


def test_an_output_that_overlaps_an_input_elsewhere():
    one, three = kernels()
    memory = values(90_001)
    expected = one(memory[1:].copy(), 0.5)
    found = three(memory[1:], 0.5, out=(memory[:-1], np.empty(90_000), np.empty(90_000)))
    same(expected, found)


def test_where(pieces):
    one, three = kernels()
    x, y = values(90_000), values(90_000)
    same(one(x, y, where=x > 0), three(x, y, where=x > 0))
    assert pieces


def test_the_batch_of_an_array_program_is_cut(pieces):
    one, three = kernels(BATCHED, "loss", ("X", "w"))
    X, w = values(70, 1, 500, 3), values(5, 3)
    same(one(X, w), three(X, w))
    same(one(X[0, 0], w[0]), three(X[0, 0], w[0]))
    assert pieces == [(70, 5)]
    out = (np.empty((70, 5)), np.empty((70, 5, 500, 3)), np.empty((70, 5, 3)))
    three(X, w, out=out)
    same(one(X, w), out)


def test_errors_are_as_with_one_thread():
    _, three = kernels()
    with pytest.raises(ShapeError, match="do not broadcast"):
        three(values(90_000), values(90_001))
    _, three = kernels(BATCHED, "loss", ("X", "w"))
    with pytest.raises(ShapeError, match="do not broadcast"):
        three(values(70, 500, 3), values(71, 3))


def test_nothing_is_started_for_little_work():
    code = (
        "import threading, numpy as np, symgrad as sg\n"
        "from symgrad.compiler.kernels.calls import threads\n"
        "threads.cores = lambda: 2\n"
        "k = sg.compile(sg.parse('x : real\\nx**2 + 1').result, threads=2)\n"
        "k(np.ones(1000)); few = threading.active_count()\n"
        "k(np.ones(10**6)); print(few, threading.active_count())"
    )
    assert printed(code) == "1 2\n"


@pytest.mark.parametrize("threads", [0, -1, 4, 10**30, 1.5, float("nan"), True, False, "2", None])
def test_a_number_of_threads_that_cannot_be(threads):
    for output in (sg.symbols("x") + 1, sg.parse(BATCHED)["loss"]):
        with pytest.raises(UsageError, match="between 1 and 3") as caught:
            sg.compile(output, threads=threads)
        assert caught.value.what == f"threads={threads!r}"
        assert caught.value.cure == "pass threads=3 to use them all"


def test_many_callers():
    one, three = kernels()
    x, y = values(90_000), values(90_000)
    expected = one(x, y)
    found = []
    callers = [threading.Thread(target=lambda: found.append(three(x, y))) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(found) == 8
    for each in found:
        same(expected, each)


def test_kernels_are_called_while_others_are_compiled():
    one, three = kernels()
    batched, _ = kernels(BATCHED, "loss", ("X", "w"))
    x, y, X, w = values(90_000), values(90_000), values(7, 50, 3), values(3)
    calls = [(one, (x, y)), (three, (x, y)), (batched, (X, w)), (one.ufunc, (x[:9], y[:9]))]
    expected = [kernel(*arrays) for kernel, arrays in calls]
    wrong = []

    def call(k):
        for _ in range(6):
            kernel, arrays = calls[k]
            if [a.tobytes() for a in kernel(*arrays)] != [a.tobytes() for a in expected[k]]:
                wrong.append(k)

    def compile_some(k):
        a = sg.symbols("a")
        made = [sg.compile([sg.exp(a) * a + seed, a + k])(0.0) for seed in range(4)]
        wrong.extend(seed for seed, found in enumerate(made) if found != (seed, k))

    workers = [threading.Thread(target=call, args=(k,)) for k in range(4) for _ in range(2)]
    workers += [threading.Thread(target=compile_some, args=(k,)) for k in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_where_no_more_threads_may_be_started_one_does_all(pieces, monkeypatch):
    one, three = kernels()

    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    x, y = values(90_000), values(90_000)
    same(one(x, y), three(x, y))
    assert pieces


def test_at_the_end_of_the_process():
    code = (
        "import atexit, numpy as np, symgrad as sg\n"
        "from symgrad.compiler.kernels.calls import threads\n"
        "threads.cores = lambda: 2\n"
        "k = sg.compile(sg.parse('x : real\\nx**2 + 1').result, threads=2)\n"
        "x = np.ones(10**6); k(x)\n"
        "atexit.register(lambda: print((k(x) == 2).all()))"
    )
    assert printed(code) == "True\n"


def test_an_error_in_a_piece_is_raised_when_all_have_ended():
    ended = []

    def call(part, out):
        if part[0] == 0:
            raise KeyboardInterrupt
        np.copyto(out[0], part)
        ended.append(part[0])

    given, out = np.arange(9.0), np.zeros(9)
    with pytest.raises(KeyboardInterrupt):
        module.in_pieces(call, [given], [out], (9,), [0, 0], 3)
    assert sorted(ended) == [3, 6]
    assert out.tolist() == [0, 0, 0, 3, 4, 5, 6, 7, 8]


def test_pickles_keep_the_number_as_far_as_there_are_processors(monkeypatch):
    _, three = kernels()
    assert three.threads == 3
    stored = pickle.dumps(three)
    assert pickle.loads(stored).threads == 3
    monkeypatch.setattr("symgrad.compiler.kernels.kernel.cores", lambda: 2)
    assert pickle.loads(stored).threads == 2


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_after_a_fork():
    code = (
        "import os, warnings, numpy as np, symgrad as sg\n"
        "warnings.simplefilter('ignore')\n"
        "from symgrad.compiler.kernels.calls import threads\n"
        "threads.cores = lambda: 2\n"
        "k = sg.compile(sg.parse('x : real\\nx**2 + 1').result, threads=2)\n"
        "x = np.ones(10**6); k(x)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if (k(x) == 2).all() else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert printed(code, timeout=60) == "0\n"


_FIRST_COMPILES = """
import sys, threading
import numpy as np, symgrad as sg
sys.setswitchinterval(1e-5)
x, u = sg.symbols("x u")
z = sg.sqrt(x**2*u) + sg.sin(u)
p = sg.parse("X : real[n, 30]; w : real[30]; loss = sum((X@w)**2)")
start = threading.Barrier(6)
wrong = []

def work(seed):
    start.wait()
    for _ in range(3):
        k = sg.compile([z, *sg.grad(z, [x, u])], inputs=[x, u])
        q = sg.compile([p["loss"], *sg.grad(p["loss"], [p["X"], p["w"]])], inputs=["X", "w"])
        for _ in range(4):
            found = k(np.full(1000, 1.0 + seed), np.full(1000, 2.0))[1]
            if not np.allclose(found, 2**0.5) or q(np.ones((100, 30)), np.full(30, seed))[0] != 100*(30*seed)**2:
                wrong.append(seed)

threads = [threading.Thread(target=work, args=(s,)) for s in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(wrong), "wrong")
"""


def test_the_first_kernels_of_a_process_may_be_compiled_in_many_threads_at_once() -> None:
    assert printed(_FIRST_COMPILES) == "0 wrong\n"


def view(rng, memory, n):
    """A random square of a memory: rows and columns in any order, with gaps, from either end, overlapping."""
    steps = [(n, 1), (1, n), (1, 1), (n + 1, 2), (-n, 1), (1, -n), (-2 * n, 2), (2, 2 * n), (0, 1)]
    a, b = steps[rng.integers(len(steps))]
    reach = [(n - 1) * a, (n - 1) * b]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    first = int(rng.integers(-low, len(memory) - high))
    return np.lib.stride_tricks.as_strided(memory[first:], (n, n), (8 * a, 8 * b))


def three_times(a, b, out):
    """Element by element: a ufunc that does not look for memory that is shared."""
    for place in np.ndindex(*a.shape):
        out[0][place] = 3 * a[place] - b[place]


def test_memory_that_inputs_and_outputs_share():
    """What is cut has the result of inputs that are read before anything is written."""
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(1500):
        memory = rng.permutation(60).astype(float)
        n = int(rng.integers(2, 4))
        x, y, z = (view(rng, memory, n) for _ in range(3))
        z = (z, x, x.T)[rng.integers(3)]
        if np.unique(z).size < z.size:
            continue  # some elements are in the same place
        made = module.targets((x, y), (z,), [(n, n)], [z.dtype], order="C", new=True)
        if made is not None:
            expected = 3 * x - y
            module.in_pieces(three_times, [x, y], made, (n, n), [0, 0, 0], n)
            assert np.array_equal(z, expected)
            cut += np.may_share_memory(z, x)
    assert cut > 50


def test_an_output_that_is_the_transpose_of_an_input():
    one, three = kernels()
    x, y = values(300, 300), values(300, 300)
    expected = one(x, y)
    found = three(x, y, out=(x.T, np.empty((300, 300)), np.empty((300, 300))))
    same(expected, found)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system sends no signals to threads")
def test_nobody_writes_after_a_call_that_ctrl_c_ended():
    begun, ended = threading.Event(), []
    main = threading.main_thread()
    here = threading.get_ident()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)

    def call(_x, out):
        if threading.current_thread() is main:
            begun.wait(60)  # so that another thread has the other piece
            return
        begun.set()
        for _ in range(3):  # while the main thread waits for this one
            time.sleep(0.1)
            signal.pthread_kill(here, signal.SIGALRM)
        time.sleep(0.1)
        out[0][:] = 1
        ended.append(out)

    out = np.zeros(8)
    try:
        with pytest.raises(KeyboardInterrupt):
            module.in_pieces(call, [np.zeros(8)], [out], (8,), [0, 0], 2)
        assert len(ended) == 1
        assert out.sum() == 4
    finally:
        signal.signal(signal.SIGALRM, before)
