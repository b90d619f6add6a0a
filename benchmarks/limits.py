"""What each limit costs, and what it gives: the same work with half of it, and with twice as much.

    python -m benchmarks.limits DIR [--only symgrad.verification] [--write]

DIR is a folder with some of the corpora that `benchmarks/claims.py` knows; they are no part of the project. The work is
claims of these, and explanations of the programs in `examples/programs`. `--write` puts the table into docs/limits.md.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from benchmarks.measure import ROOT, python

__all__ = ["Limit", "limits_of", "main"]

PACKAGES = ("symgrad.verification", "symgrad.checker", "symgrad.analysis.explain", "symgrad.pretty")
PAGE = ROOT / "docs" / "limits.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
_EXPLAINED = ("symgrad.analysis.explain", "symgrad.pretty")
_EVERY = {"rubi": 86, "right_claims": 9, "wrong_claims": 38, "matrix_identities": 3}
_SECONDS = 10.0
_FACTORS = (0.5, 2.0)
_TABLE = ("| limit | value | with half of it | with twice of it |", "|---|---|---|---|")
_KEY = ("package", "name", "factor")
_CHANGED = 0.5  # of the time: on a busy machine, runs of the same work differ by as much as a third


@dataclass(frozen=True, slots=True)
class Limit:
    """A row of a table of limits.

    Attributes:
        package: whose table.
        name: of the constant.
        value: what it is now.
        bounds: what it bounds, in words.
    """

    package: str
    name: str
    value: float
    bounds: str

    def times(self, factor: float) -> float:
        """Return a multiple, a whole number where the limit is one, and not 0."""
        if isinstance(self.value, int):
            return max(1, round(self.value * factor))
        return self.value * factor


def limits_of(package: str) -> Iterator[Limit]:
    """Yield the limits in a package's table, read from its text: a number, and what it bounds below it.

    Args:
        package: its name, as `symgrad.verification`.
    """
    body = ast.parse((ROOT / package.replace(".", "/") / "limits.py").read_text(encoding="utf-8")).body
    for line, below in itertools.pairwise(body):
        match line, below:
            case ast.Assign(targets=[ast.Name(name)], value=value), ast.Expr(ast.Constant(str(text))):
                number = eval(compile(ast.Expression(value), package, "eval"), {})
                if isinstance(number, int | float):
                    yield Limit(package, name, number, text.split("\n\n")[0].replace("\n", " "))
            case _:
                pass


def _claims(folder: Path) -> Iterator[dict[str, Any]]:
    from benchmarks.claims import claims_of, read_lines

    for corpus, every in _EVERY.items():
        for path in sorted(folder.glob(f"{corpus}_dev.jsonl")):
            yield from list(claims_of(corpus, read_lines(path)))[::every]


def _work(folder: Path, package: str) -> dict[str, str]:
    """Do the work, and return its results by name."""
    found: dict[str, str] = {}
    if package in _EXPLAINED:
        import symgrad as sg
        from symgrad.errors import SymgradError

        for path in sorted((ROOT / "examples" / "programs").glob("*.sg")):
            program = sg.parse(path.read_text(encoding="utf-8"))
            for name in list(program.inputs)[:1]:
                try:
                    text = str(sg.explain(program.last, str(name)))
                except SymgradError as error:
                    text = str(error)
                found[f"{path.stem} by {name}"] = hashlib.sha256(text.encode()).hexdigest()
        return found
    from symgrad.api.claims.batch_rows import decide_claim

    for row in _claims(folder):
        found[row["id"]] = decide_claim(row, _SECONDS)["status"]
    return found


def _child(folder: str, package: str, name: str, value: str) -> None:
    """Set one limit before anyone reads it, do the work, and print what came of it."""
    if name:
        table = import_module(f"{package}.limits")
        readers = [m for m in sys.modules if m.startswith(f"{package}.") and m != f"{package}.limits"]
        assert not readers, readers
        setattr(table, name, json.loads(value))
    start = time.process_time()
    found = _work(Path(folder), package)
    print(json.dumps({"seconds": time.process_time() - start, "found": found}))


def _measured(folder: Path, limit: Limit, factor: float) -> dict[str, Any]:
    value = json.dumps(limit.times(factor))
    arguments = ["-m", "benchmarks.limits", "--child", str(folder), limit.package, limit.name, value]
    return json.loads(python(arguments, timeout=3600).stdout.splitlines()[-1])


def _told(usual: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Say how results and time differ from the usual ones."""
    before, after = usual["found"], other["found"]
    changed = [k for k in before if before[k] != after[k]]
    if changed and "proved" in before.values():
        counts = Counter(f"{before[k]}, now {after[k]}" for k in changed)
        parts = [f"{count} {change}" for change, count in counts.items()]
    else:
        parts = [f"{len(changed)} text{'s differ' if len(changed) > 1 else ' differs'}"] * bool(changed)
    ratio = other["seconds"] / usual["seconds"]
    if abs(ratio - 1) > _CHANGED:
        parts.append(f"{ratio:.2g} of the time")
    return ", ".join(parts) or "the same"


