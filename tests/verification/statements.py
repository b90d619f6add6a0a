"""Statements about scalar programs for tests: true ones, false ones, and random ones."""

from __future__ import annotations

import random

import symgrad as sg
from symgrad.verification.decide import Claim, derivative_is, equal

DECLARED = (
    "x : real\ny : real\na : real\nb : real\nn : int\nm : int\np : positive\nq : positive\nt : real(0, 1)\n"
)

TRUE = [
    ("sin(x)**2 + cos(x)**2", "1"),
    ("sqrt(x**2)", "abs(x)"),
    ("x/x", "1"),
    ("log(x**2)", "2*log(x)"),
    ("log(x**2)", "2*log(abs(x))"),
    ("maximum(x, y)", "(x + y + abs(x - y))/2"),
    ("where(x > 0, x, -x)", "abs(x)"),
    ("tanh(x)", "(exp(2*x) - 1)/(exp(2*x) + 1)"),
    ("sqrt(x)*sqrt(y)", "sqrt(x*y)"),
    ("sqrt(5 + 2*sqrt(6))", "sqrt(2) + sqrt(3)"),
    ("cos(pi/7)*cos(2*pi/7)*cos(3*pi/7)", "1/8"),
    ("sin(pi/12)", "(sqrt(6) - sqrt(2))/4"),
    ("gamma(x + 1)", "x*gamma(x)"),
    ("digamma(x + 2)", "digamma(x) + 1/x + 1/(x + 1)"),
    ("lgamma(p + 1)", "lgamma(p) + log(p)"),
    ("sin(3*x)", "3*sin(x) - 4*sin(x)**3"),
    ("tan(2*x)", "2*tan(x)/(1 - tan(x)**2)"),
    ("asinh(x)", "log(x + sqrt(x**2 + 1))"),
    ("acosh(x)", "log(x + sqrt(x**2 - 1))"),
    ("floor(x + 1)", "floor(x) + 1"),
    ("ceil(x)", "-floor(-x)"),
    ("round(5/2)", "2"),
    ("cbrt(x)**3", "x"),
    ("erf(-x)", "-erf(x)"),
    ("sigmoid(x) + sigmoid(-x)", "1"),
    ("log10(p)", "log(p)/log(10)"),
    ("asin(x) + acos(x)", "pi/2"),
    ("sin(asin(x))", "x"),
    ("cos(2*atan(x))", "(1 - x**2)/(1 + x**2)"),
    ("p**a*p**b", "p**(a + b)"),
    ("(p*q)**a", "p**a*q**a"),
    ("x**n*x**m", "x**(n + m)"),
    ("(x**2)**n", "x**(2*n)"),
    ("(-x)**(2*n)", "x**(2*n)"),
    ("exp(a*log(p))", "p**a"),
    ("(p**a)**b", "p**(a*b)"),
    ("sqrt((1 - t)**2)", "1 - t"),
    ("2**(10**9)", "2**(10**9)"),
    ("0.1 + 0.2", "0.3"),
    ("1/(sqrt(x + 1) - sqrt(x))", "sqrt(x + 1) + sqrt(x)"),
    ("sinh(x + y)", "sinh(x)*cosh(y) + cosh(x)*sinh(y)"),
    ("clip(x, 0, 1)", "minimum(maximum(x, 0), 1)"),
    ("where(x == x, 1, 2)", "1"),
    ("atan(1)", "pi/4"),
    ("abs(1 + exp(x))", "1 + exp(x)"),
    ("sign(sin(x)**2 + cos(x)**2 - 1)", "abs((x + 1)**2 - x**2 - 2*x - 1)"),
]

FALSE = [
    ("sqrt(x**2)", "x"),
    ("where(x > 0, x, 0)", "x"),
    ("floor(x)", "x"),
    ("exp(pi*sqrt(163))", "262537412640768744"),
    ("2**(10**9)", "2**(10**9) + 1"),
    ("(x**a)**b", "x**(a*b)"),
    ("atan2(y, x)", "atan(y/x)"),
    ("asin(sin(x))", "x"),
    ("atan(x) + atan(1/x)", "pi/2"),
    ("(-1)**n", "1"),
    ("x**(2*n)", "x**n"),
    ("where(x == 0, 5, x)", "x"),
    ("sign(x)", "x/abs(x) + 0*sqrt(x**2 - 1)*0 + floor(x)*0 + where(x == 3, 1, 0)"),
    ("log(x*y)", "log(abs(x)) + log(abs(y)) + 1/10**30"),
    ("sign(b) + sqrt(a*b) + sqrt(a*n)", "sign(n) + sqrt(a*b) + sqrt(a*n)"),
]

