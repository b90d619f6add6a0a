"""What can be read in two ways has one default, is reported with its option, and the option reads it otherwise."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import SymgradError, UsageError
from symgrad.frontend.latex.meaning.readings import CHOICES

V = "x, y : real[n]; A : real[n, n]"

# LaTeX, declarations, what it means by default, the option, what it means then.
AMBIGUOUS = [
    (r"\sin x y", None, "sin(x*y)", {"arguments": "factor"}, "sin(x)*y"),
    ("xy", None, "x*y", {"letters": "name"}, "xy"),
    ("a/b c", None, "a/b*c", {"slash": "product"}, "a/(b*c)"),
    (r"e^x", None, "exp(x)", {"e": "name"}, "e**x"),
    (r"\frac{dx}{dy}", None, "0", {"d": "name"}, "d*x/(d*y)"),
    (r"\log x", None, "log(x)", {"log": 2}, "log2(x)"),
    (r"\log x", None, "log(x)", {"log": 10}, "log10(x)"),
    (r"\sin^{-1} x", None, "asin(x)", {"inverse": "reciprocal"}, "sin(x)**-1"),
    (r"\sigma(x)", None, "sigmoid(x)", {"sigma": "name"}, None),
    (r"|x|", V, "abs(x)", {"bars": "norm"}, "norm(x)"),
    (r"|A|", V, "abs(A)", {"bars": "norm"}, "det(A)"),
    ("x_1", "x : real[5]", "x[1]", {"first": 1}, "x[0]"),
    ("A^T", V, "A.T", {"transpose": "never"}, None),
    (r"\mathbf{x} + x", None, "x + x", {"styles": "apart"}, "x_bold + x"),
    ("f(x)", None, None, {"calls": "product"}, "f*x"),
    ("x'", None, "x_prime", {"prime": "name"}, "x_prime"),
    (r"(1 + r)^T", None, None, {"transpose": "never"}, "(1 + r)**T"),
]


@pytest.mark.parametrize(("latex", "declarations", "default", "option", "otherwise"), AMBIGUOUS)
def test_each_option(latex: str, declarations: str | None, default, option, otherwise) -> None:
    for given, meaning in (({}, default), (option, otherwise)):
        if meaning is None:
            with pytest.raises(SymgradError) as caught:
                sg.parse_latex(latex, declarations, **given)
            assert caught.value.cure
            continue
        found = sg.parse_latex(latex, declarations, **given)
        wanted = sg.parse(meaning if declarations is None else f"{declarations}\n{meaning}").last
        if found.node is not wanted.node:
            assert sg.equal(found, wanted).status == "proved", str(found)


def test_every_option_is_tried() -> None:
    assert {name for row in AMBIGUOUS for name in row[3]} | {"subscript"} == set(CHOICES)


@pytest.mark.parametrize(
    ("latex", "declarations", "what", "option"),
    [
        (r"1 + \sin x y", None, r"\sin x y", "arguments"),
        ("xy + 1", None, "xy", "letters"),
        ("a/b c", None, "a/b c", "slash"),
        ("e^x", None, "e", "e="),
        (r"\sin^{-1} x", None, r"\sin^{-1}", "inverse"),
        (r"\sigma(x)", None, r"\sigma", "sigma"),
        ("|x|", V, "|x|", "bars"),
        ("A^T", V, "A^T", "transpose"),
        ("x_1", "x : real[5]", "x_1", "first=1"),
        ("x(y + 1)", None, "(y + 1)", "a definition of x(...)"),
        (r"\sum_{i=1}^n x_i", None, "x", "a declaration of x"),
        (r"\log p (x + 1)", None, r"\log p (x + 1)", "brackets around the argument"),
        (r"A + I", V, "I", "a declaration of I"),
        (r"x \cdot y", V, r"x \cdot y", r"\odot"),
        ("x^2", V, "x^2", "x^{\\top} x"),
        (r"\|A\|", V, r"\|A\|", "a norm of your own"),
    ],
)
def test_it_is_reported_where_and_how(latex: str, declarations: str | None, what: str, option: str) -> None:
    found = sg.read_latex(latex, declarations).readings
    (reading,) = [r for r in found if r.what == what]
    assert option in reading.option
    assert latex[reading.span.start : reading.span.end] == what
    assert str(reading).startswith(f"{what} is read as ")


def test_what_is_plain_is_not_reported() -> None:
    declared = "X : real[n, d]; y : real[n]; w : real[d]"
    assert sg.read_latex(r"\frac{1}{2} \|X w - y\|_2^2 + \sin(x)", f"{declared}; x : real").readings == ()


def test_subscripts_as_names() -> None:
    assert str(sg.parse_latex("x_0 + 1", "x : real[3]; x_0 : real")) == "x_0 + 1"
    with pytest.raises(SymgradError, match="unknown name 'x_1'"):
        sg.parse_latex("x_1 + 1", "x : real[3]", subscript="name")


def test_options_and_arguments_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="no option 'slahs'"):
        sg.parse_latex("x", slahs="left")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="the option slash is 'right'"):
        sg.parse_latex("x", slash="right")
    with pytest.raises(UsageError, match="a formula is a text"):
        sg.parse_latex(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="declarations are a text or a program"):
        sg.parse_latex("x", 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="symbols are given by name"):
        sg.parse_latex("x", symbols=[])  # type: ignore[arg-type]


def test_a_program_or_an_expression() -> None:
    assert isinstance(sg.parse_latex("x^2"), sg.Expr)
    program = sg.parse_latex(r"z = W x + b \\ y = \tanh z", "W : real[n, m]; x : real[m]; b : real[n]")
    assert isinstance(program, sg.Program)
    assert program.names == ("W", "x", "b", "z", "y")
    assert str(sg.grad(sg.sum(program["y"]), "b")) == "1 - y**2"
    before = sg.parse("w : real[d]; L = sum(w**2)")
    assert isinstance(sg.parse_latex(r"\nabla_w L", before), sg.Expr)
    w = sg.tensor("w", (3,))
    assert str(sg.parse_latex(r"\|v\|^2", symbols={"v": w})) == "sum(w**2)"


def test_places_are_those_of_the_text() -> None:
    with pytest.raises(SymgradError) as caught:
        sg.parse_latex("y = x\n\nz = x + \\frac{q}{2}", "x : real", name="notes.tex")
    assert str(caught.value).startswith("unknown name 'q'\nnotes.tex, line 3, column 15\n")


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        (r"I = I_0 \left(e^{V} - 1\right)", ["I_0", "V"]),
        (r"I = I_{0} (e^{V} - 1)", ["I_0", "V"]),
        (r"j = j_0 (e^{\eta} - e^{-\eta})", ["j_0", "eta"]),
        (r"I = I_1 + I_2", ["I_1", "I_2"]),
        (r"y = K_1 (a + b) + K_1^2", ["K_1", "a", "b"]),
        (r"f = I_0(x) + K_1(x)", ["x"]),  # functions of Bessel's
        (r"f = I_0 \left(x\right)", ["x"]),
    ],
)
def test_a_letter_that_is_a_value_in_the_text_is_no_bessel_function(text: str, inputs: list[str]) -> None:
    found = sg.parse_latex(text)
    assert sorted(str(i) for i in found.last.inputs) == sorted(inputs)


def test_what_a_letter_is_elsewhere_in_a_document_it_is_in_a_formula() -> None:
    right, wrong = (
        sg.review(rf"$I = I_0 (e^{{v}} - 1)$, $\frac{{dI}}{{dv}} = {c} I_0 e^{{v}}$", form="latex").status
        for c in ("", "2")
    )
    assert (right, wrong) == ("proved", "refuted")
