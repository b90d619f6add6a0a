"""Shared operations: does the work grow with the number of equations, or with the size of the formula written out?"""

from __future__ import annotations

import random
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved, once, python

__all__ = ["chain", "run"]

INPUTS = 10
RECENT = 10
LIMIT_US = 40.0
SYMPY_CAP_S = 30.0


def chain(
    xs: list[Any], length: int, sin: Callable[[Any], Any], tanh: Callable[[Any], Any], seed: int = 0
) -> Any:
    """Return a chain of operations: each reads the last one, a sum or product one more of the recent ones."""
    choose = random.Random(seed)
    nodes = list(xs)
    for _ in range(length):
        last = nodes[-1]
        match choose.randrange(4):
            case 0:
                node = sin(last)
            case 1:
                node = tanh(last)
            case 2:
                node = last + choose.choice(nodes[-RECENT:])
            case _:
                node = last * choose.choice(nodes[-RECENT:])
        nodes.append(node)
    return nodes[-1]


def build(length: int) -> tuple[Any, list[Any], list[Any]]:
    xs = list(sg.symbols(" ".join(f"x{k}" for k in range(INPUTS))))
    y = chain(xs, length, sg.sin, sg.tanh)
    # An input that only operations outside the last ones read is one that grad refuses to know.
    read = list(y.inputs)
    return y, sg.grad(y, read), read


_SYMPY = """
import sys, time
sys.path.insert(0, ".")
import sympy
from benchmarks.chain import chain
xs = list(sympy.symbols(" ".join(f"x{{k}}" for k in range({inputs}))))
start = time.perf_counter()
y = chain(xs, {length}, sympy.sin, sympy.tanh)
gradient = [y.diff(x) for x in xs]
print(time.perf_counter() - start)
"""


def run(options: Options) -> Iterator[Row]:
    sizes = (300, 1_000) if options.quick else (300, 1_000, 10_000, 100_000)
    for length in sizes:
        options.step(f"chain of {length:,} operations")
        seconds = interleaved({"": lambda n=length: build(n)}, options.repeats(5))[""]
        yield Row(
            f"build and gradient, {length:,} operations", seconds / length * 1e6, "us/op", limit=LIMIT_US
        )
    length = sizes[-2]
    tracemalloc.start()
    held = build(length)
    yield Row(
        f"memory of value and gradient, {length:,} operations",
        tracemalloc.get_traced_memory()[0] / length,
        "B/op",
    )
    tracemalloc.stop()
    del held
    for length in sizes[:3]:
        options.step(f"compiling the chain of {length:,}")
        y, gradient, read = build(length)
        for effort, what in (("auto", ""), ("high", ", better code")):
            seconds = once(lambda y=y, g=gradient, r=read, e=effort: sg.compile([y, *g], inputs=r, effort=e))
            row = f"compile value and gradient{what}, {length:,} operations"
            yield Row(row, seconds / length * 1e6, "us/op")
    for length in (10, 20) if options.quick else (20, 40, 80, 160):
        options.step(f"SymPy on {length} operations")
        ours = interleaved({"": lambda n=length: build(n)}, options.repeats(5))[""]
        what = f"build and gradient, {length} operations"
        try:
            done = python(["-c", _SYMPY.format(inputs=INPUTS, length=length)], SYMPY_CAP_S)
        except subprocess.TimeoutExpired:
            note = f"SymPy: not done after {SYMPY_CAP_S:.0f} s"
            yield Row(what, ours / length * 1e6, "us/op", note=note)
            break
        peer = float(done.stdout) / length * 1e6
        yield Row(what, ours / length * 1e6, "us/op", "SymPy diff", peer)
