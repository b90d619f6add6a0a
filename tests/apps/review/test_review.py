"""What is a step and what is not, what each becomes, and what is said of documents that are not as they should be."""

from __future__ import annotations

import json

import pytest

import symgrad as sg
from symgrad.errors import ProgramSyntaxError, UsageError
from tests.counting import counting


def told(text: str, name: str = "<text>") -> list[tuple[int, str]]:
    """The line of each step, with what is known of it."""
    return [(s.line, s.status or s.kind) for s in sg.review(text, name).steps]


# ------------------------------------------------------------------------------------------------ what is a step


def test_a_first_equation_defines_and_every_other_one_claims() -> None:
    assert told("f = x**2\nf = x*x\nf = 2*x\ng = f + 1 = x**2 + 1") == [
        (1, "definition"),
        (2, "proved"),
        (3, "refuted"),
        (4, "definition"),
        (4, "proved"),
    ]


def test_a_chain_goes_over_lines_and_over_words_between() -> None:
    text = "f = x**2\ndf/dx = x + x\n  = 2*x, which is the same\n\nand so on.\n\n= 3*x\n"
    assert told(text) == [(1, "definition"), (2, "proved"), (3, "proved"), (7, "refuted")]


def test_a_side_goes_over_lines() -> None:
    assert told("f = x**2 + sin(\n   x)\ndf/dx = 2*x\n        + cos(x)\n  = cos(x) +\n    2*x\n") == [
        (1, "definition"),
        (3, "proved"),
        (5, "proved"),
    ]


@pytest.mark.parametrize(
    "claim",
    [
        "df/dx = 2*x*y",
        "∂f/∂x = 2*x*y",
        "∂f/∂x = 2·x·y",
        "d/dx f = 2*x*y",
        "d/dx x**2*y + y**3 - y**3 = 2*x*y",
        "∇_x f = 2*x*y",
        "grad(f, x) = 2*x*y",
        "diff(f, x) = 2*x*y",
        "d2f/dx2 = 2*y",
        "hessian(f, x) = 2*y",
        "diff(f, x, y) = 2*x",
        "x*df/dx = 2*f - 2*y**3",
        "df/dx/2 + x = x*y + x",
        "2*x*y = df/dx",
        "df/dx*dx/dx = 2*x*y",
    ],
)
def test_derivatives_as_paper_has_them(claim: str) -> None:
    assert told(f"f = x**2*y + y**3\n{claim}")[1:] == [(2, "proved")]
    wrong = claim.replace("= 2", "= 3", 1) if "= 2" in claim else f"{claim} + 1"
    assert told(f"f = x**2*y + y**3\n{wrong}")[1:] == [(2, "refuted")]


def test_functions_and_primes() -> None:
    text = "f(x) = x**3\nf(2) = 8\nf(a + 1) = (a + 1)**3\nf'(x) = 3*x**2\nf'(2) = 12\nf''(a) = 6*a\n"
    text += "d/da f(2*a) = 24*a**2"
    assert [status for _, status in told(text)] == ["definition", *["proved"] * 6]
    assert told(f"{text}\nf'(2) = 6")[-1] == (8, "refuted")


def test_a_derivative_by_a_value_between() -> None:
    text = "z = w*x\np = sigmoid(z)\nL = -log(p)\ndL/dz = p - 1\ndL/dw = dL/dz*dz/dw = (p - 1)*x"
    assert [status for _, status in told(text)][3:] == ["proved"] * 3


def test_a_quotient_of_names_is_a_quotient() -> None:
    assert told("dL, dw, L, w : real\nr = dL/dw\nr*dw = dL") == [(2, "definition"), (3, "proved")]


