"""Derivations: what the steps pass on adds up to the gradient, as printed."""

from __future__ import annotations

import random

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
    point = {name: np.array([rng.uniform(-2, 2) for _ in range(6)]) for name in ("x", "y")}
    gradient = found.gradient[0]
    with np.errstate(all="ignore"):
        expected = gradient(**point)
        got = total(**point)
    np.testing.assert_allclose(np.broadcast_to(got, 6), np.broadcast_to(expected, 6), rtol=1e-9, atol=1e-12)
