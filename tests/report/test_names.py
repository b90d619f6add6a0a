"""Formulas of reports are in the names of their program."""

from __future__ import annotations

import symgrad as sg

PLANCK = """
T, nu : positive
h = 6.62607015e-34
k_B = 1.380649e-23
n = 2
s = nu + T
x = h*s/(k_B*T)
B = n*h*s**3/expm1(x) + 2*s
"""


def test_constants_with_a_name_keep_it_in_a_verdict_and_in_a_program() -> None:
    p = sg.parse(PLANCK)
    for said in (p.report().text(), sg.verify(p["B"], "T", "B*h*x/T").report().text()):
        formulas = said.split("In program notation")[0]
        assert "  x = h*s/(k_B*T)\n" in formulas
        assert formulas.count("6.62607015e-34") == 1  # where it is defined


def test_a_short_number_is_not_called_by_the_name_of_a_constant() -> None:
    formulas = sg.parse(PLANCK).report().text().split("In program notation")[0]
    assert "  n = 2\n" in formulas
    assert "B = 2*h*s**3/expm1(x) + 2*s" in formulas
