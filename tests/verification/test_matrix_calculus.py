"""Identities of the literature on matrix calculus hold for every size, and near misses of them are refuted."""

from __future__ import annotations

import json

import pytest

import symgrad as sg
from symgrad.checker.check import check

DECLARED = """
X, C, H : real[n, m]
A, M, P : real[n, n]
B : real[m, m]
S : real[n, n] symmetric
a, b, x, mu : real[n]
c : real[m]
t : real
lam : positive
"""

RIGHT = [
    ("trace(A@X@B@X.T@M)", "X", "A.T@M.T@X@B.T+M@A@X@B"),
    ("trace(matrix_power(M,6))", "M", "6*matrix_power(M,5).T"),
    ("trace(A@matrix_power(M,3))", "M", "(A@M@M+M@A@M+M@M@A).T"),
    ("trace(matrix_power(M,-2))", "M", "-2*matrix_power(M,-3).T"),
    ("trace((A*M)@P)", "M", "A*P.T"),
    ("trace(kron(M,M))", "M", "2*trace(M)*eye(n)"),
    ("trace(kron(A,B)@kron(M,B))", "M", "trace(B@B)*A.T"),
    ("(x@A@x)**2", "x", "2*(x@A@x)*(A+A.T)@x"),
    ("a@M@M@b", "M", "outer(a,M@b)+outer(M.T@a,b)"),
    ("(X@c-a)@S@(X@c-a)", "X", "2*S@outer(X@c-a,c)"),
    ("a@inv(M)@inv(M)@b", "M", "-outer(inv(M).T@a,inv(M)@inv(M)@b)-outer(inv(M).T@inv(M).T@a,inv(M)@b)"),
    ("a@inv(S)@a", "S", "-inv(S)@outer(a,a)@inv(S)"),
    ("det(matrix_power(M,3))", "M", "3*det(M)**3*inv(M).T"),
    ("det(X.T@X)", "X", "2*det(X.T@X)*X@inv(X.T@X)"),
    ("logdet(lam*M)", "lam", "n/lam"),
    ("a@solve(M,b)", "M", "-outer(solve(M.T,a),solve(M,b))"),
    ("a@solve(M,b)", "b", "solve(M.T,a)"),
    ("sum(solve(M,X)**2)", "X", "2*solve(M.T,solve(M,X))"),
    ("inv(A+t*P)@b", "t", "-inv(A+t*P)@P@inv(A+t*P)@b"),
    ("trace(X@inv(X.T@X)@X.T)", "X", "zeros((n,m))"),
    ("trace(inv(X.T@X))", "X", "-2*X@inv(X.T@X)@inv(X.T@X)"),
    ("sum(norm(X,axis=1))", "X", "X/norm(X,axis=1)[:,None]"),
    ("reshape(H,(n*m,))@kron(A,B)@reshape(X,(n*m,))", "A", "H@B@X.T"),
    ("trace(exp(M))", "M", "diag(exp(diag(M)))"),
    ("a@log(1+exp(X@c))", "c", "X.T@(a/(1+exp(-X@c)))"),
    ("logsumexp(x/lam)*lam", "x", "softmax(x/lam)"),
    ("-sum(softmax(x)*log_softmax(x))", "x", "-softmax(x)*(log_softmax(x)-sum(softmax(x)*log_softmax(x)))"),
    ("(x@A@x)/(x@S@x)", "x", "(A+A.T)@x/(x@S@x)-2*(x@A@x)*S@x/(x@S@x)**2"),
    ("sqrt((x-mu)@inv(S)@(x-mu))", "x", "inv(S)@(x-mu)/sqrt((x-mu)@inv(S)@(x-mu))"),
    ("-(x-mu)@inv(S)@(x-mu)/2-logdet(S)/2-n*log(2*pi)/2", "mu", "inv(S)@(x-mu)"),
    ("-(x-mu)@inv(S)@(x-mu)/2-logdet(S)/2-n*log(2*pi)/2", "S", "(inv(S)@outer(x-mu,x-mu)@inv(S)-inv(S))/2"),
    (
        "(trace(inv(S)@A)+mu@inv(S)@mu-n+logdet(S)-logdet(A))/2",
        "S",
        "(inv(S)-inv(S)@(A.T+outer(mu,mu))@inv(S))/2",
    ),
    ("(trace(inv(S)@A)+mu@inv(S)@mu-n+logdet(S)-logdet(A))/2", "A", "(inv(S)-inv(A).T)/2"),
    ("-trace(X.T@S@X)+sum((X.T@X-eye(m))**2)", "X", "-2*S@X+4*X@(X.T@X-eye(m))"),
    ("trace(X@inv(X.T@X)@X.T@S)", "X", "2*(S@X-X@inv(X.T@X)@X.T@S@X)@inv(X.T@X)"),
    ("trace(inv(eye(n)+X@X.T))", "X", "-2*inv(eye(n)+X@X.T)@inv(eye(n)+X@X.T)@X"),
    ("trace(inv(eye(n)+X@X.T))", "X", "-2*X@inv(eye(m)+X.T@X)@inv(eye(m)+X.T@X)"),
    ("x@inv(eye(n)+outer(a,a))@x", "x", "2*(x-a*(a@x)/(1+a@a))"),
    ("logdet(eye(n)+outer(a,b))", "a", "b/(1+a@b)"),
    ("logdet(eye(n)+X@X.T)", "X", "2*X@inv(eye(m)+X.T@X)"),
    ("det(M+outer(a,b))", "a", "det(M)*inv(M).T@b"),
    ("std(x)", "x", "(x-mean(x))/(n*std(x))"),
    ("a@diag(x)@A@diag(x)@b", "x", "a*(A@(x*b))+b*(A.T@(x*a))"),
    ("trace(expm(t*A)@M)", "t", "trace(A@expm(t*A)@M)"),
    ("trace(expm(A)@expm(M))", "M", "(expm_frechet(M,expm(A))).T"),
    ("prod(x)", "x", "prod(x)/x"),
    ("sum(relu(X@c)*a)", "c", "X.T@(where(X@c>0,1,0)*a)"),
    ("sum((X.T@A@X)**2)", "X", "2*A@X@(X.T@A@X).T+2*A.T@X@X.T@A@X"),
    ("sum(1/(1+exp(-X@c)))", "c", "X.T@(exp(-X@c)/(1+exp(-X@c))**2)"),
    ("logdet(diag(lam + x**2))", "x", "2*x/(lam + x**2)"),
    ("sum(concatenate((A@x, b*x))**2)", "x", "2*A.T@(A@x) + 2*b**2*x"),
    ("prod(1 + x)", "x", "prod(1 + x)/(1 + x)"),
    ("prod(exp(x))**(1/n)", "x", "exp(mean(x))*ones(n)/n"),
    (
        "sum(C*(softmax(X@H.T, axis=1)@C))",
        "X",
        "(softmax(X@H.T, axis=1)*(C@C.T - sum(softmax(X@H.T, axis=1)*(C@C.T), axis=1, keepdims=True)))@H",
    ),
    ("b@inv(A + t*outer(a, b))@a", "t", "-((b@inv(A)@a)/(1 + t*(b@inv(A)@a)))**2"),
    ("logdet(lam*eye(n) + X@X.T)", "lam", "trace(inv(lam*eye(m) + X.T@X)) + (n - m)/lam"),
    ("a@expm(M)@a", "M", "expm_frechet(M.T, outer(a, a))"),
    ("sum(cumsum(x)*a)", "x", "cumsum(a[::-1])[::-1]"),
    ("trace(sinm(M))", "M", "cosm(M).T"),
    ("trace(expm(S)@S)", "S", "expm(S) + S@expm(S)"),
    ("trace(expm(lam*A+lam*P)@M)", "lam", "trace((A+P)@expm(lam*A+lam*P)@M)"),
    ("trace(sinm(A/lam+P/lam))", "lam", "-trace((A+P)@cosm((A+P)/lam))/lam**2"),
    ("trace(A@expm(M))", "M", "expm_frechet(M.T, A.T)"),
    ("logdet(expm(M))", "M", "eye(n)"),
    ("prod(x*a)", "x", "prod(x*a)/x"),
    ("x*(a@x)", "x", "(a@x)*eye(n)+outer(x,a)"),
    ("x/norm(x)", "x", "eye(n)/norm(x)-outer(x,x)/norm(x)**3"),
    ("softmax(A@x)", "x", "(diag(softmax(A@x))-outer(softmax(A@x),softmax(A@x)))@A"),
    ("X.T@softmax(X@c)", "c", "X.T@(diag(softmax(X@c))-outer(softmax(X@c),softmax(X@c)))@X"),
    ("A@(x*x)", "x", "2*A@diag(x)"),
]