DERIVATIVES = [
    ("sqrt(x**2)", "x", "x/abs(x)", True),
    ("sqrt(x**2)", "x", "1", False),
    ("sin(x)**2", "x", "sin(2*x)", True),
    ("p**p", "p", "p**p*(log(p) + 1)", True),
    ("x**n", "x", "n*x**(n - 1)", True),
    ("atan2(y, x)", "x", "-y/(x**2 + y**2)", True),
    ("log(abs(x))", "x", "1/x", True),
    ("log(abs(x))", "x", "1/abs(x)", False),
    ("where(x > 0, x**2, 0)", "x", "2*relu(x)", True),
    ("lgamma(p)", "p", "digamma(p)", True),
    ("stop_gradient(x)*x", "x", "x", True),
    ("stop_gradient(x)*x", "x", "2*x", False),
    ("erf(x)", "x", "2*exp(-x**2)/sqrt(pi)", True),
    ("floor(x)*x", "x", "floor(x)", True),
    ("asin(x)", "x", "1/sqrt(1 - x**2)", True),
    ("maximum(x, y)", "x", "where(x > y, 1, 0)", True),
    ("x**x", "x", "x*x**(x - 1)", False),
]  # fmt: skip


def nodes(*texts: str) -> list[sg.Expr]:
    """Parse expressions over the declared names."""
    lines = [f"side{k} = {text}" for k, text in enumerate(texts)]
    program = sg.parse(DECLARED + "\n".join(lines))
    return [program[f"side{k}"] for k in range(len(texts))]


def equality(a: str, b: str) -> Claim:
    left, right = (e.node for e in nodes(a, b))
    return equal(left, right)


def derivative(y: str, wrt: str, claim: str) -> Claim:
    side, by, to = nodes(y, wrt, claim)
    return derivative_is(side.node, by.node, to.node)


_FUNCTIONS = (  # noqa: SIM905
    "sqrt abs sign exp log sin cos tan atan asin acos tanh sinh cosh cbrt floor relu asinh atanh acosh sigmoid "
    "softplus log1p expm1 erf gamma lgamma ceil round acot asec sech coth digamma"
).split()
# Laws of which many hold only on a part of the domain: what a careless prover would take for granted.
_LAWS = [
    ("sqrt(({a})**2)", "({a})"),
    ("sqrt(({a})**2)", "abs({a})"),
    ("log(({a})**2)", "2*log({a})"),
    ("exp(log({a}))", "({a})"),
    ("sqrt({a})*sqrt({b})", "sqrt(({a})*({b}))"),
    ("sqrt({a})/sqrt({b})", "sqrt(({a})/({b}))"),
    ("({a})**(1/2)", "sqrt({a})"),
    ("sin({a})**2", "1 - cos({a})**2"),
    ("abs({a})*abs({b})", "abs(({a})*({b}))"),
    ("(({a})**2)**(1/3)", "({a})**(2/3)"),
    ("({a})**n*({a})**2", "({a})**(n + 2)"),
    ("maximum({a}, {b})", "({a}) + relu(({b}) - ({a}))"),
    ("cbrt({a})", "({a})**(1/3)"),
    ("sin(2*({a}))", "2*sin({a})*cos({a})"),
    ("cos(({a})/2)", "sqrt((1 + cos({a}))/2)"),
    ("(({a})*({b}))**y", "({a})**y*({b})**y"),
    ("(({a})**y)**(1/y)", "({a})"),
    ("sqrt(1 - sin({a})**2)", "cos({a})"),
    ("where(({a}) > ({b}), ({a}), ({b}))", "maximum({a}, {b})"),
    ("where(({a}) >= ({b}), ({a}), ({b}))", "({a})"),
    ("gamma(({a}) + 1)", "({a})*gamma({a})"),
    ("log({a}) + log({b})", "log(({a})*({b}))"),
    ("asin(sin({a}))", "({a})"),
    ("acosh({a})", "log(({a}) + sqrt(({a})**2 - 1))"),
    ("(({a})**n)**2", "abs({a})**(2*n)"),
]
_AROUND = ["{}", "({})*x", "sqrt({})", "exp({})", "1/({})", "log({})", "sign({})", "where(({}) > 0, x, y)"]


def _formula(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.12:
        return rng.choice(["x", "y", "n", "p", "2", "1/2", "3", "-1", "pi"])
    kind = rng.random()
    if kind < 0.4:
        return f"{rng.choice(_FUNCTIONS)}({_formula(rng, depth - 1)})"
    if kind < 0.5:
        return (
            f"({_formula(rng, depth - 1)})**({rng.choice(['2', '-1', '1/2', '3/2', 'n', '1/3', 'x', '2*n'])})"
        )
    if kind < 0.58:
        name = rng.choice(["maximum", "minimum", "atan2", "hypot"])
        return f"{name}({_formula(rng, depth - 1)}, {_formula(rng, depth - 1)})"
    if kind < 0.64:
        sign = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"where({_formula(rng, 0)} {sign} {_formula(rng, 0)}, {_formula(rng, depth - 1)}, {_formula(rng, 0)})"
    return f"({_formula(rng, depth - 1)} {rng.choice('+-*/')} {_formula(rng, depth - 1)})"


def random_pair(seed: int) -> tuple[str, str]:
    """Two sides of a law that holds somewhere, of random formulas."""
    rng = random.Random(seed)
    parts = {"a": _formula(rng, rng.choice([1, 1, 2])), "b": _formula(rng, rng.choice([0, 1, 1]))}
    law, around = rng.choice(_LAWS), rng.choice(_AROUND)
    left, right = (around.format(side.format(**parts)) for side in law)
    return left, right
