"""A problem for each wrong rule of algebra: the page about mistakes shows them."""

from __future__ import annotations

from tests.verification.mistakes.cases import Case

__all__ = ["REWRITTEN"]


def _of(kind: str, declared: str, before: str, claim: str, *, shown: bool = True) -> Case:
    return Case(kind, f"{declared}\nbefore = {before}", "", claim, shown=shown)


REWRITTEN = (
    _of("power-of-a-sum", "a, b : real", "(a + b)**2", "a**2 + b**2"),
    _of("root-of-a-sum", "p, q : positive", "sqrt(p + q)", "sqrt(p) + sqrt(q)"),
    _of("reciprocal-of-a-sum", "p, q : positive", "1/(p + q)", "1/p + 1/q"),
    _of("log-of-a-sum", "p, q : positive", "log(p + q)", "log(p) + log(q)"),
    _of("log-of-a-product", "p, q : positive", "log(p*q)", "log(p)*log(q)"),
    _of("log-of-a-quotient", "p, q : positive", "log(p/q)", "log(p)/log(q)"),
    _of("log-of-a-quotient", "p, q : positive", "log(p)/log(q)", "p/q", shown=False),
    _of("log-of-a-power", "p : positive", "log(p**3)", "log(p)**3"),
    _of("exp-of-a-sum", "a, b : real", "exp(a + b)", "exp(a) + exp(b)"),
    _of("exp-of-a-product", "a, b : real", "exp(a*b)", "exp(a)*exp(b)"),
    _of("function-of-a-sum", "a, b : real", "cos(a + b)", "cos(a) + cos(b)"),
    _of("function-of-a-sum", "u : real[n]", "sum(exp(u))", "exp(sum(u))", shown=False),
    _of("function-of-a-multiple", "x : real", "sin(2*x)", "2*sin(x)"),
    _of(
        "function-of-a-multiple",
        "c : positive\nA : real[n, n]",
        "trace(inv(c*A))",
        "c*trace(inv(A))",
        shown=False,
    ),
    _of("lost-bracket", "x, y, z : real", "x - 2*(y - z)", "x - 2*y - 2*z"),
    _of("lost-bracket", "a, b, c : real", "a*(b + c)", "a*b + c", shown=False),
    _of("lost-bracket", "a, b : real", "(a*b)**2", "a*b**2", shown=False),
    _of("lost-bracket", "p, q : positive", "sqrt(p*q)", "p*sqrt(q)", shown=False),
    _of("exponents-multiplied", "p : positive", "p**3*p**4", "p**12"),
    _of("exponents-multiplied", "p : positive", "p**8/p**2", "p**4", shown=False),
    _of("exponents-added", "p : positive", "(p**3)**4", "p**7"),
    _of("negative-power", "p : positive", "p**(-2)", "-p**2"),
    _of("power-as-product", "x : real", "x**3", "3*x"),
    _of("lost-power", "x : real", "(1 - x)/(1 + x)**2", "(1 - x)/(1 + x)"),
    _of("cancelled-term", "p, q : positive", "(p + q)/p", "1 + q"),
    _of("fractions-added", "a, b : real\np, q : positive", "a/p + b/q", "(a + b)/(p + q)"),
    _of("quotient-inverted", "a, p, q : positive", "a/(p/q)", "a/(p*q)"),
    _of("quotient-inverted", "p, q : positive", "p/q", "q/p", shown=False),
    _of("quotient-inverted", "a, p, q : positive", "a*(p/q)", "a*p/(a*q)", shown=False),
    _of("trig-identity-sign", "x : real", "1 + tanh(x)**2", "1/cosh(x)**2"),
    _of("trig-identity-sign", "x : real", "cos(2*x)", "cos(x)**2 + sin(x)**2", shown=False),
    _of("trig-identity-sign", "a, b : real", "cos(a + b)", "cos(a)*cos(b) + sin(a)*sin(b)", shown=False),
    _of("factor-2", "x : real", "sin(2*x)", "sin(x)*cos(x)", shown=False),
    _of("factor-2", "a, b : real", "(a + b)**2", "a**2 + a*b + b**2", shown=False),
    _of("factor-2", "a, b : real", "(a + a)*b", "a*b", shown=False),
    _of("lost-minus", "a, b : real", "(a - b)**2", "a**2 + 2*a*b + b**2", shown=False),
    _of("lost-minus", "a, b : real", "a**2 - (a + b)**2", "a**2 + (a + b)**2", shown=False),
    _of("missing-term", "a, b, x, y : real", "(a + b)*(x + y)", "a*x + b*y", shown=False),
    _of("missing-term", "a, b, x : real", "a*x + b*x**2 + cos(x)", "a*x + cos(x)", shown=False),
    _of("parity", "x, y : real", "sin(y - x)", "sin(x - y)"),
    _of("parity", "x, y : real", "(y - x)**3", "(x - y)**3", shown=False),
    _of("root-of-a-square", "x, y : real", "sqrt(x**2) + y", "x + y"),
    _of("root-of-a-square", "x, y : real", "abs(x) + y", "x + y", shown=False),
    _of("transpose-of-a-product", "A, B, C : real[n, n]", "C + (A@B).T", "C + A.T@B.T"),
    _of("inverse-of-a-product", "A, B : real[n, n]", "inv(A@B)", "inv(A)@inv(B)"),
    _of("inverse-of-a-sum", "A, B : real[n, n]", "inv(A + B)", "inv(A) + inv(B)"),
    _of("trace-of-a-product", "A, B : real[n, n]", "trace(A@B)", "trace(A)*trace(B)"),
    _of("determinant-of-a-multiple", "c : real\nA : real[n, n]", "det(c*A)", "c*det(A)"),
    _of("determinant-of-a-sum", "A, B : real[n, n]", "det(A + B)", "det(A) + det(B)"),
    _of("norm-of-a-sum", "u, v : real[n]", "sum((u + v)**2)", "sum(u**2) + sum(v**2)"),
    _of("norm-of-a-sum", "u, v : real[n]", "norm(u + v)", "norm(u) + norm(v)", shown=False),
    _of("sum-of-a-product", "u, v : real[n]", "sum(u*v)", "sum(u)*sum(v)"),
    _of("sum-of-a-power", "u : real[n]", "sum(u**2)", "sum(u)**2"),
    _of("operands-swapped", "A, B, C : real[n, n]", "A@B + C", "B@A + C", shown=False),
)
