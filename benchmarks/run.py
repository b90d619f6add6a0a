"""Run the benchmarks: `python -m benchmarks.run [--only NAME] [--quick] [--full] [--write]`.

One table: every figure against its peer, measured in turns in the same run, or against its limit.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from benchmarks.measure import Options, Row, write_part

__all__ = ["BENCHMARKS", "machine", "main", "progress_bar"]

# name -> module, function, heading
BENCHMARKS: Mapping[str, tuple[str, str, str]] = {
    "chain": ("chain", "run", "Shared operations: a chain of random sin, tanh, +, * on 10 inputs"),
    "repetition": ("repetition", "run", "Equations that repeat themselves: with loops, and without"),
    "pbe": ("pbe", "run", "PBE correlation energy: all derivatives with respect to 5 inputs"),
    "accuracy": ("pbe", "run_accuracy", "PBE correlation energy: accuracy of all 126 derivatives"),
    "cold": ("cold", "run", "A cold process, and compiling the demo program"),
    "cache": ("cache", "run", "Kernels that are kept on disk"),
    "load": ("load", "run", "Loading a saved kernel, without its formulas"),
    "speed": ("speed", "run", "Kernels at 100,000 points"),
    "maths": ("vector_maths", "run", "Functions of one or two numbers at 100,000 points"),
    "points": ("points", "run", "calls with numbers, for solvers and optimisers, and integrals by SciPy"),
    "outputs": ("outputs", "run", "Kernels of many outputs"),
    "small arrays": ("small_arrays", "run", "Small arrays against scalars"),
    "c": ("c_source", "run", "C source under gcc -O3 -march=native, and the same kernels as machine code"),
    "arrays": ("arrays", "run", "Array programs: value and gradient on one processor, one thread each"),
    "recurrences": (
        "recurrences",
        "run",
        "Recurrences: value and gradient on one processor, one thread each",
    ),
    "parsing": ("parsing", "run", "Reading program text"),
    "web": ("web", "run", "The page of symgrad serve, over HTTP"),
    "moments": ("moments", "run", "Closed forms of means and variances of gradients against draws"),
    "stops": ("stops", "run", "Questions about stop_gradients and noise in a long program"),
}

COLUMNS = ("what", "figure", "against", "ratio", "limit")


def measured(name: str, options: Options) -> Iterator[Row]:
    module, function, _ = BENCHMARKS[name]
    run: Callable[[Options], Iterator[Row]] = getattr(import_module(f"benchmarks.{module}"), function)
    return run(options)


def cells(row: Row) -> tuple[str, ...]:
    """Return a row as text, one cell per column."""
    limit = ""
    if row.limit is not None:
        limit = f"{row.limit:g}" + ("" if row.holds else " EXCEEDED")
    against = "limit" if row.limit is not None else ""
    if row.peer_value is not None:
        against = f"{row.peer}: {figure(row.peer_value, row.unit)}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2g}"
    return (row.what, figure(row.value, row.unit), against, ratio, limit)


def figure(value: float, unit: str) -> str:
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{text} {unit}".strip()


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        names = [
            line.split(":")[1].strip() for line in cpu_info.read_text().splitlines() if "model name" in line
        ]
        model = f"{names[0]}, {len(names)} processors" if names else model
    return f"{model}; {platform.system()} {platform.machine()}"


def versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for package in ("symgrad", "numpy", "sympy", "llvmlite", "python-flint", "numba"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            if package == "symgrad":
                from symgrad import __version__

                found.append(f"symgrad {__version__}")
    return ", ".join(found)


def table(title: str, rows: Sequence[Row]) -> Table:
    made = Table(*COLUMNS, title=title, title_justify="left")
    for row in rows:
        what, *rest = cells(row)
        note = f"\n  [dim]{row.note}[/dim]" if row.note else ""
        made.add_row(what + note, *rest, style="red" if row.holds is False else None)
    return made


def page(results: Mapping[str, Sequence[Row]], command: str) -> str:
    """Return the part of docs/benchmarks.md about symgrad alone."""
    lines = [
        "Speed is measured by these benchmarks, and nowhere in the tests. Each figure is a median of",
        "several repeats (of one run for compiling a large graph). If the column *against* names a peer,",
        "symgrad and the peer are measured in turns, in the same run on the same machine, and the ratio is",
        "figure / peer. If it says *limit*, the ratio is figure / limit. Figures that are compared with",
        "nothing are printed by the command, and are not listed here. Times are processor times of one",
        "thread, except those of cold processes, which are times on the clock. `make bench` prints the",
        "tables of this page for your machine.",
        "",
        f"- Machine: {machine()}",
        f"- Versions: {versions()}",
        f"- Command: `{command}`",
        "",
    ]
    for name, rows in results.items():
        lines += [
            f"## {BENCHMARKS[name][2]}",
            "",
            "| " + " | ".join(COLUMNS) + " |",
            "|---" * len(COLUMNS) + "|",
        ]
        for row in [r for r in rows if r.ratio is not None] or rows:
            what, *rest = cells(row)
            lines.append("| " + " | ".join([f"{what} ({row.note})" if row.note else what, *rest]) + " |")
        lines.append("")
    return "\n".join(lines)


def progress_bar() -> Progress:
    """Return the bar of a command, with what is being done beside it."""
    columns = (
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


@click.command()
@click.option("--only", type=click.Choice(list(BENCHMARKS)), multiple=True, help="run this one (repeatable)")
@click.option("--quick", is_flag=True, help="small sizes and few repeats: does everything run?")
@click.option("--full", is_flag=True, help="also the peers that take many seconds")
@click.option("--write", is_flag=True, help="write its part of docs/benchmarks.md as well")
def main(only: tuple[str, ...], quick: bool, full: bool, write: bool) -> None:
    """Measure symgrad against its peers and its limits, and print one table for each benchmark."""
    console = Console()
    os.environ.setdefault("SYMGRAD_CACHE_KERNELS", "0")  # what is measured is compiled, and not found
    names = only or tuple(BENCHMARKS)
    results: dict[str, list[Row]] = {}
    with progress_bar() as progress:
        task = progress.add_task("", total=len(names))
        options = Options(quick, full, lambda text: progress.update(task, description=text))
        for name in names:
            results[name] = list(measured(name, options))
            progress.advance(task)
    for name, rows in results.items():
        console.print(table(BENCHMARKS[name][2], rows))
    if write:
        command = " ".join(["python -m benchmarks.run", *sys.argv[1:]])
        write_part("benchmarks", page(results, command))


if __name__ == "__main__":
    main()
