"""The measurement itself: one sample of every peer in turn, round after round."""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

from benchmarks.scoreboard.accuracy import Errors, checked, errors, reference
from benchmarks.scoreboard.child import unpacked
from benchmarks.scoreboard.peers import PEERS, QUICK, SYMGRAD, UnableError
from benchmarks.scoreboard.processes import LATE, Worker, python_for
from benchmarks.scoreboard.workloads import LESS, WORKLOADS, sizes_of
from symgrad.compiler.kernels.calls.threads import cores

__all__ = ["PARTS", "Board", "First", "Result", "Settings", "measure", "ratios"]

Pythons = Sequence[tuple[str, frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure.

    Attributes:
        peers: their names.
        pythons: from `processes.pythons`.
        quick: few points and rounds.
        rounds: how often every peer takes a sample.
        limit: seconds on the clock that anyone may take to compile.
        threads: in how many a call runs. Compiling is the same in one or in several and is told for one.
        again: in how many fresh processes anyone compiles what is compiled soon.
        step: called with a few words before each piece of work.
    """

    peers: tuple[str, ...]
    pythons: Pythons
    quick: bool = False
    rounds: int = 21
    limit: float = 60.0
    threads: int = 1
    again: int = 3
    step: Callable[[str], None] = field(default=lambda _: None)


@dataclass(slots=True)
class Result:
    """A workload at a number of points.

    Attributes:
        workload: its name.
        points: how many.
        compared: at how many of them values were compared.
        fresh: seconds of each peer, by round, for results in new arrays; a slow one is in the first rounds only.
        given: the same into arrays that the peer is given, if it can be.
        errors: of each peer.
        absent: why a peer is not there.
        threads: in how many a call ran: seconds are processor time in one, time on the clock in several.
    """

    workload: str
    points: int
    compared: int
    fresh: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    given: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    errors: dict[str, Errors] = field(default_factory=dict[str, Errors])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    threads: int = 1

    @property
    def ways(self) -> tuple[dict[str, list[float]], ...]:
        """Like is compared with like: results in new arrays, and results in given ones."""
        return self.fresh, self.given

    def slowest(self, peer: str) -> float:
        """Return the seconds of a call, the slower way."""
        return max(statistics.median(way[peer]) for way in self.ways if peer in way)

    def largest_ratio(self, peer: str) -> float:
        """Return symgrad / peer, the less favourable way."""
        return max(ratios(way, peer)[1] for way in self.ways if peer in way)


def ratios(
    seconds: Mapping[str, Sequence[float]], peer: str, mine: str = SYMGRAD
) -> tuple[float, float, float]:
    """Return quartiles of symgrad / peer over the rounds: lower, median, upper."""
    found = [a / b for a, b in zip(seconds[mine], seconds[peer], strict=False)]
    if len(found) == 1:
        return found[0], found[0], found[0]
    low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
    return low, middle, high


@dataclass(slots=True)
class First:
    """From the start of a process to its first result.

    Attributes:
        processor: seconds of processor time of each script, by round.
        wall: the same on the clock.
        absent: why a peer is not there.
    """

    processor: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    wall: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    absent: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class Board:
    """Everything measured.

    Attributes:
        results: in the order of measurement.
        compiled: workload -> peer -> seconds, one for each fresh process.
        phases: workload -> quick code, or better code -> part of compiling it -> seconds.
        first: the first result of a fresh process.
        versions: of each peer.
        machine: in words.
        command: what was run.
    """

    results: list[Result] = field(default_factory=list[Result])
    compiled: dict[str, dict[str, list[float]]] = field(default_factory=dict[str, dict[str, list[float]]])
    phases: dict[str, dict[str, dict[str, list[float]]]] = field(
        default_factory=dict[str, dict[str, dict[str, list[float]]]]
    )
    first: First = field(default_factory=First)
    versions: dict[str, str] = field(default_factory=dict[str, str])
    machine: str = ""
    command: str = ""

    def of(self, threads: int) -> Board:
        """Return what was measured in a number of threads."""
        found = replace(self, results=[r for r in self.results if r.threads == threads])
        return found if threads == 1 else replace(found, compiled={}, phases={}, first=First())

    @property
    def threads(self) -> list[int]:
        return sorted({r.threads for r in self.results})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Board:
        results = [
            Result(**{**r, "errors": {p: Errors(**e) for p, e in r["errors"].items()}})
            for r in stored["results"]
        ]
        return cls(**{**stored, "results": results, "first": First(**stored["first"])})


# A sampled call that takes long is not repeated as often, nor is compiling that does.
_ENOUGH_S = 6.0
_SOON_S = 2.0
_ANSWER_S = 300.0
PARTS = (SYMGRAD, QUICK)
"""Whose compiling is told in parts."""


def measure(board: Board, name: str, settings: Settings) -> None:
    """Add a workload to the board."""
    workload = WORKLOADS[name]
    if settings.threads == 1:
        board.compiled[name] = {}
    absent: dict[str, str] = {}
    workers: dict[str, Worker] = {}
    try:
        settings.step(f"{name}: starting everyone")
        with ThreadPoolExecutor(cores()) as pool:  # nobody is measured yet
            begun = {p: pool.submit(_begun, board, name, p, settings) for p in settings.peers}
        for peer, beginning in begun.items():
            try:
                workers[peer] = beginning.result()
            except UnableError as reason:
                absent[peer] = str(reason)
        for peer in list(workers):
            settings.step(f"{name}: compiling, {PEERS[peer].title}")
            try:
                workers[peer] = _compiled(board, name, peer, workers[peer], settings)
            except UnableError as reason:
                absent[peer] = str(reason)
                del workers[peer]
        for points in sizes_of(workload, settings.quick):
            result = Result(
                name, points, checked(workload, points), absent=dict(absent), threads=settings.threads
            )
            board.results.append(result)
            settings.step(f"{name}: reference values")
            exact = _reference(name, points)
            for peer, worker in list(workers.items()):
                settings.step(f"{name}, {points:,} points: values, {PEERS[peer].title}")
                try:
                    worker.ask("points", points, limit=_ANSWER_S)
                    values = worker.ask("values", result.compared, limit=_ANSWER_S)["values"]
                    if values:
                        result.errors[peer] = errors(workload, list(map(unpacked, values)), exact)
                except UnableError as reason:
                    absent[peer] = result.absent[peer] = str(reason)
                    del workers[peer]
            _rounds(result, workers, settings)
    finally:
        for worker in workers.values():
            worker.close()


@cache
def _reference(name: str, points: int) -> list[Any]:
    return reference(WORKLOADS[name], points)


def _not_in_vain(board: Board, name: str, peer: str) -> None:
    """Do not wait again for what took a peer too long: the same in one thread, or what is less work."""
    for r in board.results:
        reason = r.absent.get(peer, "")
        if r.workload in (name, LESS.get(name)) and reason.startswith(LATE):
            raise UnableError(reason if r.workload == name or "(" in reason else f"{reason} ({r.workload})")


def _begun(board: Board, name: str, peer: str, settings: Settings) -> Worker:
    """Return a process that has imported what it needs, and has compiled the small formula."""
    _not_in_vain(board, name, peer)
    worker = Worker(peer, name, python_for(peer, settings.pythons), settings.threads)
    board.versions[peer] = worker.ask("ready", limit=_ANSWER_S)["version"]
    worker.ask("warm_up", limit=_ANSWER_S)
    return worker


def _compiled(board: Board, name: str, peer: str, worker: Worker, settings: Settings) -> Worker:
    """Return a process that has compiled the workload; the figure is of several of them, where that is soon done."""
    alone = settings.threads == 1
    taken: list[float] = []
    phases: dict[str, list[float]] = {}
    if alone:
        board.compiled[name][peer] = taken
        if peer in PARTS:
            board.phases.setdefault(name, {})[peer] = phases

    def note(part: str, seconds: float) -> None:
        phases.setdefault(part, []).append(seconds)

    while True:
        answer = worker.ask("compile", settings.quick, limit=settings.limit)
        taken.append(answer["seconds"])
        for part, seconds in answer["phases"].items():
            note(part, seconds)
        soon = taken[-1] <= _SOON_S and alone
        if soon and peer in PARTS:
            note("again", worker.ask("again", limit=settings.limit)["seconds"])
            nothing = _begun(board, name, peer, settings)
            nothing.ask("keep_nothing", limit=settings.limit)
            note("first", nothing.ask("compile", settings.quick, limit=settings.limit)["phases"]["compile"])
            nothing.close()
        if settings.quick or not soon or len(taken) >= settings.again:
            return worker
        worker.close()
        worker = _begun(board, name, peer, settings)


def _rounds(result: Result, workers: dict[str, Worker], settings: Settings) -> None:
    order = random.Random(0)
    spent = dict.fromkeys(workers, 0.0)
    for k in range(settings.rounds):
        settings.step(f"{result.workload}, {result.points:,} points: round {k + 1} of {settings.rounds}")
        turn = list(workers)
        order.shuffle(turn)
        before = os.times().elapsed
        for peer in turn:
            if peer != SYMGRAD and spent[peer] > _ENOUGH_S:
                continue
            try:
                found = workers[peer].ask("sample", limit=_ANSWER_S)
            except UnableError as reason:
                result.absent[peer] = str(reason)
                for told in (result.errors, *result.ways):
                    told.pop(peer, None)
                del workers[peer]
                continue
            for way, seconds in found.items():
                getattr(result, way).setdefault(peer, []).append(seconds)
            now = os.times().elapsed
            spent[peer] += now - before
            before = now
