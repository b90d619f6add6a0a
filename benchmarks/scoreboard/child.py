"""One peer with one workload, in a process of its own: `python -m benchmarks.scoreboard.child PEER WORKLOAD THREADS`.

A line of JSON in asks for one thing, a line out answers. What a peer prints goes to stderr.
"""

from __future__ import annotations

import base64
import gc
import json
import math
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import PEERS, Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import SMALLEST, Pointwise
from benchmarks.scoreboard.programs import Program
from benchmarks.scoreboard.workloads import WORKLOADS, inputs_of, sizes_of

__all__ = ["main", "packed", "unpacked"]

SAMPLE_S = 0.008
MOST_CALLS = 10_000
SLOW_S = 1.0
# Threads that look for more work take less than this share of a processor when they have given up.
ASLEEP = 0.2
NAP_S, PATIENCE_S = 0.002, 1.0


def seconds() -> float:
    """Return the processor time of this process and of the compilers it started."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def packed(array: Any) -> dict[str, Any]:
    flat = np.ascontiguousarray(array, dtype=np.float64)
    return {"shape": flat.shape, "bytes": base64.b64encode(flat.tobytes()).decode()}


def unpacked(message: dict[str, Any]) -> Any:
    return np.frombuffer(base64.b64decode(message["bytes"])).reshape(message["shape"])


class Child:
    """What the process holds: a compiled kernel, and the kernel bound to inputs."""

    def __init__(self, peer: str, workload: str, threads: int) -> None:
        self.threads = threads
        self.peer = PEERS[peer]
        self.workload = WORKLOADS[workload]
        self.module = import_module(f"benchmarks.scoreboard.peers.{self.peer.module}")
        self.bind: Bind | None = None
        self.run: Run | None = None
        self.calls: dict[str, int] = {}

    def ready(self) -> dict[str, Any]:
        try:
            return {"version": version(self.peer.package)}
        except PackageNotFoundError:
            return {"version": getattr(import_module(self.peer.package), "__version__", "")}

    def warm_up(self) -> dict[str, Any]:
        """Compile a small formula, the same in every process, and call it.

        Whoever imports what compiling needs when it is first needed, or finds out about the machine then, has done so.
        """
        with suppress(UnableError):  # it cannot express the formula
            self._first_run(SMALLEST, SMALLEST.inputs_at(SMALLEST.points[0]))
        return {}

    def compile(self, quick: bool) -> dict[str, Any]:
        """Compile up to the end of the first call, which is where many peers do it."""
        inputs = inputs_of(self.workload, min(sizes_of(self.workload, quick)))
        gc.collect()
        start = seconds()
        self.bind = self._first_run(self.workload, inputs)
        return {"seconds": seconds() - start, "phases": dict(getattr(self.module, "PHASES", {}))}

    def _first_run(self, workload: Pointwise | Program, inputs: Any) -> Bind:
        bind: Bind = self.module.prepare(workload, self.peer.variant, self.threads)
        run = bind(inputs)
        run.fresh()  # the run has what the call reads
        return bind

    def keep_nothing(self) -> dict[str, Any]:
        """Compile from now on as the first process on a machine does, which finds no code on disk."""
        os.environ["SYMGRAD_CACHE"] = ""
        return {}

    def again(self) -> dict[str, Any]:
        """Compile the same once more."""
        self.bind = self.run = None
        gc.collect()
        start = seconds()
        self.bind = self.module.prepare(self.workload, self.peer.variant, self.threads)
        return {"seconds": seconds() - start}

    def points(self, count: int) -> dict[str, Any]:
        """Bind the kernel to inputs, and find how many calls make a sample."""
        assert self.bind is not None
        self.run = None  # its arrays are let go of before the next ones are made
        self.run = self.bind(inputs_of(self.workload, count))
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        gc.disable()
        for way, call in self._ways():
            call()
            # The least of some: a kernel may still prepare itself in its first calls.
            once = self._timed(call, 1)
            if once < SLOW_S:
                once = max(min(once, self._timed(call, 1), self._timed(call, 1)), 1e-7)
            self.calls[way] = max(1, min(MOST_CALLS, math.ceil(SAMPLE_S / once)))
        return {}

    def _ways(self) -> list[tuple[str, Callable[[], Any]]]:
        assert self.run is not None
        ways = [("fresh", self.run.fresh), ("given", self.run.given)]
        return [(way, call) for way, call in ways if call is not None]

    def values(self, count: int) -> dict[str, Any]:
        """Return all outputs, at the first points."""
        assert self.run is not None
        ways = [[np.asarray(v) for v in self.run.outputs(call())] for _, call in self._ways()]
        if isinstance(self.workload, Pointwise):
            ways = [[v[:count] for v in way] for way in ways]
        for v, w in zip(ways[0], ways[-1], strict=True):
            if not np.allclose(v, w, rtol=1e-9, atol=1e-9 * np.max(np.abs(v), initial=0.0), equal_nan=True):
                raise UnableError("given arrays for its results, it computes others")
        return {"values": [packed(v) for v in ways[0]]}

    def sample(self) -> dict[str, Any]:
        """Return the seconds of a call, each way."""
        found: dict[str, float] = {}
        for way, call in self._ways():
            if self.calls[way] > 1:
                call()  # others have used the caches since
            found[way] = self._timed(call, self.calls[way])
        if self.threads > 1:
            wait_for_threads()
        return found

    def _timed(self, call: Callable[[], Any], calls: int) -> float:
        """Return the seconds of a call: of one thread processor time, of several the time on the clock."""
        clock = time.process_time if self.threads == 1 else time.perf_counter
        start = clock()
        for _ in range(calls):
            call()
        return (clock() - start) / calls


def wait_for_threads() -> None:
    """Return when the threads of this process sleep: until then they would take time from the peer that is next."""
    end = time.perf_counter() + PATIENCE_S
    while time.perf_counter() < end:
        start, busy = time.perf_counter(), time.process_time()
        time.sleep(NAP_S)
        if time.process_time() - busy < ASLEEP * (time.perf_counter() - start):
            return


def main() -> None:
    os.environ.setdefault("SYMGRAD_CACHE_KERNELS", "0")  # what is measured is compiled, and not found
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    child: Child | None = None
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            if child is None:
                child = Child(sys.argv[1], sys.argv[2], int(sys.argv[3]))
            say(getattr(child, name)(*arguments))
        except UnableError as reason:
            say({"unable": str(reason)})
        except Exception as error:  # noqa: BLE001  a peer may fail in any way: it is told, and the others go on
            words = str(error).strip().split("\n")[0]
            say({"unable": f"{type(error).__name__}: {words[:160]}"})


if __name__ == "__main__":
    main()
