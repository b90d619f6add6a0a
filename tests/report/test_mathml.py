"""MathML of the LaTeX that is printed: well-formed, of Core's elements, with nothing lost."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from symgrad.report.mathml.convert import mathml
from symgrad.report.mathml.markup import NotMathML

GOLDEN = Path(__file__).parent.parent / "golden"
# fmt: off
CORE = frozenset((
    "math", "semantics", "annotation", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot",
    "msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd",
))
# fmt: on
# fmt: off
ATTRIBUTES = frozenset((
    "display", "displaystyle", "mathvariant", "form", "stretchy", "class", "encoding", "width", "linethickness",
    "accent",
))
# fmt: on
CHILDREN = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "msubsup": 3,
    "munder": 2,
    "mover": 2,
    "munderover": 3,
}


def read(latex: str) -> ElementTree.Element:
    return ElementTree.fromstring(mathml(latex))


def seen(latex: str) -> str:
    """What a reader sees, without the annotation."""
    element = read(latex)[0][0]
    return "".join(element.itertext()).replace("\u2061", "").replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/*.tex")), ids=lambda p: p.name)
def test_every_golden_formula_is_core(path: Path) -> None:
    text = path.read_text(encoding="utf-8").strip()
    root = read(text)
    for element in root.iter():
        assert element.tag in CORE
        assert set(element.attrib) <= ATTRIBUTES
        if element.tag in CHILDREN:
            assert len(element) == CHILDREN[element.tag], ElementTree.tostring(element)
    annotation = root.find("semantics/annotation")
    assert annotation is not None
    assert annotation.text == text
    letters = [e.text for e in root.iter("mi")]
    assert letters
    assert "&" not in letters


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{x}{2}", "x2"),
        (r"\sin^{2}\left(x\right)", "sin2(x)"),
        (r"-x_{1}^{2}", "−x12"),
        (r"z_{\mathrm{inner}}", "zinner"),
        (r"\mathtt{x\_1} + e^{i}", "x_1+ei"),
        (r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise}\end{cases}", "{xif x>00otherwise"),
        (r"a \cdot 10^{-5}", "a⋅10−5"),
        (r"\overline{x}^{2} \ge 0.5", "x‾2≥0.5"),
        (r"\left\lVert r \right\rVert^{2}", "‖r‖2"),
        (r"\sqrt[3]{x}", "x3"),
        (r"\mathbf{1} \mathbb{R}", "𝟏ℝ"),
        (r"f'", "f′"),
        (r"\operatorname{softmax}\left(h\right)", "softmax(h)"),
        (r"\overset{?}{=}", "=?"),
        (r"x < y \& z", "x<y&z"),
    ],
)
def test_what_is_seen(latex: str, text: str) -> None:
    assert seen(latex) == text


def test_a_minus_sign_is_a_prefix_where_nothing_stands_before_it() -> None:
    assert [e.get("form") for e in read("-x = -y - z").iter("mo")] == ["prefix", None, "prefix", None]


def test_names_of_functions_stand_apart_from_factors_before_them() -> None:
    def spaces(latex: str) -> int:
        return len(list(read(latex).iter("mspace")))

    assert spaces(r"x \sin\left(x\right)") == 1
    assert spaces(r"2 \cos\left(x\right) \sin^{2}\left(x\right)") == 2
    assert spaces(r"\frac{x}{2} \max\left(x, 1\right)") == 1
    assert spaces(r"x \, \sin\left(x\right)") == 1
    assert spaces(r"\sin\left(x\right) + \cos\left(x\right)") == 0
    assert spaces(r"x = -\sin\left(\cos\left(x\right)\right)") == 0


def test_scripts_of_sums_stand_below_and_above() -> None:
    (sums,) = read(r"\sum_{i = 1}^{n} x_{i}").iter("munderover")
    assert [len(list(part.iter("mi"))) for part in sums] == [0, 1, 1]


def test_delimiters_grow_around_fractions_alone() -> None:
    def grown(latex: str) -> set[str | None]:
        return {e.get("stretchy") for e in read(latex).iter("mo")}

    assert grown(r"\left(x\right)") == {"false"}
    assert grown(r"\left(\frac{x}{y}\right)") == {"true"}


def test_rows_are_rows_and_columns_are_columns() -> None:
    (table,) = read("\\begin{aligned}\na &= \\frac{1}{2} \\\\\nb &= c\n\\end{aligned}").iter("mtable")
    assert [len(row) for row in table] == [2, 2]


def test_deep_formulas_end() -> None:
    depth = 3000
    assert mathml(r"\left(" * depth + "x" + r"\right)" * depth).count("<mrow>") >= depth


@pytest.mark.parametrize(
    "latex",
    [
        r"\input{/etc/passwd}",
        r"\write18{ls}",
        r"\href{javascript:alert(1)}{x}",
        r"\frac{x}",
        r"\left(x",
        r"x}",
        r"{x",
        r"a & b",
        r"x^2^3",
        r"\begin{verbatim}x\end{verbatim}",
        "\\",
        "x % y",
        r"\text{$x$}",
        r"\def\x{y}",
        r"\right)",
        "^",
    ],
)
def test_other_latex_is_refused(latex: str) -> None:
    with pytest.raises(NotMathML):
        mathml(latex)
