"""A cold process: from nothing to a compiled gradient of the demo program."""

from __future__ import annotations

import re
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved, python

__all__ = ["DEMO", "run"]

DEMO = """
x : real
u ~ Uniform(0.9, 1.1)
y = x**2
yu = y*u
z = sqrt(yu)
"""

LIMIT_COLD = 1.0
LIMIT_COMPILE_MS = 25.0

_WORK = f"""
import symgrad as sg
p = sg.parse({DEMO!r})
g = sg.grad(p["z"], p["x"])
"""
_COLD = _WORK + 'k = sg.compile([p["z"], g])\n'
_PEER = "import sympy, numpy, llvmlite.binding"
_FIRST = (
    "import time, symgrad.compiler.kernels.compile, symgrad.rewrite.pipeline, symgrad.rewrite.choice.samples"
    + _WORK
    + 'start = time.process_time()\nsg.compile([p["z"], g])\nprint(time.process_time() - start)'
)
_PHASES = f"""
import time
t = [time.perf_counter()]
import symgrad as sg
p = sg.parse({DEMO!r}); t.append(time.perf_counter())
g = sg.grad(p["z"], p["x"]); t.append(time.perf_counter())
k = sg.compile([p["z"], g]); t.append(time.perf_counter())
print(*(b - a for a, b in zip(t, t[1:])))
"""


def wall(code: str) -> float:
    start = time.perf_counter()
    python(["-c", code])
    return time.perf_counter() - start


def imports(code: str) -> dict[str, float]:
    """Return the seconds that importing each top-level package takes by itself, from -X importtime."""
    total: dict[str, float] = defaultdict(float)
    for line in python(["-X", "importtime", "-c", code]).stderr.splitlines():
        if found := re.match(r"import time:\s+(\d+) \|\s+\d+ \|\s*([\w.]+)", line):
            total[found[2].split(".")[0]] += int(found[1]) / 1e6
    return dict(sorted(total.items(), key=lambda item: -item[1]))


def run(options: Options) -> Iterator[Row]:
    repeats = 2 if options.quick else 11
    options.step("cold processes, in turns")
    for code in (_COLD, _PEER):
        wall(code)  # the disk's cache is not what is measured
    ours: list[float] = []
    peer: list[float] = []
    for _ in range(repeats):
        ours.append(wall(_COLD))
        peer.append(wall(_PEER))
    yield Row(
        "cold process: import, parse, gradient, compile",
        statistics.median(ours) * 1e3,
        "ms",
        _PEER,
        statistics.median(peer) * 1e3,
        LIMIT_COLD,
    )
    options.step("where the time of a cold process goes")
    phases = [[float(x) for x in python(["-c", _PHASES]).stdout.split()] for _ in range(repeats)]
    for name, seconds in zip(
        ("import and parse", "gradient", "compile"), zip(*phases, strict=True), strict=True
    ):
        yield Row(f"cold process, of that: {name}", statistics.median(seconds) * 1e3, "ms")
    top = list(imports(_COLD).items())[:5]
    yield Row(
        "cold process, of that: all imports, under -X importtime",
        sum(imports(_COLD).values()) * 1e3,
        "ms",
        note=", ".join(f"{name} {seconds * 1e3:.0f}" for name, seconds in top),
    )

    options.step("compiling the demo program")
    first = [float(python(["-c", _FIRST]).stdout) for _ in range(repeats)]
    yield Row(
        "compile of the demo kernel, the first in a process, without imports",
        statistics.median(first) * 1e3,
        "ms",
        limit=LIMIT_COMPILE_MS,
    )
    p = sg.parse(DEMO)
    g = sg.grad(p["z"], p["x"])
    sg.compile([p["z"], g])
    again = interleaved({"": lambda: sg.compile([p["z"], g])}, options.repeats(21))[""]
    yield Row("compile of the demo kernel, again", again * 1e3, "ms", limit=LIMIT_COMPILE_MS)
