"""How many claims of a corpus are decided, and how long that takes.

    python -m benchmarks.verdicts corpora DIR -o OUTDIR [--sympy 200]     decide corpora and print the report
    python -m benchmarks.verdicts report OUTDIR/*.jsonl [--write]         print it from files of results

`--write` puts it into docs/verdicts.md. The corpora are no part of the project; DIR is a folder with some of the files
that `benchmarks/claims.py` knows.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from benchmarks import peer
from benchmarks.claims import CORPORA, claims_of, read_lines
from benchmarks.measure import ROOT
from benchmarks.run import machine, versions
from symgrad.api.claims.batch_rows import decide_claim
from symgrad.errors import UsageError
from symgrad.verification.batch import Limits, finished_ids, read_rows, run_rows

__all__ = ["Summary", "causes", "main", "page", "summary"]

STATUSES = ("proved", "refuted", "supported", "undecided", "error")
COLUMNS = ("rows", *STATUSES, "wrong", "replayed", "median s", "95 % s", "max s")
PAGE = ROOT / "docs" / "verdicts.md"
BEGIN, END = "<!-- report: begin -->", "<!-- report: end -->"
_CAUSES = 12
_WIDTH = 150  # where the output is no terminal
_WRONG = {("true", "refuted"), ("false", "proved")}


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a file of claims.

    Attributes:
        name: of the file.
        counts: rows by status.
        wrong: ids of rows with a verdict that is known to be wrong.
        replayed: proofs and refutations that the checker accepted, and how many it was given.
        seconds: of each row.
    """

    name: str
    counts: Mapping[str, int]
    wrong: tuple[str, ...]
    replayed: tuple[int, int]
    seconds: tuple[float, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        accepted, given = self.replayed
        ranked = sorted(self.seconds)
        times = (
            (statistics.median(ranked), ranked[math.ceil(0.95 * len(ranked)) - 1], ranked[-1])
            if ranked
            else ()
        )
        return (
            f"{len(ranked):,}",
            *(f"{self.counts[s]:,}" if self.counts.get(s) else "" for s in STATUSES),
            str(len(self.wrong)),
            f"{accepted:,} of {given:,}" if given else "",
            *(f"{t:.3g}" for t in times),
        )


def summary(name: str, results: Sequence[Mapping[str, Any]]) -> Summary:
    checked = [r for r in results if "checked" in r]
    return Summary(
        name,
        Counter(r["status"] for r in results),
        tuple(str(r["id"]) for r in results if (r.get("expect"), r["status"]) in _WRONG),
        (sum(r["checked"] == r["status"] for r in checked), len(checked)),
        tuple(float(r.get("seconds", 0)) for r in results),
    )


def causes(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int]]:
    """Return why rows are supported, undecided or errors: status, cause and how many, most first."""
    found = Counter((r["status"], _cause(r)) for r in results if r["status"] not in ("proved", "refuted"))
    return [(status, cause, n) for (status, cause), n in found.most_common()]


def _cause(result: Mapping[str, Any]) -> str:
    """The reason without what is particular to the row."""
    lines = str(result["why"]).splitlines() or [""]
    if result["status"] == "error":
        fault = lines[0].startswith("a fault in symgrad")
        reason = re.sub(r"'.*'", "'...'", lines[-1] if fault else lines[0])
        return f"{result.get('error', 'row')}: {re.sub(r'[(].*[)]', '(...)', reason)}"
    reason = re.fullmatch(r"equal to .*, no proof \((.*)\)", lines[0])
    return re.sub(r"\b\d+\b", "N", reason[1] if reason else lines[0])


