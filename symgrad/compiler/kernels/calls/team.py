"""Worker threads of this process, which run pieces of calls in native code.

They are daemon threads that never return from native code. So a call needs no GIL; signal handlers do not run in
these threads, and the interpreter does not wait for them when it exits.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.kernels.calls import threads as processors
from symgrad.compiler.kernels.calls.direct import LONG, direct_call
from symgrad.compiler.kernels.calls.safety import refusal
from symgrad.compiler.llvm.call_stubs.object_layout import function_address
from symgrad.compiler.llvm.call_stubs.thread_team import (
    LINE_BYTES,
    LOOP,
    PAUSE,
    SHARE,
    TEAM,
    WORK,
    module_text,
)
from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile
from symgrad.compiler.llvm.engine.target import host

_AWAKE = 1e-4
"""For so many seconds a worker polls for the next job, and yields to other threads meanwhile. Calls in a Python loop
are some tens of microseconds apart, whereas waking a worker takes the caller 10 us and the worker 20 to 500 us."""

_DUE = 16
"""A worker is woken for this many pieces, of one or several calls: they are 40 to 400 us of work, and waking takes 10
us."""

_MISSED, _TURNS = map([name for name, _ in TEAM].index, ("missed", "turns"))


def _keep_reference(value: Any) -> Any:
    """Leak a reference: workers use the object until the process ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return value


def _yield_function() -> Any:
    """Return the system function by which a thread yields its processor."""
    if sys.platform == "win32":
        return ctypes.CDLL("kernel32").SwitchToThread
    return ctypes.CDLL(None).sched_yield


class Team:
    """The workers and their code; `team` returns the only instance.

    Attributes:
        loop: address of the inner-loop function that splits a call into pieces for the threads.
    """

    def __init__(self) -> None:
        engine: Engine = _keep_reference(load_or_compile(module_text(host().triple), quick=True))
        self.loop = engine.address(LOOP)
        self._work = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.address(WORK))
        pause = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(engine.address(PAUSE))
        api = ctypes.pythonapi
        functions = {
            "sleep": api.PyThread_acquire_lock,
            "wake": api.PyThread_release_lock,
            "yield": _yield_function(),
        }
        self._fixed = {name: function_address(f) for name, f in functions.items()}
        self._fixed |= {"room": os.cpu_count() or 1, "due": _DUE, "turns": 0}
        self._at = _keep_reference(ctypes.c_int64(0))
        self.dismiss()

        def timed(turns: int) -> float:
            start = time.perf_counter()
            pause(self._at.value, turns)
            return (time.perf_counter() - start) / turns

        turns = int(_AWAKE / max(min(timed(500) for _ in range(5)), 1e-10))
        self._fixed["turns"] = self._words[_TURNS] = turns

    def dismiss(self) -> None:
        """Forget all workers, since a forked child has none."""
        room = self._fixed["room"]
        memory = _keep_reference(ctypes.create_string_buffer(LINE_BYTES * (room + 2)))
        start = -(-ctypes.addressof(memory) // LINE_BYTES) * LINE_BYTES
        values = [self._fixed.get(name, 0) for name, _ in TEAM]
        ctypes.memmove(start, struct.pack(f"={len(values)}q", *values), 8 * len(values))
        allocate = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", ctypes.pythonapi))
        acquire = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
            ("PyThread_acquire_lock", ctypes.pythonapi)
        )
        for k in range(room):
            lock = allocate()
            acquire(lock, 0)
            ctypes.c_void_p.from_address(start + LINE_BYTES * (k + 1) + 16).value = lock
        self._words = (ctypes.c_int64 * len(TEAM)).from_address(start)
        self._threads: list[threading.Thread] = []
        self._growing = threading.Lock()
        self._at.value = start

    def share(self, loop: int, cell: int, nargs: int, least: int, helpers: int) -> Any:
        """Return the record (`SHARE`) through which the splitting loop finds a kernel's inner loop and limits."""
        values = {
            "loop": loop,
            "cell": cell,
            "nargs": nargs,
            "least": least,
            "helpers": helpers,
            "team": ctypes.addressof(self._at),
        }
        return (ctypes.c_int64 * len(SHARE))(*[values[name] for name, _ in SHARE])

    def prepare(self, helpers: int) -> None:
        """Start missing workers of a call, up to the number of processors."""
        if len(self._threads) < helpers or self._words[_MISSED]:
            self._grow(helpers)

    def _grow(self, helpers: int) -> None:
        with self._growing:
            # Start one more if all workers were busy with other calls.
            wanted = max(helpers, len(self._threads) + self._words[_MISSED])
            self._words[_MISSED] = 0
            try:
                while len(self._threads) < min(wanted, processors.cores() - 1):
                    work = threading.Thread(
                        target=self._work, args=(self._at.value,), name="symgrad", daemon=True
                    )
                    self._threads.append(work)
                    work.start()
            except RuntimeError:  # no more threads are possible: the caller does all the work
                pass
            finally:
                self._threads = [thread for thread in self._threads if thread.is_alive()]


@locked_cache
def team() -> Team:
    """Return the team of this process."""
    new = Team()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=new.dismiss)
    return new


def call_directly(
    loop: int, passed: int, kinds: Sequence[Any], nin: int, *, threads: int = 1, piece: float = 0
) -> Callable[..., Any] | None:
    """Return the function of `direct_call`; with several threads it cuts large calls into pieces for a team.

    Args:
        loop: address of the inner loop.
        passed: address for the last argument of the loop.
        kinds: dtype of every argument, inputs then outputs.
        nin: the number of inputs.
        threads: the number of threads of a call.
        piece: the smallest number of elements of a piece.
    """
    if threads == 1 or refusal() is not None:
        return direct_call(loop, passed, kinds, nin)
    ours, least, helpers = team(), int(piece), threads - 1
    share = ours.share(loop, passed, len(kinds), least, helpers)
    # A call that waits for other threads always releases the GIL.
    many = min(LONG, 2 * least)
    call = direct_call(ours.loop, ctypes.addressof(share), kinds, nin, many=many)

    def cut(inputs: tuple[Any, ...], *outputs: Any, _owner: object = share) -> Any:
        size = next((array.size for array in inputs if type(array) is np.ndarray), 0)
        if size >= 2 * least:
            ours.prepare(helpers)
        return None if call is None else call(inputs, *outputs)

    return cut
