"""What messages about formulas in LaTeX tell one to do, done as it is said."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg
from symgrad.errors import SymgradError

# A formula, its declarations, the begin of the cure; what that leads to: formula, declarations and options.
LATEX: list[tuple[str, str | None, str, str, str | None, dict[str, Any]]] = [
    (r"\frac{1}{2", None, "add the missing '}'", r"\frac{1}{2}", None, {}),
    (r"\frac{1}", None, "add it in braces", r"\frac{1}{2}", None, {}),
    (r"\sqrt[3{x}", None, "add ']'", r"\sqrt[3]{x}", None, {}),
    ("x^{}", None, "write it, or remove '^'", "x", None, {}),
    ("(x + 1", None, "add the missing ')'", "(x + 1)", None, {}),
    (r"\left( x + 1", None, "add \\right)", r"\left( x + 1\right)", None, {}),
    (r"x + 1 \right)", None, "remove \\right, or add \\left", r"\left(x + 1 \right)", None, {}),
    ("|x + 1", None, "add the missing '|'", "|x + 1|", None, {}),
    ("x^2^3", None, "write {x^a}^b", "{x^2}^3", None, {}),
    ("x_1_2", None, "write both in one pair of braces, x_{a, b}", "x_{1, 2}", "x : real[3, 3]", {}),
    (
        r"\begin{cases} x & x > 0",
        None,
        "add \\end{cases}",
        r"\begin{cases} x & x > 0 \\ 1 & x \le 0 \end{cases}",
        None,
        {},
    ),
    (r"\aplha + 1", None, "did you mean '\\alpha'?", r"\alpha + 1", None, {}),
    (r"\foo{x}", None, "define it: \\newcommand{\\foo}", r"\newcommand{\foo}[1]{#1^2} \foo{x}", None, {}),
    (r"\sin", None, "write \\sin(x)", r"\sin(x)", None, {}),
    ("x + q", "x : real", "declare it: q : real", "x + q", "x : real; q : real", {}),
    (r"\hat{y} - y", "y : real", "declare it: y_hat : real", r"\hat{y} - y", "y : real; y_hat : real", {}),
    ("f(x)", "x : real", "define it: f(t) = ...", "f(t) = t^2 \\\\ f(x)", "x : real", {}),
    ("f(x)", "x : real", "define it: f(t) = ...", "f(x)", "x, f : real", {"calls": "product"}),
    (
        "c(x, y)",
        "c, x, y : real",
        "define it: c(a, b) = ...",
        "c(a, b) = a + b \\\\ c(x, y)",
        "x, y : real",
        {},
    ),
    (r"\sum_i x_i", None, "declare it: x : real[n]", r"\sum_i x_i", "x : real[n]", {}),
    (r"\sum_i c_i", "c : real", "declare it as an array: c : real[n]", r"\sum_i c_i", "c : real[n]", {}),
    ("x_1 + \\ldots + x_n", None, "write \\sum_{i=1}^{n} x_i", r"\sum_{i=1}^{n} x_i", "x : real[n]", {}),
    ("x = 1", "x : real", "leave its declaration out", "x = 1", None, {}),
    ("x \\\\ y", None, "give it a name: y_2 = ...", "y_2 = x \\\\ y", "x, y : real", {}),
    (r"30^\circ", None, "write x \\pi/180", r"30 \pi/180", None, {}),
    ("w^T x", None, "pass declarations", "w^T x", "w, x : real[n]", {}),
    ("w^T x", None, "pass declarations", "w^T x", "w, x, T : real", {}),
    ("w^T x", None, "pass declarations", "w^T x", None, {"transpose": "never"}),
    (r"\log^{-1} x", None, "write 1/log(x) as a fraction", r"\frac{1}{\log(x)}", None, {}),
    (r"\log^{-1} x", None, "write 1/log(x) as a fraction", r"\log^{-1} x", None, {"inverse": "reciprocal"}),
    ("x y", "x, y : real[n]", "write x^{\\top} y, x \\odot y, or", r"x^{\top} y", "x, y : real[n]", {}),
    ("x y", "x, y : real[n]", "write x^{\\top} y, x \\odot y, or", r"x \odot y", "x, y : real[n]", {}),
    ("x^{-1}", "x : real[n]", "write x^{\\circ -1}", r"x^{\circ -1}", "x : real[n]", {}),
    ("A^{1/2}", "A : real[n, n]", "write A^{\\circ p}", r"A^{\circ 1/2}", "A : real[n, n]", {}),
    (r"x \times y", "x, y : real[n]", "write \\odot", r"x \odot y", "x, y : real[n]", {}),
    (
        r"\sum_{i=1}^{c} x_i",
        "x : real[n]; c : real",
        "declare it: c : size",
        r"\sum_{i=1}^{c} x_i",
        "x : real[c]; c : size",
        {},
    ),
    (
        r"\sum_{i=1}^{5} x_{i+1}",
        "x : real[5]",
        "change the limits",
        r"\sum_{i=1}^{4} x_{i+1}",
        "x : real[5]",
        {},
    ),
]


@pytest.mark.parametrize(("latex", "declared", "cure", "repaired", "then", "options"), LATEX)
def test_the_cure_of_a_formula_in_latex_repairs_it(
    latex: str, declared: str | None, cure: str, repaired: str, then: str | None, options: dict[str, Any]
) -> None:
    with pytest.raises(SymgradError) as caught:
        sg.parse_latex(latex, declared)
    assert str(caught.value.cure).startswith(cure)
    assert sg.parse_latex(repaired, then, **options) is not None
