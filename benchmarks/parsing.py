"""Reading text: long sums and long programs."""

from __future__ import annotations

from collections.abc import Iterator

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved

__all__ = ["run"]


def flat_sum(terms: int) -> str:
    return "x : real\ny = " + " + ".join(f"{k}*x" for k in range(1, terms + 1))


def many_lines(lines: int) -> str:
    return "x : real\ny0 = x\n" + "".join(f"y{k} = sin(y{k - 1}) + x\n" for k in range(1, lines + 1))


def run(options: Options) -> Iterator[Row]:
    sizes = (1_000, 2_000) if options.quick else (10_000, 100_000)
    for size in sizes:
        texts = {"term of a flat sum": flat_sum(size), "line of a program": many_lines(size)}
        for what, text in texts.items():
            options.step(f"parsing, {size:,} x {what}")
            seconds = interleaved({"": lambda text=text: sg.parse(text)}, options.repeats(3))[""]
            unit = "us/" + what.split()[0]
            yield Row(f"parse, each {what} of {size:,}", seconds / size * 1e6, unit)