EQUAL = [
    ("inv(lam*eye(n)+X@X.T)@X", "X@inv(lam*eye(m)+X.T@X)"),
    ("inv(eye(n)+X@X.T)", "eye(n)-X@inv(eye(m)+X.T@X)@X.T"),
    ("logdet(eye(n)+X@X.T)", "logdet(eye(m)+X.T@X)"),
    ("inv(M+outer(a,b))", "inv(M)-inv(M)@outer(a,b)@inv(M)/(1+b@inv(M)@a)"),
    ("det(M+outer(a,b))", "det(M)*(1+b@inv(M)@a)"),
    ("det(lam*eye(n)+outer(a,b))", "lam**(n-1)*(lam+a@b)"),
    ("inv(eye(n)+t*ones((n,n)))@ones(n)", "ones(n)/(1+n*t)"),
    ("inv(eye(n)+X@B@C.T)@X", "X@inv(eye(m)+B@C.T@X)"),
    ("expm(X@X.T)@(X@X.T)", "X@X.T@expm(X@X.T)"),
    ("expm(M)@M@expm(-M)", "M"),
    ("inv(expm(t*M))", "expm(-t*M)"),
    ("expm(t*M)@expm(M)", "expm((t+1)*M)"),
    ("det(expm(M))", "exp(trace(M))"),
    ("expm(M.T)", "expm(M).T"),
    ("sinm(-M)", "-sinm(M)"),
    ("expm_frechet(M,A).T", "expm_frechet(M.T,A.T)"),
    ("expm_frechet(t*M,M)", "M@expm(t*M)"),
    ("trace(cosm_frechet(M,A))", "-trace(A@sinm(M))"),
    ("expm(lam*eye(n))@a", "exp(lam)*a"),
    ("expm(t*A+t*P)@(A+P)", "(A+P)@expm(t*(A+P))"),
    ("cosm(A/lam+P/lam)@(A+P)", "(A+P)@cosm((A+P)/lam)"),
    ("expm(lam*t*A+lam**2*t*P)@expm(A*t+lam*P*t)", "expm((lam*t+t)*(A+lam*P))"),
    ("sum(log(exp(a)*b**3))", "sum(a)+3*sum(log(b))"),
    ("log(b**3/(2*exp(a)))", "3*log(b)-log(2)-a"),
    ("expm(S).T", "expm(S)"),
    ("prod(x*a)", "prod(x)*prod(a)"),
    ("sum(log(exp(2*x)+2*exp(x)+1))", "2*sum(log(1+exp(x)))"),
]

