"""A problem for each mistake: the page about mistakes shows them, and tests hold that each is named first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.support.errors import UsageError
from symgrad.verification.mistakes.candidate import Mistake
from symgrad.verification.mistakes.other_lengths import OtherLengths

__all__ = ["CASES", "Case", "recognise"]


def recognise(y: Node, wrt: Node, claim: Node, sizes: Mapping[str, int] | None = None) -> list[Mistake]:
    """Return the mistakes that give a claim for one choice of lengths."""

    def build(_: Mapping[str, int]) -> list[Node]:
        raise UsageError("there are no other lengths")

    return OtherLengths(build, (y, wrt, claim), sizes or {}, (), ()).mistakes(None)


@dataclass(frozen=True, slots=True)
class Case:
    """A wrong claim.

    Args:
        kind: the mistake.
        program: in lines.
        wrt: by what; "" where the claim is that the last line is equal to something else.
        claim: what is claimed of the last line.
        shown: whether the page has it.
        first: whether it is named before all others: what gives the same formula may come before it.
    """

    kind: str
    program: str
    wrt: str
    claim: str
    shown: bool = True
    first: bool = True


def _more(kind: str, program: str, wrt: str, claim: str) -> Case:
    return Case(kind, program, wrt, claim, shown=False)


def _also(kind: str, program: str, wrt: str, claim: str) -> Case:
    return Case(kind, program, wrt, claim, shown=False, first=False)


CASES = (
    Case("forgot-inner-derivative", "x, w : real\ny = x**2 + sin(w*x)", "x", "2*x + cos(w*x)"),
    _more("forgot-inner-derivative", "x, w : real\nh = w*x**3\ny = cosh(h)", "x", "sinh(h)"),
    _also(
        "forgot-inner-derivative", "x : real[n]\nc : real[n]\ny = sum(c*exp(x))**2", "x", "2*sum(c*exp(x))*c"
    ),
    _also(
        "forgot-inner-derivative",
        "x : real[n]\nA : real[n, n]\ny = sum(tanh(A@x)**3)",
        "x",
        "3*A.T@tanh(A@x)**2",
    ),
    _more("forgot-inner-derivative", "x : real[n]\ny = exp(sum(x**2))", "x", "exp(sum(x**2))*ones(n)"),
    _also(
        "forgot-inner-derivative",
        "x : real[n]\nA : real[n, n]\nc : real[n]\nz = A@x\ny = sum(c*log(1 + exp(z)))",
        "x",
        "A.T@(c/(1 + exp(z)))",
    ),
    Case("treated-variable-as-constant", "x, a : real\ny = x + a*(x**2 + sin(x))", "x", "1 + a*cos(x)"),
    Case(
        "chain-through-one-path-only",
        "t : real\nu = t**2\nv = exp(t)\ny = sin(u) + cosh(v) + t**3",
        "t",
        "2*t*cos(u)",
    ),
    Case("treated-constant-as-variable", "x, a : real\ny = sin(a*x) + x", "x", "(a + x)*cos(a*x) + 1"),
    _more(
        "treated-constant-as-variable", "x, a : real\ny = sin(a*x)*a", "x", "(a + x)*cos(a*x)*a + sin(a*x)"
    ),
    Case("product-rule-lost-term", "x : positive\ny = x**2*log(x) + x", "x", "2*x*log(x) + 1"),
    Case("product-of-derivatives", "x : real\ny = x**3*sin(x)", "x", "3*x**2*cos(x)"),
    Case("quotient-of-derivatives", "x : real\ny = sin(x)/(1 + x**2)", "x", "cos(x)/(2*x)"),
    Case("quotient-upside-down", "x : positive\ny = x + exp(x)/x", "x", "1 + (exp(x) - x*exp(x))/exp(x)**2"),
    _more("quotient-upside-down", "x : positive\ny = x + sin(x)/x", "x", "1 + (x*cos(x) - sin(x))/sin(x)**2"),
    Case("quotient-sign-swapped", "x : positive\ny = x + sin(x)/x", "x", "1 + (sin(x) - x*cos(x))/x**2"),
    _more("quotient-sign-swapped", "x : positive\ny = sin(x)/x", "x", "(sin(x) + x*cos(x))/x**2"),
    Case("quotient-denominator-not-squared", "x : positive\ny = sin(x)/x", "x", "(x*cos(x) - sin(x))/x"),
    Case("power-kept-exponent", "x, r, v : real\ny = (r - v*x)**4", "x", "-4*v*(r - v*x)**4"),
    Case("power-lost-factor", "x : real\ny = x**5 + cos(x)", "x", "x**4 - sin(x)"),
    Case("power-raised-exponent", "x : real\ny = x**3 + cos(x)", "x", "3*x**4 - sin(x)"),
    Case("sqrt-derivative-factor", "x : positive\ny = sqrt(x) + x**2", "x", "1/sqrt(x) + 2*x"),
    Case("sqrt-derivative-wrong", "x : positive\ny = sqrt(x) + x**2", "x", "sqrt(x)/2 + 2*x"),
    Case("exp-by-power-rule", "x, k : real\ny = exp(k*x) + x", "x", "k*x*exp(k*x - 1)*k + 1"),
    _more("exp-by-power-rule", "x : real\na : positive\ny = a**x", "x", "x*a**(x - 1)"),
    Case("log-base", "x : positive\ny = x*log10(x)", "x", "log10(x) + 1"),
    _more("log-base", "x : real\na : positive\ny = a**x + x", "x", "a**x + 1"),
    _more("log-base", "x : real\ny = exp2(x) + x", "x", "exp2(x) + 1"),
    _more("log-base", "x : positive\ny = log(x) + x", "x", "1/(x*log(10)) + 1"),
    Case("abs-derivative", "x, m : real\ny = x**2 + abs(x - m)", "x", "2*x + 1"),
    Case("wrong-sign-trig", "x : real\ny = x*cos(x)", "x", "cos(x) + x*sin(x)"),
    _more("wrong-sign-trig", "x : real\ny = x**2 + tanh(x)", "x", "2*x + 1 + tanh(x)**2"),
    Case("inverse-trig-derivative-swapped", "x : real(-1, 1)\ny = x + asin(x)", "x", "1 + 1/(1 + x**2)"),
    Case("degrees-for-radians", "x : real\ny = x + sin(x)", "x", "1 + pi/180*cos(x)"),
    _more("degrees-for-radians", "x : real\ny = x + sin(x)", "x", "1 + cos(pi*x/180)"),
    Case("function-kept", "x : real\ny = x**2 + sin(x)", "x", "2*x + sin(x)"),
    Case("derivative-at-derivative", "x : real\ny = sin(x**3)", "x", "cos(3*x**2)"),
    Case("lost-minus", "x, a : real\ny = a*x - sinh(x)", "x", "a + cosh(x)"),
    _more("lost-minus", "x, a : real\ny = x**2*a - sinh(x)", "x", "2*x*a + cosh(x)"),
    _more("lost-minus", "x, b : real[n]\ny = sum(x*b) + sum(x**3)", "x", "b - 3*x**2"),
    _more("lost-minus", "x : real\nb : real\ny = x**3 + b*x", "x", "3*x**2 - b"),
    Case("factor-2", "x, a : real\ny = a*sin(x)", "x", "2*a*cos(x)"),
    _more("factor-2", "x, a : real\ny = a*sin(x) + x*exp(a)", "x", "2*a*cos(x) + exp(a)"),
    _more("factor-2", "w, r : real[n]; lam : real\ny = sum(sin(w*r)) + lam*w@w", "w", "r*cos(w*r) + lam*w"),
    _more(
        "factor-2",
        "X : real[n, d]; w : real[d]; y : real[n]\nL = mean(maximum(0, 1 - y*(X@w))) + w@w",
        "w",
        "w - X.T@(y*where(y*(X@w) < 1, 1, 0))/n",
    ),
    Case("missing-term", "x, w : real[n]\nlam : positive\ny = (w@x)**3 + lam*sum(w**2)", "w", "3*(w@x)**2*x"),
    _also("missing-term", "x, a, b : real\ny = sin(a*x) + b*x", "x", "cos(a*x) + b"),
    Case("stop-gradient-ignored", "x : real\nh = x**2\ny = x*stop_gradient(h)", "x", "3*x**2"),
    Case("stop-gradient-too-strong", "x, t : real\ny = (x**2 - stop_gradient(t*x))**2", "x", "4*x**3"),
    Case(
        "noise-treated-as-constant-one",
        "x : real\nu ~ Uniform(0.9, 1.1)\ny = x + sin(x*u)",
        "x",
        "1 + cos(x)",
    ),
    _more(
        "noise-treated-as-constant-one",
        "x : real\nu ~ Uniform(0.9, 1.1)\ny = x + sin(x*u)",
        "x",
        "1 + cos(x*u)",
    ),
    Case("noise-treated-as-zero", "x, s : real\ne ~ Normal(0, 1)\ny = (x + s*e)**2", "x", "2*x"),
    Case(
        "noise-treated-as-variable",
        "x : real\ne ~ Normal(0, 1)\ny = sin(x*e) + x",
        "x",
        "(e + x)*cos(x*e) + 1",
    ),
    Case("sum-instead-of-mean", "w : real[d]\nX : real[n, d]\ny = mean((X@w)**2)", "w", "2*X.T@(X@w)"),
    _more("sum-instead-of-mean", "w : real[d]\nX : real[n, d]\ny = sum((X@w)**2)/n", "w", "2*X.T@(X@w)"),
    Case("factor-n", "w : real[d]\nX : real[n, d]\ny = mean((X@w)**2)", "w", "2*X.T@(X@w)/(n*d)"),
    _more(
        "factor-n",
        "w : real[d]\nX : real[n, d]\ny = sum((X@w)**2) + sum(w**3)",
        "w",
        "2*X.T@(X@w)/n + 3*w**2",
    ),
    Case(
        "missing-broadcast-sum",
        "X : real[n, d]\nb : real[d]\ny = sum(tanh(X + b))",
        "b",
        "1 - tanh(X + b)**2",
    ),
    Case(
        "wrong-axis-sum",
        "X : real[n, d]\nb : real[d]\ny = sum(tanh(X + b))",
        "b",
        "sum(1 - tanh(X + b)**2, axis=1)",
    ),
    _more(
        "wrong-axis-sum",
        "X : real[n, d]\nb : real[d]\ny = sum(tanh(X + b)**3)",
        "b",
        "sum(3*tanh(X + b)**2*(1 - tanh(X + b)**2))*ones(d)",
    ),
    Case(
        "diagonal-softmax-jacobian-only",
        "z, c : real[k]\ns = exp(z)/sum(exp(z))\ny = sum(c*s**2)",
        "z",
        "2*c*s*s*(1 - s)",
    ),
    Case("missing-transpose", "A : real[n, d]\nx : real[d]\ny = sum(exp(A@x))", "x", "A@exp(A@x)"),
    _also(
        "missing-transpose",
        "A : real[n, n]\nB : real[n, n]\ny = trace(B@inv(A)@B@A)",
        "A",
        "(B@inv(A)@B).T - inv(A)@B@A@B@inv(A)",
    ),
    Case(
        "extra-transpose",
        "W : real[d, k]\nX : real[n, d]\nC : real[n, k]\ny = sum(C*exp(X@W))",
        "W",
        "X.T@(C*exp(X@W)).T",
    ),
    Case(
        "operands-swapped",
        "A : real[n, d]\nx : real[n]\nz : real[d]\ny = sin(x@A@z)",
        "A",
        "cos(x@A@z)*outer(z, x)",
    ),
    Case("symmetric-assumed", "A : real[n, n]\nx, b : real[n]\ny = x@A@x - b@x", "x", "2*A@x - b"),
    Case(
        "inverse-sign",
        "A : real[n, n]\na, b : real[n]\nc : positive\ny = c*(a@inv(A)@b) + trace(A)",
        "A",
        "c*inv(A).T@outer(a, b)@inv(A).T + eye(n)",
    ),
    Case(
        "condition-turned",
        "x : real[n]\ny : real[n]\nf = sum(maximum(0, 1 - x*y))",
        "x",
        "-y*where(x*y > 1, 1, 0)",
    ),
    _also(
        "forgot-inner-derivative",
        "x, w, t : real\no = 1/(1 + exp(-(w*x)))\ny = (o - t)**2",
        "w",
        "2*(o - t)*x",
    ),
    _more(
        "forgot-inner-derivative", "W : real[h, d]\nx : real[d]\nv : real[h]\ny = v@tanh(W@x)", "x", "W.T@v"
    ),
    _more("factor-2", "w : real[d]\nc : real\nv : real[d]\ny = c*w@w + v@w", "w", "c*w + v"),
    Case("other-variable", "x, z : real\ny = x**2*exp(x*z)", "x", "x**3*exp(x*z)"),
    Case("not-differentiated", "x : real\ny = x*sin(x) + x**3", "x", "x*sin(x) + x**3"),
    Case(
        "wrong-steps",
        "a : real; x : real[T]\nh[0] = 1\nh[t] = sin(a*h[t-1] + x[t-1]) for t in 1..T\ny = h[T]",
        "x",
        "g[1:]*cos(a*h[:T] + x)\nwhere\n  g[T] = 1\n  g[t-1] = g[t]*cos(a*h[t-1] + x[t-1]) for t in T..1",
    ),
    Case(
        "names-exchanged", "x, a, b : real\ny = exp(a*x)*sin(b*x)", "x", "exp(b*x)*(b*sin(a*x) + a*cos(a*x))"
    ),
    Case("constant-factor", "x : real\ny = x*sin(x)", "x", "5/3*(sin(x) + x*cos(x))"),
    Case("rounded-number", "x : real\ny = exp(-x**2/2)/sqrt(2*pi)", "x", "-0.398942*x*exp(-x**2/2)"),
    Case(
        "right-on-a-branch", "x : real\ny = where(x > 1, x**3, exp(x))", "x", "where(x > 1, 3*x**2, cosh(x))"
    ),
)
