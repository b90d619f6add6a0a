"""Measure the largest errors of the functions of symgrad/llvm/maths, in units in the last place.

`python -m tools.accuracy [--points N] [--write] [NAME ...]` prints the table, or writes it to docs/accuracy.md. The
exact values are mpmath's with 200 bits; the points those of tests/llvm/maths_cases.py, of which the tests take fewer.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from symgrad.llvm.jit import Target
from tests.llvm.maths_cases import CASES, exact, kernel, sample, ulps

PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
MARK = "<!-- written by tools/accuracy.py -->"
VARIANTS = (("float64", None), ("float64", Target(16, fused=False)), ("float32", None))


def rows(names: Iterable[str], points: int) -> Iterator[str]:
    yield "| function | float64 | largest at | float64 without fused multiply-add | float32 |"
    yield "|---|---|---|---|---|"
    for name in names:
        worst: list[float] = []
        at = ""
        values: dict[str, tuple[tuple[np.ndarray, ...], tuple[np.ndarray, np.ndarray]]] = {}
        for dtype, target in VARIANTS:
            if dtype not in values:
                columns = sample(CASES[name], points, 7, dtype)
                values[dtype] = columns, exact(name, columns)
            columns, (high, low) = values[dtype]
            with np.errstate(all="ignore"):
                errors = ulps(kernel(name, dtype, target)(*columns), high, low)
            worst.append(float(np.max(errors)))
            at = at or ", ".join(repr(float(c[np.argmax(errors)])) for c in columns)
        yield f"| `{name}` | {worst[0]:.2f} | {at} | {worst[1]:.2f} | {worst[2]:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table: list[str] = []
    for row in rows(options.names or CASES, options.points):
        print(row, flush=True)
        table.append(row)
    if options.write:
        before, _, after = PAGE.read_text(encoding="utf-8").split(MARK)
        text = MARK.join([before, "\n" + "\n".join(table) + "\n", after])
        PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
