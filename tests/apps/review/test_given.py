"""What a document takes to hold: equations asked for, explanations, cases, what words say; and marks that derive."""

from __future__ import annotations

import pytest

import symgrad as sg


def verdicts(text: str, name: str = "<text>") -> list[str]:
    """What became of each step that is judged, in the order of the document."""
    return [s.status for s in sg.review(text, name).steps if s.status is not None]


# ------------------------------------------------------------------------------------------- claimed solutions

GAIN = "J = (1-K)**2*P + K**2*R\n"
ARRAYS = "X : real[n, d]; w : real[d]; y : real[n]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GAIN + "Setting dJ/dK = 0 gives K = P/(P+R)\nJ = P*R/(P+R)", ["proved", "proved"]),
        (GAIN + "Setting dJ/dK = 0 gives K = R/(P+R)", ["refuted"]),
        (GAIN + "dJ/dK = 0 at K = R/(P+R)", ["refuted"]),
        (GAIN + "dJ/dK = -2*(1-K)*P + 2*K*R = 0\nK*(P+R) = P\nK = P/(P+R)", ["proved"] * 3),
        (
            GAIN + "Set the derivative to zero:\ndJ/dK = -2*(1-K)*P + 2*K*R = 0\nK*(P+R) = R\n",
            ["proved", "refuted"],
        ),
        (GAIN + "Setting it: dJ/dK = 0, so K* = P/(P+R)", ["proved"]),
        (GAIN + "Setting it: dJ/dK = 0, so K* = R/(P+R)", ["refuted"]),
        ("Solve a*x**2 + b*x + c = 0: x = (-b + sqrt(b**2 - 4*a*c))/(2*a)", ["proved"]),
        (
            "f = x**3 - 4*x\nSetting df/dx = 0:\nx = 2/sqrt(3)\nx = -2/sqrt(3)\nx = 1",
            ["proved", "proved", "refuted"],
        ),
        (ARRAYS + "Setting X.T@(X@w-y) = 0 gives w = inv(X.T@X)@X.T@y", ["proved"]),
        (ARRAYS + "Setting X.T@(X@w-y) = 0 gives w = inv(X.T@X)@X.T@y*2", ["refuted"]),
        (ARRAYS + "Setting X.T@(X@w-y) = 0 gives w = inv(X.T@X)@X@y", ["refuted"]),
        (
            "f = x**2 + x*y + y**2 - x - y\nSetting df/dx = 0 and df/dy = 0 gives x = 1/3 and y = 1/3",
            ["proved"] * 2,
        ),
        (
            "L = x*y - lam*(x + y - 1)\nSetting dL/dx = 0 and dL/dy = 0 gives y = lam and x = lam.\n"
            "Solving x + y = 1 gives lam = 1/2.\nx*y = 1/4",
            ["proved"] * 4,
        ),
        (
            "L = x*y - lam*(x + y - 1)\nSetting dL/dx = 0 and dL/dy = 0 gives y = lam and x = lam.\n"
            "Solving x + y = 1 gives lam = 2.\n",
            ["proved", "proved", "refuted"],
        ),
        ("f = a*x**2\nWith a = 2 we have f = 2*x**2", ["proved"]),  # nothing is asked: a value
    ],
)
def test_a_claimed_solution_is_put_into_the_equation(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected


def test_a_wrong_solution_is_told_with_what_comes_out() -> None:
    found = sg.review(GAIN + "Setting dJ/dK = 0 gives K = R/(P+R)")
    assert found.first_wrong is not None
    assert found.first_wrong.kind == "solution"
    assert found.first_wrong.corrected == "K = P/(P + R)"
    assert "put into the equation, at R = 1, P = 2 its left side is -2, and not 0" in str(found)
    assert "the equation is dJ/dK = 0" in str(found)


def test_of_several_solutions_a_right_one_is_one_of_them() -> None:
    (step,) = [s for s in sg.review("f = x**3 - 3*x\nSetting df/dx = 0 gives x = -1").steps if s.status]
    assert (step.kind, step.status, step.message) == ("solution", "proved", "a solution of df/dx = 0")


@pytest.mark.parametrize(("top", "status"), [("p", "proved"), ("q", "refuted")])
@pytest.mark.parametrize("mark", ["", "^*"])
def test_at_an_optimum_the_derivative_is_a_condition(top: str, status: str, mark: str) -> None:
    text = r"$V = p \log D + q \log(1-D)$. At the optimum $\frac{\partial V}{\partial D} = 0$, so "
    assert verdicts(text + rf"$D{mark} = \frac{{{top}}}{{p+q}}$.") == [status]


# ------------------------------------------------------------------------------------- explained behind the use


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L = (y-p)**2, where p = w*x + b\ndL/dw = -2*x*(y-p)\ndL/dw = 2*x*(y-w*x-b)", ["proved", "refuted"]),
        ("L = (y - p)**2\np = sigmoid(z)\nz = w*x + b\ndL/dw = 2*(p - y)*p*(1-p)*x", ["proved"]),
        ("dL/dw = 2*(w*x - y)*x for the loss L = r**2, where r = w*x - y.", ["proved"]),
        (
            r"Consider $L = -\log p$ with $p = \sigma(z)$. Then $\frac{dL}{dw} = (p - 1) x$. Here $z = w x$.",
            ["proved"],
        ),
        (
            r"$L = \frac12\|y - \hat y\|^2, \quad \hat y = W x + b$, $\frac{\partial L}{\partial b} = \hat y - y$"
            " <!-- symgrad: W : real[m, n]; x : real[n]; b, y : real[m] -->",
            ["proved"],
        ),
        (
            "x : real\nz : real\nz = x**2\nL = sin(z)\ndL/dx = 2*x*cos(z)",
            ["proved"],
        ),  # declared, then defined
        ("f = x**2\nAt x = a we have df/dx = 2*a\nf = a**2", ["proved", "proved"]),  # a value, no explanation
    ],
)
def test_a_name_may_be_explained_behind_its_use(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected


# ------------------------------------------------------------------------------------------- what words say

SQUARE = r"$A \in \mathbb{R}^{n\times n}$"
FORM = r" $f = \frac12 x^\top A x$, $\nabla_x f = A x$. <!-- symgrad: x : real[n] -->"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Let {SQUARE} be a symmetric matrix." + FORM, "proved"),
        (f"Let {SQUARE}; the covariance matrix $A$ is known." + FORM, "proved"),
        (rf"Let {SQUARE} with $A = A^\top$." + FORM, "proved"),
        (f"Let {SQUARE}, not necessarily symmetric." + FORM, "refuted"),
        (f"Let {SQUARE}, and $B$ symmetric." + FORM, "refuted"),
        (f"Let {SQUARE} be orthogonal." + FORM, "undecided"),
        (f"Let {SQUARE}. If $A$ is symmetric," + FORM, "undecided"),
    ],
)
def test_words_declare_what_declarations_know(text: str, expected: str) -> None:
    assert verdicts(text) == [expected]


