"""Whether noise enters a gradient through the steps of a recurrence."""

from __future__ import annotations

import symgrad as sg

WALK = """
w ~ Normal(0, 1)[T]
a, s : real
x[0] = 1
x[t] = x[t-1] - a*x[t-1]/10 + s*w[t-1] for t in 1..T
"""


def test_noise_of_a_walk_enters_with_a_witness() -> None:
    found = sg.explain(sg.parse(WALK + "loss = x[T]**2")["loss"], "a")
    assert "w enters the gradient" in str(found)
    assert "witness   at a = " in str(found)


def test_noise_that_the_gradient_does_not_read() -> None:
    found = sg.explain(sg.parse(WALK + "loss = x[T]")["loss"], "s")
    assert "w enters the gradient" in str(found)
    clean = sg.explain(sg.parse(WALK.replace("a*x[t-1]", "a") + "loss = x[T]")["loss"], "a")
    assert "w does not enter the gradient" in str(clean)
