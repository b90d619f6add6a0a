"""Measure the largest errors of the functions of symgrad/compiler/llvm/maths, in units in the last place.

`python -m tools.accuracy [--points N] [--write] [NAME ...]` prints the table, or writes it to docs/accuracy.md. The
exact values are Arb's, with 128 bits or more. The points are those of tests/compiler/llvm/maths_cases.py, of which the
tests use fewer: points drawn uniformly from intervals, points drawn over all powers of two, and hard points. At some of
these points, and where an error is largest, mpmath must compute the same value. A million points for each function take
some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symgrad.compiler.llvm.engine.target import Target
from tests.compiler.llvm.maths_cases import CASES, agree, exact, exact_in_mpmath, kernel, sample, ulps

PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
MARK = "<!-- written by tools/accuracy.py -->"
Columns = tuple[np.ndarray, ...]


AT_ONCE = 50_000
CHECKED = 100


@dataclass
class Worst:
    """The largest error so far, and where it is."""

    error: float = 0.0
    at: tuple[float, ...] = ()

    def take(self, errors: np.ndarray, columns: Columns) -> None:
        place = int(np.argmax(errors))
        if not self.at or errors[place] > self.error:
            self.error, self.at = float(errors[place]), tuple(c[place].item() for c in columns)


def largest(name: str, points: int, dtype: str, kernels: list[Callable[..., np.ndarray]]) -> list[Worst]:
    """The largest errors of kernels."""
    columns, worst = sample(CASES[name], points, 7, dtype), [Worst() for _ in kernels]
    for start in range(0, len(columns[0]), AT_ONCE):
        part = tuple(c[start : start + AT_ONCE] for c in columns)
        high, low = exact(name, part)
        if start == 0:
            check(name, tuple(c[:CHECKED] for c in part))
        with np.errstate(all="ignore"):
            for w, k in zip(worst, kernels, strict=True):
                w.take(ulps(k(*part), high, low), part)
    check(name, tuple(np.array(c, dtype) for c in zip(*(w.at for w in worst), strict=True)))
    return worst


def check(name: str, columns: Columns) -> None:
    """Compare with mpmath."""
    same = agree(exact(name, columns), exact_in_mpmath(name, columns))
    if not np.all(same):
        at = [c[np.argmin(same)].item() for c in columns]
        raise SystemExit(f"Arb and mpmath have different values of {name} at {at}")


def rows(names: Iterable[str], points: int) -> Iterator[str]:
    yield '| function | float64 | largest at | without fused multiply-add | `accuracy="fast"` | float32 |'
    yield "|---|---|---|---|---|---|"
    for name in names:
        of_double = [kernel(name), kernel(name, target=Target(16, fused=False)), kernel(name, fast=True)]
        double, *others = largest(name, points, "float64", of_double)
        others += largest(name, points, "float32", [kernel(name, "float32")])
        at = ", ".join(map(repr, double.at))
        yield f"| `{name}` | {double.error:.2f} | {at} | {' | '.join(f'{w.error:.2f}' for w in others)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--points", type=int, default=1_000_000)
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