def test_what_words_declare_is_listed() -> None:
    found = sg.review("A : real[n, n], A symmetric; x : real[n]\nf = x@A@x/2\ndf/dx = A@x")
    assert found.status == "proved"
    assert "line 1: A is symmetric" in map(str, found.assumptions)


def test_what_is_known_of_inputs_leaves_open_what_it_may_decide() -> None:
    text = r"Let $Q \in \mathbb{R}^{n\times n}$ with $Q^\top Q = I$, $x \in \mathbb{R}^n$. $f = \|Qx\|_2^2$, "
    assert verdicts(text + r"$\nabla_x f = 2x$. $g = x^\top x$, $\nabla_x g = 3x$") == [
        "undecided",
        "refuted",
    ]


# ------------------------------------------------------------------------------------------- what was not read


@pytest.mark.parametrize(
    "text",
    [
        r"$\frac{\partial L}{\partial w} = 0$",
        r"Let $f = x^2$. $\frac{df}{dq} = 0$",
        r"Let $h = \foo{x}$ and $L = h^2$. Then $\frac{dL}{dx} = 0$.",
        "f = x**2\ndf/dq = 0",
        r"Let $L(\theta) = \theta^4$. $\frac{d}{dt} L(\theta(t)) = 4\theta^3 \dot\theta$",
    ],
)
def test_a_derivative_of_or_by_what_was_not_read_is_no_zero(text: str) -> None:
    found = sg.review(text)
    assert found.not_understood
    assert [s for s in found.steps if s.status is not None] == []


