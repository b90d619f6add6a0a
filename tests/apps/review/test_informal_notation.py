"""Formulas as people type them: powers, products without signs, bullets, remarks, and what is said of each."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.apps.review.formulas.informal_notation import to_notation
from symgrad.apps.review.layout.passages import passages
from symgrad.apps.review.layout.statements import statements


def told(text: str, name: str = "page.txt") -> list[tuple[int, str]]:
    return [(s.line, s.status or s.kind) for s in sg.review(text, name).steps]


def typed(text: str) -> str:
    names, functions, ranks = set("xyabwAL"), set("fg"), {"A": 2, "b": 1}
    return to_notation(text, names.__contains__, functions.__contains__, ranks.get).text


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("x^2", "x**2"),
        ("x²y", "x**2*y"),
        ("2x", "2*x"),
        ("2 sin(x) + 3x y", "2*sin(x) + 3*x*y"),
        ("2(w x - y)x", "2*(w*x - y)*x"),
        ("sin x cos y", "sin(x)*cos(y)"),
        ("sin^2 x + cos^2(x)", "sin(x)**2 + cos(x)**2"),
        ("2 sin 3x", "2*sin(3*x)"),
        ("e^(-x) y", "exp(-x)*y"),
        ("e^{-x^2/2}", "exp(-x**2/2)"),
        ("x^{2}", "x**(2)"),
        ("x(a + b)", "x*(a + b)"),
        ("f(x) g(x)", "f(x)*g(x)"),
        ("(fg)'(x)", "(f*g)'(x)"),
        ("(f ∘ g)'(x)", "(f(g))'(x)"),
        ("d/dx x^2", "d/dx x**2"),
        ("2A^T@x", "2*A.T@x"),
        ("A x", "A x"),  # x may be a vector
        ("A b - b A", "A@b - b@A"),
        ("x > 0 ^ y > 0", "x > 0 ^ y > 0"),  # of conditions
        ("2 x if x > 0 else 3x", "2*x if x > 0 else 3*x"),
        ("2*x + y", "2*x + y"),
        ("^", "**"),
    ],
)
def test_what_is_typed_is_put_into_the_notation(text: str, meaning: str) -> None:
    assert typed(text).replace(" ", "") == meaning.replace(" ", "")


def test_errors_have_their_place_in_what_was_typed() -> None:
    found = sg.review("f = x^2 + 2x +* 3", "page.txt")
    assert found.steps[0].column == "f = x^2 + 2x +* 3".index("*") + 1


def test_each_habit_is_told_once_and_each_doubt() -> None:
    found = sg.review("f = x^2 + y^3 + 2x + 1/2x + 1/3x\n", "page.txt")
    assert [a.text for a in found.assumptions if "is read" in a.text] == [
        "x^2 is read as x**2",
        "2x is read as 2*x",
        "1/2x is read as 1/2*x; otherwise: brackets",
        "1/3x is read as 1/3*x; otherwise: brackets",
    ]


def test_right_and_wrong_lines_as_typed() -> None:
    text = "L = (w x - y)^2\ndL/dw = 2 (w x - y) x\n = 2x(w x - y)\ndL/dw = 2 (w x - y)\n"
    assert [s for _, s in told(text)] == ["definition", "proved", "proved", "refuted"]
    assert told("So `z = x^2` and `dz/dx = 2x`, or `dz/dx = 3x`.", "a.md")[1:] == [
        (1, "proved"),
        (1, "refuted"),
    ]
    assert told("f = 2 everywhere, and f = 2")[-1] == (1, "proved")


def test_programs_stay_strict() -> None:
    with pytest.raises(sg.errors.SymgradError):
        sg.parse("x : real\n2x")


BULLETS = ["- ", "* ", "+ ", "• ", "1. ", "2) ", "(a) ", "(iv) ", "=> ", "⇒ ", "∴ ", "→ "]


@pytest.mark.parametrize("mark", BULLETS)
def test_marks_before_a_formula_are_left_out(mark: str) -> None:
    text = f"L = (w*x - y)**2\n{mark}dL/dw = 2*(w*x - y)*x\n{mark}dL/dx = 3*(w*x - y)*w\n"
    assert told(text) == [(1, "definition"), (2, "proved"), (3, "refuted")]


def test_a_sign_that_goes_on_is_no_bullet() -> None:
    assert told("f = x**2\n   - 3*x\ndf/dx = 2*x\n   - 3\n") == [(1, "definition"), (3, "proved")]


@pytest.mark.parametrize(
    "remark",
    [
        "(since sin^2 + cos^2 = 1)",
        "(by the chain rule)",
        "[chain rule]",
        "(using (3))",
        "  (3)",
        "[double angle]   (1)",
        "(simplified)",
    ],
)
def test_remarks_behind_a_formula_are_left_out(remark: str) -> None:
    text = f"f = sin(x)**2\ndf/dx = 2*sin(x)*cos(x) {remark}\n   = sin(2*x)  {remark}\n   = sin(x) {remark}\n"
    assert [s for _, s in told(text)] == ["definition", "proved", "proved", "refuted"]


def test_a_bracket_that_is_a_factor_is_none() -> None:
    assert told("f = x**2\ndf/dx = 2 (x)\n")[-1] == (2, "proved")
    assert told("f = x**2 (a + b)\ndf/dx = 2*x\n")[-1] == (2, "refuted")


@pytest.mark.parametrize(
    "remark",
    [
        r"\quad \text{(by the chain rule)}",
        r"\quad (\text{by the chain rule})",
        r"\qquad (3)",
        r"\tag{3}",
        r"&& \because \sin 2x = 2 \sin x \cos x",
        r"\quad (\because \sin 2x = 2 \sin x \cos x)",
        r"\quad [\text{using } \eqref{a}]",
    ],
)
def test_remarks_in_latex_are_left_out(remark: str) -> None:
    rows = rf"\frac{{df}}{{dx}} &= 2 \sin x \cos x {remark} \\ &= \sin 2x {remark} \\ &= \sin x {remark}"
    text = rf"Let $f = \sin^2 x$. \begin{{align}} {rows} \end{{align}}"
    assert [s for _, s in told(text, "a.tex")] == ["definition", "proved", "proved", "refuted"]


def test_remarks_in_latex_take_no_time() -> None:
    for opening in ("(", r"\because", r"(\text{", "  ", r"\quad", "&", "(1) "):
        text = opening * 5000
        list(statements(f"${text}$", passages(f"${text}$", "markdown")))


@pytest.mark.parametrize(
    "text",
    [
        "With a, b : positive we have f = log(a*b)",
        "where a and b : positive, f = log(a*b)",
        "a, b : positive; f = log(a*b)",
    ],
)
def test_lists_of_names_in_a_sentence(text: str) -> None:
    found = sg.review(f"{text}\ndf/da = 1/a\n", "page.txt")
    assert found.status == "proved"
    assert "a, b : positive" in [a.text for a in found.assumptions]


def test_a_declaration_may_read_names_declared_below() -> None:
    found = sg.review("m ~ Bernoulli(1-p)\np : real(0,1)\nL = m*x**2\ndL/dx = 2*m*x\n", "page.txt")
    assert found.status == "proved"
    assert [a.text for a in found.assumptions if a.stated] == ["m ~ Bernoulli(1-p)", "p : real(0,1)"]
    each_other = sg.review("m ~ Bernoulli(q)\nq ~ Uniform(0, m)\nf = x**2\n", "page.txt")
    assert len(each_other.not_understood) == 2


# ------------------------------------------------------------------------------------- derivatives by what is not said


def test_functions_of_functions() -> None:
    text = "f(x) = sin(x)\ng(x) = x**2\n"
    right = [
        "(fg)'(x) = cos(x)*x**2 + 2*x*sin(x)",
        "(f+g)' = cos(x) + 2*x",
        "(f*g)'(x) = f'(x)*g(x) + f(x)*g'(x)",
        "(f o g)'(x) = 2*x*cos(x**2)",
        "(f ∘ g)(x) = sin(x**2)",
        "(f/g)'(2) = (f'(2)*g(2) - f(2)*g'(2))/16",
        "(g ∘ f)'(y) = 2*sin(y)*cos(y)",
    ]
    assert {s for _, s in told(text + "\n".join(right))[2:]} == {"proved"}
    wrong = text + "(fg)'(x) = f'(x)*g'(x)\n(f ∘ g)'(x) = cos(x**2)\n"
    assert [s for _, s in told(wrong)[2:]] == ["refuted", "refuted"]


def test_functions_of_functions_in_latex() -> None:
    text = r"Let $f(x) = \sin x$ and $g(x) = x^2$. "
    right = [
        r"$(fg)'(x) = f'(x) g(x) + f(x) g'(x)$",
        r"$(f \circ g)'(x) = 2x\cos(x^2)$",
        r"$(g \circ f)(x) = \sin^2 x$",
        r"$(f+g)' = \cos x + 2x$",
        r"$\left(\frac{f}{g}\right)'(x) = \frac{f'(x) g(x) - f(x) g'(x)}{g(x)^2}$",
        r"$f' = \cos x$",
    ]
    assert {s for _, s in told(text + " and ".join(right), "a.md")[2:]} == {"proved"}
    assert told(text + r"$(fg)'(x) = f'(x) g'(x)$", "a.md")[-1] == (1, "refuted")


def test_a_gradient_that_does_not_say_by_what() -> None:
    text = r"Let $x \in \mathbb{R}^n$, $A \in \mathbb{R}^{n \times n}$, $f = x^\top A x$. $\nabla f = (A + A^\top) x$"
    found = sg.review(text, "a.md")
    assert found.status == "proved"
    assert any(r"\nabla is read as the gradient by x" in a.text for a in found.assumptions)
    plain = sg.review(
        "x : real[n]; A : real[n, n]\nf = x@A@x\n∇f = A@x + A.T@x\ngrad f = A@x + A.T@x\n", "page.txt"
    )
    assert plain.status == "proved"
    assert any("∇f is read as the gradient by x" in a.text for a in plain.assumptions)
    several = sg.review("x, y : real[n]\nf = x@y\n∇f = y\n", "page.txt")
    assert "∇_x f" in str(several.not_understood[0].message)
    assert "∇_y f" in str(several.not_understood[0].message)


@pytest.mark.parametrize(
    "delta",
    [r"\delta_{ij}", r"\mathbb{1}[i=j]", r"\mathbf{1}_{i=j}", r"\mathbf{1}_{\{i=j\}}", r"\mathbb{1}\{i=j\}"],
)
def test_entries_with_free_indices(delta: str) -> None:
    text = r"Let $z \in \mathbb{R}^n$ and $p_i = \frac{e^{z_i}}{\sum_k e^{z_k}}$. $\frac{\partial p_i}{\partial z_j} = "
    assert told(rf"{text} p_i({delta} - p_j)$", "a.md")[-1][1] in ("proved", "supported")
    assert told(rf"{text} p_i({delta} + p_j)$", "a.md")[-1][1] == "refuted"


# ------------------------------------------------------------------------------------------------- what is not read


def test_what_a_lost_definition_defines_is_no_input() -> None:
    found = sg.review("f = 2 +* x\ndf/dx = 2\ng = f + 1\nh = x**2\ndh/dx = 2*x\n", "page.txt")
    assert [s.status or s.kind for s in found.steps] == [
        *["not understood"] * 2,
        *["definition"] * 2,
        "proved",
    ]
    assert "what line 1 says of it is not understood" in str(found.steps[1].message)
    assert sg.review(r"$f = \foo{x}$ and $\frac{df}{dx} = 2$", "a.md").first_wrong is None


def test_an_index_is_told_once() -> None:
    text = r"Let $x \in \mathbb{R}^n$, $f = \sum_k x_k^2$. $\frac{\partial f}{\partial x_i} = 2 x_i$"
    assert sum(a.text.startswith("i") for a in sg.review(text, "a.md").assumptions) == 1
