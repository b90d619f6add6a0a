"""A process that has imported everything, and forks a process for every question (a zygote), on Linux.

A fork starts with the imports and has its own memory: questions cannot affect each other, and one that hangs can be
killed. The system libraries of macOS do not survive a fork, and Windows has none: there processes answer several
questions (`workers.py`).

The process sends one line, ``ready``, and nothing after it. A message to it is a letter and an 8-byte job number:
``f``, with a socket, forks a process that answers over that socket; ``k`` kills the process of the job.
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


def main(descriptor: int) -> None:
    """Obey messages until the other side closes the control socket; then kill all jobs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process
    control = socket.socket(fileno=descriptor)
    warm_up()
    gc.collect()
    gc.freeze()  # otherwise the collector would touch, and so copy, the shared pages in each fork
    control.sendall(b"ready\n")
    running: dict[int, int] = {}  # from jobs to processes
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
    """Answer one question in the fork, and end the process, whatever happens."""
    try:
        restrict_process()
        with os.fdopen(descriptor, "rb") as questions, os.fdopen(os.dup(descriptor), "wb") as answers:
            serve(questions, answers, 1)
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
    if process is not None:  # not reaped yet, so the process number is not reused
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
