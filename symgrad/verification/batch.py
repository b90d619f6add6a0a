"""Decide many rows, each in a process that can be killed; write one line of results per row to a resumable file.

A row that takes too long or too much memory costs only a process, never the batch: polynomial arithmetic cannot be
interrupted, and a process that runs out of memory dies.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeAlias, cast

from symgrad.support.errors import InternalError, UsageError
from symgrad.support.files import AppendedFile, read_bytes, read_text
from symgrad.verification.limits import ROW_FILE_BYTES, ROWS_PER_PROCESS, SECONDS_TO_START

Decide: TypeAlias = "Callable[[Mapping[str, Any], float], dict[str, Any]]"

_START = b'{"id":'  # the first bytes of every line of results


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the input.

    Args:
        id: text or a number; ``line 3`` for a line without an id.
        data: the object on the line; None if it is invalid.
        error: why the line is invalid.
    """

    id: str | int
    data: Mapping[str, Any] | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one row.

    Args:
        seconds: passed to `Decide`.
        margin: seconds after that time until the process of the row is killed.
        memory: MiB beyond the use of a fresh process, on operating systems that can limit memory.
    """

    seconds: float = 10
    margin: float = 5
    memory: int = 2048


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file of JSON lines; invalid lines become rows with an error.

    Raises:
        FileError: if the file cannot be read, or is not text.
    """
    lines = read_text(path, ROW_FILE_BYTES).split("\n")
    rows: list[Row] = []
    places: dict[str | int, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _row(number, line)
        first = places.setdefault(row.id, number)
        rows.append(row if first == number else Row(row.id, None, f"line {first} has this id too"))
    return rows


def _row(number: int, line: str) -> Row:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Row(f"line {number}", None, f"line {number} is not JSON: {error}")
    if not isinstance(data, dict):
        return Row(f"line {number}", None, f"line {number} is not a JSON object")
    found = cast("dict[str, Any]", data)
    name = found.get("id")
    if isinstance(name, (str, int)) and not isinstance(name, bool):
        return Row(name, found)
    return Row(f"line {number}", found)


def finished_ids(output: Path) -> set[str | int]:
    """Return the ids in a file of results, and repair a truncated last line.

    Raises:
        FileError: if the file cannot be read.
        UsageError: if the file holds anything else: it must not be overwritten.
    """
    if not output.exists() or output.is_char_device():
        return set()
    *lines, last = read_bytes(output, ROW_FILE_BYTES).split(b"\n")
    try:
        found = {_id(line) for line in lines if line}
        if last:
            complete = _is_complete(last)
            with output.open("r+b") as file:
                file.seek(-len(last), 2)
                if complete:
                    file.write(last + b"\n")
                    found.add(_id(last))
                else:
                    file.truncate()
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"'{output}' is not a file of results", expected="a new file, or one to go on with"
        ) from None
    return found


def _id(line: bytes) -> str | int:
    data = json.loads(line)
    if "status" not in data:
        raise ValueError("a row that is not decided")
    return data["id"]


def _is_complete(last: bytes) -> bool:
    """Tell whether the last line of a file, which lacks its newline, is complete.

    Raises:
        ValueError: if the line is neither complete nor the beginning of a line of results.
    """
    try:
        json.loads(last)
    except ValueError:
        if last[: len(_START)] != _START[: len(last)]:
            raise
        return False
    return True


def run_rows(
    rows: Iterable[Row], decide: Decide, output: Path, *, jobs: int, limits: Limits
) -> Generator[dict[str, Any], None, None]:
    """Decide rows in several processes; yield each result when it is known, and append it to a file as a line.

    Args:
        rows: the rows, in the order in which they start.
        decide: a function of the data of a row and a number of seconds; it returns a result, and other processes must
            be able to import it.
        output: the file to append to.
        jobs: the number of processes.
        limits: the limits of one row. A row that exceeds them is ``undecided``.

    Yields:
        The lines: ``id``, the result of ``decide``, ``seconds``, and ``expect`` if the row has it.

    Raises:
        FileError: if the file cannot be written.
        InternalError: if the processes do not start.
    """
    with AppendedFile(output) as file:
        for row, answer in _answers(rows, decide, jobs, limits):
            line = {"id": row.id, **answer}
            if row.data is not None and "expect" in row.data:
                line["expect"] = row.data["expect"]
            file.write(json.dumps(line))
            yield line


