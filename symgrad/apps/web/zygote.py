"""A process that has imported everything, and forks a process for every question: on Linux.

A fork has the imports at once and a memory of its own, so that no question sees what another left, and one that does
not end is no loss. On macOS the system's own libraries do not survive a fork, and Windows has none: there processes
answer several questions (`workers.py`).

Over its socket come single bytes, each with the end of another socket for the process to be; a byte back for each
says the process's number, and ``kill`` lines end one that has not ended by itself.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys

from symgrad.apps.web.child import restrict_process, serve, warm_up

__all__ = ["main"]


def main(descriptor: int) -> None:
    """Fork a process for each socket that arrives, until nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this ends it
    control = socket.socket(fileno=descriptor)
    warm_up()
    gc.collect()
    gc.freeze()  # else each fork would copy what its collector looks at
    control.sendall(b"ready\n")
    running: dict[int, int] = {}  # by the number of the job
    while True:
        _reap(running)
        ready, _, _ = select.select([control], [], [], 0.5 if running else None)
        if not ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(control, 16, 1)
        if not message:
            break
        job = int.from_bytes(message[1:9], "big")
        if message[:1] == b"k":
            _end(running, job)
        elif descriptors:
            process = os.fork()
            if process == 0:
                control.close()
                _answer(descriptors[0])
            os.close(descriptors[0])
            running[job] = process
    for job in list(running):
        _end(running, job)


def _answer(descriptor: int) -> None:
    """What the fork does: it answers one question and ends at once, whatever happens."""
    try:
        restrict_process()
        with os.fdopen(descriptor, "rb") as asked, os.fdopen(os.dup(descriptor), "wb") as answers:
            serve(asked, answers, 1)
    except BaseException:  # noqa: BLE001  a fork must never go on as its parent
        os._exit(1)
    os._exit(0)


def _reap(running: dict[int, int]) -> None:
    for job, process in list(running.items()):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(process, os.WNOHANG)[0] == 0:
                continue
        del running[job]


def _end(running: dict[int, int], job: int) -> None:
    process = running.pop(job, None)
    if process is not None:  # not waited for yet, so the number is still its own
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