def tables(
    found: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Return the report: titles, headings and rows of text."""
    sums = [summary(name, results) for name, results in found.items()]
    made: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]] = [
        ("Verdicts", ("corpus", *COLUMNS), [(s.name, *s.cells) for s in sums])
    ]
    if wrong := [(s.name, i) for s in sums for i in s.wrong]:
        made.append(("WRONG verdicts", ("corpus", "row"), wrong))
    reasons = [
        (name, status, cause, str(n))
        for name, results in found.items()
        for status, cause, n in causes(results)[:_CAUSES]
    ]
    if reasons:
        title = f"Why the others have no verdict (of each corpus the {_CAUSES} most frequent causes)"
        made.append((title, ("corpus", "status", "cause", "rows"), reasons))
    return made


def page(found: Mapping[str, Sequence[Mapping[str, Any]]], command: str) -> str:
    """Return the report as Markdown."""
    lines = [f"- Machine: {machine()}", f"- Versions: {versions()}", f"- Command: `{command}`", ""]
    for title, headings, rows in tables(found):
        if title.startswith("Why"):  # for the terminal
            continue
        lines += [f"### {title}", "", "| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
        lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def written(text: str, report: str) -> str:
    """Return the text of a page with the report in its place."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise click.ClickException(f"the page has no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{report.strip()}\n\n{END}{after}"


def show(found: Mapping[str, Sequence[Mapping[str, Any]]], console: Console) -> None:
    for title, headings, rows in tables(found):
        table = Table(title=title, title_justify="left")
        for heading in headings:
            number = heading in COLUMNS
            table.add_column(heading, justify="right" if number else "left", no_wrap=heading != "cause")
        for row in rows:
            table.add_row(*(c.replace("[", r"\[") for c in row), style="red" if "WRONG" in title else None)
        console.print(table)


def _finish(found: Mapping[str, Sequence[Mapping[str, Any]]], write: bool, command: str) -> None:
    console = Console()
    show(found, console if console.is_terminal else Console(width=_WIDTH))
    if write:
        text = written(PAGE.read_text(encoding="utf-8"), page(found, command))
        PAGE.write_text(text, encoding="utf-8", newline="\n")


_WRITE = click.option("--write", is_flag=True, help="Write the report into docs/verdicts.md as well.")
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.group()
def main() -> None:
    """Count verdicts on claims, and time them."""


@main.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@_WRITE
def report(files: tuple[Path, ...], write: bool) -> None:
    """Print the report of files that `symgrad verify --batch` wrote."""
    found = {}
    for file in files:
        try:
            finished_ids(file)  # a file that a stopped batch left behind
        except UsageError as error:
            raise click.ClickException(str(error)) from None
        found[file.stem] = read_lines(file)
    _finish(found, write, "python -m benchmarks.verdicts report FILES")


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="Of results."
)
@click.option("--only", multiple=True, type=click.Choice(list(CORPORA)), help="This corpus (repeatable).")
@click.option("--sample", type=click.IntRange(1), help="At most so many claims of each, evenly spread.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True)
@click.option("--time-limit", type=float, default=10, show_default=True, help="Seconds for a claim.")
@click.option("--no-replay", is_flag=True, help="Do not have the proofs checked.")
@click.option(
    "--sympy", "peers", type=click.IntRange(0), default=0, help="So many of the rubi rows by SymPy too."
)
@click.option("--sympy-limit", type=float, default=20, show_default=True, help="Seconds for each of these.")
@_WRITE
def corpora(
    folder: Path,
    output: Path,
    only: tuple[str, ...],
    sample: int | None,
    jobs: int,
    time_limit: float,
    no_replay: bool,
    peers: int,
    sympy_limit: float,
    write: bool,
) -> None:
    """Decide the claims of the corpora in FOLDER, which may have some of them; results go to OUTPUT/NAME.jsonl.

    What is there already is not decided again, so a stopped run goes on.
    """
    files = {re.sub(r"_dev$", "", p.stem): p for p in sorted(folder.glob("*.jsonl"))}
    names = [name for name in CORPORA if name in files and (not only or name in only)]
    if not names:
        raise click.ClickException(
            f"'{folder}' has no corpus: looked for {', '.join(f'{n}.jsonl' for n in only or CORPORA)}"
        )
    decide = partial(decide_claim, replay=not no_replay)
    limits = Limits(time_limit, 5 if no_replay else 5 + time_limit)
    found: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        claims = spread(list(claims_of(name, read_lines(files[name]))), sample)
        found[name] = decided(name, claims, output, decide, jobs, limits)
        if name == "rubi" and peers:
            claims = spread(claims, peers)
            ids = {c["id"] for c in claims}
            found[f"{len(ids)} of them"] = [r for r in found[name] if r["id"] in ids]
            found[f"{len(ids)} by SymPy"] = decided(
                "rubi_by_sympy", claims, output, peer.decide, jobs, Limits(sympy_limit, margin=0)
            )
    options = f"--jobs {jobs} --time-limit {time_limit:g}"
    options += f" --sample {sample}" if sample else ""
    options += f" --sympy {peers} --sympy-limit {sympy_limit:g}" if peers else ""
    _finish(found, write, f"python -m benchmarks.verdicts corpora DIR -o OUTDIR {options}")


def spread(claims: Sequence[dict[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """Return at most so many, evenly spread."""
    if most is None or most >= len(claims):
        return list(claims)
    return [claims[k * len(claims) // most] for k in range(most)]


def decided(
    name: str,
    claims: Sequence[Mapping[str, Any]],
    output: Path,
    decide: Callable[[Mapping[str, Any], float], dict[str, Any]],
    jobs: int,
    limits: Limits,
) -> list[dict[str, Any]]:
    """Decide claims that have no result yet, and return the results of all."""
    asked, results = output / "claims" / f"{name}.jsonl", output / f"{name}.jsonl"
    asked.parent.mkdir(parents=True, exist_ok=True)
    asked.write_text("".join(json.dumps(c) + "\n" for c in claims), encoding="utf-8", newline="\n")
    done = finished_ids(results)
    todo = [row for row in read_rows(asked) if row.id not in done]
    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for _ in progress.track(run_rows(todo, decide, results, jobs=jobs, limits=limits), total=len(todo)):
            pass
    wanted = {c["id"] for c in claims}
    return [dict(r) for r in read_lines(results) if r["id"] in wanted]


if __name__ == "__main__":
    main()
