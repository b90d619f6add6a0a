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

_ENDS = {
    "y = f + h*v": "one stop_gradient",
    "y = f*u + stop_gradient(f)": "one that is moved",
    "y = sqrt(stop_gradient(f**2*u - f**2) + f**2)": "none will do",
}


def program(lines: int, end: str, start: int = 1) -> sg.Expr:
    """Return a chain of lines, each of which reads two before it.

    Args:
        lines: how many.
        end: the last line, ``y = ...``; ``f`` is what the chain ends in, ``h`` twice the middle, ``u`` and ``v`` noise.
        start: a number, for a program of which nothing is remembered.
    """
    text = ["x : real", "u ~ Uniform(0.9, 1.1)", "v ~ Normal(0, 1)", f"a0 = {start}*x"]
    text += [f"a{k} = " + _FORMS[k % 5].format(f"a{k - 1}", f"a{max(0, k - 3)}") for k in range(1, lines)]
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
    for end, what in _ENDS.items():
        size = f"{len(program(lines, end, 0).equations):,} equations, {what}"
        for name, (ask, limit) in _QUESTIONS.items():
            options.step(f"stops, {what}: {name}")
            ask(program(5, end))
            fresh = [program(lines, end, next(starts)) for _ in range(options.repeats(3))]
            seconds = statistics.median(once(partial(ask, y)) for y in fresh)
            yield Row(f"{name}, {size}", seconds, "s", limit=limit)
