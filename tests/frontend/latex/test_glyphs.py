"""No name is printed as another name, a function or a constant is: LaTeX is read back as what was printed.

Each op is printed with variables whose names look like functions, constants, indices or one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import symgrad as sg
from symgrad.api.handles.expr import Expr
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, SYMBOL, Node, as_node, constant, symbol
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import BOOL, Declaration
from symgrad.ops.numpy.calls import total
from symgrad.ops.numpy.subscripts import index
from symgrad.printing.latex.expressions import latex
from tests.frontend.latex.test_printed import ROOT, assert_close, assert_same, known_in, last_of, sizes_in
from tests.printing.test_latex_arrays import SPELLINGS, T, ids, take, w

NAMES = """
I I3 I_3 Id e E i sigma gamma Gamma zeta Phi psi d dx T x1 x_1 alpha α sin lambda_ sigmoid frac x X x_i J0 J
K L W S C B F D D_plus gamma_E EulerGamma G_Catalan exp j k hbar ell varphi phi varphi_golden t_1 G w_i
A_i_j x12 x_1_2 x_12 w4 sum max diag tr mean x_hat x_prime x_bar T_ids w_e x_y e_x le in_ left lim E_1 θ
theta _x x__1 λ lam pi_ Ai Y_0
""".split()  # noqa: SIM905  (a list of words)
"""Names of single letters that are functions, of functions, of LaTeX commands, and names that look alike."""

PROGRAMS = {
    "the letters of the ops": "I3, sigma, x : real\nA : real[3,3]\n"
    "y = I3*sigma*sum((A + eye(3))**2)*sigmoid(x)",
    "letters that the formula does not read, and an order": "I3, sigma, x, e, gamma, Gamma, psi, Phi, zeta : real\n"
    "A : real[3,3]\ny = sum((A + eye(3))**2)*sigmoid(x)*exp(x)*gamma(x)*zeta(x)*polygamma(2, x)",
    "a matrix I": "I : real[3,3]\nx : real\ny = sum(I@I + eye(3)*x)",
    "a matrix I_3": "I_3 : real[3,3]\nx : real\ny = sum(I_3@I_3.T + eye(3)*x + I_3**2)",
    "sizes": "X : real[sigma, e]\nw : real[e]\ny = sum(sigmoid(X@w))/sigma + e*exp(w[0])",
    "sizes that look alike": "X : real[x1, x_1]\nw : real[x_1]\ny = sum((X@w)**2)/x1 + x_1*sum(w)",
    "sizes of the identity": "A : real[I, I_3]\ny = sum((A@eye(I_3))**2)/I + sum((eye(I)@A)**2)*I_3",
    "an exponent T": "x : real[3]\nT : real\ny = sum(x**T)",
    "differentials": "d, dx, x : real\ny = d/dx + d*x/dx",
    "entries": "x, w : real[5]\nx1, x_2, i, w_i : real\ny = x[1]*x1 + x[2]*x_2 + sum(w)*w_i*i",
    "indices": "i, j, k : real\nA : real[3,3]\nB : real[3,3,3]\n"
    "y = sum(sin(einsum('ijk,jl->ikl', B, A)))*i*j*k",
    "definitions": "x : real\nsigma = sigmoid(x)\ny = sigma*exp(x)*x",
    "definitions of e and gamma": "x, w : real\ne = exp(w*x)\ngamma = log(1 + e**2)\ny = e*gamma(w)*gamma",
    "a definition of I3": "x : real[3]\nA : real[3,3]\nI3 = A + eye(3)\n"
    "y = sum((I3@x)**2) + sum((eye(3)@x)**2)",
    "names that look alike": "x1, x_1, alpha, α : real\ny = exp(x1)*sin(x_1) + exp(alpha)*sin(α)",
    "one of two that look alike": "x1, x_1, α, alpha : real\ny = exp(x_1) + sin(alpha)",
    "upper and lower case": "x, X, xX, Xx : real\ny = x*X + xX - Xx",
    "powers that look like names": "x, y, x_y, x_pi : real\nz = x**y + x_y*x**pi",
    "hats and primes": "x, x_hat, x_prime, hat : real\nz = x_hat*x_prime + hat*x",
    "Euler's constant": "gamma_E, gamma, x : real\nz = harmonic(x)*gamma(x)*gamma_E + gammaln(x)*gamma",
    "the normal distribution": "Phi, x : real\nz = ndtr(x)*Phi + log_ndtr(x) + ndtri(Phi)",
    "names of functions": "sin, x, exp, max, log, sqrt, sigmoid : real\n"
    "y = sin*sin(x) + exp(x)*exp + max*maximum(x, 1) + log*log(x) + sqrt(x)*sqrt + sigmoid(x)*sigmoid",
    "e alone": "e : real\ny = e**2 + exp(2*e)",
    "a keyword": "lambda_, lam : real\ny = lambda_*lam",
}
GALLERY = {
    path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "programs").glob("*.sg")
}


@pytest.mark.parametrize("title", PROGRAMS)
def test_programs_and_their_gradients(title: str) -> None:
    program = sg.parse(PROGRAMS[title])
    for e in (program[name] for name in program.names):
        if e.node.op is not SYMBOL:
            assert_same(last_of(sg.parse_latex(e.latex(), program)), e)
    if "order" not in title:
        for slope in sg.grad(program.last, list(program.last.inputs)):
            for expand in (True, False):
                assert_same(last_of(sg.parse_latex(slope.latex(expand=expand), program)), slope)


@pytest.mark.parametrize("title", sorted(GALLERY))
def test_lines_of_the_gallery(title: str) -> None:
    program = sg.parse(GALLERY[title])
    for e in (program[name] for name in program.names):
        if e.node.op is not SYMBOL:
            found = last_of(sg.parse_latex(e.latex(), program))
            if title == "pbe":  # the proofs take half a minute
                assert_close(found, e)
            else:
                assert_same(found, e)


MORE = """
det(A) inv(A) cholesky(A) logdet(A) solve(A,y) solve(A.T,B) cosm(A) sinm(A) expm_frechet(A,B) cosm_frechet(A,B)
logcumsumexp(X,1) logcumsumexp(w) min(X,1) argmax(w) argmin(X,1) prod_except(w) prod_except(X,1)
where(a==b,a,2) w[None,:]*X A[0]
""".split()  # noqa: SIM905  (a list of words)


OWN_OPS = [
    op for op in sorted(OPS.values(), key=lambda op: op.name) if op.name not in ("recurrence", "pack", "part")
]
"""The ops of the package, since tests register others; recurrences are rows of their own, see test_recurrences."""


def _cases() -> Iterator[tuple[str, Node]]:
    """Yield a formula of each op."""
    for op in OWN_OPS:
        if op.pointwise and op.name != "eq":  # x = y alone defines x; see where(a==b, ...)
            letters = [symbol(Declaration(n)) for n in "xyz"]
            truth = symbol(Declaration("b", BOOL))
            args = [truth if kind == "bool" else s for kind, s in zip(op.takes, letters, strict=False)]
            yield op.name, op(*args, params=(1,) * len(op.parameters))
    declared = "A, B : real[3,3]\nw : real[5]\ny : real[3]\nX : real[n,5]\na, b : real\nz = "
    yield from ((text, sg.parse(declared + text)["z"].node) for text in MORE)
    yield from SPELLINGS.items()
    squares = {"scatter_add": (take(T, ids, 0), T), "unslice": (index(w, slice(1, None)), w)}
    for name, (entries, array) in squares.items():
        yield name, pull_back([total(entries * entries)], [as_node(1)], [array]).gradients[0]
    x = symbol(Declaration("x"))
    for name in ("E", "EulerGamma", "Catalan", "GoldenRatio", "pi"):
        yield f"the constant {name}", constant(name) * (x + 1) + x ** constant(name)


CASES = dict(_cases())


def test_there_is_a_case_for_every_op() -> None:
    assert {op.name for op in OWN_OPS} <= {n.op.name for case in CASES.values() for n in topological([case])}


def _renamed(node: Node, first: int) -> Node | None:
    """Return a node with other names of its variables; None if one of them is the name of a size."""
    table = {s: NAMES[(first + 5 * k) % len(NAMES)] for k, s in enumerate(symbols_of([node]))}
    if sizes_in(node) & {*table.values()}:
        return None
    named = {s: symbol(replace(s.declaration, name=name)) for s, name in table.items()}
    return substitute([node], named)[0]


@pytest.mark.parametrize("title", CASES)
def test_every_op_with_names_that_look_like_its_letters(title: str) -> None:
    start = sum(map(ord, title))
    named = (_renamed(CASES[title], start + k) for k in range(0, len(NAMES), 9))
    for node in (CASES[title], *named):
        if node is None:
            continue
        own = known_in(node)
        others = {name: Expr(symbol(Declaration(name))) for name in NAMES}
        for known in (own, {**own, **{n: e for n, e in others.items() if n not in own}}):
            text = latex(node, beside=known)
            found = last_of(sg.parse_latex(text, symbols=known))
            assert found.shape == node.shape, text
            assert found.node is node or sg.equal(found, Expr(node)).status == "proved", text
