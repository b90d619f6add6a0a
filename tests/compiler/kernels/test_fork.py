"""Processes that are forked or started while kernels exist, and while some are being compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.processes import printed

_START = """
import gc, os, signal, sys, threading, time, warnings
import numpy as np, symgrad as sg
import symgrad.compiler.kernels.calls.threads, symgrad.compiler.kernels.kernel
warnings.simplefilter("ignore")
symgrad.compiler.kernels.calls.threads.cores = symgrad.compiler.kernels.kernel.cores = lambda: 2
x, u = sg.symbols("x u")
p = sg.parse("X : real[n, 30]; w : real[30]; loss = sum((X@w)**2)")
old = sg.compile([sg.sin(x)*u, x*u], inputs=[x, u])
arrays = sg.compile([p["loss"], sg.grad(p["loss"], p["w"])], inputs=["X", "w"])
pair = sg.compile(x**2 + 1, threads=2)
many = np.ones(10**6)
chain = x
for k in range(40):
    chain = sg.sin(chain*u + k) + sg.exp(-chain**2)

def works(seed):
    new = sg.compile([x*u + seed, *sg.grad(x**3*u + seed, [x, u])], inputs=[x, u])
    return (
        old(1.0, 2.0)[0] == 2*np.sin(1.0)
        and old(np.ones(5), np.ones(5))[1].tolist() == [1.0]*5
        and arrays(np.ones((10, 30)), np.ones(30))[0] == 9000
        and (pair(many) == 2).all()
        and new(2.0, 3.0) == (6 + seed, 36.0, 8.0)
        and gc.isenabled()
    )
"""

_COMPILING = (
    _START
    + """
done = False

def compile_on():
    count = 0
    while not done:
        count += 1
        sg.compile([chain + count, *sg.grad(chain + count, [x, u])], inputs=[x, u])

works(0)
other = threading.Thread(target=compile_on)
other.start()
ends = []
for k in range(6):
    time.sleep(0.017*k)
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(0 if works(k) else 1)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done = True
other.join()
print(ends, works(7))
"""
)

_POOLS = (
    _START
    + """
import multiprocessing

def task(seed):
    return bool(works(seed))

def call(kernel, value):
    return kernel(value, 2.0)[1]

if __name__ == "__main__":
    assert works(0)
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(task, [1, 2]), pool.apply(call, (old, 3.0)))
"""
)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@needs_fork
def test_a_child_of_a_process_that_is_compiling():
    assert printed(_COMPILING) == "[0, 0, 0, 0, 0, 0] True\n"


@pytest.mark.parametrize("method", [pytest.param("fork", marks=needs_fork), "spawn"])
def test_pools_of_processes(tmp_path, method):
    file = tmp_path / "pools.py"
    file.write_text(_POOLS)
    done = subprocess.run(
        [sys.executable, str(file), method], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "[True, True] 6.0\n", done.stderr[-2000:]


_PASSES = """
import gc, os, threading
from symgrad.ir import garbage_collection, graph
inside, leave = threading.Event(), threading.Event()

def build():
    with garbage_collection.gc_paused(), graph._lock:
        inside.set()
        leave.wait()

other = threading.Thread(target=build)
other.start()
inside.wait()
child = os.fork()
if not child:
    right = gc.isenabled() and graph._lock.acquire(timeout=5)
    with garbage_collection.gc_paused():
        right = right and not gc.isenabled()
    os._exit(0 if right and gc.isenabled() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), gc.isenabled())
leave.set()
other.join()
print(gc.isenabled())
"""


@needs_fork
def test_a_child_of_a_process_that_builds_a_graph():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PASSES], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "0 False\nTrue\n", done.stderr[-2000:]
