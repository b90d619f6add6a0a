"""Derivations: what the steps pass on adds up to the gradient, as printed."""

from __future__ import annotations

import random
import re
from typing import Any

import mpmath
import numpy as np

import symgrad as sg
from tests.fuzz.kind import kind

_LINES = (
    "where({a} > {c}, {b}**2, sin({a}))",
    "where({a}*{b} > 0, sqrt({a}*{b}), {c}*{a})",
    "where({b} < {c}, log({a} + 3), where({a} > 0, {a}**1.5, {b}))",
    "maximum({a}, {b}*{c})",
    "minimum({a}**2, {b}) + abs({c})",
    "{a}**{b}",
    "relu({a} - {b})*{c}",
    "{a}*{b} + cos({c})",
    "{a}/(1 + {b}**2)",
    "exp({a})*stop_gradient({b}) - {c}",
    "clip({a}, -1, {b})",
)


@kind("derivations")
def steps_add_up(rng: random.Random) -> None:
    names = ["x", "y"]
    text = ["x, y : real"]
    for k in range(rng.randint(1, 4)):
        a, b, c = (rng.choice([*names[-3:], "0.5"]) for _ in range(3))
        text.append(f"t{k} = " + rng.choice(_LINES).format(a=a, b=b, c=c))
        names.append(f"t{k}")
    program = sg.parse("\n".join(text))
    found = sg.explain(program.last, program["x"])
    printed = [step.produced for step in found.steps if step.target == "x"]
    if any("…" in p for p in printed):
        return
    # The printed steps are in names of the program: read them where these are defined.
    total = sg.parse("\n".join([*text, " + ".join([f"({p})" for p in printed] or ["0*x"])])).last
    for _ in range(3):
        point = {name: rng.uniform(-2, 2) for name in ("x", "y")}
        slope = slope_of(text[1:], point)
        if slope is None:
            continue
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(total(**point), slope, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found.gradient[0](**point), slope, rtol=1e-9, atol=1e-12)


def slope_of(lines: list[str], point: dict[str, float], by: str = "x") -> float | None:
    """The derivative of the last line, as a difference; None where a value is not real, or has no slope."""
    mp = mpmath.MPContext()
    mp.dps = 60
    step = mp.mpf(10) ** -25
    x = mp.mpf(point[by])
    try:
        here, *around = (_value(mp, lines, point, by, x + k * step) for k in (0, 1, -1))
    except (ArithmeticError, ValueError, TypeError):  # what has no order is complex
        return None
    if not all(isinstance(v, mp.mpf) and mp.isfinite(v) for v in (here, *around)):
        return None
    right, left = around[0] - here, here - around[1]
    # A second difference is as small as the square of the step, but for kinks, jumps and what is as steep.
    if abs(right - left) > 1e-15 * max(abs(right), abs(left), step):
        return None
    return float((right + left) / (2 * step))


def value_of(lines: list[str], point: dict[str, float]) -> float | None:
    """The value of the last line; None where it is not real."""
    mp = mpmath.MPContext()
    mp.dps = 60
    try:
        found = _value(mp, lines, point, "x", mp.mpf(point["x"]))
    except (ArithmeticError, ValueError, TypeError):
        return None
    return float(found) if isinstance(found, mp.mpf) and mp.isfinite(found) else None


def _value(mp: Any, lines: list[str], point: dict[str, float], by: str, x: Any) -> Any:
    """The last line where one input has another value, but for what a stop holds, which keeps that at the point."""

    def power(base: Any, exponent: Any) -> Any:
        """A power, but where the chain rule has none to offer: at zero, by a slope that is infinite there."""
        if base == 0 and exponent < 1:
            raise ValueError("no slope")
        return base**exponent

    functions = {
        "power": power,
        "where": lambda c, a, b: a if c else b,
        "maximum": max,
        "minimum": min,
        "relu": lambda a: max(a, mp.zero),
        "clip": lambda a, low, high: min(max(a, low), high),
        "abs": lambda a: max(a, -a),  # complex numbers, which have no order, have none here
        **{name: getattr(mp, name) for name in ("sqrt", "sin", "cos", "exp", "log")},
    }
    numbers = {name: mp.mpf(value) for name, value in point.items()}
    held = functions | numbers
    moved = functions | numbers | {by: x}
    for line in lines:
        name, formula = line.split(" = ")
        formula = re.sub(r"([\w.]+)\*\*([\w.]+)$", r"power(\1, \2)", formula)
        formula = re.sub(r"\b(\d+(?:\.\d+)?)\b", r"mpf('\1')", formula)
        formula = re.sub(r"stop_gradient\((\w+)\)", r"held['\1']", formula)
        values = []
        for scope in (held, moved):
            known = {**scope, "held": held, "mpf": mp.mpf, "stop_gradient": mp.mpf}
            values.append(eval(formula, known))
        held[name], moved[name] = values
    return moved[name]
