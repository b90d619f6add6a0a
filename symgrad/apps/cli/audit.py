"""The command `symgrad audit`: the effect of random inputs on a gradient."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click
import numpy as np

import symgrad
from symgrad.apps.cli.functions import FRAMEWORK, SPECS, read_expression
from symgrad.apps.cli.inputs.values import read_values
from symgrad.apps.cli.main import main
from symgrad.apps.cli.options import OF, OUTPUT, WRT, emit, format_option, targets
from symgrad.report.blocks import Column, Heading, Table, prose
from symgrad.report.report import Report
from symgrad.support.progress import reports_progress

if TYPE_CHECKING:
    from symgrad.interop.importers.code.frameworks import FrameworkName


_EXAMPLES = """
\b
symgrad audit model.sg --of loss --wrt w
symgrad audit model.sg --reference 'expected value' x=2.0
symgrad audit model.sg --format json -o audit.json
symgrad audit train.py::loss --specs 'w : real[5]; x : real[n, 5]; u ~ Uniform(0.9, 1.1)' --wrt w
"""


@main.command(epilog=_EXAMPLES)
@click.argument("source", metavar="SOURCE|FILE.py::FUNCTION")
@SPECS
@OF
@click.argument("values", nargs=-1, metavar="[NAME=VALUE]...")
@WRT
@click.option(
    "--reference",
    type=click.Choice(["noise at its mean", "expected value"]),
    default="noise at its mean",
    show_default=True,
    help="What the mean of the gradient is held against.",
)
@click.option(
    "--samples", type=click.IntRange(2), default=2**18, show_default=True, help="Draws of an estimate."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of these draws.")
@FRAMEWORK
@format_option("text", "markdown", "latex", "html", "json")
@OUTPUT
def audit(
    source: str,
    specs: str | None,
    values: tuple[str, ...],
    of: str | None,
    wrt: str | None,
    reference: str,
    samples: int,
    seed: int,
    framework: FrameworkName | None,
    form: str,
    output: Path | None,
) -> None:
    """Tell what random inputs make of a gradient: whether they enter it, its mean, variance and bias.

    With a value for every input that is not random, as in x=2.0, the moments are also told in numbers, with the
    interval in which they lie and the method.

    A program is a program file, an expression, or - for standard input; or a function of JAX, torch, TensorFlow, Keras
    or NumPy in a file of Python's, FILE.py::FUNCTION, whose random arguments --specs declares. That file is imported.
    """
    with reports_progress("cli", "reading"):
        y = read_expression(source, of, specs, framework)
    by = targets(y, wrt)
    with reports_progress("cli", "averaging"):
        found = symgrad.audit(
            y,
            by if len(by) > 1 else by[0],
            cast('Literal["noise at its mean", "expected value"]', reference),
            samples=samples,
            seed=seed,
        )
        report: dict[str, Any] = found.json() if form == "json" else {"text": str(found)}
        numbers = found.at(**read_values(values, y.inputs)) if values else {}
    if form in ("markdown", "latex", "html"):
        emit(_with_numbers(found.report(), values, numbers, by).written(form), output)
        return
    if form == "json":
        report |= {"at": {name: _plain(m) for name, m in numbers.items()}} if numbers else {}
        emit(json.dumps(report, indent=2), output)
        return
    lines = [report["text"]]
    if numbers:
        lines += ["", f"at {', '.join(values)}"]
        lines += [f"  {row[0].ljust(14)} {row[1]}  in {row[2]}  ({row[3]})" for row in _rows(numbers, by)]
    emit("\n".join(lines), output)


def _rows(numbers: dict[str, Any], by: Sequence[symgrad.Expr]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the label, the value, the interval and the method of each moment."""
    for name, each in numbers.items():
        for k, m in enumerate(cast("list[Any]", each) if isinstance(each, list) else [each]):
            label = f"{name} by {by[k]}" if isinstance(each, list) else name
            yield label, _shown(m.value), f"[{_shown(m.low)}, {_shown(m.high)}]", m.how


def _with_numbers(
    report: Report, values: Sequence[str], numbers: dict[str, Any], by: Sequence[symgrad.Expr]
) -> Report:
    """Add a table of the moments at numbers to a report."""
    if not numbers:
        return report
    rows = tuple(tuple(map(prose, row)) for row in _rows(numbers, by))
    columns = (Column("moment"), Column("value", number=True), Column("in"), Column("known by"))
    table = Table(f"At {', '.join(values)}", columns, rows)
    return replace(report, blocks=(*report.blocks, Heading("At numbers"), table))


def _shown(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=6, separator=", ")


def _plain(found: Any) -> Any:
    if isinstance(found, list):
        return [_plain(m) for m in cast("list[Any]", found)]
    numbers = {name: np.asarray(getattr(found, name)).tolist() for name in ("value", "low", "high")}
    return {**numbers, "how": found.how, "notes": list(found.notes)}