def _page(limits: Sequence[Limit], measured: Mapping[tuple[str, str, float], Mapping[str, Any]]) -> str:
    """Return a table for each package; limits that change nothing stand in a line."""
    lines: list[str] = []
    for package in dict.fromkeys(limit.package for limit in limits):
        runs = [measured[package, "", f] for f in _FACTORS]
        others = [m["seconds"] for (p, name, _), m in measured.items() if p == package and name]
        usual = {**runs[0], "seconds": statistics.median(others)}
        told = {
            m: [_told(usual, measured[package, m.name, f]) for f in _FACTORS]
            for m in limits
            if m.package == package
        }
        same = [m for m, texts in told.items() if set(texts) == {"the same"}]
        rows = [f"| `{m.name}` | {m.value:,} | {t[0]} | {t[1]} |" for m, t in told.items() if m not in same]
        lines += [
            f"### `{package}`",
            "",
            f"{len(usual['found'])} results in {usual['seconds']:.1f} s. "
            f"Times that differ by less than {_CHANGED:.0%} count as the same.",
            "",
            *(_TABLE if rows else ()),
            *rows,
            *([""] if rows else ()),
            "These limits change nothing, neither half nor twice as large: "
            f"{', '.join(f'`{m.name}` ({m.value:,})' for m in same)}.",
            "",
        ]
    return "\n".join(lines)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", multiple=True, type=click.Choice(PACKAGES), help="this package (repeatable)")
@click.option(
    "--kept",
    type=click.Path(path_type=Path),
    default=ROOT / "build" / "limits.jsonl",
    help="what was measured",
)
@click.option("--write", is_flag=True, help=f"write {PAGE.relative_to(ROOT)} as well")
def main(folder: Path, only: tuple[str, ...], kept: Path, write: bool) -> None:
    """Measure what half and twice of each limit change; what is in the file already is not measured again."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.touch()
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    measured = {(m["package"], m["name"], m["factor"]): m for m in lines}
    console = Console(width=150)
    limits = [limit for package in only or PACKAGES for limit in limits_of(package)]
    usual = [Limit(package, "", 1, "") for package in dict.fromkeys(limit.package for limit in limits)]
    trials = [(u, f) for u in usual for f in _FACTORS] + [(limit, f) for limit in limits for f in _FACTORS]
    with kept.open("a", encoding="utf-8") as file:
        for limit, factor in track(trials, "work with half and twice of each", console=console):
            key = limit.package, limit.name, factor
            if key not in measured:
                measured[key] = {**_measured(folder, limit, factor), **dict(zip(_KEY, key, strict=True))}
                file.write(json.dumps(measured[key]) + "\n")
                file.flush()
    text = _page(limits, measured)
    console.print(text)
    if write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(*sys.argv[2:6])
    else:
        main()
