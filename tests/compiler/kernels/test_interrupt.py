"""Ctrl-C while a program is read, differentiated and compiled, at many moments."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.processes import printed

_CODE = """
import gc, random, signal, sys, threading, time
import numpy as np, symgrad as sg
import symgrad.ir.garbage_collection as collector, symgrad.ir.graph as graph
import symgrad.compiler.llvm.engine.binding as binding
from symgrad.rewrite.pipeline import canonical

def scalars(seed):
    lines = ["x : real", "u : real", "h0 = x"]
    lines += [f"h{k + 1} = sin(h{k}*u + {k + seed}) + x*exp(-h{k}**2)" for k in range(40)]
    p = sg.parse("\\n".join(lines))
    return sg.compile([p["h40"], *sg.grad(p["h40"], ["x", "u"])])

def arrays(seed):
    lines = ["X : real[n, 30]", "V : real[30, 30]", f"a0 = X*{seed}"]
    lines += [f"a{k + 1} = tanh(a{k}@V + {k})" for k in range(4)]
    p = sg.parse("\\n".join(lines) + "\\nloss = sum(a4**2)")
    return sg.compile([p["loss"], *sg.grad(p["loss"], ["X", "V"])])

def derivation(seed):
    x, u = sg.symbols("x u")
    y = x
    for k in range(12):
        y = sg.sin(y*u + seed + k)/(1 + x**2)
    return canonical([sg.grad(y, x).node, sg.grad(y, u).node])

def free(lock):
    found = lock.acquire(timeout=5)
    if found:
        lock.release()
    return found

def check(name):
    locks = []
    all_locks = graph._lock, binding.lock, binding.llvm.ffi.lib._lock._lock
    probe = threading.Thread(target=lambda: locks.extend(map(free, all_locks)))
    probe.start()
    probe.join()
    if locks != [True]*3 or not gc.isenabled() or collector._building or threading.active_count() != 1:
        print(name, locks, gc.isenabled(), collector._building, threading.enumerate())

def interrupt(signum, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
ignored = []
sys.unraisablehook = lambda report: ignored.append(report.exc_type)
rng, count, arrived, late = random.Random(1), 0, 0, 0
for work in (scalars, arrays, derivation):
    for seed in (1, 2):
        begun = time.perf_counter()
        work(seed)
        whole = time.perf_counter() - begun
    for seed in range(10, 10 + ROUNDS):
        delay = rng.uniform(0, 0.9*whole)
        begun = time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, delay + 1e-6)
            work(seed)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            arrived += 1
            late += time.perf_counter() - begun - delay > 2 + 2*whole
        signal.setitimer(signal.ITIMER_REAL, 0)
        check(work.__name__)
x = sg.symbols("x")
kernel = sg.compile([sg.sin(x), sg.grad(sg.sin(x), x)])
assert kernel(0.5) == (np.sin(0.5), np.cos(0.5))
assert scalars(1)(0.5, 0.25) == scalars(2 - 1)(0.5, 0.25)
assert arrays(1)(np.ones((5, 30)), np.zeros((30, 30)))[0] > 0
# Not all: what arrives in a callback of a weak reference Python reports and drops.
print(arrived >= ROUNDS, late)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer here")
def test_interrupts_at_many_moments():
    code = _CODE.replace("ROUNDS", "12")
    assert printed(code, quiet=False) == "True 0\n"


_CLOSING = """
import gc, sys
import symgrad.compiler.llvm.engine.binding as binding
from symgrad.compiler.llvm.engine.jit import Engine

ended = []
owner, detach = binding.llvm.ExecutionEngine, binding.llvm.ffi.ObjectRef.detach
dispose = owner._dispose

def interrupted(self):
    if isinstance(self, owner) and len(ended) == 1:
        ended.append("interrupted")
        raise KeyboardInterrupt
    detach(self)

owner._dispose = lambda self: (ended.append("disposed"), dispose(self))
binding.llvm.ffi.ObjectRef.detach = interrupted
sys.unraisablehook = lambda report: ended.append(report.exc_type.__name__)
engine = Engine("define i32 @f() { ret i32 1 }")
del engine
gc.collect()
print(ended)
"""


def test_an_interrupt_while_an_engine_is_closed_does_not_free_it_twice():
    assert printed(_CLOSING, quiet=False) == "['disposed', 'interrupted', 'KeyboardInterrupt']\n"


