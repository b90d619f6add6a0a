"""How many bits of floating-point formulas and of their gradients are wrong, as written and in stable form.

    python -m benchmarks.stability ROWS REFS [--worst 20] [--only TEXT] [-o RESULTS]

ROWS and REFS are files of JSON lines, no part of the project: formulas (`id`, `args`, `f`, and `box`: the ends of every
variable, null for none), and points of them (`id`, `point`) with values of `f` and `grad` to 25 digits. The
error of a value is log2(1 + ulps), 64 at most; a value that is not a number has 64 where the reference has one.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import symgrad as sg
from symgrad.api.handles.expr import handle
from symgrad.api.kernels.compile import arrange_nodes
from symgrad.ir.graph import Node, symbol
from symgrad.ir.types import Declaration, Domain
from symgrad.ir.values.evaluate import evaluate

__all__ = ["Measured", "bits", "main", "measure"]

FORMS = ("f as written", "f stable", "grad raw", "grad canonical", "grad compiled")
# What a form may not be worse than.
BEFORE = {"f stable": "f as written", "grad canonical": "grad raw", "grad compiled": "grad raw"}
_MOST = 64.0


def bits(value: float, reference: str) -> float:
    """Return the error of a float against an exact value, log2(1 + ulps).

    Example:
        >>> bits(1.0, "1"), bits(1.0 + 2**-52, "1"), bits(math.nan, "1"), bits(math.inf, "1e400")
        (0.0, 1.0, 64.0, 0.0)
    """
    nearest = float(reference)
    # Beyond the range the text may have an exponent of millions, which no fraction should be made of.
    exact = Fraction(0) if math.isinf(nearest) or not nearest else Fraction(reference)
    if value == nearest:
        return 0.0 if math.isinf(nearest) else _of(abs(Fraction(value) - exact), nearest)
    if not (math.isfinite(value) and math.isfinite(nearest)):
        return _MOST
    return _of(abs(Fraction(value) - exact), nearest)


def _of(error: Fraction, nearest: float) -> float:
    ulps = 1 + error / Fraction(math.ulp(nearest))
    return math.log2(ulps) if ulps < 2**64 else _MOST


@dataclass(slots=True)
class Measured:
    """The errors of one row: of each form, in the order of the points (and of the variables)."""

    name: str
    text: str
    errors: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0

    def mean(self, form: str) -> float:
        return statistics.fmean(self.errors[form])

    def worst(self, form: str) -> float:
        return max(self.errors[form])

    def worse(self, form: str, than: str) -> float:
        """By how many bits a form is worse at the point where it is worst against another."""
        return max(a - b for a, b in zip(self.errors[form], self.errors[than], strict=True))


def _formula(row: Mapping[str, Any]) -> tuple[sg.Expr, dict[str, sg.Expr]]:
    """Read a formula, with its box as the domain of its variables, ends included."""
    names = list(row["args"])
    program = sg.parse("".join(f"{n} : real\n" for n in names) + row["f"])
    boxed: dict[str, sg.Expr] = {}
    for name in names:
        low, high = (
            None if end is None else Fraction(str(end)) for end in row["box"].get(name, (None, None))
        )
        domain = Domain("real", "real", low, high, closed=True)
        boxed[name] = handle(symbol(Declaration(name, domain)))
    read = {i.name for i in program.last.inputs}
    return program.last.subs({n: e for n, e in boxed.items() if n in read}), boxed


def measure(row: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> Measured:
    """Evaluate a formula and its gradient in every form at points with known values."""
    f, inputs = _formula(row)
    wrt = [n for n in inputs if n in points[0]["grad"]]
    values = {e.node: np.array([float(p["point"][n]) for p in points]) for n, e in inputs.items()}
    started = time.process_time()
    stable = f.stable()
    seconds = time.process_time() - started
    raw = [sg.grad(f, inputs[n]) for n in wrt]
    compiled = list(arrange_nodes([f, *raw]).nodes[1:])
    found = Measured(row["id"], str(f), seconds=seconds)
    found.texts["f stable"] = str(stable)
    of_f, of_grad = [p["f"] for p in points], [p["grad"][n] for n in wrt for p in points]
    forms: dict[str, tuple[list[Node], list[str]]] = {
        "f as written": ([f.node], of_f),
        "f stable": ([stable.node], of_f),
        "grad raw": ([g.node for g in raw], of_grad),
        "grad canonical": ([g.canonical().node for g in raw], of_grad),
        "grad compiled": (compiled, of_grad),
    }
    for form, (nodes, references) in forms.items():
        if form.startswith("grad"):
            found.texts[form] = "; ".join(str(handle(n)) for n in nodes)
        results = evaluate(nodes, values)
        flat = [float(v) for r in results for v in np.broadcast_to(r, (len(points),))]
        found.errors[form] = [bits(v, r) for v, r in zip(flat, references, strict=True)]
    return found


def tables(
    found: Sequence[Measured], worst: int
) -> Iterable[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Return the report: titles, headings and rows of text."""
    rows: list[tuple[str, ...]] = []
    for form in FORMS:
        means, tops = [m.mean(form) for m in found], [m.worst(form) for m in found]
        cells = [statistics.fmean(means), statistics.median(means), statistics.median(tops), max(tops)]
        every = [e for m in found for e in m.errors[form]]
        bad = sum(e > 8 for e in every)
        before = BEFORE.get(form)
        by_rows = str(sum(m.mean(form) > m.mean(before) + 1 for m in found)) if before else ""
        by_values = str(sum(_worse_values(m, form, before) for m in found)) if before else ""
        rows.append((form, *(f"{c:.2f}" for c in cells), f"{bad:,} of {len(every):,}", by_rows, by_values))
    headings = (
        "form",
        "mean",
        "median row",
        "median of worst",
        "worst",
        "over 8 bits",
        "rows worse",
        "values worse",
    )
    yield f"Bits of error, {len(found)} rows", headings, rows
    for form, than in BEFORE.items():
        ranked = sorted(found, key=lambda m: -m.worse(form, than))[:worst]
        cells = [
            (
                m.name,
                f"{m.mean(than):.2f} -> {m.mean(form):.2f}",
                f"{m.worst(than):.2f} -> {m.worst(form):.2f}",
                f"{m.worse(form, than):+.2f}",
            )
            for m in ranked
            if m.worse(form, than) > 0
        ]
        yield f"Where '{form}' is worst against '{than}'", ("row", "mean", "worst", "one value"), cells
    slow = sorted((m.seconds for m in found), reverse=True)
    headings = ("median ms", "95 % ms", "max ms")
    times = (statistics.median(slow), slow[len(slow) // 20], slow[0])
    yield "Time of .stable()", headings, [tuple(f"{1e3 * t:.1f}" for t in times)]


def _worse_values(found: Measured, form: str, than: str) -> int:
    return sum(a > b + 1 for a, b in zip(found.errors[form], found.errors[than], strict=True))


_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command()
@click.argument("rows", type=_FILE)
@click.argument("refs", type=_FILE)
@click.option("--worst", default=12, show_default=True, help="How many of the worst rows to list.")
@click.option("--only", help="The rows whose id contains this.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="All errors as JSON lines."
)
def main(rows: Path, refs: Path, worst: int, only: str | None, output: Path | None) -> None:
    """Print how many bits are wrong in every form, and where a form is worse than the one before."""
    points: dict[str, list[dict[str, Any]]] = {}
    for line in refs.read_text(encoding="utf-8").splitlines():
        reference = json.loads(line)
        points.setdefault(reference["id"], []).append(reference)
    records = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    chosen = [r for r in records if r["id"] in points and (only is None or only in r["id"])]
    found = [measure(row, points[row["id"]]) for row in chosen]
    if not found:
        raise click.ClickException("there is no row with points")
    if output is not None:
        lines = [json.dumps({"id": m.name, "f": m.text, "texts": m.texts, "errors": m.errors}) for m in found]
        output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    console = Console(width=120)
    for title, headings, cells in tables(found, worst):
        table = Table(title=title, title_justify="left")
        for k, heading in enumerate(headings):
            table.add_column(heading, justify="left" if k == 0 else "right")
        for row in cells:
            table.add_row(*row)
        console.print(table)


if __name__ == "__main__":
    main()
