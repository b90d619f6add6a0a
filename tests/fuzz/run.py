"""Run cases of every kind in turn, for so many minutes: `make fuzz MINUTES=60`.

Each worker is a process of its own, so that a case that ends its process, or never ends, is a failure like any other
and the next worker goes on behind it. What fails is printed with the command that runs it again.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

_MEMORY = 8 * 2**30  # bytes of a worker's address space; a case that wants more fails in its own process
_FAILURES = 20  # of a kind, from which on it is left out


def _work(pipe: Connection, names: Sequence[str]) -> None:
    faulthandler.enable()
    _bound_memory()
    from tests.fuzz.kind import kinds

    known = kinds()
    assert set(names) <= set(known)
    while True:
        name, seed = pipe.recv()
        try:
            known[name].run(seed)
        except BaseException:  # noqa: BLE001  whatever a case ends with is its result
            pipe.send(traceback.format_exc().encode(errors="backslashreplace").decode())
        else:
            pipe.send(None)


def _bound_memory() -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


@dataclass
class _Worker:
    names: Sequence[str]
    pipe: Connection = field(init=False)
    process: BaseProcess = field(init=False)
    case: tuple[str, int] | None = None
    since: float = 0.0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.names), daemon=True)
        self.process.start()
        theirs.close()
        self.case = None

    def give(self, case: tuple[str, int]) -> None:
        self.case, self.since = case, time.monotonic()
        self.pipe.send(case)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


@click.command()
@click.option("--minutes", type=float, default=None, help="How long; without it, until --cases are done.")
@click.option(
    "--cases", type=int, default=300, show_default=True, help="Of each kind, where no minutes are given."
)
@click.option("--first", type=int, default=0, show_default=True, help="The seed of the first case.")
@click.option("--only", multiple=True, help="A kind, or several; by default all.")
@click.option("--workers", type=int, default=min(2, os.cpu_count() or 1), show_default=True)
def main(minutes: float | None, cases: int, first: int, only: tuple[str, ...], workers: int) -> None:
    """Run cases of every kind in turn and print what fails."""
    from tests.fuzz.kind import kinds

    known = kinds()
    for name in only:
        if name not in known:
            raise click.UsageError(f"no kind '{name}'; one of {', '.join(known)}")
    chosen = {name: known[name] for name in only} if only else known
    console = Console()
    with tempfile.TemporaryDirectory(prefix="symgrad-") as code:
        os.environ["SYMGRAD_CACHE"] = code
        begun = time.monotonic()
        done, failures = _run(console, chosen, minutes, cases, first, workers)
        took = time.monotonic() - begun
    for name in chosen:
        console.print(
            f"{name:32} {done[name]:8,} cases {len(failures.get(name, ())):4} failed", highlight=False
        )
    total = sum(done.values())
    console.print(f"{total:,} cases in {took / 60:.1f} minutes, {sum(map(len, failures.values()))} failed")
    sys.exit(bool(failures))


def _run(
    console: Console, chosen: dict[str, Any], minutes: float | None, cases: int, first: int, workers: int
) -> tuple[Counter[str], dict[str, list[int]]]:
    done: Counter[str] = Counter()
    failures: dict[str, list[int]] = {}
    end = time.monotonic() + minutes * 60 if minutes is not None else None
    following = _following(chosen, first, None if end is not None else cases, failures)
    total = minutes * 60 if minutes is not None else cases * len(chosen)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    team = [_Worker(list(chosen)) for _ in range(workers)]
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            bar = progress.add_task("cases", total=total)
            begun = time.monotonic()
            while True:
                open_ = end is None or time.monotonic() < end
                for worker in team:
                    if worker.case is None and open_ and (case := next(following, None)) is not None:
                        worker.give(case)
                busy = [w for w in team if w.case is not None]
                if not busy:
                    return done, failures
                wait([w.pipe for w in busy], timeout=1.0)
                for worker in busy:
                    name, seed = worker.case or ("", 0)
                    ended, problem = _answer(worker, chosen[name].seconds)
                    if ended:
                        done[name] += 1
                    if problem is not None:
                        failures.setdefault(name, []).append(seed)
                        progress.console.print(
                            f"{name} {seed}: python -m tests.fuzz --only {name} --first {seed} --cases 1\n{problem}",
                            markup=False,
                            highlight=False,
                            soft_wrap=True,
                        )
                described = f"{sum(done.values()):,} cases, {sum(map(len, failures.values()))} failed"
                completed = time.monotonic() - begun if end is not None else sum(done.values())
                progress.update(bar, completed=completed, description=described)
    finally:
        for worker in team:
            worker.stop()


def _following(chosen: dict[str, Any], first: int, cases: int | None, failures: dict[str, list[int]]) -> Any:
    seed = first
    while cases is None or seed < first + cases:
        for name in chosen:
            if len(failures.get(name, ())) < _FAILURES:
                yield name, seed
        if all(len(failures.get(name, ())) >= _FAILURES for name in chosen):
            return
        seed += 1


def _answer(worker: _Worker, seconds: float) -> tuple[bool, str | None]:
    """Return whether a worker's case has ended, and how if not well."""
    if worker.pipe.poll():
        try:
            problem = worker.pipe.recv()
        except EOFError:
            worker.process.join()
            problem = f"the process ended with {worker.process.exitcode}"
            worker.stop()
            worker.start()
        worker.case = None
        return True, problem
    # A process needs some seconds to start, and this machine may be busy.
    if time.monotonic() - worker.since > seconds + 30:
        worker.stop()
        worker.start()
        return True, f"no end after {seconds:g} seconds"
    return False, None
