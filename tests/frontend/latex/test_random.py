"""Whatever is written: a formula, or symgrad's own error; soon, and however long and deep it is."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import NestingError, SymgradError
from tests.counting import counting
from tests.frontend.latex.table import rows

_PIECES = r"""
x y A B w n i 1 2 12 0.5 + - * / = < > ( ) [ ] { } | , ; : ' ! ^ _ & \\ \frac \sqrt \sum \prod \max \sin \log \exp
\det \cdot \odot \times \top T \left( \right) \left| \right| \lVert \rVert \| \mathbb{E} \mathbb{1} \mathbf{x}
\operatorname{tr} \operatorname{softmax}
\hat \alpha \sigma \pi e d \partial \nabla \infty \begin{cases} \end{cases} \begin{pmatrix}
\end{pmatrix} \begin{aligned} \end{aligned} \text{if} \text{otherwise} \le \ne \wedge \neg {i=1} {n} {x} {2} {-1} {\top}
\frac{1}{2} \frac{d}{dx} x_i A_{ij} x^2 A^{-1} x^\top \ldots \quad $ \binom I \lfloor \rfloor \langle \rangle
\newcommand{\q}{x} \q f(x) f' \gamma \Gamma \mathtt{x} \mid \circ \otimes \bmod \label{a} % # ~ .
""".split()  # noqa: SIM905  (commas and quotes would hide the pieces)
_DECLARED = (
    None,
    "A, B : real[n, n]; x, y, w : real[n]; z : real; i : int(0, n - 1)",
    "x, y, w, alpha, sigma : real",
)
_ROWS = [row for topic in ("learning", "matrices", "calculus", "refused") for row in rows(topic)]


def read(text: str, declarations: str | None) -> None:
    with counting() as calls, contextlib.suppress(SymgradError):
        assert sg.read_latex(text, declarations).expr.dtype
    assert calls.count < 150_000_000


@given(
    st.lists(st.sampled_from(_PIECES), max_size=20), st.sampled_from(["", " "]), st.sampled_from(_DECLARED)
)
@settings(deadline=None)
def test_any_pieces(pieces: list[str], between: str, declarations: str | None) -> None:
    read(between.join(pieces), declarations)


@given(st.text(alphabet=r"\{}[]()^_&|'!.,;:%$#~ abxyzABE012+-*/=<>" + "\n", max_size=40))
@settings(deadline=None)
def test_any_text(text: str) -> None:
    read(text, None)


@given(st.sampled_from(_ROWS), st.integers(0, 200), st.sampled_from(["", *_PIECES]), st.integers(0, 3))
@settings(deadline=None)
def test_formulas_with_a_slip_of_the_pen(row, place: int, piece: str, dropped: int) -> None:
    at = place % (len(row.latex) + 1)
    read(row.latex[:at] + piece + row.latex[at + dropped :], row.declarations)


@pytest.mark.parametrize(
    "text",
    [
        " + ".join(["x^2"] * 2_500),
        "x y " * 2_500,
        r" \cdot ".join(["x"] * 1_500),
        "-" * 10_000 + "x",
        "(" * 900 + "x" + ")" * 900,
        r"\left(" * 500 + "x" + r"\right)" * 500,
        r"\frac{1}{" * 900 + "x" + "}" * 900,
        "x^{" * 900 + "2" + "}" * 900,
        r"\sin " * 2_000 + "x",
        r"\sum_i " * 100 + "x_i",
        "x" + "'" * 3_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_and_deep_formulas(text: str) -> None:
    assert len(text) >= 700
    read(text, "x : real")


def test_what_is_too_deep_is_said_so() -> None:
    with pytest.raises(NestingError, match="nested deeper than 1,000 levels"):
        sg.parse_latex("{" * 1_001 + "x" + "}" * 1_001)
    with pytest.raises(NestingError, match="nested deeper than 1,000 levels"):
        sg.parse_latex("(" * 1_001 + "x" + ")" * 1_001)
