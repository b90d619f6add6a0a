"""How many planted mistakes are named, and how long that takes.

    python -m benchmarks.diagnosis [DIR] [--half 0|1] [--show 20]

Without a folder the claims are those of `planted_mistakes.toml` beside this file: derivatives, and equations of
algebra.
DIR is a folder with `wrong_claims_dev.jsonl`, and perhaps `right_claims_dev.jsonl`, whose rows have a `program`, `of`,
`wrt` and a `claim`; wrong ones a planted `mistake`, and in `also` those that give the same formula. The files are no
part of the project.
"""

from __future__ import annotations

import statistics
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import symgrad as sg
from benchmarks.claims import read_lines

__all__ = ["Measured", "main", "measured", "planted_claims"]

_PLANTED = Path(__file__).with_name("planted_mistakes.toml")


@dataclass(slots=True)
class Measured:
    """What came of the rows of one kind.

    Args:
        rows: how many there are.
        first: of how many the first diagnosis is the planted mistake, or one that gives the same formula.
        third: of how many one of the first three is.
        unknown: rows without any diagnosis.
        missed: rows whose first diagnosis is another one, with what was said.
        seconds: of each row, for the diagnosis alone.
    """

    rows: int = 0
    first: int = 0
    third: int = 0
    unknown: list[Mapping[str, Any]] = field(default_factory=list)
    missed: list[tuple[Mapping[str, Any], list[str]]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def planted_claims() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the wrong and the right claims that were written for this."""
    tables = tomllib.loads(_PLANTED.read_text(encoding="utf-8"))
    wrong: list[dict[str, Any]] = []
    right: list[dict[str, Any]] = []
    for table in tables["gradient"]:
        about = {key: table[key] for key in ("program", "of", "wrt")}
        for kinds, claim in table["wrong"]:
            mistake, *also = kinds.split("|")
            wrong.append(about | {"claim": claim, "mistake": mistake, "also": also})
        right += [about | {"claim": claim} for claim in table["right"]]
    for table in tables["algebra"]:
        for kinds, before, claim in table["wrong"]:
            mistake, *also = kinds.split("|")
            row = {"program": f"{table['declared']}; before = {before}", "claim": claim}
            wrong.append(row | {"mistake": mistake, "also": also})
        for before, claim in table["right"]:
            right.append({"program": f"{table['declared']}; before = {before}", "claim": claim})
    for k, row in enumerate([*wrong, *right]):
        row["id"] = f"planted/{k}"
    return wrong, right


def verdict_on(row: Mapping[str, Any]) -> sg.Verdict:
    program = sg.parse(row["program"])
    if "of" in row:
        return sg.verify(program[row["of"]], program[row["wrt"]], row["claim"])
    return sg.equal(program["before"], row["claim"])


def kinds_of(row: Mapping[str, Any]) -> tuple[list[str], float]:
    verdict = verdict_on(row)
    begun = time.perf_counter()
    found = list(dict.fromkeys(d.kind for d in verdict.diagnosis))
    return found, time.perf_counter() - begun


def measured(rows: Iterable[Mapping[str, Any]]) -> dict[str, Measured]:
    found: dict[str, Measured] = {}
    for row in rows:
        of_kind = found.setdefault(row["mistake"], Measured())
        kinds, seconds = kinds_of(row)
        wanted = {row["mistake"], *row["also"]}
        of_kind.rows += 1
        of_kind.first += bool(wanted.intersection(kinds[:1]))
        of_kind.third += bool(wanted.intersection(kinds[:3]))
        of_kind.seconds.append(seconds)
        if not kinds:
            of_kind.unknown.append(row)
        elif kinds[0] not in wanted:
            of_kind.missed.append((row, kinds))
    return found


def _printed(found: Mapping[str, Measured]) -> Table:
    table = Table("mistake", "rows", "first", "in three", "none", box=None)
    for kind, m in sorted(found.items()):
        table.add_row(kind, *map(str, (m.rows, m.first, m.third, len(m.unknown))))
    rows = sum(m.rows for m in found.values())
    shares = [
        f"{100 * sum(getattr(m, name) for m in found.values()) / rows:.1f} %" for name in ("first", "third")
    ]
    table.add_row("all", str(rows), *shares, str(sum(len(m.unknown) for m in found.values())))
    return table


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False)
@click.option("--half", type=click.Choice(["0", "1"]), help="Of the wrong claims every other one alone.")
@click.option("--show", type=int, default=0, help="How many that are not named to show.")
def main(folder: Path | None, half: str | None, show: int) -> None:
    console = Console(width=150)
    rows, right = planted_claims() if folder is None else _in_folder(folder)
    found = measured(rows if half is None else rows[int(half) :: 2])
    console.print(_printed(found))
    seconds = [s for m in found.values() for s in m.seconds]
    console.print(f"seconds for one: median {statistics.median(seconds):.3f}, most {max(seconds):.3f}")
    others = [(r, []) for m in found.values() for r in m.unknown] + [
        p for m in found.values() for p in m.missed
    ]
    for row, kinds in others[:show]:
        said = ", ".join(kinds) or "nothing"
        console.print(f"\n{row['id']}: {row['mistake']}, said {said}", highlight=False, markup=False)
        of = f"d{row['of']}/d{row['wrt']}" if "of" in row else "before"
        console.print(row["program"], f"{of} = {row['claim']}", sep="\n", highlight=False, markup=False)
    if right and half is None:
        told = Counter(bool(kinds_of(row)[0]) for row in right)
        console.print(f"right claims: {told.total()}, with a diagnosis: {told[True]}")
        sys.exit(bool(told[True]))


def _in_folder(folder: Path) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    right = folder / "right_claims_dev.jsonl"
    return read_lines(folder / "wrong_claims_dev.jsonl"), read_lines(right) if right.exists() else []


if __name__ == "__main__":
    main()
