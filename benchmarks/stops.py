"""What is asked about stop_gradients and noise in a graph of a thousand equations: processor time against limits."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count

import symgrad as sg
from benchmarks.measure import Options, Row, once

__all__ = ["noise_of", "program", "run"]

_FORMS = ("sin({0})", "{0} + {1}", "tanh({0})", "{0}*{1}", "cos({1}) + {0}")

# The last line, and of how many lines one is stopped and has noise: 0 for none.
_ENDS = {
    ("y = f + h*v", 0): "one stop_gradient",
    ("y = f*u + stop_gradient(f)", 0): "a stop_gradient that must be moved",
    ("y = sqrt(stop_gradient(f**2*u - f**2) + f**2)", 0): "no place suffices",
    ("y = f", 12): "noise and a stop_gradient in every twelfth line, two searches",
}


def program(lines: int, end: str, start: int = 1, every: int = 0) -> sg.Expr:
    """Return a chain of lines, each of which reads two before it.

    Args:
        lines: how many.
        end: the last line, ``y = ...``; ``f`` is what the chain ends in, ``h`` twice the middle, ``u`` and ``v`` noise.
        start: a number, for a program of which nothing is remembered.
        every: of how many lines one is stopped and multiplied by noise, beside a path that is not; 0 for none.
    """
    text = ["x : real", "u ~ Uniform(0.9, 1.1)", "v ~ Normal(0, 1)", f"a0 = {start}*x"]
    for k in range(1, lines):
        line = _FORMS[k % 5].format(f"a{k - 1}", f"a{max(0, k - 3)}")
        held = every and k % every == 0
        text.append(f"a{k} = stop_gradient({line})*u + a{k - 1}" if held else f"a{k} = {line}")
    return sg.parse("\n".join([*text, f"h = 2*a{lines // 2}", f"f = tanh(a{lines - 1})", end]))["y"]


# What is asked of a value, and the seconds that it may take: `explain` is the measure of the others.
_QUESTIONS: Mapping[str, tuple[Callable[[sg.Expr], object], float | None]] = {
    "explain": (lambda y: str(sg.explain(y, "x")), None),
    "audit": (lambda y: sg.audit(y, "x"), 2),
    "lint": (lambda y: sg.lint(y, "x", noise=noise_of(y)), 5),
    "placement": (lambda y: sg.placement(y, "x", noise_of(y)), 5),
}


def noise_of(y: sg.Expr) -> list[str]:
    return [str(s.name) for s in y.inputs if s.name != "x"]


def run(options: Options) -> Iterator[Row]:
    lines = 60 if options.quick else 840
    starts = count(1)  # nothing is remembered of a program with another number
    for (end, every), what in _ENDS.items():
        size = f"{len(program(lines, end, 0, every).equations):,} equations, {what}"
        for name, (ask, limit) in _QUESTIONS.items():
            options.step(f"stops, {what}: {name}")
            ask(program(15, end, 0, every))
            fresh = [program(lines, end, next(starts), every) for _ in range(options.repeats(3))]
            seconds = statistics.median(once(partial(ask, y)) for y in fresh)
            yield Row(f"{name}, {size}", seconds, "s", limit=limit)