def _answers(
    rows: Iterable[Row], decide: Decide, jobs: int, limits: Limits
) -> Generator[tuple[Row, dict[str, Any]], None, None]:
    todo = deque[Row]()
    for row in rows:
        if row.data is None:
            yield row, {"status": "error", "why": row.error, "seconds": 0.0}
        else:
            todo.append(row)
    free: list[_Worker] = []
    busy: list[_Worker] = []
    try:
        while todo or busy:
            while todo and len(busy) < jobs:
                busy.append(free.pop() if free else _Worker(decide, limits))
                busy[-1].begin(todo.popleft())
            left = min(w.deadline for w in busy) - time.monotonic()
            wait([w.pipe for w in busy], max(0.0, left) + 0.01)
            for worker in list(busy):
                answer = worker.answer()
                if answer is not None:
                    busy.remove(worker)
                    if worker.usable:
                        free.append(worker)
                    yield worker.row, {**answer, "seconds": answer.get("seconds", worker.took)}
    finally:
        for worker in (*free, *busy):
            worker.end()


class _Worker:
    """A process that decides one row after another."""

    def __init__(self, decide: Decide, limits: Limits) -> None:
        context = multiprocessing.get_context("spawn")  # safe with threads, and available on every platform
        self.limits = limits
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, decide, limits.seconds, limits.memory), daemon=True
        )
        self.process.start()
        theirs.close()  # the parent closes its end, so that the pipe reports the end of the process
        self.ready = False
        self.usable = True
        self.rows = 0

    def begin(self, row: Row) -> None:
        self.row = row
        self.rows += 1
        self.begun = time.monotonic()
        self.deadline = self.begun + (self._allowed if self.ready else SECONDS_TO_START)
        with suppress(OSError):  # `answer` reports a process that has ended
            self.pipe.send(row.data)

    @property
    def _allowed(self) -> float:
        return self.limits.seconds + self.limits.margin

    @property
    def took(self) -> float:
        return round(time.monotonic() - self.begun, 6)

    def answer(self) -> dict[str, Any] | None:
        """Return the result of the row; None if there is none yet."""
        if self.pipe.poll():
            try:
                message = self.pipe.recv()
            except (EOFError, OSError):
                return self._ended()
            if message is None:  # the process has started: the time of its row begins now
                self.ready = True
                self.begun = time.monotonic()
                self.deadline = self.begun + self._allowed
                return None
            if self.rows >= ROWS_PER_PROCESS or message.get("why") == "memory":
                self.end()
            return message
        if time.monotonic() < self.deadline:
            return None
        self.end()
        if not self.ready:
            raise InternalError("a process of the batch does not start")
        return {"status": "undecided", "why": "the time limit"}

    def _ended(self) -> dict[str, Any]:
        self.process.join()
        code = self.process.exitcode or 0
        self.end()
        if not self.ready:
            raise InternalError(f"a process of the batch ended with code {code} before its first row")
        # Polynomial arithmetic aborts the process when its memory is exhausted; the operating system kills it.
        if sys.platform != "win32" and -code in (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV):
            return {"status": "undecided", "why": f"memory (the process ended with signal {-code})"}
        return {"status": "undecided", "why": f"the process ended with code {code}"}

    def end(self) -> None:
        self.usable = False
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, decide: Decide, seconds: float, memory: int) -> None:
    """Answer rows until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when the process stops
    _bound(memory)
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            row = pipe.recv()
            try:
                answer = decide(row, seconds)
            except MemoryError:
                answer = {"status": "undecided", "why": "memory"}
            pipe.send(answer)


def _bound(memory: int) -> None:
    if sys.platform == "win32":
        return
    import resource  # Windows does not have this module

    pages = Path("/proc/self/statm")
    used = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = used + memory * 2**20
    with suppress(ValueError, OSError):  # some systems define the limit but do not support it
        resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