_LONG = """
import signal, time
import numpy as np, symgrad as sg

def interrupt(signum, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
for y in PROGRAMS:
    p = sg.parse("x : real; v : real[n]; y = " + y.replace("LONG", str(2**45)))
    inputs = ["x", "v"] if "x" in y else []
    kernel = sg.compile(p["y"], inputs, threads=1)
    given = (np.full(BATCH, 1.5), np.linspace(0, 1, 30_000)) if inputs else ()
    out = np.zeros(BATCH) if inputs and "axis" not in y else None
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begun = time.perf_counter()
    try:
        kernel(*given, out=out) if out is not None else kernel(*given)
        print(y, "ended")
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        took = time.perf_counter() - begun
        if took > 60:
            print(y, took)
    if inputs:  # the next call is whole
        few = np.full(BATCH, 1.5), np.linspace(0, 1, 7)
        assert "LONG" in y or np.allclose(kernel(*few), p["y"](x=1.5, v=few[1]), rtol=1e-12)
print("done")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer here")
@pytest.mark.parametrize("batch", [(), (3,)])
def test_kernels_that_would_take_hours(batch):
    """Loops over values that are nowhere in memory: of one axis and several, in blocks, along rows, without a ufunc."""
    programs = [
        "sum(zeros(LONG) + x)",
        "max(zeros(LONG) + x)",
        "prod(ones(LONG)*x)",
        "argmax(zeros(LONG) + x)",
        "sum(softmax(zeros(LONG) + x))",
        "sum(arange(LONG)*0.5)",
        "sum(zeros((LONG, 3)) + x)",
        "sum(zeros((3, LONG)) + x)",
        "sum(zeros((LONG, 3)) + x, axis=0)",
        "x*sum(exp(-(v[:, None, None] - v[None, :, None])**2)*v[None, None, :])",
        "x*sum(abs(v[:, None, None] - v[None, :, None] + v[None, None, :]), axis=(1, 2))",
        "x*max(abs(v[:, None, None] - v[None, :, None] + v[None, None, :]))",
    ]
    code = _LONG.replace("PROGRAMS", repr(programs)).replace("BATCH", repr(batch))
    assert printed(code, timeout=300, quiet=False) == "done\n"


_STEPS = """
import signal, time
import symgrad as sg

def interrupt(signum, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
x = sg.symbols("x")
inner = lambda _, a: sg.fori_loop(0, 100_000, lambda _, b: sg.sin(b) + x, a)
lanes = lambda _, a: a + sg.sum(sg.sin(a*sg.arange(100_000)))
for step in (inner, lanes):
    kernel = sg.compile(sg.fori_loop(0, 1_000_000, step, x), [x], threads=1)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begun = time.perf_counter()
    try:
        kernel(0.5)
        print("ended")
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        took = time.perf_counter() - begun
        if took > 60:
            print(took)
few = sg.compile(sg.fori_loop(0, 3, lambda _, b: sg.sin(b) + x, x), [x])
print(abs(few(0.5) - sg.fori_loop(0, 3, lambda _, b: sg.sin(b) + x, x)(x=0.5)) < 1e-15)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer here")
def test_recurrences_that_would_take_hours():
    """Loops inside loops, and steps with arrays."""
    assert printed(_STEPS, timeout=300, quiet=False) == "True\n"


_IN_LLVM = """
import os, signal, threading, time
import symgrad as sg
import symgrad.compiler.llvm.engine.jit as jit

parse = jit._parse

over = threading.Event()

def slow(ir):  # as deaf as LLVM is for a large module, and done when the main thread has gone on
    over.wait(120)
    return parse(ir)

jit._LONG_MODULE, jit._parse = 0, slow

def press():
    while not any(t.name == "symgrad LLVM" for t in threading.enumerate()):
        time.sleep(0.005)
    os.kill(os.getpid(), signal.SIGINT)

# Who runs the tests in the background may have told all processes to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
x = sg.symbols("x")
threading.Thread(target=press, daemon=True).start()
try:
    sg.compile([sg.sin(x), sg.grad(sg.sin(x), x)])
    print("ended")
except KeyboardInterrupt:
    going = any(t.name == "symgrad LLVM" for t in threading.enumerate())
    jit._parse = parse
    over.set()
    kernel = sg.compile([sg.sin(x), sg.grad(sg.sin(x), x)])
    print(going, *map(float, kernel(0.0)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill sends no Ctrl-C there")
def test_llvm_does_not_keep_it_waiting():
    """What LLVM is at goes on in its thread, and the next compilation is whole."""
    assert printed(_IN_LLVM, quiet=False) == "True 0.0 1.0\n"


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill sends no Ctrl-C there")
def test_a_process_ends_while_llvm_is_at_work():
    code = _IN_LLVM.replace(
        "    jit._parse = parse",
        "    print(going)\n    threading.Timer(0.5, over.set).start()\n    raise SystemExit\n    jit._parse = parse",
    )
    assert printed(code) == "True\n"
