"""Formulas for pages that may lose markup: the same MathML for the eye, and what it says for who reads its text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from symgrad.report.mathml.convert import mathml
from symgrad.report.mathml.portable import portable_formula

GOLDEN = Path(__file__).parent.parent / "golden"
HIDDEN = re.compile('<span class="sg-mathml" hidden style="display:none">(<math.*</math>)</span>', re.DOTALL)


def formula_of(shown: str) -> ElementTree.Element:
    found = HIDDEN.search(shown)
    assert found is not None
    return ElementTree.fromstring(found[1])


def text_of(latex: str) -> str:
    return "".join(formula_of(portable_formula(latex)).itertext()).replace("\u2061", "")


def shown_tokens(element: ElementTree.Element) -> list[str]:
    """What a browser shows: of `semantics` the first child alone."""
    if element.tag == "semantics":
        return shown_tokens(element[0])
    return [element.text or "", *(token for part in element for token in shown_tokens(part))]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/*.tex")), ids=lambda p: p.name)
def test_the_eye_sees_the_same_formula(path: Path) -> None:
    latex = path.read_text(encoding="utf-8").strip()
    shown = portable_formula(latex, display=True)
    seen = [token for token in shown_tokens(formula_of(shown)) if token]
    plain = shown_tokens(ElementTree.fromstring(mathml(latex, display=True)))
    assert seen == [token for token in plain if token]
    tex, _, _ = unescape(shown).partition("</span>")
    assert tex == f'<span class="sg-instead">$${latex}$$'


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{x}{2}", "x/2"),
        (r"\frac{x + 1}{2 y}", "(x+1)/(2y)"),
        (r"e^{-\frac{x^{2}}{2}}", "e^(−x^2/2)"),
        (r"\sqrt{x + 1}", "√(x+1)"),
        (r"\sqrt[3]{x}", "x^(1/3)"),
        (r"x_{i}^{2}", "x_i^2"),
        (r"\sum_{i=1}^{n} x_{i}", "∑_(i=1)^nx_i"),
        (r"\hat{x}", "x^"),
        (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", "[a b; c d; ]"),
    ],
)
def test_its_text_says_what_the_layout_says(latex: str, text: str) -> None:
    assert text_of(latex) == text


def test_names_are_never_markup() -> None:
    shown = portable_formula(r"\mathrm{<b>} < \text{&amp;}")
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown
    assert "&amp;amp;" in shown
