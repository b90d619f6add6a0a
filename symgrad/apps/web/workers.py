"""Pool of worker processes that answer untrusted questions within limits of time, memory and length.

On Linux every question gets its own process, forked from one that has imported everything (`zygote.py`). Elsewhere a
process answers `JOBS_PER_PROCESS` questions; Windows does not limit memory. A part of an answer that takes too long
costs its process, and a new process computes the other parts.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symgrad.apps.web.limits import (
    ANSWER_BYTES,
    JOBS_PER_PROCESS,
    PART_SECONDS,
    SECONDS_TO_START,
    TOTAL_SECONDS,
    WAITING,
)
from symgrad.support.errors import InternalError

_FORKS = sys.platform == "linux"
_END = b"{}\n"  # the line after the last part


class BusyError(Exception):
    """The queue of questions is full."""


@dataclass(eq=False, slots=True)
class _PageWorker:
    """The connection to a worker process."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    end: Callable[[], None]
    left: int

    async def begin(self, seconds: float) -> None:
        """Wait until the process is ready.

        Raises:
            InternalError: if it does not start.
        """
        line = b""
        try:
            line = await asyncio.wait_for(self.reader.readline(), seconds)
        except TimeoutError:
            pass
        finally:  # also if the task is cancelled
            if not line:
                self.end()
        if not line:
            raise InternalError("a process that answers does not start")