def test_a_derivative_by_another_function_of_the_same_input() -> None:
    text = r"$K(\sigma) = \sigma^2 + 1$. Let $s = \log\sigma^2$. Then $\frac{dK}{ds} = "
    assert verdicts(text + r"\sigma^2$") == ["proved"]
    assert verdicts(text + r"2\sigma^2$") == ["refuted"]


# ------------------------------------------------------------------------------------------- marks that derive


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("$y = x^2$, $y' = 2x$", "$y = x^2$, $y' = 3x$"),
        ("y = a*x**2\ny' = 2*a*x", "y = a*x**2\ny' = 2*a"),
        (r"$y = x^2$, $\mathrm{d}y/\mathrm{d}x = 2x$", r"$y = x^2$, $\mathrm{d}y/\mathrm{d}x = x$"),
        ("$y = x^2$, $dy/dx = 2x$", "$y = x^2$, $dy/dx = x$"),
        (r"$y = x^2$, $\mathrm{d}y = 2x\,\mathrm{d}x$", r"$y = x^2$, $\mathrm{d}y = x\,\mathrm{d}x$"),
        ("$y = a x^2$, $dy = 2 a x dx$", "$y = a x^2$, $dy = a x dx$"),
        ("$f(x,y) = x^2 y$, $f_x = 2xy$, $f_{xy} = 2x$", "$f(x,y) = x^2 y$, $f_x = 2xy$, $f_{xy} = x$"),
        ("$f(x,y) = x^2 y$, $df = f_x dx + f_y dy$", "$f(x,y) = x^2 y$, $df = f_x dx$"),
        ("$f(x,y) = x^2 y$, $D_x f = 2xy$", "$f(x,y) = x^2 y$, $D_x f = xy$"),
        ("f = x**2*y\nf_xy = 2*x\nf_y = x**2", "f = x**2*y\nf_xy = 2*x\nf_y = x"),
        ("f = x**2*y\ndf = 2*x*y*dx + x**2*dy", "f = x**2*y\ndf = 2*x*y*dx - x**2*dy"),
        ("f = x**2*y\nD_x f = 2*x*y", "f = x**2*y\nD_x f = x*y"),
    ],
)
def test_marks_on_computed_names_are_derivatives(right: str, wrong: str) -> None:
    assert set(verdicts(right)) == {"proved"}
    assert verdicts(wrong)[-1] == "refuted"


def test_a_subscript_that_is_read_as_a_derivative_is_told() -> None:
    found = sg.review("$f(x,y) = x^2 y$, $f_x = 2xy$")
    assert any(
        'f_x is read as the derivative of f by x; otherwise: subscript="name"' in a.text
        for a in found.assumptions
    )
    assert verdicts("f_x : real\nf = x**2\nf_x = 3") == []  # declared: a name


def test_rows_of_a_matrix() -> None:
    text = r"Let $X \in \mathbb{R}^{n \times d}$, $y \in \mathbb{R}^n$, $w\in\mathbb{R}^d$. "
    text += r"$\ell = \sum_i (y_i x_i^\top w - e^{x_i^\top w})$. $\nabla_w \ell = \sum_i (y_i - e^{x_i^\top w}) x_i = "
    assert verdicts(text + r"X^\top(y - e^{Xw})$") == ["proved", "proved"]
    assert verdicts(text + r"X^\top(y + e^{Xw})$") == ["proved", "refuted"]


