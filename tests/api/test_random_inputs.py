"""Random inputs declared in Python, and tables of derivatives as LaTeX."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import DeclarationError, UsageError


def test_they_are_those_of_programs() -> None:
    p = sg.parse("u ~ Uniform(0.9, 1.1)\nE ~ Normal(0, 2)[n, 3]\nk ~ Poisson(3)")
    assert sg.symbols("u", "Uniform(0.9, 1.1)").same(p["u"])
    assert sg.tensor("E", ("n", 3), "Normal(0, 2)").same(p["E"])
    assert sg.symbols("k", "Poisson(3)").same(p["k"])
    assert [e.same(p["u"]) for e in sg.symbols("u v", "Uniform(0.9, 1.1)")] == [True, False]


def test_their_noise_is_found() -> None:
    u, x = sg.tensor("u", ("n",), "Normal(0, 1)"), sg.tensor("x", ("n",))
    assert sg.explain(sg.sum(u * x**2), x).noise["u"].enters is True
    assert sg.explain(sg.sum(u + x**2), x).noise["u"].enters is False


def test_what_is_no_distribution() -> None:
    with pytest.raises(DeclarationError, match="not a distribution"):
        sg.symbols("u", "Uniform(1, 0)")
    with pytest.raises(UsageError, match="unknown domain"):
        sg.symbols("u", "nosuch")
    with pytest.raises(DeclarationError):
        sg.tensor("u", (2, 2), "Normal(0, 1)", symmetric=True)


def test_all_derivatives_as_latex() -> None:
    p = sg.parse("alpha, x : real\nf = alpha*sin(x)")
    lines = sg.derivatives(p["f"], ["alpha", "x"], order=2).latex().splitlines()
    assert lines[0] == r"\begin{aligned}"
    assert lines[1] == r"\frac{\partial f}{\partial \alpha} &= \sin\left(x\right) \\"
    assert lines[4] == r"\frac{\partial^{2} f}{\partial \alpha \, \partial x} &= \cos\left(x\right) \\"
    assert lines[5].startswith(r"\frac{\partial^{2} f}{\partial x^{2}} &= ")
    assert not lines[5].endswith("\\")
    assert lines[6] == r"\end{aligned}"
