"""One peer with one workload, in a process of its own: `python -m benchmarks.scoreboard.child PEER WORKLOAD THREADS`.

It compiles, then waits: a line of JSON in asks for one thing, a line out answers. What a peer prints goes to stderr.
"""

from __future__ import annotations

import base64
import gc
import json
import math
import os
import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.scoreboard.peers import PEERS, Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import Pointwise
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
        self.calls = 1

    def ready(self) -> dict[str, Any]:
        try:
            return {"version": version(self.peer.package)}
        except PackageNotFoundError:
            return {"version": getattr(import_module(self.peer.package), "__version__", "")}

    def compile(self, quick: bool) -> dict[str, Any]:
        """Compile up to the end of the first call, which is where many peers do it."""
        inputs = inputs_of(self.workload, min(sizes_of(self.workload, quick)))
        start = seconds()
        bind = self._prepared()
        self.bind = bind
        run = bind(inputs)
        run.call()  # the run has what the call reads
        return {"seconds": seconds() - start, "phases": dict(getattr(self.module, "PHASES", {}))}

    def keep_nothing(self) -> dict[str, Any]:
        """Compile from now on as the first process on a machine does, which finds no code on disk."""
        os.environ["SYMGRAD_CACHE"] = ""
        return {}

    def _prepared(self, variant: str | None = None) -> Bind:
        return self.module.prepare(self.workload, variant or self.peer.variant, self.threads)

    def better(self, variant: str) -> dict[str, Any]:
        """Take another variant of the peer for what follows: the code to which it changes by itself, later."""
        self.bind = self.run = None
        self.bind = self._prepared(variant)
        return {"phases": dict(self.module.PHASES)}

    def again(self) -> dict[str, Any]:
        """Compile once more, in a process that has compiled before."""
        self.bind = self.run = None
        gc.collect()
        start = seconds()
        self.bind = self._prepared()
        return {"seconds": seconds() - start}

    def points(self, count: int) -> dict[str, Any]:
        """Bind the kernel to inputs, and find how many calls make a sample."""
        assert self.bind is not None
        self.run = None  # its arrays are let go of before the next ones are made
        self.run = self.bind(inputs_of(self.workload, count))
        self.run.call()
        gc.collect()
        gc.freeze()
        gc.disable()
        # The least of some: a kernel may still prepare itself in its first calls.
        once = self._timed(1)
        if once < SLOW_S:
            once = max(min(once, self._timed(1), self._timed(1)), 1e-7)
        self.calls = max(1, min(MOST_CALLS, math.ceil(SAMPLE_S / once)))
        return {"seconds": once}

    def values(self, count: int) -> dict[str, Any]:
        """Return all outputs, at the first points."""
        assert self.run is not None
        found = [np.asarray(v) for v in self.run.outputs(self.run.call())]
        if isinstance(self.workload, Pointwise):
            found = [v[:count] for v in found]
        return {"values": [packed(v) for v in found]}

    def sample(self) -> dict[str, Any]:
        assert self.run is not None
        if self.calls > 1:
            self.run.call()  # others have used the caches since
        taken = self._timed(self.calls)
        if self.threads > 1:
            wait_for_threads()
        return {"seconds": taken}

    def _timed(self, calls: int) -> float:
        """Return the seconds of a call: of one thread processor time, of several the time on the clock."""
        assert self.run is not None
        call = self.run.call
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