WRONG = [
    ("trace(X.T@A@X@B)", "X", "2*A@X@B"),
    ("trace(M@M@M)", "M", "3*M@M"),
    ("trace(A@M)", "M", "A"),
    ("a@inv(M)@b", "M", "-outer(inv(M)@a,inv(M)@b)"),
    ("a@inv(M)@b", "M", "outer(inv(M).T@a,inv(M)@b)"),
    ("logdet(M)", "M", "inv(M)"),
    ("det(M)", "M", "det(M)*inv(M)"),
    ("log(det(M@M.T))", "M", "inv(M).T"),
    ("logdet(eye(m)+X.T@S@X)", "X", "S@X@inv(eye(m)+X.T@S@X)"),
    ("logdet(eye(m)+X.T@A@X)", "X", "2*A@X@inv(eye(m)+X.T@A@X)"),
    ("x@A@x", "x", "2*A@x"),
    ("(x@S@x)/(x@x)", "x", "2*(S@x-(x@S@x)*x)/(x@x)"),
    ("-(x-mu)@inv(S)@(x-mu)/2-logdet(S)/2", "S", "(inv(S)@outer(x-mu,x-mu)@inv(S)+inv(S))/2"),
    ("-(x-mu)@inv(S)@(x-mu)/2", "mu", "-inv(S)@(x-mu)"),
    ("logsumexp(X@c)", "c", "softmax(X@c)@X*2"),
    ("a@softmax(x)", "x", "softmax(x)*(a-softmax(x))"),
    ("sum((X@c-a)**2)+lam*sum(c**2)", "c", "2*X.T@(X@c-a)+lam*c"),
    ("sum((A-X@X.T)**2)", "X", "-4*A@X+4*X@X.T@X"),
    ("trace(inv(X.T@X))", "X", "-2*X@inv(X.T@X)"),
    ("a@solve(M,b)", "b", "solve(M,a)"),
    ("trace(expm(t*A)@M)", "t", "trace(expm(t*A)@M)"),
    ("sqrt(sum(X**2))", "X", "X/sum(X**2)"),
    ("trace(kron(M,M))", "M", "trace(M)*eye(n)"),
    ("sum(cumsum(x)*a)", "x", "cumsum(a)"),
    ("sum(cumsum(x)*a)", "x", "cumsum(a[::-1])"),
    ("trace(expm(M))", "M", "expm(M)"),
    ("trace(A@expm(M))", "M", "(A@expm(M)).T"),
]

