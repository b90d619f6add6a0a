"""Measure symgrad and its peers in turns: `python -m benchmarks.scoreboard [--quick] [--full] [--write]`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from benchmarks.measure import ROOT, write_part
from benchmarks.run import machine, progress_bar
from benchmarks.scoreboard.aims import COMPARED
from benchmarks.scoreboard.board import Board, Settings, measure
from benchmarks.scoreboard.first import FIRST, measure_first
from benchmarks.scoreboard.peers import OURS, PEERS
from benchmarks.scoreboard.processes import pythons
from benchmarks.scoreboard.report import page, rich_table, sheets
from benchmarks.scoreboard.workloads import LONG, WORKLOADS

__all__ = ["main"]

FEWER = 7
PICTURE = "images/scoreboard.svg"


@click.command()
@click.option(
    "--only",
    type=click.Choice([*WORKLOADS, FIRST]),
    multiple=True,
    help=f"this workload, or the {FIRST} result of a fresh process (repeatable)",
)
@click.option(
    "--peer", type=click.Choice(list(PEERS)), multiple=True, help="this peer beside symgrad (repeatable)"
)
@click.option(
    "--quick", is_flag=True, help="few points and rounds, NumPy and SymPy alone: does everything run?"
)
@click.option("--full", is_flag=True, help="also what takes long to compile")
@click.option("--limit", default=60.0, show_default=True, help="seconds that anyone may take to compile")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1,),
    show_default="1",
    help="in how many threads a call may run (repeatable); in several, what symgrad aims at",
)
@click.option(
    "--rounds", default=21, show_default=True, help="samples of each peer; in several threads, fewer"
)
@click.option("--peers-python", help="the interpreter that has the peers; by default that of .venv-peers")
@click.option(
    "--save", type=click.Path(dir_okay=False, path_type=Path), help="keep what was measured, as JSON"
)
@click.option(
    "--load",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="show what was kept instead of measuring (repeatable: later measurements take the place of earlier ones)",
)
@click.option(
    "--write", is_flag=True, help="write its part of docs/benchmarks.md and its picture (Matplotlib) as well"
)
def main(
    only: tuple[str, ...],
    peer: tuple[str, ...],
    quick: bool,
    full: bool,
    limit: float,
    threads: tuple[int, ...],
    rounds: int,
    peers_python: str | None,
    save: Path | None,
    load: tuple[Path, ...],
    write: bool,
) -> None:
    """Measure symgrad and every peer that is installed, in turns, and print a table for each workload."""
    if load:
        board = _loaded(load)
    else:
        names = {n: _names(n, full, only) for n in threads}
        chosen = peer or (("numpy", "sympy") if quick else tuple(PEERS))
        peers = tuple(p for p in PEERS if p in (*OURS, *chosen))
        settings = Settings(peers, pythons(peers_python), rounds=rounds, limit=limit)
        if quick:
            settings = replace(settings, quick=True, rounds=2, limit=5.0)
        board = _measured(names, settings, save)
    console = Console()
    for sheet in sheets(board):
        console.print(rich_table(sheet), "")
    if write:
        from benchmarks.scoreboard.picture import draw

        draw(board, ROOT / "docs" / PICTURE)
        write_part("scoreboard", page(board, PICTURE))


def _names(threads: int, full: bool, only: Sequence[str]) -> tuple[str, ...]:
    """Return what is measured in a number of threads: of one alone, the first result of a process too."""
    if threads > 1:
        return tuple(n for n in WORKLOADS if n in (only or COMPARED))
    return tuple(n for n in (*WORKLOADS, FIRST) if (n in only if only else full or n not in LONG))


def _measured(names: Mapping[int, tuple[str, ...]], settings: Settings, save: Path | None) -> Board:
    """Return a board of workloads, in the order of their numbers of threads."""
    board = Board(machine=machine() + _load(), command=_command())
    with progress_bar() as progress:
        task = progress.add_task("", total=sum(map(len, names.values())))
        settings = replace(settings, step=lambda text: progress.update(task, description=text))
        for threads in sorted(names):
            rounds = settings.rounds if threads == 1 else min(settings.rounds, FEWER)
            chosen = replace(settings, threads=threads, rounds=rounds)
            for name in names[threads]:
                if name == FIRST:
                    measure_first(board, chosen)
                else:
                    measure(board, name, chosen)
                if save:
                    save.write_text(json.dumps(board.to_json()), encoding="utf-8")
                progress.advance(task)
    return board


def _load() -> str:
    if not hasattr(os, "getloadavg"):
        return ""
    return f"; {os.getloadavg()[1]:.1f} other processes wanted to run when it began"


def _command() -> str:
    """Return what was typed, without the paths of this machine."""
    arguments = list(sys.argv[1:])
    for option in ("--save", "--peers-python"):
        if option in arguments:
            at = arguments.index(option)
            del arguments[at : at + 2]
    return " ".join(
        ["python -m benchmarks.scoreboard", *(shlex.quote(a) for a in arguments if a != "--write")]
    )


def _loaded(paths: tuple[Path, ...]) -> Board:
    boards = [Board.from_json(json.loads(p.read_text(encoding="utf-8"))) for p in paths]
    board = boards[0]
    for more in boards[1:]:
        again = {(r.workload, r.points, r.threads) for r in more.results}
        kept = [r for r in board.results if (r.workload, r.points, r.threads) not in again]
        board.results = kept + more.results
        board.command = f"{board.command}; {more.command}"
        board.compiled |= more.compiled
        board.phases |= more.phases
        board.first = more.first if more.first.processor else board.first
        board.versions |= more.versions
    names = list(WORKLOADS)
    board.results.sort(key=lambda r: (r.threads, names.index(r.workload), r.points))
    board.compiled = {n: board.compiled[n] for n in names if n in board.compiled}
    board.phases = {n: board.phases[n] for n in names if n in board.phases}
    return board


if __name__ == "__main__":
    main()
