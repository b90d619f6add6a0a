"""The pictures on the pages are those that the code draws."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

import symgrad as sg
from tests.docs.markdown import ROOT

PROGRAM = """\
x : real
u ~ Uniform(0.9, 1.1)
y = x**2
yu = y*u
z_inner = sqrt(stop_gradient(yu - y) + y)
"""

LAYER = """\
X : real[n, 5]
w : real[5]
y : real[n]
u ~ Normal(0, 1)[n]
h = X@w
z = tanh(h + 0.1*u)
loss = mean((z - stop_gradient(y*u))**2)
"""


TOY = """\
p : real(0, 1)
t : real
b ~ Bernoulli(p)
f = (b - t)**2
log_p = stop_gradient(b)*log(p) + (1 - stop_gradient(b))*log(1 - p)
mean_f = p*(1 - t)**2 + (1 - p)*t**2
score = stop_gradient(f)*log_p
baseline = stop_gradient(f - mean_f)*log_p
straight = (p + stop_gradient(b - p) - t)**2
"""


def test_the_picture_of_the_noise(golden: Callable[[str, str], None]) -> None:
    p = sg.parse(PROGRAM)
    picture = sg.explain(p["z_inner"], p["x"]).svg()
    golden("../../docs/images/z_inner.svg", picture)


def test_the_picture_of_a_layer(golden: Callable[[str, str], None]) -> None:
    p = sg.parse(LAYER)
    golden("../../docs/images/layer.svg", sg.explain(p["loss"], p["w"]).svg())


def test_the_picture_of_estimators(golden: Callable[[str, str], None]) -> None:
    """As the page makes it; another version of matplotlib writes other bytes."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    if f"matplotlib=={version('matplotlib')}" not in lock:
        pytest.skip("not the version of matplotlib that drew it")
    p = sg.parse(TOY)
    names = {"score function": "score", "with a baseline": "baseline", "straight-through": "straight"}
    c = sg.compare_estimators({n: p[e] for n, e in names.items()}, "p", target=p["f"])
    golden("../../docs/images/estimators.svg", c.svg("p", (0.05, 0.95), t=0.45))


@pytest.mark.parametrize(("page", "program"), [("explain", PROGRAM), ("estimators", TOY)])
def test_the_page_shows_that_program(page: str, program: str) -> None:
    text = Path(ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert all(f"... {line}\n" in text for line in program.splitlines())