UNEQUAL = [
    ("inv(eye(n)+X@X.T)@X", "X@inv(eye(m)+2*X.T@X)"),
    ("inv(eye(n)+outer(a,b))", "eye(n)-outer(b,a)/(1+a@b)"),
    ("inv(M+outer(a,b))", "inv(M)-inv(M)@outer(a,b)@inv(M)/(1+a@inv(M)@b)"),
    ("det(lam*eye(n)+outer(a,b))", "lam**n*(lam+a@b)"),
    ("inv(eye(n)+X@B@C.T)", "eye(n)-X@inv(eye(m)+X.T@C@B)@B@C.T"),
    ("expm(M+A)", "expm(M)@expm(A)"),
    ("expm(t*A+t**2*P)@(A+P)", "(A+P)@expm(t*A+t**2*P)"),
    ("expm_frechet(M,A)", "expm(M)@A"),
    ("expm(M).T", "expm(M)"),
]


def judged(verdict: sg.Verdict) -> str:
    """Return the status, after the checker has found the same."""
    assert verdict.proof is not None, verdict
    assert check(json.loads(verdict.proof.to_json())).status == verdict.status
    return verdict.status


@pytest.mark.parametrize(("formula", "wrt", "claim"), RIGHT)
def test_right(formula: str, wrt: str, claim: str) -> None:
    p = sg.parse(f"{DECLARED}\nf = {formula}")
    verdict = sg.verify(p["f"], p[wrt], claim)
    assert (judged(verdict), verdict.why[-13:]) == ("proved", "for all sizes")


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal(left: str, right: str) -> None:
    p = sg.parse(f"{DECLARED}\nf = {left}\ng = {right}")
    verdict = sg.equal(p["f"], p["g"])
    assert (judged(verdict), verdict.why[-13:]) == ("proved", "for all sizes")


@pytest.mark.parametrize(("formula", "wrt", "claim"), WRONG)
def test_wrong(formula: str, wrt: str, claim: str) -> None:
    p = sg.parse(f"{DECLARED}\nf = {formula}")
    assert judged(sg.verify(p["f"], p[wrt], claim)) == "refuted"


@pytest.mark.parametrize(("left", "right"), UNEQUAL)
def test_unequal(left: str, right: str) -> None:
    p = sg.parse(f"{DECLARED}\nf = {left}\ng = {right}")
    assert judged(sg.equal(p["f"], p["g"])) == "refuted"
