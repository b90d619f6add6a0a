"""At how many hard points derivatives and stable values have ten digits: in kernels, calls, and printed stable forms.

    python -m benchmarks.digits ROWS [--worst 20]

ROWS is a file of JSON lines, no part of the project: `declare`, `formula`, `order` of the derivative by the declared
variable, `at`, a value of the variable, and `exact`, the value to 25 digits. Of order 0 the stable form counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import symgrad as sg

__all__ = ["is_right", "main", "ways"]

_DIGITS = 1e-10
_SMALLEST = 1e-300


def ways(declare: str, formula: str, order: int) -> Mapping[str, Callable[[float], float]]:
    """Return the ways to compute a derivative, or the stable form of a value: functions of the variable.

    Example:
        >>> found = ways("x : positive", "log(1 - exp(-x))", 0)
        >>> {name: f"{compute(40.0):.3e}" for name, compute in found.items()}
        {'kernel': '-4.248e-18', 'call': '-4.248e-18', 'printed, stable': '-4.248e-18'}
    """
    name = declare.split()[0]
    program = sg.parse(f"{declare}\nL = {formula}")
    expr, variable = program["L"], program[name]
    for _ in range(order):
        expr = sg.grad(expr, variable)
    stable = expr.stable()
    text = stable.text(expand=True)  # long formulas are programs
    again = sg.parse(text if "\n" in text else f"{declare}\n{text}").last.stable()
    computed = expr if order else stable
    kernel = sg.compile(computed, [variable])
    assert isinstance(kernel, sg.Kernel)
    return {
        "kernel": lambda at: float(kernel(at)),
        "call": lambda at: float(computed(**{name: at})),
        "printed, stable": lambda at: float(again(**{name: at})),
    }


def is_right(value: float, exact: float) -> bool:
    """Tell whether a value has ten digits.

    Example:
        >>> is_right(1.0, 1.0 + 1e-12), is_right(1.0, 1.0 + 1e-9), is_right(float("nan"), 0.0)
        (True, False, False)
    """
    return value == exact or abs(value - exact) <= _DIGITS * max(abs(exact), _SMALLEST)


@click.command()
@click.argument("rows", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--worst", default=20, show_default=True, help="How many of the wrong rows to list.")
def main(rows: Path, worst: int) -> None:
    """Print how many rows are right in each way, for values and for derivatives, and which are wrong."""
    records: list[dict[str, Any]] = [
        json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()
    ]
    made: dict[tuple[str, str, int], Mapping[str, Callable[[float], float]]] = {}
    right: Counter[tuple[str, bool]] = Counter()
    wrong: list[tuple[str, ...]] = []
    for r in records:
        key = r["declare"], r["formula"], r["order"]
        if key not in made:
            made[key] = ways(*key)
        for way, compute in made[key].items():
            value = compute(r["at"])
            right[way, bool(r["order"])] += is_right(value, float(r["exact"]))
            if not is_right(value, float(r["exact"])):
                wrong.append(
                    (r["formula"], str(r["order"]), str(r["at"]), way, f"{value:.6g}", r["exact"][:12])
                )
    derivatives = sum(bool(r["order"]) for r in records)
    totals = Table(
        "way", "derivatives", "values", title=f"{len(records)} rows with ten digits", title_justify="left"
    )
    for way in dict.fromkeys(way for found in made.values() for way in found):
        values = len(records) - derivatives
        totals.add_row(way, f"{right[way, True]} of {derivatives}", f"{right[way, False]} of {values}")
    Console(width=120).print(totals)
    if wrong:
        table = Table("formula", "order", "at", "way", "found", "exact", title="Wrong", title_justify="left")
        for row in wrong[:worst]:
            table.add_row(*row)
        Console(width=120).print(table)


if __name__ == "__main__":
    main()
