"""The worker process for untrusted questions: it runs within limits enforced by the operating system.

It reads questions and writes the parts of answers, a line of JSON each. It may write no file, read no file outside the
installation, start no program and open no connection. The first defence is that nothing in a question is ever
executed; this is the second.
"""

from __future__ import annotations

import io
import json
import os
import sys
import sysconfig
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from symgrad.apps.web.limits import ANSWER_BYTES, MEMORY, TOTAL_SECONDS
from symgrad.checker import clock

READY = {"ready": True}
"""The first line of a process."""

_WARMING = (
    {
        "program": "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)*exp(-x)",
        "wrt": "x",
        "claim": "2*x",
        "language": "c",
    },
    {
        "program": "X : real[n, d]; w : real[d]; y : real[n]\nloss = mean((X@w - y)**2)",
        "wrt": "w",
        "claim": "2*X.T@(X@w - y)/n",
        "language": "jax",
    },
    {"program": "f(x) = x^2 sin x\nf'(x) = 2x cos x"},
    {"program": r"$f(x) = \frac{x^2}{1 + x}$"},
    {"program": "x +* 2", "parts": ["gradient"]},
)
"""Questions whose answers import every module that answers need."""


def warm_up() -> None:
    """Import all modules of answers, and initialise the grammar and LLVM, before the first question."""
    # Imported here: it loads all of symgrad.
    from symgrad.apps.web.answers import PARTS, answer, validate_question

    for question in _WARMING:
        for _ in answer(validate_question({"parts": list(PARTS), **question})):
            pass


def restrict_process(*, memory: int = MEMORY) -> None:
    """Set resource limits of the process, and install an audit hook that refuses what no answer needs."""
    os.environ["SYMGRAD_CACHE"] = ""
    clock.PATIENCE = 1.5  # the user prefers a weaker answer to none
    if sys.platform != "win32":
        import resource  # Windows has none

        def bound(kind: int, most: int) -> None:
            with suppress(ValueError, OSError):  # some systems have the name, but not the limit
                _, hard = resource.getrlimit(kind)
                allowed = most if hard < 0 else min(most, hard)
                resource.setrlimit(kind, (allowed, allowed))

        bound(resource.RLIMIT_AS, _used() + memory * 2**20)
        bound(resource.RLIMIT_CPU, _cpu_seconds() + 2 * int(TOTAL_SECONDS))
        bound(resource.RLIMIT_FSIZE, 0)
        bound(resource.RLIMIT_CORE, 0)
    sys.addaudithook(_refusing())


def _used() -> int:
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else 2**32


def _cpu_seconds() -> int:
    return int(sum(os.times()[:2])) + 1


_EVENTS = """
    subprocess. socket. os.exec os.spawn os.posix_spawn os.system os.startfile os.fork os.kill os.remove
    os.rename os.rmdir os.mkdir os.link os.symlink os.chmod os.chown os.truncate os.putenv shutil. tempfile.
    webbrowser. ftplib. urllib. smtplib. http.client. winreg. msvcrt.
"""
_REFUSED = tuple(_EVENTS.split())
"""Prefixes of audit events that no answer causes."""


def _refusing() -> Callable[[str, tuple[Any, ...]], None]:
    """Return an audit hook that allows reading files of the installation, and nothing else."""
    roots = {
        *sys.path,
        *sysconfig.get_paths().values(),
        sys.prefix,
        sys.base_prefix,
        str(Path(__file__).parents[2]),
    }
    inside = tuple(os.path.realpath(root).rstrip(os.sep) + os.sep for root in roots if root)
    written = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    real, busy = os.path.realpath, [False]

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = given
            if busy[0] or isinstance(path, int):
                return
            if (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & written:
                raise PermissionError("no file is written here")
            busy[0] = True  # resolving a path may open folders
            try:
                where = real(os.fsdecode(path))
            finally:
                busy[0] = False
            if not where.startswith(inside):
                raise PermissionError("no file is read here")
        elif event.startswith(_REFUSED):
            raise PermissionError(f"there is no {event} here")

    return hook


def serve(questions: IO[bytes], answers: IO[bytes], jobs: int) -> None:
    """Answer questions, a line of JSON each, until the end of the stream.

    Args:
        questions: the stream of questions.
        answers: receives a line for each part, and an empty object after the last.
        jobs: the number of questions after which to return.
    """
    from symgrad.apps.web.answers import answer  # as above

    _write(answers, READY)
    for _ in range(jobs):
        line = questions.readline()
        if not line:
            return
        for found in answer(json.loads(line)):
            _write(answers, found)
        _write(answers, {})


def _write(answers: IO[bytes], found: dict[str, Any]) -> None:
    text = json.dumps(found, allow_nan=False).encode() + b"\n"
    if len(text) > ANSWER_BYTES:
        message = f"this part of the answer is too long: {len(text):,} bytes"
        text = json.dumps({"part": found.get("part"), "error": {"message": message}}).encode() + b"\n"
    answers.write(text)
    answers.flush()


def main() -> None:
    """Serve over the standard streams, on systems without the zygote."""
    questions, answers = sys.stdin.buffer, io.BufferedWriter(io.FileIO(os.dup(sys.stdout.fileno()), "wb"))
    sys.stdout = sys.stderr  # keeps output of libraries out of the answers
    warm_up()
    restrict_process()
    serve(questions, answers, int(sys.argv[1]))


if __name__ == "__main__":
    main()