def test_arrays_are_those_of_the_notation() -> None:
    text = "X : real[n, d]; w : real[d]; y : real[n]\nr = X@w - y\nL = r@r\ndL/dw = 2*X.T@r\n"
    assert told(text)[2:] == [(4, "proved")]
    found = sg.review(text.replace("2*X.T@r", "2*X@r"))
    assert found.first_wrong is not None
    assert "shapes disagree" in str(found.first_wrong.verdict)
    assert found.first_wrong.corrected == "dL/dw = 2*X.T@r"
    assert told(text.replace("2*X.T@r", "2*X"))[-1] == (4, "refuted")
    assert told("x : real[n]\nL = x@x\ndL/dx - 2*x = 0")[-1] == (3, "proved")


def test_who_returns_to_the_right_formula_made_one_mistake() -> None:
    text = "f = x**3\ndf/dx = 3*x\n  = 3*x**2\n  = 3*x*x\n  = x\n  = 3*x**2"
    assert [status for _, status in told(text)][1:] == ["refuted", "proved", "proved", "refuted", "proved"]
    assert told("f = x**3\ndf/dx = 3*x\n  = x + 2*x\n  = 4*x") == [
        (1, "definition"),
        (2, "refuted"),
        (3, "proved"),
        (4, "refuted"),
    ]


# ------------------------------------------------------------------------------------------- what is no claim


def test_a_step_that_changes_the_claim_is_not_judged() -> None:
    found = sg.review("f = x**2\nf <= 3\n  = 5\ng = f\ng ≈ x")
    assert [s.status or s.kind for s in found.steps] == [
        "definition",
        "relation",
        "refuted",
        "definition",
        "relation",
    ]
    assert found.steps[1].message == "'<=' is no equality, and not judged"


def test_an_equation_that_is_asked_for_is_taken_to_hold() -> None:
    text = "J = a*K**2 - 2*b*K\nSetting dJ/dK = 0 we get\nK = b/a\nJ = -b**2/a\ndJ/dK = 0\nJ = b**2/a"
    found = sg.review(text)
    assert [s.status or s.kind for s in found.steps] == [
        "definition",
        "condition",
        "proved",
        "proved",
        "proved",
        "refuted",
    ]
    assert "line 3: K = b/a from here on" in map(str, found.assumptions)
    assert told(r"$J = a^2$ and $\frac{dJ}{da} \overset{!}{=} 0$")[-1] == (1, "condition")
    assert told("x : real\nx = sqrt(x**2)") == [(2, "refuted")]  # of itself it is a claim


def test_a_value_that_solves_an_equation() -> None:
    text = "The fixed point z = tanh(w*z + b).\n"
    right = text + "dz/db = (1 - z**2)/(1 - w*(1 - z**2))\n∂/∂b tanh(w*z + b) = 1 - z**2\ndz/dw = z*dz/db"
    assert [status for _, status in told(right)] == ["condition", *["proved"] * 3]
    wrong = text + "dz/db = 1 - z**2"  # forgets that z follows
    assert told(wrong)[-1] == (2, "refuted")
    both = "z solves z = cos(w*z)*b\ndz/db = cos(w*z)"
    assert told(both)[-1] == (2, "undecided")  # cos has no inverse, so that points on the curve are not known


def test_words_are_left_alone() -> None:
    text = "The gain is large = good. We have a nice day.\nf = x**2, where x : positive, is smooth. sqrt(f) = x.\n"
    found = sg.review(text)
    assert [(s.text, s.status or s.kind) for s in found.steps if s.line == 2] == [
        ("x**2", "definition"),
        ("x", "proved"),
    ]


def test_stop_gradient_counts_in_definitions_and_not_in_derivatives() -> None:
    text = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)\n"
    assert told(text + "z = sqrt(y*u)")[-1] == (5, "refuted")  # the values are equal, the gradients are not
    assert told(text + "dz/dy = 1/(2*sqrt(stop_gradient(y*u - y) + y)) = 1/(2*sqrt(y*u))")[-1] == (
        5,
        "proved",
    )


# ------------------------------------------------------------------------------------------------ assumptions


