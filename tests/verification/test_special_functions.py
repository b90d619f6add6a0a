"""Verdicts on Bessel and Airy functions, integrals and error functions: true statements, and near misses."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import UsageError

DECLARED = "x : real\ny : real\nn : real\np : positive\nt : real(0, 1)\n"

EQUAL = [
    ("jv(n + 2, x)", "2*(n + 1)/x*jv(n + 1, x) - jv(n, x)"),
    ("jv(n - 3, x) + jv(n - 1, x)", "2*(n - 2)/x*jv(n - 2, x)"),
    ("yv(n + 1, p) + yv(n - 1, p)", "2*n/p*yv(n, p)"),
    ("iv(n + 1, x)", "iv(n - 1, x) - 2*n/x*iv(n, x)"),
    ("kv(n + 1, p)", "kv(n - 1, p) + 2*n/p*kv(n, p)"),
    ("kv(1 - n, p)", "kv(n - 1, p)"),
    ("jv(-3, x)", "-jv(3, x)"),
    ("iv(-3, x)", "iv(3, x)"),
    ("besselj(5, x)", "8/x*besselj(4, x) - besselj(3, x)"),
    ("exp1(p)", "-expi(-p)"),
    ("Si(-x) + Si(x)", "0"),
    ("erf(erfinv(t))", "t"),
    ("erfinv(erf(-x))", "-x"),
    ("erfcinv(1 - t)", "erfinv(t)"),
    ("erfc(erfcinv(t))", "t"),
    ("beta(x, y)", "beta(y, x)"),
    ("beta(x + 1, y)", "beta(x, y)*x/(x + y)"),
]
UNEQUAL = [
    ("jv(n + 1, x)", "2*n/x*jv(n, x) + jv(n - 1, x)"),
    ("iv(n + 1, x)", "2*n/x*iv(n, x) + iv(n - 1, x)"),
    ("kv(n + 1, p)", "kv(n - 1, p) - 2*n/p*kv(n, p)"),
    ("jv(-n, x)", "jv(n, x)"),
    ("iv(-n, p)", "iv(n, p)"),
    ("yv(-n, p)", "yv(n, p)"),
    ("jv(-2, x)", "-jv(2, x)"),
    ("exp1(p)", "expi(-p)"),
    ("Ci(p)", "Si(p)"),
    ("erfi(x)", "erf(x)"),
    ("airyai(x)", "airybi(x)"),
]
DERIVATIVES = [
    ("jv(0, x)", "x", "-jv(1, x)", True),
    ("jv(0, x)", "x", "jv(1, x)", False),
    ("jv(n, x)", "x", "n/x*jv(n, x) - jv(n + 1, x)", True),
    ("jv(n, x)", "x", "n/x*jv(n, x) + jv(n + 1, x)", False),
    ("yv(n, x)", "x", "yv(n - 1, x) - n/x*yv(n, x)", True),
    ("iv(n, x)", "x", "n/x*iv(n, x) + iv(n + 1, x)", True),
    ("iv(n, x)", "x", "n/x*iv(n, x) - iv(n + 1, x)", False),
    ("kv(n, x)", "x", "-n/x*kv(n, x) - kv(n - 1, x)", True),
    ("kv(n, x)", "x", "n/x*kv(n, x) + kv(n - 1, x)", False),
    ("x**n*jv(n, x)", "x", "x**n*jv(n - 1, x)", True),
    ("airyai(x)*airybiprime(x) - airyaiprime(x)*airybi(x)", "x", "0", True),
    ("airyaiprime(x)", "x", "x**2*airyai(x)", False),
    ("expi(x)", "x", "exp(x)/x", True),
    ("exp1(x)", "x", "-exp(-x)/x", True),
    ("exp1(x)", "x", "exp(-x)/x", False),
    ("x*expi(x) - exp(x)", "x", "expi(x)", True),
    ("Si(x) + Ci(x)", "x", "(sin(x) + cos(x))/x", True),
    ("erfi(x)", "x", "2/sqrt(pi)*exp(x**2)", True),
    ("erfinv(x)", "x", "sqrt(pi)/2*exp(erfinv(x)**2)", True),
    ("erfcinv(x)", "x", "-sqrt(pi)/2*exp(erfcinv(x)**2)", True),
    ("erfcinv(x)", "x", "sqrt(pi)/2*exp(erfcinv(x)**2)", False),
    ("sqrt(pi)/2*exp(-x**2)*erfi(x)", "x", "1 - 2*x*(sqrt(pi)/2*exp(-x**2)*erfi(x))", True),
    ("beta(x, y)", "y", "beta(x, y)*(digamma(y) - digamma(x + y))", True),
]


def sides(*texts: str) -> list[sg.Expr]:
    program = sg.parse(DECLARED + "\n".join(f"side{k} = {text}" for k, text in enumerate(texts)))
    return [program[f"side{k}"] for k in range(len(texts))]


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal(a: str, b: str) -> None:
    one, other = sides(a, b)
    verdict = sg.equal(one, other)
    assert verdict.status == "proved", verdict.why


@pytest.mark.parametrize(("a", "b"), UNEQUAL)
def test_unequal(a: str, b: str) -> None:
    one, other = sides(a, b)
    assert sg.equal(one, other).status == "refuted"


@pytest.mark.parametrize(("y", "wrt", "claim", "right"), DERIVATIVES)
def test_derivatives(y: str, wrt: str, claim: str, right: bool) -> None:
    side, by, to = sides(y, wrt, claim)
    assert sg.verify(side, by, to).status == ("proved" if right else "refuted")


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv"])
def test_no_derivative_by_the_order(name: str) -> None:
    side, by, to = sides(f"{name}(n, p)", "n", "0")
    with pytest.raises(UsageError, match=f"differentiate '{name}' by its order"):
        sg.verify(side, by, to)
