"""The pictures on the pages are those that the code draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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


def test_the_picture_of_the_noise(golden: Callable[[str, str], None]) -> None:
    p = sg.parse(PROGRAM)
    picture = sg.explain(p["z_inner"], p["x"]).svg()
    golden("../../docs/images/z_inner.svg", picture)


def test_the_picture_of_a_layer(golden: Callable[[str, str], None]) -> None:
    p = sg.parse(LAYER)
    golden("../../docs/images/layer.svg", sg.explain(p["loss"], p["w"]).svg())


def test_the_page_shows_that_program() -> None:
    page = Path(ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    assert all(f"... {line}\n" in page for line in PROGRAM.splitlines())