def test_what_verdicts_rest_on_is_listed() -> None:
    found = sg.review("x : positive\nf = log(a*x)\ndf/dx = 1/x")
    assert [(a.text, a.line, a.stated) for a in found.assumptions] == [
        ("x : positive", 1, True),
        ("a : real (not declared)", 2, False),
    ]
    paper = sg.review(r"$f = \sin x y$ and $\frac{\partial f}{\partial x} = y \cos(x y)$")
    assert paper.status == "proved"
    assert any("is read as sin(x*y)" in a.text for a in paper.assumptions)


def test_a_name_that_looks_like_another_is_told_so() -> None:
    found = sg.review("x : real\nsigma = x**2\nf = 2*sgima")
    assert str(found.assumptions[-1]) == "line 3: sgima : real (not declared; did you mean 'sigma'?)"


def test_what_readers_do_not_see_holds_from_the_first_line_on() -> None:
    text = r"$L = \|Xw - y\|_2^2$ and $\nabla_w L = 2 X (Xw - y)$."
    text += " <!-- symgrad: X : real[n, d]; w : real[d]; y : real[n] -->"
    found = sg.review(text)
    assert found.status == "refuted"
    assert found.first_wrong is not None
    assert "shapes disagree" in str(found.first_wrong.verdict)
    assert sg.review(text.replace("2 X (", r"2 X^\top (")).status == "proved"


def test_what_is_declared_below_its_use_is_meant_above() -> None:
    assert told("f = sqrt(x**2)\nx : positive\nf = x")[-1] == (3, "proved")


# --------------------------------------------------------------------------------------------- where formulas are


def test_markdown_has_formulas_in_blocks_in_quotes_and_in_dollars() -> None:
    text = """
Let `x : positive` and $f = \\log x$; then

```symgrad
df/dx = 1/x   # of a positive number
```

```python
f = 3
```

$$\\frac{df}{dx}
  = \\frac{2}{x}$$ <!-- symgrad: q : real[n] --> and $5 to $6 is money, `f` is a name.
"""
    assert told(text) == [(2, "definition"), (5, "proved"), (13, "refuted")]
    assert any(a.text == "q : real[n]" for a in sg.review(text).assumptions)


def test_latex_has_formulas_in_environments_and_skips_what_is_verbatim() -> None:
    text = r"""\documentclass{article} \newcommand{\R}{\mathbb{R}} \newcommand{\half}[1]{\frac{#1}{2}}
\begin{document}
% $f = 3$ is a comment
\begin{verbatim} $f = 4$ \end{verbatim}
For $x \in \R^n$ let \( f = \half{x^\top x} \label{a} \).
\begin{align}
  \nabla_x f &= x, \nonumber \\
  &\quad\text{and so} \\
  \frac{\partial f}{\partial x} &= 2 x
\end{align}
\end{document}"""
    assert told(text) == [(5, "definition"), (7, "proved"), (9, "refuted")]


# ---------------------------------------------------------------------------------------------------- bad input


def test_malformed_latex_has_its_place_and_the_rest_is_reviewed() -> None:
    text = "\\begin{document}\nLet $f = \\frac{x^2}{2$ and $g = x^3$.\n\n\\[ h = \\sqrt{x \n\n"
    text += "Then $\\frac{dg}{dx} = 3 x^2$.\n\\end{document}"
    found = sg.review(text)
    assert [(s.line, s.status or s.kind) for s in found.steps] == [
        (2, "not understood"),
        (2, "definition"),
        (4, "not understood"),
        (6, "proved"),
    ]
    assert found.status == "undecided"
    assert found.steps[0].message is not None
    assert found.steps[0].column == text.split("\n")[1].index("{2") + 1
    assert "never closed" in found.steps[0].message


def test_an_unread_side_has_its_place_and_the_chain_goes_on() -> None:
    found = sg.review("f = x**2\ndf/dx = 2*x +* 1\n  = 2*x")
    assert [(s.line, s.column, s.status or s.kind) for s in found.steps] == [
        (1, 5, "definition"),
        (2, 14, "not understood"),
        (3, 5, "proved"),
    ]
    assert "expected" in str(found.steps[1].message)


