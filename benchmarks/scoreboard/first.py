"""The first result of a fresh process: from `python` to the numbers, each peer by a script as its user would write it.

Everyone's bytecode is there, and what anyone keeps on disk: a first round, which does not count, has left it.
"""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import ROOT
from benchmarks.scoreboard.board import Board, First, Settings
from benchmarks.scoreboard.peers import PEERS, SYMGRAD, UnableError
from benchmarks.scoreboard.processes import environment, python_for

__all__ = ["BASELINE", "FIRST", "NOTHING", "SCRIPTS", "measure_first"]

FIRST, BASELINE, NOTHING = "first", "import numpy, llvmlite.binding", f"{SYMGRAD}, nothing on disk"
SCRIPTS = Path(__file__).parent / "first_results"

_ENOUGH_S = 30.0
_ROUNDS = 11


@dataclass(frozen=True, slots=True)
class _Script:
    """A script, who runs it and with which variables."""

    path: Path
    python: str
    variables: dict[str, str]

    def run(self, limit: float) -> tuple[float, float, str]:
        """Return seconds of processor time, with that of the processes it started, and on the clock; what it printed.

        Raises:
            UnableError: if it fails, or takes longer than the limit.
        """
        late = threading.Event()
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            process = subprocess.Popen(
                [self.python, str(self.path)],
                cwd=folder,
                env=self.variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,  # so that the compilers it runs are ended with it
            )

            def end() -> None:
                late.set()
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

            timer = threading.Timer(limit, end)
            timer.start()
            assert process.stdout is not None
            with process.stdout as printed:
                text = printed.read()
            # Unlike its own `wait`, this tells what the process used.
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if late.is_set():
            raise UnableError(f"not done after {limit:.0f} s")
        if process.returncode:
            raise UnableError(f"its process ended (status {process.returncode})")
        return usage.ru_utime + usage.ru_stime, wall, text


def measure_first(board: Board, settings: Settings) -> None:
    """Add the table to the board; without `os.wait4` (Windows) nobody says what the processes took."""
    board.first = First()
    if not hasattr(os, "wait4"):
        return
    settings.step("first results: bytecode")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "symgrad")], check=True)
    scripts = dict(_scripts(board.first, settings))
    order = random.Random(0)
    rounds = min(settings.rounds, _ROUNDS)
    for k in range(rounds + 1):
        turn = list(scripts)
        order.shuffle(turn)
        for name in turn:
            settings.step(f"first results, round {k} of {rounds}: {name}")
            if sum(board.first.wall.get(name, ())) > _ENOUGH_S:
                continue
            try:
                processor, wall, text = scripts[name].run(settings.limit)
                if name != BASELINE and not math.isclose(float(text), _EXPECTED, rel_tol=1e-9):
                    raise UnableError(f"it prints another number: {text.strip()}")
            except UnableError as reason:
                board.first.absent[name] = str(reason)
                del scripts[name]
                continue
            if k:
                board.first.processor.setdefault(name, []).append(processor)
                board.first.wall.setdefault(name, []).append(wall)


_EXPECTED = -1336.907870652929
"""The sum of all results, which every script prints."""


def _scripts(first: First, settings: Settings) -> Iterator[tuple[str, _Script]]:
    yield BASELINE, _Script(SCRIPTS / "baseline.py", sys.executable, _variables(SYMGRAD, sys.executable))
    for name in settings.peers:
        path = SCRIPTS / f"with_{name.replace('-', '_')}.py"
        if not path.exists():
            continue
        try:
            python = python_for(name, settings.pythons)
        except UnableError as reason:
            first.absent[name] = str(reason)
            continue
        variables = _variables(name, python)
        yield name, _Script(path, python, variables)
        if name == SYMGRAD:
            yield NOTHING, _Script(path, python, {**variables, "SYMGRAD_CACHE": ""})


def _variables(name: str, python: str) -> dict[str, str]:
    """Return those of a user, who keeps bytecode, and with whom peers keep on disk what they like to."""
    found = environment(PEERS[name], python, threads=1)
    for variable in ("PYTHONDONTWRITEBYTECODE", *PEERS[name].environment):
        found.pop(variable, None)
    return found