class Workers:
    """The pool of worker processes.

    Args:
        count: the number of concurrent questions; by default the number of processors.
        part_seconds: the time limit of a part of an answer.
        total_seconds: the time limit of an answer.
    """

    def __init__(
        self,
        count: int | None = None,
        *,
        part_seconds: float = PART_SECONDS,
        total_seconds: float = TOTAL_SECONDS,
    ) -> None:
        self._count = count or max(2, os.cpu_count() or 1)
        self._part_seconds = part_seconds
        self._total_seconds = total_seconds
        self._turns = asyncio.Semaphore(self._count)
        self._of_one = max(1, self._count // 2)
        self._turns_of: dict[str, tuple[asyncio.Semaphore, int]] = {}
        self._waiting = 0
        self._free: list[_PageWorker] = []
        self._forking = _Forker() if _FORKS else None
        self._processes: set[asyncio.subprocess.Process] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the processes.

        Raises:
            InternalError: if they do not start.
        """
        if self._forking is not None:
            await self._forking.start()
        else:
            self._free += await asyncio.gather(*(self._spawned() for _ in range(self._count)))

    async def stop(self) -> None:
        """End all processes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._free.clear()
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if self._forking is not None:
            await self._forking.stop()

    async def answer(self, question: Mapping[str, Any], address: str = "") -> AsyncGenerator[bytes]:
        """Answer a question, as `symgrad.apps.web.answers.validate_question` returns it.

        Args:
            question: the question.
            address: the address of the client, which may use half of the processes.

        Yields:
            A line of JSON for each part, in the order of the question's parts.

        Raises:
            BusyError: if too many questions wait.
        """
        if self._waiting >= WAITING:
            raise BusyError("too many questions wait; ask again a little later")
        self._waiting += 1
        begun = False
        try:
            async with AsyncExitStack() as turn:
                await turn.enter_async_context(self._turn_of(address))
                await turn.enter_async_context(self._turns)
                self._waiting -= 1
                begun = True
                parts = list(question["parts"])
                end = asyncio.get_running_loop().time() + self._total_seconds
                while parts:
                    answers = self._ask({**question, "parts": list(parts)}, end)
                    try:
                        async for line in answers:
                            parts.pop(0)
                            yield line
                    except _LostError as lost:
                        error = {"message": lost.args[0]}
                        yield json.dumps({"part": parts.pop(0), "error": error}).encode() + b"\n"
                    finally:
                        await answers.aclose()
        finally:
            self._waiting -= not begun

    @asynccontextmanager
    async def _turn_of(self, address: str) -> AsyncGenerator[None]:
        """Wait until an address is below its limit of concurrent questions."""
        turns, users = self._turns_of.get(address, (asyncio.Semaphore(self._of_one), 0))
        self._turns_of[address] = turns, users + 1
        try:
            async with turns:
                yield
        finally:
            turns, users = self._turns_of.pop(address)
            if users > 1:
                self._turns_of[address] = turns, users - 1

    async def _ask(self, question: Mapping[str, Any], end: float) -> AsyncGenerator[bytes]:
        """Send a question to one process, and yield the lines of its answer.

        Raises:
            _LostError: if the process exceeded a limit, or ended by itself.
        """
        now = asyncio.get_running_loop().time
        if now() >= end:
            raise _LostError(_late(self._total_seconds))
        worker = await self._acquire()
        whole = False
        try:
            with suppress(OSError):  # if the process has ended, reading fails below
                worker.writer.write(json.dumps(question).encode() + b"\n")
                await worker.writer.drain()
            while True:
                allowed = min(self._part_seconds, end - now())
                try:
                    line = await asyncio.wait_for(worker.reader.readline(), max(allowed, 0.001))
                except TimeoutError:
                    raise _LostError(_late(allowed)) from None
                except (ValueError, OSError):  # a line beyond all limits
                    line = b""
                if not line:
                    raise _LostError("the process that worked on this ended: it took too much memory or time")
                if line == _END:
                    whole = True
                    return
                yield line
        finally:
            self._release(worker, whole=whole)

    async def _acquire(self) -> _PageWorker:
        if self._forking is not None:
            return await self._forking.forked()
        return self._free.pop() if self._free else await self._spawned()

    def _release(self, worker: _PageWorker, *, whole: bool) -> None:
        worker.left -= 1
        if whole and worker.left > 0:
            self._free.append(worker)
            return
        worker.end()
        if self._forking is None and len(self._free) < self._count:
            task = asyncio.create_task(self._refill())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _refill(self) -> None:
        with suppress(InternalError):  # the next question reports the error
            self._free.append(await self._spawned())

    async def _spawned(self) -> _PageWorker:
        """Start a process that answers several questions."""
        process = await asyncio.create_subprocess_exec(
            # -P: import nothing from the current folder.
            *(sys.executable, "-P", "-m", "symgrad.apps.web.child", str(JOBS_PER_PROCESS)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            limit=2 * ANSWER_BYTES,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._processes = {p for p in self._processes if p.returncode is None} | {process}

        def end() -> None:
            with suppress(ProcessLookupError):
                process.kill()

        worker = _PageWorker(process.stdout, process.stdin, end, JOBS_PER_PROCESS)
        await worker.begin(SECONDS_TO_START)
        return worker


class _LostError(Exception):
    """A worker process was ended or crashed; the message is for the user."""


def _late(seconds: float) -> str:
    return f"this takes longer than {seconds:.0f} s, which is the limit here; symgrad on a machine of your own has none"


def _environment() -> dict[str, str]:
    """Return the environment of processes: this package, no disk cache, one thread each."""
    here = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "VECLIB")}
    return {**os.environ, **threads, "PYTHONPATH": path, "SYMGRAD_CACHE": ""}


class _Forker:
    """The connection to the process that forks (`zygote.py`)."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._job = 0
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """Start the process, and wait until it has imported everything.

        Raises:
            InternalError: if it does not start.
        """
        await self.stop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "symgrad.apps.web.zygote", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        ours.setblocking(False)
        self._control = ours
        loop = asyncio.get_running_loop()
        try:
            line = await asyncio.wait_for(loop.sock_recv(ours, 16), SECONDS_TO_START)
        except (TimeoutError, OSError):
            line = b""
        if not line:
            await self.stop()
            raise InternalError("the process that forks others does not start")

    async def stop(self) -> None:
        """Close the control socket: the process then kills its forks, and ends."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            process, self._process = self._process, None
            try:
                await asyncio.to_thread(process.wait, 5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    async def forked(self) -> _PageWorker:
        """Return a process that answers one question.

        Raises:
            InternalError: if it cannot be forked, even from a new parent.
        """
        try:
            return await self._fork()
        except (InternalError, OSError):  # the kernel may have killed the parent for lack of memory
            async with self._starting:
                if self._process is None or self._process.poll() is not None:
                    await self.start()
            return await self._fork()

    async def _fork(self) -> _PageWorker:
        control = self._control
        if control is None:
            raise InternalError("the process that forks others has ended")
        self._job += 1
        job = self._job.to_bytes(8, "big")
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(control, [b"f" + job], [theirs.fileno()])
        reader, writer = await asyncio.open_connection(sock=ours, limit=2 * ANSWER_BYTES)

        def end() -> None:
            writer.transport.abort()
            with suppress(OSError):
                control.send(b"k" + job)

        worker = _PageWorker(reader, writer, end, 1)
        await worker.begin(SECONDS_TO_START)
        return worker