def test_names_that_mean_nothing() -> None:
    found = sg.review("dL/dw = 2*w\n")
    assert found.not_understood[0].message is not None
    assert "derivative of 'L', which nothing above defines" in found.not_understood[0].message
    prime = sg.review("A : real[n, n]\nx : real[n]\nf = A'@x")
    assert "A.T for the transpose" in str(prime.not_understood[0].message)


@pytest.mark.parametrize("text", ["", "Nothing here is a formula.", "# Title\n\nwords `name` and words\n"])
def test_a_document_without_formulas(text: str) -> None:
    with pytest.raises(ProgramSyntaxError, match="the document has no"):
        sg.review(text)


def test_a_document_that_claims_nothing_is_not_proved() -> None:
    assert sg.review("f = x**2").status == "undecided"


def test_what_is_no_document() -> None:
    with pytest.raises(UsageError, match="a document is a text"):
        sg.review(b"f = 3")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="a document of the form 'rst'"):
        sg.review("f = 3", form="rst")  # pyright: ignore[reportArgumentType]


def test_ten_thousand_lines() -> None:
    lines = [
        f"Line {k} has words alone, and no formula at all; the gain is (nearly) 3." for k in range(10_000)
    ]
    for k in range(0, 10_000, 100):
        lines[k] = f"f{k} = x**2 + {k}"
        lines[k + 1] = f"df{k}/dx = 2*x"
    with counting() as calls:
        found = sg.review("\n".join(lines))
    assert found.status == "proved"
    assert len(found.steps) == 200
    assert calls.count < 12_000_000


@pytest.mark.parametrize(
    "opening", ["$", "$$", "\\(", "\\[", "`", "```\n", "<!--", "\\begin{align}", "{", "(", "\\frac{"]
)
@pytest.mark.usefixtures("ends")
def test_what_is_never_closed_takes_no_time(opening: str) -> None:
    text = "f = 3\n\n" + opening * 20_000
    said = list[str]()
    with counting() as calls:
        for name in ("a.md", "a.tex", "a.txt"):
            try:
                sg.review(text, name)
            except ProgramSyntaxError as error:
                said.append(str(error))
    assert calls.count < 6_000_000
    assert all("the document has no " in text for text in said)


# ------------------------------------------------------------------------------------------------------- printed


def test_the_text_has_marks_carets_and_what_was_assumed(golden) -> None:
    text = "Let f = sin(x)**2, x : positive.\ndf/dx = 2*cos(x)\n\nf <= 1\nf = 2 +* x\n"
    text += "df/dx = 2*sin(x)*cos(x)\n  = sin(2*x)\n"
    golden("documents/review.txt", sg.review(text, "page.txt").text() + "\n")


def test_json_has_all_of_it() -> None:
    found = sg.review("f = x**2\ndf/dx = x")
    data = json.loads(json.dumps(found.json()))
    assert data["status"] == "refuted"
    assert data["first_wrong"] == 1
    wrong = data["steps"][1]
    assert (wrong["line"], wrong["column"], wrong["text"], wrong["status"]) == (2, 9, "x", "refuted")
    assert wrong["verdict"]["witness"]
    assert data["assumptions"] == [{"text": "x : real (not declared)", "line": 1, "stated": False}]


def test_the_page_escapes_what_it_shows() -> None:
    page = sg.review("<script> f = x**2\n\nf = 3 < x").html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.startswith("<!DOCTYPE html>")


def test_what_is_ambiguous_is_read_as_asked() -> None:
    text = r"$\frac{d}{dx} \frac{x}{a} = 1/a x$"
    assert sg.review(text).status == "refuted"  # (1/a)*x
    assert (
        sg.review(r"$y = 1/a x$ and $\frac{dy}{dx} = -\frac{1}{a x^2}$", slash="product").status == "proved"
    )
    with pytest.raises(UsageError, match="there is no option 'slsh'"):
        sg.review(text, slsh="product")  # type: ignore[call-arg]


WRONG_INSIDE = r"\frac{dJ}{dw} &= 2 w \\ &= 3 w"


@pytest.mark.parametrize(
    "around",
    [
        "$$\\begin{{aligned}}\n{}\n\\end{{aligned}}$$",
        "\\[\\begin{{split}}\n{}\n\\end{{split}}\\]",
        "\\begin{{equation}}\n\\begin{{aligned}}[t]\n{}\n\\end{{aligned}}\n\\end{{equation}}",
        "\\begin{{subequations}}\n\\begin{{align}}\n{}\n\\end{{align}}\n\\end{{subequations}}",
        "\\begin{{alignat}}{{2}}\n{}\n\\end{{alignat}}",
        "\\begin{{IEEEeqnarray}}{{rCl}}\n{}\n\\end{{IEEEeqnarray}}",
        "```latex\n\\begin{{aligned}}\n{}\n\\end{{aligned}}\n```",
    ],
)
def test_lines_inside_environments_are_read(around: str) -> None:
    """What only lays lines out hides none of them: a wrong one in it is found, and a right one before it proved."""
    found = sg.review("Let $J = w^2$.\n\n" + around.format(WRONG_INSIDE), form="markdown")
    assert [s.status for s in found.steps if s.status] == ["proved", "refuted"]


def test_a_frame_hides_nothing() -> None:
    found = sg.review(r"$f = x^2$, so $$\boxed{\frac{df}{dx} = \frac{5 x}{1}}$$")
    assert [s.status for s in found.steps if s.status] == ["refuted"]


def test_equations_in_columns_of_their_own_are_not_passed_over() -> None:
    text = "Let $J = w^2$. $$\\begin{array}{rcl} \\frac{dJ}{dw} &=& 3w \\end{array}$$"
    found = sg.review(text)
    assert found.status == "undecided"
    assert "equations in 'array' are not read" in str(found)


def test_a_sign_that_is_said_of_a_new_name_is_a_declaration() -> None:
    assert sg.review(r"Let $\sigma > 0$ and $f = \sqrt{\sigma^2}$. Then $f = \sigma$.").status == "proved"
    assert sg.review("x >= 0\nf = abs(x)\nf = x").status == "proved"
    case = sg.review(r"Let $f = |x|$. For $x > 0$, $\frac{df}{dx} = 1$.")
    assert case.status == "proved", "of a name that was read before it is a case, and holds there alone"
    assert any("x > 0" in a.text for a in case.assumptions)
    assert sg.review(r"Let $f = |x|$. For $x > 0$, $\frac{df}{dx} = -1$.").status == "refuted"


def test_a_prime_is_a_derivative_in_latex_too() -> None:
    """So that kinks do not count against it, and a mistake in it has a name."""
    assert sg.review("$f(x) = \\max(0, x)$\n\n$f'(x) = \\mathbb{1}[x > 0]$").status == "proved"
    found = sg.review("$f(x) = \\sin(x^2)$. $f'(x) = \\cos(x^2)$.").first_wrong
    assert found is not None
    assert found.kind == "derivative"
    assert found.verdict is not None
    assert found.verdict.diagnosis[0].kind == "forgot-inner-derivative"
    # Of f at another input, by what f is a function of.
    assert sg.review("$f(x) = a x^2$. $f'(a) = 2 a^2$.").status == "proved"


def test_a_number_of_a_measurement_is_not_what_was_misread() -> None:
    r = sg.review("E = h*c/lam with h = 10^-34, c = 3\ndE/dlam = h*c/lam^2")
    (wrong,) = [s.verdict for s in r.steps if s.verdict is not None]
    assert [d.kind for d in wrong.diagnosis] == ["lost-minus"]