# ------------------------------------------------------------------------------------------- cases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = abs(x)\nFor x > 0, df/dx = 1.\nFor x < 0, df/dx = 1.", ["proved", "refuted"]),
        ("f = abs(x)\ndf/dx = 1 for x > 0\ndf/dx = 1", ["proved", "undecided"]),
        (
            r"$f(x) = \max(0, x)$. $$f'(x) = 1, \quad x > 0$$ $$f'(x) = 1 \quad \text{if } x < 0$$",
            ["proved", "refuted"],
        ),
        ("f = log(x**2)\nAssume x > 0. Then\nf = 2*log(x)", ["proved"]),
        ("f = sqrt(x**2)\nfor x > 0, f = x\nf = x", ["proved", "undecided"]),
    ],
)
def test_a_case_narrows_what_its_sentence_claims(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected
    assert any("x > 0" in a.text for a in sg.review(text).assumptions)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = x + 1\nFor x**2 < 0, f = 7.", ["undecided"]),
        ("f = x + 1\nFor x > 5 and x < 3, f = 7.", ["undecided"]),
        ("f = x + 1\nFor x > 3 and x < 5, f = 7.", ["refuted"]),
        ("f = x + y\nFor x**2 + y**2 <= 0, f = 7.", ["undecided"]),
        ("a = 3\nf = x + a\nFor a < 0, f = 7.", ["undecided"]),
        ("x : positive\nf = x + 1\nFor x < 0, f = 7.", ["undecided"]),
        ("f = x**2 - 4\nFor x < 0, f = 0 gives x = -2.", ["proved"]),
        ("f = (x - 1)*(x + 3)\nFor x > 0, setting f = 0 gives x = -3 = 7.", ["undecided", "refuted"]),
        ("f = x**2 - 4\nAssume x > 0. Set f = 0. Then\n  x = -2\n    = 9", ["undecided", "refuted"]),
        ("g = x + 5\nFor x > 0, g = 0 gives x = -7.", ["refuted"]),
        ("g = x + 5\nFor x > 0, abs(x) = x.\nThe solution of g = 0 is x = -7.", ["proved", "refuted"]),
    ],
)
def test_a_case_without_values_proves_nothing(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected


# ------------------------------------------------------------------------------------------- documents

SPRING = """A mass on a spring, with m, k, A : positive.

Let x = A*cos(w*t), where w = sqrt(k/m).
The velocity is v = dx/dt = -A*w*sin(w*t)
and the acceleration a = dv/dt = -w**2*x.
The energy E = m*v**2/2 + k*x**2/2 = k*A**2/2, and so
  dE/dt = 0
"""
RATE = r"""# Arrhenius

The rate constant is $k = A e^{-\frac{E}{R T}}$, with $R > 0$ and $T > 0$. Then
$$\frac{\partial k}{\partial T} = \frac{E}{R T^2} k .$$
With $\beta = \frac{1}{T}$ we get $$\frac{d \ln k}{d\beta} = -\frac{E}{R}.$$
"""
LIKELIHOOD = r"""\documentclass{article}
\begin{document}
Let $x \in \mathbb{R}^n$ be observations, and $\lambda > 0$. The log-likelihood of an exponential distribution is
\[ \ell(\lambda) = n \log\lambda - \lambda \sum_{i=1}^n x_i . \]
Its derivative is
\[ \ell'(\lambda) = \frac{n}{\lambda} - \sum_{i=1}^n x_i, \]
and setting $\ell'(\lambda) = 0$ gives
\[ \hat\lambda = \frac{n}{\sum_{i=1}^n x_i} . \]
The second derivative is
\[ \ell''(\lambda) = -\frac{n}{\lambda^2} < 0 . \]
\end{document}
"""
RIDGE = r"""Let $X \in \mathbb{R}^{n \times d}$, $y \in \mathbb{R}^n$, $w \in \mathbb{R}^d$ and $\lambda > 0$.
Ridge regression minimises
$$J = \|X w - y\|_2^2 + \lambda \|w\|_2^2 .$$
The gradient is
$$\nabla_w J = 2 X^\top (X w - y) + 2 \lambda w .$$
Setting it to zero,
$$X^\top X w + \lambda w = X^\top y ,$$
so
$$w = (X^\top X + \lambda I)^{-1} X^\top y .$$
"""


@pytest.mark.parametrize(
    ("name", "text", "right", "wrong"),
    [
        ("spring.txt", SPRING, "-w**2*x", "-w*x"),
        ("rate.md", RATE, r"= -\frac{E}{R}.", r"= \frac{E}{R}."),
        ("likelihood.tex", LIKELIHOOD, r"\frac{n}{\sum_{i=1}^n x_i}", r"\frac{1}{n} \sum_{i=1}^n x_i"),
        ("ridge.md", RIDGE, r"w = (X^\top X + \lambda I)", r"w = (X^\top X - \lambda I)"),
    ],
    ids=lambda text: text if len(text) < 16 else "",
)
def test_documents_of_students(name: str, text: str, right: str, wrong: str) -> None:
    assert set(verdicts(text, name)) == {"proved"}
    assert sg.review(text, name).not_understood == ()
    planted = text.replace(right, wrong)
    found = sg.review(planted, name)
    assert found.first_wrong is not None
    assert found.first_wrong.line == text[: text.index(right)].count("\n") + 1
    assert verdicts(planted, name).count("refuted") == 1


# --------------------------------------------------------------------------------------- values behind a claim


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = x**2\nThen dy/dx = 6 at x = 3.", ["proved"]),
        ("y = x**2\nThen dy/dx = 7 when x = 3.", ["refuted"]),
        ("y = x**2\nThen dy/dx = 2*x = 6 at x = 3.", ["proved", "proved"]),
        ("y = x**2\nThen dy/dx = 3*x - 3 = 6 at x = 3.", ["refuted", "proved"]),  # true at 3 and no derivative
        ("y = x**2\nThen dy/dx = 6 at x = 3.\nSo y = 9 there.\nSo dy/dx = 3*x - 3.", ["proved", "proved", "refuted"]),
        ("y = m*x + 1\nSo y = 2*x + 1 if m = 2.\nAnd dy/dx = m.", ["proved", "proved"]),
        ("y = m*x + 1\nSo y = 3*x + 1 for m = 2.", ["refuted"]),
        ("f = x**2*y\ndf/dx = 12 at x = 2 and y = 3.\ndf/dx = 20 at x = 2, y = 5.", ["proved", "proved"]),
        ("f = x**2*y\ndf/dx = 13 at x = 2, y = 3.", ["refuted"]),
        (r"Let \(y = mx\). So \(y = 2x\) with \(m = 2\), and \(y = 3x\) with \(m = 3\).", ["proved", "proved"]),
        (r"\(f(x) = \sin x\). Then \(f'(x) = 1\) at \(x = 0\).", ["proved"]),
    ],
)  # fmt: skip
def test_a_value_behind_a_claim_is_where_that_is_judged(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected


def test_a_claim_at_a_value_says_where_it_holds_and_what_is_right() -> None:
    good, bad = (sg.review(f"y = x**2\ndy/dx = {n} at x = 3.").steps[1] for n in (6, 7))
    assert good.message == bad.message == "where x = 3"
    assert bad.corrected == "dy/dx = 6"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\(f(x) = x^3\). The tangent at \(x = 2\) is \(y = 8 + 12(x - 2) = 12x - 16\).", ["proved"]),
        (r"\(f(x) = x^3\). The tangent at \(x = 2\) is \(y = 8 + 12(x - 2) = 4x\).", ["undecided"]),  # 8 at 2
        (r"\(f(x) = x^3\). At \(x = 2\), \(f'(x) = 12\), so \(f'(x) = 6x\).", ["proved", "undecided"]),
        ("y = a*x**2\nFor a = 2: dy/dx = 4*x = 2*a*x = a**2*x", ["proved"] * 3),  # a is no variable
    ],
)
def test_what_holds_where_a_variable_has_its_value_alone_is_not_proved(
    text: str, expected: list[str]
) -> None:
    assert verdicts(text) == expected


# -------------------------------------------------------------------------------------------------------- rates

BALL = "V = 4/3*pi*r**3\n"
LADDER = "x**2 + y**2 = 100\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BALL + "dV/dt = 4*pi*r**2*dr/dt", ["proved"]),
        (BALL + "dV/dt = 4*pi*r**2*dr/dt\nHence dV/dt = 4*pi*r**2", ["proved", "refuted"]),
        (BALL + "dV/dt = 2*pi*r**2*dr/dt", ["refuted"]),
        (BALL + "dV/dt = 100\ndr/dt = 100/(4*pi*r**2)\ndr/dt = 25/(9*pi) when r = 3", ["proved", "proved"]),
        (BALL + "dV/dt = 100\ndr/dt = 100/(2*pi*r**2)", ["refuted"]),
        (BALL + "dV/dt = 100\ndr/dt = 25/(3*pi) when r = 3", ["refuted"]),
        (BALL + "dV/dt = 100\ndr/dt = 25/(9*pi) when r = 3\ndr/dt = 100/(4*pi*r**2)", ["proved", "proved"]),
        # Right at 3, which was said of the line before alone.
        (BALL + "dV/dt = 100\ndr/dt = 25/(9*pi) when r = 3\ndr/dt = 100/(12*pi*r)", ["proved", "refuted"]),
        (LADDER + "So x*dx/dt + y*dy/dt = 0.\ndy/dt = -x/y*dx/dt", ["proved", "proved"]),
        (LADDER + "dy/dt = -x/y*dx/dt\nWith dx/dt = 1, x = 6 and y = 8: dy/dt = -3/4.", ["proved", "proved"]),
        (LADDER + "dy/dt = x/y*dx/dt", ["undecided"]),
        ("V = pi*r**2*h/3\ndV/dt = pi/3*(2*r*h*dr/dt + r**2*dh/dt)", ["proved"]),
        ("V = pi*r**2*h/3\nr = h/2\ndV/dt = pi*h**2/4*dh/dt", ["proved"]),
        (r"\(V = \frac{4}{3}\pi r^3\). \(\frac{dV}{dt} = 4\pi r^2\frac{dr}{dt}\). With \(\frac{dr}{dt} = 2\) and "
         r"\(r = 3\), \(\frac{dV}{dt} = 72\pi\).", ["proved", "proved"]),
    ],
)  # fmt: skip
def test_what_moves_with_time_that_nothing_reads_has_a_rate(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected


_SIDES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_each_input_that_moves_has_its_rate(count: int) -> None:
    """A box of so many sides: the rate of its volume has a term for each, and is another one without the last."""
    sides = _SIDES[:count]
    terms = ["*".join([*(s for s in sides if s != moved), f"d{moved}/dt"]) for moved in sides]
    volume = f"V = {'*'.join(sides)}\n"
    assert verdicts(f"{volume}dV/dt = {' + '.join(terms)}") == ["proved"]
    r = sg.review(f"{volume}dV/dt = {' + '.join(terms)}")
    assert not any("held fixed" in str(a) for a in r.assumptions)
    given = "".join(f"d{s}/dt = {k + 2}\n" for k, s in enumerate(sides))
    wanted = " + ".join(
        "*".join([str(k + 2), *(s for s in sides if s != moved)]) for k, moved in enumerate(sides)
    )
    assert verdicts(f"{volume}{given}dV/dt = {wanted}")[-1] == "proved"
    for left_out in range(count):
        fewer = [t for k, t in enumerate(terms) if k != left_out]
        if fewer and count > 2:
            assert verdicts(f"{volume}{given}dV/dt = {' + '.join(fewer)}")[-1] == "refuted"


def test_an_equation_of_rates_is_not_differentiated() -> None:
    """That would hold dr/dt fixed, which nobody says."""
    r = sg.review(BALL + "dV/dt = 100\n8*pi*r*(dr/dt)**2 = 0\ndr/dt = 1/(pi*r**2)\n")
    assert [s.status for s in r.steps if s.status] != ["proved", "proved"]
    assert not any("differentiated by t" in (s.message or "") for s in r.steps)


def test_inputs_without_a_rate_are_listed() -> None:
    r = sg.review("E = m*v**2/2\ndE/dt = m*v*dv/dt\n")
    assert r.status == "proved"
    assert any("m held fixed in rates" in str(a) for a in r.assumptions)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$f = \sqrt{h^2} + \sqrt{k^2} T$. Then $f = h + k T$ with $h > 0$, $k > 0$.", ["proved"]),
        (r"$f = \sqrt{h^2} + \sqrt{k^2} T$. Then $f = h + k T$ with $h > 0$, $k < 0$.", ["refuted"]),
        (
            r"$f = \sqrt{h^2} + \sqrt{k^2} T$ with $h > 0$, $T < 0$ and $k > 0$. Then $f = h + k T$.",
            ["proved"],
        ),
        ("f = sqrt(h**2) + sqrt(k**2)\nFor h > 0 and k < 0: f = h - k\n\nf = h + k", ["proved", "refuted"]),
    ],
)
def test_cases_that_stand_side_by_side_hold_together(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected
